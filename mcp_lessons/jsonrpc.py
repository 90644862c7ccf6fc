"""JSON-RPC 2.0 messages: make them, write them as one line, read them back, tell their kind.

Lesson 2 builds this module. It is pure: no process, no socket, no clock.

    >>> encode(request(1, "tools/list"))
    '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    >>> kind_of(decode('{"jsonrpc":"2.0","id":1,"result":{}}'))
    'reply'

The rules are those of https://www.jsonrpc.org/specification, as narrowed by
https://modelcontextprotocol.io/specification/2025-11-25/basic (an id is never null).
"""

import json
import math
import re
from typing import Any

Message = dict[str, Any]

MAX_OBJECTS = 1_000
"""Objects that are read from one line, when they stand there one after the other."""
DEEPEST = 920
"""Levels of nesting that are read: Python gives up at a thousand, with all the calls that led there."""

_SPACE = re.compile(r"\s*")
_decoder = json.JSONDecoder(strict=False, parse_int=lambda n: int(n) if len(n) < 4300 else float(n))
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def request(id: int | str, method: str, params: Message | None = None) -> Message:
    """A message that wants a reply with the same `id`."""
    return {"jsonrpc": "2.0", "id": id, **_call(method, params)}


def notification(method: str, params: Message | None = None) -> Message:
    """A message that nobody answers: it has no id."""
    return {"jsonrpc": "2.0", **_call(method, params)}


def result(id: int | str, value: Any) -> Message:
    """The reply to a request that went well."""
    return {"jsonrpc": "2.0", "id": id, "result": value}


def error(id: int | str | None, code: int, message: str, data: Any = None) -> Message:
    """The reply to a request that did not go well."""
    detail = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": id, "error": detail}


def encode(message: Message) -> str:
    """One line of JSON, without its newline. ValueError for NaN, infinity, circles and too deep a
    nesting; TypeError for values that JSON has no word for."""
    try:
        return _encoder.encode(message)
    except RecursionError as problem:
        raise ValueError("nested too deeply for JSON") from problem


def decode(line: str) -> Any:
    """The JSON value in `line`, or None when it holds none: a banner, a log line, half a message, or what
    is nested too deeply.

    Taken as well, for servers that write it: objects one after the other (read as a list of them),
    control characters in texts, and whole numbers that are too long for Python (read as floats).
    """
    line, values, at = line.strip("\ufeff\0 \t\r\n"), [], 0
    try:
        while at < len(line):
            value, end = _decoder.raw_decode(line, at)
            values.append(value)
            at = end if end == len(line) else _SPACE.match(line, end).end()
            if len(values) > MAX_OBJECTS:
                return None
    except (ValueError, RecursionError):
        return None
    if line.count("[") + line.count("{") > DEEPEST and is_deeper(values, DEEPEST + 1):
        return None
    return values[0] if len(values) == 1 else values or None


def is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects stand in one another in `value` on more than this many levels.

    >>> is_deeper([[]], 1), is_deeper([[]], 2)
    (True, False)
    """
    layer = [value]
    for _ in range(levels):
        if not layer:
            return False
        holders = [each.values() if isinstance(each, dict) else each for each in layer if _holds(each)]
        layer = [inner for holder in holders for inner in holder]
    return any(map(_holds, layer))


def kind_of(message: Any) -> str:
    """ "request", "reply", "notification", or "noise" for a value that is no JSON-RPC message.

    A `method` is looked for first: what has one is never a reply, even if its id equals one of ours.
    """
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return "noise"
    if isinstance(message.get("method"), str):
        if "id" not in message:
            return "notification"
        return "request" if _is_id(message["id"]) else "noise"
    if "result" in message or "error" in message:
        return "reply" if message.get("id") is None or _is_id(message["id"]) else "noise"
    return "noise"


def _call(method: str, params: Message | None) -> Message:
    return {"method": method} if params is None else {"method": method, "params": params}


def _holds(value: Any) -> bool:
    return isinstance(value, list | dict)


def _is_id(value: Any) -> bool:
    return type(value) in (int, str) or (type(value) is float and math.isfinite(value))
