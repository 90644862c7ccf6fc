"""TrafficView in Chromium on a page of its own: hostile text, accessibility, keyboard, sizes, load."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile import hostile_traffic
from playwright.sync_api import Page

from mcp_lessons.traffic import Traffic

from .load import BUDGETS, long_traffic, measure
from .pages import axe_violations, empty_page

Show = Callable[..., Page]


@pytest.fixture
def session() -> Traffic:
    """Two servers and a model; a tool error, a protocol error, a banner, an orphan, an exit."""
    ticks = iter(range(10_000))
    traffic = Traffic(clock=lambda: next(ticks) / 100)
    weather, maps = traffic.recorder("weather"), traffic.recorder("maps")

    def say(wire: Any, source: str, **message: Any) -> None:
        wire(source, json.dumps({"jsonrpc": "2.0", **message}))

    say(weather, "sent", id=1, method="tools/list")
    say(weather, "received", id=1, result={"tools": [{"name": "forecast", "description": "Rain?"}]})
    model = traffic.new_connection()
    asked = {"turn": 1, "messages": [{"role": "user", "content": "Rain?"}], "tools": []}
    traffic.add("model", body=asked, server="oracle", connection=model, direction="sent")
    said = {"turn": 1, "message": {"content": "", "tool_calls": []}}
    traffic.add("model", body=said, server="oracle", connection=model, direction="received")
    say(
        weather,
        "sent",
        id=2,
        method="tools/call",
        params={"name": "forecast", "arguments": {"day": "Friday"}},
    )
    say(maps, "sent", id=1, method="tools/call", params={"name": "route", "arguments": {}})
    say(maps, "received", id=1, result={"content": [{"type": "text", "text": "no road"}], "isError": True})
    say(weather, "received", id=2, result={"content": [{"type": "text", "text": "Rain"}]})
    maps("received", "Welcome to maps!")
    maps("stderr", "loading")
    say(maps, "sent", id=2, method="frobnicate")
    say(maps, "received", id=2, error={"code": -32601, "message": "Method not found"})
    say(maps, "received", id=77, result={})
    say(weather, "sent", id=3, method="tools/call", params={"name": "forecast"})
    weather("process", "exited", {"event": "exited", "status": 7, "stderr": ["boom"]})
    say(maps, "sent", id=3, method="ping")
    return traffic


def row(page: Page, seq: int) -> Any:
    return page.locator(f".mt-row[data-seq='{seq}']")


def shown(page: Page) -> list[int]:
    return [
        int(seq)
        for seq in page.eval_on_selector_all(".mt-row[data-seq]", "all => all.map(e => e.dataset.seq)")
    ]


def chosen(page: Page) -> int:
    return int(page.locator(".mt-chosen").get_attribute("data-seq") or 0)


# Hostile text


def test_hostile_text_runs_nothing_asks_for_nothing_and_breaks_no_layout(show: Show) -> None:
    page = show(hostile_traffic())
    count = len(hostile_traffic())
    page.wait_for_function(f"() => mcpLessons.store.entries.length === {count}")
    for mode in ("Sequence", "Waterfall", "Raw"):
        page.get_by_role("button", name=mode, exact=True).click()
        page.evaluate(_CHOOSE_EVERY)
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), mode
    assert page.evaluate("() => [window.spoiled, {}.spoiled].every((one) => one === undefined)")
    assert page.locator("img, iframe, object, embed, .ml-view a[href], .ml-view script").count() == 0


_CHOOSE_EVERY = """async () => {
  const { state } = mcpLessons.display;
  for (const entry of [...state.all]) {
    state.choose(entry);
    for (const closed of document.querySelectorAll(".mt-detail details:not([open])")) closed.open = true;
    for (const more of [...document.querySelectorAll(".mt-detail .ml-small")].slice(0, 3)) {
      if (/^show/.test(more.textContent)) more.click();
    }
  }
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}"""


def test_hidden_characters_are_seen(show: Show) -> None:
    traffic = Traffic()
    traffic.recorder("evil")("stderr", "safe\u202etxt.exe zero\u200bwidth \ud800 \x1b[31m")
    page = show(traffic)
    text = row(page, 1).inner_text()
    assert "safe⟨U+202E⟩txt.exe zero⟨U+200B⟩width ⟨U+D800⟩ ⟨U+001B⟩[31m" in text


def test_exports_of_hostile_text_keep_their_form(show: Show, tmp_path: Path) -> None:
    page = show(hostile_traffic())
    page.wait_for_function(f"() => mcpLessons.store.entries.length === {len(hostile_traffic())}")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save JSONL").click()
    saved.value.save_as(tmp_path / "traffic.jsonl")
    assert len(Traffic.load(tmp_path / "traffic.jsonl")) == len(hostile_traffic())
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save Mermaid").click()
    saved.value.save_as(tmp_path / "traffic.mmd")
    lines = (tmp_path / "traffic.mmd").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "sequenceDiagram"
    assert all(line.startswith("    ") and "<" not in line for line in lines[1:])


# Accessibility


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_either_theme(show: Show, session: Traffic, scheme: str) -> None:
    page = show(session, scheme=scheme, height=1400)
    assert page.locator(".ml-view").get_attribute("data-theme") == scheme
    for look in (
        lambda: row(page, 7).click(),
        lambda: page.get_by_role("button", name="Waterfall").click(),
        lambda: page.get_by_role("button", name="Raw").click(),
        lambda: page.get_by_role("button", name="Export").click(),
        lambda: page.get_by_role("button", name="Hide later").click(),
    ):
        look()
        assert axe_violations(page) == []


def test_a_screen_reader_hears_counts_filters_messages_and_detail_in_that_order(
    show: Show, session: Traffic
) -> None:
    page = show(session)
    row(page, 7).click()
    heard = page.locator(".ml-view").aria_snapshot()
    parts = [
        'heading "Traffic"', "1 tool error", "1 protocol error", 'searchbox "Search the messages',
        'button "weather" [pressed]', 'grid "Messages in the order of the wire',
        'row "Message 7, ', 'complementary "Message"', 'heading "tools/call id 1"',
        'button "First message"', 'slider "Step through the messages"',
    ]  # fmt: skip
    places = [heard.find(part) for part in parts]
    assert -1 not in places, [part for part, place in zip(parts, places, strict=True) if place < 0]
    assert places == sorted(places)


def test_the_row_says_in_one_sentence_what_it_shows(show: Show, session: Traffic) -> None:
    page = show(session)
    label = row(page, 7).get_attribute("aria-label")
    assert label is not None
    assert label.startswith("Message 7, ")
    assert "reply from maps to Client, id 1 isError no road, took" in label


def test_everything_can_be_done_with_the_keyboard(show: Show, session: Traffic) -> None:
    page = show(session)
    page.locator(".mt-grid").focus()
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert chosen(page) == 5
    page.keyboard.press("p")
    assert chosen(page) == 8
    page.keyboard.press("[")
    assert (chosen(page), page.locator(".mt-ghost").count() > 0) == (7, True)
    page.keyboard.press("]")
    page.keyboard.press("End")
    assert chosen(page) == 16
    page.keyboard.press("/")
    page.keyboard.type("method:tools/list")
    page.wait_for_function("() => document.querySelectorAll('.mt-row[data-seq]').length === 2")
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.getAttribute('role')") == "grid"
    page.keyboard.press("Home")
    active = page.locator(".mt-grid").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("data-seq") == "1"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.classList.contains('mt-detail')")


# What it shows


def test_one_half_of_a_pair_marks_the_other(show: Show, session: Traffic) -> None:
    page = show(session)
    row(page, 5).click()
    assert page.locator(".mt-pair").get_attribute("data-seq") == "8"
    assert "Request" in page.locator(".mt-detail").inner_text()
    assert "Reply" in page.locator(".mt-detail").inner_text()


def test_a_label_covers_the_lifelines_that_it_crosses_and_no_more(show: Show, session: Traffic) -> None:
    page = show(session)
    row(page, 5).click()
    page.mouse.move(0, 0)
    for seq in (1, 5, 6):
        behind = row(page, seq).evaluate(
            "row => getComputedStyle(row.querySelector('.mt-label')).backgroundColor"
        )
        assert float(behind.rpartition("/")[2].strip(" )")) > 0.8  # a lifeline shows through, and no more
        over = row(page, seq).locator(".mt-label").bounding_box()
        words = row(page, seq).locator(".mt-label strong").bounding_box()
        whole = row(page, seq).locator(".mt-diagram").bounding_box()
        assert over and words and whole
        assert words["width"] < over["width"] < whole["width"] / 2


def test_the_messages_have_the_whole_width_until_one_is_chosen(show: Show, session: Traffic) -> None:
    page = show(session)
    grid, pane = page.locator(".mt-grid"), page.get_by_role("complementary", name="Message")
    whole = (page.locator(".ml-view").bounding_box() or {})["width"]
    assert pane.count() == 0
    assert (grid.bounding_box() or {})["width"] > whole - 4
    page.get_by_text("Choose a message to read it").wait_for()
    row(page, 5).click()
    assert pane.is_visible() and page.get_by_text("Choose a message to read it").is_hidden()
    pane.get_by_role("button", name="Close this message").click()
    assert pane.count() == 0
    page.keyboard.press("ArrowDown")
    pane.wait_for()
    page.keyboard.press("Escape")
    assert pane.count() == 0
    assert (grid.bounding_box() or {})["width"] > whole - 4


_SIDES = """(wanted) => wanted.flatMap((one) => [...document.querySelectorAll(one)].map((node) => {
  const { left, right } = node.getBoundingClientRect();
  return [left, right];
}))"""


@pytest.mark.parametrize("width", [1102, 852])
def test_the_heads_of_the_lifelines_never_touch_nor_are_cut(show: Show, width: int) -> None:
    traffic = Traffic()
    model = traffic.new_connection()
    asked = {"turn": 1, "messages": [], "tools": []}
    traffic.add("model", body=asked, server="a-model-with-a-long-name", connection=model, direction="sent")
    for name in ("weather", "a-server-with-a-long-name", "maps"):
        traffic.recorder(name)("stderr", "ready")
    page = show(traffic, width=width)
    for look in (lambda: None, lambda: row(page, 2).click()):
        look()
        head, *lanes = page.evaluate(_SIDES, [".mt-columns .mt-main", ".mt-lane"])
        assert len(lanes) == 5
        sides = [head[0], *(side for lane in lanes for side in lane), head[1]]
        assert sides == sorted(sides)
    assert page.locator(".mt-lane").nth(3).get_attribute("title") == "a-server-with-a-long-name"


def test_of_many_servers_the_chosen_message_is_in_sight_beside_its_number_and_time(show: Show) -> None:
    traffic = Traffic()
    for number in range(12):
        wire = traffic.recorder(f"server-{number}")
        wire("process", "spawned", {"event": "spawned", "command": ["python", "-m", "server"], "pid": 1})
    page = show(traffic, width=820)
    for seq, key in ((12, "End"), (1, "Home")):
        page.locator(".mt-grid").press(key)
        page.wait_for_function(f"() => document.querySelector('.mt-chosen')?.dataset.seq === '{seq}'")
        parts = [f".mt-chosen {part}" for part in (".mt-seq", ".mt-time", ".mt-label strong", ".mt-took")]
        grid, *cells = page.evaluate(_SIDES, [".mt-grid", *parts])
        lefts = [grid[0], *(left for left, _ in cells), grid[1]]
        assert lefts == sorted(lefts)
    assert (row(page, 1).bounding_box() or {})["width"] > 12 * 100


def test_a_program_is_named_by_the_last_word_of_its_path_and_the_detail_has_all(show: Show) -> None:
    traffic = Traffic()
    command = ["/opt/venv/bin/python", "-m", "weather"]
    body = {"event": "spawned", "command": command, "pid": 1}
    traffic.recorder("weather")("process", "spawned " + " ".join(command), body)
    page = show(traffic)
    assert "started\npython -m weather" in row(page, 1).inner_text()
    row(page, 1).click()
    assert '"/opt/venv/bin/python"' in page.locator(".mt-detail").inner_text()


def test_what_is_seen_of_a_folded_value_is_what_is_heard(show: Show, session: Traffic) -> None:
    page = show(session)
    row(page, 5).click()
    heads = page.locator(".mt-detail .ml-json summary")
    seen = [re.sub(r"\s+", " ", text).strip() for text in heads.all_inner_texts()]
    heard = page.locator(".mt-detail").aria_snapshot()
    assert seen[0] == "{ 4 keys"
    assert [text for text in seen if text.replace('"', '\\"') not in heard and text not in heard] == []


def test_filters_chips_and_search_words(show: Show, session: Traffic) -> None:
    page = show(session)
    page.locator(".mt-chip", has_text="weather").click()
    assert shown(page) == [3, 4, 6, 7, 9, 10, 11, 12, 13, 16]
    page.locator(".mt-chip", has_text="stderr").click()
    assert 10 not in shown(page)
    page.locator(".mt-chip", has_text="errors only").click()
    assert shown(page) == [6, 7, 9, 11, 12, 13]
    page.locator(".mt-search").fill("road")
    page.wait_for_function("() => document.querySelectorAll('.mt-row[data-seq]').length === 1")
    page.locator(".mt-search").fill("nothing like it")
    page.get_by_text("No message passes").wait_for()


def test_hidden_messages_are_not_given_away(show: Show, session: Traffic) -> None:
    page = show(session)
    row(page, 6).click()
    page.get_by_role("button", name="Hide later").click()
    assert shown(page) == [1, 2, 3, 4, 5, 6]
    text = page.locator(".ml-view").inner_text()
    assert "no road" not in text and "isError" not in text and "protocol error" not in text
    assert "10 later messages hidden. What comes next?" in text
    assert "waiting" in row(page, 6).inner_text()
    page.get_by_role("button", name="Step forward").click()
    assert "no road" in row(page, 7).inner_text()


def test_the_waterfall_has_a_bar_for_each_exchange(show: Show, session: Traffic) -> None:
    page = show(session)
    page.get_by_role("button", name="Waterfall").click()
    assert shown(page) == [1, 3, 5, 6, 11, 14, 16]
    assert page.locator(".mt-span").count() == 7
    assert page.locator(".mt-span-open").count() == 2


def test_raw_shows_the_lines_as_they_crossed_the_wire(show: Show, session: Traffic) -> None:
    page = show(session)
    page.get_by_role("button", name="Raw").click()
    assert session[5].raw in row(page, 5).inner_text()


@pytest.mark.parametrize("mode", ["Waterfall", "Raw"])
def test_without_lifelines_each_row_names_its_server_and_shows_its_mark(
    show: Show, session: Traffic, mode: str
) -> None:
    page = show(session)
    page.get_by_role("button", name=mode).click()
    for seq, name in ((5, "weather"), (6, "maps")):
        whose = row(page, seq).locator(".ml-whose")
        chip = page.locator(".mt-chip", has_text=name)
        assert whose.inner_text() == name
        mark = "one => one.querySelector('.ml-mark path').getAttribute('d')"
        assert whose.evaluate(mark) == chip.evaluate(mark)


def test_a_message_is_copied_as_json_and_as_python(show: Show, session: Traffic) -> None:
    page = show(session)
    page.evaluate(
        "() => Object.defineProperty(navigator, 'clipboard',"
        "{ value: { writeText: async (text) => { window.copied = text; } } })"
    )
    row(page, 5).click()
    page.get_by_role("button", name="Copy JSON").first.click()
    page.get_by_text("Copied").wait_for()
    assert json.loads(page.evaluate("() => window.copied")) == session[5].body
    page.get_by_role("button", name="Copy as Python").click()
    page.wait_for_function("() => window.copied.startsWith('#')")
    code = page.evaluate("() => window.copied")
    assert 'client.call_tool("forecast", {"day": "Friday"})' in code
    compile(code, "cell", "exec")


def test_following_stops_when_the_reader_scrolls_and_begins_again_at_the_end(show: Show) -> None:
    page = empty_page(show(Traffic()))
    page.evaluate(_ADD, [1, 60])
    page.wait_for_function("() => document.querySelector('.mt-row[data-seq=\"60\"]')")
    page.evaluate(_ADD, [61, 120])
    page.wait_for_function("() => document.querySelector('.mt-row[data-seq=\"120\"]')")
    page.locator(".mt-grid").hover()
    page.mouse.wheel(0, -800)
    page.locator("[aria-pressed=false]", has_text="Follow").wait_for()
    page.evaluate(_ADD, [121, 130])
    page.get_by_text("Follow (10)").wait_for()
    assert 130 not in shown(page)
    page.get_by_role("button", name="Follow").click()
    page.wait_for_function("() => document.querySelector('.mt-row[data-seq=\"130\"]')")


_ADD = """([from, to]) => {
  const row = (seq) => ({ seq, t: seq, connection: 1, server: "w", direction: "", kind: "stderr", raw: "x" });
  const rows = Array.from({ length: to - from + 1 }, (_, i) => row(from + i));
  mcpLessons.store.add({ servers: ["w"], dropped: 0, rows });
}"""


# Sizes


@pytest.mark.parametrize(("width", "height"), [(820, 1000), (700, 500), (400, 800)])
def test_narrow_pages_and_200_percent_zoom_lose_nothing(
    show: Show, session: Traffic, width: int, height: int
) -> None:
    page = show(session, width=width, height=height)
    row(page, 1).click()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    outside = page.evaluate(
        "() => [...document.querySelectorAll('.ml-view button, .ml-view input')].filter((one) => {"
        "  const { width, left, right } = one.getBoundingClientRect();"
        "  return width && (right > innerWidth || left < 0); })"
        ".map((one) => one.textContent)"
    )
    assert outside == []


def test_larger_type_for_the_projector(show: Show, session: Traffic) -> None:
    page = show(session)
    before = row(page, 1).bounding_box()
    page.get_by_role("button", name="Larger type").click()
    after = row(page, 1).bounding_box()
    assert before and after and after["height"] > before["height"] * 1.3


def test_forced_colours_and_reduced_motion_are_respected(show: Show, session: Traffic) -> None:
    page = show(session)
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    row(page, 7).click()
    frame = "() => getComputedStyle(document.querySelector('.mt-chosen'), '::after').borderTopStyle"
    assert page.evaluate(frame) == "solid"
    row(page, 12).click()
    for inverted in (".mt-mode[aria-pressed=true]", ".mt-row .mt-protocol-error"):
        ink, paper = page.eval_on_selector(
            inverted, "node => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
        )
        adjust = page.eval_on_selector(inverted, "node => getComputedStyle(node).forcedColorAdjust")
        assert ink != paper and adjust == "none", "else the words vanish in their own background"
    moving = "all => all.filter(e => getComputedStyle(e).transitionDuration !== '0s').length"
    assert page.eval_on_selector_all(".ml-view *", moving) == 0
    page.emulate_media(forced_colors="none")


# Load


def test_ten_thousand_messages_stay_light(show: Show) -> None:
    figures = measure(empty_page(show(Traffic())), long_traffic(10_000))
    print(figures)
    assert figures["row elements"] < BUDGETS["row elements"]
    assert figures["drawn, ms"] < 20 * BUDGETS["drawn, ms"]  # a busy machine; `make bench` holds the budget


def test_a_view_that_is_not_on_screen_draws_nothing(show: Show) -> None:
    page = empty_page(show(Traffic()))
    page.evaluate("() => { document.querySelector('#view').style.marginTop = '5000px'; }")
    page.wait_for_function("() => mcpLessons.display.shown === false")
    page.evaluate(_ADD, [1, 5])
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert shown(page) == []
    page.evaluate("() => document.querySelector('#view').scrollIntoView()")
    page.wait_for_function("() => document.querySelector('.mt-row[data-seq=\"5\"]')")
