"""The agent loop: ask the model, run the calls it makes, send the results back, until it answers.

Lesson 6 builds this module, on top of the toolbox. The model is behind any endpoint that speaks the
chat-completions format; what differs between endpoints is dealt with in `_stream` and `_replies`.
"""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from . import jsonrpc
from ._names import LONGEST_NAME, clean
from ._replies import Reply
from ._schemas import utf8
from ._stream import chunks_of
from ._watch import Watch
from .errors import ModelError
from .results import ToolResult
from .toolbox import Toolbox

LONGEST_RESULT = 20_000
"""Characters of a result that the model reads; the whole of it stays in the record."""
MOST_CALLS = 32
"""Calls of one message that are run; the others are answered with a refusal."""
CUT = "not run: the message was cut"

Message = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A call that the model made. `problem` says why it cannot be run; it is "" when it can. `extra` holds
    fields that the endpoint wants back with the call."""

    id: str
    name: str
    arguments: dict[str, Any]
    problem: str = ""
    extra: Message = field(default_factory=dict)


Approve = Callable[[Call], bool | str]


@dataclass(frozen=True)
class AgentResult:
    """How a run ended: `stop_reason` is "answer", "length" (the reply was cut at the token limit, and
    nothing in it was run) or "max_turns" (the model still wanted to call tools)."""

    answer: str
    stop_reason: str
    messages: list[Message]
    turns: int

    def __repr__(self) -> str:
        turns = "1 turn" if self.turns == 1 else f"{self.turns} turns"
        return f"<AgentResult: {self.stop_reason} after {turns}: {self.answer[:200]!r}>"


def run_agent(
    question: str | list[Message],
    toolbox: Toolbox,
    llm: Any,
    model: str,
    system: str | None = None,
    stream: bool = False,
    max_turns: int = 10,
    approve: Approve | None = None,
    on_event: Callable[[dict[str, Any]], None] | None = None,
) -> AgentResult:
    """Answer `question` (a text, or a list of messages, which stays as it is) with the toolbox's tools.

    `approve(call)` is asked before a call is run: True lets it, and a text is the reason why not, for the
    model to read. `on_event(event)` hears of each text, call and result while the run goes on.
    After `max_turns` requests the run stops; the last calls have been run, so that
    `run_agent(result.messages, …)` takes it up again. ModelError when the endpoint fails.
    """
    messages = opening(question, system)
    with Watch(toolbox.traffic, model, max_turns, on_event) as watch:
        for turn in range(1, max_turns + 1):
            watch.turn = turn
            reply = ask(llm, model, messages, toolbox.schemas(), stream, watch)
            calls = read_calls(reply, messages)
            messages.append(assistant_message(reply, calls))
            messages += run_calls(calls, toolbox, approve, watch)
            if reply.cut or not calls:
                break
    stop_reason = "length" if reply.cut else "max_turns" if calls else "answer"
    watch.ended(stop_reason, reply.text)
    return AgentResult(reply.text, stop_reason, messages, watch.turn)


def opening(question: str | list[Message], system: str | None) -> list[Message]:
    """The messages to begin with: a copy of the caller's, with text in each, and `system` first."""
    messages = [{"role": "user", "content": question}] if isinstance(question, str) else question
    is_list = isinstance(messages, list) and all(isinstance(m, dict) and "role" in m for m in messages)
    try:
        messages = jsonrpc.decode(utf8(jsonrpc.encode(messages))) if is_list else None
    except (TypeError, ValueError) as problem:
        raise ValueError(f"the messages hold what JSON cannot: {problem}") from None
    if not messages:
        raise ValueError(f"the question must be a text or a list of messages, not {question!r:.100}")
    if system is not None:
        messages[: messages[0]["role"] == "system"] = [{"role": "system", "content": utf8(system)}]
    said = [{key: value for key, value in message.items() if value not in (None, [])} for message in messages]
    return [message | {"content": message.get("content") or ""} for message in said]


def ask(
    llm: Any, model: str, messages: list[Message], tools: list[Message], stream: bool, watch: Watch
) -> Reply:
    """Send one request to the model and read its reply."""
    request: dict[str, Any] = {"model": model, "messages": messages}
    request |= {"tools": tools} if tools else {}  # some endpoints refuse an empty list
    request |= {"stream": True} if stream else {}
    watch.asked(request)
    reply = Reply()
    try:
        for chunk in chunks_of(llm, request):
            if text := reply.take(chunk):
                watch.tell("text", text=text)
        reply.check(llm)
    except ModelError as problem:
        watch.failed(problem)
        raise
    watch.answered(reply)
    return reply


def read_calls(reply: Reply, messages: list[Message]) -> list[Call]:
    """The calls of a reply, each with an id that no other call has, and its arguments as an object."""
    taken = {call.get("id") for message in messages for call in message.get("tool_calls") or ()}
    fresh = (f"call{n:05}" for n in count(1))  # nine letters and digits: some chat templates insist
    calls = []
    for call in reply.calls:
        id = call["id"]
        while not id or id in taken:
            id = next(fresh)
        taken.add(id)
        arguments, problem = read_arguments(call["arguments"])
        problem = CUT if reply.cut else problem
        calls.append(Call(id, call["name"], arguments, problem, call["extra"]))
    return calls


def read_arguments(sent: Any) -> tuple[dict[str, Any], str]:
    """The arguments as an object, and what is wrong with them. Endpoints send JSON, JSON inside JSON,
    an object, or nothing at all.

    >>> read_arguments('{"day": "Monday"}')
    ({'day': 'Monday'}, '')
    """
    value = sent
    try:
        for _ in range(2):
            if isinstance(value, str):
                value = json.loads(value) if value.strip() else {}
        json.dumps(value, allow_nan=False)
        if jsonrpc.is_deeper(value, jsonrpc.DEEPEST):
            raise ValueError("nested too deeply")
    except (ValueError, TypeError, RecursionError) as problem:
        return {}, f"not run: the arguments are not valid JSON ({problem}): {str(sent)[:500]}"
    if value is None or isinstance(value, dict):
        return value or {}, ""
    return {}, f"not run: the arguments must be a JSON object, not {str(sent)[:500]}"


def assistant_message(reply: Reply, calls: list[Call]) -> Message:
    """What the model said, as history that every endpoint takes back: a text, never null, and
    arguments that are valid JSON, whatever the model wrote."""
    message: Message = {"role": "assistant", "content": reply.text}
    if calls:
        made = [{"id": c.id, "type": "function", "function": _function(c), **c.extra} for c in calls]
        message |= reply.extra | {"tool_calls": made}
    return message


def run_calls(calls: list[Call], toolbox: Toolbox, approve: Approve | None, watch: Watch) -> list[Message]:
    """Run a message's calls side by side; one tool message for each, in the order of the calls."""
    reasons = [why_not(call, position, approve) for position, call in enumerate(calls)]
    allowed = [(call.name, call.arguments) for call, reason in zip(calls, reasons, strict=True) if not reason]
    messages = []
    for call in calls:
        watch.tell("call", id=call.id, name=call.name, arguments=call.arguments)
    with closing(toolbox.call_all(allowed)) as results:
        for call, reason in zip(calls, reasons, strict=True):
            result = ToolResult.from_text(reason, is_error=True) if reason else next(results)
            messages.append(tool_message(call, result))
            text = messages[-1]["content"]
            watch.tell("result", id=call.id, name=call.name, text=text, is_error=result.is_error)
    return messages


def why_not(call: Call, position: int, approve: Approve | None) -> str:
    """Why this call is not run, for the model to read; "" when it is."""
    if call.problem:
        return call.problem
    if position >= MOST_CALLS:
        return f"not run: more than {MOST_CALLS} calls in one message"
    verdict = approve is None or approve(call)
    if verdict is True:
        return ""
    return f"not run: {verdict if verdict and isinstance(verdict, str) else 'the user refused it'}"


def tool_message(call: Call, result: ToolResult) -> Message:
    """A result as the model reads it."""
    text = f"Error: {result.text}" if result.is_error else result.text
    if len(text) > LONGEST_RESULT:
        text = f"{text[:LONGEST_RESULT]}\n[{len(text) - LONGEST_RESULT} more characters left out]"
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def _function(call: Call) -> dict[str, str]:
    arguments = utf8(json.dumps(call.arguments, ensure_ascii=False))
    return {"name": clean(call.name)[:LONGEST_NAME] or "unnamed", "arguments": arguments}
