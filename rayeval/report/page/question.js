// One question: its gold, and what every stage made of it, before and after.

const evidenceBlock = (item) => {
  const around = aroundGold(item);
  const text =
    around ||
    (item.quote
      ? h("mark", {}, item.quote)
      : item.spans.length
        ? "The passage is not in this page."
        : "The whole document.");
  const grade = item.gold ? "gold" : `relevance ${item.relevance}`;
  const gone =
    item.found && item.found.startsWith("missing") ? `, ${item.found.replace("_", " ")}` : "";
  return h(
    "figure",
    { class: "evidence" },
    h(
      "figcaption",
      { class: "quiet" },
      `${item.evidence_id} · ${grade} · fact ${item.group_id} · ${item.source_id ?? "no source"}${gone}`,
    ),
    h("blockquote", { lang: languageOf(item.quote || "", null) }, text),
  );
};

/** Old beside new, or once where both found the same. */
const stageBlocks = (question, columns, stage, seen) => {
  const found = columns.map(([side]) => side.details[question.id]);
  const told = found.map(
    (each) =>
      each.stages[stage] &&
      JSON.stringify([each.stages[stage].error, each.stages[stage].n, worthReading(each, stage)]),
  );
  const same = columns.length > 1 && distinct(told).length === 1;
  const shown = same ? columns.slice(-1) : columns;
  if (same) worthReading(found[0], stage).forEach(([number]) => seen[0].add(number));
  return [
    same ? h("p", { class: "quiet" }, "The same before and after.") : null,
    h(
      "div",
      { class: "sides" },
      shown.map(([side, number]) =>
        stageBlock(question, side, side.details[question.id], stage, seen[number]),
      ),
    ),
  ];
};

const ending = (question, number) => {
  const stage = question.lostAt[number];
  return `${question.ended[number]}${stage ? ` at ${stage}` : ""}`;
};

const contributed = (found) =>
  found.contributing
    .filter((entry) => entry.code)
    .map((entry) =>
      h(
        "li",
        {},
        `${entry.stage}: `,
        h("span", { class: "code" }, entry.code),
        entry.group_id ? ` (fact ${entry.group_id})` : "",
        entry.rank !== null ? `; true rank ${entry.rank.toLocaleString("en")}` : "",
        entry.depth ? ` of ${entry.depth} kept` : "",
      ),
    );

const sideHead = (question, side, number) => {
  const found = side.details[question.id];
  return h(
    "div",
    {},
    before ? h("h3", {}, side.called, " ", h("span", { class: "quiet" }, side.run)) : null,
    h("p", { class: "verdict" }, ending(question, number)),
    found && found.contributing.length ? h("ul", { class: "quiet" }, contributed(found)) : null,
  );
};

const neighbours = (question) => {
  const around = listed(lastFilter).filter((other) => hasPage(other.id));
  const at = around.indexOf(question);
  const step = (other, text) => (other ? h("a", { href: questionLink(other.id) }, text) : null);
  return h(
    "nav",
    { class: "steps", "aria-label": "Questions" },
    h("a", { href: filterLink(lastFilter) }, "All questions"),
    step(around[at - 1], "Previous"),
    at >= 0 ? step(around[at + 1], "Next") : null,
  );
};

const questionPage = (question) => {
  const found = now.details[question.id];
  const stages = stagesOf((side) => side.stages).filter((stage) =>
    sides.some((side) => side.details[question.id]?.stages[stage]),
  );
  const labels = [question.language, question.origin, question.split, ...question.slices].filter(
    Boolean,
  );
  const columns = sides
    .map((side, number) => [side, number])
    .filter(([side]) => Object.hasOwn(side.details, question.id));
  const seen = sides.map(() => new Set());
  return [
    neighbours(question),
    h("p", { class: "quiet" }, question.id, " · ", labels.join(" · ")),
    h("h1", { tabindex: "-1", lang: languageOf(question.text, question.language) }, question.text),
    h(
      "div",
      { class: "sides" },
      columns.map(([side, number]) => sideHead(question, side, number)),
    ),
    repliesSection(question, columns),
    found.answer && !found.replies.length
      ? h(
          "p",
          { lang: languageOf(found.answer, question.language) },
          h("span", { class: "quiet" }, "Reference answer: "),
          found.answer,
        )
      : null,
    section(
      "gold",
      "Gold in its source",
      found.evidence.length
        ? found.evidence.map(evidenceBlock)
        : h("p", {}, "No evidence: the question is unanswerable."),
    ),
    stages.map((stage, order) =>
      section(`stage-${order}`, stage, stageBlocks(question, columns, stage, seen)),
    ),
    neighbours(question),
  ];
};

const noPage = (id) => [
  h("h1", { tabindex: "-1" }, `No page for ${id}`),
  h(
    "p",
    {},
    byId.has(id)
      ? `A page of ${count(data.total, "question")} shows only those in full that matter most; \`rayeval show ${now.run} ${id}\` reads this one.`
      : "This run has no such question.",
  ),
  h("p", {}, h("a", { href: "#questions" }, "All questions")),
];
