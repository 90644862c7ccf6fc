"""Every lesson in real JupyterLab, from a clean start: cells run, views draw, the page has no error."""

import shutil
from pathlib import Path

import nbformat
import pytest
from project import ROOT

from .lab import LabPage

LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))

_ERRORS = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter((cell) => cell.model.type === "code")
  .filter((cell) => !(cell.model.getMetadata("tags") ?? []).includes("raises-exception"))
  .flatMap((cell) => cell.model.outputs.toJSON().filter((output) => output.output_type === "error"))
  .map((output) => `${output.ename}: ${output.evalue}`)"""
_ROWS = "() => [...document.querySelectorAll('.mt-row[data-seq]')].map((row) => row.ariaLabel)"


def views_in(path: Path) -> int:
    """How many cells of the notebook show a live view."""
    cells = nbformat.read(path, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return sum(".snapshot() is its table>" in str(output.get("data", {})) for output in outputs)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_and_draws_its_views(lab_page: LabPage, path: Path) -> None:
    shutil.copytree(ROOT / "notebooks", lab_page.lab.root, dirs_exist_ok=True)
    lab_page.open(path.name)
    lab_page.run_all()
    assert lab_page.page.evaluate(_ERRORS) == []
    lab_page.page.wait_for_function(
        "(views) => document.querySelectorAll('.ml-view').length === views", arg=views_in(path)
    )
    if path.stem == "00_start_here":
        lab_page.page.locator(
            ".ml-view"
        ).first.scroll_into_view_if_needed()  # a view off screen draws nothing
        lab_page.page.locator(".mt-row[data-seq='2']").wait_for()
        rows = " ".join(lab_page.page.evaluate(_ROWS))
        assert "initialize" in rows and "weather" in rows
