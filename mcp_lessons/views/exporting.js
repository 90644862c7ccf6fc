// The record as a file: JSONL that Traffic.load reads, and a Mermaid sequence diagram. Secrets go first. Pure.

import { visible, shorten } from "./common.js";
import { ends, lanesOf } from "./layout.js";
import { idText, laneName, words } from "./words.js";
import T from "./text/traffic.json" with { type: "json" };

const SECRET_KEY = /(^|[_-])(api[_-]?key|(access|refresh|auth|id|bearer)?[_-]?token|secret|client[_-]?secret|password|passwd|credentials?|authorization|cookie)$|(apiKey|accessToken|refreshToken|clientSecret)$/i;
const NOT_SECRET = /^(progressToken|nextCursor|cursor)$/;
const SECRET_VALUE = /(bearer\s+[\w.~+/-]+=*|\bsk-[\w-]{8,}|\bgh[pousr]_\w{16,}|\bxox[abp]-[\w-]{8,}|\bAKIA[0-9A-Z]{16}\b|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)/gi;
const USER_INFO = /(:\/\/)[^/@\s:]+:[^/@\s]+@/g;
const DEEPEST = 300;

/** `value` with what looks like a key, a token or a password replaced by "…". */
export function redact(value, depth = 0) {
  if (typeof value === "string") return value.replace(SECRET_VALUE, "…").replace(USER_INFO, "$1…@");
  if (value === null || typeof value !== "object" || depth > DEEPEST) return value;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, isSecret(key, item) ? "…" : redact(item, depth + 1)]));
}

function isSecret(key, item) {
  return SECRET_KEY.test(key) && !NOT_SECRET.test(key) && typeof item === "string" && item !== "";
}

/** One event a line, as Traffic.save writes them. */
export function toJsonl(entries) {
  return entries.map((entry) => JSON.stringify(saved(entry)) + "\n").join("");
}

function saved({ seq, t, connection, server, direction, kind, raw, body }) {
  const clean = redact(body);
  const changed = body !== null && JSON.stringify(clean) !== JSON.stringify(body);
  return { seq, t, connection, server, direction, kind, raw: changed && isMessage(kind) ? JSON.stringify(clean) : redact(raw), body: clean };
}

function isMessage(kind) {
  return ["request", "reply", "notification", "noise", "model"].includes(kind);
}

/** A Mermaid sequence diagram of the entries. */
export function toMermaid(entries, store) {
  const lanes = lanesOf(store);
  const ids = new Map(lanes.map(({ key }, i) => [key, `p${i}`]));
  const lines = entries.map((entry) => mermaidLine(entry, ids)).filter(Boolean);
  return ["sequenceDiagram", ...lanes.map(({ key }) => `    participant ${ids.get(key)} as ${mermaidText(laneName(key))}`), ...lines.map((line) => `    ${line}`)].join("\n") + "\n";
}

function mermaidLine(entry, ids) {
  const [from, to] = ends(entry).map((key) => ids.get(key));
  if (!from || !to) return "";
  const { word, text: rest } = words(entry);
  const id = entry.id === undefined || entry.kind === "model" ? "" : `[${idText(entry.id)}] `;
  const said = mermaidText(`${id}${word} ${shorten(redact(rest), 80)}`);
  if (from === to) return `Note over ${from}: ${said}`;
  const arrow = entry.kind === "noise" ? "--x" : { request: "->>", reply: "-->>" }[entry.role] ?? "-)";
  return `${from}${arrow}${to}: ${said}`;
}

/** Text that Mermaid takes as it is: no markup, no line end, none of its own signs. */
export function mermaidText(words) {
  return visible(shorten(words, 160)).replace(/[#;:<>&"'`\\%{}|]/g, (sign) => `#${sign.codePointAt(0)};`).replace(/\bend\b/gi, (word) => `#${word.charCodeAt(0)};${word.slice(1)}`) || T.words.empty;
}
