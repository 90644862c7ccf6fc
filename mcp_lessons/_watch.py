"""One run of the agent loop, as it is put on the record and told to a listener. Shown in lesson 6."""

from collections.abc import Callable
from typing import Any

from ._replies import Reply
from .errors import ModelError, brief
from .traffic import Traffic


class Watch:
    """One run: its `turn`, what it puts on the record (as a connection named after the model), and
    whom it tells. Used with `with`, it also records that the run was interrupted, whatever did it."""

    def __init__(
        self, traffic: Traffic, model: str, max_turns: int, on_event: Callable[[dict[str, Any]], None] | None
    ) -> None:
        if max_turns < 1:
            raise ValueError(f"max_turns must be at least 1, not {max_turns}")
        self.turn, self._max_turns, self._on_event = 0, max_turns, on_event
        self._traffic, self._model, self._connection = traffic, model, traffic.new_connection()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error and error is not ModelError:
            self.ended("interrupted", "")

    def tell(self, kind: str, **details: Any) -> None:
        """Tell the listener: `{"turn": 1, "kind": "text" | "call" | "result", …}`."""
        if self._on_event is not None:
            self._on_event({"turn": self.turn, "kind": kind, **details})

    def asked(self, request: dict[str, Any]) -> None:
        start = {"turn": self.turn, "max_turns": self._max_turns, "tools": [], "stream": False}
        self._note("sent", start | request)

    def answered(self, reply: Reply) -> None:
        """The reply as it came: arguments that are no JSON can be seen here alone."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if calls := reply.calls:
            message |= reply.extra | {"tool_calls": [_as_sent(call) for call in calls]}
        body = {"turn": self.turn, "message": message, "finish_reason": reply.finish_reason}
        self._note("received", body | {"usage": reply.usage})

    def failed(self, problem: Exception) -> None:
        self._note("received", {"turn": self.turn, "error": str(problem)})

    def ended(self, stop_reason: str, answer: str) -> None:
        self._note("", {"stop_reason": stop_reason, "answer": answer, "turns": self.turn})

    def _note(self, direction: str, body: dict[str, Any]) -> None:
        where = {"server": self._model, "connection": self._connection, "direction": direction}
        self._traffic.add("model", body=body, **where)


def _as_sent(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": brief(call["arguments"], None)}
    return {"id": call["id"], "type": "function", "function": function} | call["extra"]
