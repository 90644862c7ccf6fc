// The two pictures above the table: what each server costs, and how the list grew.

import { el, fill, plural, serverClass, serverMark } from "./common.js";
import { growth, percentages, percentWords } from "./_toolbox_layout.js";
import { breakable, causeWords, number, serverName, stepSentence } from "./_toolbox_words.js";
import T from "./text/toolbox.json" with { type: "json" };

const STEPS_SHOWN = 10;
const LONG_WORD = 14; // below it a column has room, and a name stays whole
const ROOM_FOR_WORDS = 14;

/** A stacked bar, one part a server, with a legend that says the same in words. */
export function costBar(list, indexOf) {
  const groups = list.servers.filter((group) => group.tools);
  const shares = percentages(groups.map((group) => group.tokens));
  const percent = (i) => percentWords(shares[i], groups.length);
  const parts = groups.map((group, i) => el("span", { class: `mb-part ${serverClass(indexOf(group.server))} ${hatch(indexOf(group.server))}`, style: `flex-grow: ${Math.max(group.tokens, 1)}` },
    shares[i] >= ROOM_FOR_WORDS ? el("span", { class: "mb-part-words", text: `${serverName(group.server)} ${percent(i)}` }) : null));
  const legend = groups.map((group, i) => el("li", { class: serverClass(indexOf(group.server)) }, swatch(indexOf(group.server)),
    el("b", { class: "mb-server", text: serverName(group.server) }), ` ${plural(group.tools, T.tools)} · ${fill(T.tokensShort, { n: number(group.tokens) })} · ${percent(i)}`));
  return el("section", { class: "mb-chart" }, el("div", { class: "mb-label", text: T.cost }),
    el("div", { class: "mb-bar", "aria-hidden": "true" }, parts), el("ul", { class: "mb-legend", "aria-label": T.cost }, legend));
}

/** A column a step; choosing one calls `choose(step)`. */
export function growthChart(list, indexOf, choose) {
  const { columns, left } = growth(list.steps, STEPS_SHOWN);
  const dropped = left + list.steps_dropped;
  const columnOf = ({ step, parts }) => el("li", {}, el("button", { type: "button", class: "mb-step", title: stepSentence(step), data: { seq: step.seq }, on: { click: () => choose(step) } },
    el("span", { class: "ml-offscreen", text: stepSentence(step) }),
    el("span", { class: "mb-step-total", "aria-hidden": "true", text: fill(T.tokensShort, { n: number(step.tokens) }) }),
    el("span", { class: "mb-stack", "aria-hidden": "true" }, parts.map((part) => el("span", { class: `${serverClass(indexOf(part.server))} ${hatch(indexOf(part.server))}`, style: `height: ${part.height}%` }))),
    el("span", { class: "mb-step-cause", "aria-hidden": "true" }, causeWords(step.cause).split(/(?<= )/).flatMap((word) => (word.length > LONG_WORD ? breakable(word) : [word]))),
    el("span", { class: "mb-step-moved", "aria-hidden": "true", text: moved(step) })));
  return el("section", { class: "mb-chart mb-growth", style: `flex-grow: ${Math.max(2, 0.4 * columns.length)}` }, el("div", { class: "mb-label", text: T.growth }),
    el("ol", { class: "mb-steps", "aria-label": T.growth }, columns.map(columnOf)),
    dropped ? el("div", { class: "ml-dim", text: plural(dropped, T.growthDropped) }) : null);
}

/** Mark the column of the step that message `seq` is, in `body`. */
export function markSteps(body, seq) {
  for (const node of body.querySelectorAll(".mb-step")) node.setAttribute("aria-current", String(Number(node.dataset.seq) === seq));
}

/** The column after the marked one (`by` 1) or before it (-1), with the focus; the newest where none is marked. */
export function stepOf(body, by) {
  const all = [...body.querySelectorAll(".mb-step")], now = all.findIndex((node) => node.getAttribute("aria-current") === "true");
  const to = all[now < 0 ? (by > 0 ? 0 : all.length - 1) : now + by];
  to?.focus();
  return to;
}

/** The pattern of server number `n`, told apart without colour; -1 is that of the reader's own functions. */
export function hatch(n) {
  return n < 0 ? "mb-own" : `mb-h${n % 8}`;
}

/** The server's mark, in its colour. */
export function swatch(n) {
  return n < 0 ? el("span", { class: "mb-python", "aria-hidden": "true", text: "ƒ" }) : serverMark(n);
}

function moved(step) {
  const signs = [["+", step.added], ["~", step.changed], ["−", step.removed]];
  return signs.filter(([, n]) => n).map(([sign, n]) => sign + number(n)).join(" ");
}
