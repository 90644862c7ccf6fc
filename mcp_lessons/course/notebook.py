"""A notebook as it is committed: read, normalise, run in a fresh kernel.

Committed notebooks keep what a reader without a kernel needs and nbval compares, and nothing that
differs from run to run: text outputs, cleaned by the patterns of `sanitize.cfg`; cells counted from 1;
of the metadata, tags alone. No live widgets, no times, no paths, no frames of other people's code.
"""

import hashlib
import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

SANITIZE = Path(__file__).with_name("sanitize.cfg")
CELL_SECONDS = 60
TAGS = {"raises-exception", "nbval-ignore-output", "extra"}
SYLLABUS_TAG = re.compile(r"P\d{1,2}")
LIVE = {"application/vnd.jupyter.widget-view+json"}
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

Notebook = Any
Cell = Any


def read(path: Path) -> Notebook:
    """The notebook in this file. A cell without an id, or with another's, gets one made from its text."""
    import nbformat

    book = json.loads(path.read_text(encoding="utf-8"))
    seen: set[str] = set()
    for number, cell in enumerate(book["cells"]):
        if cell.get("id") is None or cell["id"] in seen:
            text = f"{number} {''.join(cell['source'])}"
            cell["id"] = hashlib.sha256(text.encode()).hexdigest()[:8]
        seen.add(cell["id"])
    book["nbformat"], book["nbformat_minor"] = 4, 5
    return nbformat.reads(json.dumps(book), as_version=4)


def text_of(notebook: Notebook) -> str:
    """The notebook as the text of its file, with a newline at its end."""
    import nbformat

    return nbformat.writes(notebook).rstrip("\n") + "\n"


def execute(notebook: Notebook, folder: Path) -> None:
    """Run all cells in a fresh kernel, in `folder`. nbclient's CellExecutionError for an error in a cell
    that is not tagged raises-exception."""
    from nbclient import NotebookClient

    client = NotebookClient(
        notebook, timeout=CELL_SECONDS, kernel_name="python3", store_widget_state=False,
        record_timing=False, resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    client.execute(env=kernel_environment(), stderr=subprocess.DEVNULL)


def kernel_environment() -> dict[str, str]:
    """The environment of a notebook's kernel: no model endpoint, nothing of a test run, no colours."""
    dropped = ("OPENAI_", "PYTEST_", "PYTHONWARNINGS", "FORCE_COLOR", "LANGUAGE")
    return {name: value for name, value in os.environ.items() if not name.startswith(dropped)}


def normalise(notebook: Notebook) -> None:
    """Leave only what belongs in a committed notebook."""
    notebook.metadata.clear()
    notebook.metadata.update(METADATA)
    count = 0
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        cell.metadata.clear()
        if tags:
            cell.metadata["tags"] = sorted(set(tags))
        cell.pop("attachments", None)
        cell.source = cell.source.strip("\n")
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            cell.outputs = _outputs(cell.outputs, count)


def faults(notebook: Notebook) -> list[str]:
    """What a committed notebook must not have: cells that never ran, stray tags, unexpected errors."""
    found = []
    for number, cell in enumerate(notebook.cells, 1):
        tags = cell.metadata.get("tags", [])
        stray = [tag for tag in tags if tag not in TAGS and not SYLLABUS_TAG.fullmatch(tag)]
        if stray:
            found.append(f"cell {number}: unknown tags {', '.join(stray)}")
        if cell.cell_type != "code":
            continue
        if not cell.source.strip():
            found.append(f"cell {number}: an empty code cell")
        if cell.execution_count is None:
            found.append(f"cell {number}: never run, so nothing would be compared")
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed and "raises-exception" not in tags:
            found.append(f"cell {number}: an unexpected error")
        if not failed and "raises-exception" in tags:
            found.append(f"cell {number}: no error, where its tag expects one")
    return found


def clean(text: str) -> str:
    """`text` without what differs from run to run, after the patterns of `sanitize.cfg`."""
    for pattern, replacement in _patterns():
        text = pattern.sub(replacement, text)
    return text


def without_colours(text: str) -> str:
    """`text` without the escape sequences that colour a terminal."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    pairs = re.findall(r"^regex: (.*)$\n^replace: (.*)$", SANITIZE.read_text(encoding="utf-8"), re.MULTILINE)
    return [(re.compile(pattern), replacement) for pattern, replacement in pairs]


def _outputs(outputs: list[Any], count: int) -> list[Any]:
    """Streams merged between displays (stdout before stderr), then everything cleaned."""
    merged: list[Any] = []
    streams: dict[str, Any] = {}
    for output in outputs:
        if output.output_type == "stream":
            if output.name in streams:
                streams[output.name].text += output.text
            else:
                streams[output.name] = output
            continue
        merged += [streams.pop(name) for name in ("stdout", "stderr") if name in streams]
        merged.append(output)
    merged += [streams.pop(name) for name in ("stdout", "stderr") if name in streams]
    kept = [output for output in merged if output.get("data", True)]
    for output in kept:
        _clean_output(output, count)
    return [output for output in kept if output.get("data", True)]


def _clean_output(output: Any, count: int) -> None:
    if output.output_type == "stream":
        output.text = clean(output.text)
    elif output.output_type == "error":
        output.evalue = clean(output.evalue)
        output.traceback = _traceback(output)
    else:
        output.metadata.clear()
        for mimetype in LIVE & output.data.keys():
            del output.data[mimetype]
        for mimetype, value in output.data.items():
            if isinstance(value, str):
                output.data[mimetype] = clean(value)
    if output.output_type == "execute_result":
        output.execution_count = count


def _traceback(output: Any) -> list[str]:
    """The frames in the reader's own cells, and the last line: what is the same on every machine."""
    text = without_colours("\n".join(output.traceback))
    frames = re.findall(r"^Cell In\[\d+\], line \d+.*\n(?:.*\n)*?(-+> *\d+ .*)$", text, re.MULTILINE)
    return [*frames, f"{output.ename}: {output.evalue}"]
