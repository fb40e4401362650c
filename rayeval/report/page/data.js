// The data as the other scripts use them.

const data = JSON.parse(document.getElementById("data").textContent);
const sides = data.sides || [];
const now = sides[sides.length - 1];
const before = sides.length > 1 ? sides[0] : null;

const decoded = ({ values, codes }, row) => (codes[row] < 0 ? null : values[codes[row]]);

/** How an answer may have come out, the best first. */
const OUTCOMES = [
  "right",
  "rightly refused",
  "partly right",
  "mixed",
  "not known",
  "refused",
  "answered anyway",
  "wrong",
  "error",
];

const changeOf = (was, is) =>
  was === is ? "same" : is === "success" ? "won" : was === "success" ? "lost" : "moved";

/** A question as an object; what differs between runs has a place per side. */
const questionAt = (row) => {
  const known = data.questions;
  const ended = sides.map((side) => decoded(side.ended, row));
  const question = {
    row,
    id: known.id[row],
    text: known.text[row],
    language: decoded(known.language, row),
    origin: decoded(known.origin, row),
    split: decoded(known.split, row),
    slices: known.slices.codes[row].map((code) => known.slices.values[code]),
    ended,
    lostAt: sides.map((side) => decoded(side.lostAt, row)),
    marks: sides.map((side) => side.marks[row]),
    outcome: sides.map((side) => decoded(side.outcome, row)),
    went: data.went ? decoded(data.went.of, row) : null,
    change: before ? changeOf(ended[0], ended[1]) : null,
  };
  question.search = `${question.id} ${question.text}`.normalize("NFC").toLowerCase();
  return question;
};

const questions = data.questions ? data.questions.id.map((_, row) => questionAt(row)) : [];
const byId = new Map(questions.map((question) => [question.id, question]));
const hasPage = (id) => now !== undefined && Object.hasOwn(now.details, id);

/** Distinct values of a list, in order. */
const distinct = (values) => [...new Set(values)];

/** The stages of all sides in the order of the last; one that only an earlier side has follows
 * the stage that it followed there. */
const stagesOf = (read) => {
  const merged = read(now).slice();
  for (const side of sides.slice(0, -1)) {
    read(side).forEach((stage, place, all) => {
      if (!merged.includes(stage)) merged.splice(merged.indexOf(all[place - 1]) + 1, 0, stage);
    });
  }
  return merged;
};
