// A message in a few words: what stands on its row, and what a screen reader says. Pure.

import { fill, list, object, own, plural, shorten } from "./common.js";
import T from "./text/traffic.json" with { type: "json" };

const LONG = 240;
const W = T.words;

/** {word, text, mark}: the word in bold, the rest, and how it is marked: "", "tool-error", "protocol-error". */
export function words(entry) {
  entry.words ??= describe(entry);
  return entry.words;
}

function describe(entry) {
  if (entry.kind === "model") return ofModel(entry);
  if (entry.kind === "process") return ofProcess(entry.body ?? {}, entry.raw);
  if (entry.kind === "tools") return ofToolbox(entry.body ?? {});
  if (entry.kind === "http") return { word: T.kinds.http, text: entry.body?.status ? text(entry.body.status) : shorten(entry.raw, LONG), mark: "" };
  if (entry.role === "reply") return ofReply(entry);
  if (entry.role === "request" || entry.kind === "notification") return { word: shorten(entry.method, 80), text: ofCall(entry), mark: "" };
  return { word: own(T.kinds, entry.kind) ?? entry.kind, text: shorten(entry.raw, LONG), mark: "" };
}

function ofCall({ method, body }) {
  const params = object(body?.params);
  if (method === "tools/call" || method === "prompts/get") return call(params.name, params.arguments);
  if (method === "initialize") return [params.protocolVersion, object(params.clientInfo).name].filter(isText).join(" · ");
  if (method === "resources/read" || method === "resources/subscribe" || method === "notifications/resources/updated") return text(params.uri);
  if (method === "notifications/progress") return [[params.progress, params.total].filter((n) => n !== undefined).join("/"), params.message].filter((part) => part !== undefined).map(text).join(" ");
  if (method === "notifications/message") return `${text(params.level)}: ${text(params.data)}`;
  if (method === "notifications/cancelled") return [fill(W.cancels, { id: text(params.requestId) }), params.reason].filter(isText).join(": ");
  if (method === "elicitation/create") return text(params.message);
  const { _meta, ...rest } = params;
  return Object.keys(rest).length ? shorten(listed(rest), LONG) : "";
}

function ofReply({ body, method, flags }) {
  if (flags.includes("protocol-error")) {
    const error = object(body.error);
    return { word: W.error, text: shorten([error.code, error.message].map(text).filter(Boolean).join(" "), LONG), mark: "protocol-error" };
  }
  const failed = flags.includes("tool-error");
  const { result } = object(body);
  const rest = result === object(result) ? ofResult(method, result) : text(result) || W.empty;
  return { word: failed ? W.isError : W.result, text: shorten(rest, LONG), mark: failed ? "tool-error" : "" };
}

function ofResult(method, result) {
  if (Array.isArray(result.tools)) return counted(result.tools, W.tools, result.nextCursor);
  if (Array.isArray(result.resources)) return named(result.resources, W.resources, result.nextCursor);
  if (Array.isArray(result.prompts)) return named(result.prompts, W.prompts, result.nextCursor);
  if (Array.isArray(result.content)) return result.content.length ? result.content.map(block).join(" ") : result.structuredContent ? text(result.structuredContent) : W.empty;
  if (Array.isArray(result.contents)) return result.contents.map((item) => text(object(item).text ?? object(item).uri)).join(" ");
  if (method === "initialize") return [[object(result.serverInfo).name, object(result.serverInfo).version].filter(isText).join(" "), result.protocolVersion].filter(isText).join(" · ");
  if (Array.isArray(result.supportedVersions)) return result.supportedVersions.map(text).join(", ");
  return Object.keys(result).length ? text(result) : W.empty;
}

function counted(tools, forms, cursor) {
  if (!tools.length) return W.toolsNone;
  const line = fill(plural(tools.length, forms), { names: tools.map((tool) => text(object(tool).name)).join(", ") });
  return cursor === undefined || cursor === null ? line : `${line} · ${W.more}`;
}

function named(items, forms, cursor) {
  const line = [plural(items.length, forms), items.map((item) => text(object(item).name)).join(", ")].filter(Boolean).join(": ");
  return cursor === undefined || cursor === null ? line : `${line} · ${W.more}`;
}

function block(item) {
  const { type, text: words } = object(item);
  if (typeof words === "string") return words;
  return fill(W.block, { type: text(type) });
}

function ofProcess(body, raw) {
  const { event, command, status, signal } = body;
  const word = own(W, event) ?? text(event ?? T.kinds.process);
  if (event === "spawned" && Array.isArray(command)) return { word, text: shorten([programName(command[0]), ...command.slice(1)].join(" "), LONG), mark: "" };
  if (event === "exited") return { word, text: status < 0 ? fill(W.bySignal, { n: -status }) : fill(W.status, { n: text(status) }), mark: "" };
  return { word, text: text(signal ?? (W[event] ? "" : shorten(raw, LONG))), mark: "" };
}

/** The last word of the path of a program; the whole path stands in the detail. */
function programName(path) {
  return String(path ?? "").split(/[/\\]/).at(-1);
}

function ofToolbox({ cause, schemas, warnings }) {
  const parts = [Array.isArray(schemas) ? plural(schemas.length, W.toolCount) : "", list(warnings).length ? plural(warnings.length, W.warnings) : ""];
  return { word: T.kinds.tools, text: shorten([text(cause), ...parts].filter(Boolean).join(" · "), LONG), mark: "" };
}

function ofModel({ body, role, flags }) {
  if (flags.includes("protocol-error")) return { word: W.error, text: shorten(text(body.error), LONG), mark: "protocol-error" };
  if (role === "request") {
    return { word: W.ask, text: [plural(list(body.messages).length, W.messages), plural(list(body.tools).length, W.toolCount)].join(", "), mark: "" };
  }
  if (!role) return { word: fill(W.stops, { reason: text(body.stop_reason) }), text: shorten(text(body.answer ?? ""), LONG), mark: "" };
  const message = object(body.message);
  const calls = list(message.tool_calls).map((one) => object(object(one).function)).map((one) => call(one.name, parsed(one.arguments)));
  return calls.length ? { word: W.calls.replace(" {calls}", ""), text: shorten(calls.join(", "), LONG), mark: "" } : { word: W.answer, text: shorten(text(message.content), LONG), mark: "" };
}

/** "forecast(place=Fernhill, day=tomorrow)" */
export function call(name, args) {
  return shorten(`${text(name)}(${listed(object(args))})`, LONG);
}

function listed(values) {
  return Object.entries(values).map(([key, value]) => `${key}=${argument(value)}`).join(", ");
}

const OTHER = /^\s*(["[{]|(null|true|false|-?\d+(\.\d+)?([eE][+-]?\d+)?)\s*$)|^\s*$/;

/** Text stands without quotes, unless it could be taken for another JSON value or for nothing. */
function argument(value) {
  if (value === null) return "null";
  return typeof value === "string" && OTHER.test(value) ? shorten(JSON.stringify(value), LONG) : text(value);
}

function parsed(value) {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return { "?": value };
  }
}

function isText(value) {
  return value !== undefined && value !== "";
}

export function text(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return shorten(value, LONG);
  return typeof value === "object" ? shorten(JSON.stringify(value), LONG) : String(value);
}

/** An id as it stands in the message: 5, "5" or null. */
export function idText(id) {
  return shorten(JSON.stringify(id ?? null), 40);
}

/** "3.4 ms", "212 ms", "1.20 s" */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const ms = seconds * 1000;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return seconds < 60 ? `${seconds.toFixed(2)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** The name of a side of the wire for a reader. */
export function laneName(key) {
  return key === "client" ? T.client : key.slice(key.indexOf(" ") + 1);
}

/** The flags of an entry in words, with what became of a request that got no reply. */
export function flagWords(entry) {
  const flags = entry.flags.filter((flag) => Object.hasOwn(T.flags, flag)).map((flag) => T.flags[flag]);
  if (entry.cut) flags.push(T.flags.cut);
  if (entry.ended) flags.push(entry.ended === "cancelled" ? T.cancelled : T.noReply);
  return flags;
}

/** One sentence that says the whole row. */
export function sentence(entry, [from, to]) {
  const { word, text: rest } = words(entry);
  const kind = own(T.kinds, entry.kind === "model" && entry.role ? entry.role : entry.kind) ?? entry.kind;
  const id = entry.id === undefined || entry.kind === "model" ? "" : fill(W.id, { id: idText(entry.id) });
  const said = [id, word, rest].filter(Boolean).join(" ");
  const what = from === to ? fill(T.label.note, { kind, at: laneName(from), text: said }) : fill(T.label.sent, { kind, from: laneName(from), to: laneName(to), text: said });
  const flags = flagWords(entry);
  const tail = [
    entry.role === "reply" && entry.took !== null ? fill(T.label.took, { took: duration(entry.took) }) : "",
    entry.waiting ? T.label.waiting : "", flags.length ? fill(T.label.flags, { flags: flags.join(", ") }) : "",
  ];
  return [fill(T.label.row, { seq: entry.seq, time: entry.t.toFixed(3), what }), ...tail].filter(Boolean).join(", ");
}
