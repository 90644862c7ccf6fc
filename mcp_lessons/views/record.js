// The record in the page: replies find their requests, and what is said of either. Knows nothing of drawing.

import { list, object } from "./common.js";
import { read } from "./reading.js";

/** How many entries a page keeps; beyond it the oldest go, and are counted. */
export const KEPT = 10000;

const FAILED_ENDS = new Set(["exited", "stdout closed"]);

/**
 * The store of one record: `entries` in wire order, `servers` in order of first appearance, `dropped`.
 * `reset` and `add` take {rows, servers, dropped, record}; `subscribe(callback)` hears of each change.
 */
export class Store {
  constructor() {
    this.heard = new Set();
    this.clear();
  }

  clear() {
    this.entries = [];
    this.servers = [];
    this.record = null;
    this.started = false; // has anything been said to this page
    this.away = 0; // rows that never came to this page
    this.let_go = 0; // rows that this page dropped
    this.requests = new Map(); // (connection, direction, id) -> the newest request
    this.open = new Map(); // connection -> its requests that wait
    this.models = new Set();
    this.cursors = new Set(); // (connection, method, cursor) that were asked for
    this.tokens = new Set(); // (connection, progress token) that were given
    this.tools = new Map(); // (connection, tool) -> the tool as it was listed last
  }

  get dropped() {
    return this.away + this.let_go;
  }

  reset(message) {
    this.clear();
    this.started = true;
    this.fromNothing = message.fromNothing === true; // the view was there before the first message
    this.away = message.dropped ?? 0;
    this.add(message);
  }

  add({ rows, servers, record }) {
    this.record = record ?? this.record;
    for (const name of servers ?? []) if (!this.servers.includes(name)) this.servers.push(name);
    for (const row of rows) this.take(row);
    const excess = this.entries.length - KEPT;
    if (excess > 0) this.letGo(excess);
    for (const callback of this.heard) callback();
  }

  subscribe(callback) {
    this.heard.add(callback);
    return () => this.heard.delete(callback);
  }

  /** The number that decides a server's colour; -1 for none. */
  numberOf(server) {
    return server ? this.servers.indexOf(server) : -1;
  }

  /** The entry with this sequence number. */
  find(seq) {
    let [low, high] = [0, this.entries.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (this.entries[middle].seq === seq) return this.entries[middle];
      if (this.entries[middle].seq < seq) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  take(row) {
    const entry = read(row);
    if (entry.server && !this.servers.includes(entry.server) && entry.connection) this.servers.push(entry.server);
    if (entry.kind === "model") this.models.add(entry.server);
    if (entry.role === "request") this.asked(entry);
    else if (entry.role === "reply") this.answered(entry);
    else if (entry.kind === "notification") this.told(entry);
    else if (entry.kind === "process") this.process(entry);
    this.entries.push(entry);
  }

  asked(entry) {
    const key = keyOf(entry, entry.direction);
    this.page(entry);
    const meta = object(object(object(entry.body).params)._meta);
    if (meta.progressToken !== undefined) this.tokens.add(pairOf(entry, meta.progressToken));
    if (entry.direction === "received") entry.sameId = this.requests.get(keyOf(entry, "sent"))?.waiting;
    const before = this.requests.get(key);
    if (before) entry.flags.push("repeated-id");
    this.requests.set(key, entry);
    entry.waiting = true;
    if (!this.open.has(entry.connection)) this.open.set(entry.connection, new Set());
    this.open.get(entry.connection).add(entry);
  }

  /** Marks a request for a page that was asked for before. */
  page(entry) {
    const cursor = object(object(entry.body).params).cursor;
    if (cursor === undefined) return;
    const key = JSON.stringify([entry.connection, entry.method, cursor]);
    entry.sameCursor = this.cursors.has(key);
    this.cursors.add(key);
  }

  answered(entry) {
    const asked = this.requests.get(keyOf(entry, across(entry))) ?? this.meant(entry);
    if (!asked) {
      if (!entry.flags.includes("null-id")) entry.flags.push(this.dropped ? "older" : "orphan");
      return;
    }
    entry.method = asked.method;
    entry.asked = asked;
    if (asked.partner) {
      entry.flags.push("second-reply");
      return;
    }
    entry.partner = asked;
    asked.partner = entry;
    if (asked.ended) entry.flags.push("late");
    this.end(asked, asked.ended);
    entry.took = asked.took = entry.t - asked.t;
    const [oldest] = this.waitingFor(entry, 1);
    entry.overtook = oldest?.seq < asked.seq ? oldest : undefined;
    this.learn(entry);
  }

  /** As the client does: 3 is meant by "3", and the only request that waits by a reply without id. */
  meant(entry) {
    if (entry.id === null || entry.id === undefined) {
      entry.flags.push("null-id");
      const waiting = this.waitingFor(entry, 2);
      return waiting.length === 1 ? waiting[0] : undefined;
    }
    const other = typeof entry.id === "string" ? Number(entry.id) : String(entry.id);
    const asked = this.requests.get(keyOf({ ...entry, id: other }, across(entry)));
    if (asked) entry.flags.push("id-type");
    return asked;
  }

  /** The requests that wait on the side to which the reply `entry` goes: the oldest, at most `most` of them. */
  waitingFor(entry, most) {
    const found = [];
    for (const one of this.open.get(entry.connection) ?? []) {
      if (found.length === most) break;
      if (one.direction !== entry.direction) found.push(one);
    }
    return found;
  }

  /** Keeps what the tools were declared as, and gives it to the results of their calls. */
  learn(entry) {
    const result = object(object(entry.body).result);
    if (entry.method === "tools/list") for (const tool of list(result.tools)) this.tools.set(pairOf(entry, object(tool).name), tool);
    if (entry.method === "tools/call") entry.tool = this.tools.get(pairOf(entry, object(object(entry.asked.body).params).name));
  }

  told(entry) {
    if (entry.method === "notifications/progress") entry.knownToken = this.tokens.has(pairOf(entry, object(entry.body.params).progressToken));
    if (entry.method !== "notifications/cancelled") return;
    const asked = this.requests.get(keyOf({ ...entry, id: object(entry.body.params).requestId ?? null }, entry.direction));
    if (!asked) return;
    entry.about = asked;
    if (!asked.waiting) return;
    this.end(asked, "cancelled");
    asked.endedBy = entry;
  }

  process(entry) {
    if (!FAILED_ENDS.has(entry.body?.event)) return;
    entry.left = [...(this.open.get(entry.connection) ?? [])];
    for (const asked of entry.left) {
      this.end(asked, "exited");
      asked.endedBy = entry;
    }
  }

  end(asked, how) {
    asked.waiting = false;
    asked.ended = how;
    this.open.get(asked.connection)?.delete(asked);
  }

  letGo(n) {
    for (const entry of this.entries.splice(0, n)) {
      if (entry.role === "request" && this.requests.get(keyOf(entry, entry.direction)) === entry) this.requests.delete(keyOf(entry, entry.direction));
      this.open.get(entry.connection)?.delete(entry);
    }
    this.let_go += n;
  }
}

/** Pairs are (connection, direction of the request, id); the number 1 and the text "1" are two ids. */
export function keyOf(entry, direction) {
  return `${entry.connection} ${direction} ${JSON.stringify(entry.id)}`;
}

function across({ direction }) {
  return direction === "sent" ? "received" : "sent";
}

function pairOf({ connection }, value) {
  return JSON.stringify([connection, value]);
}

/** True for what "errors only" keeps. */
export function isWrong(entry) {
  return entry.flags.some((flag) => flag !== "older") || (entry.ended !== null && entry.role === "request");
}

/** What the header counts, over `entries`. */
export function tally(entries) {
  const sum = { request: 0, reply: 0, notification: 0, stderr: 0, noise: 0, model: 0, waiting: 0, toolErrors: 0, protocolErrors: 0 };
  for (const entry of entries) {
    if (entry.kind === "model") sum.model += entry.role === "request" ? 1 : 0;
    else if (entry.kind in sum) sum[entry.kind] += 1;
    if (entry.waiting) sum.waiting += 1;
    if (entry.flags.includes("tool-error")) sum.toolErrors += 1;
    if (entry.flags.includes("protocol-error")) sum.protocolErrors += 1;
  }
  return sum;
}
