"""A record in a terminal: a line for each event, as it happens. What a server says is made visible
first, so that no escape sequence of its reaches the terminal.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..traffic import Event, Traffic
from ._text import visible

ARROWS = {"sent": "→", "received": "←", "": "·"}


@contextmanager
def printed(traffic: Traffic, longest: int | None) -> Iterator[None]:
    """Print every event of `traffic` while the block runs, each cut at `longest` characters."""

    def show(event: Event) -> None:
        with suppress(OSError, ValueError):  # whoever read our output has gone: the work goes on
            print(line_of(event, longest), flush=True)

    unsubscribe = traffic.subscribe(show)
    try:
        yield
    finally:
        unsubscribe()


def line_of(event: Event, longest: int | None = None) -> str:
    """One line for one event: its number, seconds, direction, server, kind, and what it says."""
    said = {"model": _model, "tools": _tools}.get(event.kind, lambda _: event.raw)(event.body)
    said = plain(said)
    if longest is not None and len(said) > longest:
        said = f"{said[:longest]} … ({len(said):,} characters)"
    head = f"{event.seq:>4} {event.t:8.3f}  {ARROWS[event.direction]} {plain(event.server)}"
    return f"{head:<28} {event.kind:<12} {said}"


def plain(text: str) -> str:
    """`text` on one line, with nothing in it that a terminal would obey."""
    return visible(text).replace("\n", " ⏎ ").replace("\t", " ")


def utf8_output() -> None:
    """Print what this terminal's encoding lacks as an escape, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _tools(body: dict[str, Any]) -> str:
    names = [schema["function"]["name"] for schema in body["schemas"]]
    return f"{body['cause']}; the tools now: {', '.join(names) or 'none'}"


def _model(body: dict[str, Any]) -> str:
    if "messages" in body:
        sizes = len(body["messages"]), len(body.get("tools") or [])
        return "turn {}: messages {}, tools {}".format(body["turn"], *sizes)
    if "message" in body:
        calls = [call["function"] for call in body["message"].get("tool_calls") or []]
        wanted = [f"{call['name']}({call['arguments']})" for call in calls]
        return f"turn {body['turn']}: {' and '.join(wanted) or body['message']['content']}"
    return str(body.get("error") or f"ended: {body.get('stop_reason')} after {body.get('turns')} turns")
