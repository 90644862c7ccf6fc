// What is wrong with a message, in the words of text/explain.json: for each fault that a server may have. Pure.

import { fill, hasHidden, list, object, own, plural } from "./common.js";
import { text } from "./words.js";
import E from "./text/explain.json" with { type: "json" };

const F = E.faults;
const VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const RESULT_TYPES = [undefined, "complete", "input_required"];
const FROM_SERVER = /^(ping|roots\/list|sampling\/createMessage|elicitation\/create|tasks\/\w+)$/;
const FROM_CLIENT = /^(initialize|server\/discover|tools\/|resources\/|prompts\/|completion\/|logging\/|subscriptions\/)/;
const FIT_FOR_MODELS = /^[\w-]{1,64}$/;
const DEEPEST = 20;
const MANY_LEVELS = 500;

/** What is wrong with a request. */
export function requestFaults({ method, direction, sameCursor, sameId, body }) {
  if (direction === "sent") return [sameCursor ? F.sameCursor : ""];
  return [isWrongWay(method, direction) ? F.wrongWay : FROM_SERVER.test(method) ? E.unsolicited : "", sameId ? fill(E.sameIdOtherWay, { id: JSON.stringify(body.id) }) : ""];
}

/** True for a request of the client's that comes from a server. */
export function isWrongWay(method, direction) {
  return direction === "received" && FROM_CLIENT.test(method);
}

/** What is wrong with a reply. */
export function replyFaults(entry) {
  const { body, method, raw, overtook } = entry;
  const both = "result" in body && body.error !== null && body.error !== undefined ? F.both : "";
  const seen = [both, /"id"\s*:\s*-?\d+\.0+\b/.test(raw.slice(0, 500)) ? F.floatId : "", overtook ? fill(F.overtook, { seq: overtook.seq }) : ""];
  if (!("result" in body) || both) return [oddError(body.error), ...seen];
  if (body.result !== object(body.result)) return [F.noObject, ...seen];
  const type = body.result.resultType;
  const own_faults = own({ initialize: initializeFaults, "tools/list": listFaults, "tools/call": callFaults }, method);
  return [RESULT_TYPES.includes(type) ? "" : fill(F.resultType, { type: text(type) }), ...(own_faults?.(entry) ?? []), ...seen];
}

function oddError(error) {
  const { code, message } = object(error);
  return Number.isInteger(code) && typeof message === "string" ? "" : F.oddError;
}

function initializeFaults({ body: { result }, asked }) {
  const { protocolVersion: version } = result;
  const offered = text(object(object(asked?.body).params).protocolVersion);
  const odd = ["capabilities", "serverInfo"].filter((name) => result[name] !== object(result[name]));
  const parts = odd.length ? fill(F.oddParts, { names: odd.join(", ") }) : "";
  if (typeof version !== "string") return [F.noVersion, parts];
  if (!VERSIONS.includes(version)) return [fill(E.versionUnknown, { version, known: VERSIONS.join(", ") }), parts];
  return [offered && offered !== version ? fill(E.versionCounter, { offered, version }) : "", parts];
}

function listFaults({ body: { result } }) {
  const { tools, nextCursor } = result;
  const good = list(tools).map(object).filter(({ name, inputSchema }) => typeof name === "string" && name && inputSchema === object(inputSchema));
  const names = good.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  const odd = names.filter((name) => !FIT_FOR_MODELS.test(name));
  const bad = list(tools).length - good.length;
  return [
    Array.isArray(tools) ? "" : F.noTools,
    bad ? plural(bad, F.malformedTools) : "", twice === undefined ? "" : fill(F.sameName, { name: text(twice) }),
    odd.length ? fill(plural(odd.length, F.oddNames), { name: text(odd[0]) }) : "",
    nextCursor === null ? F.cursorNull : nextCursor !== undefined && typeof nextCursor !== "string" ? F.cursorNoText : nextCursor === "" ? F.cursorEmpty : "",
  ];
}

function callFaults({ body: { result }, tool }) {
  const { content, structuredContent: structured, isError } = result;
  const types = [...new Set(list(content).map(object).filter(({ text: words }) => typeof words !== "string").map(({ type }) => text(type) || "?"))];
  const schema = object(tool).outputSchema;
  return [
    content === undefined && structured === undefined ? F.noContent : content !== undefined && !Array.isArray(content) ? F.contentNoList : Array.isArray(content) && !content.length && structured === undefined ? F.contentEmpty : "",
    types.length ? fill(F.blocks, { types: types.join(", ") }) : "",
    isError !== undefined && typeof isError !== "boolean" ? fill(F.isErrorNoBoolean, { value: JSON.stringify(isError).slice(0, 40) }) : "",
    structured !== undefined && structured !== object(structured) ? F.structuredNoObject : "",
    !schema || isError === true ? "" : structured === undefined ? F.structuredMissing : fits(schema, structured) ? "" : F.structuredBroken,
  ];
}

/** False where `value` plainly breaks `schema`: its types and what it requires. */
function fits(schema, value, depth = 0) {
  const { type, properties, required } = object(schema);
  if (typeof type === "string" && !isOf(type, value)) return false;
  if (value !== object(value) || depth > DEEPEST) return true;
  return list(required).every((name) => Object.hasOwn(value, name))
    && Object.entries(object(properties)).every(([name, part]) => !Object.hasOwn(value, name) || fits(part, value[name], depth + 1));
}

function isOf(type, value) {
  const is = { object: value === object(value), array: Array.isArray(value), null: value === null, integer: Number.isInteger(value) };
  return own(is, type) ?? (["string", "number", "boolean"].includes(type) ? typeof value === type : true);
}

/** What is wrong with a notification. */
export function notificationFaults({ method, body, about, knownToken }) {
  const params = object(body.params);
  if (!method) return [F.noMethod];
  if (method === "notifications/cancelled") return [about ? "" : F.cancelsNothing];
  if (method !== "notifications/progress") return [];
  return [knownToken ? "" : F.unknownToken, typeof params.progress === "number" ? "" : F.oddProgress];
}

/** What a line that is no message most likely is: a key of E.noise. */
export function noiseKind({ body, raw, direction }) {
  if (direction === "sent") return "sent";
  if (Array.isArray(body)) return /^\s*\[/.test(raw) ? "batch" : "several";
  if (body === null || body === undefined) return raw.trim() === "null" ? "json" : textKind(raw.slice(0, 65536));
  const { jsonrpc, id } = object(body);
  if (jsonrpc !== "2.0" || !["method", "result", "error"].some((name) => name in body)) return "json";
  return id === undefined || typeof id === "string" || Number.isFinite(id) ? "unread" : "oddId";
}

function textKind(raw) {
  if (/^content-length:/i.test(raw)) return "framing";
  if ((raw.match(/[[{]/g) ?? []).length > MANY_LEVELS && /^\s*[[{]/.test(raw)) return "deep";
  if (/\{\0|\0["}]/.test(raw)) return "wide";
  if (/^\s*\{'/.test(raw)) return "python";
  if (/\u001b\[/.test(raw) && raw.includes('"jsonrpc"')) return "coloured";
  if (/^[^{[]+\{"jsonrpc"/.test(raw)) return "glued";
  return /^\s*[{}\]"]/.test(raw) ? "part" : "text";
}

/** True where the message holds characters that are not seen, as they stand or as JSON spells them (\\u200b). */
export function holdsHidden({ raw, body }) {
  const line = raw.slice(0, 65536);
  if (hasHidden(line.replace(/[\r\n]/g, ""))) return true;
  if (!/\\u/.test(line) || body === null || typeof body !== "object") return false;
  const said = JSON.stringify(body); // spells what is below U+0020 and lone halves, and nothing else
  return hasHidden(said) || /\\u(00[01]|d[89a-f])/i.test(said);
}
