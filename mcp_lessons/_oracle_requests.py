"""What the Oracle takes for a request: the checks that endpoints make, and the messages read.

https://platform.openai.com/docs/api-reference/chat/create
"""

import json
import re
from collections import Counter
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ROLES = ("system", "developer", "user", "assistant", "tool")
Message = dict[str, Any]


class BadRequest(Exception):
    """A request that is answered with status 400; `param` says which part of it is wrong."""

    def __init__(self, message: str, param: str | None = None) -> None:
        self.param = param
        super().__init__(message)


def check_request(request: Any) -> None:
    """BadRequest for the first thing that is wrong."""
    require(isinstance(request, dict), "the body is not a JSON object")
    require(
        bool(request.get("model")) and isinstance(request["model"], str), "you must provide a model", "model"
    )
    require(isinstance(request.get("stream", False), bool | None), "stream is not a boolean", "stream")
    options = request.get("stream_options")
    require(isinstance(options, dict | None), "stream_options is no object", "stream_options")
    require(not options or bool(request.get("stream")), "stream_options without stream", "stream_options")
    if request.get("tools") is not None:
        check_tools(request["tools"])
    choice = request.get("tool_choice") or "auto"
    require(choice in ("auto", "none", "required"), f"tool_choice {choice!r} is not supported", "tool_choice")
    messages = request.get("messages")
    require(isinstance(messages, list) and bool(messages), "messages is missing or empty", "messages")
    for number, message in enumerate(messages):
        check_message(message, f"messages[{number}]")
    check_answers(messages)


def require(holds: bool, message: str, param: str | None = None) -> None:
    if not holds:
        raise BadRequest(message, param)


def check_tools(tools: Any) -> None:
    require(isinstance(tools, list) and bool(tools), "tools is not a list, or is empty", "tools")
    names: Counter[str] = Counter()
    for number, tool in enumerate(tools):
        where = f"tools[{number}]"
        whole = (
            isinstance(tool, dict)
            and tool.get("type") == "function"
            and isinstance(tool.get("function"), dict)
        )
        require(whole, f"{where} is not of type function", where)
        function = tool["function"]
        check_name(function.get("name"), f"{where}.function.name")
        names[function["name"]] += 1
        require(names[function["name"]] == 1, f"the name {function['name']!r} is used twice", "tools")
        require(
            isinstance(function.get("description", ""), str | None),
            f"{where}: the description is no text",
            where,
        )
        parameters = function.get("parameters", {"type": "object"})
        whole = isinstance(parameters, dict) and parameters.get("type") == "object"
        require(whole, f"{where}: the schema must have type 'object', got {str(parameters)[:80]}", where)


def check_name(name: Any, where: str) -> None:
    valid = isinstance(name, str) and NAME.fullmatch(name)
    require(bool(valid), f"{where} {str(name)[:80]!r} does not match ^[a-zA-Z0-9_-]{{1,64}}$", where)


def check_message(message: Any, where: str) -> None:
    require(isinstance(message, dict), f"{where} is no object", where)
    role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls")
    require(role in ROLES, f"{where}: the role {role!r} is none of {', '.join(ROLES)}", where)
    parts = isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content)
    whole = isinstance(content, str) or parts or (content is None and role == "assistant" and bool(calls))
    require(whole, f"{where}: the content is no text", f"{where}.content")
    if calls is not None:
        require(role == "assistant", f"{where}: only the assistant calls tools", where)
        require(
            isinstance(calls, list) and bool(calls), f"{where}.tool_calls is not a list, or is empty", where
        )
        for number, call in enumerate(calls):
            check_call(call, f"{where}.tool_calls[{number}]")
    if role == "tool":
        require(isinstance(message.get("tool_call_id"), str), f"{where}: tool_call_id is missing", where)


def check_call(call: Any, where: str) -> None:
    whole = (
        isinstance(call, dict) and call.get("type") == "function" and isinstance(call.get("function"), dict)
    )
    require(whole, f"{where} is not of type function", where)
    require(bool(call.get("id")) and isinstance(call["id"], str), f"{where}: the id is missing", where)
    check_name(call["function"].get("name"), f"{where}.function.name")
    try:
        arguments = json.loads(call["function"].get("arguments"))
    except (TypeError, ValueError, RecursionError) as problem:
        raise BadRequest(f"{where}: the arguments are not valid JSON: {problem}", where) from None
    require(isinstance(arguments, dict), f"{where}: the arguments are not a JSON object", where)


def check_answers(messages: list[Message]) -> None:
    """Each call must have exactly one tool message, directly after the message that made it."""
    open_calls: set[str] = set()
    for number, message in enumerate([*messages, {"role": "end"}]):
        where = f"messages[{number}]"
        if message["role"] == "tool":
            id = message["tool_call_id"]
            require(id in open_calls, f"{where}: tool_call_id {id!r} answers no call before it", where)
            open_calls.discard(id)
            continue
        missing = ", ".join(sorted(open_calls))
        require(not open_calls, f"{where}: before it, these calls need a tool message: {missing}", where)
        ids = [call["id"] for call in message.get("tool_calls") or ()]
        open_calls = set(ids)
        require(len(ids) == len(open_calls), f"{where}: two calls share an id", where)


def said_so_far(messages: list[Message]) -> tuple[list[str], list[Message]]:
    """What the user has said, message by message, and the results since the last of them: for each
    call {"name", "arguments", "text"}."""
    history, results, calls = [], [], {}
    for message in messages:
        if message["role"] == "user":
            history.append(text_of(message)[:2000])
            results = []
        elif message["role"] == "tool":
            results.append({**calls[message["tool_call_id"]], "text": text_of(message)})
        for call in message.get("tool_calls") or ():
            function = call["function"]
            calls[call["id"]] = {"name": function["name"], "arguments": json.loads(function["arguments"])}
    return history, results


def text_of(message: Message) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content if part.get("type") == "text" and "text" in part)
