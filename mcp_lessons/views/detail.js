// The pane beside the messages: what the chosen one is, why it is there, and all that it says.

import { button, copyButton, el, fill, grouped, icon, serverClass } from "./common.js";
import { explain } from "./explain.js";
import { asPython } from "./python.js";
import { jsonTree } from "./tree.js";
import { ends } from "./layout.js";
import { duration, flagWords, idText, laneName, words } from "./words.js";
import T from "./text/traffic.json" with { type: "json" };

const D = T.detail;
const MARKED = new Set(["id", "method", "turn"]);
const EXACT = 20000;

/** The pane for what `state` has chosen; `close()` is called by its button. */
export function detail(state, store, close) {
  const entry = state.chosen;
  if (!entry) return [];
  const { asked, answer, hidden } = state.revealed();
  const number = store.numberOf(entry.server);
  return [
    title(entry, state.seen(entry), number, close),
    el("div", { class: `mt-why ${serverClass(number)}` }, explain(state.seen(entry), ends(entry)).map((one) => el("p", { text: one }))),
    asked ? part(asked, store, state, entry) : null,
    answer && answer !== asked ? part(answer, store, state, entry) : null,
    hidden ? el("p", { class: "mt-later", text: D.later }) : null,
  ];
}

function title(entry, shown, number, close) {
  const [from, to] = ends(entry);
  const way = from === to ? laneName(from) : fill(D.path, { from: laneName(from), to: laneName(to) });
  const chip = entry.id === undefined || entry.kind === "noise" ? null : el("span", { class: "mt-id", text: fill(entry.kind === "model" ? T.words.turn : T.words.id, { id: idText(entry.id) }) });
  return el("div", { class: `mt-title ${serverClass(number)}` },
    button({ icon: "close", label: D.close, class: "mt-close", onclick: close }),
    el("h3", {}, el("span", { class: "ml-mono", text: entry.method || words(entry).word }), chip),
    el("p", { class: "ml-dim" }, [way, duration(shown.took)].filter(Boolean).join(" · "), " · ", status(shown)));
}

function status(entry) {
  const reply = entry.role === "request" ? entry.partner : entry;
  const wrong = reply && words(reply).mark;
  const flags = flagWords(entry);
  if (flags.length) return el("strong", {}, icon("warning"), " ", flags.join(", "));
  if (wrong) return el("strong", {}, icon(wrong === "tool-error" ? "warning" : "error"), " ", wrong === "tool-error" ? T.words.isError : T.words.error);
  if (entry.waiting || (entry.role === "request" && !reply)) return el("strong", {}, icon("clock"), " ", T.waiting);
  return entry.role ? el("strong", {}, icon("ok"), " ", T.ok) : T.kinds[entry.kind];
}

function part(entry, store, state, chosen) {
  const name = partName(entry);
  const python = asPython(entry, store.entries);
  const buttons = [
    python ? copyButton(D.copyPython, () => python) : null,
    isJson(entry) ? copyButton(D.copyJson, () => JSON.stringify(entry.body, null, 2)) : copyButton(D.copyText, () => entry.raw),
    entry === chosen ? null : button({ text: fill(D.goTo, { seq: entry.seq }), onclick: () => state.choose(entry) }),
  ];
  return el("section", { class: `mt-part${entry === chosen ? " mt-part-chosen" : ""} ${serverClass(store.numberOf(entry.server))}`, "aria-label": `${name} #${entry.seq}` },
    el("div", { class: "mt-part-head" }, el("h4", {}, icon(entry.direction === "sent" ? "right" : entry.direction ? "left" : "lines"), el("span", { text: name }), el("span", { class: "ml-dim", text: size(entry) })), el("div", { class: "mt-part-buttons" }, buttons)),
    entry.cut ? el("p", { class: "mt-cut" }, icon("warning"), " ", fill(D.cut, { n: grouped(entry.cut), seq: entry.seq })) : null,
    isJson(entry) ? jsonTree(entry.body, { open: 4, label: name, mark: (path) => path.length === 1 && MARKED.has(path[0]) }) : el("pre", { class: "mt-text ml-mono", text: entry.raw.slice(0, EXACT) }),
    isJson(entry) && isWire(entry) ? exactLine(entry) : null);
}

function exactLine(entry) {
  return el("details", { class: "mt-exact" }, el("summary", { text: D.exact }), el("pre", { class: "mt-text ml-mono", text: entry.raw.slice(0, EXACT) }));
}

/** True for a line that crossed the wire as it stands. */
function isWire(entry) {
  return entry.direction !== "" && entry.kind !== "model";
}

function isJson(entry) {
  return entry.body !== null && entry.body !== undefined && typeof entry.body === "object";
}

function partName(entry) {
  if (entry.kind === "model") return entry.role === "request" ? D.question : D.modelReply;
  return D[entry.kind] ?? entry.kind;
}

function size(entry) {
  if (!isWire(entry) || entry.cut) return fill(D.sizePlain, { seq: entry.seq });
  return fill(D.size, { seq: entry.seq, bytes: grouped(new TextEncoder().encode(entry.raw).length) });
}
