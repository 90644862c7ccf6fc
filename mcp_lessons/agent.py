"""The agent loop: ask the model, run the calls it makes, send the results back, until it answers.

Lesson 6 builds this module, on top of the toolbox. The model is behind any endpoint that speaks the
chat-completions format; what differs between endpoints is dealt with in `_replies`.
"""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from typing import Any

from ._names import clean
from ._replies import Reply, chunks_of
from ._schemas import utf8
from ._watch import Watch
from .errors import ModelError
from .results import ToolResult
from .toolbox import Toolbox

LONGEST_RESULT = 20_000
"""Characters of a result that the model reads; the whole of it stays in the record."""

MOST_CALLS = 32
"""Calls of one message that are run; the others are answered with a refusal."""

Message = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A call as the model made it. `problem` says why it cannot be run, "" when it can."""

    id: str
    name: str
    arguments: dict[str, Any]
    problem: str = ""


@dataclass(frozen=True)
class AgentResult:
    """How a run ended: `stop_reason` is "answer", "length" (the reply was cut at the token limit, and
    nothing in it was run) or "max_turns" (the model still wanted to call tools)."""

    answer: str
    stop_reason: str
    messages: list[Message]
    turns: int

    def __repr__(self) -> str:
        return f"<AgentResult: {self.stop_reason} after {self.turns} turns: {self.answer[:200]!r}>"


def run_agent(
    question: str | list[Message],
    toolbox: Toolbox,
    llm: Any,
    model: str,
    system: str | None = None,
    stream: bool = False,
    max_turns: int = 10,
    approve: Callable[[Call], bool | str] | None = None,
    on_event: Callable[[dict[str, Any]], None] | None = None,
) -> AgentResult:
    """Answer `question` (a text, or a list of messages, which stays as it is) with the toolbox's tools.

    `approve(call)` is asked before a call is run; False refuses it, and a text is the reason that the
    model reads. `on_event(event)` hears of each text, call and result while the run goes on.
    After `max_turns` requests the run stops; the last calls have been run, so that
    `run_agent(result.messages, …)` takes it up again. ModelError when the endpoint fails.
    """
    if max_turns < 1:
        raise ValueError(f"max_turns must be at least 1, not {max_turns}")
    messages, stop_reason = opening(question, system), "max_turns"
    watch = Watch(toolbox.traffic, model, max_turns, on_event)
    try:
        while watch.turn < max_turns:
            watch.turn += 1
            reply = ask(llm, model, messages, toolbox.schemas(), stream, watch)
            calls = read_calls(reply.calls, messages)
            messages.append(assistant_message(reply.text or reply.refusal, calls))
            if reply.finish_reason == "length":
                messages += [
                    tool_message(call, refused("not run: the message was cut short")) for call in calls
                ]
            if reply.finish_reason == "length" or not calls:
                stop_reason = "length" if reply.finish_reason == "length" else "answer"
                break
            messages += run_calls(calls, toolbox, approve, watch)
    except KeyboardInterrupt:
        watch.ended("interrupted", "")
        raise
    answer = reply.text or reply.refusal
    watch.ended(stop_reason, answer)
    return AgentResult(answer, stop_reason, messages, watch.turn)


def opening(question: str | list[Message], system: str | None) -> list[Message]:
    """The messages to begin with: a copy of the caller's, as UTF-8 can carry them, never null."""
    messages = [{"role": "user", "content": question}] if isinstance(question, str) else question
    messages = json.loads(utf8(json.dumps(messages, ensure_ascii=False)))
    if not messages or not all(isinstance(message, dict) and "role" in message for message in messages):
        raise ValueError("run_agent takes a question, or a list of messages with a role each")
    if system is not None:
        first_is_system = messages[0]["role"] == "system"
        messages[: 1 if first_is_system else 0] = [{"role": "system", "content": utf8(system)}]
    return [message | {"content": message.get("content") or ""} for message in messages]


def ask(
    llm: Any, model: str, messages: list[Message], tools: list[Message], stream: bool, watch: Watch
) -> Reply:
    """One request to the model and its reply."""
    request: dict[str, Any] = {"model": model, "messages": messages}
    if tools:  # an empty list is refused by some endpoints
        request["tools"] = tools
    if stream:
        request["stream"] = True
    watch.asked(request)
    reply = Reply()
    try:
        for chunk in chunks_of(llm, request):
            if text := reply.take(chunk):
                watch.tell("text", text=text)
        reply.check(llm, stream)
    except ModelError as problem:
        watch.failed(problem)
        raise
    watch.answered(reply)
    return reply


def read_calls(raw: list[dict[str, Any]], messages: list[Message]) -> list[Call]:
    """The calls of a reply, each with an id that no other call has, and its arguments as an object."""
    taken = {call.get("id") for message in messages for call in message.get("tool_calls") or ()}
    calls = []
    for call in raw:
        id = call["id"]
        if not id or id in taken:  # nine letters and digits: some chat templates insist
            id = next(new for n in count(1) if (new := f"call{n:05}") not in taken)
        taken.add(id)
        arguments, problem = read_arguments(call["arguments"])
        calls.append(Call(id, call["name"], arguments, problem))
    return calls


def read_arguments(raw: Any) -> tuple[dict[str, Any], str]:
    """The arguments as an object, and what is wrong with them: a text, an object, nothing at all, or
    JSON inside JSON are what endpoints send.

    >>> read_arguments('{"day": "Monday"}')
    ({'day': 'Monday'}, '')
    """
    try:
        value = raw
        for _ in range(2):
            if isinstance(value, str):
                value = json.loads(value, parse_constant=_no_number) if value.strip() else {}
        json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as problem:
        return {}, f"not run: the arguments are not valid JSON ({problem}): {str(raw)[:500]}"
    if value is None or isinstance(value, dict):
        return value or {}, ""
    return {}, f"not run: the arguments must be a JSON object, not {str(raw)[:500]}"


def assistant_message(text: str, calls: list[Call]) -> Message:
    """What the model said, as history that every endpoint takes back: text, never null, and arguments
    that are valid JSON, whatever the model wrote."""
    message: Message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": clean(call.name)[:64] or "unnamed",
                    "arguments": json.dumps(call.arguments),
                },
            }
            for call in calls
        ]
    return message


def run_calls(
    calls: list[Call], toolbox: Toolbox, approve: Callable[[Call], bool | str] | None, watch: Watch
) -> list[Message]:
    """Run a message's calls side by side; one tool message for each, in the order of the calls."""
    reasons = [why_not(call, position, approve) for position, call in enumerate(calls)]
    allowed = [call for call, reason in zip(calls, reasons, strict=True) if not reason]
    for call in allowed:
        watch.tell("call", id=call.id, name=call.name, arguments=call.arguments)
    messages = []
    with closing(toolbox.call_all([(call.name, call.arguments) for call in allowed])) as results:
        for call, reason in zip(calls, reasons, strict=True):
            message = tool_message(call, refused(reason) if reason else next(results))
            messages.append(message)
            watch.tell("result", id=call.id, name=call.name, text=message["content"])
    return messages


def why_not(call: Call, position: int, approve: Callable[[Call], bool | str] | None) -> str:
    """Why this call is not run, for the model to read; "" when it is."""
    if call.problem:
        return call.problem
    if position >= MOST_CALLS:
        return f"not run: more than {MOST_CALLS} calls in one message"
    verdict = True if approve is None else approve(call)
    if isinstance(verdict, str):
        return f"not run: {verdict}"
    return "" if verdict else "not run: the user refused it"


def refused(reason: str) -> ToolResult:
    """A result that says why nothing was run."""
    return ToolResult.from_text(reason, is_error=True)


def tool_message(call: Call, result: ToolResult) -> Message:
    """A result as the model reads it."""
    text = f"Error: {result.text}" if result.is_error else result.text
    if len(text) > LONGEST_RESULT:
        text = f"{text[:LONGEST_RESULT]}\n[{len(text) - LONGEST_RESULT} more characters left out]"
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
