// The answers to one question: what was said, on what it says that it rests, and what came of it.

const CITED = /\[(E[0-9]+(?:, ?E[0-9]+)*)\]/g;

/** Goes to a piece of evidence on the same page, and opens it. */
const goTo = (id) => (event) => {
  event.preventDefault();
  const target = document.getElementById(id);
  if (target.closest("details")) target.closest("details").open = true;
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
};

/** A link to the evidence of this number; what the page doesn't hold is named. */
const linker = (block, prefix) => (number) =>
  number in block.handed
    ? h(
        "a",
        { class: "cite", href: `#${prefix}-E${number}`, onclick: goTo(`${prefix}-E${number}`) },
        `E${number}`,
      )
    : h("span", { class: "cite" }, `E${number}`);

const badMark = (mark) =>
  h("span", { class: "cite invalid" }, mark, h("small", {}, " no such evidence"));

/** The answer's text with its marks as links. */
const answerText = (one, link) => {
  const places = new Map(one.cites || []);
  const parts = [];
  let at = 0;
  for (const found of one.text.matchAll(CITED)) {
    const marks = found[1].split(/, ?/);
    if (!marks.every((mark) => places.has(mark))) continue; // text, not a citation of this answer
    parts.push(one.text.slice(at, found.index), "[");
    marks.forEach((mark, place) => {
      parts.push(place ? ", " : "", places.get(mark) ? link(places.get(mark)) : badMark(mark));
    });
    parts.push("]");
    at = found.index + found[0].length;
  }
  return [...parts, one.text.slice(at)];
};

/** Citations that stand nowhere in the text. */
const citesLine = (one, link) => {
  const rest = (one.cites || []).filter(([mark]) => !one.text.includes(mark));
  return rest.length
    ? h(
        "p",
        { class: "quiet" },
        "Cites ",
        rest.map(([mark, number], place) => [
          place ? ", " : "",
          mark,
          number ? [" (", link(number), ")"] : [" ", badMark("")],
        ]),
      )
    : null;
};

const HELD = {
  all: "all of the evidence",
  some: "some of the evidence",
  none: "none of the evidence",
};

const refusalWords = (one, answerable, variant) => {
  if (variant === "closed_book") return "Refused: it doesn't know without evidence.";
  const held = one.held
    ? `its context held ${HELD[one.held]}`
    : "nobody knows what its context held";
  if (answerable === false)
    return "Refused, and rightly: the documents don't answer this question.";
  return `Refused to answer, though the question is answerable; ${held}.`;
};

/** What became of one answer, as chips. */
const tryChips = (one, question, judge, variant) => {
  const by = judge && judge.tasks.correctness ? "the judge" : "by its words";
  const words = {
    right: ["good", "✓", "right"],
    partial: ["fair", "½", "partly right"],
    wrong: ["bad", "✗", "wrong"],
  };
  if (one.error) return chip(null, ["bad", "!", "error"]);
  if (one.abstained && variant === "closed_book") return chip(null, ["none", "·", "refused"]);
  if (one.abstained && !question.answerable) return chip(null, ["good", "✓", "rightly refused"]);
  if (one.abstained) return chip(null, [one.held === "all" ? "bad" : "fair", "✗", "refused"]);
  return [
    one.right
      ? chip(by, words[one.right])
      : question.answerable
        ? chip(null, ["none", "?", "right or wrong is not known"])
        : chip(null, ["bad", "✗", "answered though unanswerable"]),
    one.held && question.answerable && variant !== "closed_book"
      ? chip("its context held", ["none", "·", HELD[one.held]])
      : null,
  ];
};

const took = (one) =>
  [
    isNumber(one.read) ? `${one.read.toLocaleString("en")} tokens read` : "",
    isNumber(one.written) ? `${one.written.toLocaleString("en")} written` : "",
    isNumber(one.cost) ? `$${one.cost.toPrecision(3)}` : "",
    one.finish ? `ended: ${one.finish}` : "",
  ]
    .filter(Boolean)
    .join(" · ");

const saidText = (one, question, link, variant) => {
  if (one.error) return h("p", { class: "trouble" }, h("strong", {}, "Error: "), one.error);
  if (one.abstained)
    return h("p", { class: "refusal" }, refusalWords(one, question.answerable, variant));
  if (!one.text) return h("p", { class: "trouble" }, "An answer without a word.");
  return [
    h(
      "blockquote",
      { class: "said", lang: languageOf(one.text, question.language) },
      answerText(one, link),
    ),
    one.cut
      ? h("p", { class: "quiet" }, `${count(one.cut, "more character")}: answers.parquet has them.`)
      : null,
  ];
};

/** The same answer given more than once is shown once. */
const alike = (tries) => {
  const groups = new Map();
  for (const one of tries) {
    const key = JSON.stringify([
      one.text,
      one.abstained,
      one.error,
      one.cites,
      one.right,
      one.judged,
    ]);
    groups.set(key, [...(groups.get(key) || []), one]);
  }
  return [...groups.values()];
};

const tryBlock = (question, side, block, prefix, several) => (group) => {
  const [one] = group;
  const link = linker(block, prefix);
  const judge = side.answers.judge;
  const numbers = group.map((each) => each.repeat + 1).join(", ");
  const same = group.length > 1 ? `Tries ${numbers}, the same` : `Try ${numbers}`;
  const known = {
    hasContext: block.size > 0,
    hasReference: question.reference,
    refused: one.abstained,
  };
  return h(
    "article",
    { class: "try" },
    h(
      "p",
      { class: "chips" },
      several ? h("strong", {}, same) : null,
      tryChips(one, question, judge, block.variant),
    ),
    saidText(one, question, link, block.variant),
    citesLine(one, link),
    one.judged && one.judged.error && !one.error
      ? h("p", { class: "trouble" }, h("strong", {}, "Not judged: "), one.judged.error)
      : null,
    one.judged
      ? [unjudgedLines(one.judged), claimLists(one.judged, judge.asked, link, known)]
      : null,
    distinct(group.map(took))
      .filter(Boolean)
      .map((line) => h("p", { class: "quiet took" }, line)),
  );
};

/** One piece of evidence as it was handed over. */
const handedItem =
  (found, block, prefix) =>
  ([number, what]) => {
    const grade = block.tries.map((one) => one.judged?.grades?.[number]).find(isNumber);
    const item =
      typeof what === "string" ? found.evidence.find((each) => each.evidence_id === what) : null;
    const passage = typeof what === "number" ? data.passages[what] : null;
    const gold = found.evidence.filter((each) => each.gold);
    const holds = passage
      ? gold.map((each) => [each, coverage(passage, each)]).filter(([, share]) => share > 0)
      : [];
    return h(
      "li",
      { id: `${prefix}-E${number}`, tabindex: "-1", class: holds.length || item ? "gold" : null },
      h(
        "p",
        { class: "quiet head" },
        h("span", { class: "rank" }, `[E${number}]`),
        passage
          ? h("span", {}, place(passage))
          : item
            ? h("span", {}, `gold evidence ${item.evidence_id} · ${item.source_id ?? "no source"}`)
            : null,
        holds.map(([each, share]) =>
          h("strong", {}, `${each.evidence_id} ${percent(share, 1)}`),
        ),
        isNumber(grade) ? h("span", {}, `graded ${grade} of 3`) : null,
      ),
      passage
        ? passageText(passage, gold, [], false)
        : h(
            "p",
            { class: "passage" },
            item ? item.quote || "The whole document." : "The text is not in this run.",
          ),
    );
  };

const handedList = (found, block, prefix) => {
  const pieces = Object.entries(block.handed);
  if (block.variant === "closed_book" || block.tries.every((one) => one.error)) return null;
  if (!block.size)
    return h(
      "p",
      { class: "quiet" },
      block.size === null ? "Nobody says what was handed over." : "Nothing was handed over.",
    );
  const rest = block.size - pieces.length;
  return [
    h("ol", { class: "hits handed" }, pieces.map(handedItem(found, block, prefix))),
    rest
      ? h(
          "p",
          { class: "quiet" },
          `${count(rest, "more piece")} that nobody names: the run's tables have them.`,
        )
      : null,
  ];
};
