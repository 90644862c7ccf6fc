// The entry of ToolboxView.

import { el } from "./common.js";
import { announce, biggerButton, onAnnounced, recordWidget } from "./page.js";
import { costBar, growthChart, markSteps, stepOf } from "./_toolbox_charts.js";
import { counts, subtitle, switcher, totals, warnings, windowChoice } from "./_toolbox_head.js";
import { csv } from "./_toolbox_layout.js";
import { exportMenu } from "./_toolbox_menu.js";
import { drawnWhenSeen, remembering, stateStore, sync } from "./_toolbox_store.js";
import { toolTable } from "./_toolbox_table.js";
import T from "./text/toolbox.json" with { type: "json" };

const EMPTY = { first: "", lists: {}, window: 128000 };

/** The newest state; a message that changes nothing brings no row. */
export function createStore() {
  return stateStore((before, rows) => rows.at(-1) ?? before);
}

/** Draws the view into `root` and keeps it up to date. */
export function mount(root, store, { signal }) {
  const chosen = { list: null, window: null, query: "" };
  const current = () => {
    const { first, lists, window } = store.value ?? EMPTY;
    const name = chosen.list in lists ? chosen.list : first;
    return { lists, name, list: lists[name], window: chosen.window ?? window };
  };
  const indexOf = (server) => store.servers.indexOf(server);
  const slots = Object.fromEntries(["subtitle", "counts", "totals", "window"].map((name) => [name, el("span", { class: `mb-slot-${name}` })]));
  const menu = exportMenu(T.export, [
    [T.exportJson, () => `tools-${current().name}.json`, () => JSON.stringify(current().list, null, 2)],
    [T.exportCsv, () => `tools-${current().name}.csv`, () => csv(current().list.rows)],
  ]);
  const head = el("div", { class: "ml-head" }, el("div", { class: "ml-title", role: "heading", "aria-level": "2", text: T.title }),
    slots.subtitle, slots.counts, el("span", { class: "mb-ends" }, el("span", {}, slots.totals, " ", slots.window), menu, biggerButton(root)));
  const bar = el("div", { class: "mb-tools" }), body = el("div", { class: "mb-body" });
  const foot = el("p", { class: "mb-foot ml-dim" }), empty = el("p", { class: "mb-empty", text: T.empty });
  const choose = (seq, about = null) => {
    mark(seq, about);
    announce(store.record, seq, root, about);
  };
  const table = toolTable({ indexOf, choose, onquery: (query) => { chosen.query = query; draw(); } });
  const kept = { switcher: remembering(), warnings: remembering(), charts: remembering(), window: remembering() };
  const selected = { seq: null, about: null };
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", T.title);
  root.append(head, bar, body);

  function draw() {
    const now = current();
    for (const node of [slots.totals, slots.window, slots.counts, slots.subtitle, menu, bar]) node.hidden = !now.list;
    if (!now.list) return sync(body, [empty]);
    drawHead(now);
    const indexes = now.list.servers.map(({ server }) => indexOf(server));
    const charts = kept.charts(JSON.stringify([now.list.servers, now.list.steps, now.list.steps_dropped, indexes]), () => el("div", { class: "mb-charts" },
      costBar(now.list, indexOf), growthChart(now.list, indexOf, ({ seq }) => choose(seq))));
    foot.textContent = [T.estimateHow, now.list.measured ? T.measuredHow : "", T.keys].filter(Boolean).join(" ");
    table.update(now.list, now.name, now.lists, chosen.query);
    sync(body, [kept.warnings(JSON.stringify(now.list.warnings), () => warnings(now.list)), charts, table.node, foot]);
    mark(selected.seq, selected.about);
  }

  /** Show what the reader chose, here or in another view: a step of the growth, the tools of a message, a tool. */
  function mark(seq, about) {
    Object.assign(selected, { seq, about });
    markSteps(body, seq);
    table.mark(seq, about);
  }

  function keys(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select")) return;
    if (event.key === "/") table.search.focus();
    else if (event.key === "[" || event.key === "]") stepOf(body, event.key === "]" ? 1 : -1)?.click();
    else return;
    event.preventDefault();
  }

  function drawHead({ lists, name, list, window }) {
    slots.subtitle.textContent = subtitle(list, name);
    slots.counts.replaceChildren(...counts(list));
    slots.totals.replaceChildren(...totals(list, window));
    sync(slots.window, [kept.window(String(store.value.window), () => windowChoice(window, (size) => { chosen.window = size; draw(); }))]);
    const print = JSON.stringify([name, Object.entries(lists).map(([one, { tools, tokens, closed }]) => [one, tools, tokens, closed])]);
    const focused = bar.contains(document.activeElement) && document.activeElement !== table.search;
    sync(bar, [kept.switcher(print, () => switcher(lists, name, (one) => { chosen.list = one; draw(); })), table.search]);
    if (focused) bar.querySelector('[aria-checked="true"]')?.focus();
  }

  root.addEventListener("keydown", keys);
  onAnnounced(() => store.record, root, signal, (seq, about) => {
    mark(seq, about);
    table.reveal();
  });
  signal.addEventListener("abort", store.subscribe(drawnWhenSeen(root, signal, draw)));
  draw();
}

export default recordWidget(createStore, mount);
