"""JupyterLab, Notebook 7 and Chromium for tests: own servers, an own browser, nothing from the network."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import nbformat
from playwright.sync_api import BrowserContext, Page, Playwright

START_SECONDS = 60
# for each application: where it opens a notebook, and what makes it show itself and ask nobody for news
PLACES = {"jupyterlab": "lab/tree/{name}?reset", "notebook": "notebooks/{name}"}
OPTIONS = {
    "jupyterlab": [
        "--LabApp.expose_app_in_browser=True", "--LabApp.app_settings_dir={settings}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.news_url=None",
        "--LabApp.extension_manager=readonly",
    ],
    "notebook": [
        "--JupyterNotebookApp.expose_app_in_browser=True", "--JupyterNotebookApp.app_settings_dir={settings}",
    ],
}  # fmt: skip
WAIT_MS = 60_000
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
# Notebook 7.6 says this of its own shortcuts as it starts, whatever is opened in it
ANYWIDGET_FAULT = "[anywidget] Failed to initialize model."
"""Said by anywidget when a view takes more than two seconds to load; the views go on without it."""
NOTEBOOK_FAULT = "Cannot read properties of undefined (reading 'schema')"

_READY = """async () => {
  const app = window.jupyterapp;
  const panel = app.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info;
}"""
_RUN = """async () => {
  const { commands } = window.jupyterapp;
  await commands.execute("notebook:clear-all-cell-outputs");
  await commands.execute("notebook:run-all-cells").catch(() => {});
}"""
_START = """() => { window.jupyterapp.commands.execute("notebook:run-all-cells").catch(() => {}); }"""
_DONE = """() => {
  const panel = window.jupyterapp.shell.currentWidget;
  const code = panel.content.widgets.map((cell) => cell.model)
    .filter((model) => model.type === "code" && model.sharedModel.getSource().trim());
  return code.every((model) => model.executionCount) && panel.sessionContext.session.kernel.status === "idle";
}"""


class Lab:
    """A JupyterLab server on loopback, in a folder of its own; or one of Notebook 7 ("notebook")."""

    def __init__(self, application: str = "jupyterlab") -> None:
        self.application = application
        self.base = Path(tempfile.mkdtemp(prefix=".lab-"))
        self.root = self.base / "notebooks"
        self.root.mkdir()
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Lab":
        settings = self.base / "app"
        settings.mkdir()
        # else each page asks for the state of a build, which costs a node process seconds of work
        (settings / "page_config.json").write_text(json.dumps({"buildCheck": False, "buildAvailable": False}))
        (settings / "overrides.json").write_text(
            json.dumps(
                {
                    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
                    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
                }
            )
        )
        log = (self.base / "log").open("wb")
        self.process = subprocess.Popen(
            self._command(settings), env=self.environment(), cwd=self.root, stdout=log, stderr=log,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        log.close()
        self._wait_until_up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self.process
        if process is not None:
            self.end_sessions()
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(10)
        shutil.rmtree(self.base, ignore_errors=True)

    def write(self, name: str, cells: list[str]) -> None:
        """A notebook with these code cells."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        notebook.metadata["kernelspec"] = {
            "name": "python3",
            "display_name": "Python 3",
            "language": "python",
        }
        nbformat.write(notebook, self.root / name)

    def end_sessions(self) -> None:
        """Shut down every kernel."""
        with suppress(OSError):
            with urllib.request.urlopen(f"{self.url}/api/sessions", timeout=10) as reply:
                sessions = json.load(reply)
            for session in sessions:
                request = urllib.request.Request(f"{self.url}/api/sessions/{session['id']}", method="DELETE")
                urllib.request.urlopen(request, timeout=20).close()

    def log(self) -> str:
        return (self.base / "log").read_text(errors="replace")

    def _command(self, settings: Path) -> list[str]:
        return [
            sys.executable, "-m", self.application, "--no-browser", "--ip=127.0.0.1", f"--port={self.port}",
            "--ServerApp.port_retries=0", f"--ServerApp.root_dir={self.root}", "--IdentityProvider.token=",
            "--ServerApp.disable_check_xsrf=True", "--allow-root",
            *(option.format(settings=settings) for option in OPTIONS[self.application]),
        ]  # fmt: skip

    def environment(self) -> dict[str, str]:
        """The environment of the server and its kernels: every folder of Jupyter is our own."""
        folders = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
        own = {f"JUPYTER_{name}": str(self.base / name.lower()) for name in folders}
        own |= {
            f"JUPYTERLAB_{name}": str(self.base / name.lower()) for name in ("SETTINGS_DIR", "WORKSPACES_DIR")
        }
        kept = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        return kept | own | {"IPYTHONDIR": str(self.base / "ipython"), "JUPYTER_PREFER_ENV_PATH": "1"}

    def _wait_until_up(self) -> None:
        assert self.process is not None
        waiting = _patience(START_SECONDS)
        while self.process.poll() is None and next(waiting):
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/api/status", timeout=5):
                return
        raise AssertionError(f"{self.application} did not start:\n{self.log()[-3000:]}")


def _patience(seconds: float) -> Iterator[bool]:
    """True about ten times a second, until the time is up."""
    import threading
    import time

    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        threading.Event().wait(0.1)
        yield True
    yield False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def chromium_context(playwright: Playwright, executable: str, **options: Any) -> Iterator[BrowserContext]:
    """A fresh browser with a profile of its own."""
    profile = tempfile.mkdtemp(prefix=".chromium-")
    context = playwright.chromium.launch_persistent_context(
        profile, executable_path=executable, headless=True, args=FLAGS,
        **{"viewport": {"width": 1400, "height": 1000}} | options,
    )  # fmt: skip
    try:
        yield context
    finally:
        context.close()
        shutil.rmtree(profile, ignore_errors=True)


class Watched:
    """A page whose errors, dialogs and requests to elsewhere are collected; `check()` fails on any."""

    def __init__(self, page: Page, own: str) -> None:
        self.page, self.own = page, own
        self.problems: list[str] = []
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", self._error)
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self._request(request.url))
        page.on("console", lambda message: self._console(message.type, message.text))

    def check(self) -> None:
        assert self.problems == []

    def _error(self, error: Any) -> None:
        if str(error) == ANYWIDGET_FAULT:
            return
        if str(error) != NOTEBOOK_FAULT or "/static/notebook/notebook_core." not in str(error.stack):
            self.problems.append(f"page error: {error}")

    def _dialog(self, dialog: Any) -> None:
        if dialog.type == "beforeunload":  # JupyterLab's own question about an unsaved notebook
            dialog.accept()
        else:
            self.problems.append(f"dialog: {dialog.message}")
            dialog.dismiss()

    def _request(self, url: str) -> None:
        if not url.startswith((self.own, "data:", "blob:", "ws://127.0.0.1")):
            self.problems.append(f"request to {url}")

    def _console(self, kind: str, text: str) -> None:
        loud = kind == "error" and ("anywidget" in text or "Refused to" in text)
        if "mcp-lessons-hostile" in text or (loud and ANYWIDGET_FAULT not in text):
            self.problems.append(f"console: {text}")


class LabPage(Watched):
    """A notebook open in JupyterLab or in Notebook 7."""

    def __init__(self, page: Page, lab: Lab) -> None:
        super().__init__(page, lab.url)
        self.lab = lab

    def open(self, name: str) -> None:
        self.page.goto(f"{self.lab.url}/{PLACES[self.lab.application].format(name=name)}")
        self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until the notebook and its kernel are there."""
        self.page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.sessionContext")
        self.page.evaluate(_READY)

    def start_all(self) -> None:
        """Run every cell, and do not wait."""
        self.page.evaluate(_START)

    def save(self) -> None:
        self.page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")

    def cells(self) -> int:
        return int(self.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length"))

    def prompts(self) -> list[str]:
        """What stands before each cell: "[1]:", or "[*]:" while it runs."""
        return [text.strip() for text in self.page.locator(".jp-InputPrompt").all_inner_texts()]

    def run_all(self) -> None:
        """Run every cell, until all have a number and the kernel is idle."""
        self.page.evaluate(_RUN)
        self.page.wait_for_function(_DONE)

    def set_theme(self, name: str) -> None:
        self.page.evaluate(
            "async (theme) => { await jupyterapp.commands.execute('apputils:change-theme', { theme }); }",
            name,
        )
