// What a stage found for a question: its hits, why they stand there, and where gold is.

/** The line that `golden label --batch` takes, to be edited and kept. */
const labelLine = (question, passage) => {
  const [start, end] = passage.spans.length
    ? [passage.spans[0][0], passage.spans[passage.spans.length - 1][1]]
    : [undefined, undefined];
  const quote = passage.cut || passage.text.length < passage.size ? undefined : passage.text;
  return JSON.stringify({
    question_id: question.id,
    chunk_id: passage.id,
    grade: 3,
    group: "new",
    source_id: passage.source,
    revision_id: passage.revision,
    start_char: start,
    end_char: end,
    quote,
  });
};

const copyButton = (line) => {
  const button = h(
    "button",
    {
      type: "button",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(line);
          button.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren(button.nextElementSibling); // not every browser lets a file copy
          button.textContent = "Selected: copy it";
        }
      },
    },
    "Copy",
  );
  return button;
};

const labelToCopy = (question, passage) => {
  const line = labelLine(question, passage);
  return h(
    "details",
    { class: "unjudged" },
    h("summary", {}, "Label it"),
    h(
      "p",
      { class: "quiet" },
      "Nobody graded this passage. Edit the grade (0 to 3) and the fact; `rayeval golden label RUN --batch FILE` takes such lines.",
    ),
    copyButton(line),
    h("code", {}, line),
  );
};

/** Gold's rank at a stage, the lists' own or beyond them. */
const goldRank = (side, found, stage) => {
  const ranks = Object.entries(found.ranks)
    .filter(([, at]) => stage in at)
    .map(([group, at]) => [group, at[stage]]);
  const beyond = found.contributing.filter((entry) => entry.stage === stage && entry.rank !== null);
  return ranks
    .map(([group, rank]) => {
      const name = ranks.length > 1 ? `fact ${group} ` : "gold ";
      const far = beyond.find((entry) => entry.group_id === group);
      if (rank !== null) return `${name}at ${rank}`;
      if (far)
        return `${name}at ${far.rank.toLocaleString("en")} in truth, beyond the ${far.depth ?? side.depths[stage] ?? ""} kept`.replace(
          "  ",
          " ",
        );
      return `${name}not found`;
    })
    .join(", ");
};

/** A hit's rank at the other stages: what its place here is made of. */
const elsewhere = (found, stage, number) =>
  Object.entries(found.stages)
    .filter(([name]) => name !== stage)
    .map(([name, other]) => {
      const hit = other.hits.find(([passage]) => passage === number);
      return hit ? `${name} ${hit[1]}` : null;
    })
    .filter(Boolean)
    .join(" · ");

const BRIEF = 110;

/** The passage in full where the page shows it first, then its beginning. */
const passageText = (passage, gold, shared, again) => {
  const attributes = {
    class: again ? "passage quiet" : "passage",
    lang: languageOf(passage.text, null),
  };
  if (again)
    return h(
      "p",
      attributes,
      [...passage.text].slice(0, BRIEF).join("").replace(/\s+/g, " "),
      passage.size > BRIEF ? " …" : "",
    );
  const ranges = gold.flatMap((item) => goldRanges(passage, item));
  return h(
    "p",
    attributes,
    passage.cut ? "… " : "",
    marked(
      passage.text,
      ranges,
      shared.flatMap(([, places]) => places),
    ),
    passage.cut + [...passage.text].length < passage.size ? " …" : "",
  );
};

/** Which of the question's words a passage has, and of which it has only how they begin. */
const sharedText = (words, shared) => {
  const named = (whole) => shared.filter((one) => one[2] === whole).map(([word]) => word);
  const [whole, begun] = [named(true), named(false).map((word) => `${word}…`)];
  const said = `${whole.length} of the question's ${count(words.length, "word")}`;
  return [
    whole.length ? `${said}: ${whole.join(", ")}` : said,
    begun.length ? `begins alike: ${begun.join(", ")}` : "",
  ];
};

const whyText = (words, shared, others) =>
  [...(words.length ? sharedText(words, shared) : []), others ? `also ${others}` : ""]
    .filter(Boolean)
    .join(" · ");

const hitItem =
  (question, found, stage, seen) =>
  ([number, rank, score]) => {
    const passage = data.passages[number];
    const words = wordsOf(question.text);
    const gold = found.evidence.filter((item) => item.gold);
    const shares = gold
      .map((item) => [item, coverage(passage, item)])
      .filter(([, share]) => share > 0);
    const judged = !found.partial || found.evidence.some((item) => coverage(passage, item) > 0);
    const shared = sharedWords(passage.text, words);
    const again = seen.has(number);
    seen.add(number);
    return h(
      "li",
      { value: rank, class: shares.length ? "gold" : null },
      h(
        "p",
        { class: "quiet head" },
        h("span", { class: "rank" }, rank),
        isNumber(score) ? h("span", { title: "score" }, score.toPrecision(4)) : null,
        h("span", {}, place(passage)),
        shares.map(([item, share]) =>
          h("strong", {}, `${item.evidence_id} ${percent(share, 1)}`),
        ),
        judged ? null : h("em", {}, "unjudged"),
      ),
      passageText(passage, gold, shared, again),
      h("p", { class: "quiet why" }, whyText(words, shared, elsewhere(found, stage, number))),
      judged || again ? null : labelToCopy(question, passage),
    );
  };

const TOP = 5;

const holdsGold = (found, number) =>
  found.evidence.some((item) => item.gold && coverage(data.passages[number], item) > 0);

/** A stage's first hits, and those further down that hold gold. */
const worthReading = (found, stage) =>
  found.stages[stage].hits
    .filter(([number, rank]) => rank <= TOP || holdsGold(found, number))
    .sort((a, b) => a[1] - b[1]);

const stageBlock = (question, side, found, stage, seen) => {
  const at = found.stages[stage];
  if (!at) return h("div", { class: "stage" }, h("p", { class: "quiet" }, "did not run"));
  const hits = worthReading(found, stage);
  const shown = hits.length < at.n ? ` (${hits.length} shown)` : "";
  return h(
    "div",
    { class: "stage" },
    h(
      "p",
      {},
      at.error
        ? h("strong", {}, `error: ${at.error}`)
        : [
            count(at.n, "hit"),
            shown,
            ", ",
            h("strong", {}, goldRank(side, found, stage) || "no gold known"),
          ],
    ),
    h("ol", { class: "hits" }, hits.map(hitItem(question, found, stage, seen))),
  );
};
