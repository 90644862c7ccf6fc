"""The pictures that `make pictures` writes: each has its cell, its file, and a lesson that shows it."""

import pytest
from browser.pictures import FIGURES, LARGEST, NOTEBOOKS, PICTURES, Picture

from mcp_lessons.course import notebook


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.file)
def test_a_picture_can_be_made_anew_and_is_shown(picture: Picture) -> None:
    (path,) = NOTEBOOKS.glob(f"{picture.lesson:02}_*.ipynb")
    cells = notebook.read(path).cells
    assert picture.cell in [cell.id for cell in cells]
    assert 0 < (FIGURES / picture.file).stat().st_size <= LARGEST
    shown_in = NOTEBOOKS.parent / "README.md" if picture.file == "traffic.png" else path
    assert f"figures/{picture.file})" in shown_in.read_text(encoding="utf-8")
