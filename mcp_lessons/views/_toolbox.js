// The entry of ToolboxView: the header, the switch between the lists, the table that opens.

import { button, download, el, fill, icon, plural } from "./common.js";
import { announce, biggerButton, recordWidget } from "./page.js";
import { costBar, growthChart } from "./_toolbox_charts.js";
import { csv, shareOf, windowName } from "./_toolbox_layout.js";
import { drawnWhenSeen, stateStore } from "./_toolbox_store.js";
import { toolTable } from "./_toolbox_table.js";
import { causeWords, number } from "./_toolbox_words.js";
import T from "./text/toolbox.json" with { type: "json" };

const WINDOWS = [8000, 32000, 128000, 200000, 1000000];
const WARNINGS_SHOWN = 3;

/** The newest state; a message that changes nothing brings no row. */
export function createStore() {
  return stateStore((before, rows) => rows.at(-1) ?? before);
}

/** Draws the view into `root` and keeps it up to date. */
export function mount(root, store, { signal }) {
  const chosen = { list: null, window: null, query: "" };
  const indexOf = (server) => store.servers.indexOf(server);
  const head = el("div", { class: "ml-head" });
  const bar = el("div", { class: "mb-tools" });
  const body = el("div", { class: "mb-body" });
  const table = toolTable({ indexOf, onquery: (query) => { chosen.query = query; draw(); }, signal });
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", T.title);
  root.append(head, bar, body);

  function draw() {
    const state = store.value ?? { first: "", lists: {} };
    const name = chosen.list in state.lists ? chosen.list : state.first;
    const list = state.lists[name];
    const window = chosen.window ?? state.window ?? 128000;
    head.replaceChildren(...header(state, name, list, window));
    bar.replaceChildren(...(list ? [switcher(state, name), table.search] : []));
    if (!list) return body.replaceChildren(el("p", { class: "mb-empty", text: T.empty }));
    table.update(list, name, state.lists, chosen.query);
    body.replaceChildren(warnings(list), el("div", { class: "mb-charts" }, costBar(list, indexOf), growthChart(list, indexOf, (step) => announce(store.record, step.seq, root))), table.node, footer(list));
  }

  function header(state, name, list, window) {
    const subtitle = list ? fill(T.subtitle[name], { turn: list.turn ? causeWords(list.turn) : "" }) : "";
    return [el("div", { class: "ml-title", role: "heading", "aria-level": "2", text: T.title }), el("span", { class: "ml-dim", text: subtitle }),
      el("span", { class: "ml-push" }), list ? totals(list, window) : null, list ? exportMenu(list, name) : null, biggerButton(root)].filter(Boolean);
  }

  function totals(list, window) {
    const share = shareOf(list.tokens, window);
    return el("span", { class: "mb-totals" }, el("b", { text: plural(list.tools, T.tools) }), " · ",
      el("span", { title: T.estimateHow, text: fill(T.tokens, { n: number(list.tokens) }) }), " · ",
      list.measured ? [el("b", { title: T.measuredHow, text: fill(T.measured, { n: number(list.measured.tokens) }) }), " · "] : null,
      el("span", { text: share === "" ? T.under : fill(T.percentOf, { n: share }) }), " ", windowChoice(window));
  }

  function windowChoice(window) {
    const sizes = [...new Set([...WINDOWS, window])].sort((a, b) => a - b);
    return el("select", { class: "mb-window", "aria-label": T.windowLabel, title: T.windowLabel, on: { change: (event) => { chosen.window = Number(event.target.value); draw(); head.querySelector("select").focus(); } } },
      sizes.map((size) => el("option", { value: String(size), selected: size === window, text: fill(T.windowOption, { window: windowName(size) }) })));
  }

  function switcher(state, name) {
    const names = ["advertised", "toolbox", "sent"].filter((one) => one in state.lists);
    const words = (one) => [T.lists[one], el("small", { text: `${number(state.lists[one].tools)} · ${fill(T.tokensShort, { n: number(state.lists[one].tokens) })}` })];
    if (names.length === 1) return el("span", { class: "mb-only" }, words(name));
    const choose = (one) => { chosen.list = one; draw(); bar.querySelector('[aria-checked="true"]').focus(); };
    const step = (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      choose(names[(names.indexOf(name) + by + names.length) % names.length]);
    };
    return el("div", { class: "mb-lists", role: "radiogroup", "aria-label": T.listsLabel, on: { keydown: step } },
      names.map((one, i) => [i ? el("span", { class: "ml-dim", "aria-hidden": "true", text: "→" }) : null,
        el("button", { type: "button", class: "ml-button", role: "radio", "aria-checked": String(one === name), tabindex: one === name ? "0" : "-1", on: { click: () => choose(one) } }, words(one))]));
  }

  function exportMenu(list, name) {
    const menu = el("details", { class: "mb-menu" }, el("summary", { class: "ml-button" }, icon("copy"), T.export), el("div", { class: "mb-menu-items" },
      button({ text: T.exportJson, onclick: () => save(`tools-${name}.json`, JSON.stringify(list, null, 2)) }),
      button({ text: T.exportCsv, onclick: () => save(`tools-${name}.csv`, csv(list.rows)) })));
    const save = (file, text) => { download(file, text, menu); menu.open = false; };
    menu.addEventListener("keydown", (event) => { if (event.key === "Escape" && menu.open) { menu.open = false; menu.firstChild.focus(); event.stopPropagation(); } });
    return menu;
  }

  function footer(list) {
    return el("p", { class: "mb-foot ml-dim", text: [T.estimateHow, list.measured ? T.measuredHow : ""].join(" ").trim() });
  }

  signal.addEventListener("abort", store.subscribe(drawnWhenSeen(root, signal, draw)));
  draw();
}

function warnings(list) {
  const said = [...list.unread.map((server) => fill(T.unread, { server: server || T.aServer })), ...list.warnings];
  const items = (texts) => texts.map((text) => el("li", {}, icon("warning"), el("span", { text })));
  if (!said.length) return el("div", { hidden: true });
  const more = said.slice(WARNINGS_SHOWN);
  return el("ul", { class: "mb-warnings", "aria-label": plural(said.length, T.warnings) }, items(said.slice(0, WARNINGS_SHOWN)),
    more.length ? el("li", {}, el("details", {}, el("summary", { text: plural(more.length, T.moreWarnings) }), el("ul", {}, items(more)))) : null);
}

export default recordWidget(createStore, mount);
