"""`make pictures`: the picture in README and one for each lesson, made from the running program.

Each lesson's notebook is run for real, up to the cell with its view; the record that it has by then is
drawn by that view in Chromium, and photographed. With numbers, only those lessons' pictures are made.
"""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import nbformat
from needs import find_chromium
from playwright.sync_api import BrowserContext, Page, sync_playwright
from project import ROOT

from browser.lab import chromium_context
from browser.small_png import small_png
from browser.together import open_page
from mcp_lessons.course import notebook
from mcp_lessons.traffic import Event, Traffic
from mcp_lessons.views import LoopView, ToolboxView, TrafficView

NOTEBOOKS = ROOT / "notebooks"
FIGURES = NOTEBOOKS / "figures"
LARGEST = 150_000
"""Bytes of a picture: a page with several of them loads quickly."""


Look = Callable[[Page, Traffic], None]


@dataclass(frozen=True)
class Picture:
    """The view of what notebook `lesson` has recorded once `cell` has run; `look` is what a reader does."""

    file: str
    lesson: int
    cell: str
    view: type
    look: Look
    width: int = 1000


def message(fits: Callable[[Event], Any]) -> Look:
    """Choose the first message that `fits`."""

    def choose(page: Page, traffic: Traffic) -> None:
        events = list(traffic)
        found = next(n for n, event in enumerate(events) if fits(event))
        page.locator(".mt-row[data-seq]").first.click()
        for key in ["Home", *["ArrowDown"] * found]:
            page.keyboard.press(key)

    return choose


def forecast(event: Event) -> Any:
    return event.kind == "reply" and "Larkmoor on Saturday" in event.raw


def a_result(event: Event) -> Any:
    return event.kind == "reply" and "result" in event.body


def a_notification(event: Event) -> Any:
    return event.kind == "notification"


def a_failure(event: Event) -> Any:
    return a_result(event) and event.body["result"].get("isError")


def tool(name: str) -> Look:
    """Open the row of this tool."""
    return lambda page, _: page.locator(".mb-tool", has_text=name).click()


def last_context(page: Page, _: Traffic) -> None:
    """Open what the model was sent in the last turn."""
    page.locator(".mo-toggle").last.click()


PICTURES = [
    Picture("traffic.png", 0, "ask", TrafficView, message(forecast), width=1280),
    Picture("lesson_0_view.png", 0, "ask", LoopView, last_context),
    Picture("lesson_1_view.png", 1, "be8f3d66", TrafficView, message(a_result)),
    Picture("lesson_2_view.png", 2, "8936f338", TrafficView, message(a_notification)),
    Picture("lesson_3_view.png", 3, "code-list-tools-v1-client-2", ToolboxView, tool("shelters")),
    Picture("lesson_4_view.png", 4, "code-view", TrafficView, message(a_failure)),
    Picture("lesson_5_view.png", 5, "toolbox-view", ToolboxView, tool("maps__route"), width=1100),
    Picture("lesson_6_view.png", 6, "loop-view", LoopView, last_context),
]


def record_of(lesson: int, cell: str) -> Traffic:
    """What the notebook of this lesson has recorded in `traffic` when `cell` has run."""
    (path,) = NOTEBOOKS.glob(f"{lesson:02}_*.ipynb")
    book: Any = notebook.read(path)
    ids = [one.id for one in book.cells]
    if cell not in ids:
        raise SystemExit(
            f"{path.name} has no cell {cell!r}: say in {Path(__file__).name} which one it is now"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "session.jsonl"
        book.cells = [
            *book.cells[: ids.index(cell) + 1],
            nbformat.v4.new_code_cell(f"traffic.save({str(file)!r})"),
        ]
        notebook.execute(book, NOTEBOOKS)
        return Traffic.load(file)


def photograph(context: BrowserContext, picture: Picture, traffic: Traffic) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": picture.width, "height": 900})
    with tempfile.TemporaryDirectory() as folder:
        open_page(page, Path(folder) / "view.html", [picture.view(traffic)])
        picture.look(page, traffic)
        page.mouse.move(0, 0)
        page.evaluate("() => document.activeElement.blur()")
        shot = page.locator(".ml-view").screenshot(animations="disabled")
    page.goto("about:blank")
    (FIGURES / picture.file).write_bytes(small_png(page, shot))
    page.close()
    size = (FIGURES / picture.file).stat().st_size
    print(f"{picture.file}: {size:,} bytes")
    if size > LARGEST:
        raise SystemExit(f"{picture.file} is larger than {LARGEST:,} bytes: choose a smaller view")


def main(lessons: set[int]) -> None:
    wanted = [picture for picture in PICTURES if not lessons or picture.lesson in lessons]
    with (
        sync_playwright() as playwright,
        chromium_context(playwright, find_chromium(), device_scale_factor=1.5) as context,
    ):
        for picture in wanted:
            photograph(context, picture, record_of(picture.lesson, picture.cell))


if __name__ == "__main__":
    main({int(number) for number in sys.argv[1:]})
