// What outlives a display: the newest state that the kernel sent. And how it is drawn: only on screen, and
// with what has not changed left in its place, so that focus, scrolling and what is open survive.

/** A store whose `value` is what `merge(before, rows)` makes of each message; `before` is null on a reset. */
export function stateStore(merge) {
  const heard = new Set();
  const store = {
    value: null, servers: [], record: "", dropped: 0,
    reset(message) { take(message, null); },
    add(message) { take(message, store.value); },
    subscribe(callback) { heard.add(callback); return () => heard.delete(callback); },
  };
  function take(message, before) {
    store.value = merge(before, message.rows);
    for (const field of ["servers", "record", "dropped"]) store[field] = message[field] ?? store[field];
    heard.forEach((callback) => callback());
  }
  return store;
}

/** A function that calls `draw` once for any number of wishes, in the next frame, and only while `root` is seen. */
export function drawnWhenSeen(root, signal, draw) {
  let wanted = false, seen = false, asked = false;
  const perhaps = () => {
    if (!wanted || !seen || asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      if (signal.aborted || !wanted) return;
      wanted = false;
      draw();
    });
  };
  const observer = new IntersectionObserver((entries) => {
    seen = entries.at(-1).isIntersecting;
    perhaps();
  }, { rootMargin: "200px" });
  observer.observe(root);
  signal.addEventListener("abort", () => observer.disconnect());
  return () => { wanted = true; perhaps(); };
}

/** Make `nodes` (falsy ones left out) the children of `parent`; those that are there already are not moved. */
export function sync(parent, nodes) {
  const wanted = nodes.filter(Boolean), stay = new Set(wanted);
  for (const old of [...parent.childNodes]) if (!stay.has(old)) old.remove();
  wanted.forEach((node, i) => { if (parent.childNodes[i] !== node) parent.insertBefore(node, parent.childNodes[i] ?? null); });
}

/** Scroll `box` as far as it takes to see the head of `node`, `below` pixels from its top; never the page around it. */
export function scrollTo(box, node, below = 0) {
  const outer = box.getBoundingClientRect(), inner = node.getBoundingClientRect();
  const over = inner.bottom - outer.bottom, room = inner.top - outer.top - below;
  if (room < 0) box.scrollTop += room;
  else if (over > 0) box.scrollTop += Math.min(over, room);
}

/** A function that returns what `make()` returned last, until `print` (a text) changes. */
export function remembering() {
  let known = null, node = null;
  return (print, make) => {
    if (print !== known) [known, node] = [print, make()];
    return node;
  };
}
