// TrafficView in the page: puts head, messages, detail and foot together, and keeps them up to date.

import { el, object, plural } from "./common.js";
import { detail } from "./detail.js";
import { foot } from "./foot.js";
import { Grid } from "./grid.js";
import { head } from "./head.js";
import { announce, onAnnounced } from "./page.js";
import { Rows } from "./rows.js";
import { legend } from "./sequence.js";
import { ViewState } from "./state.js";
import T from "./text/traffic.json" with { type: "json" };

const ROOM = 240; // pixels in which a label is of use

/** One display of a store. */
class Display {
  constructor(root, store, signal) {
    this.root = root;
    this.store = store;
    this.state = new ViewState(store);
    this.shown = false; // is it on screen
    this.seen = 0; // the newest message that the reader had in sight
    root.classList.add("mt");
    this.rows = new Rows(this.state, store);
    this.grid = this.makeGrid();
    this.head = head(root, this.state, store, { follow: () => this.setFollow(!this.state.follow || this.state.at !== null) });
    this.foot = foot(this.state, store);
    this.empty = el("p", { class: "mt-empty ml-dim" });
    this.ahead = el("p", { class: "mt-ahead" });
    this.pane = el("aside", { class: "mt-detail", tabindex: "0", hidden: true, "aria-label": T.detail.title });
    this.legend = legend();
    this.hint = el("p", { class: "mt-hint", text: T.detail.none });
    this.under = el("div", { class: "mt-under" }, this.legend, this.hint);
    const main = el("div", { class: "mt-main" }, this.grid.node, this.empty, this.ahead, this.under);
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
      prepare: (from, to) => this.rows.prepare(from, to),
      signature: (i) => this.rows.signature(i),
      draw: (i) => this.rows.row(i),
      header: () => this.rows.columns(),
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
    if (event.key === "Escape" && (event.target !== this.grid.node || this.state.chosen)) {
      event.stopPropagation(); // the first one leads back to the messages, the next closes the pane
      if (event.target === this.grid.node) this.state.unchoose();
      else this.grid.node.focus();
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
    this.reveal(entry);
    announce(this.store.record, entry.seq, this, calledTool(entry));
  }

  reveal(entry) {
    this.grid.reveal(this.state.visible.indexOf(entry));
    if (entry && this.state.mode === "sequence") this.grid.revealAcross(this.rows.leftOf(entry), ROOM, this.rows.side);
  }

  chooseFrom(seq) {
    const entry = this.store.find(seq);
    this.state.choose(entry);
    this.reveal(entry);
  }

  drawColumns() {
    const now = `${this.rows.layout} ${this.state.mode === "waterfall" ? this.state.version : ""}`;
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
    grid.height = this.rows.height = Math.round((state.mode === "raw" ? 30 : 42) * scale);
    this.pane.hidden = !state.chosen;
    this.body.classList.toggle("mt-open", !this.pane.hidden);
    this.rows.measure(this.root, grid.node.clientWidth, scale);
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
    if (state.at !== null) this.reveal(state.chosen);
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
    this.legend.hidden = state.mode !== "sequence";
    this.hint.hidden = Boolean(state.chosen);
    this.under.hidden = n === 0 || (this.legend.hidden && this.hint.hidden);
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
    const close = () => {
      this.state.unchoose();
      this.grid.node.focus();
    };
    this.pane.replaceChildren(...detail(this.state, this.store, close).flat().filter(Boolean));
  }
}

/** The tool that a message calls, or answers for: {server, tool}; null for every other message. */
function calledTool(entry) {
  const asked = entry.asked ?? entry;
  return asked.method === "tools/call" ? { server: asked.server, tool: object(object(asked.body).params).name } : null;
}

/** Draw `store` into `root` until `signal` says that it is over. */
export function mountTraffic(root, store, { signal }) {
  return new Display(root, store, signal);
}
