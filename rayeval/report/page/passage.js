// What a passage shares with gold and with the question's words.

/** Half-open ranges of code points as UTF-16 ranges of the text. */
const inUnits = (text, ranges) => {
  if (!/[\ud800-\udfff]/.test(text)) return ranges;
  const starts = [0];
  for (const character of text) starts.push(starts[starts.length - 1] + character.length);
  const at = (place) => starts[Math.max(0, Math.min(place, starts.length - 1))];
  return ranges.map(([start, end]) => [at(start), at(end)]);
};

/** Where evidence lies in the passage's text; a text that is not its source's own is searched for the quote. */
const goldRanges = (passage, item) => {
  if (passage.source !== null && !sameSource(passage, item)) return [];
  if (!passage.exact) return quoteRanges(passage.text, item.quote);
  const found = [];
  let past = -passage.cut;
  for (const [start, end] of passage.spans) {
    for (const [low, high] of item.spans) {
      const [from, to] = [Math.max(start, low), Math.min(end, high)];
      if (from < to) found.push([Math.max(0, past + from - start), Math.max(0, past + to - start)]);
    }
    past += end - start;
  }
  return inUnits(
    passage.text,
    found.filter(([start, end]) => start < end),
  );
};

const quoteRanges = (text, quote) => {
  const words = (quote || "")
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const found = words.length ? new RegExp(words.join("\\s+")).exec(text) : null;
  return found ? [[found.index, found.index + found[0].length]] : [];
};

const sameSource = (passage, item) =>
  passage.source === item.source_id && passage.revision === item.revision_id;

/** The share of an evidence's characters that the passage holds; a whole document holds all. */
const coverage = (passage, item) => {
  if (passage.source === null) return quoteRanges(passage.text, item.quote).length ? 1 : 0;
  if (!sameSource(passage, item)) return 0;
  const total = item.spans.reduce((sum, [start, end]) => sum + end - start, 0);
  if (!passage.spans.length) return passage.text ? 0 : 1;
  const shared = passage.spans.reduce(
    (sum, [start, end]) =>
      sum +
      item.spans.reduce(
        (part, [low, high]) => part + Math.max(0, Math.min(end, high) - Math.max(start, low)),
        0,
      ),
    0,
  );
  return total ? shared / total : 0;
};

const COMMON = new Set(
  (
    "a an and any are as at be by can do does for from had has have how i if in is it its many may me much must my no not of on or our " +
    "should so than that the their there they this to was we what when where which who whom why will with you your"
  ).split(" "),
);

/** The question's words that say something. */
const wordsOf = (question) =>
  distinct(
    (question.toLowerCase().match(/[\p{L}\p{N}]+/gu) || []).filter(
      (word) => word.length > 1 && !COMMON.has(word),
    ),
  );

/** What a word may have lost at its end: Korean syllables, but for a unit after digits, and two letters of a long word without digits. */
const beginnings = (word) => {
  const [, unit, ending] = /(\p{N}[\uac00-\ud7a3])?([\uac00-\ud7a3]*)$/u.exec(word);
  const plain = word.length > 5 && /^\p{Script=Latin}+$/u.test(word);
  const korean = unit ? ending.length : Math.min(ending.length, word.length - 2);
  const cuts = ending ? korean : plain ? 2 : 0;
  return Array.from({ length: cuts + 1 }, (_, cut) => word.slice(0, word.length - cut));
};

/** What may follow a beginning in the text: an ending. What has digits is a name, and another name is another thing. */
const endings = (beginning) => {
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u.test(beginning)) return "\\p{L}*";
  return /\p{Script=Latin}$/u.test(beginning) && !/\p{N}/u.test(beginning)
    ? "(?:\\p{Script=Latin}{0,3}|[\uac00-\ud7a3]+)"
    : "[\uac00-\ud7a3]*";
};

/** The word itself; of `API는` and `q7은` what is Latin, for Korean after it is grammar. */
const itself = (word) => {
  const bare = word.replace(/[\uac00-\ud7a3]+$/, "");
  return bare.length > 1 && /\p{Script=Latin}/u.test(bare) ? bare : null;
};

const rangesOf = (text, beginning, more) =>
  [
    ...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])${beginning}${more}(?![\\p{L}\\p{N}])`, "gu")),
  ].map((match) => [match.index, match.index + beginning.length]);

/** [word or its beginning, ranges, whether it is the whole word] of the question's words in the text; whole words first. */
const sharedWords = (text, words) => {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [];
  const found = words.map((word) => {
    const [whole, name] = [rangesOf(lower, word, ""), itself(word)];
    if (whole.length) return [word, whole, true];
    const bare = name ? rangesOf(lower, name, "[\uac00-\ud7a3]*") : [];
    if (bare.length) return [name, bare, true];
    return beginnings(word)
      .map((beginning) => [beginning, rangesOf(lower, beginning, endings(beginning)), false])
      .find(([, ranges]) => ranges.length);
  });
  return found.filter(Boolean).sort((a, b) => b[2] - a[2]);
};

const inside = (ranges, start) => ranges.some(([low, high]) => low <= start && start < high);

/** The text with gold marked and the shared words underlined. */
const marked = (text, gold, words) => {
  const edges = distinct([0, text.length, ...gold.flat(), ...words.flat()])
    .filter((edge) => edge >= 0 && edge <= text.length)
    .sort((a, b) => a - b);
  return edges.slice(0, -1).map((start, number) => {
    const part = text.slice(start, edges[number + 1]).replace(/\n\s*\n/g, "\n");
    const underlined = inside(words, start) ? h("u", {}, part) : part;
    return inside(gold, start) ? h("mark", {}, underlined) : underlined;
  });
};

const place = (passage) =>
  `${passage.source ?? "no known source"}${passage.spans.length ? ` ${passage.spans.map(([start, end]) => `${start}–${end}`).join(", ")}` : ""}`;

/** The source around an evidence, from the passages that hold it or stand beside it. */
const aroundGold = (item) => {
  const near = data.passages
    .filter(
      (passage) =>
        sameSource(passage, item) &&
        passage.exact &&
        !passage.cut &&
        passage.spans.length === 1 &&
        passage.text.length,
    )
    .sort((a, b) => a.spans[0][0] - b.spans[0][0] || b.spans[0][1] - a.spans[0][1]);
  if (!item.spans.length || !near.length) return null;
  const [low, high] = [item.spans[0][0] - 300, item.spans[item.spans.length - 1][1] + 300];
  const parts = [];
  let end = null;
  for (const passage of near) {
    const characters = [...passage.text];
    const first = Math.max(passage.spans[0][0], low, end ?? low);
    const last = Math.min(passage.spans[0][0] + characters.length, high);
    if (first >= last) continue;
    if (end !== null && first > end) parts.push(first - end > 4 ? " … " : "\n");
    const text = characters.slice(first - passage.spans[0][0], last - passage.spans[0][0]).join("");
    const gold = item.spans
      .map(([a, b]) => [Math.max(a, first) - first, Math.min(b, last) - first])
      .filter(([a, b]) => a < b);
    parts.push(marked(text, inUnits(text, gold), []));
    end = last;
  }
  return parts.some((part) => Array.isArray(part)) ? parts : null;
};
