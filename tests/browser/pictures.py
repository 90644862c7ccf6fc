"""`make pictures`: the pictures in README and the lessons, made from the running program.

The picnic of lesson 0 is run for real; its record is drawn by the views in Chromium, and photographed.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from needs import find_chromium
from playwright.sync_api import sync_playwright
from project import ROOT

from browser.lab import chromium_context
from mcp_lessons import Toolbox, Traffic, choose_llm, run_agent

QUESTION = "How do I get from Tessaby to Larkmoor on Saturday, and will it rain there?"
FIGURES = ROOT / "notebooks" / "figures"


def picnic() -> Traffic:
    """The record of the picnic question, answered with two servers and the Oracle."""
    traffic = Traffic()
    llm, model = choose_llm()
    with Toolbox(traffic=traffic) as toolbox:
        for name in ("weather", "maps"):
            toolbox.mount(name, [sys.executable, "-m", f"mcp_lessons.servers.{name}"])
        run_agent(QUESTION, toolbox, llm=llm, model=model)
    choose_llm.close()
    return traffic


def last_reply(traffic: Traffic, server: str) -> int:
    """The number of the last reply of this server."""
    return max(event.seq for event in traffic if event.kind == "reply" and event.server == server)


def main() -> None:
    traffic = picnic()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "picnic.html"
        traffic.save_html(page_file)
        with chromium_context(playwright, find_chromium(), device_scale_factor=1.5) as context:
            page = context.new_page()
            page.set_viewport_size({"width": 1280, "height": 1000})
            page.goto(page_file.as_uri())
            page.locator(".mt-row[data-seq]").first.click()
            page.keyboard.press("Home")
            for _ in range(last_reply(traffic, "weather") - 1):
                page.keyboard.press("ArrowDown")
            page.mouse.move(0, 0)
            page.locator("#view").screenshot(path=FIGURES / "traffic.png")


if __name__ == "__main__":
    main()
