// Where things stand in the diagram: lanes, activation bars, the axis of the waterfall. Pure numbers.

const SIDE = 34; // room left of the first and right of the last lane, in em/14
const LEAST = 110; // between two lanes
const NEAR = 0.75; // from a model to the client
const BETWEEN_HEADS = 6;
const DEEPEST = 3; // bars drawn beside each other on one lane

/** The lanes in order: the models, the client, the servers. Each is {key, kind, name}. */
export function lanesOf(store) {
  const models = [...store.models];
  return [
    ...models.map((name) => ({ key: laneKey("model", name), kind: "model", name })),
    { key: "client", kind: "client", name: "" },
    ...store.servers.filter((name) => !store.models.has(name)).map((name) => ({ key: laneKey("server", name), kind: "server", name })),
  ];
}

function laneKey(kind, name) {
  return `${kind} ${name}`;
}

/** The lane of the other side of an entry: its server's or its model's, or the client's where there is none. */
export function farLane(entry) {
  if (!entry.server || entry.kind === "tools") return "client";
  return laneKey(entry.kind === "model" ? "model" : "server", entry.server);
}

/** [from, to] as lane keys; for what crosses no wire, both are the lane it stands on. */
export function ends(entry) {
  entry.ends ??= sides(entry); // asked for often, and never different
  return entry.ends;
}

function sides(entry) {
  const far = farLane(entry);
  if (entry.kind === "model" && !entry.direction) return ["client", "client"];
  if (entry.direction === "sent") return ["client", far];
  if (entry.direction === "received") return [far, "client"];
  return [far, far];
}

/**
 * The x of each lane in a diagram `width` wide: {x: {key: number}, width}; wider than asked if it must
 * be. The model stands nearer to the client than a server does.
 */
export function placeLanes(lanes, width, scale = 1) {
  const gaps = lanes.slice(1).map((_, i) => (lanes[i].kind === "model" ? NEAR : 1));
  const units = gaps.reduce((sum, gap) => sum + gap, 0);
  const [before, after] = [sideFor(lanes[0]) * scale, sideFor(lanes.at(-1)) * scale];
  const whole = Math.round(Math.max(width, before + after + LEAST * scale * units));
  let at = before;
  const x = {};
  lanes.forEach(({ key }, i) => {
    x[key] = Math.round(at) + 0.5;
    at += ((whole - before - after) / (units || 1)) * (gaps[i] ?? 0);
  });
  return { width: whole, x };
}

/** Half of what a lane's name needs, or so. */
function sideFor({ name }) {
  return Math.min(Math.max(SIDE, name.length * 4.4 + 26), 96);
}

/**
 * How wide the head of each lane may be, in pixels: as wide as its name needs, but never over its neighbour
 * or the edge of the diagram. A short name leaves its room to a long one beside it.
 */
export function headWidths(lanes, { x, width }, scale = 1) {
  const at = lanes.map(({ key }) => x[key]);
  const half = lanes.map((lane, i) => Math.min((nameWidth(lane) * scale) / 2, at[i], width - at[i]));
  for (let i = 0; i + 1 < lanes.length; i += 1) {
    const room = at[i + 1] - at[i] - BETWEEN_HEADS;
    if (half[i] + half[i + 1] <= room) continue;
    if (half[i] <= room / 2) half[i + 1] = room - half[i];
    else if (half[i + 1] <= room / 2) half[i] = room - half[i + 1];
    else half[i] = half[i + 1] = room / 2;
  }
  return half.map((one) => Math.floor(2 * one));
}

/** What a head takes with its mark and its frame, or a little more. */
function nameWidth({ kind, name }) {
  return kind === "client" ? 64 : Math.min(name.length * 8.6 + 38, 260);
}

/**
 * For each entry `from` … `to`, how many exchanges keep each lane at work before and after it:
 * [{lane: n}, {lane: n}]. An exchange works on the lane that was asked, from its request to its reply, or to
 * what ended it; an end that is `unseen` is still to come.
 */
export function activity(entries, unseen = () => false, from = 0, to = entries.length) {
  const turn = (turns += 1);
  for (const entry of entries) entry.turn = turn; // faster than a set of them
  const counts = {};
  const rows = [];
  for (let i = 0, now = {}; i < to; i += 1) {
    if (i === from) now = { ...counts };
    const before = now;
    const changed = work(entries[i], turn, unseen, counts);
    if (i < from) continue;
    if (changed) now = { ...counts };
    rows.push([before, now]);
  }
  return rows;
}

/** Let `entry` begin and end what it does; `live` on a request says that it is at work in this turn. */
function work(entry, turn, unseen, counts) {
  const closer = entry.role === "request" ? entry.endedBy ?? entry.partner : null;
  const begins = entry.role === "request" && (closer ? closer.turn === turn || unseen(closer) : entry.waiting);
  if (begins) step(entry, turn, counts, 1);
  const over = endedAt(entry).filter((asked) => asked.live === turn);
  for (const asked of over) step(asked, 0, counts, -1);
  return begins || over.length > 0;
}

function step(entry, turn, counts, by) {
  const lane = ends(entry)[1];
  entry.live = turn;
  counts[lane] = (counts[lane] ?? 0) + by;
}

function endedAt(entry) {
  if (entry.role === "reply") return entry.partner ? [entry.partner] : NONE;
  return entry.left ?? (entry.about ? [entry.about] : NONE);
}

const NONE = [];
let turns = 0;

/** How many bars stand on `lane` before and after one of the rows of `activity`, at most three. */
export function barsOn(lane, [before, after]) {
  return [before, after].map((counts) => Math.min(counts[lane] ?? 0, DEEPEST));
}

/** For each entry `from` … `to`, the set of lanes (of servers) whose process is gone after it. */
export function gone(entries, from = 0, to = entries.length) {
  let dead = new Set();
  const rows = [];
  for (let i = 0; i < to; i += 1) {
    const entry = entries[i];
    const over = entry.kind === "process" && entry.body?.event === "exited";
    if (over) dead = new Set(dead).add(farLane(entry));
    else if (dead.size && isBack(entry) && dead.has(farLane(entry))) dead = new Set([...dead].filter((lane) => lane !== farLane(entry)));
    if (i >= from) rows.push(dead);
  }
  return rows;
}

/** True for what only a server that is there can do. */
function isBack(entry) {
  return entry.kind !== "stderr" && (entry.direction !== "" || entry.body?.event === "spawned");
}

/**
 * The axis of the waterfall: a function from seconds to 0…1, in which idle stretches longer than `idle`
 * seconds shrink; `breaks` are the places (0…1, with the seconds left out) where they were.
 */
export function axis(spans, idle = 0.5) {
  const sorted = [...spans].sort((a, b) => a[0] - b[0]);
  const busy = [];
  for (const [from, to] of sorted) {
    const last = busy.at(-1);
    if (last && from - last[1] <= idle) last[1] = Math.max(last[1], to);
    else busy.push([from, to]);
  }
  const total = busy.reduce((sum, [from, to]) => sum + (to - from), 0) || 1e-6;
  const gap = Math.min(0.03 * total, total / busy.length) || total;
  const whole = total + gap * Math.max(busy.length - 1, 0);
  let at = 0;
  const parts = busy.map(([from, to], i) => {
    const part = { from, to, start: at / whole, end: (at + to - from) / whole };
    at += to - from + gap;
    return { ...part, skipped: i ? from - busy[i - 1][1] : 0 };
  });
  const place = (t) => {
    const part = parts.findLast(({ from }) => t >= from) ?? parts[0];
    if (!part) return 0;
    const share = part.to > part.from ? (Math.min(t, part.to) - part.from) / (part.to - part.from) : 0;
    return part.start + Math.max(share, 0) * (part.end - part.start);
  };
  return { place, breaks: parts.slice(1).map(({ start, skipped }) => ({ at: start, skipped })), total };
}
