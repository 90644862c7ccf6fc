// Elements, text and icons for all views. What a server said reaches the page through text nodes alone.

import T from "./text/common.json" with { type: "json" };

const SVG = "http://www.w3.org/2000/svg";
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** `text` with characters that are not seen, or that turn the line around, shown by their number. */
export function visible(text) {
  return String(text).replace(
    HIDDEN, (char) => `⟨U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** True where `visible` changes something. */
export function hasHidden(text) {
  return visible(text) !== String(text);
}

/** At most `limit` characters of `text`, on one line. */
export function shorten(text, limit) {
  const line = String(text).slice(0, limit * 4).replace(/[^\S\ufeff]+/g, " ").replace(/^ | $/g, ""); // U+FEFF is to be seen
  return line.length <= limit && text.length <= limit * 4 ? line : line.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "").trimEnd() + "…"; // no half of a character
}

/** The sentence `template` with each `{name}` replaced from `values`. */
export function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** "1 request", "2 requests": `forms` is [one, many], each with {n}. */
export function plural(n, [one, many]) {
  return fill(n === 1 ? one : many, { n: grouped(n) });
}

/** A whole number with a comma a thousand. (toLocaleString takes a tenth of a second when first called.) */
export function grouped(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `value` if it is a JSON object, else an empty one: a server may have sent anything. */
export function object(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

/** `value` if it is a list, else an empty one. */
export function list(value) {
  return Array.isArray(value) ? value : [];
}

/** `table[key]` if the table itself holds it: a server may well say "__proto__" or "constructor". */
export function own(table, key) {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** An element. `attrs`: class, text, on: {event: handler}, data: {…}, others as attributes (false: left out). */
export function el(tag, attrs = {}, ...children) {
  return dress(document.createElement(tag), attrs, children);
}

/** The same for a shape inside an svg. */
export function svg(tag, attrs = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attrs, children);
}

function dress(node, attrs, children) {
  for (const [name, value] of Object.entries(attrs)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") node.textContent = visible(value);
    else if (name === "class") node.setAttribute("class", value);
    else if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (name === "data") for (const [key, datum] of Object.entries(value)) node.dataset[key] = datum;
    else node.setAttribute(name, value === true ? "" : visible(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : visible(child))));
  return node;
}

const ICONS = {
  right: "M2 8h11M9 4l4 4-4 4",
  left: "M14 8H3M7 4L3 8l4 4",
  notification: "M8 2.5L13.5 8 8 13.5 2.5 8z",
  lines: "M2 4h12M2 8h12M2 12h8",
  clock: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM8 4.5V8l2.5 1.5",
  warning: "M8 2L14.5 13.5h-13zM8 6.3v3.4M8 11.5v.6",
  error: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  ok: "M2.5 8.5l3.5 3.5 7.5-8",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  down: "M8 2v11M4 9l4 4 4-4",
  first: "M3 3v10M12.5 3L6.5 8l6 5",
  previous: "M10.5 3L4.5 8l6 5",
  next: "M5.5 3l6 5-6 5",
  last: "M13 3v10M3.5 3l6 5-6 5",
  search: "M7 2.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6zM10.6 10.6L14 14",
  eyeOff: "M1.5 8s2.5-4.5 6.5-4.5S14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4M2.5 13.5l11-11",
  plus: "M8 2.5v11M2.5 8h11",
  close: "M4 4l8 8M12 4l-8 8",
  gear: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4",
  noise: "M1.5 8h2l1.5-4 2 8 2-6 1.5 4 1-2h3",
};

/** A small drawing beside a word; it is hidden from screen readers, since the word says it. */
export function icon(name) {
  return svg("svg", { class: "ml-icon", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: ICONS[name], fill: "none", stroke: "currentColor", "stroke-width": "1.7", "stroke-linejoin": "round", "stroke-linecap": "round" }));
}

const MARKS = [
  "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z", "M3 3h10v10H3z", "M8 2l6 11.5H2z", "M8 1.5L14.5 8 8 14.5 1.5 8z",
  "M2 2.5h12L8 14z", "M6 2h4v4h4v4h-4v4H6v-4H2V6h4z", "M5 2h6l3.5 6L11 14H5L1.5 8z",
  "M8 1.2l2 4.6 5 .5-3.8 3.3 1.1 4.9L8 12l-4.3 2.5 1.1-4.9L1 6.3l5-.5z",
];

/** How many servers have a colour of their own; the ninth takes the first one's again. */
export const COLOURS = MARKS.length;

/** The mark of server number `n` (0, 1, …): its colour and a shape that is told apart without colour. */
export function serverMark(n) {
  return svg("svg", { class: "ml-icon ml-mark", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: MARKS[n % COLOURS], fill: "currentColor" }));
}

/** Whose a row is: the mark and the name of server number `n`. */
export function whose(n, name) {
  return el("span", { class: `ml-whose ${serverClass(n)}` }, n < 0 ? null : serverMark(n), el("span", { text: name }));
}

/** The class that gives an element the colour of server number `n`, as `var(--server)`; -1: the ink's. */
export function serverClass(n) {
  return n < 0 ? "ml-s-none" : `ml-s${n % COLOURS}`;
}

/** A button with an icon, a word, or both; `label` is its name where there is no word. */
export function button({ icon: name, text, label, onclick, ...attrs }) {
  return el("button", { type: "button", "aria-label": label, title: label, on: onclick ? { click: onclick } : {}, ...attrs, class: `ml-button ${attrs.class ?? ""}` },
    name ? icon(name) : null, text ? el("span", { text }) : null);
}

/** A button that copies what `get()` returns, and says so. */
export function copyButton(text, get) {
  const word = el("span", { text });
  const node = el("button", { type: "button", class: "ml-button", on: { click: async () => {
    word.textContent = (await copy(get(), node)) ? T.copied : T.copyFailed;
    setTimeout(() => { word.textContent = text; }, 1500);
  } } }, icon("copy"), word);
  return node;
}

async function copy(text, near) {
  const whole = String(text).toWellFormed?.() ?? String(text);
  try {
    await navigator.clipboard.writeText(whole);
    return true;
  } catch {
    return copyOldWay(whole, near);
  }
}

/** For pages that are not served over https or from localhost: such a page has no clipboard. */
function copyOldWay(text, near) {
  const area = el("textarea", { class: "ml-offscreen", "aria-hidden": "true" });
  area.value = text;
  near.after(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  near.focus();
  return done;
}

/** Hand the reader a file made in the page. */
export function download(name, text, near) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = el("a", { class: "ml-offscreen", href: url, download: name });
  near.after(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
