"""Events as the page gets them: rows, small enough for a browser, the newest ones whole.

A row is {seq, t, connection, server, direction, kind, raw}, out of which the page reads the message,
and `body` where it cannot; `cut` is the length in characters of a message that was too long.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from ..traffic import Event

MAX_ROWS = 10_000
MAX_MESSAGE = 64 * 1024
MAX_TOTAL = 16 * 1024 * 1024
BEYOND_TOTAL = 1024

_FROM_RAW = {"request", "reply", "notification", "noise", "stderr", "tools", "model"}


def row(event: Event, limit: int = MAX_MESSAGE) -> dict[str, Any]:
    """`event` for the page, with at most about `limit` characters of what it says."""
    fields = {
        "seq": event.seq, "t": round(event.t, 6), "connection": event.connection, "server": event.server,
        "direction": event.direction, "kind": event.kind, "raw": event.raw,
    }  # fmt: skip
    if len(event.raw) > limit:
        body = None if event.kind == "stderr" else pruned(event.body, limit)
        return fields | {"cut": len(event.raw), "raw": event.raw[:limit], "body": body}
    if event.kind not in _FROM_RAW or not (event.kind == "stderr" or _page_reads(event.raw)):
        fields["body"] = event.body
    return fields


def _page_reads(raw: str) -> bool:
    """True for what JSON.parse reads too. `jsonrpc.decode` is kinder to servers than JSON is."""
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return "NaN" not in raw and "Infinity" not in raw


def rows(
    events: Sequence[Event], make: Callable[[Event, int], dict[str, Any] | None] = row
) -> list[dict[str, Any]]:
    """The last 10,000 of `events` as rows; once 16 MB are spent on the newest, older ones are cut short.

    `make(event, limit)` makes a row, or None for an event that is left out.
    """
    made: list[dict[str, Any]] = []
    spent = 0
    for event in reversed(events):
        one = make(event, MAX_MESSAGE if spent < MAX_TOTAL else BEYOND_TOTAL)
        if one is not None:
            made.append(one)
            spent += min(len(event.raw), MAX_MESSAGE)
        if len(made) == MAX_ROWS:
            break
    return made[::-1]


def pruned(value: Any, limit: int) -> Any:
    """`value` with its long strings and lists cut, and nothing below the 60th level."""
    return _prune(value, max(limit // 8, 40), 60)


def _prune(value: Any, room: int, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= room else value[:room] + "…"
    if isinstance(value, dict | list) and not depth:
        return "…"
    if isinstance(value, list):
        kept = [_prune(item, max(room // 4, 40), depth - 1) for item in value[:50]]
        return kept if len(value) <= 50 else [*kept, f"… {len(value) - 50} more"]
    if isinstance(value, dict):
        kept = {
            str(key)[:200]: _prune(item, max(room // 2, 40), depth - 1)
            for key, item in list(value.items())[:100]
        }
        return kept if len(value) <= 100 else kept | {"…": f"{len(value) - 100} more"}
    return value


def dumps(value: Any) -> str:
    """`value` as JSON in ASCII, which carries lone surrogates; what JSON cannot say becomes text."""
    try:
        return json.dumps(_finite(value), default=str, separators=(",", ":"))
    except (ValueError, RecursionError):
        return json.dumps(_finite(pruned(value, MAX_MESSAGE)), default=str, separators=(",", ":"))


def _finite(value: Any) -> Any:
    """`value`, or a copy with NaN and the infinities as text where it holds any."""
    try:
        json.dumps(value, allow_nan=False, default=str)
        return value
    except ValueError:
        return _spelled(value, 60)


def _spelled(value: Any, depth: int) -> Any:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if isinstance(value, dict | list) and not depth:
        return "…"
    if isinstance(value, list):
        return [_spelled(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {str(key): _spelled(item, depth - 1) for key, item in value.items()}
    return value
