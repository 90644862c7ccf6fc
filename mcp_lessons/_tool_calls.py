"""The calls of a reply, put together from the pieces in which they come.

Shown in lesson 6. Which piece belongs to which call is said by an index and an id; endpoints leave out
either, repeat them, or count every call as 0.
"""

import json
from typing import Any

from . import jsonrpc
from ._loose import get, whole_characters

MOST_CALLS_KEPT = 1_000
"""Calls that are taken from one reply; a model that makes more has lost its way."""


class ToolCalls:
    """Takes pieces with `add`; `finished()` has the calls."""

    def __init__(self) -> None:
        self._made: list[dict[str, Any]] = []

    def add(self, piece: Any, index: Any) -> None:
        """Add a piece to the call that it belongs to, or begin a new one. Id and name are set once:
        some servers repeat them in every piece."""
        function = get(piece, "function") or piece  # some servers leave out this level
        id, name, arguments = get(piece, "id"), get(function, "name"), get(function, "arguments")
        arguments = get(function, "parameters") if arguments is None else arguments
        id, name = ("" if word is None else whole_characters(str(word)).strip() for word in (id, name))
        index = None if index is None else str(index)
        call = self._call_of(id, index, name, arguments)
        if call is None:
            if len(self._made) == MOST_CALLS_KEPT or not (name or arguments):
                return  # some servers send an empty call with every message
            call = {"id": "", "name": "", "arguments": "", "extra": {}, "index": index}
            self._made.append(call)
        call["id"], call["name"] = call["id"] or id, call["name"] or name
        call["arguments"] = _joined(call["arguments"], arguments)
        call["extra"] |= _extra(piece)

    def finished(self) -> list[dict[str, Any]]:
        """The calls as dicts of id, name, arguments, and `extra` fields that the endpoint wants back.
        Some servers send a call under two indexes, with one id: it is one call, also when the arguments
        came with one of the two alone."""
        finished: list[dict[str, Any]] = []
        for call in self._made:
            sent = call["arguments"]
            call = call | {"arguments": whole_characters(sent) if isinstance(sent, str) else sent}
            others = finished if call["id"] else []
            twins = [c for c in others if (c["id"], c["name"]) == (call["id"], call["name"])]
            for twin in twins:
                twin["arguments"] = call["arguments"] if twin["arguments"] == "" else twin["arguments"]
            if not twins or call["arguments"] not in ("", *(twin["arguments"] for twin in twins)):
                finished.append(call)
        return finished

    def _call_of(self, id: str, index: Any, name: str, arguments: Any) -> dict[str, Any] | None:
        """Some servers leave out the index, or count every call as 0: then a new id is a new call, and
        without an id so is a name, when the arguments so far are whole. Some invent a new id for every
        piece: without a name it goes on with arguments that are not whole."""
        mine = [c for c in self._made if index is None or c["index"] is None or c["index"] == index]
        same = [call for call in mine if id and call["id"] == id]
        if same or not mine:
            return same[-1] if same else None
        last = mine[-1]
        if id and last["id"]:
            return None if name or _whole(last["arguments"]) else last
        repeats = name == last["name"] and not id and not arguments  # the name once more, at the end
        is_new = name and last["name"] and not repeats and _whole(last["arguments"])
        return None if is_new else last


def _joined(so_far: Any, more: Any) -> Any:
    """The arguments with one piece more: texts add up, and so do objects. A text that is whole and
    begins again is a repetition."""
    if isinstance(more, str) and isinstance(so_far, str):
        return more if more.lstrip().startswith("{") and _whole(so_far) else so_far + more
    if isinstance(more, dict) and isinstance(so_far, dict):
        return so_far | more
    return so_far if more is None or more == "" else more


def _whole(arguments: Any) -> bool:
    """Whether they are an object that is over. A text is read only if it can be: this is asked after each
    piece of what may be long."""
    if not isinstance(arguments, str):
        return True
    try:
        return arguments.rstrip().endswith("}") and json.loads(arguments) is not None
    except (ValueError, RecursionError):
        return False


def _extra(piece: Any) -> dict[str, Any]:
    """Gemini signs its thoughts here, and refuses a history without the signature."""
    extra = get(piece, "extra_content")
    try:
        text = jsonrpc.encode({"extra_content": extra} if isinstance(extra, dict) else {})
        return jsonrpc.decode(whole_characters(text)) or {}
    except (TypeError, ValueError):
        return {}
