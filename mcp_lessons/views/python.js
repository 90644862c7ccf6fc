// A message as Python: what a reader pastes into a cell to send it again, changed. Pure.

import { fill, list, object } from "./common.js";
import T from "./text/traffic.json" with { type: "json" };

const P = T.python;
const SHORT = 88;

/** Python code that sends `entry` again, or "" where there is nothing to send. */
export function asPython(entry, entries) {
  if (entry.cut || entry.direction !== "sent" || !["request", "notification", "model"].includes(entry.kind)) return "";
  const head = fill(P.record, { seq: entry.seq });
  if (entry.kind === "model") return [head, P.model, chat(object(entry.body))].join("\n");
  const spawned = entries.find((one) => one.connection === entry.connection && one.kind === "process" && Array.isArray(one.body?.command));
  const line = send(entry);
  if (!spawned) return `${head}\n${line}`;
  const { command } = spawned.body;
  const left = command.some((word) => String(word).includes("…")) ? [P.left] : [];
  const handshake = entry.method === "initialize" ? [] : ["client.initialize()"];
  const body = [...handshake, line].flatMap((one) => one.split("\n")).map((one) => `    ${one}`);
  return [head, ...left, P.client, "", `with Client(StdioTransport(${literal(command)}), name=${literal(entry.server)}) as client:`, ...body].join("\n");
}

function send({ kind, method, body }) {
  const params = object(body.params);
  const { _meta, ...rest } = params;
  if (kind === "notification") return `client.notify(${args(method, params)})`;
  if (method === "initialize") return "print(client.initialize())";
  if (method === "tools/list" && params.cursor === undefined) return "print(client.list_tools())";
  if (method === "tools/call" && Object.keys(rest).every((key) => key === "name" || key === "arguments")) return `print(client.call_tool(${literal(params.name)}, ${literal(params.arguments ?? {})}).text)`;
  return `print(client.request(${args(method, rest)}))`;
}

function args(method, params) {
  return Object.keys(params).length ? `${literal(method)}, ${literal(params)}` : literal(method);
}

function chat({ messages, tools }) {
  const parts = [["model", "model"], ["messages", literal(messages ?? [])], ...(list(tools).length ? [["tools", literal(tools)]] : [])];
  return `reply = llm.chat.completions.create(\n${parts.map(([name, value]) => `    ${name}=${value.replaceAll("\n", "\n    ")},`).join("\n")}\n)`;
}

/** A JSON value as a Python literal, in one line where it fits. */
export function literal(value, indent = "") {
  if (value === null || value === undefined) return "None";
  if (value === true || value === false) return value ? "True" : "False";
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object") return String(value);
  const list = Array.isArray(value);
  const inner = indent + "    ";
  const parts = list ? value.map((item) => literal(item, inner)) : Object.entries(value).map(([key, item]) => `${quoted(key)}: ${literal(item, inner)}`);
  const [before, after] = list ? "[]" : "{}";
  const line = before + parts.join(", ") + after;
  return line.length + indent.length <= SHORT && !line.includes("\n") ? line : `${before}\n${parts.map((part) => `${inner}${part},\n`).join("")}${indent}${after}`;
}

/** A Python string literal in which every character that is not plainly seen is escaped. */
function quoted(text) {
  const inner = JSON.stringify(text).slice(1, -1).replace(/[\u007f-\uffff]/g, (unit) => (/[\p{L}\p{N}\p{P}\p{S}]/u.test(unit) && !/[\ud800-\udfff]/.test(unit) ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`));
  return `"${joined(inner)}"`;
}

/** Two escaped halves of one character become one escape, as Python wants it; lone halves stay. */
function joined(text) {
  return text.replace(/\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/gi, (whole, high, low) => {
    const point = (parseInt(high, 16) - 0xd800) * 0x400 + (parseInt(low, 16) - 0xdc00) + 0x10000;
    return `\\U${point.toString(16).padStart(8, "0")}`;
  });
}
