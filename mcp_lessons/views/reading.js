// A row from the kernel becomes an entry: its message read, its role, and what is wrong with it alone. Pure.

import { object } from "./common.js";

const DETAILS = new Set(["process", "http", "tools", "model"]); // what is no message has details, by name

/** An entry: the row with its message read, its role, its method and what is wrong with it. */
export function read(row) {
  const entry = {
    seq: row.seq, t: row.t, connection: row.connection, server: row.server, direction: row.direction, kind: row.kind,
    raw: row.raw ?? "", cut: row.cut, body: DETAILS.has(row.kind) ? object(bodyOf(row)) : bodyOf(row), role: "", id: undefined, method: "", partner: null, took: null,
    waiting: false, ended: null, endedBy: null, flags: [],
  };
  if (row.kind === "model") return readModel(entry);
  const message = entry.body;
  if (row.kind === "noise") entry.flags.push("noise");
  if (row.kind === "process") readProcess(entry);
  if (!["request", "reply", "notification"].includes(row.kind) || message === null || typeof message !== "object") return entry;
  entry.id = message.id;
  entry.method = typeof message.method === "string" ? message.method : "";
  entry.role = row.kind === "notification" ? "" : row.kind;
  if (row.kind === "reply" && isError(message)) entry.flags.push("protocol-error");
  else if (row.kind === "reply" && message.result?.isError === true) entry.flags.push("tool-error");
  return entry;
}

/** "error": null beside a result says that there is none. */
function isError(message) {
  return (message.error !== null && message.error !== undefined) || !("result" in message);
}

function bodyOf(row) {
  if (row.body !== undefined) return row.body;
  if (row.kind === "stderr") return null;
  try {
    return JSON.parse(row.raw);
  } catch {
    return null;
  }
}

function readModel(entry) {
  const { body } = entry;
  entry.id = body.turn;
  entry.role = { sent: "request", received: "reply" }[entry.direction] ?? "";
  entry.method = "chat/completions";
  if ("error" in body) entry.flags.push("protocol-error");
  return entry;
}

function readProcess(entry) {
  const { event, status } = entry.body ?? {};
  if (event === "exited" && status !== 0) entry.flags.push("bad-exit");
}
