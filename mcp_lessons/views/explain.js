// One to four sentences that explain a message: what it is for, and what is odd about it. Pure.

import { fill, hasHidden, list, object, own, plural } from "./common.js";
import { duration, laneName, text } from "./words.js";
import E from "./text/explain.json" with { type: "json" };

const MODERN = "io.modelcontextprotocol/protocolVersion";
const LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN_ERRORS = ["-32020", "-32021", "-32022"];
const SLOW = 1;

/** The sentences for `entry`, whose sides are `ends` (lane keys). */
export function explain(entry, [from, to]) {
  const values = { from: laneName(from), to: laneName(to), method: entry.method, id: JSON.stringify(entry.id) ?? "", server: entry.server };
  const said = [...main(entry, values), ...odd(entry, values)];
  if (hasHidden(entry.raw.slice(0, 65536).replace(/[\r\n]/g, ""))) said.push(E.hidden);
  return said.filter(Boolean);
}

function main(entry, values) {
  if (entry.kind === "model") return model(entry);
  if (entry.kind === "process") return process(entry);
  if (entry.kind === "noise") return [E.noise[noiseKind(entry)]];
  if (entry.kind === "tools") return toolbox(entry.body);
  if (entry.kind === "http") return [pick(E.http, text(entry.body.status), values)];
  if (entry.role === "request") return request(entry, values);
  if (entry.role === "reply") return reply(entry, values);
  if (entry.kind === "notification") return [notification(entry, values)];
  return [entry.kind === "stderr" ? E.stderr : ""];
}

function request({ method, body, direction, sameCursor }, values) {
  const params = object(body.params);
  const meta = object(params._meta);
  const variant = method === "tools/list" && params.cursor !== undefined ? "+cursor" : method === "tools/call" && "inputResponses" in params ? "+retry" : "";
  const sentence = pick(E.request, method + variant, { ...values, version: text(params.protocolVersion), name: text(params.name) });
  return [
    sentence, sameCursor ? E.faults.sameCursor : "", MODERN in meta ? E.requestEra : "",
    direction === "received" ? E.unsolicited : "",
    meta.progressToken !== undefined && !(MODERN in meta) ? fill(E.progressToken, { token: text(meta.progressToken) }) : "",
  ];
}

function reply(entry, values) {
  const { body, method, flags, asked } = entry;
  if (flags.includes("protocol-error")) return errorReply(entry, values);
  const result = object(body.result);
  const all = { ...values, version: text(result.protocolVersion), name: text(object(asked?.body?.params).name) };
  if (flags.includes("tool-error")) return [fill(E.isError, all)];
  if (result.resultType === "input_required") return [E.reply.input_required];
  const variant = method === "tools/list" && result.nextCursor !== undefined ? "+cursor" : method === "tools/call" && result.structuredContent !== undefined ? "+structured" : "";
  const sentence = asked || !flags.length ? pick(E.reply, method + variant, all) : "";
  const faults = { initialize: () => [versions(asked, result, all)], "tools/list": () => listFaults(result), "tools/call": () => callFaults(result) };
  return [sentence, ...(own(faults, method)?.() ?? [])];
}

function listFaults({ tools }) {
  const good = list(tools).map(object).filter(({ name, inputSchema }) => typeof name === "string" && name && inputSchema === object(inputSchema));
  const names = good.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  const bad = list(tools).length - good.length;
  return [bad ? plural(bad, E.faults.malformedTools) : "", twice === undefined ? "" : fill(E.faults.sameName, { name: text(twice) })];
}

function callFaults({ content, structuredContent }) {
  return [list(content).length || structuredContent !== undefined ? "" : E.faults.noContent];
}

function errorReply({ body, method }, values) {
  const code = text(object(body.error).code);
  const discovery = method === "server/discover" && !MODERN_ERRORS.includes(code) ? E.discoverError : "";
  return [pick(E.errors, code, { ...values, code }), discovery || E.errorRule];
}

function versions(asked, { protocolVersion }, values) {
  const offered = text(object(asked?.body?.params).protocolVersion);
  if (protocolVersion !== undefined && !LEGACY.includes(protocolVersion)) return fill(E.versionUnknown, { ...values, known: LEGACY.join(", ") });
  return offered && offered !== protocolVersion ? fill(E.versionCounter, { ...values, offered }) : "";
}

function notification({ method, body }, values) {
  const params = object(body.params);
  return pick(E.notification, method, { ...values, about: text(params.requestId), token: text(params.progressToken), level: text(params.level) });
}

function noiseKind({ body, raw, direction }) {
  if (direction === "sent") return "sent";
  if (Array.isArray(body)) return "batch";
  if (/^content-length:/i.test(raw)) return "framing";
  return body === null || body === undefined ? "text" : "json";
}

function process(entry) {
  const { event, status, signal } = entry.body ?? {};
  const bad = event === "exited" && status !== 0 ? (status < 0 ? "+signal" : "+bad") : "";
  const left = (entry.left ?? []).length;
  return [
    pick(E.process, text(event) + bad, { status: text(status), signal: bad === "+signal" ? -status : text(signal) }),
    left ? plural(left, E.process["exited+waiting"]) : "",
  ];
}

function toolbox({ cause, schemas, warnings }) {
  return [fill(E.tools, { cause: text(cause), n: list(schemas).length }), list(warnings).length ? plural(warnings.length, E.toolsWarn) : ""];
}

function model({ body, role, flags }) {
  if (flags.includes("protocol-error")) return [E.model.error];
  if (role === "request") return [fill(E.model.request, { turn: text(body.turn), n: list(body.tools).length })];
  if (!role) return [fill(E.model.end, { n: text(body.turns), reason: own(E.model.reasons, body.stop_reason) ?? text(body.stop_reason) })];
  if (body.finish_reason === "length") return [E.model.length];
  const calls = list(object(body.message).tool_calls);
  return [calls.length ? plural(calls.length, E.model.calls) : E.model.answer];
}

function odd(entry, values) {
  const said = entry.flags.filter((flag) => Object.hasOwn(E.flags, flag)).map((flag) => fill(E.flags[flag], {
    ...values, asked: JSON.stringify(entry.asked?.id), first: entry.asked?.partner?.seq,
  }));
  if (entry.ended) said.push(E.ended[entry.ended]);
  if (entry.waiting) said.push(E.waiting);
  if (entry.raw.includes("\ufffd")) said.push(E.faults.replaced);
  if (entry.role === "reply" && entry.took > SLOW) said.push(fill(E.slow, { took: duration(entry.took) }));
  return said;
}

function pick(table, key, values) {
  return fill(own(table, key) ?? table[""], values);
}
