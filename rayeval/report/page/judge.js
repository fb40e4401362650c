// The judge's standing: what pins it, how it replied, how far it agrees with itself and with people.

const kappa = (record) =>
  `κ${record.weighed ? " quadratic" : ""} ${figure(record.reached)} [${limits(...(record.limits || []))}], ${count(record.n, "label")}${record.language ? ` in ${record.language}` : ""}; floor ${record.floor}`;

/** What people's labels say of the judge at one task. */
const calibrated = (judge, task) => {
  const about = judge.records.filter((record) => record.task === task);
  if (!about.length) return task === "claims" ? "gives no verdict" : "nobody has calibrated it";
  const lacking = judge.tasks[task].languages.filter((one) => !one.calibrated);
  return [
    about.map((record) =>
      h(
        "div",
        {},
        record.ours ? kappa(record) : `a record of another judge or prompt: ${kappa(record)}`,
      ),
    ),
    lacking.map((one) =>
      h("div", {}, h("strong", {}, one.language ?? "no language stated"), `: ${one.why}`),
    ),
  ];
};

const outcomesText = (outcomes) => {
  const asked = Object.values(outcomes).reduce((sum, n) => sum + n, 0);
  const bad = Object.entries(outcomes).filter(([name]) => name !== "ok");
  return asked
    ? `${(outcomes.ok || 0).toLocaleString("en")} of ${asked.toLocaleString("en")}${bad.map(([name, n]) => `; ${n.toLocaleString("en")} ${name}`).join("")}`
    : DASH;
};

const judgeRow =
  (judge) =>
  ([task, told]) =>
    h(
      "tr",
      {},
      rowHead(task),
      h(
        "td",
        {},
        told.prompt
          ? [
              `${told.prompt[0]} ${told.prompt[1]} `,
              h("span", { class: "code" }, told.prompt[2].slice(0, 12)),
            ]
          : DASH,
      ),
      h("td", {}, outcomesText(told.outcomes)),
      h(
        "td",
        {},
        told.same
          ? `${percent(told.same.agreement, 1)} of ${told.same.n.toLocaleString("en")}`
          : DASH,
      ),
      h("td", {}, judge.asked.includes(task) ? calibrated(judge, task) : DASH),
    );

const judgePart = ({ judge }) => {
  if (!judge)
    return [
      h("h3", {}, "The judge"),
      h("p", {}, "Nobody judged these answers: right is whether they hold the reference's words."),
    ];
  const ours = judge.records.filter((record) => record.ours);
  const pins = judge.origin
    ? [`verdicts that came with ${judge.origin}`, "by which model and prompts is not known"]
    : [
        `revision ${judge.revision ?? "not declared"}`,
        `temperature ${judge.temperature ?? "not set"}`,
        `seed ${judge.seed ?? "not set"}`,
      ];
  const twice = Object.values(judge.tasks).some((task) => task.same);
  return [
    h("h3", {}, "The judge"),
    h("p", {}, h("strong", {}, judge.model), `, ${pins.join(", ")}.`),
    h(
      "p",
      {},
      ours.length
        ? "People's labels say how far it can be trusted, below."
        : h("strong", {}, "Nobody has calibrated this judge: "),
      ours.length
        ? ""
        : "how far people would agree with it is unknown, and its metrics pass no gate.",
      twice ? "" : " It was not asked twice, so how far it agrees with itself is unknown.",
      judge.errors ? ` ${count(judge.errors, "question")} could not be judged.` : "",
    ),
    table(
      "What it was asked",
      ["Task", "Prompt and hash", "Usable replies", "The same when asked twice", "With people"],
      Object.entries(judge.tasks).map(judgeRow(judge)),
    ),
  ];
};
