// A folder of runs: the list, two of them to compare, and metrics over time.

const runRow = (run) => {
  const box = h("input", {
    type: "checkbox",
    name: "run",
    value: run.run_id,
    "aria-label": `Compare ${run.run_id}`,
  });
  return h(
    "tr",
    {},
    h("td", {}, run.problem ? null : box),
    rowHead(
      run.problem
        ? run.run_id
        : h("a", { href: `/run/${encodeURIComponent(run.run_id)}` }, run.run_id),
    ),
    h("td", {}, run.names.join(", ")),
    h("td", {}, run.name),
    td(run.questions ?? ""),
    h("td", {}, run.started ? run.started.slice(0, 16).replace("T", " ") : ""),
    h("td", { class: "quiet" }, run.problem ? "damaged" : ""),
  );
};

/** A metric at a stage over the runs, the oldest first. */
const trend = (metric, stage) => {
  const points = data.runs
    .filter((run) => isNumber(run.metrics?.[stage]?.[metric]))
    .map((run) => [run, run.metrics[stage][metric]])
    .reverse();
  if (!points.length) return h("p", {}, "No run has that metric there.");
  const [low, high] = [
    Math.min(0, ...points.map(([, value]) => value)),
    Math.max(1e-9, ...points.map(([, value]) => value)),
  ];
  const top = high <= 1 && low >= 0 ? 1 : high;
  const x = (number) => (points.length < 2 ? 300 : 40 + (540 * number) / (points.length - 1));
  const y = (value) => 150 - (130 * (value - low)) / (top - low || 1);
  const line = points
    .map(
      ([, value], number) => `${number ? "L" : "M"}${x(number).toFixed(1)} ${y(value).toFixed(1)}`,
    )
    .join("");
  const drawing = svg(
    "svg",
    {
      class: "trend",
      viewBox: "0 0 620 170",
      role: "img",
      "aria-label": `${metric} at ${stage}; the figures are in the table`,
    },
    [low, top].map((value) => [
      svg("line", { class: "axis", x1: 40, x2: 600, y1: y(value), y2: y(value) }),
      svg("text", { x: 34, y: y(value) + 4, "text-anchor": "end" }, figure(value)),
    ]),
    svg("path", { class: "line", d: line }),
    points.map(([run, value], number) =>
      svg(
        "circle",
        { class: "dot", cx: x(number), cy: y(value), r: 4 },
        svg("title", {}, `${run.run_id}: ${figure(value)}`),
      ),
    ),
  );
  const rows = points
    .slice()
    .reverse()
    .map(([run, value]) =>
      h("tr", {}, rowHead(run.run_id), h("td", {}, run.names.join(", ")), td(figure(value))),
    );
  return h(
    "div",
    {},
    drawing,
    table(`${metric} at ${stage}, the newest first`, ["Run", "Is", [metric, "n"]], rows),
  );
};

const trendSection = () => {
  const sound = data.runs.filter((run) => run.metrics);
  const stages = distinct(sound.flatMap((run) => Object.keys(run.metrics)));
  if (!stages.length) return null;
  const of = (stage) => distinct(sound.flatMap((run) => Object.keys(run.metrics[stage] ?? {})));
  const first = stages.filter((stage) => of(stage).includes("recall@5")).at(-1);
  return section(
    "trends",
    "Over time",
    chooser(
      "trend",
      [
        ["Stage", stages, first],
        ["Metric", of, "recall@5"],
      ],
      (stage, metric) => trend(metric, stage),
    ),
  );
};

const folderPage = () => {
  const status = h("p", { role: "status" });
  const compare = (event) => {
    const chosen = [...event.target.querySelectorAll("input:checked")];
    if (chosen.length === 2) return;
    event.preventDefault();
    status.textContent = `Choose two runs; ${chosen.length} chosen.`;
  };
  return [
    h("h1", {}, SENTENCE),
    data.runs.length
      ? h(
          "form",
          { action: "/compare", method: "get", onsubmit: compare },
          table(
            "Runs, the newest first",
            [
              hidden("Compare"),
              "Run",
              "Is",
              "Configuration",
              ["Questions", "n"],
              "Started",
              "",
            ].map((head) => (head instanceof Node ? h("th", { scope: "col" }, head) : head)),
            data.runs.map(runRow),
          ),
          h("button", { type: "submit" }, "Compare the two chosen"),
          status,
        )
      : h("p", {}, "No finished run here; `rayeval run CONFIG` makes one."),
    data.comparisons.length
      ? section(
          "comparisons",
          "Comparisons",
          h(
            "ul",
            {},
            data.comparisons.map((name) =>
              h("li", {}, h("a", { href: `/comparison/${encodeURIComponent(name)}` }, name)),
            ),
          ),
        )
      : null,
    trendSection(),
  ];
};
