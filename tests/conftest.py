"""Every test runs with a home and a temporary folder to throw away, and leaves nothing running."""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from gate import pytest_configure, pytest_sessionfinish  # noqa: F401
from gate import pytest_terminal_summary as _not_run
from needs import find_chromium, node_folder
from project import code_lines, core_files

AFTERLIFE_SECONDS = 3.0

_base = Path(tempfile.mkdtemp(prefix="mcp-lessons-"))
HOME, TEMP = _base / "home", _base / "temp"
HOME.mkdir()
TEMP.mkdir()
for _name in [name for name in os.environ if name.startswith("OPENAI_")]:
    del os.environ[_name]
os.environ["PATH"] = f"{node_folder()}{os.pathsep}{os.environ['PATH']}"
os.environ["PLAYWRIGHT_NODEJS_PATH"] = str(node_folder() / "node")  # its own wants a library of Debian's
os.environ["HOME"] = str(HOME)
os.environ["TMPDIR"] = str(TEMP)
tempfile.tempdir = str(TEMP)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Fails the test that leaves a process, a thread or a temporary file behind."""
    before = [_processes(), _threads(), _files()]
    yield
    found = [
        _what_stays(_processes, before[0]),
        _what_stays(_threads, before[1]),
        _what_stays(_files, before[2]),
    ]
    left = [str(thing) for kind in found for thing in kind]
    if left:
        pytest.fail("left behind: " + "; ".join(left), pytrace=False)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser. Its absence is an error, not a skip."""
    path = find_chromium()
    assert path, "no Chromium: run python tests/needs.py"
    return path


def pytest_unconfigure() -> None:
    shutil.rmtree(_base, ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser's tests come last: Playwright keeps an event loop running in this thread from then on."""
    items.sort(key=lambda item: "browser" in item.path.parts)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    _not_run(terminalreporter, config)
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in core_files())
    code = sum(map(code_lines, core_files()))
    terminalreporter.write_line(
        f"mcp_lessons without servers, views and course: {lines} lines of Python, {code} of them code"
    )


def _what_stays(look: Callable[[], set[Any]], before: set[Any]) -> set[Any]:
    deadline = time.monotonic() + AFTERLIFE_SECONDS
    while (left := look() - before) and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    return left


_strangers: set[int] = set()


def _processes() -> set[Any]:
    """The processes that carry our home in their environment, whoever is their parent now."""
    ours = set()
    for pid in set(psutil.pids()) - _strangers - {os.getpid()}:
        try:
            if psutil.Process(pid).environ().get("HOME") == str(HOME):
                ours.add(_Named(pid))
                continue
        except psutil.ZombieProcess:
            with suppress(psutil.NoSuchProcess):  # it may be gone by now
                if psutil.Process(pid).ppid() == os.getpid():
                    ours.add(_Named(pid))
                    continue
        except psutil.Error:
            pass
        _strangers.add(pid)
    return ours


class _Named(int):
    def __str__(self) -> str:
        try:
            return f"process {int(self)}: {' '.join(psutil.Process(int(self)).cmdline())}"
        except psutil.Error:
            return f"process {int(self)}"


def _threads() -> set[Any]:
    return {thread for thread in threading.enumerate() if thread.is_alive()}


def _files() -> set[Any]:
    """What lies in the temporary folder; pytest's own folders and a browser's hidden ones apart."""
    return {path for path in TEMP.iterdir() if not path.name.startswith(("pytest-of-", ".", "playwright"))}
