// Rows of the waterfall: a bar an exchange, on an axis in which idle stretches shrink.

import { el, icon, serverClass, whose, fill } from "./common.js";
import { axis } from "./layout.js";
import { labelParts } from "./sequence.js";
import { duration } from "./words.js";
import T from "./text/traffic.json" with { type: "json" };

/** The axis for `entries` (requests); one that waits reaches to the end of the record, `now`. */
export function timeAxis(entries, now) {
  return axis(entries.map((entry) => [entry.t, end(entry, now)]));
}

function end(entry, now) {
  return entry.endedBy?.t ?? entry.partner?.t ?? Math.max(now, entry.t);
}

/** The head of the column: the places where nothing happened, with the time left out. */
export function axisHead(scale) {
  return el("div", { class: "mt-axis" }, scale.breaks.slice(0, 40).map(({ at, skipped }) =>
    el("span", { class: "mt-break-label", style: `left:${at * 100}%`, title: fill(T.idle, { n: duration(skipped) }), text: "⋮" })));
}

/** The bar of one exchange. */
export function exchangeBar(entry, scale, now, store, errors) {
  const [from, to] = [scale.place(entry.t), scale.place(end(entry, now))];
  const bar = el("span", {
    class: `mt-span${entry.partner ? "" : " mt-span-open"}${errors ? " mt-span-wrong" : ""}`,
    style: `left:${from * 100}%;width:max(${(to - from) * 100}%, 3px)`,
  });
  return el("div", { class: `mt-exchange ${serverClass(store.numberOf(entry.server))}` },
    el("div", { class: "mt-exchange-label" }, whose(store.numberOf(entry.server), entry.server), labelParts(entry), errors ? el("span", { class: "mt-flag" }, icon(errors.icon), el("span", { text: errors.word })) : null),
    el("div", { class: "mt-track" }, scale.breaks.slice(0, 40).map(({ at }) => el("span", { class: "mt-break", style: `left:${at * 100}%` })), bar));
}
