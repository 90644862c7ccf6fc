"""The three views and those who cannot see them, or not their colours: axe-core, reading order, focus."""

from playwright.sync_api import Page

from mcp_lessons.traffic import Traffic
from mcp_lessons.views import LoopView, ToolboxView

from .conftest import Beside
from .pages import axe_violations
from .sessions import CALC, FILES, Session, calculator


def troubles() -> Session:
    """What can go wrong: warnings, tools left out, a closed toolbox, runs that fail, wait or are cut."""
    session = Session()
    session.lists("calc", CALC)
    odd = [
        *FILES,
        FILES[0],
        {"name": "", "description": ""},
        {"name": "bare", "inputSchema": {}, "description": ""},
    ]
    session.asks_server("files", "tools/list")
    session.say("files", "received", id=1, result={"tools": [*odd, 7], "nextCursor": "more"})
    session.listed["files"] = FILES
    session.toolbox(
        "files joins", "files", ("files: 'search' has no type", *(f"warning {n}" for n in range(4)))
    )
    session.begins("First?", stream=True)
    session.asks()
    session.model("received", turn=1, error="401 Unauthorized")
    session.ends("error")
    session.begins("Second?")
    session.asks()
    calls = ("calc__add", '{"a": 1, "b": 2}'), ("nobody__has", '{"a": '), ("files__search", '{"query": "x"}')
    session.answers("I try. " * 400, *calls)
    session.asks_server("files", "tools/call", name="search", arguments={"query": "x"})
    session.leaves("calc")
    session.leaves("files")
    return session


def test_axe_finds_nothing_wrong_in_either_theme_with_everything_open(beside: Beside) -> None:
    assert axe_violations(beside(Traffic(), ToolboxView, LoopView)) == []
    page = beside(troubles().traffic, ToolboxView, LoopView)
    page.evaluate(_OPEN)
    for found, count in _OPENED.items():
        assert page.locator(found).count() == count, found
    assert axe_violations(page) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector(".ml-view[data-theme=dark]")
    assert axe_violations(page, "color-contrast") == []


_OPENED = {".mb-open": 3, ".mo-run[open]": 2, ".mo-sent:visible": 2, ".mo-chosen": 1, ".mb-warnings li": 2}
_OPEN = """() => {
  const click = (found) => [...document.querySelectorAll(found)].forEach((one) => one.click());
  click(".mo-run:not([open]) > summary");
  click("[role=radio][aria-checked=false]:first-child");
  [...document.querySelectorAll(".mb-tool")].filter((_, n) => n % 3 === 0).forEach((row) => row.click());
  click(".mo-toggle");
  click(".mo-link");
  for (const one of document.querySelectorAll(".ml-view details:not([open])")) one.open = true;
}"""


def test_a_screen_reader_hears_the_toolbox_from_the_sums_to_the_tools(beside: Beside) -> None:
    page = beside(calculator().traffic, ToolboxView)
    page.locator(".mb-tool", has_text="list_dir").click()
    heard(
        page,
        'region "Toolbox"', 'heading "Toolbox"', "what the toolbox would", "1 new", "1 changed", "6 tools",
        'combobox "Context window"', "Export", 'button "A+', 'radiogroup "Which list"', 'radio "Advertised',
        'radio "Would be sent', "[checked]", 'searchbox "Search tools"', 'list "Cost by server"', "calc 2",
        'list "Growth"', "button \"calc joins: 2 tools", 'button "files: list_changed: 6 tools',
        'treegrid "Toolbox"', 'columnheader "Tool"', 'row "calc', 'row "calc__add', "row \"files__list_dir",
        "changed: description", "Description before it changed", "deletion", "Description now",
        "description is not the first one", "table", 'columnheader "required"', "Token cost",
        "As the server advertised it", 'button "message ', 'button "Copy JSON"', "As the model receives",
        "Before it changed", 'row "files__search', "contains markup", "hidden characters", "Estimated",
    )  # fmt: skip


def test_a_screen_reader_hears_the_loop_turn_by_turn(beside: Beside) -> None:
    page = beside(calculator().traffic, LoopView)
    page.locator(".mo-toggle").nth(1).click()
    heard(
        page,
        'region "Agent loop"', 'heading "Agent loop"', "3 turns of at most 8", "4 tool calls", "1 tool error",
        "1 protocol error", "measured: 2,070 in", "Export", 'list "Run 1"', "Turn 1: 2 messages, 5 tools",
        "img \"Context of turn 1", "measured: 470 in", 'button "context"', "to the model",
        'button "messages 7–8"', "in parallel", 'list "2 tool calls in one reply"', "calc__add(a=19, b=23)",
        "result", 'button "wire 9–10"', "Turn 2", 'button "context" [expanded]', "isError", "by zero",
        "protocol error -32602", 'group "What the model was sent"', 'columnheader "part"', "tools of calc",
        "Turn 3", "model says", "The sum is 42", "stopped", "the model answered", "system", "one scale",
    )  # fmt: skip


def heard(page: Page, *parts: str) -> None:
    """Each part is in what a screen reader reads, after the one before it."""
    spoken, place = page.locator(".ml-view").aria_snapshot(), 0
    for part in parts:
        found = spoken.find(part, place)
        assert found >= 0, f"{part!r} is not heard after {spoken[max(place - 80, 0) : place]!r}: {spoken}"
        place = found


def test_all_that_has_the_focus_shows_it(beside: Beside) -> None:
    page = beside(calculator().traffic, ToolboxView, LoopView)
    page.locator(".mb-tool", has_text="list_dir").click()
    page.locator(".mb-open").wait_for()
    page.mouse.move(0, 0)
    page.evaluate("() => { document.body.tabIndex = -1; document.body.focus(); }")
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        what = page.evaluate(_FOCUSED)
        if what is None:
            break
        words, outline = what
        seen.add(words)
        assert outline, words
    for words in (
        "Export…",
        "A+",
        "Would be sent",
        "Search tools",
        "calc joins",
        "files__list_dir",
        "Copy JSON",
    ):
        assert any(words in one for one in seen), (words, seen)
    for words in ("Turn 1", "context", "messages 7–8", "wire 9–10", "wire 11–12", "messages 23–24"):
        assert any(words in one for one in seen), (words, seen)


_FOCUSED = """() => {
  const node = document.activeElement;
  if (node === document.body) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  const words = [node.getAttribute("aria-label"), node.textContent].filter(Boolean).join(" ");
  return [words, outlineStyle !== "none" && parseFloat(outlineWidth) >= 2];
}"""
