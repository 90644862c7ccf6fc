// The entry of TrafficView.

import { el } from "./common.js";
import { recordWidget } from "./page.js";

function createStore() {
  const heard = new Set();
  const store = { rows: [], servers: [], reset(message) { store.rows = []; store.add(message); }, add(message) {
    store.rows.push(...message.rows);
    store.servers = message.servers;
    heard.forEach((callback) => callback());
  }, subscribe(callback) { heard.add(callback); return () => heard.delete(callback); } };
  return store;
}

function mount(root, store, { signal }) {
  const draw = () => root.replaceChildren(...store.rows.map((row) => el("div", { text: `${row.seq} ${row.server} ${row.kind} ${row.raw}` })));
  signal.addEventListener("abort", store.subscribe(draw));
  draw();
}

export default recordWidget(createStore, mount);
