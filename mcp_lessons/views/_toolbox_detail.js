// One tool, opened: its parameters, what it costs, what to be warned of, and both its shapes side by side.

import { copyButton, el, fill } from "./common.js";
import { jsonTree } from "./tree.js";
import { changed, differs, keptBack } from "./_toolbox_layout.js";
import { breakable, fieldName, findingWords, number } from "./_toolbox_words.js";
import T from "./text/toolbox.json" with { type: "json" };

const D = T.detail;
const LONG = 400;

/**
 * Everything about `row` of the list called `name`; `lists` are the lists that the record has, and `choose(seq)`
 * shows a message of the record in its traffic view.
 */
export function detail(row, name, lists, choose) {
  return el("div", { class: "mb-detail" },
    el("div", { class: "mb-words" }, descriptions(row), findings(row), parameters(row), cost(row)),
    el("div", { class: "mb-shapes" }, advertised(row, choose), received(row, name, lists, choose), before(row)));
}

function heading(text, ...beside) {
  return el("div", { class: "mb-sub" }, el("b", { text }), el("span", { class: "mb-beside" }, beside));
}

function descriptions(row) {
  const old = row.before && (row.before.function ?? row.before).description;
  const changed = typeof old === "string" && old !== row.description;
  return [
    changed ? [heading(D.was), said(old, "del")] : null,
    heading(changed ? D.now : D.about), said(row.description),
  ];
}

/** A text of the server's own, whole; a long one scrolls, and can be reached by keyboard for that. */
function said(text, tag = "span") {
  return el("p", { class: text ? "mb-said" : "mb-said ml-dim", tabindex: text.length > LONG ? "0" : null }, el(tag, { text: text || T.noDescription }));
}

function findings(row) {
  if (!row.findings.length) return null;
  return el("ul", { class: "mb-findings" }, row.findings.map((finding) => {
    const { short, long } = findingWords(finding);
    return el("li", {}, el("b", { text: `⚠ ${short}. ` }), long);
  }));
}

function parameters(row) {
  if (!row.parameters.length) return [heading(D.parameters), el("p", { class: "ml-dim", text: D.none })];
  const about = (one) => [one.description, one.notes ? el("div", { class: "ml-dim", text: one.notes }) : null];
  const cells = { name: (one) => el("code", {}, breakable(one.name)), type: (one) => el("code", { text: one.type }), required: (one) => (one.required ? D.yes : D.no), description: about };
  const columns = Object.keys(cells).filter((key) => key !== "description" || row.parameters.some((one) => one.description || one.notes));
  return [heading(D.parameters), el("table", { class: "mb-parameters" },
    el("thead", {}, el("tr", {}, columns.map((key) => el("th", { scope: "col", text: D[key] })))),
    el("tbody", {}, row.parameters.map((one) => el("tr", {}, columns.map((key) => el("td", {}, cells[key](one)))))))];
}

function cost(row) {
  const parts = Object.entries(row.split).filter(([, tokens]) => tokens);
  return [heading(D.cost),
    el("div", { class: "mb-split", "aria-hidden": "true" }, parts.map(([part, tokens]) => el("span", { class: `mb-split-${part}`, style: `flex-grow: ${tokens}` }))),
    el("p", { class: "mb-split-words" }, parts.map(([part, tokens]) => el("span", {}, el("i", { class: `mb-key mb-split-${part}`, "aria-hidden": "true" }), `${D.parts[part]} ${fill(T.tokensShort, { n: number(tokens) })}`)))];
}

function shape(title, value, { mark = () => false, open = 4, seq = null, choose }) {
  const source = seq === null ? null : el("button", { type: "button", class: "mb-link", text: fill(D.source, { seq }), title: D.sourceHow, on: { click: () => choose(seq) } });
  return el("section", { class: "mb-shape" }, heading(title, source, copyButton(D.copy, () => JSON.stringify(value, null, 2))), jsonTree(value, { open, mark, label: title }));
}

function missing(title, text) {
  return el("section", { class: "mb-shape" }, heading(title), el("p", { class: "ml-dim", text }));
}

function advertised(row, choose) {
  if (!row.advertised) return missing(D.advertised, row.server ? D.unknown : D.python);
  const node = shape(D.advertised, row.advertised, { seq: row.advertised_seq, choose });
  const dropped = row.received ? keptBack(row.advertised) : [];
  if (dropped.length) node.append(el("p", { class: "mb-note", text: fill(D.dropped, { fields: dropped.map(fieldName).join(", ") }) }));
  return node;
}

function received(row, name, lists, choose) {
  if (!row.received) return missing(D.received, row.removed ? D.gone : lists.toolbox ? D.notReceived.toolbox : lists.sent ? D.notReceived.sent : D.notReceived.none);
  const mark = row.advertised ? (path) => differs(row.received, row.advertised, path) : () => false;
  return shape(D.received, row.received, { mark, open: 5, seq: name === "advertised" ? null : row.seq, choose });
}

function before(row) {
  const now = row.before?.function ? row.received : row.advertised;
  return row.before ? shape(D.before, row.before, { mark: (path) => changed(row.before, now, path), open: 5 }) : null;
}
