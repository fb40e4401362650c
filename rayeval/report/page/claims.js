// What a judge made of an answer's claims, in words.

const VERDICTS = {
  supported: ["good", "✓", "supported"],
  contradicted: ["bad", "✗", "contradicted"],
  unsupported: ["bad", "✗", "not supported"],
  not_in_context: ["bad", "–", "not in it"],
  not_in_reference: ["fair", "–", "not in it"],
  not_in_answer: ["bad", "–", "not in it"],
  correct: ["good", "✓", "correct"],
  partial: ["fair", "½", "partly correct"],
  incorrect: ["bad", "✗", "incorrect"],
};

/** A verdict as text with a sign; colour only repeats it. */
const chip = (about, [kind, sign, words], ...more) =>
  h(
    "span",
    { class: `chip ${kind}` },
    about ? h("span", { class: "quiet" }, `${about}: `) : null,
    h("span", { class: "sign", "aria-hidden": "true" }, sign),
    ` ${words}`,
    ...more,
  );

const verdict = (about, value, absent, ...more) =>
  value === null || value === undefined
    ? chip(about, ["none", "?", absent])
    : chip(about, VERDICTS[value] || ["none", "?", value], ...more);

/** " E1, E2" as links to that evidence. */
const evidenceLinks = (numbers, link) =>
  numbers.length ? [" ", numbers.map((number, place) => [place ? ", " : "", link(number)])] : [];

const claimItem =
  (tasks, link, hasContext, hasReference) =>
  ([text, support, rests, reference, cited, cites]) =>
    h(
      "li",
      {},
      h("span", { lang: languageOf(text, null) }, text),
      h(
        "div",
        { class: "chips" },
        tasks.includes("support")
          ? verdict(
              "context",
              support,
              hasContext ? "not judged" : "there is none",
              evidenceLinks(rests, link),
            )
          : null,
        tasks.includes("reference")
          ? verdict("reference", reference, hasReference ? "not judged" : "there is none")
          : null,
        tasks.includes("citations")
          ? verdict(
              "what it cites",
              cited,
              cites.length ? "not judged" : "it cites nothing",
              evidenceLinks(cites, link),
            )
          : null,
      ),
    );

const referenceItem =
  (tasks, link, hasContext, refused) =>
  ([text, answer, context, rests]) =>
    h(
      "li",
      {},
      h("span", { lang: languageOf(text, null) }, text),
      h(
        "div",
        { class: "chips" },
        tasks.includes("reference")
          ? verdict("answer", answer, refused ? "refused" : "not judged")
          : null,
        tasks.includes("support") && hasContext
          ? verdict("context", context, "not judged", evidenceLinks(rests, link))
          : null,
      ),
    );

/** Claims of the answer, and of the reference answer, each with what was made of it. */
const claimLists = (judged, tasks, link, { hasContext, hasReference, refused }) => [
  judged.claims && judged.claims.length
    ? [
        h("h4", {}, "What it claims"),
        h(
          "ul",
          { class: "claims" },
          judged.claims.map(claimItem(tasks, link, hasContext, hasReference)),
        ),
      ]
    : judged.claims
      ? h("p", { class: "quiet" }, "It claims nothing.")
      : null,
  judged.reference && judged.reference.length
    ? h(
        "details",
        {},
        h("summary", {}, `${count(judged.reference.length, "claim")} of the reference answer`),
        h(
          "ul",
          { class: "claims" },
          judged.reference.map(referenceItem(tasks, link, hasContext, refused)),
        ),
      )
    : null,
  judged.left
    ? h(
        "p",
        { class: "quiet" },
        `${count(judged.left, "more claim")}: judgements.parquet has them.`,
      )
    : null,
];

/** What is no verdict, and why. */
const unjudgedLines = (judged) =>
  (judged.bad || []).map(([task, outcome, why]) =>
    h(
      "p",
      { class: "trouble" },
      h("strong", {}, `Not judged: ${task}, ${outcome}`),
      why ? `: ${why}` : "",
    ),
  );
