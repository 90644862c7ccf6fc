// The table of tools: groups by server, rows that open, one row in the tab order, arrow keys between rows.

import { el, fill, icon, plural, serverClass, shorten, visible } from "./common.js";
import { hatch, swatch } from "./_toolbox_charts.js";
import { detail } from "./_toolbox_detail.js";
import { grouped, prefixOf } from "./_toolbox_layout.js";
import { scrollTo, sync } from "./_toolbox_store.js";
import { badgeWords, breakable, findingWords, number, serverName } from "./_toolbox_words.js";
import T from "./text/toolbox.json" with { type: "json" };

const SHOWN_AT_ONCE = 300;
const NAME = 160;
const LONG = 24; // from here on the table scrolls in itself
const ICONS = { new: "plus", changed: "notification", removed: "close", "left-out": "close", unsent: "clock" };

/** {node, search, update(list, name, lists, query), mark(seq, about), reveal()}: rows that did not change keep their elements, open as they are. */
export function toolTable({ indexOf, onquery, choose }) {
  const open = new Set(), folded = new Set(); // keys of rows, and of groups
  let cache = new Map(), current = null, most = SHOWN_AT_ONCE, last = [];
  const node = el("div", { class: "mb-table", role: "treegrid", "aria-label": T.title });
  const columns = header();
  const search = el("input", { type: "search", class: "mb-search", placeholder: T.search, "aria-label": T.search, on: { input: (event) => onquery(event.target.value) } });
  node.addEventListener("keydown", keys);

  function update(list, name, lists, query) {
    last = [list, name, lists, query];
    const fresh = new Map(), rows = [columns];
    const groups = grouped(list.rows, query);
    const widest = Math.max(1, ...list.rows.map((row) => row.tokens));
    let left = most, hidden = 0;
    for (const group of groups) {
      const key = `${name}\n${group.server}`;
      rows.push(kept(fresh, key, JSON.stringify([group.server, sumsOf(list, group.server), prefixIn(group), indexOf(group.server)]), () => groupRow(group, list, key)).row);
      fresh.get(key).row.setAttribute("aria-expanded", String(!folded.has(key)));
      if (folded.has(key) && !query) continue;
      const shown = group.rows.slice(0, Math.max(left, 0));
      hidden += group.rows.length - shown.length;
      left -= shown.length;
      const { removed_left: gone } = sumsOf(list, group.server);
      shown.forEach((row, i) => rows.push(...pair(row, `${name}\n${row.server}\n${row.name}\n${i}`, { name, lists, widest, fresh })));
      if (gone && !query && shown.length === group.rows.length) rows.push(note(plural(gone, T.removedLeft)));
    }
    if (!groups.length) rows.push(note(T.noMatch));
    if (hidden) rows.push(more(hidden));
    if (list.rows_left) rows.push(note(plural(list.rows_left, T.rest)));
    cache = fresh;
    const focused = node.contains(document.activeElement) ? document.activeElement : null;
    sync(node, rows);
    node.classList.toggle("mb-long", list.rows.length > LONG);
    const all = stops();
    if (!all.includes(current)) current = all.find((stop) => stop.dataset.key === current?.dataset.key) ?? all.find((stop) => stop.classList.contains("mb-tool")) ?? null;
    all.forEach((stop) => stop.setAttribute("tabindex", stop === current ? "0" : "-1"));
    if (focused) (focused.isConnected ? focused : current)?.focus({ preventScroll: true });
  }

  function pair(row, key, at) {
    const index = indexOf(row.server);
    const print = JSON.stringify([row, index, at.widest, Object.keys(at.lists)]);
    const entry = kept(at.fresh, key, print, () => toolRow(row, key, index, at));
    entry.data = [row, at.name, at.lists];
    show(entry, key);
    return entry.detail ? [entry.row, entry.detail] : [entry.row];
  }

  /** What was drawn for `key`, while `print` stays the same. */
  function kept(fresh, key, print, make) {
    const known = cache.get(key);
    const entry = known?.print === print ? known : { print, row: make(), detail: null };
    fresh.set(key, entry);
    return entry;
  }

  function show(entry, key) {
    const opened = open.has(key);
    entry.row.setAttribute("aria-expanded", String(opened));
    if (opened && !entry.detail) entry.detail = el("div", { class: `mb-row mb-open ${serverClass(indexOf(entry.data[0].server))}`, role: "row", "aria-level": "3" }, el("div", { role: "gridcell" }, detail(...entry.data, choose)));
    if (entry.detail) entry.detail.hidden = !opened;
  }

  function toggle(row, to = row.getAttribute("aria-expanded") !== "true") {
    const { key } = row.dataset;
    if (row.classList.contains("mb-group")) {
      folded[to ? "delete" : "add"](key);
      return update(...last);
    }
    open[to ? "add" : "delete"](key);
    const entry = cache.get(key);
    show(entry, key);
    if (entry.detail && !entry.detail.isConnected) entry.row.after(entry.detail);
    if (to && entry.detail && node.classList.contains("mb-long")) {
      scrollTo(node, entry.detail, columns.offsetHeight);
      scrollTo(node, entry.row, columns.offsetHeight);
    }
  }

  function clicked(event) {
    if (event.target.closest("a, button, summary")) return;
    focusOn(event.currentTarget);
    toggle(event.currentTarget);
  }

  function toolRow(row, key, index, { widest }) {
    const prefix = prefixOf(row);
    const cost = row.removed ? el("span", { class: "ml-dim", text: "–" }) : [
      el("span", { class: `mb-meter ${hatch(index)}`, "aria-hidden": "true", style: `width: ${(5.5 * row.tokens) / widest}em` }), el("span", { text: fill(T.tokensShort, { n: number(row.tokens) }) })];
    return el("div", { class: `mb-row mb-tool ${serverClass(index)} ${row.removed ? "mb-removed" : ""}`, role: "row", "aria-level": "2", "aria-label": sentence(row), data: { key }, on: { click: clicked } },
      el("div", { role: "gridcell", class: "mb-name" }, el("span", { class: "mb-twist", "aria-hidden": "true" }), el(row.removed ? "del" : "span", {}, prefix ? el("span", { class: "mb-prefix", text: shorten(prefix, 60) }) : null, el("b", {}, breakable(shorten(row.name.slice(prefix.length), NAME))))),
      el("div", { role: "gridcell", class: "mb-about" }, el("span", { class: row.description ? "mb-clamp" : "ml-dim", text: row.description.slice(0, 600) || T.noDescription }), chips(row)),
      el("div", { role: "gridcell", class: "mb-cost" }, cost));
  }

  function groupRow(group, list, key) {
    const { server } = group, index = indexOf(server), sums = sumsOf(list, server), prefix = prefixIn(group);
    const about = [sums.tools ? plural(sums.tools, T.tools) : T.groupLeft, sums.tools ? fill(T.tokensOf, { n: number(sums.tokens) }) : null, sums.removed ? plural(sums.removed, T.removedTools) : null].filter(Boolean).join(" · ");
    return el("div", { class: `mb-row mb-group ${serverClass(index)}`, role: "row", "aria-level": "1", "aria-label": `${serverName(server)} · ${about}`, data: { key }, on: { click: clicked } }, el("div", { role: "gridcell", class: "mb-groupcell" },
      el("span", { class: "mb-twist", "aria-hidden": "true" }), swatch(index), el("b", { class: "mb-server", text: serverName(server) }),
      prefix ? [` ${T.prefix} `, el("code", { text: shorten(prefix, 60) })] : null, el("span", { class: "ml-dim", text: ` · ${about}` })));
  }

  function more(hidden) {
    return el("div", { class: "mb-row", role: "row" }, el("div", { role: "gridcell" }, el("button", { type: "button", class: "ml-button", text: fill(T.more, { n: number(hidden) }), on: { click: () => { most += SHOWN_AT_ONCE; update(...last); } } })));
  }

  const stops = () => [...node.querySelectorAll(".mb-tool, .mb-group")];

  function focusOn(row) {
    current?.setAttribute("tabindex", "-1");
    current = row;
    row.setAttribute("tabindex", "0");
    row.focus();
  }

  function keys(event) {
    const row = event.target;
    if (!(row.classList.contains("mb-tool") || row.classList.contains("mb-group")) || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = stops(), at = all.indexOf(row);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) { if (all[to]) focusOn(all[to]); }
    else if (event.key === "Enter" || event.key === " ") toggle(row);
    else if (event.key === "ArrowRight") toggle(row, true);
    else if (event.key === "ArrowLeft") toggle(row, false);
    else return;
    event.preventDefault();
  }

  /** Mark the tools that message `seq` of the record brought, or the one that it is `about`. */
  function mark(seq, about) {
    for (const { row, data } of cache.values()) {
      if (!data) continue;
      const [tool] = data;
      const is = about ? tool.server === about.server && tool.tool === about.tool : seq !== null && tool.advertised_seq === seq;
      if (is) row.setAttribute("aria-selected", "true");
      else row.removeAttribute("aria-selected"); // "false" would be said of every row
    }
  }

  /** Bring the first tool that is marked into sight. */
  function reveal() {
    const marked = node.querySelector(".mb-tool[aria-selected]");
    if (marked && node.classList.contains("mb-long")) scrollTo(node, marked, columns.offsetHeight);
  }

  return { node, search, update, mark, reveal };
}

function sumsOf(list, server) {
  return list.servers.find((one) => one.server === server);
}

function prefixIn({ rows }) {
  return rows.map(prefixOf).find(Boolean) ?? "";
}

function header() {
  return el("div", { class: "mb-row mb-columns", role: "row" }, Object.values(T.columns).map((text) => el("div", { role: "columnheader", text })));
}

function note(text) {
  return el("div", { class: "mb-row", role: "row" }, el("div", { role: "gridcell", class: "mb-rest ml-dim", text }));
}

function chips(row) {
  const badges = row.badges.map((badge) => el("span", { class: `mb-chip mb-${badge.kind}` }, icon(ICONS[badge.kind]), badgeWords(badge)));
  const warned = row.findings.map((finding) => {
    const { short, long } = findingWords(finding);
    return el("span", { class: "mb-chip mb-warned", title: long }, icon("warning"), short);
  });
  return [...badges, ...warned];
}

/** The row as a screen reader says it. */
function sentence(row) {
  const said = fill(row.removed ? T.rowSentenceRemoved : T.rowSentence, { name: visible(shorten(row.name, NAME)), server: visible(serverName(row.server)), n: number(row.tokens) });
  return [said, ...row.badges.map((badge) => `${badgeWords(badge)}.`), ...row.findings.map((finding) => `${findingWords(finding).short}.`), row.description.slice(0, 200)].join(" ");
}
