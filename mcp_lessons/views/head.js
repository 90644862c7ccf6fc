// The head of TrafficView: counts, search, filters, mode, export.

import { button, copyButton, download, el, fill, icon, plural, serverClass, serverMark } from "./common.js";
import { toJsonl, toMermaid } from "./exporting.js";
import { chipOf } from "./filter.js";
import { biggerButton } from "./page.js";
import { tally } from "./record.js";
import T from "./text/traffic.json" with { type: "json" };

const COUNT_ICONS = { request: "right", reply: "left", notification: "notification", stderr: "lines", noise: "noise", model: "lines", waiting: "clock", toolErrors: "warning", protocolErrors: "error" };
const CHIP_ICONS = { calls: "right", notifications: "notification", stderr: "lines", noise: "noise", process: "gear", toolbox: "plus", model: "lines" };
const ALWAYS = new Set(["request", "reply"]);
const LOUD = new Set(["waiting", "toolErrors", "protocolErrors"]);

/** The two strips above the messages; `update()` draws what changed. `follow()` is called by its button. */
export function head(root, state, store, { follow }) {
  const counts = el("div", { class: "mt-counts", role: "group", "aria-label": T.title });
  const followWord = el("span", { text: T.follow });
  const followButton = button({ icon: "down", onclick: follow });
  followButton.title = T.followHint;
  followButton.append(followWord);
  const top = el("div", { class: "ml-head" }, el("h2", { class: "ml-title", text: T.title }), counts,
    el("div", { class: "mt-tools ml-push" }, followButton, exportMenu(state, store), biggerButton(root)));
  const search = searchBox(state);
  const chips = el("div", { class: "mt-chips", role: "group", "aria-label": T.filters });
  const modes = modeButtons(state);
  const bar = el("div", { class: "mt-bar-row" }, search.node, chips, modes.node);
  let drawnChips = "";
  return {
    nodes: [top, bar], search: search.input,
    update(unseen) {
      counts.replaceChildren(...countNodes(state.hideLater ? state.visible : store.entries, store.dropped));
      followButton.setAttribute("aria-pressed", String(state.follow && state.at === null));
      followWord.textContent = unseen ? `${T.follow} (${unseen})` : T.follow;
      const now = JSON.stringify([chipNames(store), store.servers, [...state.filter.hiddenServers], [...state.filter.hiddenChips], state.filter.errorsOnly]);
      if (now !== drawnChips) drawChips(chips, state, store);
      drawnChips = now;
      modes.update();
    },
  };
}

function countNodes(entries, dropped) {
  const sum = tally(entries);
  const nodes = Object.keys(COUNT_ICONS).filter((name) => sum[name] || ALWAYS.has(name)).map((name) =>
    el(LOUD.has(name) ? "strong" : "span", { class: `ml-count${name === "protocolErrors" ? " ml-bad" : ""}${name === "toolErrors" ? " mt-tool-error" : ""}`, title: T.hints[name] },
      icon(COUNT_ICONS[name]), el("span", { text: plural(sum[name], T.counts[name]) })));
  if (dropped) nodes.push(el("span", { class: "ml-count ml-dim", text: plural(dropped, T.counts.dropped) }));
  return nodes;
}

function searchBox(state) {
  let timer;
  const input = el("input", { class: "mt-search", type: "search", placeholder: T.search, "aria-label": T.searchLabel, spellcheck: "false", autocomplete: "off", on: { input: () => {
    clearTimeout(timer);
    timer = setTimeout(() => state.setFilter({ query: input.value }), 60);
  } } });
  return { input, node: el("div", { class: "mt-search-box" }, icon("search"), input) };
}

function chipNames(store) {
  const found = new Set(store.entries.map(chipOf));
  return Object.keys(CHIP_ICONS).filter((name) => found.has(name));
}

/** The chips, drawn anew; the one that had the keyboard keeps it. */
function drawChips(chips, state, store) {
  const focused = chips.contains(document.activeElement) ? document.activeElement.dataset.chip : null;
  const { hiddenServers, hiddenChips, errorsOnly } = state.filter;
  const chip = (key, attrs, ...content) => el("button", { type: "button", ...attrs, class: `ml-button mt-chip ${attrs.class ?? ""}`, data: { chip: key } }, ...content);
  chips.replaceChildren(
    ...store.servers.filter((name) => !store.models.has(name)).map((name, i) => chip(`server ${name}`, { class: serverClass(store.numberOf(name)), "aria-pressed": String(!hiddenServers.has(name)), on: { click: () => state.toggle(hiddenServers, name) } },
      serverMark(store.numberOf(name)), el("span", { class: "mt-chip-name", title: name.length > 20 ? name : undefined, text: name }))),
    ...chipNames(store).map((name) => chip(`kind ${name}`, { "aria-pressed": String(!hiddenChips.has(name)), on: { click: () => state.toggle(hiddenChips, name) } },
      icon(CHIP_ICONS[name]), el("span", { text: T.chips[name] }))),
    chip("errors", { "aria-pressed": String(errorsOnly), on: { click: () => state.setFilter({ errorsOnly: !state.filter.errorsOnly }) } }, icon("error"), el("span", { text: T.errorsOnly })));
  if (focused) chips.querySelector(`[data-chip="${CSS.escape(focused)}"]`)?.focus();
}

function modeButtons(state) {
  const buttons = Object.entries(T.modes).map(([mode, name]) => button({ text: name, class: "mt-mode", onclick: () => state.setMode(mode), "data-mode": mode }));
  return {
    node: el("div", { class: "mt-modes ml-push", role: "group", "aria-label": T.mode }, buttons),
    update() { for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.mode === state.mode)); },
  };
}

function exportMenu(state, store) {
  const note = el("p", { class: "ml-dim" });
  const menu = el("div", { class: "mt-menu", hidden: true },
    button({ text: T.exportJsonl, onclick: () => download("traffic.jsonl", toJsonl(state.visible), menu) }),
    button({ text: T.exportMermaid, onclick: () => download("traffic.mmd", toMermaid(state.visible, store), menu) }),
    copyButton(T.exportCopy, () => toMermaid(state.visible, store)), note);
  const opener = button({ icon: "copy", text: T.export, "aria-expanded": "false", onclick: () => {
    menu.hidden = !menu.hidden;
    opener.setAttribute("aria-expanded", String(!menu.hidden));
    const cut = state.visible.filter((entry) => entry.cut).length;
    note.textContent = [T.exportRedacted, cut ? plural(cut, T.exportCut) : ""].join(" ").trim();
  } });
  opener.title = T.exportHint;
  return el("div", { class: "mt-export" }, opener, menu);
}
