// The pieces of a turn's band: the context bar, the table behind it, the cards of the calls.

import { el, fill, icon, own, plural, serverClass, shorten } from "./common.js";
import { hatch, swatch } from "./_toolbox_charts.js";
import { number, serverName } from "./_toolbox_words.js";
import { duration } from "./words.js";
import { contextOf, partsOf, turnName } from "./_loop_layout.js";
import T from "./text/loop.json" with { type: "json" };

const WRONG = ["protocol-error", "unknown", "unsent", "no-reply"];
const LINE = 300;
const SHORT = 160;

/** The context of a turn as a stacked bar; who draws it says how wide it is on the scale of all turns. */
export function contextBar(turn, indexOf) {
  const parts = partsOf(turn);
  const said = parts.map(({ part, server, tokens }) => fill(T.partSentence, { part: part === "tools" ? fill(T.toolsOf, { server: serverName(server) }) : T.parts[part], n: number(tokens) })).join(", ");
  const sentence = fill(T.contextSentence, { turn: turnName(turn), parts: said || T.nothing });
  return el("div", { class: "mo-track" }, el("div", { class: "mo-bar", role: "img", "aria-label": sentence, title: sentence },
    parts.map(({ part, server, tokens }) => el("span", { class: swatchClass(part, server, indexOf), style: `flex-grow: ${tokens}` }))));
}

function swatchClass(part, server, indexOf) {
  return part === "tools" ? `mo-tools ${serverClass(indexOf(server))} ${hatch(indexOf(server))}` : `mo-${part}`;
}

/** The mark of the server, in its colour. */
function swatchOf(server, indexOf) {
  return el("span", { class: serverClass(indexOf(server)) }, swatch(indexOf(server)));
}

/** What the patterns of the bars mean, as far as they occur; tools have the colours of their servers. */
export function legend(turns, indexOf) {
  const parts = new Map(turns.flatMap(partsOf).map(({ part, server }) => [`${part} ${server}`, [part, server]]));
  const of = (wanted) => [...parts.values()].filter(([part]) => part === wanted);
  const words = (part, server) => (part === "tools" ? fill(T.toolsOf, { server: serverName(server) }) : T.parts[part]);
  return el("ul", { class: "mo-legend" }, ["system", "tools", "history", "new"].flatMap(of).map(([part, server]) =>
    el("li", {}, el("i", { class: `mo-key ${swatchClass(part, server, indexOf)}`, "aria-hidden": "true" }), part === "tools" ? swatchOf(server, indexOf) : null, words(part, server))));
}

/** "≈482 in, ≈58 out" and, where the endpoint says so, what was measured. */
export function tokenLines({ figures, used, reply, error }) {
  const measured = [used?.in != null ? fill(T.measuredIn, { n: number(used.in) }) : "", used?.out != null ? fill(T.measuredOut, { n: number(used.out) }) : ""].filter(Boolean);
  return [el("div", { text: [fill(T.tokensIn, { n: number(figures.in) }), reply === null || error !== null ? "" : fill(T.tokensOut, { n: number(figures.out) })].filter(Boolean).join(", ") }),
    measured.length ? el("div", { class: "mo-measured", text: `${T.measured}: ${measured.join(", ")}`, title: T.estimateHow }) : null];
}

/** What the model was sent in turn `index`, message by message, with what each costs. */
export function contextTable(turns, index, indexOf) {
  const turn = turns[index];
  const tools = turn.figures.by_server.map(({ server, tokens }) => contextRow("tools", server, T.tools_role, fill(T.toolsOf, { server: serverName(server) }), tokens, indexOf));
  const messages = contextOf(turns, index).map((message) => contextRow(message.part, null, own(T.roles, message.role) ?? shorten(message.role, 24), told(message), message.tokens, indexOf));
  return el("div", { class: "mo-scroll", tabindex: "0", role: "group", "aria-label": T.context }, el("table", { class: "mo-context" },
    el("caption", { class: "ml-offscreen", text: T.context }),
    el("thead", {}, el("tr", {}, [T.part, T.role, T.tokens, T.text].map((text) => el("th", { scope: "col", text })))), el("tbody", {}, tools, messages)));
}

function contextRow(part, server, role, text, tokens, indexOf) {
  return el("tr", {}, el("td", {}, el("i", { class: `mo-key ${swatchClass(part, server, indexOf)}`, "aria-hidden": "true" }), T.parts[part]), el("td", { text: role }), el("td", { class: "mo-number", text: `≈${number(tokens)}` }), el("td", {}, folded(text)));
}

function told({ text, calls }) {
  return [text, calls.length ? fill(T.asksFor, { names: calls.join(", ") }) : ""].filter(Boolean).join("\n") || T.nothing;
}

/** Text as it is; where it is longer than `limit`, one line that opens to all of it. A short limit
 * folds lines too. */
export function folded(text, limit = SHORT) {
  const line = text.slice(0, LINE).replace(/\s+/g, " ").trim();
  if (text.length <= limit && (limit > SHORT || !text.includes("\n"))) return el("span", { class: "mo-text", text });
  return el("details", { class: "mo-fold" }, el("summary", {}, el("span", { class: "mo-line", text: line })), el("div", { class: "mo-text mo-whole", tabindex: text.length > LINE ? "0" : null, text }));
}

/** A call with what came of it and its place on the wire; `choose(seq)` shows that in a TrafficView. */
export function callCard(call, indexOf, choose) {
  const index = indexOf(call.server);
  return el("li", { class: `mo-call ${serverClass(index)}` },
    el("div", { class: "mo-asked" }, whoseCall(call, index), folded(call.text), call.valid ? null : el("span", { class: "ml-bad" }, icon("error"), T.invalidShort)),
    el("div", { class: "mo-result" }, outcome(call), call.result === null ? null : folded(call.result)),
    el("div", { class: "mo-where" }, el("span", { class: "ml-dim", text: duration(call.took) }), wire(call, choose)));
}

/** The mark of its server, ƒ for a function of the reader's own, and a question mark for what nobody has. */
function whoseCall({ known }, index) {
  return known || index >= 0 ? swatch(index) : el("span", { class: "mo-nobody ml-dim", "aria-hidden": "true", text: "?" });
}

/** Why a run stopped; null while it goes on. */
export function stopped(end) {
  if (!end) return null;
  const reason = end.stop_reason, fine = reason === "answer";
  return el("span", { class: fine ? "mo-outcome" : "mo-warned" }, icon(fine ? "ok" : "warning"), own(T.stop, reason) ?? shorten(reason, 60));
}

function outcome({ outcome: kind, code }) {
  const word = kind === "protocol-error" && code !== null ? `${T.outcome[kind]} ${code}` : T.outcome[kind];
  if (WRONG.includes(kind)) return el("span", { class: "ml-bad", title: T.outcomeHow[kind] }, icon("error"), word);
  const name = { "tool-error": "warning", asked: "clock", waiting: "clock" }[kind] ?? "left";
  return el("span", { class: kind === "tool-error" ? "mo-warned" : "mo-outcome", title: T.outcomeHow[kind] }, icon(name), word);
}

function wire(call, choose) {
  if (call.request === null) return el("span", { class: "ml-dim", text: T.wireNone, title: T.outcomeHow[call.outcome] });
  return link(call.request, call.reply, [T.wire, T.wireOne], choose);
}

/** A link to messages `a` to `b` of the record. */
export function link(a, b, [many, one], choose) {
  return el("button", { type: "button", class: "mo-link", title: T.wireHow, text: fill(b === null ? one : many, { a, b }), on: { click: () => choose(a) } });
}

/** The turns that are used of those that are allowed, as marks and in words. */
export function budget(used, most) {
  if (!Number.isInteger(most) || most < 1) return el("span", { class: "ml-count", text: plural(used, T.turns) });
  const marks = most <= 24 ? el("span", { class: "mo-budget", "aria-hidden": "true" }, Array.from({ length: most }, (_, i) => el("i", { class: i < used ? "mo-used" : "" }))) : null;
  return el("span", { class: "ml-count" }, marks, plural(used, T.turnsOfMost).replace("{most}", String(most)));
}
