"""What a judge needs: a real server for the learner's code to talk to, and the transcript afterwards.

    with started_transport("weather") as (transport, traffic): ...
    with connected_client("faulty", "page_two") as client: ...        # client.traffic
    with mounted_toolbox(weather="weather", maps="maps") as toolbox: ...   # toolbox.traffic
    with spawned("weather") as process: ...                           # a bare subprocess.Popen

    sent(traffic, "request", method="tools/list")       -> [message, …]
    received(traffic, "reply")                          -> [message, …]
    exchanges(traffic, method="tools/call")             -> [(request, reply or None), …]
    texts(traffic, "stderr")                            -> [line, …]
    happenings(traffic)                                 -> ["spawned", "stdin closed", "exited"]
    at_most(client, 10)                                 # the next request but ten raises TooMany
    shown(answer)                                       -> its repr, short enough for a message

The servers are real ones, `mcp_lessons.servers.NAME` with words for its command line. Whatever is open
when a check ends, or runs out of time, is closed by the check.
"""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, Any

from ..traffic import Event, Traffic

_open: list[Any] = []


def server_command(name: str, *words: str) -> list[str]:
    """The command of one of the course's servers: `server_command("faulty", "banner")`."""
    return [sys.executable, "-m", f"mcp_lessons.servers.{name}", *words]


@contextlib.contextmanager
def spawned(name: str, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """A server as a bare child process, with text pipes (UTF-8) for stdin, stdout and stderr."""
    process = subprocess.Popen(
        server_command(name, *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8",
    )  # fmt: skip
    with _kept(_Child(process)):
        yield process


@contextlib.contextmanager
def started_transport(name: str, *words: str) -> Iterator[tuple[Any, Traffic]]:
    """A started StdioTransport to a server, and the record that it writes."""
    from ..stdio import StdioTransport

    traffic, transport = Traffic(), StdioTransport(server_command(name, *words))
    with _kept(transport):
        transport.start(traffic.recorder(name))
        yield transport, traffic


@contextlib.contextmanager
def connected_client(
    name: str, *words: str, initialize: bool = True, cls: Any = None, **options: Any
) -> Iterator[Any]:
    """A client (the package's, or the learner's class `cls`) of a server; its record is `client.traffic`."""
    from ..client import Client
    from ..stdio import StdioTransport

    transport = StdioTransport(server_command(name, *words))
    client = (cls or Client)(transport, name=name, **{"traffic": Traffic(), "timeout": 5.0, **options})
    with _kept(client):
        if initialize:
            client.initialize()
        yield client


@contextlib.contextmanager
def mounted_toolbox(**servers: str | list[str]) -> Iterator[Any]:
    """A toolbox with servers of the course: `mounted_toolbox(weather="weather", bad=["faulty", "slow"])`."""
    from ..toolbox import Toolbox

    toolbox = Toolbox(traffic=Traffic(), era="legacy")
    with _kept(toolbox):
        for prefix, server in servers.items():
            toolbox.mount(prefix, server_command(*([server] if isinstance(server, str) else server)))
        yield toolbox


def sent(traffic: Traffic, kind: str | None = None, method: str | None = None) -> list[Any]:
    """What the client sent, as messages in order; only of one kind or one method, if named."""
    return _messages(traffic, "sent", kind, method)


def received(traffic: Traffic, kind: str | None = None, method: str | None = None) -> list[Any]:
    """What the client received, as messages in order."""
    return _messages(traffic, "received", kind, method)


def exchanges(traffic: Traffic, method: str | None = None) -> list[tuple[Any, Any]]:
    """Each request that was sent, with the reply it got (None: it got none)."""
    events = list(traffic)
    replies = {(e.connection, e.body.get("id")): e.body for e in events if _is(e, "received", "reply")}
    requests = [e for e in events if _is(e, "sent", "request") and method in (None, e.body["method"])]
    return [(e.body, replies.get((e.connection, e.body["id"]))) for e in requests]


def texts(traffic: Traffic, kind: str) -> list[str]:
    """The exact lines of one kind: "stderr", "noise"."""
    return [event.raw for event in traffic if event.kind == kind]


def happenings(traffic: Traffic) -> list[str]:
    """What happened to the server's process: "spawned", "stdin closed", "signalled", "exited", …"""
    return [event.body["event"] for event in traffic if event.kind == "process"]


class TooMany(Exception):
    """Raised in the learner's code when a loop of requests does not end."""


def at_most(client: Any, requests: int) -> None:
    """From now on this client sends so many requests, and raises TooMany at the next one."""
    begin, left = client.begin, iter(range(requests))

    def counted(*words: Any, **options: Any) -> Any:
        if next(left, None) is None:
            raise TooMany
        return begin(*words, **options)

    client.begin = counted


def shown(value: Any) -> str:
    """The repr of what a learner returned, cut so that a message stays a sentence."""
    try:
        text = repr(value)
    except Exception:  # a repr may do anything
        text = f"a {type(value).__name__}"
    return text if len(text) <= 120 else f"{text[:119]}…"


def end_everything() -> None:
    """Close whatever judges opened and left open."""
    while _open:
        with contextlib.suppress(Exception):
            _open.pop().close()


@contextlib.contextmanager
def _kept(thing: Any) -> Iterator[None]:
    _open.append(thing)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            _open.remove(thing)
        thing.close()


class _Child:
    """A bare process that can be closed like a transport."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        pipes: list[IO[str] | None] = [self._process.stdin, self._process.stdout, self._process.stderr]
        for pipe in pipes:
            with contextlib.suppress(OSError):
                if pipe:
                    pipe.close()


def _is(event: Event, direction: str, kind: str) -> bool:
    return (event.direction, event.kind) == (direction, kind)


def _messages(traffic: Traffic, direction: str, kind: str | None, method: str | None) -> list[Any]:
    return [
        event.body
        for event in traffic
        if event.direction == direction
        and kind in (None, event.kind)
        and (method is None or (isinstance(event.body, dict) and event.body.get("method") == method))
    ]
