// Questions × stages: filtered, sorted, a page at a time.

const PAGE = 50;
const MARKS = { k: ["●", "kept"], l: ["○", "lost"], "-": ["·", "not observed"] };
/** At the answer nothing is lost: it is at fault or not. */
const SAID = { kept: "no fault found", lost: "at fault" };
const CHANGES = { lost: "lost", won: "won", moved: "fails elsewhere", same: "as before" };

const mark = (letter, stage) => {
  const [sign, kind] = MARKS[letter];
  const words = (stage === "answer" && SAID[kind]) || kind;
  return [
    hidden(words),
    h(
      "span",
      { class: `mark ${kind.split(" ")[0]}`, "aria-hidden": "true", title: words },
      sign,
    ),
  ];
};

const stageCell = (question, stage) =>
  h(
    "td",
    { class: "c" },
    sides.map((side, number) => {
      const place = side.walked.indexOf(stage);
      return [
        number ? hidden(", after: ") : null,
        mark(place < 0 ? "-" : question.marks[number][place], stage),
      ];
    }),
  );

const ANSWERED = sides.some((side) => side.answers);

/** How the answer came out, before and after. */
const answerCell = ({ outcome: [first, last] }) =>
  before && first !== last
    ? [h("span", { class: "quiet" }, `${first ?? DASH} → `), last ?? DASH]
    : (first ?? DASH);

const matrixRow = (question) => {
  const last = sides.length - 1;
  const ends =
    before && question.change !== "same"
      ? [
          h("span", { class: "quiet" }, codeText(question.ended[0]), " → "),
          codeText(question.ended[last]),
        ]
      : codeText(question.ended[last]);
  return h(
    "tr",
    { class: question.change },
    rowHead(linkTo(question.id)),
    h("td", { class: "text", lang: languageOf(question.text, question.language) }, question.text),
    before ? h("td", { class: "went" }, CHANGES[question.change]) : null,
    h("td", { class: "code" }, ends),
    ANSWERED ? h("td", {}, answerCell(question)) : null,
    WALKED.map((stage) => stageCell(question, stage)),
  );
};

const sortHead = (text, name, filter, go, attributes = {}) => {
  const sort = filter.sort || "id";
  const direction = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none";
  return h(
    "th",
    { scope: "col", "aria-sort": direction, ...attributes },
    h(
      "button",
      {
        type: "button",
        "data-sort": name,
        onclick: () =>
          go({ ...filter, sort: direction === "ascending" ? `-${name}` : name, page: "" }),
      },
      text,
      h(
        "span",
        { "aria-hidden": "true" },
        { ascending: " ↑", descending: " ↓", none: "" }[direction],
      ),
    ),
  );
};

const filterForm = (filter, go) => {
  const change = (name) => (value) => go({ ...route().filter, [name]: value, page: "" });
  const options = (values) => [["", "any"], ...values.map((value) => [value, value])];
  const known = (read) =>
    distinct(questions.map(read))
      .filter((value) => value !== undefined)
      .map((value) => value ?? "none")
      .sort();
  const last = sides.length - 1;
  const choices = [
    ["Slice", "slice", data.questions.slices.values],
    ["Ended", "ended", known((q) => q.ended[last])],
    ["Answer", "answer", ANSWERED ? known((q) => q.outcome[last]) : []],
    ["Answer went", "went", data.went ? known((q) => q.went) : []],
    [now.walked.includes("answer") ? "Lost or failed at" : "Lost at", "stage", now.walked.filter((stage) => now.lostAt.values.includes(stage))],
    ["Split", "split", known((q) => q.split)],
    ["Origin", "origin", known((q) => q.origin)],
    ["Language", "language", known((q) => q.language)],
  ];
  const search = h(
    "label",
    { class: "search" },
    "Search",
    h("input", {
      type: "search",
      name: "q",
      value: filter.q || "",
      oninput: (event) => change("q")(event.target.value),
    }),
  );
  return h(
    "form",
    { class: "controls", role: "search", onsubmit: (event) => event.preventDefault() },
    search,
    before
      ? select(
          "Change",
          "change",
          [["", "any"], ...Object.entries(CHANGES)],
          filter.change || "",
          change("change"),
        )
      : null,
    choices
      .filter(([, , values]) => values.length > 1)
      .map(([label, name, values]) =>
        select(label, name, options(values), filter[name] || "", change(name)),
      ),
    h("button", { type: "reset", onclick: () => go({}, true) }, "Clear"),
  );
};

const pager = (filter, pages, page, go) =>
  pages < 2
    ? null
    : h(
        "nav",
        { class: "pager", "aria-label": "Pages of the list" },
        h(
          "button",
          {
            type: "button",
            "data-page": "previous",
            disabled: page < 2,
            onclick: () => go({ ...filter, page: String(page - 1) }),
          },
          "Previous",
        ),
        ` page ${page} of ${pages} `,
        h(
          "button",
          {
            type: "button",
            "data-page": "next",
            disabled: page >= pages,
            onclick: () => go({ ...filter, page: String(page + 1) }),
          },
          "Next",
        ),
      );

const matrixTable = (filter, go) => {
  const found = listed(filter);
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  const page = Math.min(pages, Math.max(1, Number.parseInt(filter.page || "1", 10) || 1));
  const heads = [
    sortHead("Question", "id", filter, go),
    sortHead("Text", "text", filter, go),
    before ? sortHead("Change", "change", filter, go) : null,
    sortHead("Ended", "ended", filter, go),
    ANSWERED ? sortHead("Answer", data.went ? "went" : "answer", filter, go) : null,
    ...WALKED.map((stage) => sortHead(stage, `at:${stage}`, filter, go, { class: "c" })),
  ].filter(Boolean);
  const rows = found.slice((page - 1) * PAGE, page * PAGE).map(matrixRow);
  const words = `${found.length.toLocaleString("en")} of ${count(questions.length, "question")}`;
  return {
    words,
    nodes: [
      table(
        `Questions by stage: ● ${now.there}, ○ ${now.walked.includes("answer") ? "lost, or at fault" : "lost"}${before ? "; before, then after" : ""}`,
        heads,
        rows,
        { class: "matrix" },
      ),
      pager(filter, pages, page, go),
    ],
  };
};

const matrixSection = (first) => {
  const status = h("p", { role: "status", id: "matrix-count" });
  const place = h("div", { id: "matrix-rows" });
  let form = null;
  const show = (filter) => {
    const { words, nodes } = matrixTable(filter, go);
    status.textContent = words;
    place.replaceChildren(...nodes.filter(Boolean));
  };
  /** Another filter: in the address, so that it can be sent to somebody. */
  const go = (filter, anew = false) => {
    const focused =
      document.activeElement &&
      (document.activeElement.dataset.sort || document.activeElement.dataset.page);
    history.replaceState(null, "", filterLink(filter));
    show(filter);
    if (anew) form.replaceWith((form = filterForm({}, go)));
    if (focused)
      place
        .querySelector(`[data-sort="${CSS.escape(focused)}"], [data-page="${CSS.escape(focused)}"]`)
        ?.focus();
  };
  form = filterForm(first, go);
  show(first);
  const rest = data.total - questions.length;
  return section(
    "questions",
    "Questions",
    rest > 0
      ? h(
          "p",
          { class: "quiet" },
          `This page holds ${questions.length.toLocaleString("en")} of ${count(data.total, "question")}, those that failed first; the run's tables hold all.`,
        )
      : null,
    form,
    status,
    place,
  );
};
