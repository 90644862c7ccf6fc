// The arithmetic of ToolboxView: shares, scales, what differs, which rows are shown. No page in here.

/** How much of a context `window` `tokens` are, in percent, as it is shown; "" when it is under 0.1. */
export function shareOf(tokens, window) {
  const percent = (100 * tokens) / window;
  if (percent > 0 && percent < 0.1) return "";
  return percent < 10 ? percent.toFixed(1) : percent.toFixed(0);
}

/** 128000 as "128k", 1000000 as "1M", 8192 as "8.2k". */
export function windowName(window) {
  const [size, unit] = window >= 1e6 ? [window / 1e6, "M"] : window >= 1000 ? [window / 1000, "k"] : [window, ""];
  return `${Number(size.toFixed(1))}${unit}`;
}

/** Whole percentages of `values` that add up to 100 (none when there is nothing to divide). */
export function percentages(values) {
  const total = values.reduce((sum, value) => sum + value, 0);
  if (!total) return values.map(() => 0);
  const exact = values.map((value) => (100 * value) / total);
  const shares = exact.map(Math.floor);
  const rest = 100 - shares.reduce((sum, share) => sum + share, 0);
  exact.map((value, i) => [value - shares[i], i]).sort((a, b) => b[0] - a[0]).slice(0, rest).forEach(([, i]) => { shares[i] += 1; });
  return shares;
}

/** A whole percentage as it is shown: what is there is not nothing, and one of several is not all. */
export function percentWords(share, parts) {
  return share === 0 ? "<1%" : share === 100 && parts > 1 ? ">99%" : `${share}%`;
}

/** The last `most` steps, each with heights in percent of the tallest, by server; and how many are left out. */
export function growth(steps, most) {
  const shown = steps.slice(-most);
  const tallest = Math.max(1, ...shown.map((step) => step.tokens));
  const columns = shown.map((step) => ({
    step, parts: step.by_server.map(({ server, tokens }) => ({ server, tokens, height: (100 * tokens) / tallest })),
  }));
  return { columns, left: steps.length - shown.length };
}

/** The rows that hold every word of `query`, in groups by server, in the order of the list. */
export function grouped(rows, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map();
  for (const row of rows) {
    const text = `${row.name} ${row.tool} ${row.server} ${row.description}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    if (!groups.has(row.server)) groups.set(row.server, []);
    groups.get(row.server).push(row);
  }
  return [...groups].map(([server, members]) => ({ server, rows: members }));
}

/** What stands before the tool's own name in the name that the model gets: "weather__". */
export function prefixOf(row) {
  const prefix = row.server ? `${row.server}__` : "";
  return prefix && row.name.startsWith(prefix) && row.name.length > prefix.length ? prefix : "";
}

/** The keys of an entry as advertised that the model does not get: title, icons, outputSchema. */
export function keptBack(advertised) {
  return Object.keys(advertised ?? {}).filter((key) => !["name", "description", "inputSchema"].includes(key));
}

/** Whether the value at `path` of what the model receives differs from what the server advertised there. */
export function differs(received, advertised, path) {
  const twin = twinPath(path);
  return twin !== null && JSON.stringify(at(received, path)) !== JSON.stringify(at(advertised, twin));
}

/** Whether the value at `path` of an entry is another one in the entry of now. */
export function changed(before, now, path) {
  return JSON.stringify(at(before, path)) !== JSON.stringify(at(now, path));
}

/** Where a value of `tools=` stands in the advertised entry; null for the wrapping, which stands nowhere. */
export function twinPath(path) {
  const [first, second, ...rest] = path;
  if (first !== "function" || second === undefined) return null;
  return second === "parameters" ? ["inputSchema", ...rest] : [second, ...rest];
}

function at(value, path) {
  return path.reduce((inner, key) => (inner !== null && typeof inner === "object" && Object.hasOwn(inner, key) ? inner[key] : undefined), value);
}

/** The costs of a list as CSV: text that a spreadsheet would take for a formula is quoted and marked. */
export function csv(rows) {
  const cell = (value) => {
    const text = String(value);
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = rows.filter((row) => !row.removed).map((row) =>
    [row.server, row.tool, row.name, row.tokens, row.split.name, row.split.description, row.split.schema, row.split.wrapping].map(cell).join(","));
  return ["server,tool,name,tokens_estimated,name_part,description_part,parameters_part,rest_part", ...lines].join("\n") + "\n";
}
