// One question: its gold, and what every stage made of it, before and after.

const evidenceBlock = (item) => {
  const around = aroundGold(item);
  const text = around || (item.quote ? h("mark", {}, item.quote) : item.spans.length ? "The passage is not in this page." : "The whole document.");
  const grade = item.gold ? "gold" : `relevance ${item.relevance}`;
  const gone = item.found && item.found.startsWith("missing") ? `, ${item.found.replace("_", " ")}` : "";
  return h("figure", { class: "evidence" },
    h("figcaption", { class: "quiet" }, `${item.evidence_id} · ${grade} · fact ${item.group_id} · ${item.source_id ?? "no source"}${gone}`),
    h("blockquote", { lang: languageOf(item.quote || "", null) }, text));
};

/** The line that `golden label --batch` takes, to be edited and kept. */
const labelLine = (question, passage) => {
  const [start, end] = passage.spans.length ? [passage.spans[0][0], passage.spans[passage.spans.length - 1][1]] : [undefined, undefined];
  const quote = passage.cut || passage.text.length < passage.size ? undefined : passage.text;
  return JSON.stringify({ question_id: question.id, chunk_id: passage.id, grade: 3, group: "new", source_id: passage.source, revision_id: passage.revision, start_char: start, end_char: end, quote });
};

const copyButton = (line) => {
  const button = h("button", { type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(line);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.nextElementSibling); // not every browser lets a file copy
      button.textContent = "Selected: copy it";
    }
  } }, "Copy");
  return button;
};

const labelToCopy = (question, passage) => {
  const line = labelLine(question, passage);
  return h("details", { class: "unjudged" }, h("summary", {}, "Label it"),
    h("p", { class: "quiet" }, "Nobody graded this passage. Edit the grade (0 to 3) and the fact; `rayeval golden label RUN --batch FILE` takes such lines."),
    copyButton(line), h("code", {}, line));
};

/** Gold's rank at a stage, the lists' own or beyond them. */
const goldRank = (side, found, stage) => {
  const ranks = Object.entries(found.ranks).filter(([, at]) => stage in at).map(([group, at]) => [group, at[stage]]);
  const beyond = found.contributing.filter((entry) => entry.stage === stage && entry.rank !== null);
  return ranks.map(([group, rank]) => {
    const name = ranks.length > 1 ? `fact ${group} ` : "gold ";
    const far = beyond.find((entry) => entry.group_id === group);
    if (rank !== null) return `${name}at ${rank}`;
    if (far) return `${name}at ${far.rank.toLocaleString("en")} in truth, beyond the ${far.depth ?? side.depths[stage] ?? ""} kept`.replace("  ", " ");
    return `${name}not found`;
  }).join(", ");
};

/** A hit's rank at the other stages: what its place here is made of. */
const elsewhere = (found, stage, number) =>
  Object.entries(found.stages).filter(([name]) => name !== stage).map(([name, other]) => {
    const hit = other.hits.find(([passage]) => passage === number);
    return hit ? `${name} ${hit[1]}` : null;
  }).filter(Boolean).join(" · ");

const BRIEF = 110;

/** The passage in full where the page shows it first, then its beginning. */
const passageText = (passage, gold, shared, again) => {
  const attributes = { class: again ? "passage quiet" : "passage", lang: languageOf(passage.text, null) };
  if (again) return h("p", attributes, [...passage.text].slice(0, BRIEF).join("").replace(/\s+/g, " "), passage.size > BRIEF ? " …" : "");
  const ranges = gold.flatMap((item) => goldRanges(passage, item));
  return h("p", attributes, passage.cut ? "… " : "", marked(passage.text, ranges, shared.flatMap(([, places]) => places)),
    passage.cut + [...passage.text].length < passage.size ? " …" : "");
};

const whyText = (words, shared, others) =>
  [words.length ? `${shared.length} of the question's ${count(words.length, "word")}${shared.length ? `: ${shared.map(([word]) => word).join(", ")}` : ""}` : "",
    others ? `also ${others}` : ""].filter(Boolean).join(" · ");

const hitItem = (question, found, stage, seen) => ([number, rank, score]) => {
  const passage = data.passages[number];
  const words = wordsOf(question.text);
  const gold = found.evidence.filter((item) => item.gold);
  const shares = gold.map((item) => [item, coverage(passage, item)]).filter(([, share]) => share > 0);
  const judged = !found.partial || found.evidence.some((item) => coverage(passage, item) > 0);
  const shared = sharedWords(passage.text, words);
  const again = seen.has(number);
  seen.add(number);
  return h("li", { value: rank, class: shares.length ? "gold" : null },
    h("p", { class: "quiet head" }, h("span", { class: "rank" }, rank), isNumber(score) ? h("span", { title: "score" }, score.toPrecision(4)) : null,
      h("span", {}, place(passage)), shares.map(([item, share]) => h("strong", {}, `${item.evidence_id} ${Math.round(100 * share)}%`)), judged ? null : h("em", {}, "unjudged")),
    passageText(passage, gold, shared, again),
    h("p", { class: "quiet why" }, whyText(words, shared, elsewhere(found, stage, number))),
    judged || again ? null : labelToCopy(question, passage));
};

const TOP = 5;

const holdsGold = (found, number) => found.evidence.some((item) => item.gold && coverage(data.passages[number], item) > 0);

/** A stage's first hits, and those further down that hold gold. */
const worthReading = (found, stage) =>
  found.stages[stage].hits.filter(([number, rank]) => rank <= TOP || holdsGold(found, number)).sort((a, b) => a[1] - b[1]);

const stageBlock = (question, side, found, stage, seen) => {
  const at = found.stages[stage];
  if (!at) return h("div", { class: "stage" }, h("p", { class: "quiet" }, "did not run"));
  const hits = worthReading(found, stage);
  const shown = hits.length < at.n ? ` (${hits.length} shown)` : "";
  return h("div", { class: "stage" },
    h("p", {}, at.error ? h("strong", {}, `error: ${at.error}`) : [count(at.n, "hit"), shown, ", ", h("strong", {}, goldRank(side, found, stage) || "no gold known")]),
    h("ol", { class: "hits" }, hits.map(hitItem(question, found, stage, seen))));
};

/** Old beside new, or once where both found the same. */
const stageBlocks = (question, columns, stage, seen) => {
  const found = columns.map(([side]) => side.details[question.id]);
  const told = found.map((each) => each.stages[stage] && JSON.stringify([each.stages[stage].error, each.stages[stage].n, worthReading(each, stage)]));
  const same = columns.length > 1 && distinct(told).length === 1;
  const shown = same ? columns.slice(-1) : columns;
  if (same) worthReading(found[0], stage).forEach(([number]) => seen[0].add(number));
  return [same ? h("p", { class: "quiet" }, "The same before and after.") : null,
    h("div", { class: "sides" }, shown.map(([side, number]) => stageBlock(question, side, side.details[question.id], stage, seen[number])))];
};

const ending = (question, number) => {
  const stage = question.lostAt[number];
  return `${question.ended[number]}${stage ? ` at ${stage}` : ""}`;
};

const contributed = (found) => found.contributing.filter((entry) => entry.code).map((entry) =>
  h("li", {}, `${entry.stage}: `, h("span", { class: "code" }, entry.code), entry.group_id ? ` (fact ${entry.group_id})` : "",
    entry.rank !== null ? `; true rank ${entry.rank.toLocaleString("en")}` : "", entry.depth ? ` of ${entry.depth} kept` : ""));

const sideHead = (question, side, number) => {
  const found = side.details[question.id];
  return h("div", {}, before ? h("h3", {}, side.called, " ", h("span", { class: "quiet" }, side.run)) : null,
    h("p", { class: "verdict" }, ending(question, number)),
    found && found.contributing.length ? h("ul", { class: "quiet" }, contributed(found)) : null);
};

const neighbours = (question) => {
  const around = listed(lastFilter).filter((other) => hasPage(other.id));
  const at = around.indexOf(question);
  const step = (other, text) => (other ? h("a", { href: questionLink(other.id) }, text) : null);
  return h("nav", { class: "steps", "aria-label": "Questions" }, h("a", { href: filterLink(lastFilter) }, "All questions"),
    step(around[at - 1], "Previous"), at >= 0 ? step(around[at + 1], "Next") : null);
};

const questionPage = (question) => {
  const found = now.details[question.id];
  const stages = stagesOf((side) => side.stages).filter((stage) => sides.some((side) => side.details[question.id]?.stages[stage]));
  const labels = [question.language, question.origin, question.split, ...question.slices].filter(Boolean);
  const columns = sides.map((side, number) => [side, number]).filter(([side]) => Object.hasOwn(side.details, question.id));
  const seen = sides.map(() => new Set());
  return [
    neighbours(question),
    h("p", { class: "quiet" }, question.id, " · ", labels.join(" · ")),
    h("h1", { tabindex: "-1", lang: languageOf(question.text, question.language) }, question.text),
    h("div", { class: "sides" }, columns.map(([side, number]) => sideHead(question, side, number))),
    found.answer ? h("p", { lang: languageOf(found.answer, question.language) }, h("span", { class: "quiet" }, "Answer: "), found.answer) : null,
    section("gold", "Gold in its source", found.evidence.length ? found.evidence.map(evidenceBlock) : h("p", {}, "No evidence: the question is unanswerable.")),
    stages.map((stage, order) => section(`stage-${order}`, stage, stageBlocks(question, columns, stage, seen))),
    neighbours(question),
  ];
};

const noPage = (id) => [
  h("h1", { tabindex: "-1" }, `No page for ${id}`),
  h("p", {}, byId.has(id) ? `A page of ${count(data.total, "question")} shows only those in full that matter most; \`rayeval show ${now.run} ${id}\` reads this one.` : "This run has no such question."),
  h("p", {}, h("a", { href: "#questions" }, "All questions")),
];
