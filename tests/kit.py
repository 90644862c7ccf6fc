"""What the tests of the client share: servers to start, clients to talk to them, and a way to wait for
an event instead of sleeping."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psutil

from mcp_lessons import Client, StdioTransport, Traffic
from mcp_lessons.traffic import Event

PROMPT = 5.0
"""Seconds within which something must happen that is said to happen at once, on a machine with other work."""

PRELUDE = """
import json, os, signal, sys, threading, time
out = sys.stdout.buffer
def send(message):
    out.write((json.dumps(message) + "\\n").encode("utf-8", "surrogatepass")); out.flush()
def reply(message, result):
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})
def text(words):
    return {"content": [{"type": "text", "text": words}]}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "tiny"}}
def read():
    line = sys.stdin.readline()
    return json.loads(line) if line else None
def serve(call, other=lambda message: None):
    while (message := read()) is not None:
        method = message.get("method")
        if method == "initialize": reply(message, HELLO)
        elif method == "tools/call": call(message)
        else: other(message)
"""


def faulty(name: str, seconds: float | None = None) -> list[str]:
    """The command of a faulty server."""
    slow = [] if seconds is None else ["--seconds", str(seconds)]
    return [sys.executable, "-m", "mcp_lessons.servers.faulty", name, *slow]


def tiny(code: str) -> list[str]:
    """The command of a server inlined in a test: `serve(call)`, `reply`, `send`, `read` are at hand."""
    return [sys.executable, "-S", "-c", PRELUDE + code]


@contextmanager
def client_of(command: list[str], timeout: float = 5.0, **options: Any) -> Iterator[Client]:
    """A client that is not connected yet, with a record; hung up in the end."""
    transport = StdioTransport(command, env=options.pop("env", None), cwd=options.pop("cwd", None))
    options.setdefault("traffic", Traffic())
    with Client(transport, name=options.pop("name", "faulty"), timeout=timeout, **options) as client:
        yield client


@contextmanager
def connected(command: list[str] | str, timeout: float = 5.0, **options: Any) -> Iterator[Client]:
    """A client that has shaken hands; a text is the name of a faulty server."""
    command = faulty(command) if isinstance(command, str) else command
    with client_of(command, timeout, **options) as client:
        client.initialize(timeout=10.0)
        yield client


def echo(client: Client, text: str = "hello", timeout: float | None = None) -> str:
    """What the tool `echo` answers."""
    return client.call_tool("echo", {"text": text}, timeout=timeout).text


def pid_of(client: Client) -> int:
    """The process of the client's server, from the record."""
    return next(event.body["pid"] for event in client.traffic if event.kind == "process")


def is_gone(pid: int) -> bool:
    """True when no such process runs; a dead one that nobody has collected does not run."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(condition: Callable[[], Any], seconds: float = 5.0) -> Any:
    """The first true value of `condition()`, looked at a hundred times a second; fails when none comes."""
    ticks = threading.Event()
    for _ in range(int(seconds * 100)):
        if value := condition():
            return value
        ticks.wait(0.01)
    raise AssertionError(f"this did not happen within {seconds} s")


def wait_for(traffic: Traffic, wanted: Callable[[Event], Any], seconds: float = 5.0) -> Event:
    """The first event in the record, there already or still to come, that is `wanted`."""
    found: list[Event] = []
    came = threading.Event()

    def look(event: Event) -> None:
        if not found and wanted(event):
            found.append(event)
            came.set()

    unsubscribe = traffic.subscribe(look)
    try:
        for event in traffic:
            look(event)
        assert came.wait(seconds), f"no such event within {seconds} s"
    finally:
        unsubscribe()
    return found[0]


def kinds(traffic: Traffic, kind: str, direction: str = "") -> list[Event]:
    """The events of one kind, in one direction where it is given."""
    return [event for event in traffic if event.kind == kind and direction in ("", event.direction)]


def cancelled_ids(traffic: Traffic) -> list[Any]:
    """The ids of the requests that the server was told to forget."""
    sent = (event.body for event in kinds(traffic, "notification", "sent"))
    return [body["params"]["requestId"] for body in sent if body["method"] == "notifications/cancelled"]


def steps(traffic: Traffic) -> list[str]:
    """What happened to the process, in one word each."""
    happened = [event.body for event in kinds(traffic, "process")]
    return [body.get("signal", body["event"]) for body in happened]
