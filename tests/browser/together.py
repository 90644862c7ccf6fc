"""Views on a page of their own, without a notebook: the modules that a notebook gets, and a kernel that
says what there is and then nothing more. Views of one record share their selection here as there."""

import json
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

from mcp_lessons.views._base import RecordView

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Views</title>
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'">
<style>
body { margin: 12px; background: #fff; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #e8eaed; } }
CSS
</style></head><body><main></main>
<script type="application/json" id="views">VIEWS</script>
<script type="module">
for (const { name, esm, start } of JSON.parse(document.getElementById("views").textContent)) {
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const { initialize, render } = (await import(url)).default();
  const model = { get: (key) => (key === "_start" ? start : null), set() {}, on() {}, send() {} };
  const host = document.createElement("div");
  host.id = name;
  document.querySelector("main").append(host);
  initialize({ model });
  render({ model, el: host, signal: new AbortController().signal });
}
document.body.dataset.ready = "yes";
</script></body></html>
"""


def write_page(path: Path, views: Sequence[RecordView]) -> None:
    """Write a page that shows `views`, one below the other, each in an element named after its class."""
    data = []
    for view in views:
        view._feed.displayed()
        data.append({"name": type(view).__name__, "esm": view._esm, "start": view._start})
        view.close()
    css = "\n".join(dict.fromkeys(view._css for view in views))
    shown = json.dumps(data).replace("<", "\\u003c")
    path.write_text(_PAGE.replace("CSS", css).replace("VIEWS", shown), encoding="utf-8")


def open_page(page: Page, path: Path, views: Sequence[RecordView]) -> None:
    """Write that page to `path`, open it, and wait until its views are drawn."""
    write_page(path, views)
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready=yes]")
