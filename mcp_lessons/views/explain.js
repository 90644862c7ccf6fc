// One to four sentences that explain a message: what it is for, and what is odd about it. Pure.

import { fill, list, object, own, plural } from "./common.js";
import { holdsHidden, isWrongWay, noiseKind, notificationFaults, replyFaults, requestFaults } from "./faults.js";
import { duration, laneName, text } from "./words.js";
import E from "./text/explain.json" with { type: "json" };

const MODERN = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const MODERN_ERRORS = ["-32020", "-32021", "-32022"];
const SLOW = 1;

/** The sentences for `entry`, whose sides are `ends` (lane keys). */
export function explain(entry, [from, to]) {
  const values = { from: laneName(from), to: laneName(to), method: entry.method, id: JSON.stringify(entry.id) ?? "", server: entry.server };
  const said = [...main(entry, values), ...odd(entry, values)];
  if (holdsHidden(entry)) said.push(E.hidden);
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
  if (entry.kind === "notification") return notification(entry, values);
  return [entry.kind === "stderr" ? E.stderr : ""];
}

function request(entry, values) {
  const { method, body, direction } = entry;
  const params = object(body.params);
  const meta = object(params._meta);
  const variant = method === "tools/list" && params.cursor !== undefined ? "+cursor" : method === "tools/call" && "inputResponses" in params ? "+retry" : "";
  const key = isWrongWay(method, direction) ? "" : method + variant;
  return [
    pick(E.request, key, { ...values, version: text(params.protocolVersion), name: text(params.name) }),
    ...requestFaults(entry), MODERN in meta ? E.requestEra : "",
    meta.progressToken !== undefined && !(MODERN in meta) ? fill(E.progressToken, { token: text(meta.progressToken) }) : "",
  ];
}

function reply(entry, values) {
  const { method, flags, asked } = entry;
  if (flags.includes("protocol-error")) return [...errorReply(entry, values), ...replyFaults(entry)];
  const result = object(entry.body.result);
  const all = { ...values, version: text(result.protocolVersion), name: text(object(asked?.body?.params).name) };
  return [mainOfReply(entry, result, all), caching(result), ...(asked || !flags.length ? replyFaults(entry) : [])];
}

function mainOfReply({ method, flags, asked }, result, values) {
  if (flags.includes("tool-error")) return fill(E.isError, values);
  if (result.resultType === "input_required") return plural(Object.keys(object(result.inputRequests)).length, E.inputRequired);
  const broken = method === "initialize" && typeof result.protocolVersion !== "string";
  return (asked || !flags.length) && !broken ? pick(E.reply, method + variantOf(method, result), values) : "";
}

function variantOf(method, { nextCursor, structuredContent, content }) {
  if (method === "tools/list") return nextCursor === undefined || nextCursor === null ? "" : "+cursor";
  if (method !== "tools/call" || structuredContent === undefined) return "";
  return list(content).length ? "+structured" : "+structuredOnly";
}

function caching({ ttlMs, cacheScope }) {
  return ttlMs === undefined ? "" : fill(E.caching, { ms: text(ttlMs), scope: text(cacheScope) || "?" });
}

function errorReply({ body, method }, values) {
  const code = text(object(body.error).code);
  const discovery = method === "server/discover" && !MODERN_ERRORS.includes(code) ? E.discoverError : "";
  const free = Number(code) <= -32000 && Number(code) >= -32099 && !Object.hasOwn(E.errors, code);
  return [pick(E.errors, free ? "own" : code, { ...values, code: code || E.nothing }), discovery || E.errorRule];
}

function notification(entry, values) {
  const { method, body } = entry;
  const params = object(body.params);
  const given = (value) => text(value) || E.nothing;
  const subscription = object(params._meta)[SUBSCRIPTION];
  return [
    method ? pick(E.notification, method, { ...values, about: given(params.requestId), token: given(params.progressToken), level: given(params.level) }) : "",
    ...notificationFaults(entry), subscription === undefined ? "" : fill(E.subscription, { id: text(subscription) }),
  ];
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
  return [fill(plural(list(schemas).length, E.tools), { cause: text(cause) }), list(warnings).length ? plural(warnings.length, E.toolsWarn) : ""];
}

function model({ body, role, flags }) {
  if (flags.includes("protocol-error")) return [E.model.error];
  if (role === "request") return [fill(plural(list(body.tools).length, E.model.request), { turn: text(body.turn) })];
  if (!role) return [fill(plural(Number(body.turns) || 0, E.model.end), { reason: own(E.model.reasons, body.stop_reason) ?? text(body.stop_reason) })];
  if (body.finish_reason === "length") return [E.model.length];
  const calls = list(object(body.message).tool_calls);
  return [calls.length ? plural(calls.length, E.model.calls) : E.model.answer];
}

function odd(entry, values) {
  const said = entry.flags.filter((flag) => Object.hasOwn(E.flags, flag)).map((flag) => fill(E.flags[flag], {
    ...values, asked: JSON.stringify(entry.asked?.id), first: entry.asked?.partner?.seq,
  }));
  if (entry.flags.includes("null-id")) said.push(entry.partner ? E.nullIdTaken : E.nullIdLost);
  if (entry.flags.includes("id-type") && entry.partner) said.push(E.idTypeTaken);
  if (entry.ended) said.push(E.ended[entry.ended]);
  if (entry.waiting) said.push(E.waiting);
  if (entry.raw.includes("\ufffd")) said.push(E.faults.replaced);
  if (entry.role === "reply" && entry.took > SLOW) said.push(fill(E.slow, { took: duration(entry.took) }));
  return said;
}

function pick(table, key, values) {
  return fill(own(table, key) ?? table[""], values);
}
