// Metrics by stage and by slice; in a comparison with intervals, drawn and written.

/** A difference with its interval on the axis −most … most. lower: less is better. */
const intervalMark = (mean, low, high, most, lower = false) => {
  const x = (value) => 80 + (76 * Math.max(-most, Math.min(most, value))) / most;
  const [over, under] = lower ? ["below", "above"] : ["above", "below"];
  const side = isNumber(low) && low > 0 ? over : isNumber(high) && high < 0 ? under : "astride";
  return svg(
    "svg",
    { class: `interval ${side}`, viewBox: "0 0 160 16", "aria-hidden": "true" },
    svg("line", { class: "axis", x1: 80, x2: 80, y1: 1, y2: 15 }),
    isNumber(low) && isNumber(high)
      ? svg("line", { class: "whisker", x1: x(low), x2: x(high), y1: 8, y2: 8 })
      : null,
    isNumber(mean) ? svg("circle", { class: "dot", cx: x(mean), cy: 8, r: 3.5 }) : null,
  );
};

const written = (low, high) =>
  isNumber(low) && isNumber(high) ? `${signed(low)} to ${signed(high)}` : "no interval";

const metricTable = () => {
  const { stages, shown } = now;
  const cells = new Map(
    now.means.map(([stage, metric, mean, n, errors]) => [
      `${stage}\n${metric}`,
      { mean, n, errors },
    ]),
  );
  const rows = stages.map((stage) => {
    const found = shown.map((metric) => cells.get(`${stage}\n${metric}`));
    const n = Math.max(0, ...found.filter(Boolean).map((cell) => cell.n));
    const errors = Math.max(0, ...found.filter(Boolean).map((cell) => cell.errors));
    return h(
      "tr",
      {},
      rowHead(stage),
      found.map((cell) => td(cell ? figure(cell.mean) : "")),
      td(n),
      td(errors || ""),
    );
  });
  return table(
    now.population,
    ["Stage", ...shown.map((name) => [name, "n"]), ["n", "n"], ["errors", "n"]],
    rows,
  );
};

const sliceTable = (stage) => {
  const rows = new Map();
  for (const [slice, at, metric, mean, n] of now.slices) {
    if (at !== stage || !n) continue;
    if (!rows.has(slice)) rows.set(slice, { n: 0, values: new Map() });
    const row = rows.get(slice);
    row.n = Math.max(row.n, n);
    row.values.set(metric, mean);
  }
  const body = [...rows].map(([slice, { n, values }]) =>
    h(
      "tr",
      {},
      rowHead(slice),
      td(n),
      now.shown.map((metric) => td(figure(values.get(metric)))),
    ),
  );
  return table(
    `Means by slice at ${stage}`,
    ["Slice", ["n", "n"], ...now.shown.map((name) => [name, "n"])],
    body,
  );
};

const deltaRows = (chosen) => {
  const all = data.deltas;
  return all.metric
    .map((_, row) => Object.fromEntries(Object.keys(all).map((name) => [name, all[name][row]])))
    .filter(chosen);
};

/** Metrics of a judge that may decide nothing, and why. */
const LOCKED = data.uncalibrated || {};
const metricName = (name) => (Object.hasOwn(LOCKED, name) ? `${name} *` : name);

const atOdds = (row) =>
  isNumber(row.low) && isNumber(row.p) && (row.low > 0 || row.high < 0) !== row.p <= 0.05;

/** What low, high and p are; where the two are at odds; what the mark means. */
const deltaNotes = (rows) => {
  const reasons = distinct(rows.map((row) => LOCKED[row.metric]).filter(Boolean));
  const odd = rows
    .filter(atOdds)
    .map((row) => `${row.metric} at ${row.stage}${row.slice ? ` in ${row.slice}` : ""}`);
  const lines = [
    data.means,
    rows.some((row) => isNumber(row.p_holm)) ? data.holm : null,
    odd.length
      ? `Interval and p are at odds for ${odd.join(", ")}: a close call, which more questions settle.`
      : null,
    reasons.length ? `${data.marked}: ${reasons.join("; ")}.` : null,
  ];
  return lines.filter(Boolean).map((line) => h("p", { class: "quiet" }, line));
};

const deltaTable = (caption, first, rows) => {
  const corrected = rows.some((row) => isNumber(row.p_holm));
  const most = Math.max(
    0.05,
    ...rows
      .flatMap((row) => [row.mean, row.low, row.high])
      .filter(isNumber)
      .map(Math.abs),
  );
  const heads = [
    ...first.map(([head]) => head),
    ["before", "n"],
    ["after", "n"],
    ["Δ", "n"],
    "",
    ["95% interval", "n"],
    ["p", "n"],
    ...(corrected ? [["Holm", "n"]] : []),
    ["n", "n"],
    ["better", "n"],
    ["worse", "n"],
  ];
  const drawn = table(
    caption,
    heads,
    rows.map((row) =>
      h(
        "tr",
        {},
        first.map(([, name], place) =>
          place ? h("td", {}, row[name]) : rowHead(metricName(row[name] ?? "all questions")),
        ),
        td(figure(row.base)),
        td(figure(row.new)),
        td(signed(row.mean)),
        h("td", {}, intervalMark(row.mean, row.low, row.high, most, LOWER.has(row.metric))),
        td(written(row.low, row.high)),
        td(figure(row.p)),
        corrected ? td(figure(row.p_holm)) : null,
        td(row.n),
        td(row.improved),
        td(row.regressed),
      ),
    ),
    { class: "deltas" },
  );
  return h("div", {}, drawn, deltaNotes(rows));
};

/** A table that depends on choices; controls: [label, values, the first one]. Values may be a
 * function of what is chosen before them, so that nothing is offered that has no data. */
const chooser = (id, controls, draw) => {
  const place = h("div", { id });
  const fields = h("p", { class: "controls" });
  const chosen = [];
  const offered = controls.map(([, values]) =>
    typeof values === "function" ? values : () => values,
  );
  /** Every choice that is still offered stays; the others become the first one. */
  const settle = () =>
    controls.forEach(([, , first], number) => {
      const values = offered[number](...chosen.slice(0, number));
      const wished = [chosen[number], first].find((value) => values.includes(value));
      chosen[number] = wished ?? values[0];
    });
  const field = ([label], number) =>
    select(
      label,
      `${id}-${number}`,
      offered[number](...chosen.slice(0, number)).map((value) => [value, value]),
      chosen[number],
      (value) => {
        chosen[number] = value;
        show();
        fields.querySelectorAll("select")[number].focus();
      },
    );
  const show = () => {
    settle();
    fields.replaceChildren(...controls.map(field));
    place.replaceChildren(draw(...chosen));
  };
  show();
  return h("div", {}, fields, place);
};

/** The stages of which the run has figures by slice. */
const sliced = () => {
  const known = new Set(now.slices.filter(([, , , , n]) => n).map(([, stage]) => stage));
  return now.stages.filter((stage) => known.has(stage));
};

const metricsSection = () => {
  const last = now.stages[now.stages.length - 1];
  if (data.kind === "run") {
    return section(
      "metrics",
      "Metrics",
      metricTable(),
      now.slices.length ? chooser("slices", [["Stage", sliced(), last]], sliceTable) : null,
    );
  }
  const still = data.unmoved.filter((stage) => now.stages.includes(stage));
  const moving = now.stages.filter((stage) => !still.includes(stage));
  const whole = deltaRows((row) => row.slice === null && moving.includes(row.stage));
  const stages = distinct(whole.map((row) => row.stage));
  const end = stages[stages.length - 1];
  const parts = deltaRows((row) => row.slice !== null && moving.includes(row.stage));
  const inSlices = distinct(parts.map((row) => row.stage));
  const of = (stage) =>
    distinct(parts.filter((row) => row.stage === stage).map((row) => row.metric));
  const recall = whole.map((row) => row.metric).find((name) => name.startsWith("recall"));
  return section(
    "metrics",
    "Differences",
    still.length
      ? h("p", {}, `Every metric is the same for every question at ${still.join(", ")}.`)
      : null,
    stages.length
      ? chooser("by-stage", [["Stage", ["every stage", ...stages], end]], (stage) =>
          deltaTable(
            "After − before, 95% by cluster",
            [
              ["Metric", "metric"],
              ["Stage", "stage"],
            ],
            whole.filter((row) => stage === "every stage" || row.stage === stage),
          ),
        )
      : null,
    inSlices.length
      ? chooser(
          "slices",
          [
            ["Stage", inSlices, end],
            ["Metric", of, recall],
          ],
          (stage, metric) =>
            deltaTable(
              `${metric} at ${stage} by slice; Holm corrects over the slices`,
              [["Slice", "slice"]],
              deltaRows((row) => row.metric === metric && row.stage === stage),
            ),
        )
      : null,
  );
};
