"""The calls that a model asks for, and what became of each: on the wire, in Python, or nowhere.

A call is tied to the record by what it names: the toolbox's `origins` say which server and tool a
name stands for, and the first matching tools/call request after the model's reply is its message.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..traffic import Event
from ._toolbox_tokens import JSON, entries, exact, mapping, text

TOOL_ERROR, PROTOCOL_ERROR = "tool-error", "protocol-error"


@dataclass
class Call:
    """One entry of `tool_calls`. `outcome` is "asked" (nothing known yet), "waiting" (sent, no reply
    yet), "ok", "tool-error" (`isError`), "protocol-error" (a JSON-RPC error), "no-reply", "python" (a
    function of the reader's own), "unsent" (it never reached its server) or "unknown" (nobody has it)."""

    id: str
    name: str
    arguments: Any
    given: str
    server: str = ""
    tool: str = ""
    known: bool = False
    connection: int = 0
    outcome: str = "asked"
    result: str | None = None
    code: Any = None
    request: Event | None = None
    reply: Event | None = None
    answered: bool = False

    def matches(self, event: Event, asked: JSON, exactly: bool) -> bool:
        """Whether `event`, a tools/call request with the params `asked`, can be this call."""
        place = event.connection == self.connection if self.connection else event.server == self.server
        same_tool = asked.get("name") == self.tool and (place or event.server == self.server)
        if not (same_tool and self.request is None and not self.answered):
            return False
        return not exactly or exact(asked.get("arguments", {})) == exact(self.arguments)

    def take_reply(self, event: Event, body: JSON) -> None:
        """The reply to its tools/call came."""
        self.reply = event
        error, result = body.get("error"), mapping(body.get("result"))
        if "error" in body:
            self.outcome, self.code = PROTOCOL_ERROR, mapping(error).get("code")
            said = text(mapping(error).get("message"))
        else:
            self.outcome = TOOL_ERROR if result.get("isError") is True else "ok"
            said = content_text(result)
        self.result = said if self.result is None else self.result

    def take_answer(self, message: JSON | None) -> None:
        """The next request to the model is out: `message` is what the model reads of this call."""
        if message is not None:
            self.result = content_text(message)
        self.end()

    def end(self, ran: bool = True) -> None:
        """Nothing more will come of it; `ran` is False when the loop ran none of the calls."""
        self.answered = True
        if self.outcome == "waiting":
            self.outcome = "no-reply"
        elif self.outcome == "asked":
            python = self.known and not self.server and ran
            self.outcome = "python" if python else "unsent" if self.known else "unknown"


def calls_of(message: JSON, origins: dict[str, JSON]) -> list[Call]:
    """The calls in a message of the model, each with where it goes."""
    return [_call(mapping(entry), origins) for entry in entries(message.get("tool_calls"))]


def _call(entry: JSON, origins: dict[str, JSON]) -> Call:
    function = mapping(entry.get("function"))
    name, given = text(function.get("name")), function.get("arguments")
    arguments = _parsed(given)
    call = Call(
        text(entry.get("id")), name, arguments, text(given) if arguments is None else exact(arguments)
    )
    if name in origins:
        origin = origins[name]
        call.known, call.server, call.tool = (
            True,
            text(origin.get("server")),
            text(origin.get("tool")) or name,
        )
        connection = origin.get("connection")
        call.connection = connection if isinstance(connection, int) else 0
    else:
        call.server, _, call.tool = name.rpartition("__")
    return call


def call_text(call: Call) -> str:
    """The call as one writes it: `calc__add(a=19, b=23)`; arguments that are no object stay as they came."""
    if call.arguments is None:
        return f"{call.name}({call.given})"
    return f"{call.name}({', '.join(f'{key}={exact(value)}' for key, value in call.arguments.items())})"


def _parsed(given: Any) -> JSON | None:
    """The arguments as an object; None when the text holds none. Some endpoints send "" or null for {}."""
    if given in (None, ""):
        return {}
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def match(open_calls: Iterable[Call], event: Event, asked: JSON) -> Call | None:
    """The call that `event`, a tools/call request, carries out: by arguments, else by tool alone."""
    calls = list(open_calls)
    exactly = [call for call in calls if call.matches(event, asked, exactly=True)]
    roughly = exactly or [call for call in calls if call.matches(event, asked, exactly=False)]
    if not roughly:
        return None
    roughly[0].request, roughly[0].outcome = event, "waiting"
    return roughly[0]


def pair_answers(calls: list[Call], messages: list[JSON]) -> None:
    """Give each call its tool message: by id, and in order where ids are missing or repeated."""
    left = [message for message in messages if message.get("role") == "tool"]
    unpaired = []
    for call in calls:
        own = next(
            (message for message in left if call.id and text(message.get("tool_call_id")) == call.id), None
        )
        if own is None:
            unpaired.append(call)
        else:
            left.remove(own)
            call.take_answer(own)
    for call in unpaired:
        call.take_answer(left.pop(0) if left else None)


def content_text(holder: JSON) -> str:
    """What a message or a tool result says: its text, and a word for what is no text."""
    content = holder.get("content")
    if not isinstance(content, list):
        return text(content)
    parts = [
        text(mapping(block).get("text")) or f"[{text(mapping(block).get('type')) or 'a block'}]"
        for block in content
    ]
    if not parts and "structuredContent" in holder:
        parts = [exact(holder["structuredContent"])]
    return "\n".join(parts)
