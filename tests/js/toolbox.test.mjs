// The arithmetic and the words of ToolboxView.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  changed, csv, differs, grouped, growth, keptBack, percentages, prefixOf, shareOf, twinPath, windowName,
} from "../../mcp_lessons/views/_toolbox_layout.js";
import { stateStore } from "../../mcp_lessons/views/_toolbox_store.js";
import { badgeWords, causeWords, findingWords, stepSentence } from "../../mcp_lessons/views/_toolbox_words.js";

const row = (name, more = {}) => ({ name, server: "files", tool: name, description: "", tokens: 10, split: { name: 1, description: 2, schema: 3, wrapping: 4 }, ...more });

test("percentages are whole and add up to a hundred", () => {
  assert.deepEqual(percentages([1, 1, 1]), [34, 33, 33]);
  assert.deepEqual(percentages([103, 357, 43]), [20, 71, 9]);
  assert.deepEqual(percentages([0, 0]), [0, 0]);
  assert.deepEqual(percentages([]), []);
});

test("a small share is said to be small, and never to be nothing", () => {
  assert.equal(shareOf(459, 128000), "0.4");
  assert.equal(shareOf(28000, 128000), "22");
  assert.equal(shareOf(50, 128000), "");
  assert.equal(shareOf(0, 128000), "0.0");
});

test("a window is named as one says it", () => {
  assert.deepEqual([8000, 8192, 128000, 1000000, 512].map(windowName), ["8k", "8.2k", "128k", "1M", "512"]);
});

test("the columns of the growth are on one scale, and the oldest are counted when they are left out", () => {
  const steps = [50, 100, 200].map((tokens) => ({ tokens, by_server: [{ server: "a", tokens }] }));
  const { columns, left } = growth(steps, 2);
  assert.deepEqual(columns.map(({ parts }) => parts[0].height), [50, 100]);
  assert.equal(left, 1);
});

test("rows are grouped by server in the order of the list, and every word must be there", () => {
  const rows = [row("read", { description: "Read a file" }), row("route", { server: "maps" }), row("write", { description: "Write a FILE" })];
  assert.deepEqual(grouped(rows, "").map(({ server, rows: members }) => [server, members.length]), [["files", 2], ["maps", 1]]);
  assert.deepEqual(grouped(rows, "file wri").map(({ rows: members }) => members.map((one) => one.name)), [["write"]]);
  assert.deepEqual(grouped(rows, "nothing"), []);
});

test("a server called __proto__ is a server", () => {
  assert.deepEqual(grouped([row("x", { server: "__proto__" })], "").map(({ server }) => server), ["__proto__"]);
});

test("the prefix is told from the name only where it stands there", () => {
  assert.equal(prefixOf(row("files__read")), "files__");
  assert.equal(prefixOf(row("shout", { server: "" })), "");
  assert.equal(prefixOf(row("other_name")), "");
  assert.equal(prefixOf(row("files__")), "");
});

test("what the model does not get is named", () => {
  assert.deepEqual(keptBack({ name: "a", title: "A", inputSchema: {}, outputSchema: {} }), ["title", "outputSchema"]);
  assert.deepEqual(keptBack(null), []);
});

test("a value that differs from what was advertised is marked, and the wrapping is not", () => {
  const advertised = { name: "read", description: "x", inputSchema: { properties: { a: { type: "string" } } } };
  const received = { type: "function", function: { name: "files__read", description: "x", parameters: { properties: { a: { type: "integer" } } } } };
  assert.equal(differs(received, advertised, ["type"]), false);
  assert.equal(differs(received, advertised, ["function", "name"]), true);
  assert.equal(differs(received, advertised, ["function", "description"]), false);
  assert.equal(differs(received, advertised, ["function", "parameters", "properties", "a", "type"]), true);
  assert.deepEqual(twinPath(["function", "parameters", "a"]), ["inputSchema", "a"]);
});

test("what an entry had before and has no more is marked, and nothing else", () => {
  const before = { function: { name: "a", description: "old", parameters: { type: "object" } } };
  const now = { function: { name: "a", description: "new", parameters: { type: "object" } } };
  assert.deepEqual([["function", "description"], ["function", "name"]].map((path) => changed(before, now, path)), [true, false]);
  assert.equal(changed(before, null, ["function", "name"]), true);
});

test("the CSV quotes what a spreadsheet would take for a formula", () => {
  const text = csv([row('=HYPERLINK("x")'), row("gone", { removed: true })]);
  const [head, first, end] = text.split("\n");
  assert.match(head, /^server,tool,name,tokens_estimated/);
  assert.equal(first, `files,"'=HYPERLINK(""x"")","'=HYPERLINK(""x"")",10,1,2,3,4`);
  assert.equal(end, "");
});

test("causes, badges and warnings are put in words", () => {
  assert.equal(causeWords({ kind: "said", text: "weather joins" }), "weather joins");
  assert.equal(causeWords({ kind: "changed", server: "weather" }), "weather: list_changed");
  assert.equal(causeWords({ kind: "turn", turn: 2, run: 1 }), "turn 2");
  assert.equal(causeWords({ kind: "turn", turn: 2, run: 3 }), "turn 2, run 3");
  assert.equal(badgeWords({ kind: "new", since: { kind: "turn", turn: 2, run: 1 } }), "new since turn 2");
  assert.equal(badgeWords({ kind: "changed", fields: ["description", "inputSchema"] }), "changed: description, parameters");
  assert.equal(findingWords({ kind: "name-cut", was: 71, most: 64 }).short, "name cut (71 characters, at most 64)");
});

test("a step is said in one sentence", () => {
  const step = { cause: { kind: "said", text: "files joins" }, tools: 7, tokens: 1459, added: 2, changed: 0, removed: 1 };
  assert.equal(stepSentence(step), "files joins: 7 tools, ≈1,459 tokens, 2 new, 1 removed");
});

test("a store keeps the newest state, and begins anew on a reset", () => {
  const store = stateStore((before, rows) => [...(before ?? []), ...rows]);
  let heard = 0;
  const end = store.subscribe(() => { heard += 1; });
  store.reset({ rows: [1], servers: ["a"], record: "r", dropped: 0 });
  store.add({ rows: [2], servers: ["a", "b"], record: "r", dropped: 0 });
  assert.deepEqual([store.value, store.servers, store.record, heard], [[1, 2], ["a", "b"], "r", 2]);
  end();
  store.reset({ rows: [3], servers: [], record: "r", dropped: 0 });
  assert.deepEqual([store.value, heard], [[3], 2]);
});
