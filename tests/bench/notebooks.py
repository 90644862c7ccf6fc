"""The seconds of each notebook in a fresh kernel.

Those of the processor stand beside them: a busy machine stretches them less.
"""

import os
import time
from pathlib import Path

from report import line

from mcp_lessons.course import notebook

ROOT = Path(__file__).resolve().parent.parent.parent


def processor_seconds() -> float:
    """What this process and all that it started and collected have used."""
    return sum(os.times()[:4])


def main() -> None:
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    if not paths:
        print("there are no notebooks yet")
    for path in paths:
        book = notebook.read(path)
        began, worked = time.perf_counter(), processor_seconds()
        try:
            notebook.execute(book, path.parent)
            problem = ""
        except Exception as error:
            problem = f"; it failed: {type(error).__name__}"
        figures = f"{processor_seconds() - worked:.1f} s of the processor{problem}"
        line(path.stem, figures, time.perf_counter() - began, 5, "s")
