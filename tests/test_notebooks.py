"""The notebooks: their machinery on a tiny one, then every lesson with its exercises solved and spoilt.

That the committed outputs are what the cells print is checked by nbval itself over `notebooks/`, and by
`mcp-lessons refresh --check`; `make test` runs both.
"""

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from project import ROOT

from mcp_lessons.course import notebook
from mcp_lessons.course.exercise import Exercise, exercises_of
from mcp_lessons.course.refresh import refresh
from mcp_lessons.course.scripted import Scripted, calls, says

NOTEBOOKS = ROOT / "notebooks"
LESSONS = {
    0: "start_here",
    1: "spawn",
    2: "handshake",
    3: "list",
    4: "call",
    5: "prefix",
    6: "loop",
}
SYLLABUS = {  # line of the syllabus: the lessons that teach it and ask about it; RUNNING ones also run it
    "P1": (0,), "P2": (0,), "P3": (0,), "P4": (0,), "P5": (0, 1), "P6": (1, 2), "P7": (2,), "P8": (2,),
    "P9": (3,), "P10": (4,), "P11": (4,), "P12": (4,), "P13": (5,), "P14": (5,), "P15": (5, 6), "P16": (5,),
    "P17": (6,), "P18": (6,), "P19": (1, 6), "P28": (5,), "P31": (1,),
}  # fmt: skip
TALKED_ABOUT = {"P1", "P2", "P3", "P4"}


def strict(*paths: Path) -> subprocess.CompletedProcess[str]:
    """Run nbval over these notebooks the way `make test` does."""
    options = ["-p", "nbval.plugin", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=60"]
    options += [f"--nbval-sanitize-with={notebook.SANITIZE}", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-p", "gate", "-c", str(ROOT / "pyproject.toml"), *options]
    clean = {"PYTHONPATH": str(ROOT / "tests"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
    return subprocess.run(
        [*command, *map(str, paths)], capture_output=True, text=True, cwd=ROOT, stdin=subprocess.DEVNULL,
        env={**os.environ, **clean},
    )  # fmt: skip


# The machinery, on a tiny notebook


def code(source: str, *tags: str) -> Any:
    return new_code_cell(source, metadata={"tags": list(tags)} if tags else {})


TINY = [
    new_markdown_cell("# A tiny lesson"),
    code(
        "import subprocess\nimport sys\nimport warnings\n\nimport ipywidgets\n\n"
        "from mcp_lessons.course import check, give_up_after\nfrom mcp_lessons.jsonrpc import Message, _call"
    ),
    code("# in the package: mcp_lessons/jsonrpc.py\ndef request(id, method, params=None): ..."),
    code(
        "print(request(1, 'ping'))\nprint('aside', file=sys.stderr)\n"
        "print('more')\nwarnings.warn('oh', stacklevel=1)"
    ),
    code("# Your turn 1.1"),
    code('check("1.1", NAME)'),
    code(
        "process = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1, stdout=-1)\n"
        "with give_up_after(0.3, process):\n    process.stdout.readline()",
        "raises-exception",
    ),
    code("ipywidgets.IntSlider()"),
    code("print(object(), sys.executable, __import__('os').environ.get('OPENAI_API_KEY'))"),
    code("sys.stderr.fileno() > 0, 'PYTEST_CURRENT_TEST' in __import__('os').environ"),
]


def tiny(folder: Path, name: str = "tiny") -> Path:
    path = folder / f"{name}.ipynb"
    cells = copy.deepcopy(TINY)
    for cell in cells:
        cell.source = cell.source.replace("NAME", exercises_of(1)[0].name)
    nbformat.write(new_notebook(cells=cells), path)
    return path


@pytest.fixture(scope="module")
def refreshed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny notebook, refreshed once."""
    path = tiny(tmp_path_factory.mktemp("tiny"))
    assert refresh(folder=path.parent) == 0
    return path


@pytest.fixture
def committed(refreshed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(refreshed, tmp_path))


def changed(path: Path, cell: int, **fields: Any) -> None:
    book = nbformat.read(path, as_version=4)
    book.cells[cell].update(fields)
    path.write_text(notebook.text_of(book), encoding="utf-8")


def text_of_outputs(path: Path, cell: int) -> str:
    outputs = nbformat.read(path, as_version=4).cells[cell].outputs
    return "".join(output.get("text") or str(output.get("data", "")) for output in outputs)


def test_refreshing_writes_finished_cells_from_the_package_and_stubs_from_the_exercises(
    refreshed: Path,
) -> None:
    cells = nbformat.read(refreshed, as_version=4).cells
    assert cells[2].source.startswith(
        "# in the package: mcp_lessons/jsonrpc.py\ndef request(id: int | str, method:"
    )
    assert cells[4].source == f"# Your turn 1.1\n{exercises_of(1)[0].stub}"
    assert text_of_outputs(refreshed, 5) == "1.1: not done yet\n"


def test_refreshed_outputs_hold_nothing_that_differs_between_machines(refreshed: Path) -> None:
    assert text_of_outputs(refreshed, 3) == (
        "{'jsonrpc': '2.0', 'id': 1, 'method': 'ping'}\nmore\n"
        'aside\n<cell>:4: UserWarning: oh\n  warnings.warn("oh", stacklevel=1)\n'
    )
    assert text_of_outputs(refreshed, 7) == "{'text/plain': 'IntSlider(value=0)'}"
    assert text_of_outputs(refreshed, 8) == "<object object at 0x…> python None\n"
    assert text_of_outputs(refreshed, 9) == "{'text/plain': '(True, False)'}"


def test_an_expected_error_keeps_the_reader_s_line_and_the_message_alone(refreshed: Path) -> None:
    [error] = nbformat.read(refreshed, as_version=4).cells[6].outputs
    message = "StillWaiting: still waiting after 0.3 seconds, so the process was ended"
    assert error.traceback == ["----> 2 with give_up_after(0.3, process):", message]


def test_refreshing_twice_gives_the_same_bytes(committed: Path, capsys: Any) -> None:
    before = committed.read_bytes()
    assert refresh(folder=committed.parent) == 0
    assert committed.read_bytes() == before
    assert before.endswith(b"}\n")
    assert "as committed" in capsys.readouterr().out


def test_a_refreshed_notebook_passes_nbval_strictly(committed: Path) -> None:
    run = strict(committed)
    assert run.returncode == 0, run.stdout
    assert f"{len(TINY) - 1} passed" in run.stdout


def test_nbval_finds_an_output_that_is_not_what_the_cell_prints(committed: Path) -> None:
    changed(committed, 5, outputs=[new_output("stream", name="stdout", text="✓ 1.1: done\n")])
    run = strict(committed)
    assert run.returncode == 1
    assert "Cell outputs differ" in run.stdout


def test_a_skipped_cell_is_a_failure(committed: Path) -> None:
    changed(committed, 5, source="# NBVAL_SKIP\n" + f'check("1.1", {exercises_of(1)[0].name})')
    run = strict(committed)
    assert run.returncode == 1
    assert "NOT RUN" in run.stdout


@pytest.mark.parametrize(
    ("cell", "fields", "said"),
    [
        (2, {"source": "# in the package: mcp_lessons/jsonrpc.py\ndef request(id): ..."}, "stale"),
        (4, {"source": "# Your turn 1.1\ndef mine(): ..."}, "stale"),
        (3, {"outputs": []}, "stale"),
        (3, {"outputs": [], "execution_count": None}, "cell 4: never run, so nothing would be compared"),
        (3, {"metadata": {"tags": ["skip-me"]}}, "cell 4: unknown tags skip-me"),
        (3, {"metadata": {"tags": ["raises-exception"]}}, "cell 4: no error, where its tag expects one"),
        (3, {"metadata": {"collapsed": True}}, "stale"),
        (3, {"source": "1 / 0"}, "ZeroDivisionError: division by zero"),
        (4, {"source": "# Your turn 99.1"}, "there is no such exercise"),
        (2, {"source": "# in the package: mcp_lessons/jsonrpc.py\ndef nothing(): ..."}, "no nothing"),
        (
            2,
            {"source": "# in the package: mcp_lessons/teapot.py\ndef pour(): ..."},
            "names no file",
        ),
        (2, {"source": "# in the package: mcp_lessons/jsonrpc.py\nprint(1)"}, "holds definitions only"),
    ],
)
def test_check_says_what_is_wrong_and_writes_nothing(
    committed: Path, capsys: Any, cell: int, fields: dict[str, Any], said: str
) -> None:
    changed(committed, cell, **fields)
    before = committed.read_bytes()
    assert refresh(check=True, folder=committed.parent) == 1
    assert said in capsys.readouterr().out
    assert committed.read_bytes() == before


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("/tmp/ipykernel_31/4.py:3: McpWarning: x", "<cell>:3: McpWarning: x"),
        ("/a b/src/mcp_lessons/views/_text.py:12: McpWarning", "/a mcp_lessons/views/_text.py: McpWarning"),
        ('File "/opt/x/mcp_lessons/client.py", line 7', 'File "mcp_lessons/client.py'),
        ('["/opt/v/bin/python3.12", "-m"]', '["python", "-m"]'),
        (r'"{\"command\": \"/opt/v/bin/python\"}"', r'"{\"command\": \"python\"}"'),
        (
            "spawned /opt/v/bin/python -m mcp_lessons.servers.weather",
            "spawned python -m mcp_lessons.servers.weather",
        ),
        ("/var/folders/q/tmpab12_x9z/notes.txt", "TMP/notes.txt"),
        ("http://127.0.0.1:51234/v1", "http://127.0.0.1:PORT/v1"),
        ("<Thing at 0x7f8a9c001234>", "<Thing at 0x…>"),
        (
            "see https://docs.python.org/3/ in /usr/share/python",
            "see https://docs.python.org/3/ in /usr/share/python",
        ),
    ],
)
def test_cleaning_takes_out_what_differs_and_nothing_twice(said: str, kept: str) -> None:
    assert notebook.clean(said) == kept
    assert notebook.clean(kept) == kept


def test_check_passes_what_refresh_wrote(committed: Path) -> None:
    assert refresh(check=True, folder=committed.parent) == 0


def test_refreshing_one_notebook_leaves_the_others_alone(committed: Path, capsys: Any) -> None:
    other = committed.with_name("other.ipynb")
    other.write_text("not even a notebook", encoding="utf-8")
    assert refresh(["tiny"], folder=committed.parent) == 0
    assert refresh(["nothing_of_that_name"], folder=committed.parent) == 1
    assert "no notebook in" in capsys.readouterr().out


# Every lesson


def path_of(lesson: int) -> Path:
    return NOTEBOOKS / f"{lesson:02d}_{LESSONS[lesson]}.ipynb"


def turns(book: Any, exercises: list[Exercise]) -> list[tuple[Exercise, int, int]]:
    """For each exercise: its stub's cell and the cell that checks it."""
    found = []
    for exercise in exercises:
        [stub] = [n for n, cell in enumerate(book.cells) if _begins(cell, f"# Your turn {exercise.id}")]
        checks = [n for n, cell in enumerate(book.cells) if cell.source == _call(exercise)]
        assert checks == [stub + 1], f"the cell after # Your turn {exercise.id} is {_call(exercise)}"
        found.append((exercise, stub, stub + 1))
    return found


def _begins(cell: Any, line: str) -> bool:
    return cell.cell_type == "code" and cell.source.partition("\n")[0] == line


def _call(exercise: Exercise) -> str:
    return f'check("{exercise.id}", {exercise.name})'


def _says(text: str) -> list[Any]:
    return [new_output("stream", name="stdout", text=f"{text}\n")]


def copied(lesson: int, folder: Path, book: Any) -> Path:
    """The changed notebook among copies of everything else that its cells may read."""
    ignore = shutil.ignore_patterns("*.ipynb", ".ipynb_checkpoints")
    target = Path(shutil.copytree(NOTEBOOKS, folder / "notebooks", ignore=ignore)) / path_of(lesson).name
    target.write_text(notebook.text_of(book), encoding="utf-8")
    return target


def test_every_notebook_has_a_lesson_and_every_lesson_a_notebook() -> None:
    assert sorted(NOTEBOOKS.glob("*.ipynb")) == [path_of(lesson) for lesson in LESSONS]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_stub_says_not_done_yet(lesson: int) -> None:
    book = notebook.read(path_of(lesson))
    for exercise, stub, check in turns(book, exercises_of(lesson)):
        assert book.cells[stub].source == f"# Your turn {exercise.id}\n{exercise.stub}"
        assert [output.text for output in book.cells[check].outputs] == [f"{exercise.id}: not done yet\n"]


@pytest.mark.parametrize("lesson", [lesson for lesson in LESSONS if lesson])
def test_a_lesson_has_two_exercises_with_hints_and_wrong_answers(lesson: int) -> None:
    exercises = exercises_of(lesson)
    assert [exercise.id for exercise in exercises] == [f"{lesson}.{n + 1}" for n in range(len(exercises))]
    assert len(exercises) >= 2
    for exercise in exercises:
        assert len(set(exercise.hints)) == 3
        assert exercise.wrong


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_solution_passes_and_changes_no_other_output(lesson: int, tmp_path: Path) -> None:
    book = notebook.read(path_of(lesson))
    for exercise, stub, check in turns(book, exercises_of(lesson)):
        book.cells[stub].source = exercise.solution
        book.cells[check].outputs = _says(f"✓ {exercise.id}: {exercise.done}")
    run = strict(copied(lesson, tmp_path, book))
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_known_wrong_answer_gets_its_message(lesson: int, tmp_path: Path) -> None:
    book = notebook.read(path_of(lesson))
    for exercise, _, check in reversed(turns(book, exercises_of(lesson))):
        for wrong in reversed(exercise.wrong):
            outputs = _says(f"✗ {exercise.id}: {wrong.message}")
            source = f"{wrong.source}\n\n{_call(exercise)}"
            book.cells.insert(check + 1, new_code_cell(source, outputs=outputs, execution_count=1))
    run = strict(copied(lesson, tmp_path, book))
    assert run.returncode == 0, run.stdout


def test_three_variables_run_lesson_6_on_an_endpoint_of_your_own_with_no_changed_line(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    cells = {cell.id: cell.source for cell in notebook.read(path_of(6)).cells}
    names: dict[str, Any] = {}
    with Scripted([calls(("maps__places", "{}")), says("Six places.")]) as yours:
        for name, value in (("BASE_URL", yours.base_url), ("API_KEY", "a-key"), ("MODEL", "yours")):
            monkeypatch.setenv(f"OPENAI_{name}", value)
        try:
            for cell in ("imports", "loop-v1", "run-v1"):
                exec(cells[cell], names)
        finally:
            if "toolbox" in names:
                names["toolbox"].close()
            names["llm"].close()
    assert "the model is yours" in capsys.readouterr().out
    assert [message["role"] for message in names["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert [(request["model"], len(request["tools"])) for request in yours.requests] == [("yours", 4)] * 2
    assert "choose_llm()" in cells["your-server"]


@pytest.mark.parametrize("line", SYLLABUS)
def test_a_line_of_the_syllabus_is_taught_asked_about_and_run(line: str) -> None:
    for lesson in SYLLABUS[line]:
        cells = [
            cell for cell in notebook.read(path_of(lesson)).cells if line in cell.metadata.get("tags", [])
        ]
        prose = [cell.source for cell in cells if cell.cell_type == "markdown"]
        assert any("?" not in text for text in prose), f"{line} is not taught in lesson {lesson}"
        assert any("?" in text for text in prose), f"{line} is not asked about in lesson {lesson}"
        if line not in TALKED_ABOUT:
            assert any(cell.cell_type == "code" for cell in cells), f"{line} does not run in lesson {lesson}"


def test_no_tag_names_a_line_that_is_not_in_the_syllabus_or_comes_later() -> None:
    for lesson in LESSONS:
        for cell in notebook.read(path_of(lesson)).cells:
            for tag in set(cell.metadata.get("tags", [])) - notebook.TAGS:
                assert lesson >= SYLLABUS[tag][0], f"{tag} in lesson {lesson}"
