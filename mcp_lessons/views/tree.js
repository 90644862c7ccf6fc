// A JSON value as a tree that folds. Children are made when their parent is first opened.

import { el, visible, fill, grouped, plural } from "./common.js";
import T from "./text/common.json" with { type: "json" };

const LONG_TEXT = 400;
const MANY = 100;
const SHORT_LINE = 60;
const DEEPEST = 200;

/**
 * An element that shows `value`. `open` levels are unfolded at first; `mark(path)` tells which values
 * are marked ("the id", "the method"), where path is a list of keys.
 */
export function jsonTree(value, { open = 3, mark = () => false, label } = {}) {
  return el("div", { class: "ml-json", role: "group", "aria-label": label }, node(value, { open, mark, path: [], key: null, last: true }));
}

function node(value, at) {
  if (value === null || typeof value !== "object") return line(at, leaf(value, at));
  if (at.path.length >= DEEPEST) return line(at, el("em", { text: T.tooDeep }));
  const short = at.path.length > 0 && inline(value);
  return short ? line(at, el("span", { text: short })) : branch(value, at);
}

function line(at, content) {
  return el("div", { class: "ml-json-line" }, keyOf(at), content, at.last ? "" : ",");
}

function keyOf(at) {
  return at.key === null ? null : [el("span", { class: "ml-json-key", text: JSON.stringify(at.key) }), ": "];
}

function branch(value, at) {
  const list = Array.isArray(value);
  const entries = list ? value.map((item, i) => [i, item]) : Object.entries(value);
  const [before, after] = list ? "[]" : "{}";
  const size = plural(entries.length, list ? [T.item, T.items] : [T.key, T.keys]);
  const body = el("div", { class: "ml-json-body" });
  const details = el("details", { class: "ml-json-branch" },
    el("summary", {}, keyOf(at), before,
      el("span", { class: "ml-json-size", text: ` ${size} ` }), el("span", { class: "ml-json-closed", text: "… " + after })),
    body, el("div", { class: "ml-json-end" }, after, at.last ? "" : ","));
  const grow = () => { if (!body.childNodes.length) more(body, entries, 0, at, list); };
  details.addEventListener("toggle", () => { if (details.open) grow(); });
  if (at.open > 0 && entries.length) {
    grow();
    details.open = true;
  }
  return details;
}

function more(body, entries, from, at, list) {
  const part = entries.slice(from, from + MANY);
  part.forEach(([key, item], i) => body.append(node(item, {
    open: at.open - 1, mark: at.mark, path: [...at.path, key], key: list ? null : key, last: from + i === entries.length - 1,
  })));
  const rest = entries.length - from - part.length;
  if (!rest) return;
  const again = el("button", { type: "button", class: "ml-button ml-small", text: fill(T.showMore, { n: rest }), on: { click: () => {
    again.remove();
    more(body, entries, from + MANY, at, list);
  } } });
  body.append(again);
}

function leaf(value, at) {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  const kind = value === null ? "null" : typeof value;
  const span = el(at.mark(at.path) ? "mark" : "span", { class: `ml-json-${kind}`, text: text.slice(0, LONG_TEXT) });
  if (text.length <= LONG_TEXT) return span;
  const all = el("button", { type: "button", class: "ml-button ml-small", text: fill(T.showAll, { n: grouped(text.length) }), on: { click: () => {
    span.textContent = visible(text);
    all.remove();
  } } });
  return [span, "… ", all];
}

/** A small object or list of plain values in one line, or "" when it is not small. */
function inline(value) {
  const values = Object.values(value);
  if (values.length > 4 || values.some((item) => item !== null && typeof item === "object" && Object.keys(item).length)) return "";
  const list = Array.isArray(value);
  const parts = Object.entries(value).map(([key, item]) => (list ? "" : JSON.stringify(key) + ": ") + (typeof item === "string" && item.length > SHORT_LINE ? "x".repeat(SHORT_LINE) : JSON.stringify(item)));
  if (!parts.length) return list ? "[]" : "{}";
  const text = list ? `[ ${parts.join(", ")} ]` : `{ ${parts.join(", ")} }`;
  return text.length <= SHORT_LINE ? text : "";
}
