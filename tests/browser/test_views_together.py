"""The views side by side in Chromium, without a notebook: keys, one selection, every state of each view."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from mcp_lessons.traffic import Traffic
from mcp_lessons.views import LoopView, ToolboxView, TrafficView

from .lab import Watched
from .sessions import calculator
from .together import open_page

Beside = Callable[..., Page]


@pytest.fixture
def beside(tab: Page, tmp_path: Path) -> Iterator[Beside]:
    """`beside(traffic, ToolboxView, …)` opens a page with these views of it."""
    watched = Watched(tab, "file://")

    def show(traffic: Traffic, *views: Any, width: int = 1200, scheme: str = "light") -> Page:
        tab.set_viewport_size({"width": width, "height": 1000})
        tab.emulate_media(color_scheme=scheme, forced_colors="none", reduced_motion="no-preference")
        open_page(tab, tmp_path / "views.html", [view(traffic) for view in views])
        return tab

    yield show
    watched.check()


# One selection


def test_a_call_chosen_in_the_loop_is_marked_in_the_toolbox_and_in_the_traffic(beside: Beside) -> None:
    page = beside(calculator().traffic, TrafficView, ToolboxView, LoopView)
    page.locator(".mo-call", has_text="calc__divide").locator(".mo-link").click()
    page.locator(".mb-tool[aria-selected=true]", has_text="divide").wait_for()
    assert page.locator(".mb-tool[aria-selected=true]").count() == 1
    assert "divide" in page.locator(".mt-chosen").inner_text()


def test_a_list_chosen_in_the_traffic_marks_its_tools_and_a_change_its_column(beside: Beside) -> None:
    page = beside(calculator().traffic, TrafficView, ToolboxView)
    page.locator(".mt-row[data-seq='2']").click()
    page.locator(".mb-tool[aria-selected=true]", has_text="add").wait_for()
    assert page.locator(".mb-tool[aria-selected=true]").count() == 2
    page.locator(".mt-row[data-seq='6']").click()
    page.locator(".mb-step[aria-current=true]", has_text="files joins").wait_for()
    assert page.locator(".mb-tool[aria-selected=true]").count() == 0


# Keys


def test_brackets_step_through_the_loop_and_p_goes_to_the_other_half(beside: Beside) -> None:
    page = beside(calculator().traffic, TrafficView, LoopView)
    page.locator(".mo-turn").first.focus()
    chosen = page.locator(".mt-chosen")
    seen = []
    for key in ("]", "]", "]", "p", "p", "]", "["):
        page.keyboard.press(key)
        seen.append(int(chosen.get_attribute("data-seq") or 0))
    assert seen == [7, 9, 11, 12, 11, 13, 11]
    assert page.evaluate("() => document.activeElement.textContent") == "wire 11–12"
    assert page.locator(".mo-link[aria-current=true]").all_inner_texts() == ["wire 11–12"]
    page.locator(".mo-turn").last.focus()
    page.keyboard.press("[")
    assert page.locator(".mo-link[aria-current=true]").inner_text() == "wire 17–18"


def test_brackets_step_through_the_growth_and_a_slash_goes_to_the_search(beside: Beside) -> None:
    page = beside(calculator().traffic, TrafficView, ToolboxView)
    page.locator(".mb-tool").first.focus()
    for key, cause in (("[", "files: list_changed"), ("[", "files joins"), ("]", "files: list_changed")):
        page.keyboard.press(key)
        assert cause in page.locator(".mb-step[aria-current=true]").inner_text()
        assert "files" in page.locator(".mt-chosen").inner_text()
    page.keyboard.press("/")
    page.keyboard.type("[di")
    assert page.locator(".mb-search").input_value() == "[di"
