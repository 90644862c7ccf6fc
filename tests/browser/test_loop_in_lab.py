"""LoopView in real JupyterLab: live beside a busy kernel, one selection with TrafficView, saved sessions."""

import re

from .lab import Lab, LabPage
from .pages import axe_violations

WIDTHS = "() => [...document.querySelectorAll('.mo-bar')].map((bar) => parseFloat(bar.style.width))"

RECORD = """
import json, sys, threading
from mcp_lessons.agent import run_agent
from mcp_lessons.oracle import choose_llm
from mcp_lessons.toolbox import Toolbox
from mcp_lessons.traffic import Traffic
from mcp_lessons.views import LoopView, ToolboxView, TrafficView

traffic = Traffic()
"""
RUN = """
toolbox = Toolbox(traffic=traffic)
for name in ("weather", "maps"):
    toolbox.mount(name, [sys.executable, "-m", f"mcp_lessons.servers.{name}"])
llm, model = choose_llm()
question = "How do I get from Tessaby to Larkmoor, and will it rain in Larkmoor on Saturday?"
result = run_agent(question, toolbox, llm=llm, model=model)
toolbox.close()
choose_llm.close()
"""
WRITTEN = """
def model(direction, **body):
    traffic.add("model", body=body, server="m", connection=7, direction=direction)

record = traffic.recorder("calc")
traffic.add("tools", body={"cause": "calc joins", "schemas": [], "warnings": [],
                           "origins": {"calc__add": {"server": "calc", "tool": "add", "connection": 1}}})
messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 19 + 23?"}]
call = {"id": "c1", "type": "function", "function": {"name": "calc__add", "arguments": '{"a": 19, "b": 23}'}}
model("sent", turn=1, max_turns=4, model="m", messages=messages, tools=[], stream=False)
model("received", turn=1, message={"role": "assistant", "content": "", "tool_calls": [call]},
      finish_reason="tool_calls", usage=None)
record("sent", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": "add", "arguments": {"a": 19, "b": 23}}}))
record("received", json.dumps({"jsonrpc": "2.0", "id": 1,
                               "result": {"content": [{"type": "text", "text": "42"}]}}))
"""


def test_a_real_run_is_drawn_turn_by_turn_and_views_of_it_agree(lab: Lab, lab_page: LabPage) -> None:
    reopen = "traffic.save('session.jsonl')\nsaved = Traffic.load('session.jsonl')"
    lab.write(
        "loop.ipynb", [RECORD, "LoopView(traffic)", RUN, reopen, "ToolboxView(saved)", "LoopView(saved)"]
    )
    lab_page.open("loop.ipynb")
    lab_page.run_all()
    page = lab_page.page
    page.locator(".mo-body").nth(1).scroll_into_view_if_needed()
    page.locator(".mo-body").nth(1).locator(".mo-turn", has_text="the model answered").wait_for()
    live, saved = page.locator(".mo-body").all_inner_texts()
    assert live == saved
    assert "in parallel" in live
    assert "maps__route(" in live
    assert re.search(r"wire \d+–\d+", live)
    widths = page.evaluate(WIDTHS)
    assert widths[-1] == max(widths) == 100
    first = page.locator("[role=radio][aria-checked=true]").inner_text()
    assert first.startswith("Would be sent") and "closed" in first  # the toolbox is, its list stays
    sent = page.locator(".mb-slot-totals").inner_text()
    context = page.locator(".mo-bar").first.get_attribute("aria-label") or ""
    tools = sum(int(one) for one in re.findall(r"tools of \w+ ≈(\d+)", context))
    assert f"≈{tools:,} tokens" in sent


def test_a_call_chosen_here_is_chosen_in_the_traffic_view_and_back(lab: Lab, lab_page: LabPage) -> None:
    show = ["view = LoopView(traffic)\nview", "TrafficView(traffic)"]
    lab.write("select.ipynb", [RECORD, WRITTEN, *show])
    lab_page.open("select.ipynb")
    lab_page.run_all()
    page = lab_page.page
    assert page.locator(".mo-call .mo-asked .ml-mark").count() == 1  # whose call it is, without colour
    page.get_by_role("button", name="wire 4–5").click()
    page.locator(".mt-row[data-seq='4'][aria-selected='true']").wait_for()
    assert page.locator(".mo-call.mo-chosen").count() == 1
    page.locator(".mt-row[data-seq='2']").click()
    page.locator(".mo-turn.mo-chosen").wait_for()
    assert page.locator(".mo-call.mo-chosen").count() == 0
    page.locator(".mo-toggle").click()
    spoken = page.locator(".ml-view").first.aria_snapshot()
    assert re.search(r"listitem .Turn 1: 2 messages, 0 tools, ≈\d+ tokens in, 1 tool call", spoken)
    assert re.search(r"img .Context of turn 1: system prompt ≈\d+, new in this turn ≈\d+", spoken)
    for theme, name in (("JupyterLab Dark", "dark"), ("JupyterLab Light", "light")):
        lab_page.set_theme(theme)
        page.locator(f'.ml-view[data-theme="{name}"]').first.wait_for()
        assert axe_violations(page, "color-contrast") == []  # the rest: test_views_accessible


def test_a_busy_kernel_shows_the_turn_it_is_in_and_the_view_still_answers(
    lab: Lab, lab_page: LabPage
) -> None:
    lab.write("busy_loop.ipynb", [RECORD, "LoopView(traffic)", WRITTEN + "threading.Event().wait(600)"])
    lab_page.open("busy_loop.ipynb")
    lab_page.start_all()
    page = lab_page.page
    page.locator(".mo-call", has_text="42").wait_for()
    assert page.locator(".jp-InputPrompt").nth(2).inner_text() == "[*]:"
    page.locator(".mo-toggle").click()
    page.locator(".mo-context td", has_text="Be brief.").wait_for()
    page.locator(".mo-turn").focus()
    for key in ("b", "x", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    assert lab_page.cells() == 3
    assert page.locator(".jp-InputPrompt").nth(2).inner_text() == "[*]:"


def test_freeze_puts_the_tables_in_the_place_of_the_views(lab: Lab, lab_page: LabPage) -> None:
    show = ["a = ToolboxView(traffic)\na", "b = LoopView(traffic)\nb", "a.freeze(); b.freeze()"]
    lab.write("frozen.ipynb", [RECORD, WRITTEN, *show])
    lab_page.open("frozen.ipynb")
    lab_page.run_all()
    page = lab_page.page
    page.locator(".jp-OutputArea table").nth(1).wait_for()
    assert page.locator(".ml-view").count() == 0
    assert "calc__add" in page.locator(".jp-OutputArea table").nth(1).inner_text()
