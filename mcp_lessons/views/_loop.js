// The entry of LoopView: a band for each turn of each run.

import { el, fill, icon, plural, shorten } from "./common.js";
import { announce, biggerButton, onAnnounced, recordWidget } from "./page.js";
import { exportMenu } from "./_toolbox_menu.js";
import { drawnWhenSeen, scrollTo, stateStore, sync } from "./_toolbox_store.js";
import { number } from "./_toolbox_words.js";
import { duration } from "./words.js";
import { merged, otherHalf, ownerOf, questionOf, runsOf, scaleOf, sums, turnName } from "./_loop_layout.js";
import { budget, callCard, contextBar, contextTable, folded, legend, link, stopped, tokenLines } from "./_loop_parts.js";
import { transcript } from "./_loop_transcript.js";
import T from "./text/loop.json" with { type: "json" };

const TURNS_SHOWN = 100;
const LONG = 12; // from here on the bands scroll in themselves
const WHOLE = 1500; // what the model says is shown whole up to here

/** All turns, by run and number. */
export function createStore() {
  return stateStore(merged);
}

/** Draws the view into `root` and keeps it up to date. */
export function mount(root, store, { signal }) {
  const openContexts = new Set(), folds = new Map(), whole = new Set(), runNodes = new Map();
  let chosen = null, revealing = false, cache = new Map();
  const indexOf = (server) => store.servers.indexOf(server);
  const allTurns = () => [...(store.value ?? new Map()).values()];
  const facts = el("span", { class: "mo-facts" }), sumsSlot = el("span", { title: T.estimateHow });
  const menu = exportMenu(T.export, [
    [T.exportMarkdown, () => "loop.md", () => transcript(runsOf(allTurns()))],
    [T.exportJson, () => "loop.json", () => JSON.stringify(runsOf(allTurns()), null, 2)],
  ]);
  const body = el("div", { class: "mo-body" }), empty = el("p", { class: "mo-empty", text: T.empty }), foot = el("div", { class: "mo-foot" }), scroll = el("div", { class: "mo-runs" });
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", T.title);
  root.append(el("div", { class: "ml-head" }, el("div", { class: "ml-title", role: "heading", "aria-level": "2", text: T.title }), facts, el("span", { class: "mb-ends" }, sumsSlot, menu, biggerButton(root))), body);
  body.addEventListener("keydown", keys);

  function draw() {
    const turns = allTurns(), runs = runsOf(turns);
    menu.hidden = !turns.length;
    facts.replaceChildren(...headCounts(turns, runs));
    sumsSlot.replaceChildren(...(turns.length ? totals(sums(turns)) : []));
    if (!turns.length) return sync(body, [empty]);
    const at = { scale: scaleOf(turns), owner: chosen === null ? null : ownerOf(turns, chosen), fresh: new Map() };
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    const nodes = runs.map((run, i) => runNode(run, runs.length, i === runs.length - 1, at));
    cache = at.fresh;
    foot.replaceChildren(legend(turns, indexOf), el("p", { class: "ml-dim", text: `${fill(T.scale, { n: number(at.scale) })} ${T.estimateHow}` }), el("p", { class: "ml-dim", text: T.keys }));
    const atEnd = scroll.firstChild && scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 4;
    scroll.classList.toggle("mo-long", turns.length > LONG);
    sync(scroll, nodes);
    sync(body, [scroll, foot]);
    if (revealing) reveal();
    else if (atEnd && scroll.classList.contains("mo-long")) scroll.scrollTop = scroll.scrollHeight;
    if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
  }

  /** Bring what was chosen in another view into sight; it may stand in a run that is folded. */
  function reveal() {
    const found = scroll.querySelector(".mo-chosen, .mo-holds > summary");
    if (found && scroll.classList.contains("mo-long")) scrollTo(scroll, found);
    revealing = false;
  }

  function headCounts(turns, runs) {
    if (!turns.length) return [];
    const total = sums(turns), last = runs.at(-1).turns.at(-1);
    const warned = (n, forms, name, css) => (n ? el("span", { class: `ml-count ${css}` }, icon(name), plural(n, forms)) : null);
    return [runs.length > 1 ? el("span", { class: "ml-count", text: plural(runs.length, T.runs) }) : null, budget(total.turns, runs.length === 1 ? last.max_turns : null),
      el("span", { class: "ml-count" }, icon("right"), plural(total.calls, T.calls)),
      warned(total.toolErrors, T.toolErrors, "warning", "mo-warned"), warned(total.protocolErrors, T.protocolErrors, "error", "ml-bad"), warned(total.modelErrors, T.modelErrors, "error", "ml-bad")].filter(Boolean);
  }

  function totals(total) {
    const measured = [total.inMeasured === null ? "" : fill(T.measuredIn, { n: number(total.inMeasured) }), total.outMeasured === null ? "" : fill(T.measuredOut, { n: number(total.outMeasured) })].filter(Boolean);
    return [`${fill(T.tokensIn, { n: number(total.in) })} · ${fill(T.tokensOut, { n: number(total.out) })}`, measured.length ? el("b", { text: ` · ${T.measured}: ${measured.join(", ")}` }) : ""];
  }

  function runNode({ run, turns }, many, latest, at) {
    if (!runNodes.has(run)) runNodes.set(run, newRun(run));
    const { bands, details, title, earlier } = runNodes.get(run);
    const open = many === 1 || (folds.get(run) ?? latest), from = whole.has(run) ? 0 : Math.max(0, turns.length - TURNS_SHOWN);
    earlier.firstChild.textContent = plural(from, T.earlierTurns);
    sync(bands, open ? [from ? earlier : null, ...turns.slice(from).map((turn, i) => kept(turn, turns, from + i, at))] : []);
    if (many === 1) return bands;
    title.replaceChildren(el("b", { text: fill(T.run, { run }) }), el("span", { class: "mo-question", text: questionOf(turns).slice(0, 200) }), ...[stopped(turns.at(-1).end)].filter(Boolean), budget(turns.length, turns.at(-1).max_turns));
    sync(details, [title, bands]);
    details.open = open;
    details.classList.toggle("mo-holds", !open && at.owner?.turn.run === run);
    return details;
  }

  function newRun(run) {
    const title = el("summary", {}), details = el("details", { class: "mo-run" }, title);
    title.addEventListener("click", (event) => { event.preventDefault(); folds.set(run, !details.open); draw(); });
    const earlier = el("li", { class: "mo-earlier" }, el("button", { type: "button", class: "ml-button", on: { click: () => { whole.add(run); draw(); } } }));
    return { title, details, earlier, bands: el("ol", { class: "mo-turns", "aria-label": fill(T.run, { run }) }) };
  }

  /** The band of a turn; one that did not change keeps its element, and what the reader opened in it. */
  function kept(turn, turns, i, { scale, owner, fresh }) {
    const key = `${turn.run}.${turn.index}`, known = cache.get(key);
    const print = JSON.stringify([turn, turn.figures.by_server.map(({ server }) => indexOf(server)), turn.calls.map(({ server }) => indexOf(server))]);
    const entry = known?.print === print ? known : { print, node: band(turn, turns, i) };
    const owned = owner?.turn === turn ? owner.call : null;
    entry.node.querySelector(".mo-bar").style.width = `${(100 * turn.figures.in) / scale}%`;
    entry.node.classList.toggle("mo-chosen", owned === -1);
    [...entry.node.querySelectorAll(".mo-call")].forEach((node, n) => node.classList.toggle("mo-chosen", n === owned));
    for (const node of entry.node.querySelectorAll(".mo-link")) {
      const card = node.closest(".mo-call");
      node.setAttribute("aria-current", String(card ? card.classList.contains("mo-chosen") : owned === -1));
    }
    fresh.set(key, entry);
    return entry.node;
  }

  function band(turn, turns, i) {
    const key = `${turn.run}.${turn.index}`, sent = el("div", { class: "mo-sent", hidden: true });
    const toggle = el("button", { type: "button", class: "mo-toggle", "aria-expanded": "false", text: T.contextOpen, on: { click: () => show(!openContexts.has(key)) } });
    const show = (open) => {
      openContexts[open ? "add" : "delete"](key);
      toggle.setAttribute("aria-expanded", String(open));
      sent.hidden = !open;
      if (open && !sent.firstChild) sent.append(contextTable(turns, i, indexOf));
    };
    show(openContexts.has(key));
    return el("li", { class: "mo-turn", tabindex: i ? "-1" : "0", "aria-label": sentence(turn) },
      el("div", { class: "mo-side" }, el("div", { class: "mo-name" }, el("b", { text: fill(T.turn, { turn: turnName(turn) }) })), contextBar(turn, indexOf), tokenLines(turn), toggle),
      el("div", { class: "mo-main" }, sentRow(turn), saidRow(turn), callsRow(turn), endRow(turn)), sent);
  }

  const choose = (seq) => {
    chosen = seq;
    const owner = ownerOf(allTurns(), seq), call = owner?.turn.calls[owner.call];
    announce(store.record, seq, root, call ? { server: call.server, tool: call.tool } : null);
    draw();
  };

  function row(label, content, aside) {
    return el("div", { class: "mo-row" }, el("span", { class: "mo-label", text: label }), el("div", { class: "mo-content" }, content), el("span", { class: "mo-where" }, aside));
  }

  function sentRow(turn) {
    const words = fill(T.messagesAndTools, { messages: plural(turn.messages, T.messages), tools: plural(turn.tools, T.tools) });
    return row(T.toModel, [words, el("span", { class: "ml-dim", text: ` · ${shorten(turn.model, 60)}${turn.stream ? ` · ${T.streamed}` : ""}` })],
      [el("span", { class: "ml-dim", text: duration(turn.took) }), link(turn.request, turn.reply, [T.record, T.recordOne], choose)]);
  }

  function saidRow(turn) {
    if (turn.error !== null) return row(T.modelError, [el("span", { class: "ml-bad" }, icon("error"), T.errorWord), " ", folded(turn.error, WHOLE)]);
    if (turn.reply === null) return row(T.modelSays, turn.over ? el("span", { class: "ml-bad" }, icon("error"), T.noReply) : el("span", { class: "mo-outcome" }, icon("clock"), T.waitingModel));
    return turn.says || !turn.calls.length ? row(T.modelSays, folded(turn.says || T.nothing, WHOLE), el("span", { class: "ml-dim", text: shorten(turn.finish, 40) })) : null;
  }

  function callsRow(turn) {
    if (!turn.calls.length) return null;
    const together = turn.calls.length > 1;
    return el("div", {}, row(together ? T.inParallel : T.oneCall, el("span", { class: "ml-dim", text: plural(turn.calls.length, T.callsInOneReply) }), turn.says ? null : el("span", { class: "ml-dim", text: shorten(turn.finish, 40) })),
      el("ul", { class: `mo-calls ${together ? "mo-together" : ""}`, "aria-label": plural(turn.calls.length, T.callsInOneReply) }, turn.calls.map((call) => callCard(call, indexOf, choose))));
  }

  function endRow(turn) {
    return turn.end ? row(T.stopped, stopped(turn.end)) : null;
  }

  /** Arrow keys go from band to band; `[` and `]` step through what was sent, `p` goes to the other half of a
   * pair; Enter opens what the model was sent. */
  function keys(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !event.target.closest) return;
    if (event.key === "[" || event.key === "]") { event.preventDefault(); return step(event.key === "]" ? 1 : -1, event.target); }
    if (event.key === "p" && chosen !== null) { event.preventDefault(); return choose(otherHalf(allTurns(), chosen) ?? chosen); }
    const bands = [...body.querySelectorAll(".mo-turn")].filter((node) => node.checkVisibility());
    const at = bands.indexOf(event.target.closest(".mo-turn"));
    const on = event.target.classList.contains("mo-turn");
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: on ? 0 : undefined, End: on ? bands.length - 1 : undefined }[event.key];
    if (event.target.closest(".mo-scroll")) return;
    if (to !== undefined) { bands[to]?.focus(); event.preventDefault(); }
    else if (on && event.key === "Enter") { event.target.querySelector(".mo-toggle").click(); event.preventDefault(); }
  }

  /** From where the reader is to the next link to the wire, or the one before; it is chosen and has the focus. */
  function step(by, from) {
    const links = [...body.querySelectorAll(".mo-link")].filter((node) => node.checkVisibility());
    const band = from.closest(".mo-turn"), current = links.findIndex((node) => node.getAttribute("aria-current") === "true");
    const now = links.includes(from) ? links.indexOf(from) : !band || band.contains(links[current] ?? null) ? current : -1;
    const first = links.findIndex((node) => band?.contains(node));
    const to = now >= 0 ? now + by : first >= 0 ? (by > 0 ? first : first - 1) : by > 0 ? 0 : links.length - 1;
    if (!links[to]) return;
    links[to].click();
    links[to].focus();
  }

  onAnnounced(() => store.record, root, signal, (seq) => { chosen = seq; revealing = true; wish(); });
  const wish = drawnWhenSeen(root, signal, draw);
  signal.addEventListener("abort", store.subscribe(wish));
  draw();
}

/** A turn as a screen reader says it. */
function sentence(turn) {
  const words = fill(T.messagesAndTools, { messages: plural(turn.messages, T.messages), tools: plural(turn.tools, T.tools) });
  return `${fill(T.turn, { turn: turnName(turn) })}: ${words}, ${fill(T.tokensIn, { n: number(turn.figures.in) })}, ${plural(turn.calls.length, T.calls)}`;
}

export default recordWidget(createStore, mount);
