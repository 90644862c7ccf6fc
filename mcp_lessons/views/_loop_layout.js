// The arithmetic of LoopView: runs of turns, one scale for all bars, sums, a transcript. No page in here.

/** `before` (turns by key) with the rows of a message; on a reset `before` is null. */
export function merged(before, rows) {
  const turns = new Map(before);
  for (const row of rows) turns.set(`${row.run}.${row.index}`, row);
  return turns;
}

/** The turns as runs, in order: [{run, turns: […]}]. */
export function runsOf(turns) {
  const runs = new Map();
  for (const turn of turns.values()) {
    if (!runs.has(turn.run)) runs.set(turn.run, []);
    runs.get(turn.run)[turn.index] = turn;
  }
  return [...runs].sort((a, b) => a[0] - b[0]).map(([run, members]) => ({ run, turns: members.filter(Boolean) }));
}

/** The parts of a turn's context in the order of the bar; the tools are divided by server. */
export function partsOf({ figures }) {
  const tools = figures.by_server.map(({ server, tokens }) => ({ part: "tools", server, tokens }));
  const one = (part) => ({ part, server: null, tokens: figures[part] });
  return [one("system"), ...tools, one("history"), one("new")].filter(({ tokens }) => tokens > 0);
}

/** The tokens at the right end of the scale that all bars share. */
export function scaleOf(turns) {
  return Math.max(1, ...turns.map(({ figures }) => figures.in));
}

/** What the header counts. `inMeasured` and `outMeasured` are null unless every turn that has a reply reports them. */
export function sums(turns) {
  const calls = turns.flatMap((turn) => turn.calls);
  const count = (outcome) => calls.filter((call) => call.outcome === outcome).length;
  const measured = (side) => {
    const figures = turns.filter((turn) => turn.reply !== null && turn.error === null).map((turn) => turn.used?.[side] ?? null);
    return figures.length && !figures.includes(null) ? figures.reduce((sum, n) => sum + n, 0) : null;
  };
  const total = (side) => turns.reduce((sum, turn) => sum + turn.figures[side], 0);
  return {
    turns: turns.length, calls: calls.length, toolErrors: count("tool-error"), protocolErrors: count("protocol-error"),
    modelErrors: turns.filter((turn) => turn.error !== null).length,
    in: total("in"), out: total("out"), inMeasured: measured("in"), outMeasured: measured("out"),
  };
}

/** All messages that turn `index` of `turns` sent: each turn brings only those that were new. */
export function contextOf(turns, index) {
  let messages = [];
  for (const turn of turns.slice(0, index + 1)) messages = [...messages.slice(0, turn.kept), ...turn.fresh];
  const last = turns[index], before = last.index ? last.kept : -1;
  return messages.map((message, i) => ({ ...message, part: message.part === "system" ? "system" : before >= 0 ? (i < before ? "history" : "new") : message.part }));
}

/** The turn, and the call, that messages of the wire with number `seq` belong to: {turn, call} or null. */
export function ownerOf(turns, seq) {
  for (const turn of turns) {
    const call = turn.calls.findIndex((one) => one.request === seq || one.reply === seq);
    if (call >= 0) return { turn, call };
    if (turn.request === seq || turn.reply === seq) return { turn, call: -1 };
  }
  return null;
}

/** The other half of the pair that message `seq` is of: the reply to a request, and back; null if there is none. */
export function otherHalf(turns, seq) {
  const owner = ownerOf(turns, seq);
  const { request, reply } = owner?.turn.calls[owner.call] ?? owner?.turn ?? { request: null, reply: null };
  return seq === request ? reply : request;
}

/** The number of a turn as the loop gave it, whatever it is. */
export function turnName({ turn }) {
  return turn === null || turn === undefined ? "?" : String(turn).slice(0, 20);
}

/** The question that a run began with. */
export function questionOf(turns) {
  return turns[0]?.fresh.findLast((message) => message.role === "user")?.text ?? "";
}
