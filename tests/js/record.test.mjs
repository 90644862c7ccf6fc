// Pairing, orphans, interleaving, ids, filters: the record in the page.

import assert from "node:assert/strict";
import test from "node:test";
import { passing, parseQuery } from "../../mcp_lessons/views/filter.js";
import { activity, axis, barsOn, ends, gone, headWidths, lanesOf, placeLanes } from "../../mcp_lessons/views/layout.js";
import { KEPT, Store, isWrong, tally } from "../../mcp_lessons/views/record.js";
import { ViewState } from "../../mcp_lessons/views/state.js";

/** A store with these lines; each is [connection, direction, message or text, server]. */
function store(...lines) {
  const made = new Store();
  made.reset({ rows: lines.map((line, i) => row(i + 1, ...line)), servers: [] });
  return made;
}

function row(seq, connection, direction, said, server = "weather") {
  if (said.kind) return { seq, t: seq / 10, connection, server, direction, ...said };
  const raw = typeof said === "string" ? said : JSON.stringify({ jsonrpc: "2.0", ...said });
  const kind = typeof said === "string" ? "noise" : "method" in said ? ("id" in said ? "request" : "notification") : "reply";
  return { seq, t: seq / 10, connection, server, direction, kind, raw };
}

const ask = (id, method = "tools/call", params) => ({ id, method, params });
const answer = (id, result = {}) => ({ id, result });

test("interleaved replies find their requests by connection, direction and id", () => {
  const { entries } = store([1, "sent", ask(1)], [2, "sent", ask(1), "maps"], [1, "received", ask(1, "roots/list")], [2, "received", answer(1), "maps"],
    [1, "sent", answer(1)], [1, "received", answer(1)]);
  assert.deepEqual(entries.map((entry) => entry.partner?.seq), [6, 4, 5, 2, 3, 1]);
  assert.ok(Math.abs(entries[0].took - 0.5) < 1e-9);
  assert.equal(tally(entries).waiting, 0);
});

test("a reply that nobody asked for is an orphan, and waits for nothing", () => {
  const { entries } = store([1, "received", answer(7)]);
  assert.deepEqual(entries[0].flags, ["orphan"]);
  assert.equal(entries[0].waiting, false);
});

test("an id of another type, or none, is taken where only one request can be meant, and marked", () => {
  const { entries } = store([1, "sent", ask(1)], [1, "received", answer("1")], [1, "sent", ask(2)], [1, "received", answer(null)], [1, "received", answer("2")]);
  assert.deepEqual(entries.map((entry) => entry.flags), [[], ["id-type"], [], ["null-id"], ["id-type", "second-reply"]]);
  assert.deepEqual(entries.map((entry) => entry.partner?.seq), [2, 1, 4, 3, undefined]);
  const two = store([1, "sent", ask(1)], [1, "sent", ask(2)], [1, "received", answer(null)]);
  assert.deepEqual(two.entries.map((entry) => entry.waiting), [true, true, false]);
});

test("an error that is null beside a result is none", () => {
  const { entries } = store([1, "sent", ask(1)], [1, "received", { id: 1, result: {}, error: null }], [1, "sent", ask(2)], [1, "received", { id: 2, error: null }]);
  assert.deepEqual(entries.map((entry) => entry.flags), [[], [], [], ["protocol-error"]]);
});

test("a second reply, a repeated id and a reply without id are marked", () => {
  const { entries } = store([1, "sent", ask(1)], [1, "received", answer(1)], [1, "received", answer(1)], [1, "sent", ask(1)], [1, "received", { id: null, error: { code: -32700, message: "?" } }]);
  assert.deepEqual(entries.map((entry) => entry.flags), [[], [], ["second-reply"], ["repeated-id"], ["protocol-error", "null-id"]]);
});

test("a notification never waits", () => {
  const { entries } = store([1, "sent", { method: "notifications/initialized" }]);
  assert.equal(entries[0].waiting, false);
  assert.equal(entries[0].role, "");
});

test("a cancelled request waits no longer, and its reply is late", () => {
  const { entries } = store([1, "sent", ask(1)], [1, "sent", { method: "notifications/cancelled", params: { requestId: 1 } }], [1, "received", answer(1)]);
  assert.equal(entries[0].ended, "cancelled");
  assert.deepEqual(entries[2].flags, ["late"]);
});

test("an exit ends what waits on its connection alone", () => {
  const exit = { kind: "process", raw: "exited", body: { event: "exited", status: 7 } };
  const { entries } = store([1, "sent", ask(1)], [2, "sent", ask(1), "maps"], [1, "", exit]);
  assert.deepEqual(entries.map((entry) => entry.waiting), [false, true, false]);
  assert.equal(entries[0].ended, "exited");
  assert.ok(isWrong(entries[0]) && isWrong(entries[2]));
});

test("tool errors and protocol errors are counted apart", () => {
  const { entries } = store([1, "sent", ask(1)], [1, "received", answer(1, { isError: true })], [1, "sent", ask(2)], [1, "received", { id: 2, error: { code: -32602, message: "no" } }]);
  const { toolErrors, protocolErrors } = tally(entries);
  assert.deepEqual([toolErrors, protocolErrors], [1, 1]);
});

test("a server that says __proto__ or constructor changes nothing", () => {
  const { entries } = store([1, "sent", '{"jsonrpc":"2.0","id":"__proto__","method":"constructor","__proto__":{"polluted":1}}'], [1, "received", answer("constructor", { __proto__: null })]);
  assert.equal({}.polluted, undefined);
  assert.equal(entries.length, 2);
});

test("the oldest go beyond ten thousand, and are counted", () => {
  const made = store(...Array.from({ length: KEPT + 5 }, (_, i) => [1, "sent", ask(i)]));
  assert.equal(made.entries.length, KEPT);
  assert.equal(made.dropped, 5);
  assert.equal(made.entries[0].seq, 6);
  made.add({ rows: [row(KEPT + 6, 1, "received", answer(0))], servers: [] });
  assert.deepEqual(made.entries.at(-1).flags, ["older"]);
});

test("search words: fields, quotes, numbers of messages", () => {
  assert.deepEqual(parseQuery('id:2 METHOD:tools/call "two words" #18'), [
    { field: "id", value: "2" }, { field: "method", value: "tools/call" }, { field: "text", value: "two words" }, { field: "seq", value: "18" }]);
});

test("filters: method takes both halves of a pair, id any type, errors only keeps the request", () => {
  const { entries } = store([1, "sent", ask(1, "tools/list")], [1, "received", answer(1)], [1, "sent", ask("2")], [1, "received", answer("2", { isError: true })], [1, "received", "Hello banner"]);
  const seqs = (options) => passing(entries, options).map((entry) => entry.seq);
  assert.deepEqual(seqs({ query: "method:tools/list" }), [1, 2]);
  assert.deepEqual(seqs({ query: "id:2" }), [3, 4]);
  assert.deepEqual(seqs({ query: "BANNER" }), [5]);
  assert.deepEqual(seqs({ errorsOnly: true }), [3, 4, 5]);
  assert.deepEqual(seqs({ hiddenServers: new Set(["weather"]) }), []);
  assert.deepEqual(seqs({ hiddenChips: new Set(["calls"]) }), [5]);
});

test("bars stand on the side that was asked, from the request to its reply", () => {
  const made = store([1, "sent", ask(1)], [1, "received", ask(9, "roots/list")], [1, "sent", answer(9)], [1, "received", answer(1)]);
  const rows = activity(made.entries);
  assert.deepEqual(rows.map((one) => barsOn("server weather", one)), [[0, 1], [1, 1], [1, 1], [1, 0]]);
  assert.deepEqual(rows.map((one) => barsOn("client", one)), [[0, 0], [0, 1], [1, 0], [0, 0]]);
});

test("a bar whose other end is filtered away is not drawn", () => {
  const made = store([1, "sent", ask(1)], [1, "received", answer(1)]);
  assert.deepEqual(activity(made.entries.slice(0, 1)).map((one) => barsOn("server weather", one)), [[0, 0]]);
});

test("the model stands left of the client, servers right, in order of appearance", () => {
  const model = { kind: "model", raw: '{"turn":1}' };
  const made = store([1, "sent", ask(1)], [2, "sent", model, "oracle"], [3, "sent", ask(1), "maps"]);
  assert.deepEqual(lanesOf(made).map(({ key }) => key), ["model oracle", "client", "server weather", "server maps"]);
  assert.deepEqual(ends(made.entries[1]), ["client", "model oracle"]);
  const { x } = placeLanes(lanesOf(made), 800);
  assert.ok(x["model oracle"] < x.client && x.client < x["server weather"]);
});

test("heads leave room to their neighbours: a short name gives it to a long one", () => {
  const lanes = ["m".repeat(30), "", "a", "b".repeat(30), "c".repeat(30)].map((name, i) => ({ key: `k${i}`, kind: i === 1 ? "client" : i ? "server" : "model", name }));
  for (const width of [300, 640, 900, 2000]) {
    const placed = placeLanes(lanes, width);
    const widths = headWidths(lanes, placed);
    const ends = lanes.flatMap(({ key }, i) => [placed.x[key] - widths[i] / 2, placed.x[key] + widths[i] / 2]);
    assert.deepEqual(ends, [...ends].sort((a, b) => a - b));
    assert.ok(ends[0] >= 0 && ends.at(-1) <= placed.width);
    assert.ok(widths[0] > widths[1]);
  }
});

test("a lifeline ends when the process exits, and begins again when it is started", () => {
  const process = (body) => ({ kind: "process", raw: "", body });
  const made = store([1, "", process({ event: "spawned" })], [1, "", process({ event: "exited", status: 0 })], [2, "", process({ event: "spawned" })]);
  assert.deepEqual(gone(made.entries).map((dead) => dead.has("server weather")), [false, true, false]);
});

test("the axis of the waterfall keeps the order and shrinks what is idle", () => {
  const { place, breaks } = axis([[0, 1], [100, 101]]);
  assert.equal(breaks.length, 1);
  assert.equal(place(0), 0);
  assert.ok(Math.abs(place(101) - 1) < 1e-9);
  assert.ok(place(1) > 0.4 && place(100) < 0.6 && place(1) <= place(100));
});

test("stepping walks what passes; the end of it is live again; hidden messages stay hidden", () => {
  const made = store([1, "sent", ask(1)], [1, "received", answer(1)], [1, "sent", ask(2)]);
  const state = new ViewState(made);
  state.stepTo(1);
  assert.equal(state.at, 1);
  state.setHideLater(true);
  assert.deepEqual(state.visible.map((entry) => entry.seq), [1]);
  assert.equal(state.revealed().answer, null);
  assert.equal(state.revealed().hidden, true);
  state.stepTo(2);
  assert.equal(state.chosen.seq, 2);
  state.setHideLater(false);
  state.stepTo(3);
  assert.equal(state.at, null);
});
