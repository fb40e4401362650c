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
  return table(
    caption,
    heads,
    rows.map((row) =>
      h(
        "tr",
        {},
        first.map(([, name], place) =>
          place ? h("td", {}, row[name]) : rowHead(row[name] ?? "all questions"),
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
};

/** A table that depends on choices; controls: [label, values]. */
const chooser = (id, controls, draw) => {
  const chosen = controls.map(([, values, first]) => first ?? values[0]);
  const place = h("div", { id });
  const show = () => place.replaceChildren(draw(...chosen));
  show();
  return h(
    "div",
    {},
    h(
      "p",
      { class: "controls" },
      controls.map(([label, values], number) =>
        select(
          label,
          `${id}-${number}`,
          values.map((value) => [value, value]),
          chosen[number],
          (value) => {
            chosen[number] = value;
            show();
          },
        ),
      ),
    ),
    place,
  );
};

const metricsSection = () => {
  const last = now.stages[now.stages.length - 1];
  if (data.kind === "run") {
    return section(
      "metrics",
      "Metrics",
      metricTable(),
      now.slices.length ? chooser("slices", [["Stage", now.stages, last]], sliceTable) : null,
    );
  }
  const whole = deltaRows((row) => row.slice === null && now.stages.includes(row.stage));
  const stages = distinct(whole.map((row) => row.stage));
  const metrics = distinct(whole.map((row) => row.metric));
  const end = stages[stages.length - 1];
  const inSlices = distinct(
    deltaRows((row) => row.slice !== null && now.stages.includes(row.stage)).map(
      (row) => row.metric,
    ),
  );
  return section(
    "metrics",
    "Differences",
    chooser("by-stage", [["Stage", ["every stage", ...stages], end]], (stage) =>
      deltaTable(
        "After − before, 95% by cluster",
        [
          ["Metric", "metric"],
          ["Stage", "stage"],
        ],
        whole.filter((row) => stage === "every stage" || row.stage === stage),
      ),
    ),
    inSlices.length
      ? chooser(
          "slices",
          [
            ["Metric", inSlices, metrics.find((name) => name.startsWith("recall"))],
            ["Stage", stages, end],
          ],
          (metric, stage) =>
            deltaTable(
              `${metric} at ${stage} by slice; Holm corrects over the slices`,
              [["Slice", "slice"]],
              deltaRows((row) => row.metric === metric && row.stage === stage),
            ),
        )
      : null,
  );
};
