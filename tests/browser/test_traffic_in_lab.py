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


def test_two_views_of_one_record_agree_and_share_what_is_chosen(lab: Lab, lab_page: LabPage) -> None:
    lab.write("two.ipynb", [RECORD, SHOW, "TrafficView(traffic)", MORE])
    lab_page.open("two.ipynb")
    lab_page.run_all()
    page = lab_page.page
    views = page.locator(".ml-view")
    for number in (0, 1):
        views.nth(number).scroll_into_view_if_needed()
        views.nth(number).locator(".mt-row[data-seq='4']").wait_for()
    views.nth(0).locator(".mt-row[data-seq='3']").click()
    views.nth(1).locator(".mt-chosen[data-seq='3']").wait_for()
    assert views.nth(0).locator(".mt-detail").inner_text() == views.nth(1).locator(".mt-detail").inner_text()


REAL = """import sys
from mcp_lessons import Toolbox, Traffic, choose_llm, run_agent
from mcp_lessons.views import TrafficView
traffic = Traffic()
view = TrafficView(traffic)
view"""
PICNIC = """with Toolbox(traffic=traffic, era="legacy") as toolbox:
    for name in ("weather", "maps"):
        toolbox.mount(name, [sys.executable, "-m", f"mcp_lessons.servers.{name}"])
    llm, model = choose_llm()
    run_agent("Will it rain in Tessaby on Friday?", toolbox, llm=llm, model=model)
choose_llm.close()"""


def test_one_picture_shows_a_whole_turn_of_model_client_and_servers(lab: Lab, lab_page: LabPage) -> None:
    lab.write("turn.ipynb", [REAL, PICNIC])
    lab_page.open("turn.ipynb")
    lab_page.run_all()
    page = lab_page.page
    page.locator("[aria-pressed=true]", has_text="Follow").wait_for()
    page.locator(".mt-row .mt-note", has_text="exited").first.wait_for()
    lanes = page.locator(".mt-lane").all_inner_texts()
    assert lanes[1:] == ["Client", "weather", "maps"]
    page.locator(".mt-search").fill("forecast(")
    page.locator(".mt-search").fill("method:tools/call")
    page.wait_for_function("() => document.querySelectorAll('.mt-row[data-seq]').length === 2")
    assert "Tessaby on Friday" in page.locator(".mt-row[data-seq]").nth(1).inner_text()


def test_a_view_that_loads_too_slowly_for_anywidget_shows_later_messages(lab: Lab, lab_page: LabPage) -> None:
    lab.write("slow.ipynb", [SLOWLY, RECORD, SHOW])
    lab_page.open("slow.ipynb")
    lab_page.run_all()
    rows = lab_page.page.locator(".mt-row[data-seq]")
    rows.nth(1).wait_for()
    lab_page.page.evaluate(_EXECUTE, MORE)
    rows.nth(3).wait_for()


SLOWLY = """
from mcp_lessons.views import _base
quick = _base.bundle
_base.bundle = lambda entry: "await new Promise((go) => setTimeout(go, 3000));\\n" + quick(entry)
"""
_EXECUTE = """async (code) => {
  await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({ code }).done;
}"""
