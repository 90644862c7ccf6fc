// Which entries the reader wants to see: chips and search words. Pure.

import { isWrong } from "./record.js";

/** The chip that an entry belongs to. */
export function chipOf(entry) {
  return { request: "calls", reply: "calls", notification: "notifications", stderr: "stderr", noise: "noise",
    process: "process", http: "process", tools: "toolbox", model: "model" }[entry.kind] ?? "process";
}

/** Search words: `id:2`, `method:tools/call`, `server:x`, `kind:reply`, `#18`; "two words" and plain ones. */
export function parseQuery(text) {
  const words = text.match(/(?:[^\s"]+|"[^"]*")+/g) ?? [];
  return words.map((word) => {
    const [, field, value] = word.match(/^(id|method|server|kind):(.*)$/is) ?? [null, /^#\d+$/.test(word) ? "seq" : "text", word];
    return { field: field.toLowerCase(), value: value.replaceAll('"', "").replace(/^#(?=\d+$)/, "").toLowerCase() };
  }).filter(({ value }) => value);
}

/** The entries that pass: `hidden` holds names of servers and chips that are switched off. */
export function passing(entries, { query = "", hiddenServers = new Set(), hiddenChips = new Set(), errorsOnly = false } = {}) {
  const words = parseQuery(query);
  if (!words.length && !hiddenServers.size && !hiddenChips.size && !errorsOnly) return entries.slice();
  return entries.filter((entry) =>
    !(entry.server && hiddenServers.has(entry.server)) && !hiddenChips.has(chipOf(entry)) &&
    (!errorsOnly || isWrong(entry) || (entry.partner && isWrong(entry.partner))) && words.every((word) => matches(entry, word)));
}

function matches(entry, { field, value }) {
  if (field === "id") return entry.id !== undefined && String(entry.id).toLowerCase() === value;
  if (field === "method") return entry.method.toLowerCase().startsWith(value);
  if (field === "server") return entry.server.toLowerCase() === value;
  if (field === "kind") return entry.kind === value;
  if (field === "seq") return String(entry.seq) === value;
  return haystack(entry).includes(value);
}

function haystack(entry) {
  entry.haystack ??= `${entry.raw} ${entry.server}`.toLowerCase();
  return entry.haystack;
}
