"""Fixtures: one JupyterLab, one Notebook 7 and one Chromium for all tests of the browser."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Playwright, sync_playwright

from .lab import Lab, LabPage, Watched, chromium_context


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def context(playwright: Playwright, chromium: str) -> Iterator[BrowserContext]:
    with chromium_context(playwright, chromium) as opened:
        yield opened


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    with Lab() as started:
        yield started


@pytest.fixture(scope="session")
def notebook_7() -> Iterator[Lab]:
    with Lab("notebook") as started:
        yield started


@pytest.fixture
def tab(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    yield page
    page.close()


@pytest.fixture
def lab_page(lab: Lab, tab: Page) -> Iterator[LabPage]:
    """An empty tab for a notebook; page errors, dialogs and requests elsewhere fail the test."""
    page = LabPage(tab, lab)
    yield page
    lab.end_sessions()
    page.check()


Show = Callable[..., Page]


@pytest.fixture
def show(tab: Page, tmp_path: Path) -> Iterator[Show]:
    """`show(traffic)` opens the page that `traffic.save_html` makes of it."""
    watched = Watched(tab, "file://")

    def show_it(traffic: Any, width: int = 1400, height: int = 1000, scheme: str = "light") -> Page:
        path = tmp_path / "traffic.html"
        traffic.save_html(path)
        tab.set_viewport_size({"width": width, "height": height})
        tab.emulate_media(color_scheme=scheme, forced_colors="none", reduced_motion="no-preference")
        tab.goto(path.as_uri())
        tab.wait_for_function("() => window.mcpLessons")
        return tab

    yield show_it
    watched.check()


Beside = Callable[..., Page]


@pytest.fixture
def beside(tab: Page, tmp_path: Path) -> Iterator[Beside]:
    """`beside(traffic, ToolboxView, …)` opens a page with these views of it."""
    from .together import open_page

    watched = Watched(tab, "file://")

    def show(traffic: Any, *views: Any, width: int = 1200, scheme: str = "light") -> Page:
        tab.set_viewport_size({"width": width, "height": 1000})
        tab.emulate_media(color_scheme=scheme, forced_colors="none", reduced_motion="no-preference")
        open_page(tab, tmp_path / "views.html", [view(traffic) for view in views])
        return tab

    yield show
    watched.check()
