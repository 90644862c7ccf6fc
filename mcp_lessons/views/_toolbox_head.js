// The header of ToolboxView: what the list is, what it holds and costs, and the switch between the lists.

import { el, fill, icon, plural } from "./common.js";
import { shareOf, windowName } from "./_toolbox_layout.js";
import { causeWords, number } from "./_toolbox_words.js";
import T from "./text/toolbox.json" with { type: "json" };

const WINDOWS = [8000, 32000, 128000, 200000, 1000000];
const NAMES = ["advertised", "toolbox", "sent"];

/** "what went to the model (turn 2)" */
export function subtitle(list, name) {
  return fill(T.subtitle[list.closed ? "closed" : name], { turn: list.turn ? causeWords(list.turn) : "" });
}

/** New, changed and removed tools, and those to look at, each with its icon. */
export function counts({ counts: having }) {
  const one = (n, forms, name) => (n ? el("span", { class: "ml-count" }, icon(name), plural(n, forms)) : null);
  return [one(having.new, T.stepAdded, "plus"), one(having.changed, T.stepChanged, "notification"), one(having.removed, T.stepRemoved, "close"), one(having.warned, T.toLookAt, "warning")].filter(Boolean);
}

/** "7 tools · ≈459 tokens (estimate) · ≈0.4% of a", with the measured figure where there is one. */
export function totals(list, window) {
  const share = shareOf(list.measured?.tokens ?? list.tokens, window);
  return [el("b", { text: plural(list.tools, T.tools) }), " · ", el("span", { title: T.estimateHow, text: fill(T.tokens, { n: number(list.tokens) }) }), " · ",
    ...(list.measured ? [el("b", { title: T.measuredHow, text: fill(T.measured, { n: number(list.measured.tokens) }) }), " · "] : []),
    el("span", { text: share === "" ? T.under : fill(T.percentOf, { n: share }) })];
}

/** The choice of a context window; `choose(tokens)`. */
export function windowChoice(window, choose) {
  const sizes = [...new Set([...WINDOWS, window])].sort((a, b) => a - b);
  return el("select", { class: "mb-window", "aria-label": T.windowLabel, title: T.windowLabel, on: { change: (event) => choose(Number(event.target.value)) } },
    sizes.map((size) => el("option", { value: String(size), selected: size === window, text: fill(T.windowOption, { window: windowName(size) }) })));
}

/** The lists that there are, side by side with what they cost; a lone one is named. `choose(name)`. */
export function switcher(lists, chosen, choose) {
  const names = NAMES.filter((name) => name in lists);
  const words = (name) => [T.lists[name], el("small", { text: [number(lists[name].tools), fill(T.tokensShort, { n: number(lists[name].tokens) }), lists[name].closed ? T.closedShort : null].filter(Boolean).join(" · ") })];
  if (names.length === 1) return el("span", { class: "mb-only" }, words(names[0]));
  const step = (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    choose(names[(names.indexOf(chosen) + by + names.length) % names.length]);
  };
  return el("div", { class: "mb-lists", role: "radiogroup", "aria-label": T.listsLabel, on: { keydown: step } },
    names.map((name, i) => [i ? el("span", { class: "ml-dim", "aria-hidden": "true", text: "→" }) : null,
      el("button", { type: "button", class: "ml-button", role: "radio", "aria-checked": String(name === chosen), tabindex: name === chosen ? "0" : "-1", on: { click: () => choose(name) } }, words(name))]));
}

/** The warnings, the first few open. */
export function warnings({ warnings: said }) {
  if (!said.length) return null;
  const items = (texts) => texts.map((text) => el("li", {}, icon("warning"), el("span", { text })));
  const more = said.slice(3);
  return el("ul", { class: "mb-warnings", "aria-label": plural(said.length, T.warnings) }, items(said.slice(0, 3)),
    more.length ? el("li", {}, el("details", {}, el("summary", { text: plural(more.length, T.moreWarnings) }), el("ul", {}, items(more)))) : null);
}
