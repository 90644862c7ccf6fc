// The rows of TrafficView and the heads of their columns, in each way of looking.

import { el, icon, whose } from "./common.js";
import { activity, ends, gone } from "./layout.js";
import { diagram, laneHeads, place, took } from "./sequence.js";
import { axisHead, exchangeBar, timeAxis } from "./waterfall.js";
import { duration, sentence } from "./words.js";
import T from "./text/traffic.json" with { type: "json" };

const LINE = 600; // characters of a raw line in its row

/** Draws what `state` shows of `store`; `height` is that of a row in pixels. */
export class Rows {
  constructor(state, store) {
    this.state = state;
    this.store = store;
    this.height = 42;
  }

  /** Take the measures of the grid, before anything is drawn. */
  measure(root, width, scale) {
    const { state } = this;
    const side = Math.round((width > 620 ? 13.8 : 9.0) * 14 * scale);
    this.side = side;
    this.narrow = width <= 620;
    this.placed = place(this.store, Math.max(width - side, 120), scale);
    const now = this.store.entries.at(-1)?.t ?? 0;
    if (state.mode === "waterfall") this.axis = timeAxis(state.visible.map((entry) => state.seen(entry)), now);
    root.classList.toggle("mt-narrow", this.narrow);
    root.style.setProperty("--diagram", `${this.placed.width}px`);
    root.style.setProperty("--rows-width", state.mode === "sequence" ? `${this.placed.width + side}px` : "100%");
    this.layout = [state.mode, width, scale, this.placed.lanes.map(({ key }) => key), this.store.servers.length, state.mode === "waterfall" ? [now, state.visible.length] : ""].join();
  }

  /** To be called before the rows `from` … `to` are drawn: what is at work there follows from what is above. */
  prepare(from, to) {
    const { state } = this;
    const now = [state.version, state.mode, from, to].join();
    if (now === this.prepared || state.mode !== "sequence") return;
    this.prepared = now;
    this.from = from;
    this.activity = activity(state.visible, (entry) => state.isHidden(entry), from, to);
    this.gone = gone(state.visible, from, to);
  }

  /** A text that is another one whenever row `i` looks different. */
  signature(i) {
    const { state } = this;
    const entry = state.visible[i];
    return [this.layout, entry.seq, this.marks(entry), entry.partner?.seq, state.seen(entry) === entry, entry.ended, entry.flags.length, state.mode === "sequence" ? JSON.stringify([this.activity[i - this.from], [...this.gone[i - this.from]]]) : ""].join("|");
  }

  marks(entry) {
    const { chosen } = this.state;
    const pair = chosen && chosen !== entry && (chosen.partner === entry || chosen.asked === entry || entry.asked === chosen);
    return [entry === chosen ? "mt-chosen" : pair ? "mt-pair" : "", this.state.later(entry) ? "mt-ghost" : ""].filter(Boolean).join(" ");
  }

  /** Row `i` of what is visible, as an element. */
  row(i) {
    const { state, store } = this;
    const entry = state.seen(state.visible[i]);
    const marks = this.marks(state.visible[i]);
    const cell = (name, content) => el("div", { class: `mt-cell mt-${name}`, role: "gridcell" }, content);
    const main = { sequence: () => this.sequenceCell(entry, i), waterfall: () => this.barCell(entry), raw: () => rawCell(entry, store) }[state.mode]();
    return el("div", { class: `mt-row mt-mode-${state.mode} ${marks}`, role: "row", "aria-selected": String(state.visible[i] === state.chosen), "aria-label": sentence(entry, ends(entry)), data: { seq: entry.seq } },
      cell("seq", String(entry.seq)), cell("time", entry.t.toFixed(3)), cell("main", main),
      cell("took", state.mode === "waterfall" ? this.lasted(entry) : took(entry)));
  }

  sequenceCell(entry, i) {
    return diagram(entry, this.placed, { activity: this.activity[i - this.from], gone: this.gone[i - this.from], store: this.store, height: this.height });
  }

  barCell(entry) {
    const wrong = entry.partner?.flags.includes("tool-error") ? { icon: "warning", word: T.words.isError } : entry.partner?.flags.includes("protocol-error") ? { icon: "error", word: T.words.error } : null;
    return exchangeBar(entry, this.axis, this.store.entries.at(-1)?.t ?? 0, this.store, wrong);
  }

  lasted(entry) {
    return entry.partner ? el("span", { text: duration(entry.took) }) : took(entry);
  }

  /** Where the label of `entry` begins, in pixels of the diagram. */
  leftOf(entry) {
    return Math.min(...ends(entry).map((lane) => this.placed.x[lane] ?? 0));
  }

  /** The names of the columns; in the sequence, the heads of the lifelines. */
  columns() {
    const C = T.columns;
    const { mode } = this.state;
    const main = { sequence: () => laneHeads(this.placed, this.store), waterfall: () => [el("span", { class: "ml-offscreen", text: C.exchange }), axisHead(this.axis)], raw: () => el("span", { text: C.line }) }[mode]();
    const column = (name, content, label) => el("div", { class: `mt-cell mt-${name}`, role: "columnheader", "aria-label": label }, content);
    return el("div", { class: `mt-row mt-mode-${mode}`, role: "row", "aria-rowindex": "1" },
      column("seq", C.seq, C.number), column("time", C.time), column("main", main, mode === "sequence" ? C.diagram : undefined), column("took", C.took));
  }
}

function rawCell(entry, store) {
  const way = { sent: "right", received: "left" }[entry.direction] ?? "lines";
  return el("div", { class: "mt-line ml-mono" }, icon(way), entry.server ? whose(store.numberOf(entry.server), entry.server) : null, el("span", { text: entry.raw.slice(0, LINE) || JSON.stringify(entry.body).slice(0, LINE) }));
}
