"""What a run of the agent loop puts on the record, and tells whoever listens.

Shown in lesson 6. On the record a run is a connection of its own, named after the model.
"""

import json
from collections.abc import Callable
from typing import Any

from ._replies import Reply
from .traffic import Traffic

Listener = Callable[[dict[str, Any]], None]


class Watch:
    """One run: its `turn`, the record it writes, the listener it tells."""

    def __init__(self, traffic: Traffic, model: str, max_turns: int, on_event: Listener | None) -> None:
        self.turn, self._max_turns = 0, max_turns
        self._traffic, self._model, self._on_event = traffic, model, on_event
        self._connection = traffic.new_connection()

    def tell(self, kind: str, **details: Any) -> None:
        """Tell the listener: `{"turn": 1, "kind": "text" | "call" | "result", …}`."""
        if self._on_event is not None:
            self._on_event({"turn": self.turn, "kind": kind, **details})

    def asked(self, request: dict[str, Any]) -> None:
        defaults = {"turn": self.turn, "max_turns": self._max_turns, "tools": [], "stream": False}
        self._note("sent", defaults | request)

    def answered(self, reply: Reply) -> None:
        """Record the reply as it came: arguments that are no JSON are seen here alone."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or reply.refusal}
        if reply.calls:
            message["tool_calls"] = [_as_sent(call) for call in reply.calls]
        body = {"turn": self.turn, "message": message, "finish_reason": reply.finish_reason}
        self._note("received", body | {"usage": reply.usage})

    def failed(self, problem: Exception) -> None:
        self._note("received", {"turn": self.turn, "error": str(problem)})

    def ended(self, stop_reason: str, answer: str) -> None:
        self._note("", {"stop_reason": stop_reason, "answer": answer, "turns": self.turn})

    def _note(self, direction: str, body: dict[str, Any]) -> None:
        raw = json.dumps(body, ensure_ascii=False, default=str)
        self._traffic.add(
            "model", raw=raw, body=json.loads(raw), server=self._model, connection=self._connection,
            direction=direction,
        )  # fmt: skip


def _as_sent(call: dict[str, Any]) -> dict[str, Any]:
    arguments = call["arguments"]
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, default=str)
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": text}}
