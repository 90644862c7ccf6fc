"""The seconds of each notebook in a fresh kernel."""

import time
from pathlib import Path

from report import line

from mcp_lessons.course import notebook

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> None:
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    if not paths:
        print("there are no notebooks yet")
    for path in paths:
        book = notebook.read(path)
        began = time.perf_counter()
        try:
            notebook.execute(book, path.parent)
            problem = ""
        except Exception as error:
            problem = f"it failed: {type(error).__name__}"
        line(path.stem, problem, time.perf_counter() - began, 5, "s")
