// Rank movement and latency.

const PLOT = 190;
const NEVER = 0.5; // the band beyond the list, in steps of the logarithm

const rankScale = (points) => {
  const most = Math.max(2, ...points.flatMap(([a, b]) => [a ?? 1, b ?? 1]));
  const end = Math.log2(most) + NEVER;
  return (rank) => 6 + ((PLOT - 12) * (rank === null ? end : Math.log2(rank))) / end;
};

/** Ranks before (across) and after (down), on logarithms; the outer band is "not found". */
const movementPlot = ({ stage, points }) => {
  const x = rankScale(points);
  const band = (x(null) + x(Math.max(2, ...points.flatMap(([a, b]) => [a ?? 1, b ?? 1])))) / 2;
  const ticks = [1, 2, 5, 10, 20, 50, 100, 1000].filter((rank) => x(rank) < band - 10);
  const circle = ([a, b, n]) => {
    const kind = b === null || (a !== null && b > a) ? "down" : a === null || b < a ? "up" : "same";
    const words = `rank ${a ?? "none"} → ${b ?? "none"}: ${n}`;
    return svg(
      "circle",
      { class: kind, cx: x(a), cy: x(b), r: Math.min(14, 1.6 + 1.4 * Math.sqrt(n)) },
      svg("title", {}, words),
    );
  };
  return svg(
    "svg",
    {
      class: "plot",
      viewBox: `-24 -18 ${PLOT + 30} ${PLOT + 36}`,
      role: "img",
      "aria-label": `Ranks of gold, ${stage}; the figures are in the table`,
    },
    svg("rect", { class: "band", x: band, y: 0, width: PLOT - band, height: PLOT }),
    svg("rect", { class: "band", x: 0, y: band, width: band, height: PLOT - band }),
    svg("line", { class: "axis", x1: 0, y1: 0, x2: band, y2: band }),
    ticks.map((rank) => [
      svg("text", { x: x(rank), y: -5, "text-anchor": "middle" }, rank),
      svg("text", { x: -5, y: x(rank) + 3, "text-anchor": "end" }, rank),
    ]),
    svg("text", { x: (band + PLOT) / 2, y: -5, "text-anchor": "middle" }, "none"),
    svg(
      "text",
      { x: PLOT / 2, y: PLOT + 13, "text-anchor": "middle" },
      "before across, after down",
    ),
    points.map(circle),
  );
};

const moveText = (rank) => (rank === null ? "none" : String(rank));

const movementPart = (part) => {
  const names = ["up", "down", "entered", "left", "same", "absent"];
  return h(
    "div",
    { class: "movement" },
    h("h3", {}, part.stage),
    movementPlot(part),
    h(
      "p",
      { class: "quiet" },
      names
        .filter((name) => part.counts[name])
        .map((name) => `${part.counts[name]} ${name}`)
        .join(", "),
    ),
    part.farthest.length
      ? h(
          "ul",
          { class: "moves" },
          part.farthest
            .slice(0, 6)
            .map(([id, , was, is]) =>
              h("li", {}, linkTo(id), ` ${moveText(was)} → ${moveText(is)}`),
            ),
        )
      : null,
  );
};

const movementSection = () => {
  const parts = data.movement.filter(
    ({ counts }) => counts.up + counts.down + counts.entered + counts.left,
  );
  const still = data.movement.filter((part) => !parts.includes(part)).map((part) => part.stage);
  if (!data.movement.length) return null;
  const words = before
    ? "The rank of each fact's first hit, before and after."
    : "The rank of each fact's first hit, from one stage to the next.";
  return section(
    "movement",
    "How gold moved",
    h("p", { class: "quiet" }, words, still.length ? ` Nothing moved: ${still.join(", ")}.` : ""),
    h("div", { class: "parts" }, parts.map(movementPart)),
  );
};

/** Medians and 95th percentiles as bars on one scale. */
const timeBar = (median, high, most, name) =>
  svg(
    "svg",
    {
      class: `time ${name}`,
      viewBox: "0 0 200 12",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    svg("rect", { class: "tail", x: 0, y: 4, width: (200 * high) / most, height: 4 }),
    svg("rect", { class: "median", x: 0, y: 1, width: (200 * median) / most, height: 10 }),
  );

const latencySection = () => {
  const old = new Map((before ? before.latency : []).map((row) => [row[0], row]));
  const most = Math.max(1e-9, ...[...now.latency, ...old.values()].map((row) => row[3]));
  if (!now.latency.length) return null;
  const rows = now.latency.map(([stage, mode, median, high, n]) => {
    const was = old.get(stage);
    return h(
      "tr",
      {},
      rowHead(stage),
      h(
        "td",
        { class: "wide" },
        was ? timeBar(was[2], was[3], most, "old") : null,
        timeBar(median, high, most, "new"),
      ),
      before ? td(was ? `${ms(was[2])} / ${ms(was[3])}` : DASH) : null,
      td(ms(median)),
      td(ms(high)),
      td(n),
      h("td", {}, mode),
    );
  });
  const heads = [
    "Stage",
    "",
    ...(before ? [["before: median / p95", "n"]] : []),
    ["median", "n"],
    ["p95", "n"],
    ["n", "n"],
    "mode",
  ];
  return section(
    "latency",
    "Latency",
    table("Milliseconds per question; the thin bar reaches to the 95th percentile", heads, rows),
    latencyDeltas(),
  );
};

const latencyDeltas = () => {
  if (data.kind !== "comparison" || !data.latency.length) return null;
  const rows = data.latency.map(([stage, quantile, was, is, delta, low, high, n]) =>
    h(
      "tr",
      {},
      rowHead(stage),
      h("td", {}, quantile),
      td(ms(was)),
      td(ms(is)),
      td(`${delta < 0 ? "−" : "+"}${ms(Math.abs(delta))}`),
      td(`${ms(low)} to ${ms(high)}`),
      td(n),
    ),
  );
  return table(
    "Differences in milliseconds, each question by itself, 95% by cluster",
    [
      "Stage",
      "Quantile",
      ["before", "n"],
      ["after", "n"],
      ["Δ", "n"],
      ["interval", "n"],
      ["n", "n"],
    ],
    rows,
  );
};
