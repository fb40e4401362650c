// What answers are worth, on the first page: figures over all questions, and what to read.

const VARIANT = {
  answer: "with the run's context",
  closed_book: "closed book: from memory alone",
  gold_context: "with the gold evidence for context",
};

/** A share between 0 and 1 with its interval. */
const shareMark = (mean, low, high) => {
  const x = (value) => 4 + 152 * value;
  return svg(
    "svg",
    { class: "interval share", viewBox: "0 0 160 16", "aria-hidden": "true" },
    svg("line", { class: "axis", x1: 4, x2: 156, y1: 14, y2: 14 }),
    [0, 0.5, 1].map((tick) =>
      svg("line", { class: "axis", x1: x(tick), x2: x(tick), y1: 11, y2: 14 }),
    ),
    isNumber(low) && isNumber(high)
      ? svg("line", { class: "whisker", x1: x(low), x2: x(high), y1: 7, y2: 7 })
      : null,
    isNumber(mean) ? svg("circle", { class: "dot", cx: x(mean), cy: 7, r: 3.5 }) : null,
  );
};

const limits = (low, high) =>
  isNumber(low) && isNumber(high) ? `${figure(low)} to ${figure(high)}` : DASH;

/** The rows of a side's means that are chosen, as objects. */
const meanRows = (answers, chosen) =>
  answers.means.metric
    .map((_, row) =>
      Object.fromEntries(
        Object.keys(answers.means).map((name) => [name, answers.means[name][row]]),
      ),
    )
    .filter(chosen);

const answerMetricTable = (answers, caption, names) => {
  const rows = meanRows(answers, (row) => row.slice === null && names.includes(row.metric));
  const others = answers.variants.filter((variant) => variant !== "answer");
  const at = (metric, stage) => rows.find((row) => row.metric === metric && row.stage === stage);
  const known = names.filter((name) => rows.some((row) => row.metric === name));
  const body = known.map((name) => {
    const own = at(name, "answer");
    return h(
      "tr",
      {},
      rowHead(name),
      td(own ? figure(own.mean) : ""),
      h("td", {}, own ? shareMark(own.mean, own.low, own.high) : null),
      td(own ? limits(own.low, own.high) : ""),
      others.map((variant) => td(at(name, variant) ? figure(at(name, variant).mean) : "")),
      td(own ? own.n : ""),
      td((own && own.errors) || ""),
      h(
        "td",
        { class: "quiet" },
        meaning(name),
        answers.unsure.includes(name) ? [" · ", h("strong", {}, "judge not calibrated for it")] : null,
      ),
    );
  });
  const heads = [
    "Metric",
    ["mean", "n"],
    "",
    ["95% by cluster", "n"],
    ...others.map((name) => [name, "n"]),
    ["n", "n"],
    ["errors", "n"],
    "",
  ];
  return body.length ? table(caption, heads, body, { class: "worth" }) : null;
};

/** A table behind a line that says how long it is. */
const folded = (more) =>
  more
    ? h(
        "details",
        { class: "more" },
        h("summary", {}, `${count(more.querySelectorAll("tbody tr").length, "more metric")}`),
        more,
      )
    : null;

const answerMetrics = (answers) => {
  const rest = METRIC_ORDER.filter((name) => !FIRST.has(name));
  const more = answerMetricTable(answers, "The other metrics of answers", rest);
  const told = "Means over all questions of which the metric is defined; an error is in no mean";
  return [
    answerMetricTable(
      answers,
      told,
      METRIC_ORDER.filter((name) => FIRST.has(name)),
    ),
    folded(more),
  ];
};

/** One metric in every slice, with intervals. */
const answerSlices = (answers) => {
  const rows = meanRows(answers, (row) => row.slice !== null);
  if (!rows.length) return null;
  const metrics = METRIC_ORDER.filter((name) => rows.some((row) => row.metric === name));
  const whole = meanRows(answers, (row) => row.slice === null && row.stage === "answer");
  return chooser("answer-slices", [["Metric", metrics, metrics[0]]], (metric) =>
    table(
      `${metric} by slice${answers.leftOut ? `; ${answers.leftOut}` : ""}`,
      ["Slice", ["mean", "n"], "", ["95% by cluster", "n"], ["n", "n"], ["errors", "n"]],
      [...whole, ...rows]
        .filter((row) => row.metric === metric)
        .map((row) =>
          h(
            "tr",
            {},
            rowHead(row.slice ?? "all questions"),
            td(figure(row.mean)),
            h("td", {}, shareMark(row.mean, row.low, row.high)),
            td(limits(row.low, row.high)),
            td(row.n),
            td(row.errors || ""),
          ),
        ),
    ),
  );
};

const KINDS = ["right", "partly", "wrong", "unknown", "refused"];

/** What became of answers, as parts of one bar; a refusal is right where there is nothing to find. */
const partsBar = (counts, refusing) => {
  const whole = counts.reduce((sum, n) => sum + n, 0) || 1;
  let x = 0;
  return svg(
    "svg",
    {
      class: "bar parts-bar",
      viewBox: "0 0 200 16",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    counts.map((n, place) => {
      const kind = KINDS[place] === "refused" && refusing ? "right" : KINDS[place];
      const part = svg("rect", { class: kind, x, y: 3, width: (200 * n) / whole, height: 10 });
      x += (200 * n) / whole;
      return n ? part : null;
    }),
  );
};

/** What a part of the bar looks like. */
const swatch = (kind) =>
  svg(
    "svg",
    { class: "swatch parts-bar", viewBox: "0 0 10 10", "aria-hidden": "true" },
    svg("rect", { class: kind, x: 0, y: 0, width: 10, height: 10 }),
  );

const heldTable = (answers) => {
  if (!answers.held.rows.length) return null;
  const by = answers.judged ? "by the judge" : "by whether they hold the reference's words";
  return table(
    `Answers by what their context held; right ${by}. Of an unanswerable question a refusal is right, an answer wrong`,
    [
      "The context held",
      "",
      ...answers.held.columns.map((name, place) =>
        h("th", { scope: "col", class: "n" }, swatch(KINDS[place]), name),
      ),
    ],
    answers.held.rows.map(([held, ...counts]) =>
      h(
        "tr",
        {},
        rowHead(held),
        h("td", { class: "wide" }, partsBar(counts, held.startsWith("nothing"))),
        counts.map((n) => td(n ? n.toLocaleString("en") : "")),
      ),
    ),
  );
};

const NO_ANSWER = "without an answer";

/** How the answers came out, in words, and links to their lists. */
const outcomeLine = () => {
  const last = sides.length - 1;
  const counts = new Map();
  for (const { outcome } of questions)
    counts.set(outcome[last] ?? NO_ANSWER, (counts.get(outcome[last] ?? NO_ANSWER) || 0) + 1);
  const order = [...OUTCOMES, NO_ANSWER].filter((name) => counts.has(name));
  return h(
    "p",
    {},
    order.flatMap((name, place) => [
      place ? ", " : "",
      h(
        "a",
        { href: filterLink({ answer: name === NO_ANSWER ? "none" : name }) },
        `${counts.get(name).toLocaleString("en")} ${name}`,
      ),
    ]),
    ` of ${count(questions.length, "question")}.`,
  );
};

const answersSection = () => {
  const answers = now && now.answers;
  if (!answers) return null;
  if (before) return answersCompared(answers);
  return section(
    "answers",
    "Answers",
    outcomeLine(),
    answers.notes.map((line) => h("p", { class: "quiet" }, `${line}.`)),
    heldTable(answers),
    answerMetrics(answers),
    answerSlices(answers),
    bracketsPart(answers),
    riskPart(answers),
    spreadPart(answers),
    spentPart(answers),
    judgePart(answers),
  );
};
