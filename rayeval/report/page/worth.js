// Brackets, risk and coverage, repeats, and what it took: the rest of what is told of answers.

const BUYS = {
  closed_book: "What the context buys",
  answer: "What perfect retrieval would buy",
};

/** From one figure to another, between 0 and 1. */
const stepMark = (from, to, metric) => {
  const x = (value) => 4 + 152 * Math.max(0, Math.min(1, value));
  const gained = LOWER.has(metric) ? from - to : to - from;
  const way = gained > 0 ? "above" : gained < 0 ? "below" : "astride";
  return svg(
    "svg",
    { class: `interval ${way}`, viewBox: "0 0 160 16", "aria-hidden": "true" },
    svg("line", { class: "axis", x1: 4, x2: 156, y1: 14, y2: 14 }),
    svg("line", { class: "whisker", x1: x(from), x2: x(to), y1: 7, y2: 7 }),
    svg("circle", { class: "from", cx: x(from), cy: 7, r: 3 }),
    svg("circle", { class: "dot", cx: x(to), cy: 7, r: 3.5 }),
  );
};

const bracketsPart = (answers) =>
  answers.brackets.length
    ? [
        h("h3", {}, "Brackets, each over the questions that have both"),
        h(
          "div",
          { class: "brackets" },
          answers.brackets.map(([less, more, rows]) =>
            table(
              `${BUYS[less]}; an interval that holds 0 shows no difference`,
              ["Metric", [less, "n"], "", [more, "n"], ["Δ", "n"], ["95% by cluster", "n"], ["n", "n"]],
              rows.map(([metric, from, to, difference, low, high, n]) =>
                h(
                  "tr",
                  {},
                  rowHead(metric),
                  td(figure(from)),
                  h("td", {}, stepMark(from, to, metric)),
                  td(figure(to)),
                  td(signed(difference)),
                  td(written(low, high)),
                  td(n),
                ),
              ),
            ),
          ),
        ),
      ]
    : null;

/** Risk (up) over coverage (across). */
const riskPlot = (stage, points) => {
  const [width, height] = [420, 190];
  const most = Math.max(0.1, ...points.map(([, risk]) => risk));
  const top = Math.min(1, Math.ceil(most * 10) / 10);
  const [x, y] = [(value) => width * value, (value) => height - (height * value) / top];
  const line = points.map(
    ([a, b], place) => `${place ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`,
  );
  const percents = (value) => percent(value, 1);
  return svg(
    "svg",
    {
      class: "trend risk",
      viewBox: `-44 -14 ${width + 64} ${height + 56}`,
      role: "img",
      "aria-label": `Risk over coverage at ${stage}; figures are in the table`,
    },
    [0, top / 2, top].map((value) => [
      svg("line", { class: "axis", x1: 0, x2: width, y1: y(value), y2: y(value) }),
      svg("text", { x: -6, y: y(value) + 4, "text-anchor": "end" }, percents(value)),
    ]),
    [0, 0.25, 0.5, 0.75, 1].map((value) =>
      svg("text", { x: x(value), y: height + 16, "text-anchor": "middle" }, percents(value)),
    ),
    svg(
      "text",
      { x: width / 2, y: height + 36, "text-anchor": "middle" },
      "share of questions that are answered",
    ),
    svg("path", { class: "line", d: line.join("") }),
    points.length < 40
      ? points.map(([a, b, threshold]) =>
          svg(
            "circle",
            { class: "dot", cx: x(a), cy: y(b), r: 3 },
            svg(
              "title",
              {},
              `from score ${figure(threshold)}: ${percents(b)} wrong of ${percents(a)}`,
            ),
          ),
        )
      : null,
  );
};

/** The curve's point where at least this share is answered. */
const covering = (points, share) => points.find(([coverage]) => coverage >= share - 1e-9);

const riskTable = (stage, points) => {
  const shown = distinct(
    [0.25, 0.5, 0.75, 0.9, 1].map((share) => covering(points, share)).filter(Boolean),
  );
  return table(
    `At ${stage}, if only the questions are answered whose best score is at least the threshold`,
    [
      ["answered", "n"],
      ["of these wrong", "n"],
      ["threshold", "n"],
    ],
    shown.map(([coverage, risk, threshold]) =>
      h("tr", {}, td(percent(coverage, 1)), td(percent(risk, 1)), td(figure(threshold))),
    ),
  );
};

const riskPart = (answers) => {
  const stages = Object.keys(answers.curves);
  if (!stages.length) return null;
  const first = stages.includes("answer") ? "answer" : stages[stages.length - 1];
  return [
    h("h3", {}, "When to refuse: risk and coverage"),
    h(
      "p",
      { class: "quiet" },
      "Wrong is an unanswerable question, or gold that the stage lacks; at answer, an answer that is not right. Refusals of the model's own are not in it.",
    ),
    chooser("risk", [["Stage", stages, first]], (stage) =>
      h(
        "div",
        { class: "plot-and-table" },
        riskPlot(stage, answers.curves[stage]),
        riskTable(stage, answers.curves[stage]),
      ),
    ),
    answers.scores && answers.scores.rows.length ? shownTable(answers.scores) : null,
  ];
};

/** A table as the terminal has it. */
const shownTable = ({ title, columns, rows, notes }) => [
  table(
    title,
    columns.map((name, place) => (place ? [name, "n"] : name)),
    rows.map(([name, ...cells]) =>
      h(
        "tr",
        {},
        rowHead(name),
        cells.map((cell) => td(typeof cell === "string" ? cell : figure(cell))),
      ),
    ),
  ),
  notes.map((line) => h("p", { class: "quiet" }, line)),
];

const spreadPart = (answers) =>
  answers.spread.rows.length ? [h("h3", {}, "Repeats"), shownTable(answers.spread)] : null;

const spentPart = (answers) =>
  answers.spent.rows.length ? [h("h3", {}, "What it took"), shownTable(answers.spent)] : null;
