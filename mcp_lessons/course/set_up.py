"""Does this machine have what the course needs? Asked by lesson 0 and by `mcp-lessons doctor`."""

import importlib.util
import socket
import sys
from collections.abc import Callable, Iterator

PACKAGES = ("jupyterlab", "ipywidgets", "anywidget", "openai", "httpx2", "jsonschema", "mcp")


def set_up_check() -> None:
    """Print a line for each thing the course needs: ✓, or ✗ and what to do."""
    for thing, advice in findings():
        print(f"✗ {thing}: {advice}" if advice else f"✓ {thing}")


def findings() -> Iterator[tuple[str, str]]:
    """(thing, advice) for each thing the course needs; the advice is "" where all is well."""
    for thing, look in _CHECKS.items():
        try:
            yield thing, look()
        except Exception as problem:  # whatever it is, it is news about this machine, and worth its line
            yield thing, f"{type(problem).__name__}: {problem}"


def _packages() -> str:
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    return f"no {', '.join(missing)} here: run make lab, or pip install -e ." if missing else ""


def _child_process() -> str:
    from .. import Client, StdioTransport

    command = [sys.executable, "-m", "mcp_lessons.servers.weather"]
    with Client(StdioTransport(command), name="weather") as client:
        client.initialize(timeout=20.0)
    return ""


def _loopback() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()
    return ""


def _views() -> str:
    from .. import Traffic
    from ..views import TrafficView

    TrafficView(Traffic()).close()
    return ""


_CHECKS: dict[str, Callable[[], str]] = {
    "the packages of the course": _packages,
    "a server can be started as a child process": _child_process,
    "this machine can talk to itself (the offline model needs it)": _loopback,
    "the live views": _views,
}
