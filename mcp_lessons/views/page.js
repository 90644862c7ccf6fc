// How a view lives in its page: the link to the kernel, the theme, the keyboard, the size of type, and
// what the views of one record share (selection).

import { el } from "./common.js";
import T from "./text/common.json" with { type: "json" };

/**
 * The anywidget definition of a view. `createStore()` makes what outlives a display: an object with
 * `reset(message)` and `add(message)`, where message is {rows, servers, dropped, record}, and
 * `subscribe(callback) -> unsubscribe`. `mount(root, store, {signal})` draws it into `root`.
 */
export function recordWidget(createStore, mount) {
  return () => {
    const store = createStore();
    const page = Math.random().toString(36).slice(2);
    let shown = 0;
    return {
      initialize({ model }) {
        const again = () => model.send({ op: "hello", page });
        const link = new Link(store, () => { if (shown) again(); });
        const start = () => link.start(model.get("_start"));
        model.on("msg:custom", (message) => link.take(message));
        model.on("change:_start", start);
        takeMessagesAnyway(model);
        start();
      },
      render({ model, el: host, signal }) {
        const ends = new AbortController();
        const root = el("div", { class: "ml-view" });
        host.append(root);
        live(root, ends.signal);
        mount(root, store, { signal: ends.signal });
        shown += 1;
        if (shown === 1) model.send({ op: "hello", page });
        const end = () => {
          if (ends.signal.aborted) return;
          ends.abort();
          shown -= 1;
          if (shown === 0) model.send({ op: "bye", page });
        };
        signal?.addEventListener("abort", end);
        return end;
      },
    };
  };
}

/**
 * When a busy page needs more than two seconds to load a view, anywidget hands it no message for good
 * (its `Runtime.ready`). Here the view is loaded: from now on messages are taken as ipywidgets takes them.
 */
function takeMessagesAnyway(model) {
  model.on("change:_loaded", (inner) => {
    const take = Object.getPrototypeOf(Object.getPrototypeOf(inner))._handle_comm_msg;
    if (take && inner.comm) inner.comm.on_msg(take.bind(inner));
  });
  model.set("_loaded", true);
}

const ROWS_A_FRAME = 1000;

/** Draw without a kernel: `message` is what a reset would have brought. Returns {store, display}. */
export function standAlone(host, createStore, mount, message) {
  const store = createStore();
  const root = el("div", { class: "ml-view" });
  host.append(root);
  const { signal } = new AbortController();
  live(root, signal);
  const display = mount(root, store, { signal });
  store.reset({ ...message, rows: message.rows.slice(0, ROWS_A_FRAME) });
  later(store, message, ROWS_A_FRAME);
  return { store, display };
}

/** The rest of a long record, a part a frame, so that the page answers meanwhile. */
function later(store, message, from) {
  if (from >= message.rows.length) return;
  requestAnimationFrame(() => setTimeout(() => {
    store.add({ ...message, rows: message.rows.slice(from, from + ROWS_A_FRAME) });
    later(store, message, from + ROWS_A_FRAME);
  }));
}

/** What comes from the kernel, in order and without a gap; `again` asks for everything. */
export class Link {
  constructor(store, again) {
    this.store = store;
    this.again = again;
    this.upto = -1; // the last event that the store knows of
    this.asked = false;
  }

  /** What stood there when the page was opened: a list of messages as JSON text, or "". */
  start(text) {
    const messages = text ? JSON.parse(text) : [];
    if (messages.length && messages[0].upto > this.upto) messages.forEach((message) => this.take(message));
  }

  take(message) {
    if (message?.op === "reset") this.pass("reset", message);
    else if (message?.op === "more" && message.upto === this.upto) this.pass("add", message);
    else if (message?.op === "add" && message.upto > this.upto) this.next(message);
  }

  next(message) {
    if (message.after <= this.upto) this.pass("add", message);
    else if (!this.asked) {
      this.asked = true;
      this.again();
    }
  }

  pass(how, message) {
    this.upto = message.upto;
    if (how === "reset") this.asked = false;
    this.store[how]({ ...message, rows: JSON.parse(message.rows), servers: JSON.parse(message.servers) });
  }
}

function live(root, signal) {
  containKeys(root);
  watchTheme(root, signal);
  if (remembered.big) root.classList.add("ml-big");
}

/** Plain keys stay inside the view: JupyterLab would take `b` for "insert a cell". Esc and chords go through. */
export function containKeys(root) {
  const stop = (event) => {
    if (event.key !== "Escape" && !event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  };
  for (const type of ["keydown", "keypress", "keyup"]) root.addEventListener(type, stop);
  root.setAttribute("data-lm-suppress-shortcuts", "true");
}

/** Sets data-theme of `root` to "light" or "dark" after the background that really lies behind it. */
export function watchTheme(root, signal) {
  const look = () => { root.dataset.theme = darkBehind(root) ? "dark" : "light"; };
  const observer = new MutationObserver(look);
  for (const node of [document.documentElement, document.body]) {
    observer.observe(node, { attributes: true, attributeFilter: ["class", "style", "data-jp-theme-light", "data-theme", "data-bs-theme"] });
  }
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", look);
  document.addEventListener("load", look, true); // a theme's style sheet that arrives late
  signal?.addEventListener("abort", () => {
    observer.disconnect();
    scheme.removeEventListener("change", look);
    document.removeEventListener("load", look, true);
  });
  look();
  requestAnimationFrame(look);
}

function darkBehind(root) {
  for (let node = root.parentElement; node; node = node.parentElement) {
    const [r, g, b, a = 1] = (getComputedStyle(node).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    if (r !== undefined && a > 0.5) return 0.2126 * r + 0.7152 * g + 0.0722 * b < 128;
  }
  return false;
}

const remembered = { big: false };

/** The A+ button: larger type in this view and in those drawn after it. */
export function biggerButton(root) {
  const node = el("button", { type: "button", class: "ml-button", text: T.bigger, title: T.biggerHint, "aria-label": `${T.bigger}: ${T.biggerHint}`, "aria-pressed": String(remembered.big), on: { click: () => {
    remembered.big = root.classList.toggle("ml-big");
    node.setAttribute("aria-pressed", String(remembered.big));
    root.dispatchEvent(new CustomEvent("ml-size"));
  } } });
  return node;
}

/** Tell the other views of the same record that the reader chose message `seq`; `about` is the tool that it
 * calls, {server, tool}, if any. */
export function announce(record, seq, from, about = null) {
  document.dispatchEvent(new CustomEvent("mcp-lessons-select", { detail: { record, seq, from, about } }));
}

/** Hear what is chosen in other views of the record: `callback(seq, about)`. `record()` is asked each time. */
export function onAnnounced(record, self, signal, callback) {
  document.addEventListener("mcp-lessons-select", ({ detail }) => {
    if (detail.record === record() && detail.from !== self) callback(detail.seq, detail.about);
  }, { signal });
}
