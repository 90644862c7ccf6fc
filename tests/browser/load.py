"""A long record for the view, and what it costs a page: `python -m browser.load` in tests/ prints it."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page

from mcp_lessons.traffic import Traffic

SERVERS = ["weather", "maps"]
BUDGETS = {"drawn, ms": 2000, "row elements": 60, "longest task, ms": 200, "filter, ms": 50}

_WATCH = """() => {
  window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: "longtask", buffered: true });
}"""
_FEED = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const { store } = window.mcpLessons;
  const began = performance.now();
  for (const { op, rows, ...rest } of window.messages) {
    store[op]({ ...rest, rows: JSON.parse(rows) }); // as text, as a kernel sends them
    await frame();
  }
  await frame();
  return performance.now() - began;
}"""
_FILTER = """(query) => {
  const { state } = window.mcpLessons.display;
  const began = performance.now();
  state.setFilter({ query });
  document.querySelector(".mt-grid").getBoundingClientRect();
  return performance.now() - began;
}"""


def long_traffic(messages: int) -> Traffic:
    """`messages` messages of two servers: half requests, half replies."""
    traffic = Traffic()
    wires = [traffic.recorder(name) for name in SERVERS]
    for number in range(messages // 2):
        wire = wires[number % 2]
        call = {"name": "forecast", "arguments": {"place": f"Place {number}", "day": "Friday"}}
        wire("sent", json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}))
        text = {"content": [{"type": "text", "text": f"Rain in place {number}, with some wind. " * 3}]}
        wire("received", json.dumps({"jsonrpc": "2.0", "id": number, "result": text}))
    return traffic


def measure(page: Page, traffic: Traffic) -> dict[str, float]:
    """Feed an open, empty page as a kernel does, a thousand rows at a time, and take its times."""
    from mcp_lessons.views import _rows

    rows = _rows.rows(list(traffic))
    parts = [rows[start : start + 1000] for start in range(0, len(rows), 1000)]
    messages: list[dict[str, Any]] = [
        {"op": "add" if number else "reset", "rows": _rows.dumps(part), "servers": SERVERS, "dropped": 0}
        for number, part in enumerate(parts)
    ]
    page.evaluate(_WATCH)
    for message in messages:  # one by one: to take them all at once would be the longest task
        page.evaluate("(message) => (window.messages ??= []).push(message)", message)
    drawn = page.evaluate(_FEED)
    page.evaluate("() => { document.querySelector('.mt-grid').scrollTop = 200000; }")
    page.wait_for_function("() => document.querySelector('.mt-row[data-seq=\"4763\"]')")
    elements = page.evaluate("() => document.querySelectorAll('.mt-row[data-seq]').length")
    page.evaluate(_FILTER, "wind")  # the first search lowers all text once
    filtered = min(
        page.evaluate(_FILTER, query) for query in ("place 77", "id:4321", "method:tools/call", "")
    )
    longest = page.evaluate("() => Math.max(0, ...window.tasks)")
    return dict(zip(BUDGETS, (drawn, elements, longest, filtered), strict=True))


def main() -> int:
    from needs import find_chromium
    from playwright.sync_api import sync_playwright

    from .lab import chromium_context
    from .pages import empty_page

    with sync_playwright() as playwright, chromium_context(playwright, find_chromium() or "") as context:
        page = context.new_page()
        with processor_times(page) as times:
            figures = measure(empty_page(page), long_traffic(10_000))
    figures |= {"longest task, ms": max(times)}  # of the processor: what else the machine did does not count
    for name, value in figures.items():
        print(f"{name:20} {value:8.0f}   budget {BUDGETS[name]}")
    return int(any(value > BUDGETS[name] for name, value in figures.items()))


@contextmanager
def processor_times(page: Page) -> Iterator[list[float]]:
    """The processor time of each task of the browser in the block, in milliseconds; there when it ends."""
    session = page.context.new_cdp_session(page)
    times: list[float] = []
    over: list[object] = []

    def take(message: Any) -> None:
        times.extend(one.get("tdur", 0) / 1000 for one in message["value"] if "RunTask" in one["name"])

    session.on("Tracing.dataCollected", take)
    session.on("Tracing.tracingComplete", lambda message: over.append(message))
    session.send("Tracing.start", {"traceConfig": {"includedCategories": ["toplevel"]}})
    yield times
    session.send("Tracing.end")
    while not over:
        page.wait_for_timeout(50)


if __name__ == "__main__":
    sys.exit(main())
