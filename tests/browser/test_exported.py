"""A notebook with all three views, exported by nbconvert, in Chromium: the tables, and no script at fault."""

import subprocess
import sys
from urllib.parse import urlsplit

from playwright.sync_api import Page, Route

from .lab import Lab
from .test_loop_in_lab import RECORD, WRITTEN

LEFT = {  # each view, and what leaves its table in the page: beside the live one, or in its place
    "TrafficView": "view.freeze()",
    "ToolboxView": "view.snapshot()",
    "LoopView": "view.snapshot()",
}
MARKUP = "<img src=x onerror=console.log('hostile')>"
TOOL = {"type": "function", "function": {"name": "calc__add", "description": MARKUP}}
OFFERED = """traffic.add("tools", body={"cause": "calc changes", "schemas": [tool], "warnings": [],
    "origins": {"calc__add": {"server": "calc", "tool": "add", "connection": 1}}})"""


def exported(lab: Lab) -> None:
    """Run the notebook of the three views, each live and as a table, and write export.html."""
    cells = [RECORD + WRITTEN, f"tool = {TOOL!r}\n{OFFERED}"]
    for view in LEFT:
        cells += [f"view = {view}(traffic)\nview", LEFT[view]]
    lab.write("export.ipynb", cells)
    command = [sys.executable, "-m", "nbconvert", "--to=html", "--execute", "export.ipynb"]
    run = subprocess.run(
        command, cwd=lab.root, env=lab.environment(), capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr


def test_a_notebook_exported_by_nbconvert_shows_the_tables_in_order(lab: Lab, tab: Page) -> None:
    exported(lab)
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda message: errors.append(message.text) if "hostile" in message.text else None)
    refused: list[str] = []

    def only_files(route: Route) -> None:
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            refused.append(urlsplit(route.request.url).hostname or "")
            route.abort()

    tab.route("**/*", only_files)
    tab.goto((lab.root / "export.html").as_uri())
    traffic, toolbox, loop = tab.locator("table:has(caption)").all_inner_texts()
    assert traffic.startswith("Traffic: 1 request, 1 reply")
    assert "Client\u00a0→\u00a0calc\trequest: tools/call add(a=19, b=23)\tresult: 42" in traffic
    assert toolbox.startswith("Toolbox, would be sent: 1 tool")
    assert MARKUP in toolbox
    assert loop.startswith("Agent loop: 1 turn of at most 4, 1 tool call")
    assert "← result: 42" in loop
    assert tab.locator("img[src=x]").count() == 0
    alive = tab.locator('script[type="application/vnd.jupyter.widget-view+json"]')
    assert alive.count() == 2, "a view that was frozen is no widget any more"
    assert errors == []
    # what nbconvert's own template asks for: require.js, MathJax, the renderer of widgets
    assert set(refused) <= {"cdnjs.cloudflare.com", "unpkg.com"}
