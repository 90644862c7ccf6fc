// The arithmetic of LoopView: runs, bars on one scale, sums, contexts, the transcript.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  contextOf, merged, otherHalf, ownerOf, partsOf, questionOf, runsOf, scaleOf, sums,
} from "../../mcp_lessons/views/_loop_layout.js";
import { transcript } from "../../mcp_lessons/views/_loop_transcript.js";

const message = (role, text, part = "new") => ({ role, text, part, calls: [], tokens: 5 });
const call = (more = {}) => ({ name: "calc__add", server: "calc", tool: "add", text: "calc__add(a=1)", arguments: '{"a":1}', valid: true, outcome: "ok", result: "1", code: null, request: 12, reply: 14, ...more });
const turn = (index, more = {}) => ({
  run: 1, index, turn: index + 1, max_turns: 8, model: "m", messages: 2, tools: 1, kept: 0, fresh: [], calls: [], says: "", error: null,
  figures: { in: 100, out: 10, system: 20, tools: 50, history: 0, new: 30, by_server: [{ server: "calc", tokens: 50 }] },
  used: null, request: 10, reply: 11, over: true, end: null, ...more,
});

test("rows take the place of older rows of the same turn, and turns come in order", () => {
  let turns = merged(null, [turn(1), turn(0), turn(0, { run: 2 })]);
  turns = merged(turns, [turn(0, { says: "later" })]);
  assert.deepEqual(runsOf(turns).map(({ run, turns: members }) => [run, members.map((one) => one.index)]), [[1, [0, 1]], [2, [0]]]);
  assert.equal(runsOf(turns)[0].turns[0].says, "later");
});

test("a bar has the parts in order, tools divided by server, and nothing that is empty", () => {
  const parts = partsOf(turn(0));
  assert.deepEqual(parts.map(({ part, tokens }) => [part, tokens]), [["system", 20], ["tools", 50], ["new", 30]]);
  assert.equal(parts.reduce((sum, { tokens }) => sum + tokens, 0), turn(0).figures.in);
});

test("all bars are on the scale of the widest", () => {
  assert.equal(scaleOf([turn(0), turn(1, { figures: { ...turn(1).figures, in: 919 } })]), 919);
  assert.equal(scaleOf([]), 1);
});

test("a sum counts as measured only where every turn was", () => {
  const measured = { used: { in: 90, out: 9 } };
  assert.equal(sums([turn(0, measured), turn(1, measured)]).inMeasured, 180);
  assert.equal(sums([turn(0, measured), turn(1)]).inMeasured, null);
  assert.equal(sums([turn(0, measured), turn(1, { reply: null })]).inMeasured, 90);
  assert.equal(sums([turn(0)]).in, 100);
});

test("tool errors and protocol errors are counted apart", () => {
  const counted = sums([turn(0, { calls: [call({ outcome: "tool-error" }), call({ outcome: "protocol-error" }), call({ outcome: "unknown" })] })]);
  assert.deepEqual([counted.calls, counted.toolErrors, counted.protocolErrors], [3, 1, 1]);
});

test("the context of a turn is what it kept and what was new", () => {
  const turns = [
    turn(0, { fresh: [message("system", "s", "system"), message("user", "q")] }),
    turn(1, { kept: 2, fresh: [message("assistant", "a"), message("tool", "t")] }),
    turn(2, { kept: 1, fresh: [message("user", "a summary")] }),
  ];
  const shown = (index) => contextOf(turns, index).map(({ part, text }) => `${part}:${text}`);
  assert.deepEqual(shown(0), ["system:s", "new:q"]);
  assert.deepEqual(shown(1), ["system:s", "history:q", "new:a", "new:t"]);
  assert.deepEqual(shown(2), ["system:s", "new:a summary"]);
});

test("a message of the wire belongs to its call, and a message of the model to its turn", () => {
  const turns = [turn(0, { calls: [call(), call({ request: 13, reply: 19 })] })];
  assert.deepEqual([ownerOf(turns, 19).call, ownerOf(turns, 11).call, ownerOf(turns, 3)], [1, -1, null]);
});

test("the other half of a request is its reply, and back", () => {
  const turns = [turn(0, { calls: [call(), call({ request: 13, reply: null })] })];
  assert.deepEqual([12, 14, 10, 11, 13, 99].map((seq) => otherHalf(turns, seq)), [14, 12, 11, 10, null, null]);
});

test("the question is the last thing that the user said", () => {
  assert.equal(questionOf([turn(0, { fresh: [message("user", "old"), message("assistant", "a"), message("user", "new")] })]), "new");
  assert.equal(questionOf([]), "");
});

test("nothing in the transcript breaks out of its block", () => {
  const text = transcript([{ run: 1, turns: [turn(0, { fresh: [message("user", "# no heading\n```\n<b>")], calls: [call({ result: "````\u202e" })], says: "done" })] }]);
  assert.match(text, /^# Run 1\n\n````text\n# no heading\n```\n<b>\n````\n/);
  assert.ok(text.includes("`````text\n→ calc__add(a=1)\n← result: ````⟨U+202E⟩\n`````"));
  assert.ok(text.includes("100 tokens in"));
});
