// What outlives a display: the newest state that the kernel sent. Draws wait until the view is on screen.

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

/** Calls `draw` once for any number of wishes, in the next frame, and only while `root` is on screen. */
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
    seen = entries.some((entry) => entry.isIntersecting);
    perhaps();
  }, { rootMargin: "200px" });
  observer.observe(root);
  signal.addEventListener("abort", () => observer.disconnect());
  return () => { wanted = true; perhaps(); };
}
