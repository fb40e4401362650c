// Elements, figures and words.

const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(
    ...children
      .flat(Infinity)
      .filter((child) => child !== null && child !== undefined && child !== false),
  );
  return node;
};

/** An HTML element. Children that are strings become text, never markup. */
const h = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

/** An SVG element. */
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** Text for screen readers alone. */
const hidden = (text) => h("span", { class: "hidden" }, text);

const DASH = "–";
const isNumber = (value) => typeof value === "number";
const figure = (value) =>
  !isNumber(value)
    ? DASH
    : Math.abs(value) < 100
      ? value.toFixed(3)
      : value.toLocaleString("en", { maximumFractionDigits: 0 });
const signed = (value) =>
  isNumber(value) ? (value < 0 ? "−" : "+") + figure(Math.abs(value)) : DASH;
const ms = (value) =>
  !isNumber(value)
    ? DASH
    : Math.abs(value) < 10
      ? value.toFixed(1)
      : Math.round(value).toLocaleString("en");
/** Halves upwards; a quotient that is a half in truth is taken for one, though its number is less. */
const percent = (part, whole) =>
  whole ? `${Math.round(Number(((100 * part) / whole).toFixed(9)))}%` : DASH;
const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

/** The language of a text, where it is plain to see. */
const languageOf = (text, stated) => {
  if (stated && /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(stated)) return stated;
  return /[\uac00-\ud7a3]/.test(text) ? "ko" : undefined;
};

/** A table with a caption. heads: texts or [text, class]. */
const table = (caption, heads, rows, attributes = {}) =>
  h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      attributes,
      h("caption", {}, caption),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          heads.map((head) =>
            head instanceof Node
              ? head
              : h(
                  "th",
                  { scope: "col", class: Array.isArray(head) ? head[1] : null },
                  Array.isArray(head) ? head[0] : head,
                ),
          ),
        ),
      ),
      h("tbody", {}, rows),
    ),
  );

/** A failure's code, which may be broken after its underscores. */
const codeText = (text) =>
  text.split("_").flatMap((part, place) => (place ? ["_", h("wbr"), part] : [part]));

/** A figure in a table. */
const td = (...children) => h("td", { class: "n" }, ...children);
/** A row's head. */
const rowHead = (...children) => h("th", { scope: "row" }, ...children);

const section = (id, title, ...children) =>
  h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    ...children,
  );

/** A labelled select; options: [value, text]. */
const select = (label, name, options, chosen, changed) =>
  h(
    "label",
    {},
    label,
    h(
      "select",
      { name, onchange: (event) => changed(event.target.value) },
      options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
    ),
  );
