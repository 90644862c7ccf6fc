// What the reader chose (filters, mode, step, selection), and what follows from it. No drawing.

import { passing } from "./filter.js";

/** The state of one display of a store. Every change calls the subscribers with what changed. */
export class ViewState {
  constructor(store) {
    this.store = store;
    this.heard = new Set();
    this.mode = "sequence";
    this.filter = { query: "", hiddenServers: new Set(), hiddenChips: new Set(), errorsOnly: false };
    this.chosen = null; // the entry that is selected
    this.at = null; // the number of the message stepped to; null: the newest
    this.hideLater = false;
    this.follow = true;
    this.version = 0;
    this.recompute();
  }

  subscribe(callback) {
    this.heard.add(callback);
  }

  changed() {
    this.recompute();
    for (const callback of this.heard) callback();
  }

  recompute() {
    this.version += 1;
    const all = passing(this.store.entries, this.filter);
    this.all = this.mode === "waterfall" ? all.filter((entry) => entry.role === "request") : all;
    this.visible = this.hideLater && this.at !== null ? this.all.slice(0, this.position()) : this.all;
    if (this.chosen && this.store.find(this.chosen.seq) !== this.chosen) this.chosen = this.store.find(this.chosen.seq) ?? null;
  }

  /** How many of the messages that pass have happened at the step. */
  position() {
    if (this.at === null) return this.all.length;
    let [low, high] = [0, this.all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.all[middle].seq <= this.at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  later(entry) {
    return this.at !== null && entry.seq > this.at;
  }

  isHidden(entry) {
    return this.hideLater && this.later(entry);
  }

  /** `entry` as the reader may see it: a request whose end is hidden still waits. */
  seen(entry) {
    const hidden = [entry.partner, entry.endedBy].some((one) => one && this.isHidden(one));
    if (entry.role !== "request" || !hidden) return entry;
    return { ...entry, partner: null, took: null, waiting: true, ended: null, endedBy: null };
  }

  setMode(mode) {
    this.mode = mode;
    this.changed();
  }

  setFilter(change) {
    Object.assign(this.filter, change);
    this.changed();
  }

  toggle(set, name) {
    if (!set.delete(name)) set.add(name);
    this.changed();
  }

  choose(entry) {
    if (!entry) return;
    this.chosen = entry;
    if (this.at !== null && entry.seq > this.at) this.at = entry.seq;
    this.changed();
  }

  unchoose() {
    this.chosen = null;
    this.changed();
  }

  /** Step to the `position`th message that passes; to the last one means: to the newest, and on. */
  stepTo(position) {
    const n = Math.min(Math.max(position, 1), this.all.length);
    if (!this.all.length) return;
    this.chosen = this.all[n - 1];
    this.at = n === this.all.length && !this.hideLater ? null : this.chosen.seq;
    this.changed();
  }

  /** Step by `by` messages from where the reader is: at the step, else at what is chosen, else at the end. */
  stepBy(by) {
    const chosen = this.at === null && this.chosen ? this.all.indexOf(this.chosen) + 1 : 0;
    this.stepTo((chosen || this.position()) + by);
  }

  setHideLater(on) {
    this.hideLater = on;
    if (on && this.at === null && this.all.length) {
      this.chosen = this.chosen ?? this.all[0];
      this.at = this.chosen.seq;
    }
    if (!on && this.position() === this.all.length) this.at = null;
    this.changed();
  }

  /** What is chosen, as far as it has been revealed: the reply may be still to come. */
  revealed() {
    const entry = this.chosen;
    if (!entry) return [];
    const [asked, answer] = entry.role === "reply" ? [entry.partner ?? entry.asked, entry] : [entry, entry.partner];
    const hidden = answer && this.isHidden(answer);
    return { asked: asked === entry || asked ? asked : null, answer: hidden ? null : answer, hidden: Boolean(hidden) };
  }
}
