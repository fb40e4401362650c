// Which questions are listed, in which order.

const WALKED = now ? stagesOf((side) => side.walked) : [];

const matches = (filter) => {
  const words = (filter.q || "").normalize("NFC").toLowerCase().split(/\s+/).filter(Boolean);
  const is = (name, value) => !filter[name] || filter[name] === value;
  const last = sides.length - 1;
  return (question) =>
    is("ended", question.ended[last]) &&
    is("stage", question.lostAt[last]) &&
    is("split", question.split ?? "none") &&
    is("origin", question.origin ?? "none") &&
    is("language", question.language ?? "none") &&
    is("change", question.change) &&
    is("answer", question.outcome[last] ?? "none") &&
    is("went", question.went ?? "none") &&
    (!filter.slice || question.slices.includes(filter.slice)) &&
    words.every((word) => question.search.includes(word));
};

/** Of answers that changed, the worst first: right to wrong. */
const WENT_ORDER = new Map(
  data.went ? [...data.went.worse, ...data.went.better].map((id, place) => [id, place]) : [],
);

const ORDER = { lost: 0, moved: 1, won: 2, same: 3 };
const sortKey = (name) => {
  if (name === "ended") return (question) => question.ended[sides.length - 1];
  if (name === "change") return (question) => ORDER[question.change];
  if (name === "answer") return (question) => OUTCOMES.indexOf(question.outcome[sides.length - 1]);
  if (name === "went") return (question) => WENT_ORDER.get(question.id) ?? WENT_ORDER.size;
  if (name === "text") return (question) => question.text;
  if (name.startsWith("at:")) {
    const at = sides.map((side) => side.walked.indexOf(name.slice(3)));
    return (question) =>
      at.reduce(
        (sum, place, side) =>
          3 * sum + "lk-".indexOf(place < 0 ? "-" : question.marks[side][place]),
        0,
      );
  }
  return (question) => question.id;
};

const compared = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** The questions of a filter, in its order; ties by id. */
const listed = (filter) => {
  const down = (filter.sort || "").startsWith("-");
  const key = sortKey((filter.sort || "id").replace(/^-/, ""));
  const found = questions.filter(matches(filter)).map((question) => [key(question), question]);
  found.sort((a, b) => (down ? -1 : 1) * compared(a[0], b[0]) || compared(a[1].row, b[1].row));
  return found.map(([, question]) => question);
};
