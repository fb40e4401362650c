// Where the reader is: `#q/ID` is a question, `#questions?slice=…` the list with its filter.

const FILTERS = [
  "q",
  "slice",
  "ended",
  "stage",
  "split",
  "origin",
  "language",
  "change",
  "answer",
  "went",
  "sort",
  "page",
];

const questionLink = (id) => `#q/${encodeURIComponent(id)}`;

const filterLink = (filter) => {
  const stated = FILTERS.filter((name) => filter[name]).map((name) => [name, filter[name]]);
  return stated.length ? `#questions?${new URLSearchParams(stated)}` : "#questions";
};

const decodedPart = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a hash that somebody typed
  }
};

/** {question: id} or {filter: {…}}; `listed` where the list itself was asked for. */
const route = () => {
  const hash = location.hash.slice(1);
  if (hash.startsWith("q/")) return { question: decodedPart(hash.slice(2)) };
  const [path, query = ""] = hash.split("?");
  const stated = new URLSearchParams(query);
  const filter = {};
  for (const name of FILTERS) if (stated.get(name)) filter[name] = stated.get(name);
  return { filter, listed: path === "questions" };
};

const linkTo = (id, ...children) =>
  hasPage(id)
    ? h("a", { href: questionLink(id) }, ...(children.length ? children : [id]))
    : h("span", {}, ...(children.length ? children : [id]));
