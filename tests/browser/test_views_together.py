"""The views side by side in Chromium, without a notebook: keys, one selection, sizes, long runs."""

import pytest
from hostile import hostile_traffic
from playwright.sync_api import Locator, Page

from mcp_lessons.views import LoopView, ToolboxView, TrafficView
from mcp_lessons.views._feed import shared

from .conftest import Beside
from .sessions import Session, calculator, called, tool

# One selection


def test_a_call_chosen_in_the_loop_is_marked_in_the_toolbox_and_in_the_traffic(beside: Beside) -> None:
    page = beside(calculator().traffic, TrafficView, ToolboxView, LoopView)
    page.locator(".mo-call", has_text="calc__divide").locator(".mo-link").click()
    page.locator(".mb-tool[aria-selected=true]", has_text="divide").wait_for()
    assert page.locator(".mb-tool[aria-selected=true]").count() == 1
    assert "divide" in page.locator(".mt-chosen").inner_text()
    page.locator(".mt-row[data-seq='10']").click()
    page.locator(".mb-tool[aria-selected=true]", has_text="add").wait_for()
    page.locator(".mo-turn").first.scroll_into_view_if_needed()  # what is not on screen is not drawn
    page.locator(".mo-call.mo-chosen", has_text="calc__add(").wait_for()


def test_a_list_chosen_in_the_traffic_marks_its_tools_and_a_change_its_column(beside: Beside) -> None:
    page = beside(calculator().traffic, TrafficView, ToolboxView)
    page.locator(".mt-row[data-seq='2']").click()
    page.locator(".mb-tool[aria-selected=true]", has_text="add").wait_for()
    assert page.locator(".mb-tool[aria-selected=true]").count() == 2
    page.locator(".mt-row[data-seq='6']").click()
    page.locator(".mb-step[aria-current=true]", has_text="files joins").wait_for()
    assert page.locator(".mb-tool[aria-selected=true]").count() == 0


def test_what_is_chosen_elsewhere_comes_into_sight_in_a_long_loop_and_a_long_list(beside: Beside) -> None:
    session = Session()
    session.lists("many", [tool(f"tool_{number:02}", "Does a thing.") for number in range(60)])
    session.begins("Folded.")
    session.asks()
    session.answers("No.")
    session.begins("Count.", max_turns=30)
    for _ in range(30):
        session.asks()
        session.answers("", ("many__tool_55", "{}"))
        called(session, "many", "tool_55", {}, 0, "done")
    page = beside(session.traffic, LoopView, ToolboxView)
    page.locator(".mo-link").last.click()
    marked = page.locator(".mb-tool[aria-selected=true]", has_text="tool_55")
    marked.wait_for()
    assert inside(page, ".mb-table", marked)
    for seq, found in ((6, ".mo-turn.mo-chosen"), (5, ".mo-holds > summary")):
        page.evaluate(_SELECT, [shared(session.traffic).record, seq])
        page.locator(found).wait_for()
        assert inside(page, ".mo-runs", page.locator(found))


_SELECT = """([record, seq]) => document.dispatchEvent(
  new CustomEvent("mcp-lessons-select", { detail: { record, seq, from: null, about: null } }))"""


def inside(page: Page, box: str, one: Locator) -> bool:
    outer, inner = page.locator(box).bounding_box(), one.bounding_box()
    assert outer and inner
    return outer["y"] - 1 <= inner["y"] and inner["y"] + 20 <= outer["y"] + outer["height"]


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


# Sizes and long sessions


@pytest.mark.parametrize(
    ("width", "bigger"), [(1070, False), (1070, True), (820, True), (535, False), (400, True)]
)
def test_larger_type_and_narrow_pages_squeeze_no_text(beside: Beside, width: int, bigger: bool) -> None:
    page = beside(calculator().traffic, ToolboxView, LoopView, width=width)
    for button in page.get_by_role("button", name="A+").all() if bigger else []:
        button.click()
    page.locator(".mb-tool", has_text="list_dir").click()
    page.locator(".mo-toggle").nth(1).click()
    page.locator(".mb-open").wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(_SQUEEZED) == []


_SQUEEZED = """() => [...document.querySelectorAll(".ml-view *")].filter((node) => {
  const texts = [...node.childNodes].filter((one) => one.nodeType === 3);
  const text = texts.map((one) => one.data).join("");
  const { width, height } = node.getBoundingClientRect(), size = parseFloat(getComputedStyle(node).fontSize);
  return text.trim().length > 8 && width > 2 && width < 4.5 * size && height > 2 * size;
}).map((node) => node.className + ": " + node.textContent.slice(0, 40))"""


def test_fifty_turns_scroll_in_themselves_and_keep_to_the_newest_until_the_reader_scrolls(
    beside: Beside,
) -> None:
    session = Session()
    session.begins("Count.", max_turns=60)
    for number in range(50):
        session.asks()
        session.answers(f"{number}")
    page = beside(session.traffic, LoopView)
    turns = page.locator(".mo-turn")
    assert turns.count() == 50
    first, last = turns.first.bounding_box(), turns.last.bounding_box()
    assert first and last and first["y"] < 1000 < last["y"]
    whole = page.locator(".mo-body").bounding_box()
    assert whole and whole["height"] < 1000
    page.locator(".mo-turn").first.focus()
    page.keyboard.press("End")
    last = turns.last.bounding_box()
    assert last and last["y"] < 1000


def test_a_folded_run_says_how_it_ended_and_how_many_turns_it_took(beside: Beside) -> None:
    session = Session()
    for reason in ("max_turns", "error", "answer"):
        session.begins(f"A question that ends with {reason}", max_turns=3)
        session.asks()
        session.answers("Well,")
        session.ends(reason)
    session.begins("The last one")
    session.asks()
    page = beside(session.traffic, LoopView)
    said = page.locator(".mo-run > summary").all_inner_texts()
    for summary, words in zip(
        said, ("the turns are spent", "an error ended it", "the model answered", ""), strict=True
    ):
        assert words in summary
        assert "1 turn of at most" in summary
    assert "null" not in page.locator(".ml-view").inner_text()


def test_in_forced_colours_errors_are_read_and_what_is_chosen_is_seen(beside: Beside) -> None:
    page = beside(calculator().traffic, ToolboxView, LoopView)
    page.emulate_media(forced_colors="active")
    page.locator(".mo-call", has_text="frobnicate").locator(".mo-link").click()
    bad = page.locator(".mo-call .ml-bad").first
    assert bad.evaluate("one => getComputedStyle(one).color !== getComputedStyle(one).backgroundColor")
    assert bad.evaluate("one => getComputedStyle(one).forcedColorAdjust") == "none"
    for chosen in (".mo-call.mo-chosen", ".mb-lists [aria-checked=true]"):
        assert page.locator(chosen).evaluate("one => getComputedStyle(one).outlineStyle") == "solid"


def test_in_a_long_list_an_opened_tool_comes_into_sight(beside: Beside) -> None:
    session = Session()
    session.lists("many", [tool(f"tool_{number:02}", "Does a thing.") for number in range(60)])
    page = beside(session.traffic, ToolboxView)
    page.locator(".mb-tool").first.focus()
    for _ in range(40):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    table, row, detail = (
        page.locator(found).bounding_box() for found in (".mb-table", ".mb-tool[tabindex='0']", ".mb-open")
    )
    assert table and row and detail
    assert table["y"] < row["y"]
    assert detail["y"] + min(detail["height"], 200) <= table["y"] + table["height"] + 1


# Hostile text


def test_the_hostile_corpus_runs_nothing_and_breaks_no_layout_in_toolbox_and_loop(beside: Beside) -> None:
    page = beside(hostile_traffic(), ToolboxView, LoopView)
    for list_name in page.get_by_role("radio").all():
        list_name.click()
        page.evaluate(_OPEN_EVERYTHING)
        assert page.locator(".mb-open").count() > 0
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".mo-call").count() > 0
    page.get_by_text("⟨U+202E⟩").first.wait_for()
    assert page.evaluate("() => [window.spoiled, {}.spoiled].every((one) => one === undefined)")
    inside = "img, iframe, object, embed, a[href], script, style, [onerror], [onload], [onmouseover]"
    assert page.locator(".ml-view").locator(inside).count() == 0


_OPEN_EVERYTHING = """() => {
  for (const node of document.querySelectorAll(".mb-tool[aria-expanded=false], .mo-toggle")) node.click();
  for (const node of document.querySelectorAll(".ml-view details:not([open])")) node.open = true;
}"""
