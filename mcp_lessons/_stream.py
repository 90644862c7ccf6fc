"""One request to a chat-completions endpoint, and the chunks in which its reply comes.

Shown in lesson 6. The `openai` package sends the request. Its own reading of streams ends at an event
without data, and loses errors that stand where it looks for none: so the lines are read here.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from itertools import chain
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Any

from . import jsonrpc
from ._loose import as_list, get
from ._model_errors import Refusal, model_error
from .errors import brief
from .stdio import MAX_LINE, split_lines

REPLY_SECONDS = 1_800.0
"""How long a reply may take, with the attempts of the `openai` client, which has a deadline for silence
alone: none for bytes that drip, or for comments that keep a connection alive."""
LAST_SECONDS = 2.0
"""How long a stream may go on when its reply is whole: the usage may follow, and the end."""

_DONE = {"done": True}


def chunks_of(llm: Any, request: dict[str, Any]) -> Iterator[Any]:
    """The chunks of a streamed reply, or one completion. ModelError for whatever goes wrong before the
    reply is whole; what goes wrong afterwards matters to nobody.

    It is read on a thread: so the wait has an end, whatever the endpoint does, and Ctrl-C ends it at once.
    A request that was given up is left with its next chunk.
    """
    box: SimpleQueue[Any] = SimpleQueue()
    last, is_over, until, gone = None, False, monotonic() + REPLY_SECONDS, Event()
    Thread(target=copy_context().run, args=(_read, llm, request, box, gone), daemon=True).start()
    try:
        while (chunk := box.get(timeout=max(0.0, until - monotonic()))) is not None:
            if isinstance(chunk, BaseException):
                raise chunk
            if not is_over and _is_end(chunk):
                is_over, until = True, min(until, monotonic() + LAST_SECONDS)
            last = chunk or last
            yield chunk
        if request.get("stream") and not is_over:
            raise EOFError(f"the stream ended before the reply was complete, with {brief(last, 300)}")
    except Exception as problem:
        too_late = TimeoutError(f"the reply was not over within {REPLY_SECONDS:g} s")
        if not is_over:
            raise model_error(llm, too_late if isinstance(problem, Empty) else problem) from None
    finally:
        gone.set()


def _read(llm: Any, request: dict[str, Any], box: SimpleQueue[Any], gone: Event) -> None:
    """Put each chunk into the box, then None or what went wrong; stop when nobody is there any more."""
    response, end = None, None
    try:
        response = llm.chat.completions.create(**request)
        for chunk in _pieces(response) if request.get("stream") else [response]:
            if gone.is_set():
                break
            box.put({} if chunk is None else chunk)
    except BaseException as problem:  # somebody waits for us, whatever it is
        end = problem
    box.put(end)
    with suppress(Exception):
        response.close()  # a completion that came whole has nothing to close


def _pieces(response: Any) -> Iterator[Any]:
    """The chunks of a stream of the `openai` package, or of anything else that can be iterated."""
    http = getattr(response, "response", None)
    if http is None:
        return iter(response)
    return events(split_lines(partial(next, http.iter_bytes(), b""), MAX_LINE))


def events(lines: Iterable[bytes]) -> Iterator[Any]:
    """The chunks in the lines of a response, up to [DONE], which is _DONE; {} for a sign of life. Refusal
    for an error in the place of a chunk, ValueError for what is no JSON.

    Taken as well, for servers that send it: events with no blank line between them, and JSON that is no
    event (some endpoints do not stream, asked or not).
    """
    event = data = ""
    for line in chain.from_iterable(line.split(b"\r") for line in chain(lines, [b""])):
        text = line.decode("utf-8", "replace").removeprefix("\ufeff")
        field, _, value = text.partition(":")
        if field == "data" and value.strip().startswith("[DONE]"):
            yield _DONE
            return
        if field == "event":
            event = value.strip()
        elif field not in ("", "id", "retry"):
            event = "error" if field == "error" else event
            data += value if field in ("data", "error") else text
            found = jsonrpc.decode(data)
            for chunk in as_list(found):
                yield _checked(chunk, event)
            data = data + "\n" if found is None else ""
        elif not text:
            if data.strip() not in ("", "null"):
                raise ValueError(f"this is no JSON: {data.strip()[:300]}")
            event = data = ""
            yield {}


def _checked(chunk: Any, event: str) -> Any:
    """The chunk. Refusal, when it is an error: that stands there by itself, or has a message."""
    error = get(chunk, "error")
    if event == "error" or (error and (get(error, "message") or not get(chunk, "choices"))):
        raise Refusal(error or chunk)
    return chunk


def _is_end(chunk: Any) -> bool:
    """Whether the reply is whole with this chunk. Some servers send the usage with every chunk: where it
    comes alone, it comes last."""
    choices = as_list(get(chunk, "choices"))
    reasons = [get(choice, "finish_reason") for choice in choices]
    is_last = not choices and get(chunk, "usage")
    return bool(chunk is _DONE or is_last or any(reason and reason != "error" for reason in reasons))
