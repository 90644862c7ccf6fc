"""ToolboxView in real JupyterLab: it grows, opens, keeps its place, and shows hostile text as text."""

import re

from .lab import Lab, LabPage

RECORD = """
import json
from mcp_lessons.traffic import Traffic
from mcp_lessons.views import LoopView, ToolboxView, TrafficView

traffic = Traffic()
record = traffic.recorder("weather")
schemas, origins, ids = [], {}, iter(range(1, 100))

def tool(name, description="Does a thing.", **properties):
    return {"name": name, "title": "T", "description": description,
            "inputSchema": {"type": "object", "properties": properties}}

def lists(cause, *tools):
    id = next(ids)
    record("sent", json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/list"}))
    record("received", json.dumps({"jsonrpc": "2.0", "id": id, "result": {"tools": tools}}))
    schemas[:] = [{"type": "function", "function": {"name": f"weather__{t['name']}",
                   "description": t["description"], "parameters": t.get("inputSchema")}} for t in tools]
    origins.update({f"weather__{t['name']}": {"server": "weather", "tool": t["name"], "connection": 1}
                    for t in tools})
    traffic.add("tools", server="weather",
                body={"cause": cause, "schemas": schemas, "origins": origins, "warnings": []})

FORECAST, ALERTS = tool("forecast", place={"type": "string"}), tool("alerts")
lists("weather joins", FORECAST)
"""
SHOW = "view = ToolboxView(traffic)\nview"
MORE = "lists('weather: list_changed', FORECAST, ALERTS)"
TOO_WIDE = """() => [...document.querySelectorAll(".ml-view")]
    .filter((view) => view.scrollWidth > view.clientWidth + 1).length"""


def test_the_list_grows_while_later_cells_run_and_everyone_can_read_it(lab: Lab, lab_page: LabPage) -> None:
    lab.write("toolbox.ipynb", [RECORD, SHOW, MORE])
    lab_page.open("toolbox.ipynb")
    lab_page.run_all()
    page = lab_page.page
    page.locator(".mb-tool", has_text="alerts").wait_for()
    assert page.locator(".mb-tool", has_text="alerts").locator(".mb-new").inner_text() == "new"
    assert page.locator(".mb-tool", has_text="forecast").locator(".mb-new").count() == 0
    assert page.locator(".mb-step-cause").all_inner_texts() == ["weather joins", "weather: list_changed"]
    page.get_by_role("radio", name="Advertised").click()
    assert page.locator(".mb-tool .mb-name").all_inner_texts() == ["forecast", "alerts"]
    page.locator(".mb-tool").first.click()
    page.locator(".mb-open").wait_for()
    spoken = page.locator(".ml-view").aria_snapshot()
    assert 'radio "Advertised 2 · ≈' in spoken
    assert 'treegrid "Toolbox"' in spoken
    assert re.search(r"row .forecast, weather, about \d+ tokens\. Does a thing\.. \[expanded\]", spoken)
    assert re.search(r"row .alerts, weather, about \d+ tokens\. new\. Does a thing\.", spoken)


def test_a_row_opens_by_keyboard_and_no_key_reaches_the_notebook(lab: Lab, lab_page: LabPage) -> None:
    lab.write("toolbox_keys.ipynb", [RECORD, SHOW, MORE])
    lab_page.open("toolbox_keys.ipynb")
    lab_page.run_all()
    page = lab_page.page
    page.locator(".mb-tool", has_text="alerts").wait_for()
    page.locator(".mb-tool[tabindex='0']").focus()
    for key in ("b", "x", "d", "d", "ArrowDown", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    opened = page.locator(".mb-open:visible")
    assert "As the server advertised it" in opened.inner_text()
    assert "not for the model: title" in opened.inner_text()
    page.keyboard.press("/")
    page.keyboard.type("alerts")
    assert page.locator(".mb-tool .mb-name").all_inner_texts() == ["weather__alerts"]
    assert lab_page.cells() == 3


def test_what_is_open_and_where_the_reader_is_survive_news(lab: Lab, lab_page: LabPage) -> None:
    wait = "import os, threading\nwhile not os.path.exists('go'):\n    threading.Event().wait(0.05)\n"
    lab.write("toolbox_stays.ipynb", [RECORD, SHOW, wait + MORE])
    lab_page.open("toolbox_stays.ipynb")
    lab_page.start_all()
    page = lab_page.page
    page.locator(".mb-tool").click()
    page.locator(".mb-open").wait_for()
    (lab.root / "go").touch()
    page.locator(".mb-tool", has_text="alerts").wait_for()
    assert page.locator(".mb-open:visible").count() == 1
    assert "weather__forecast" in page.evaluate("() => document.activeElement.textContent")


HOSTILE = r"""
run = "console.log('mcp-lessons-hostile'); alert(1)"
words = [f"<img src=x onerror=\"{run}\">", f"</div><script>{run}</script>", "<svg onload=alert(1)>",
         "\u202egnp.exe", "zero\u200bwidth", "\x1b[31mred", "__proto__", "constructor", "\ud800half",
         "x" * 200_000, "]]>--><!--"]
lists("weather joins", *[tool(word, word, **{word: {"type": word, "description": word, "enum": [word]}})
                         for word in words], {"name": {"deep": [[[[{}]]]]}, "description": 7})
nested = {}
for _ in range(200):
    nested = {"properties": {"__proto__": nested}}
lists("<b>weather</b>: list_changed", tool("deep", "deep", **nested), *[tool(w, w + "!") for w in words])
body = {"turn": "<i>1</i>", "max_turns": "<b>", "model": words[0], "tools": schemas, "stream": False,
        "messages": [{"role": word, "content": word} for word in words]}
traffic.add("model", body=body, server="m", connection=9, direction="sent")
calls = [{"id": w, "function": {"name": w, "arguments": json.dumps({w: w})}} for w in words]
message = {"role": "assistant", "content": words[0], "tool_calls": calls}
traffic.add("model", body={"turn": 1, "message": message, "finish_reason": words[1]},
            server="m", connection=9, direction="received")
traffic.add("model", body={"stop_reason": words[1], "answer": words[0]}, server="m", connection=9)
"""


def test_hostile_text_is_shown_and_nothing_of_it_runs(lab: Lab, lab_page: LabPage) -> None:
    lab.write(
        "hostile.ipynb",
        [RECORD, HOSTILE, SHOW, "LoopView(traffic)", "view.snapshot()", "LoopView(traffic).snapshot()"],
    )
    lab_page.open("hostile.ipynb")
    lab_page.run_all()
    page = lab_page.page
    page.locator(".mb-tool").first.wait_for()
    page.locator(".mo-body").scroll_into_view_if_needed()
    page.locator(".mo-turn").wait_for()
    page.evaluate("() => document.querySelectorAll('.mb-tool').forEach((row) => row.click())")
    page.evaluate(
        "() => document.querySelectorAll('.ml-view details').forEach((node) => { node.open = true; })"
    )
    page.locator(".mb-open").nth(5).wait_for()
    shown = page.locator(".jp-Notebook").inner_text()
    for text in ("<img src=x", "⟨U+202E⟩", "⟨U+200B⟩", "⟨U+001B⟩", "⟨U+D800⟩", "__proto__", "no usable name"):
        assert text in shown
    assert page.locator(".jp-OutputArea").locator("img, script:not([type]), iframe, object").count() == 0
    assert page.evaluate(TOO_WIDE) == 0
