// A list of which only the rows in sight exist, with a cursor that the arrow keys move.

import { el } from "./common.js";

const SPARE = 3;
const MOST = 56;

let grids = 0;

/**
 * A grid. `options`: label; count(); prepare(from, to), called before these are drawn; signature(i) (a text: the row is drawn anew only when it changes);
 * draw(i) -> element; header() -> element; choose(i); chosen() -> i or -1; keys: {key: handler}; scrolled(atEnd).
 */
export class Grid {
  constructor(options) {
    this.options = options;
    this.id = `ml-grid-${(grids += 1)}`;
    this.columns = el("div", { class: "mt-columns", role: "rowgroup" });
    this.space = el("div", { class: "mt-space", role: "rowgroup" });
    this.node = el("div", { class: "mt-grid", role: "grid", tabindex: "0", "aria-label": options.label, on: {
      keydown: (event) => this.key(event), click: (event) => this.click(event), scroll: () => this.onScroll(),
    } }, this.columns, this.space);
    this.drawn = new Map(); // signature -> element
    this.height = 42;
  }

  /** Take the size that the rows need; to be called when their number changed, before scrolling. */
  size() {
    const n = this.options.count();
    this.space.style.height = `${n * this.height}px`;
    this.node.setAttribute("aria-rowcount", String(n + 1));
  }

  /** Draw what is in sight. */
  draw() {
    const n = this.options.count();
    const [from, to] = this.inSight(n);
    this.options.prepare(from, to);
    const next = new Map();
    for (let i = from; i < to; i += 1) {
      const signature = this.options.signature(i);
      const row = this.drawn.get(signature) ?? this.options.draw(i);
      row.style.top = `${i * this.height}px`;
      row.style.height = `${this.height}px`;
      row.id = `${this.id}-${i}`;
      row.dataset.row = String(i);
      row.setAttribute("aria-rowindex", String(i + 2));
      next.set(signature, row);
    }
    this.exchange([...next.values()]);
    this.drawn = next;
    const chosen = this.options.chosen();
    if (chosen >= from && chosen < to) this.node.setAttribute("aria-activedescendant", `${this.id}-${chosen}`);
    else this.node.removeAttribute("aria-activedescendant");
  }

  drawHeader() {
    this.columns.replaceChildren(this.options.header());
  }

  /** Put `rows` in the place of the old ones, and leave alone those that stay (a selection of text survives). */
  exchange(rows) {
    const stay = new Set(rows);
    for (const old of [...this.space.children]) if (!stay.has(old)) old.remove();
    rows.forEach((row, i) => {
      if (this.space.children[i] !== row) this.space.insertBefore(row, this.space.children[i] ?? null);
    });
  }

  inSight(n) {
    const top = this.node.scrollTop;
    const from = Math.max(Math.floor(top / this.height) - SPARE, 0);
    const to = Math.min(Math.ceil((top + this.node.clientHeight) / this.height) + SPARE, n, from + MOST);
    return [Math.min(from, n), Math.max(to, 0)];
  }

  atEnd() {
    return this.node.scrollTop + this.node.clientHeight >= this.node.scrollHeight - this.height / 2;
  }

  toEnd() {
    this.node.scrollTop = this.node.scrollHeight;
  }

  /** Scroll as little as is needed to see row `i`. */
  reveal(i) {
    if (i < 0) return;
    const room = this.node.clientHeight - this.columns.offsetHeight;
    const top = i * this.height;
    if (top < this.node.scrollTop) this.node.scrollTop = top;
    else if (top + this.height > this.node.scrollTop + room) this.node.scrollTop = top + this.height - room;
  }

  /** Scroll sideways, if `width` pixels from `left` are not in sight beside columns of `side` pixels that stay. */
  revealAcross(left, width, side) {
    const { scrollLeft, clientWidth } = this.node;
    if (left < scrollLeft || left + width > scrollLeft + clientWidth - side) this.node.scrollLeft = Math.max(left - width / 4, 0);
  }

  onScroll() {
    this.options.scrolled(this.atEnd());
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  /** A row may be drawn anew between press and release, so the place decides, not the element. */
  click(event) {
    if (event.target.closest("button, a, summary")) return;
    const y = event.clientY - this.space.getBoundingClientRect().top;
    const i = Math.floor(y / this.height);
    if (event.clientY >= this.columns.getBoundingClientRect().bottom && i < this.options.count()) this.options.choose(i);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const now = this.options.chosen();
    const page = Math.max(Math.floor(this.node.clientHeight / this.height) - 2, 1);
    const last = this.options.count() - 1;
    const to = { ArrowDown: now + 1, ArrowUp: now < 0 ? last : now - 1, PageDown: now + page, PageUp: now - page, Home: 0, End: last }[event.key];
    const handler = to === undefined ? this.options.keys[event.key] : () => this.options.choose(Math.min(Math.max(to, 0), last));
    if (!handler) return;
    event.preventDefault();
    handler();
  }
}
