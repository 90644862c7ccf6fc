// TrafficView in the page: puts head, messages, detail and foot together, and keeps them up to date.

import { el, icon, plural, whose } from "./common.js";
import { detail } from "./detail.js";
import { foot } from "./foot.js";
import { Grid } from "./grid.js";
import { head } from "./head.js";
import { ends } from "./layout.js";
import { announce, onAnnounced } from "./page.js";
import { diagram, laneHeads, legend, place, took } from "./sequence.js";
import { ViewState } from "./state.js";
import { exchangeBar, axisHead, timeAxis } from "./waterfall.js";
import { duration, sentence } from "./words.js";
import T from "./text/traffic.json" with { type: "json" };

const LINE = 600; // characters of a raw line in its row

/** One display of a store. */
class Display {
  constructor(root, store, signal) {
    this.root = root;
    this.store = store;
    this.state = new ViewState(store);
    this.shown = false; // is it on screen
    this.seen = 0; // the newest message that the reader had in sight
    root.classList.add("mt");
    this.grid = this.makeGrid();
    this.head = head(root, this.state, store, { follow: () => this.setFollow(!this.state.follow || this.state.at !== null) });
    this.foot = foot(this.state, store);
    this.empty = el("p", { class: "mt-empty ml-dim" });
    this.ahead = el("p", { class: "mt-ahead" });
    this.pane = el("aside", { class: "mt-detail", tabindex: "0", "aria-label": T.detail.title });
    this.legend = legend();
    const main = el("div", { class: "mt-main" }, this.grid.node, this.empty, this.ahead, this.legend);
    this.body = el("div", { class: "mt-body" }, main, this.pane);
    root.append(...this.head.nodes, this.body, this.foot.node);
    this.listen(signal);
    this.update();
  }

  makeGrid() {
    const { state } = this;
    return new Grid({
      label: T.gridLabel,
      count: () => state.visible.length,
      signature: (i) => this.signature(i),
      draw: (i) => this.row(i),
      header: () => this.columns(),
      choose: (i) => this.choose(state.visible[i]),
      chosen: () => (state.chosen ? state.visible.indexOf(state.chosen) : -1),
      scrolled: (atEnd) => this.scrolled(atEnd),
      keys: {
        p: () => this.choose(state.revealed().answer === state.chosen ? state.chosen.partner : state.revealed().answer),
        "[": () => state.stepBy(-1),
        "]": () => state.stepBy(1),
        "/": () => this.head.search.focus(),
        Enter: () => this.pane.focus(),
      },
    });
  }

  listen(signal) {
    const { state, store, root } = this;
    signal.addEventListener("abort", store.subscribe(() => this.later()));
    state.subscribe(() => this.update());
    onAnnounced(() => store.record, this, signal, (seq) => this.chooseFrom(seq));
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("ml-size", () => this.update());
    const size = new ResizeObserver(() => this.later());
    size.observe(this.grid.node);
    const sight = new IntersectionObserver((seen) => {
      this.shown = seen.at(-1).isIntersecting;
      if (this.shown && this.stale) this.later();
    });
    sight.observe(root);
    signal.addEventListener("abort", () => { size.disconnect(); sight.disconnect(); });
  }

  key(event) {
    if (event.key === "Escape" && this.root.contains(event.target) && event.target !== this.grid.node) {
      event.stopPropagation();
      this.grid.node.focus();
    } else if (event.key === "/" && !event.target.closest("input")) {
      event.preventDefault();
      this.head.search.focus();
    }
  }

  /** Something happened in the record: draw in the next frame, if anybody can see it. */
  later() {
    this.stale = true;
    if (!this.shown || this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.state.recompute();
      this.update();
    });
  }

  choose(entry) {
    if (!entry) return;
    this.state.choose(entry);
    this.grid.reveal(this.state.visible.indexOf(entry));
    announce(this.store.record, entry.seq, this);
  }

  chooseFrom(seq) {
    const entry = this.store.find(seq);
    this.state.choose(entry);
    this.grid.reveal(this.state.visible.indexOf(entry));
  }

  drawColumns() {
    const now = `${this.layout} ${this.state.mode === "waterfall" ? this.state.version : ""}`;
    if (now !== this.drawnColumns) this.grid.drawHeader();
    this.drawnColumns = now;
  }

  setFollow(on) {
    this.state.follow = on;
    if (on) {
      this.state.at = null;
      this.state.hideLater = false;
    }
    this.state.changed();
  }

  scrolled(atEnd) {
    if (this.state.follow === atEnd) return;
    this.state.follow = atEnd;
    this.head.update(this.unseen());
  }

  unseen() {
    const last = this.state.visible.at(-1)?.seq ?? 0;
    if (this.state.follow) this.seen = last;
    return this.state.visible.reduce((sum, entry) => sum + (entry.seq > this.seen ? 1 : 0), 0);
  }

  update() {
    const { state, grid } = this;
    this.stale = !grid.node.isConnected;
    if (this.stale) return;
    const scale = this.root.classList.contains("ml-big") ? 20 / 14 : 1;
    grid.height = Math.round((state.mode === "raw" ? 30 : 42) * scale);
    this.measure(scale);
    const fresh = !this.everDrawn && this.store.started;
    grid.node.hidden = !state.visible.length;
    this.body.style.setProperty("--rows-height", `${Math.max(state.visible.length, 4) * grid.height}px`);
    this.drawColumns();
    grid.size();
    if (fresh) {
      this.everDrawn = true; // a record that is there already is read from its beginning
      state.follow = this.store.fromNothing || !state.visible.length || grid.node.scrollHeight <= grid.node.clientHeight + 1;
      this.seen = state.visible.at(-1)?.seq ?? 0;
    }
    this.keepInSight();
    this.around();
  }

  keepInSight() {
    const { state, grid } = this;
    if (state.at !== null) grid.reveal(state.visible.indexOf(state.chosen));
    else if (state.follow) grid.toEnd();
    grid.draw();
  }

  /** All that stands around the messages. */
  around() {
    const { state } = this;
    const n = state.visible.length;
    this.empty.hidden = n > 0;
    this.empty.textContent = !this.store.entries.length ? T.empty : state.mode === "waterfall" ? T.emptyWaterfall : T.emptyFiltered;
    this.grid.node.hidden = n === 0;
    this.legend.hidden = state.mode !== "sequence" || n === 0;
    const ahead = state.all.length - n;
    this.ahead.hidden = !ahead;
    this.ahead.textContent = ahead ? plural(ahead, T.step.ahead) : "";
    this.head.update(this.unseen());
    this.foot.update();
    this.drawDetail();
  }

  /** The pane is drawn anew only when it says something else, so that what was unfolded stays so. */
  drawDetail() {
    const { chosen, hideLater } = this.state;
    const { answer, hidden } = this.state.revealed();
    const now = chosen ? [chosen.seq, answer?.seq, hidden, hideLater, chosen.ended, chosen.flags.length, this.store.record].join() : "";
    if (now === this.drawnDetail) return;
    if (chosen?.seq !== this.detailOf) this.pane.scrollTop = 0;
    this.detailOf = chosen?.seq;
    this.drawnDetail = now;
    this.pane.replaceChildren(...detail(this.state, this.store).flat().filter(Boolean));
  }

  measure(scale) {
    const { state } = this;
    const width = this.grid.node.clientWidth;
    const side = Math.round((width > 620 ? 13.8 : 9.0) * 14 * scale);
    this.narrow = width <= 620;
    this.placed = place(this.store, Math.max(width - side, 120), scale);
    const now = this.store.entries.at(-1)?.t ?? 0;
    if (state.mode === "waterfall") this.axis = timeAxis(state.visible.map((entry) => state.seen(entry)), now);
    this.root.classList.toggle("mt-narrow", this.narrow);
    this.root.style.setProperty("--diagram", `${this.placed.width}px`);
    this.layout = [state.mode, width, scale, this.placed.lanes.map(({ key }) => key), this.store.servers.length, state.mode === "waterfall" ? [now, state.visible.length] : ""].join();
  }

  signature(i) {
    const { state } = this;
    const entry = state.visible[i];
    return [this.layout, entry.seq, this.marks(entry), entry.partner?.seq, state.seen(entry) === entry, entry.ended, entry.flags.length, state.mode === "sequence" ? JSON.stringify([state.activity[i], [...state.gone[i]]]) : ""].join("|");
  }

  marks(entry) {
    const { chosen } = this.state;
    const pair = chosen && chosen !== entry && (chosen.partner === entry || chosen.asked === entry || entry.asked === chosen);
    return [entry === chosen ? "mt-chosen" : pair ? "mt-pair" : "", this.state.later(entry) ? "mt-ghost" : ""].filter(Boolean).join(" ");
  }

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
    return diagram(entry, this.placed, { activity: this.state.activity[i], gone: this.state.gone[i], store: this.store, height: this.grid.height });
  }

  barCell(entry) {
    const wrong = entry.partner?.flags.includes("tool-error") ? { icon: "warning", word: T.words.isError } : entry.partner?.flags.includes("protocol-error") ? { icon: "error", word: T.words.error } : null;
    return exchangeBar(entry, this.axis, this.store.entries.at(-1)?.t ?? 0, this.store, wrong);
  }

  lasted(entry) {
    return entry.partner ? el("span", { text: duration(entry.took) }) : took(entry);
  }

  columns() {
    const C = T.columns;
    const { mode } = this.state;
    const main = { sequence: () => laneHeads(this.placed, this.store), waterfall: () => [el("span", { class: "ml-offscreen", text: C.exchange }), axisHead(this.axis)], raw: () => el("span", { text: C.line }) }[mode]();
    const column = (name, content, label) => el("div", { class: `mt-cell mt-${name}`, role: "columnheader", "aria-label": label }, content);
    return el("div", { class: `mt-row mt-mode-${mode}`, role: "row", "aria-rowindex": "1" },
      column("seq", C.seq, "number"), column("time", C.time), column("main", main, mode === "sequence" ? C.diagram : undefined), column("took", C.took));
  }
}

function rawCell(entry, store) {
  const way = { sent: "right", received: "left" }[entry.direction] ?? "lines";
  return el("div", { class: "mt-line ml-mono" }, icon(way), entry.server ? whose(store.numberOf(entry.server), entry.server) : null, el("span", { text: entry.raw.slice(0, LINE) || JSON.stringify(entry.body).slice(0, LINE) }));
}

/** Draw `store` into `root` until `signal` says that it is over. */
export function mountTraffic(root, store, { signal }) {
  return new Display(root, store, signal);
}
