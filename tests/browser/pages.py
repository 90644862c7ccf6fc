"""Pages of `save_html` for tests, without a notebook."""

import os
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from mcp_lessons.traffic import Traffic


def empty_page(page: Page) -> Page:
    """A page with a TrafficView of an empty record, to be fed through `window.mcpLessons.store`."""
    with tempfile.TemporaryDirectory(prefix=".pages-") as folder:
        path = Path(folder) / "empty.html"
        Traffic().save_html(path)
        page.goto(path.as_uri())
        page.wait_for_function("() => window.mcpLessons")
    return page


def axe_violations(page: Page, only: str = "") -> list[str]:
    """What axe-core finds wrong, a line each; `only` names one rule to look at."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_axe().read_text(encoding="utf-8"))
    found = page.evaluate(_AXE, only)
    return [f"{one['id']}: {one['help']}: {node}" for one in found for node in one["nodes"]]


_AXE = """async (only) => {
  const options = only ? { runOnly: [only] } : { rules: { region: { enabled: false } } };
  const { violations } = await axe.run(".ml-view", { ...options, resultTypes: ["violations"] });
  const said = (node) => node.html.slice(0, 200) + " " + node.failureSummary.slice(0, 300);
  return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.slice(0, 5).map(said) }));
}"""


def _axe() -> Path:
    places = [
        Path(__file__).parent.parent / "node_modules",
        *map(Path, os.environ.get("NODE_MODULES", "").split()),
    ]
    found = [place / "axe-core" / "axe.min.js" for place in places]
    return next(path for path in found if path.is_file())
