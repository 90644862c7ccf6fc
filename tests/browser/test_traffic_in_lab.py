"""TrafficView in real JupyterLab: run, live while later cells run, reload, reopen, keyboard, dark theme."""

from .lab import Lab, LabPage

RECORD = """
import json
from mcp_lessons.traffic import Traffic
from mcp_lessons.views import TrafficView

traffic = Traffic()
record = traffic.recorder("weather")

def ask(id, method, **params):
    record("sent", json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))

def answer(id, **result):
    record("received", json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))

ask(1, "initialize", protocolVersion="2025-11-25")
answer(1, protocolVersion="2025-11-25", serverInfo={"name": "weather", "version": "1"})
"""
SHOW = "view = TrafficView(traffic)\nview"
MORE = "ask(2, 'tools/list')\nanswer(2, tools=[{'name': 'forecast'}])"


def test_the_view_shows_the_messages_and_grows_while_later_cells_run(lab: Lab, lab_page: LabPage) -> None:
    lab.write("grow.ipynb", [RECORD, SHOW, MORE])
    lab_page.open("grow.ipynb")
    lab_page.run_all()
    rows = lab_page.page.locator(".mt-row[data-seq]")
    rows.nth(3).wait_for()
    assert rows.count() == 4
    assert "1 tool: forecast" in rows.nth(3).inner_text()


def test_the_view_is_there_again_after_the_page_is_reloaded(lab: Lab, lab_page: LabPage) -> None:
    lab.write("reload.ipynb", [RECORD, SHOW, MORE])
    lab_page.open("reload.ipynb")
    lab_page.run_all()
    lab_page.page.locator(".mt-row[data-seq]").nth(3).wait_for()
    lab_page.save()
    lab_page.page.reload()
    lab_page.wait_ready()
    lab_page.page.locator(".mt-row[data-seq]").nth(3).wait_for()
    lab_page.page.locator(".mt-row[data-seq='3']").click()
    assert "Client → weather" in lab_page.page.locator(".mt-detail").inner_text()


def test_a_busy_kernel_does_not_stop_drawing_filters_and_stepping(lab: Lab, lab_page: LabPage) -> None:
    lab.write("busy.ipynb", [RECORD, SHOW, f"{MORE}\nimport threading\n_ = threading.Event().wait(600)"])
    lab_page.open("busy.ipynb")
    lab_page.start_all()
    page = lab_page.page
    page.locator(".mt-row[data-seq]").nth(3).wait_for()
    page.locator(".mt-search").fill("method:tools/list")
    page.wait_for_function("() => document.querySelectorAll('.mt-row[data-seq]').length === 2")
    page.get_by_role("button", name="First message").click()
    page.locator(".mt-where", has_text="message 1 of 2").wait_for()
    assert lab_page.prompts()[2] == "[*]:"


def test_the_keys_of_the_view_do_not_reach_the_notebook(lab: Lab, lab_page: LabPage) -> None:
    lab.write("keys.ipynb", [RECORD, SHOW])
    lab_page.open("keys.ipynb")
    lab_page.run_all()
    page = lab_page.page
    page.locator(".mt-row[data-seq='1']").click()
    page.locator(".mt-grid").focus()
    for key in ("b", "a", "x", "d", "d", "ArrowDown", "p", "]", "["):
        page.keyboard.press(key)
    assert lab_page.cells() == 2
    page.keyboard.press("/")
    page.keyboard.type("abx")
    assert page.locator(".mt-search").input_value() == "abx"
    assert lab_page.cells() == 2


def test_the_view_follows_the_theme_of_jupyterlab(lab: Lab, lab_page: LabPage) -> None:
    lab.write("theme.ipynb", [RECORD, SHOW])
    lab_page.open("theme.ipynb")
    lab_page.run_all()
    page = lab_page.page
    page.locator('.ml-view[data-theme="light"]').wait_for()
    lab_page.set_theme("JupyterLab Dark")
    page.locator('.ml-view[data-theme="dark"]').wait_for()
    lab_page.set_theme("JupyterLab Light")
    page.locator('.ml-view[data-theme="light"]').wait_for()


def test_freeze_puts_the_table_in_the_place_of_the_view(lab: Lab, lab_page: LabPage) -> None:
    lab.write("freeze.ipynb", [RECORD, SHOW, MORE, "view.freeze()"])
    lab_page.open("freeze.ipynb")
    lab_page.run_all()
    table = lab_page.page.locator(".jp-OutputArea table")
    table.wait_for()
    assert "tools/list" in table.inner_text()
    assert lab_page.page.locator(".ml-view").count() == 0
    lab_page.save()
    assert "<table>" in (lab.root / "freeze.ipynb").read_text()
