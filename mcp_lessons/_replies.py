"""What chat-completions endpoints really answer, read into one form; and their errors, in words.

Shown in lesson 6. The `openai` package does not check replies: a field may be missing, null, or of
another type than promised. A reply that comes whole is read as a stream of one piece.
"""

import json
from collections.abc import Iterator
from typing import Any

from ._schemas import utf8
from .errors import ModelError

HINTS = {
    400: "does this model take tools? vLLM needs --enable-auto-tool-choice and --tool-call-parser",
    401: "is OPENAI_API_KEY the key for this endpoint?",
    403: "is OPENAI_API_KEY the key for this endpoint, and may it use this model?",
    404: "does the base URL end in /v1, and does the endpoint have this model?",
    429: "the endpoint takes no more requests for now: wait, or look at the account",
}


class Reply:
    """One reply of a model: `text`, `calls` as dicts of id, name and arguments, `finish_reason`, `usage`."""

    def __init__(self) -> None:
        self.text, self.refusal, self.finish_reason = "", "", ""
        self.usage: dict[str, int] | None = None
        self.calls: list[dict[str, Any]] = []
        self.last: Any = None
        self.empty = True

    def take(self, chunk: Any) -> str:
        """Take in one chunk, or a whole completion; returns the text that it adds."""
        self.last = chunk
        self.usage = _usage(_get(chunk, "usage")) or self.usage
        choices = _get(chunk, "choices")
        choices = choices if isinstance(choices, list) else []
        added = ""
        for choice in choices:
            delta, message = _get(choice, "delta"), _get(choice, "message")
            part = message if delta is None else delta
            if part is None or _get(choice, "index") not in (None, 0):
                continue
            self.empty = False
            self.finish_reason = _get(choice, "finish_reason") or self.finish_reason
            added += _text(_get(part, "content"))
            self.refusal += _text(_get(part, "refusal"))
            for position, piece in enumerate(_pieces(part)):
                self.join(piece, _get(piece, "index") if message is None else position)
        self.text += added
        return added

    def check(self, llm: Any, stream: bool) -> None:
        """ModelError for a reply that holds nothing, or a stream that ended in the middle."""
        if self.empty:
            said = str(_get(self.last, "error") or self.last)[:300]
            raise model_error(llm, ValueError(f"the reply is no chat completion: {said!r}"))
        if stream and not self.finish_reason and self.usage is None:
            raise model_error(llm, ValueError("the stream ended before the reply was complete"))

    def join(self, piece: Any, index: Any) -> None:
        """Add a piece of a call to the call that it belongs to, or begin a new one.

        Id and name are set once: some servers repeat them in every piece. Some leave out the index,
        or count every call as 0: then a new id is a new call, and so is a name when the arguments so
        far are whole.
        """
        function = _get(piece, "function")
        id, name, arguments = _get(piece, "id"), _get(function, "name"), _get(function, "arguments")
        id = str(id).strip() if id is not None else ""
        call = self._call_of(id, index, name)
        if call is None:
            call = {"id": "", "name": "", "arguments": None, "index": index}
            self.calls.append(call)
        call["id"] = call["id"] or id
        call["name"] = call["name"] or (name.strip() if isinstance(name, str) else "")
        if isinstance(arguments, str) and isinstance(call["arguments"], str):
            call["arguments"] += arguments
        elif arguments is not None and arguments != "":
            call["arguments"] = arguments

    def _call_of(self, id: str, index: Any, name: Any) -> dict[str, Any] | None:
        mine = [call for call in self.calls if index is None or call["index"] == index]
        if id:
            return next((call for call in mine if call["id"] == id), None) or next(
                (call for call in mine[-1:] if not call["id"] and not (name and _whole(call["arguments"]))),
                None,
            )
        return next((call for call in mine[-1:] if not (name and _whole(call["arguments"]))), None)


def chunks_of(llm: Any, request: dict[str, Any]) -> Iterator[Any]:
    """The chunks of a streamed reply, or one completion. ModelError for whatever goes wrong."""
    response = None
    try:
        response = llm.chat.completions.create(**request)
        yield from response if request.get("stream") else [response]
    except Exception as problem:
        raise model_error(llm, problem) from None
    finally:
        if hasattr(response, "close"):
            response.close()


def model_error(llm: Any, problem: Exception) -> ModelError:
    """What the endpoint said, in its own words, and a hint."""
    cause = problem.__cause__
    words = f"{str(problem)[:1000]}{f' ({str(cause)[:300]})' if cause else ''}" or type(problem).__name__
    status = getattr(problem, "status_code", None)
    hint = HINTS.get(status, "is an OpenAI-compatible endpoint running there?" if status is None else "")
    where = getattr(llm, "base_url", "the endpoint")
    return ModelError(utf8(f"{where}: {words}" + (f"\nHint: {hint}" if hint else "")))


def _get(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def _text(content: Any) -> str:
    """Text that stands alone, or in the parts of a list."""
    if isinstance(content, list):
        return "".join(_text(_get(part, "text")) for part in content)
    return utf8(content) if isinstance(content, str) else ""


def _pieces(part: Any) -> list[Any]:
    pieces = _get(part, "tool_calls")
    if isinstance(pieces, list) and pieces:
        return [piece for piece in pieces if piece is not None]
    old = _get(part, "function_call")  # before tool_calls there was one function_call
    return [] if old is None else [{"function": old}]


def _usage(usage: Any) -> dict[str, int] | None:
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    counts = {name: _get(usage, name) for name in names if isinstance(_get(usage, name), int)}
    return counts or None


def _whole(arguments: Any) -> bool:
    if not isinstance(arguments, str):
        return arguments is not None
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return False
    return True
