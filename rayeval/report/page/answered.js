// A question's answers side by side: tries beside their evidence, brackets beside the answer, old beside new.

const blockOf = (question, side, block, prefix, beside) => {
  const found = side.details[question.id];
  const several = block.tries.length > 1;
  const tries = h(
    "div",
    {},
    alike(block.tries).map(tryBlock(question, side, block, prefix, several)),
    block.more
      ? h(
          "p",
          { class: "quiet" },
          `${count(block.more, "more try").replace("trys", "tries")}: answers.parquet has them.`,
        )
      : null,
  );
  const list = handedList(found, block, prefix);
  if (!list) return tries;
  const title = `Evidence handed over (${block.size ?? "unknown"})`;
  return beside
    ? h(
        "div",
        { class: "sides answer-and-evidence" },
        tries,
        h("div", {}, h("h3", {}, title), list),
      )
    : h(
        "div",
        {},
        tries,
        block.size ? h("details", { class: "handed-over" }, h("summary", {}, title), list) : list,
      );
};

const blocksOf = (question, [side, number], variant, beside, same = false) => {
  const found = side.details[question.id];
  const blocks = found.replies.filter((block) => block.variant === variant);
  return h(
    "div",
    {},
    before && !same
      ? h(
          variant === "answer" ? "h3" : "h4",
          {},
          side.called,
          " ",
          h(
            "span",
            { class: "quiet" },
            question.outcome[number] && variant === "answer" ? question.outcome[number] : "",
          ),
        )
      : null,
    blocks.length
      ? blocks.map((block, order) =>
          blockOf(question, side, block, `e${number}-${variant}-${order}`, beside),
        )
      : h("p", { class: "quiet" }, "Not answered."),
    variant === "answer" && found.timed
      ? h("p", { class: "quiet" }, `${ms(found.timed[0])} ms on average, ${found.timed[1]}.`)
      : null,
  );
};

/** Old beside new, or once where both said the same; of a single run beside its evidence. */
const sidesOf = (question, columns, variant) => {
  const told = columns.map(([side]) =>
    JSON.stringify(side.details[question.id].replies.filter((block) => block.variant === variant)),
  );
  const same = columns.length > 1 && distinct(told).length === 1;
  const shown = same ? columns.slice(-1) : columns;
  return [
    same ? h("p", { class: "quiet" }, "The same before and after.") : null,
    h(
      "div",
      { class: shown.length > 1 ? "sides" : null },
      shown.map((column) => blocksOf(question, column, variant, shown.length < 2, same)),
    ),
  ];
};

/** Everything that was answered to a question; null where no question was asked. */
const repliesSection = (question, columns) => {
  const variants = distinct(
    columns.flatMap(([side]) => side.details[question.id].replies.map((block) => block.variant)),
  );
  if (!variants.length)
    return columns.some(([side]) => side.answers)
      ? section(
          "replies",
          "Answer",
          h("p", { class: "trouble" }, "No answer to this question is there."),
        )
      : null;
  const reference = now.details[question.id].answer;
  const known = { ...question, reference, answerable: now.details[question.id].answerable };
  const [main, rest] = [
    variants.filter((name) => name === "answer"),
    variants.filter((name) => name !== "answer"),
  ];
  return section(
    "replies",
    before ? "Answers, before and after" : "Answer",
    reference
      ? h(
          "div",
          { class: "reference" },
          h("h3", {}, "Reference answer"),
          h("blockquote", { lang: languageOf(reference, question.language) }, reference),
        )
      : h(
          "p",
          { class: "quiet" },
          known.answerable
            ? "No reference answer is known."
            : "The question is unanswerable: a refusal is right.",
        ),
    main.map((variant) => sidesOf(known, columns, variant)),
    before
      ? rest.map((variant) => [
          h("h3", {}, VARIANT[variant] ?? variant),
          sidesOf(known, columns, variant),
        ])
      : h(
          "div",
          { class: "sides" },
          rest.map((variant) =>
            h(
              "div",
              {},
              h("h3", {}, VARIANT[variant] ?? variant),
              blocksOf(known, columns[0], variant, false),
            ),
          ),
        ),
  );
};

const WENT = {
  worse: "worse",
  better: "better",
  same: "as before",
  "can't be told": "can't be told",
};

/** Questions whose answer went one way, the farthest first. */
const wentList = (title, ids) =>
  ids.length
    ? [
        h("h3", {}, `${title} (${ids.length.toLocaleString("en")})`),
        questionList(ids, LISTED, (question) => `${question.outcome[0]} → ${question.outcome[1]}`),
      ]
    : null;

const answersCompared = (answers) => {
  const whole = deltaRows((row) => row.slice === null && answers.variants.includes(row.stage));
  const stages = distinct(whole.map((row) => row.stage));
  const slices = deltaRows(
    (row) => row.slice !== null && row.stage === "answer" && row.metric in ALL_MEANINGS,
  );
  const metrics = METRIC_ORDER.filter((name) => slices.some((row) => row.metric === name));
  const ordered = (chosen) =>
    METRIC_ORDER.filter(chosen).flatMap((name) => whole.filter((row) => row.metric === name));
  const went = data.went;
  const told = went
    ? Object.keys(WENT)
        .filter((name) => went.counts[name])
        .map((name) =>
          h(
            "a",
            { href: filterLink({ went: name, sort: "went" }) },
            `${went.counts[name].toLocaleString("en")} ${WENT[name]}`,
          ),
        )
    : [];
  return section(
    "answers",
    "Answers",
    went
      ? h(
          "p",
          {},
          told.flatMap((link, place) => [place ? ", " : "", link]),
          " of the questions that both answered.",
        )
      : h("p", {}, "Only one of the two runs answered, or no question was answered by both."),
    went
      ? [
          wentList("Answers that became worse", went.worse),
          wentList("Answers that became better", went.better),
        ]
      : null,
    stages.length
      ? chooser(
          "answer-deltas",
          [["Stage", stages, stages.includes("answer") ? "answer" : stages[0]]],
          (stage) => {
            const [first, rest] = [(name) => FIRST.has(name), (name) => !FIRST.has(name)].map(
              (chosen) => ordered(chosen).filter((row) => row.stage === stage),
            );
            const heads = [["Metric", "metric"]];
            return h(
              "div",
              {},
              deltaTable("Answers, after − before, 95% by cluster", heads, first),
              rest.length ? folded(deltaTable("The other metrics of answers", heads, rest)) : null,
            );
          },
        )
      : null,
    data.spent.map(shownTable),
    metrics.length
      ? chooser("answer-delta-slices", [["Metric", metrics, metrics[0]]], (metric) =>
          deltaTable(
            `${metric} at answer by slice; Holm corrects over the slices`,
            [["Slice", "slice"]],
            slices.filter((row) => row.metric === metric),
          ),
        )
      : null,
    sides
      .filter((side) => side.answers)
      .map((side) => [h("h3", {}, side.called), heldTable(side.answers)]),
    judgePart(answers),
  );
};
