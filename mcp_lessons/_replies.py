"""What chat-completions endpoints really answer, read into one form.

Shown in lesson 6. The `openai` package does not check replies: a field may be missing, null, or of
another type than promised. A reply that comes whole is read as a stream of one piece.
"""

from typing import Any

from ._loose import as_list, as_text, get, whole_characters
from ._model_errors import Refusal, model_error
from ._tool_calls import ToolCalls

CUT_REASONS = ("length", "max_tokens", "model_length", "max_output_tokens")
GOOD_REASONS = ("", "stop", "eos", "eos_token", "end_turn", "stop_sequence")


class Reply:
    """One reply of a model: `text`, `calls` as dicts of id, name, arguments and extra fields,
    `finish_reason`, `usage`."""

    def __init__(self) -> None:
        self.text, self.finish_reason, self.usage = "", "", None
        self._calls, self._reasoning = ToolCalls(), ""
        self._half = ""  # of a character: the other half comes in the next chunk
        self._last: Any = None
        self._choice: Any = None
        self._empty = True

    def take(self, chunk: Any) -> str:
        """Take in one chunk, or a whole completion; returns the text that it adds."""
        choices = as_list(get(chunk, "choices"))
        self._last = chunk if choices or not self._last else self._last
        self.usage = _usage(get(chunk, "usage")) or self.usage
        return "".join(map(self._take_choice, choices))

    @property
    def calls(self) -> list[dict[str, Any]]:
        return self._calls.finished()

    @property
    def extra(self) -> dict[str, str]:
        """Fields that the endpoint wants back with the calls: DeepSeek refuses them without its reasoning."""
        return {"reasoning_content": self._reasoning} if self._reasoning else {}

    @property
    def cut(self) -> bool:
        """Whether the reply was cut at the token limit: then what it calls may not be what it meant."""
        return str(self.finish_reason).lower() in CUT_REASONS

    def check(self, llm: Any) -> None:
        """ModelError for a reply that holds nothing."""
        reason = str(self.finish_reason).lower()
        if self._empty or reason == "error":
            dump = getattr(self._last, "model_dump", lambda **_: self._last)
            last = dump(exclude_unset=True, warnings=False)
            said = str(get(last, "error") or last or "nothing")[:300]
            raise model_error(llm, ValueError(f"the reply is no chat completion: {said}"))
        if not (self.text or self.calls or self.cut) and reason not in GOOD_REASONS:
            raise model_error(llm, Refusal(f"the reply is empty; its finish_reason is {reason[:300]!r}"))

    def _take_choice(self, choice: Any) -> str:
        delta, message = get(choice, "delta"), get(choice, "message")
        part, index = message if delta is None else delta, get(choice, "index")
        self._choice = index if self._choice is None else self._choice
        if index not in (None, self._choice):  # of several choices the first one that comes is read
            return ""
        self.finish_reason = get(choice, "finish_reason") or self.finish_reason
        if part is None:
            return ""
        self._empty, is_whole = False, delta is None
        old = get(part, "function_call")  # what tool_calls were before they were several
        pieces = as_list(get(part, "tool_calls")) or ([{"function": old}] if old else [])
        if not (is_whole and self.calls):  # a message after the deltas says once more what they said
            for position, piece in enumerate(pieces):
                self._calls.add(piece, position if is_whole else get(piece, "index"))
        if not (is_whole and self._reasoning):
            self._reasoning += whole_characters(as_text(get(part, "reasoning_content")))
        if is_whole and self.text:
            return ""
        return self._add_text(as_text(get(part, "content")) or as_text(get(part, "refusal")))

    def _add_text(self, added: str) -> str:
        """Add to the text; half a character waits for its other half."""
        added = self._half + added
        self._half = added[-1:] if "\ud800" <= added[-1:] <= "\udbff" else ""
        added = whole_characters(added.removesuffix(self._half))
        self.text += added
        return added


def _usage(usage: Any) -> dict[str, int] | None:
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {name: get(usage, name) for name in names if isinstance(get(usage, name), int)} or None
