// What stands on a row, what explains it, what is exported.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { grouped, shorten, visible } from "../../mcp_lessons/views/common.js";
import { explain } from "../../mcp_lessons/views/explain.js";
import { mermaidText, redact, toJsonl, toMermaid } from "../../mcp_lessons/views/exporting.js";
import { ends } from "../../mcp_lessons/views/layout.js";
import { Link } from "../../mcp_lessons/views/page.js";
import { asPython, literal } from "../../mcp_lessons/views/python.js";
import { Store } from "../../mcp_lessons/views/record.js";
import { duration, sentence, words } from "../../mcp_lessons/views/words.js";

const E = JSON.parse(readFileSync(new URL("../../mcp_lessons/views/text/explain.json", import.meta.url)));

function entries(...rows) {
  const store = new Store();
  store.reset({ servers: [], rows: rows.map((one, i) => ({ seq: i + 1, t: i, connection: 1, server: "files", direction: "sent", ...one, raw: one.raw ?? JSON.stringify(one.body) })) });
  return store.entries;
}

const request = (method, params, id = 1) => ({ kind: "request", direction: "sent", body: { jsonrpc: "2.0", id, method, params } });
const reply = (result, id = 1) => ({ kind: "reply", direction: "received", body: { jsonrpc: "2.0", id, result } });

test("a call reads as code, its reply as text", () => {
  const [asked, answered] = entries(request("tools/call", { name: "add", arguments: { a: 19, b: 23 } }), reply({ content: [{ type: "text", text: "42" }] }));
  assert.equal(words(asked).text, "add(a=19, b=23)");
  assert.deepEqual([words(answered).word, words(answered).text], ["result", "42"]);
  assert.equal(sentence(answered, ends(answered)), "Message 2, 1.000 seconds: reply from files to Client, id 1 result 42, took 1.00 s");
});

const BOTH_ERAS = {
  request: `initialize ping tools/list tools/call resources/list resources/templates/list resources/read resources/subscribe
    resources/unsubscribe prompts/list prompts/get completion/complete logging/setLevel roots/list sampling/createMessage
    elicitation/create tasks/get tasks/result tasks/list tasks/cancel server/discover subscriptions/listen`.split(/\s+/),
  notification: `initialized cancelled progress message tools/list_changed resources/list_changed resources/updated prompts/list_changed
    roots/list_changed elicitation/complete tasks/status subscriptions/acknowledged`.split(/\s+/).map((name) => `notifications/${name}`),
  errors: ["-32700", "-32600", "-32601", "-32602", "-32603", "-32002", "-32020", "-32021", "-32022", "-32042", "-32800"],
  process: ["spawned", "stdin closed", "stdout closed", "signalled", "exited"],
};

test("every message of both eras has a sentence of its own: requests, replies, notifications, errors", () => {
  for (const [kind, names] of Object.entries(BOTH_ERAS)) {
    const table = E[kind];
    assert.deepEqual(names.filter((name) => !Object.hasOwn(table, name)), [], kind);
    assert.equal(new Set(names.map((name) => table[name])).size, names.length, kind);
  }
  assert.deepEqual(BOTH_ERAS.request.filter((name) => !name.startsWith("tasks/") && !Object.hasOwn(E.reply, name)), []);
});

test("the modern era is explained: its _meta, its results, its subscriptions", () => {
  const say = (...rows) => { const made = entries(...rows); const last = made.at(-1); return explain(last, ends(last)).join(" "); };
  const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
  const modern = (method, params = {}) => request(method, { ...params, _meta: meta });
  assert.match(say(modern("tools/list")), /no memory of a handshake/);
  assert.match(say(modern("tools/call"), reply({ resultType: "input_required", inputRequests: { name: {} }, requestState: "s" })), /needs 1 thing first/);
  assert.match(say(modern("tools/call", { name: "x", inputResponses: {} })), /a new id/);
  assert.match(say(modern("tools/list"), reply({ resultType: "complete", tools: [], ttlMs: 5000, cacheScope: "public" })), /5000 ms \(ttlMs; cacheScope public\)/);
  assert.match(say(modern("tools/list"), reply({ resultType: "later", tools: [] })), /resultType is later/);
  assert.match(say(modern("server/discover"), reply({ supportedVersions: ["2026-07-28"] })), /needs no handshake/);
  const wrong = (code) => ({ kind: "reply", direction: "received", body: { jsonrpc: "2.0", id: 1, error: { code, message: "no" } } });
  assert.match(say(modern("server/discover"), wrong(-32601)), /a legacy server/);
  assert.doesNotMatch(say(modern("server/discover"), wrong(-32022)), /a legacy server/);
  assert.match(say(modern("tools/call"), wrong(-32050)), /server's own \(-32050\)/);
  const belongs = { _meta: { "io.modelcontextprotocol/subscriptionId": 7 } };
  assert.match(say({ kind: "notification", direction: "received", body: { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: belongs } }), /the subscription 7/);
});

test("every method of the protocol has its own sentence, with no hole left in it", () => {
  for (const [table, kind] of [[E.request, "request"], [E.notification, "notification"]]) {
    for (const method of Object.keys(table)) {
      const [entry] = entries({ kind, direction: "sent", body: { jsonrpc: "2.0", id: kind === "request" ? 1 : undefined, method, params: { requestId: 1, uri: "file:///x", name: "x" } } });
      for (const said of explain(entry, ends(entry))) assert.doesNotMatch(said.replace("file:///{path}", ""), /\{\w+\}|undefined/, method);
    }
  }
});

test("each fault is explained in its own words", () => {
  const say = (...rows) => { const made = entries(...rows); const last = made.at(-1); return explain(last, ends(last)).join(" "); };
  assert.match(say({ kind: "noise", direction: "received", raw: "banner" }), /only messages belong/);
  assert.match(say({ kind: "noise", direction: "received", raw: "[1]" }), /2025-06-18 removed/);
  assert.match(say({ kind: "noise", direction: "received", raw: "Content-Length: 12" }), /language servers/);
  assert.match(say(reply({}, 9)), /an orphan/);
  assert.match(say(request("ping"), reply({}), reply({})), /exactly one reply/);
  assert.match(say(request("ping"), request("ping")), /never be used twice/);
  assert.match(say({ kind: "process", direction: "", raw: "", body: { event: "exited", status: 7 } }), /status 7/);
  assert.match(say({ kind: "process", direction: "", raw: "", body: { event: "exited", status: -9 } }), /signal 9/);
  assert.match(say(request("tools/list"), { kind: "reply", direction: "received", body: { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "no" } } }), /-32601|not known here/);
  assert.match(say(request("initialize", { protocolVersion: "2025-11-25" }), reply({ protocolVersion: "2031-01-01" })), /none of the known/);
  assert.match(say(request("tools/call", { name: "x" }), reply({ isError: true })), /not a protocol error/);
  assert.match(say({ kind: "stderr", direction: "", raw: "a\u200bb" }), /not seen/);
  assert.match(say({ kind: "stderr", direction: "", raw: "caf\ufffd" }), /no UTF-8/);
  const page = (id) => request("tools/list", { cursor: "more" }, id);
  assert.match(say(page(1), page(2)), /go in a circle/);
  assert.match(say(request("tools/list"), reply({ tools: [{ name: "a", inputSchema: {} }, { name: 1 }, null, { name: "a", inputSchema: {} }] })), /2 entries .* The name a stands more than once/);
  assert.match(say(request("tools/call", { name: "x" }), reply({})), /no content/);
  for (const [raw, words] of [["{'jsonrpc': '2.0'}", /how Python prints/], ['{"jsonrpc":"2.0","id":1,"res', /part of a message/], ["  }", /part of a message/],
    ['\u001b[32m{"jsonrpc":"2.0"}\u001b[0m', /colour a terminal/], ['Loading ... {"jsonrpc":"2.0","id":1}', /stands before it/], ['{\0"\0j\0', /UTF-16/],
    ["[".repeat(2000), /too deep/], ["null", /no JSON-RPC message/]]) assert.match(say({ kind: "noise", direction: "received", raw, body: null }), words, raw);
  assert.match(say({ kind: "noise", direction: "received", raw: "{}{}", body: [{}, {}] }), /on one line/);
  assert.match(say({ kind: "noise", direction: "received", body: { jsonrpc: "2.0", id: true, result: {} } }), /neither a text nor a number/);
  const result = (value, params) => say(request("tools/call", { name: "x", ...params }), reply(value));
  assert.match(result({ content: "hi" }), /no list of blocks/);
  assert.match(result({ content: [{ type: "image", data: "" }] }), /no text \(image\)/);
  assert.match(result({ content: [], isError: "false" }), /isError is "false"/);
  assert.match(result({ content: [], structuredContent: {} }), /structuredContent alone/);
  assert.match(result({ content: [], structuredContent: [] }), /is no object/);
  assert.match(result("hi"), /The result is no object/);
  const listing = [request("tools/list", {}, 7), reply({ tools: [{ name: "x", inputSchema: {}, outputSchema: { type: "object", required: ["n"], properties: { n: { type: "integer" } } } }] }, 7)];
  const declared = (value) => say(...listing, request("tools/call", { name: "x" }), reply({ content: [{ type: "text", text: "" }], ...value }));
  assert.match(declared({}), /yet there is no structuredContent/);
  assert.match(declared({ structuredContent: { n: "1" } }), /does not fit/);
  assert.doesNotMatch(declared({ structuredContent: { n: 1 } }), /does not fit|yet there is no/);
  const listed = (value) => say(request("tools/list"), reply(value));
  assert.match(listed({}), /no list of tools/);
  assert.match(listed({ tools: [], nextCursor: null }), /nextCursor is null/);
  assert.match(listed({ tools: [], nextCursor: 1 }), /no text/);
  assert.match(listed({ tools: [{ name: "files.read", inputSchema: {} }] }), /files\.read is none that/);
  const greeted = (value) => say(request("initialize", { protocolVersion: "2025-11-25" }), reply(value));
  assert.match(greeted({}), /names no version.*capabilities, serverInfo/);
  assert.match(greeted({ protocolVersion: "2024-11-05" }), /counters with 2024-11-05/);
  assert.match(say(request("ping"), { kind: "reply", direction: "received", body: { jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "" } } }), /a result and an error/);
  assert.match(say(request("ping"), { kind: "reply", direction: "received", body: { jsonrpc: "2.0", id: 1, error: "no" } }), /not made as it must be/);
  assert.match(say(request("ping", {}, 1), request("ping", {}, 2), reply({}, 2)), /overtakes an earlier request \(#1\)/);
  assert.match(say(request("ping"), { ...reply({}, "1") }), /Here it is taken/);
  assert.match(say(request("ping"), reply({}, null)), /Only one request waits/);
  assert.match(say(request("ping"), { kind: "reply", direction: "received", raw: '{"jsonrpc":"2.0","id":1.0,"result":{}}' }), /decimal point/);
  const fromServer = (method, params = {}) => ({ kind: "request", direction: "received", body: { jsonrpc: "2.0", id: 1, method, params } });
  assert.match(say(fromServer("tools/list")), /Only a client may ask/);
  assert.match(say(request("ping"), fromServer("ping")), /Its id \(1\) is that of a request which the client waits for/);
  const told = (method, params) => say({ kind: "notification", direction: "received", body: { jsonrpc: "2.0", method, params } });
  assert.match(told("notifications/progress", { progressToken: 9, progress: "half" }), /nobody knows which call.*no number/);
  assert.match(told("notifications/cancelled", { requestId: 9 }), /nothing to cancel/);
  assert.match(told("", {}), /method is empty/);
  assert.match(say({ ...reply({ a: "\ud83d" }), raw: '{"jsonrpc":"2.0","id":1,"result":{"a":"\\ud83d"}}' }), /not seen/);
  assert.match(say({ kind: "http", direction: "", raw: "", body: { status: 404 } }), /begin anew/);
});

test("hidden characters are shown by their number, also halves of characters", () => {
  assert.equal(shorten("\ufeff a \n b ", 9), "\ufeff a b");
  assert.equal(shorten("ab\u{1f600}cde", 4), "ab…");
  assert.equal(visible("a\u200b\u202e\ud800\u{1f600}"), "a⟨U+200B⟩⟨U+202E⟩⟨U+D800⟩\u{1f600}");
});

test("copied Python is a whole cell when the command is known, and Python's own words", () => {
  const spawned = { kind: "process", direction: "", raw: "", body: { event: "spawned", command: ["python", "-m", "files"] } };
  const made = entries(spawned, request("tools/call", { name: "search", arguments: { deep: true, at: null, q: "a\"\\\u200b\n" }, _meta: { progressToken: 3 } }));
  const code = asPython(made[1], made);
  assert.match(code, /with Client\(StdioTransport\(\["python", "-m", "files"\]\), name="files"\) as client:/);
  assert.match(code, /\{"deep": True, "at": None, "q": "a\\"\\\\\\u200b\\n"\}/);
  assert.doesNotMatch(code, /progressToken/);
  assert.equal(literal("\u{1f600}"), '"\\U0001f600"');
});

test("secrets are left out of both exports, and the rest stays as it was", () => {
  const [entry] = entries(request("tools/call", { name: "x", arguments: { api_key: "sk-abcdefgh12", note: "Bearer abc.def" }, _meta: { progressToken: "7" } }));
  const line = toJsonl([entry]);
  assert.doesNotMatch(line, /sk-abcdefgh12|abc\.def/);
  assert.equal(JSON.parse(line).body.params._meta.progressToken, "7");
  assert.deepEqual(redact({ maxTokens: 5, nextCursor: "abc", password: "" }), { maxTokens: 5, nextCursor: "abc", password: "" });
});

test("Mermaid gets no sign that means something to it", () => {
  assert.equal(mermaidText('a;b<img>#c: "end"\n%%'), "a#59;b#60;img#62;#35;c#58; #34;#101;nd#34; #37;#37;");
  const store = new Store();
  store.reset({ servers: ["files"], rows: [{ seq: 1, t: 0, connection: 1, server: "files", direction: "sent", kind: "request", raw: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }] });
  assert.equal(toMermaid(store.entries, store), "sequenceDiagram\n    participant p0 as Client\n    participant p1 as files\n    p0->>p1: [1] tools/list\n");
});

test("numbers are grouped by thousands", () => {
  assert.deepEqual([0, 999, 1000, 12345, 1234567].map(grouped), ["0", "999", "1,000", "12,345", "1,234,567"]);
});

test("durations are told in units that fit", () => {
  assert.deepEqual([0.0034, 0.212, 1.2, 75].map(duration), ["3.4 ms", "212 ms", "1.20 s", "1 min 15 s"]);
});

test("the link asks again once when a message is missing, and takes nothing twice", () => {
  const seen = [];
  let asked = 0;
  const link = new Link({ reset: (m) => seen.push(["reset", m.rows.length]), add: (m) => seen.push(["add", m.rows.length]) }, () => { asked += 1; });
  const message = (op, after, upto, n) => ({ op, after, upto, rows: JSON.stringify(Array(n).fill(0)), servers: "[]" });
  link.start(JSON.stringify([message("reset", -1, 2, 2), message("more", 2, 2, 1)]));
  link.take(message("add", 2, 3, 1));
  link.take(message("add", 2, 3, 1));
  link.take(message("add", 5, 6, 1));
  link.take(message("add", 6, 7, 1));
  link.take(message("reset", -1, 7, 7));
  link.take(message("add", 7, 8, 1));
  assert.deepEqual(seen, [["reset", 2], ["add", 1], ["add", 1], ["reset", 7], ["add", 1]]);
  assert.equal(asked, 1);
});

test("messages of any shape are taken, told, explained and exported", () => {
  const odd = [null, 1, "text", [], [1, [2]], {}, true, { name: null }, { tools: 1, content: 2, messages: 3, message: 4, schemas: 5, warnings: 6 }];
  for (const part of odd) {
    const made = entries(...["process", "http", "tools", "model"].flatMap((kind) => ["sent", "received", ""].map((direction) => ({ kind, direction, body: part }))),
      request("tools/call", part), reply(part), request("initialize", { clientInfo: part }), reply({ content: part, tools: part, serverInfo: part, contents: part }),
      { kind: "reply", direction: "received", body: { jsonrpc: "2.0", id: 1, error: part } }, { kind: "notification", direction: "sent", body: { jsonrpc: "2.0", method: "notifications/cancelled", params: part } });
    const store = new Store();
    for (const entry of made) {
      assert.equal(typeof sentence(entry, ends(entry)), "string");
      assert.ok(explain(entry, ends(entry)).every((said) => typeof said === "string"));
      asPython(entry, made);
    }
    JSON.parse(toJsonl(made).split("\n")[0]);
    toMermaid(made, store);
  }
});
