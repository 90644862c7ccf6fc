// Rows of the sequence diagram: lifelines, bars of activity, arrows, notes.

import { el, svg, icon, serverClass, serverMark, fill } from "./common.js";
import { barsOn, ends, headWidths, lanesOf, placeLanes } from "./layout.js";
import { duration, flagWords, idText, words } from "./words.js";
import T from "./text/traffic.json" with { type: "json" };

const LONG_TIME = 0.1;

/** Where the lanes stand in a diagram `width` wide, for `store`. */
export function place(store, width, scale) {
  const lanes = lanesOf(store);
  return { lanes, scale, ...placeLanes(lanes, width, scale) };
}

/** The names above the lifelines. */
export function laneHeads(placed, store) {
  const widths = headWidths(placed.lanes, placed, placed.scale);
  return el("div", { class: "mt-lanes" }, placed.lanes.map((lane, i) =>
    el("span", { class: `mt-lane mt-lane-${lane.kind} ${serverClass(store.numberOf(lane.name))}`, style: `left:${placed.x[lane.key]}px;max-width:${widths[i]}px`, title: lane.kind === "model" ? `${T.modelLane}: ${lane.name}` : lane.name || undefined },
      lane.kind === "client" ? T.client : [serverMark(Math.max(store.numberOf(lane.name), 0)), el("span", { text: lane.name })])));
}

/** The diagram of one row. `activity` and `gone` come from layout.js. */
export function diagram(entry, placed, { activity, gone, store, height }) {
  const number = store.numberOf(entry.server);
  const y = Math.round(height * 0.74) + 0.5;
  const art = svg("svg", { class: "mt-art", width: placed.width, height, "aria-hidden": "true", focusable: "false" },
    placed.lanes.map(({ key }) => lifeline(placed.x[key], height, gone.has(key), over(entry, key) ? y : 0)),
    placed.lanes.map((lane) => bars(lane, placed, activity, y, height, store)),
    over(entry, ends(entry)[0]) ? cross("mt-end", placed.x[ends(entry)[0]], y, 6 * placed.scale) : null,
    mark(entry, placed, activity, y));
  return el("div", { class: `mt-diagram ${serverClass(number)}`, style: `width:${placed.width}px` }, art, label(entry, placed));
}

function over(entry, lane) {
  return entry.kind === "process" && entry.body?.event === "exited" && ends(entry)[0] === lane;
}

function lifeline(x, height, isGone, endsAt) {
  return svg("line", { class: isGone && !endsAt ? "mt-life mt-life-gone" : "mt-life", x1: x, x2: x, y1: -1, y2: endsAt || height + 1 });
}

function cross(name, x, y, d) {
  return svg("path", { class: name, d: `M${x - d} ${y - d}l${2 * d} ${2 * d}m0 ${-2 * d}l${-2 * d} ${2 * d}` });
}

function bars({ key, name }, placed, activity, y, height, store) {
  const [before, after] = barsOn(key, activity);
  const w = 9 * placed.scale;
  return Array.from({ length: Math.max(before, after) }, (_, level) => {
    const [from, to] = [level < before ? -1 : y, level < after ? height + 1 : y];
    const x = placed.x[key] - w / 2 + level * (w / 2 + 1);
    const caps = (level < before ? "" : `M${x} ${y}h${w}`) + (level < after ? "" : `M${x} ${y}h${w}`);
    return svg("g", { class: `mt-bar ${serverClass(store.numberOf(name))}` }, svg("rect", { x, y: from, width: w, height: to - from }),
      svg("path", { d: `M${x} ${from}V${to}M${x + w} ${from}V${to}${caps}` }));
  });
}

/** The line that crosses the diagram, if something crossed the wire. */
function mark(entry, placed, activity, y) {
  const [from, to] = ends(entry);
  if (from === to || !(from in placed.x) || !(to in placed.x)) return null;
  const way = Math.sign(placed.x[to] - placed.x[from]);
  const half = (lane) => (Math.max(...barsOn(lane, activity)) ? 4.5 * placed.scale : 0);
  const start = placed.x[from] + way * half(from);
  const lost = entry.kind === "noise" || isDropped(entry);
  const end = placed.x[to] - way * (lost ? 22 * placed.scale : half(to) + 1);
  const style = entry.kind === "noise" ? "noise" : entry.role || "notification";
  const stem = style === "noise" ? wave(start, end, y, way) : `M${start} ${y}H${end - (style === "request" ? way * 8 : 0)}`;
  return svg("g", { class: `mt-arrow mt-${style}` }, svg("path", { class: "mt-stem", d: stem }), head(end, y, way, style, lost, placed.scale));
}

/** True for a reply that nobody waits for. */
function isDropped({ role, partner, flags }) {
  return role === "reply" && (flags.includes("late") || (!partner && !flags.includes("older")));
}

function wave(start, end, y, way) {
  const steps = Math.max(Math.floor(Math.abs(end - start) / 12), 1);
  const dx = (end - start) / steps / 2;
  return `M${start} ${y}` + Array.from({ length: steps }, (_, i) => `q${dx / 2} ${i % 2 ? -4 : 4} ${dx} 0t${dx} 0`).join("");
}

function head(x, y, way, style, lost, scale) {
  const d = 5 * scale;
  if (lost) return cross("mt-lost", x, y, d);
  const back = x - way * 10 * scale;
  return svg("path", style === "request"
    ? { class: "mt-head-filled", d: `M${x} ${y}L${back} ${y - d}V${y + d}z` }
    : { class: "mt-head-open", d: `M${back} ${y - d}L${x} ${y}L${back} ${y + d}` });
}

function label(entry, placed) {
  const [from, to] = ends(entry);
  const parts = labelParts(entry);
  if (from !== to) {
    const left = Math.min(placed.x[from], placed.x[to]) + 12 * placed.scale;
    return el("div", { class: "mt-label", style: `left:${left}px;max-width:${placed.width - left}px` }, parts);
  }
  const x = placed.x[from] ?? 0;
  const side = x > placed.width / 2 ? `right:${placed.width - x + 11 * placed.scale}px;max-width:${x - 14 * placed.scale}px` : `left:${x + 11 * placed.scale}px;max-width:${placed.width - x - 14 * placed.scale}px`;
  return el("div", { class: `mt-label mt-note mt-note-${entry.kind}`, style: side }, parts);
}

const NOTE_ICONS = { stderr: "lines", process: "gear", tools: "plus", http: "lines", model: "ok" };

/** The words on a row, with the marks that say what is wrong. */
export function labelParts(entry) {
  const { word, text: rest, mark: wrong } = words(entry);
  const name = wrong === "protocol-error" ? "error" : wrong === "tool-error" ? "warning" : null;
  const chip = entry.id === undefined || entry.kind === "noise" ? null
    : el("span", { class: "mt-id", text: fill(entry.kind === "model" ? T.words.turn : T.words.id, { id: idText(entry.id) }) });
  const lead = entry.kind === "notification" ? icon("notification") : entry.kind === "noise" ? icon("noise") : entry.role || !NOTE_ICONS[entry.kind] ? null : icon(NOTE_ICONS[entry.kind]);
  return [
    chip, lead,
    el("strong", { class: wrong ? `mt-wrong mt-${wrong}` : "" }, name ? icon(name) : null, el("span", { text: word })),
    flagWords(entry).map((flag) => el("span", { class: "mt-flag" }, icon("warning"), el("span", { text: flag }))),
    el("span", { class: "mt-rest ml-mono", text: rest }),
  ];
}

/** The last cell of a row: how long it took, or that it still waits. */
export function took(entry) {
  if (entry.waiting) return el("span", { class: "mt-waiting" }, icon("clock"), el("span", { text: T.waiting }));
  if (entry.role !== "reply" || entry.took === null) return null;
  return el("span", { class: entry.took >= LONG_TIME ? "mt-long" : "", text: duration(entry.took) });
}

/** What the lines mean. */
export function legend() {
  const line = (style) => svg("svg", { class: "mt-sample", width: 34, height: 12, "aria-hidden": "true" },
    svg("g", { class: `mt-arrow mt-${style}` }, svg("path", { class: "mt-stem", d: `M1 6.5H${style === "request" ? 25 : 32}` }), head(33, 6.5, 1, style, false, 1)));
  const box = (name) => el("span", { class: `mt-sample-${name}`, "aria-hidden": "true" });
  return el("div", { class: "mt-legend" }, [["request", line("request")], ["reply", line("reply")], ["notification", line("notification")], ["note", box("note")], ["working", box("working")]]
    .map(([name, sample]) => el("span", {}, sample, el("span", { text: T.legend[name] }))));
}
