"""`mcp-lessons refresh [--check] [NAME …]`: the notebooks, written anew from the package and run.

For each notebook: finished cells are rewritten from the package's source, `# Your turn` cells from the
exercises, the code is formatted by ruff, all of it is executed in a fresh kernel, normalised and
written. Two runs give the same bytes. With `--check` nothing is written, and any difference fails.
For maintainers: it needs the test extras, and a checkout.
"""

import difflib
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from . import notebook as nb
from .cells import PACKAGE, Drift, finished_text, is_finished
from .exercise import find_exercise

FOLDER = PACKAGE.parent / "notebooks"
TURN = "# Your turn "


def refresh(names: Sequence[str] = (), check: bool = False, folder: Path = FOLDER) -> int:
    """Refresh the notebooks whose file name contains one of `names` (all, if none); 0 when all is well."""
    paths = [
        path for path in sorted(folder.glob("*.ipynb")) if any(name in path.name for name in names or [""])
    ]
    if not paths:
        print(f"no notebook in {folder} is named {' or '.join(names) or '*.ipynb'}")
        return 1
    return max(_refresh_one(path, check) for path in paths)


def fresh_text(path: Path) -> str:
    """What the file of this notebook should say. Drift, or nbclient's CellExecutionError, when it cannot."""
    book = nb.read(path)
    rewrite(book)
    book = _formatted(book)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nb.execute(book, path.parent)
    nb.normalise(book)
    found = nb.faults(book)
    if found:
        raise Drift("; ".join(found))
    return nb.text_of(book)


def rewrite(book: nb.Notebook) -> None:
    """Write the package's source into the finished cells, and the stubs into the `# Your turn` cells."""
    for cell in book.cells:
        if cell.cell_type != "code":
            continue
        if is_finished(cell.source):
            cell.source = finished_text(cell.source)
        elif cell.source.startswith(TURN):
            first, _, _ = cell.source.partition("\n")
            exercise = find_exercise(first.removeprefix(TURN).strip())
            if exercise is None:
                raise Drift(f"{first!r}: there is no such exercise")
            cell.source = f"{first}\n{exercise.stub}"


def _refresh_one(path: Path, check: bool) -> int:
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    began, committed = time.monotonic(), path.read_text(encoding="utf-8")
    try:
        if check and (found := nb.faults(nb.read(path))):
            raise Drift("\n".join(found))
        fresh = fresh_text(path)
    except (Drift, CellExecutionError, CellTimeoutError, DeadKernelError) as problem:
        print(f"{path.name}: {nb.without_colours(str(problem)).strip()}")
        return 1
    if check and fresh != committed:
        print(f"{path.name}: stale; `mcp-lessons refresh {path.stem}` would change it")
        print("\n".join(_difference(committed, fresh)))
        return 1
    if fresh != committed:
        path.write_text(fresh, encoding="utf-8", newline="\n")
    word = "as committed" if fresh == committed else "written"
    print(f"{path.name}: {word} ({time.monotonic() - began:.1f} s)", flush=True)
    return 0


def _difference(committed: str, fresh: str) -> list[str]:
    lines = difflib.unified_diff(
        committed.splitlines(), fresh.splitlines(), "committed", "fresh", lineterm="", n=2
    )
    return list(lines)[:60]


def _formatted(book: nb.Notebook) -> nb.Notebook:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "notebook.ipynb")
        path.write_text(nb.text_of(book), encoding="utf-8")
        config = ["--config", str(PACKAGE.parent / "pyproject.toml")]
        command = [sys.executable, "-m", "ruff", "format", "--quiet", *config, str(path)]
        run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if run.returncode:
            raise Drift(f"ruff could not format it: {run.stderr.strip()}")
        return nb.read(path)
