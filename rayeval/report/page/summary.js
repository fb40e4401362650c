// The first screen: the sentence, the questions behind it, and where gold is lost.

const SENTENCE = document.querySelector("h1").textContent;
const TITLE = document.title;
const LISTED = 8;

const notes = (title, lines) =>
  lines && lines.length
    ? h(
        "div",
        { class: "notes" },
        h("h2", {}, title),
        h(
          "ul",
          {},
          lines.map((line) => h("li", {}, line)),
        ),
      )
    : null;

/** says: what else to say of a question, if anything. */
const questionItem = (says) => (id) => {
  const question = byId.get(id);
  const text = question ? question.text : "";
  return h(
    "li",
    {},
    linkTo(id),
    " ",
    says && question ? h("span", {}, says(question), " ") : null,
    h("span", { class: "quiet", lang: languageOf(text, question && question.language) }, text),
  );
};

/** A list of questions, the rest behind a button. */
const questionList = (ids, most = LISTED, says = null) => {
  const item = questionItem(says);
  const list = h("ol", { class: "questions" }, ids.slice(0, most).map(item));
  if (ids.length <= most) return list;
  const more = h(
    "button",
    {
      type: "button",
      onclick: () => {
        list.append(...ids.slice(most).map(item));
        more.remove();
        list.children[most].querySelector("a, span").focus();
      },
    },
    `Show ${ids.length - most} more`,
  );
  return h("div", {}, list, more);
};

/** One bar: what is still there, and what this stage is the first to lose. */
const bar = (share, lost, was) =>
  svg(
    "svg",
    { class: "bar", viewBox: "0 0 200 16", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "ground", x: 0, y: 3, width: 200, height: 10 }),
    svg("rect", { class: "kept", x: 0, y: 3, width: 200 * share, height: 10 }),
    lost
      ? svg("rect", {
          class: "lost",
          x: 200 * share,
          y: 3,
          width: Math.min(200 * lost, 200 * (1 - share)),
          height: 10,
        })
      : null,
    isNumber(was)
      ? svg("line", { class: "was", x1: 200 * was, x2: 200 * was, y1: 0, y2: 16 })
      : null,
  );

const countLost = (item) => item.all ?? item.lost.length; // more than the page lists

/** The button with how many questions a stage could win back; it opens their list below. */
const lostCell = (item, id, row, columns) => {
  if (!item || !item.lost.length) return td("");
  const first = item.stage === "answer" ? "first fail" : "first lost";
  const button = h(
    "button",
    {
      type: "button",
      class: "link",
      "aria-expanded": "false",
      "aria-controls": id,
      onclick: () => {
        const open = button.getAttribute("aria-expanded") === "true";
        button.setAttribute("aria-expanded", String(!open));
        if (open) return document.getElementById(id).remove();
        const all = h("a", { href: filterLink({ stage: item.stage }) }, "all of them in the list");
        row().after(
          h(
            "tr",
            { id, class: "opened" },
            h("td", { colspan: columns }, questionList(item.lost), h("p", {}, all)),
          ),
        );
      },
    },
    countLost(item).toLocaleString("en"),
    hidden(` questions ${first} at ${item.stage}; list them`),
  );
  return td(button);
};

const waterfall = () => {
  const headroom = new Map(data.headroom.map((item) => [item.stage, item]));
  const was = new Map(before ? before.bounds : []);
  const costs = data.headroom.some((item) => item.cost);
  const heads = [
    "Stage",
    "",
    [now.walked.includes("answer") ? "Gold all there, or no fault found" : "Gold all there", "n"],
    ...(before ? [["before", "n"]] : []),
    ["Could win back", "n"],
    ["ms, median", "n"],
    ["ms, p95", "n"],
    ...(costs ? [["Cost per question", "cost"]] : []),
  ];
  const bounds = new Map(now.bounds);
  const rows = stagesOf((side) => side.bounds.map(([stage]) => stage)).map((stage, place) => {
    const item = headroom.get(stage);
    const kept = bounds.get(stage);
    const share = kept && now.answerable ? kept / now.answerable : 0;
    const lost = item && now.answerable ? countLost(item) / now.answerable : 0;
    const old =
      before && before.answerable && was.has(stage) ? was.get(stage) / before.answerable : null;
    const row = h(
      "tr",
      {},
      rowHead(stage),
      h("td", { class: "wide" }, bar(share, lost, old)),
      td(
        kept === undefined
          ? "not there"
          : [
              kept.toLocaleString("en"),
              h("span", { class: "quiet" }, ` ${percent(kept, now.answerable)}`),
            ],
      ),
      before ? td(was.has(stage) ? was.get(stage).toLocaleString("en") : DASH) : null,
      lostCell(item, `lost-${place}`, () => row, heads.length),
      td(item && isNumber(item.ms) ? ms(item.ms) : ""),
      td(item && isNumber(item.p95) ? ms(item.p95) : ""),
      costs ? h("td", { class: "quiet cost" }, item ? item.cost : "") : null,
    );
    return row;
  });
  const modes = distinct(data.headroom.map((item) => item.mode).filter(Boolean));
  return section(
    "waterfall",
    now.walked.includes("answer") ? "Where gold is lost and answers fail" : "Where gold is lost",
    table(
      `Answerable questions (${now.answerable.toLocaleString("en")}) ${now.counted}`,
      heads,
      rows,
      { class: "waterfall" },
    ),
    h(
      "p",
      { class: "quiet" },
      "Could win back: questions whose gold this stage is the first to lose",
      now.walked.includes("answer") ? "; at answer, whose answer is at fault though nothing was lost before it." : ".",
      modes.length ? ` Times are ${modes.join(" and ")}.` : "",
      before ? " The thin line is the run before." : "",
      now.denominators ? ` ${now.denominators}.` : "",
    ),
  );
};

const firstScreen = () => [
  h("h1", {}, SENTENCE),
  data.note ? h("p", {}, data.note) : null,
  data.changed
    ? h("p", {}, `Changed: ${data.changed.join("; ") || "nothing in the pipeline's settings"}.`)
    : null,
  h("p", { class: "quiet" }, data.counts),
  data.behind.length ? questionList(data.behind, 5) : null,
  waterfall(),
  notes("Be careful", [...(data.warnings || []).slice(0, 5), data.unjudged].filter(Boolean)),
  data.kind === "run" ? notes("Look at next", data.next) : null,
];
