"""TrafficView in real Notebook 7, which draws notebooks with a frame of its own."""

from playwright.sync_api import Page

from .lab import Lab, LabPage
from .test_traffic_in_lab import MORE, RECORD, SHOW


def test_the_view_shows_the_messages_and_its_controls_work_in_notebook_7(notebook_7: Lab, tab: Page) -> None:
    notebook_7.write("seven.ipynb", [RECORD, SHOW, MORE])
    lab_page = LabPage(tab, notebook_7)
    lab_page.open("seven.ipynb")
    lab_page.run_all()
    rows = tab.locator(".mt-row[data-seq]")
    rows.nth(3).wait_for()
    assert rows.count() == 4
    assert "1 tool: forecast" in rows.nth(3).inner_text()
    rows.nth(2).click()
    assert "Client → weather" in tab.locator(".mt-detail").inner_text()
    tab.keyboard.press("/")
    tab.keyboard.type("method:tools/list")
    tab.wait_for_function("() => document.querySelectorAll('.mt-row[data-seq]').length === 2")
    assert lab_page.cells() == 3
    assert tab.evaluate("() => jupyterapp.name") == "Jupyter Notebook"
    notebook_7.end_sessions()
    lab_page.check()
