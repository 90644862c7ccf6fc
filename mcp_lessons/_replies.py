"""What chat-completions endpoints really answer, read into one form, recorded, and their errors in
words.

Shown in lesson 6. The `openai` package does not check replies: a field may be missing, null, or of
another type than promised. A reply that comes whole is read as a stream of one piece.
"""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ._schemas import utf8
from .errors import ModelError
from .traffic import Traffic

HINTS = {
    None: "is an OpenAI-compatible endpoint running there?",
    400: "does this model take tools? vLLM needs --enable-auto-tool-choice and --tool-call-parser",
    401: "is OPENAI_API_KEY the key for this endpoint?",
    404: "does the base URL end in /v1, and does the endpoint have this model?",
    429: "the endpoint takes no more requests for now: wait, or look at the account",
}


MOST_CALLS_KEPT = 1_000
"""Calls that are taken from one reply; a model that makes more has lost its way."""
STREAM_SECONDS = 600.0
"""How long a streamed reply may take. Silence has the deadline of the `openai` client; comments that
keep the connection alive have none."""


def chunks_of(llm: Any, request: dict[str, Any]) -> Iterator[Any]:
    """The chunks of a streamed reply, or one completion. ModelError for whatever goes wrong."""
    response, late = None, threading.Event()
    hang_up = threading.Timer(STREAM_SECONDS, lambda: (late.set(), response.close()))
    hang_up.daemon = True
    try:
        response = llm.chat.completions.create(**request)
        if request.get("stream"):
            hang_up.start()
        yield from _pieces(response) if request.get("stream") else [response]
    except Exception as problem:
        too_late = TimeoutError(f"the stream was not over within {STREAM_SECONDS:g} s")
        raise model_error(llm, too_late if late.is_set() else problem) from None
    finally:
        hang_up.cancel()
        if hasattr(response, "close"):
            response.close()


def _pieces(response: Any) -> Iterator[Any]:
    """The chunks of a stream. An endpoint that does not stream sends JSON, asked or not: one piece."""
    http = getattr(response, "response", None)
    if http is not None and "json" in http.headers.get("content-type", ""):
        yield json.loads(http.read())
    else:
        yield from response


def model_error(llm: Any, problem: Exception) -> ModelError:
    """What the endpoint said, in its own words, and a hint."""
    body, status = getattr(problem, "body", None), getattr(problem, "status_code", None)
    cause = problem.__cause__ or (None if _get(body, "message") else body)  # the package quotes no other
    said = str(problem)[:1000] or type(problem).__name__
    words = f"{getattr(llm, 'base_url', 'the model')}: {said}" + (f" ({str(cause)[:300]})" if cause else "")
    needless = body if status is None else status == 400 and "tool" not in words.lower()
    hint = "" if needless else HINTS.get(status, "")
    return ModelError(utf8(f"{words}\nHint: {hint}" if hint else words))


class Reply:
    """One reply of a model: `text`, `calls` as dicts of id, name and arguments, `finish_reason`, `usage`."""

    def __init__(self) -> None:
        self.text, self.finish_reason, self.usage = "", "", None
        self.calls: list[dict[str, Any]] = []
        self._last: Any = None
        self._choice: Any = None
        self._empty = True

    def take(self, chunk: Any) -> str:
        """Take in one chunk, or a whole completion; returns the text that it adds."""
        self._last, added = chunk, ""
        self.usage = _usage(_get(chunk, "usage")) or self.usage
        for choice in _list(_get(chunk, "choices")):
            delta, message = _get(choice, "delta"), _get(choice, "message")
            part, index = message if delta is None else delta, _get(choice, "index")
            self._choice = index if self._choice is None else self._choice
            if index not in (None, self._choice):  # of several choices the first one that comes is read
                continue
            self.finish_reason = _get(choice, "finish_reason") or self.finish_reason
            if part is None:
                continue
            self._empty = False
            added += _text(_get(part, "content")) or _text(_get(part, "refusal"))
            old = _get(part, "function_call")  # what tool_calls were before they were several
            pieces = _list(_get(part, "tool_calls")) or ([{"function": old}] if old else [])
            for position, piece in enumerate(pieces):
                self._join(piece, position if delta is None else _get(piece, "index"))
        self.text += added
        return added

    @property
    def cut(self) -> bool:
        """Whether the reply was cut at the token limit: then what it calls may not be what it meant."""
        return self.finish_reason in ("length", "max_tokens", "model_length")

    def check(self, llm: Any, stream: bool) -> None:
        """ModelError for a reply that holds nothing, or a stream that ended in the middle."""
        if self._empty or self.finish_reason == "error":
            dump = getattr(self._last, "model_dump", lambda **_: self._last)
            last = dump(exclude_unset=True, warnings=False)
            said = str(_get(last, "error") or last or "nothing")[:300]
            raise model_error(llm, ValueError(f"the reply is no chat completion: {said}"))
        if stream and not self.finish_reason and self.usage is None:
            raise model_error(llm, ValueError("the stream ended before the reply was complete"))

    def _join(self, piece: Any, index: Any) -> None:
        """Add a piece to the call that it belongs to, or begin a new one. Id and name are set once:
        some servers repeat them in every piece."""
        function = _get(piece, "function")
        id, name, arguments = _get(piece, "id"), _get(function, "name"), _get(function, "arguments")
        id, name = ("" if word is None else utf8(str(word)).strip() for word in (id, name))
        call = self._call_of(id, index, name)
        if call is None:
            if len(self.calls) == MOST_CALLS_KEPT or not (name or arguments):
                return  # some servers send an empty call with every message
            call = {"id": "", "name": "", "arguments": "", "index": index}
            self.calls.append(call)
        call["id"], call["name"] = call["id"] or id, call["name"] or name
        call["arguments"] = _joined(call["arguments"], arguments)

    def _call_of(self, id: str, index: Any, name: str) -> dict[str, Any] | None:
        """Some servers leave out the index, or count every call as 0: then a new id is a new call, and
        without an id so is a name, when the arguments so far are whole. Some invent a new id for every
        piece: without a name it goes on with arguments that are not whole."""
        mine = [call for call in self.calls if index is None or call["index"] == index]
        same = [call for call in mine if id and call["id"] == id]
        if same or not mine:
            return same[0] if same else None
        last = mine[-1]
        is_other, is_whole = id and last["id"], _whole(last["arguments"])
        return None if (is_other and (name or is_whole)) or (name and is_whole) else last


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
        if reply.calls:
            message["tool_calls"] = [_as_sent(call) for call in reply.calls]
        body = {"turn": self.turn, "message": message, "finish_reason": reply.finish_reason}
        self._note("received", body | {"usage": reply.usage})

    def failed(self, problem: Exception) -> None:
        self._note("received", {"turn": self.turn, "error": str(problem)})

    def ended(self, stop_reason: str, answer: str) -> None:
        self._note("", {"stop_reason": stop_reason, "answer": answer, "turns": self.turn})

    def _note(self, direction: str, body: dict[str, Any]) -> None:
        where = {"server": self._model, "connection": self._connection, "direction": direction}
        self._traffic.add("model", body=body, **where)


def _get(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def _list(value: Any) -> list[Any]:
    """A list, whatever it was; some servers send the one thing that would be in it."""
    values = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    return [item for item in values if item is not None]


def _text(content: Any) -> str:
    """Text that stands alone, in an object, or in the parts of a list."""
    match content:
        case str() | int() | float() if not isinstance(content, bool):
            return utf8(str(content))
        case list():
            return "".join(map(_text, content))
    return "" if content is None else _text(_get(content, "text"))


def _usage(usage: Any) -> dict[str, int] | None:
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {name: _get(usage, name) for name in names if isinstance(_get(usage, name), int)} or None


def _joined(so_far: Any, more: Any) -> Any:
    """The arguments with one piece more: texts add up, and so do objects. A text that is whole and
    begins again is a repetition."""
    if isinstance(more, str) and isinstance(so_far, str):
        repeats = more.lstrip().startswith("{") and so_far.strip() and _whole(so_far)
        return utf8(more) if repeats else so_far + utf8(more)
    if isinstance(more, dict) and isinstance(so_far, dict):
        return so_far | more
    return so_far if more is None or more == "" else more


def _whole(arguments: Any) -> bool:
    try:
        return not isinstance(arguments, str) or json.loads(arguments) is not None
    except (ValueError, RecursionError):
        return False


def _as_sent(call: dict[str, Any]) -> dict[str, Any]:
    sent = call["arguments"]
    arguments = sent if isinstance(sent, str) else json.dumps(sent)
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}
