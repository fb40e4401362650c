// What is shown at which address.

const main = document.getElementById("main");
let lastFilter = {};
let scrolled = 0;
let shown = null;

const overviewPage = (filter) => [
  firstScreen(),
  answersSection(),
  metricsSection(),
  movementSection(),
  latencySection(),
  matrixSection(filter),
  h(
    "footer",
    { class: "quiet" },
    h(
      "ul",
      {},
      data.madeOf.map((line) => h("li", {}, line)),
    ),
  ),
];

const put = (nodes, title) => {
  main.replaceChildren(...nodes.flat(Infinity).filter(Boolean));
  document.title = title;
};

const showQuestion = (id) => {
  if (shown === "overview") scrolled = scrollY;
  shown = "question";
  const question = byId.get(id);
  put(question && hasPage(id) ? questionPage(question) : noPage(id), `${id} · ${TITLE}`);
  scrollTo(0, 0);
  main.querySelector("h1").focus({ preventScroll: true });
};

const showOverview = ({ filter, listed: list }) => {
  const returned = shown === "question";
  shown = "overview";
  lastFilter = filter;
  put(overviewPage(filter), TITLE);
  if (returned) scrollTo(0, scrolled);
  else if (list) document.getElementById("questions").scrollIntoView();
  if (returned || list) document.getElementById("questions-title").setAttribute("tabindex", "-1");
};

const show = () => {
  if (data.kind === "folder") return put(folderPage(), TITLE);
  if (data.kind === "message")
    return put(
      [h("h1", {}, SENTENCE), h("p", {}, data.text), h("p", {}, h("a", { href: "/" }, "All runs"))],
      TITLE,
    );
  const asked = route();
  if (asked.question !== undefined) return showQuestion(asked.question);
  if (asked.listed || location.hash === "") return showOverview(asked);
  if (shown === null) showOverview({ filter: {} }); // a hash of the page itself, like #main
};

/** On paper nothing can be unfolded. */
addEventListener("beforeprint", () => {
  for (const folded of main.querySelectorAll("#replies details")) folded.open = true;
});
addEventListener("hashchange", show);
show();
