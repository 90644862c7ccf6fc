"""What the Oracle takes for a request: the checks that endpoints make, and the messages read.

https://platform.openai.com/docs/api-reference/chat/create
"""

import json
import re
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ROLES = ("system", "developer", "user", "assistant", "tool")
LONGEST_QUESTION = 2000  # characters that are read of one message
Message = dict[str, Any]


class BadRequest(Exception):
    """A request that is answered with status 400; `param` says which part of it is wrong."""

    def __init__(self, message: str, param: str | None = None) -> None:
        self.param = param
        super().__init__(f"{param}: {message}" if param else message)


def require(holds: Any, message: str, param: str | None = None) -> None:
    if not holds:
        raise BadRequest(message, param)


def read_request(body: bytes) -> Message:
    """The request in `body`. BadRequest for the first thing that is wrong."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise BadRequest(f"the body cannot be read as JSON: {problem}") from None
    check_request(request)
    return request


def check_request(request: Any) -> None:
    """BadRequest for the first thing that is wrong."""
    require(isinstance(request, dict), "the body is not a JSON object")
    messages, tools, options = (request.get(key) for key in ("messages", "tools", "stream_options"))
    require(request.get("model") and isinstance(request["model"], str), "you must provide a model", "model")
    require(isinstance(request.get("stream"), bool | None), "not a boolean", "stream")
    require(request.get("n") in (None, 1), "there is one choice, always", "n")
    require(options is None or (isinstance(options, dict) and request.get("stream")),
            "no object, or without stream", "stream_options")  # fmt: skip
    require(request.get("tool_choice") in (None, "auto", "none", "required"),
            "none of auto, none, required", "tool_choice")  # fmt: skip
    require(tools is None or (isinstance(tools, list) and tools), "not a list, or empty", "tools")
    names = [check_function(tool, f"tools[{number}]") for number, tool in enumerate(tools or [])]
    require(len(names) == len(set(names)), "two tools have the same name", "tools")
    require(messages and isinstance(messages, list), "missing or empty", "messages")
    waiting: list[str] = []
    for number, message in enumerate(messages):
        waiting = check_message(message, f"messages[{number}]", waiting)
    require(not waiting, f"these calls need a tool message: {', '.join(waiting)}", "messages")


def check_function(entry: Any, where: str) -> str:
    """The name of a function in `tools` or `tool_calls`."""
    function = entry.get("function") if isinstance(entry, dict) and entry.get("type") == "function" else None
    require(isinstance(function, dict), "not of type function", where)
    name, parameters = function.get("name"), function.get("parameters", {"type": "object"})
    valid = isinstance(name, str) and NAME.fullmatch(name)
    require(valid, f"the name {str(name)[:80]!r} does not match ^[a-zA-Z0-9_-]{{1,64}}$", where)
    require(isinstance(function.get("description"), str | None), "the description is no text", where)
    of_object = isinstance(parameters, dict) and parameters.get("type") == "object"
    require(of_object, "the schema must have the type 'object'", where)
    return name


def check_message(message: Any, where: str, waiting: list[str]) -> list[str]:
    """The ids of the calls that still wait for a tool message after this one, if `waiting` did before."""
    role = message.get("role") if isinstance(message, dict) else None
    require(role in ROLES, f"the role {role!r} is none of {', '.join(ROLES)}", where)
    content, calls = message.get("content"), message.get("tool_calls")
    parts = isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content)
    require(isinstance(content, str) or parts or (content is None and calls), "no content", where)
    require(calls is None or (role == "assistant" and isinstance(calls, list) and calls),
            "tool_calls is empty, no list, or not the assistant's", where)  # fmt: skip
    if role == "tool":
        answered = message.get("tool_call_id")
        require(answered in waiting, f"tool_call_id {answered!r} answers no call before it", where)
        return [id for id in waiting if id != answered]
    require(not waiting, f"before it, these calls need a tool message: {', '.join(waiting)}", where)
    for number, call in enumerate(calls or ()):
        check_function(call, f"{where}.tool_calls[{number}]")
        require(isinstance(call.get("id"), str) and call["id"], "a call has no id", where)
        require(isinstance(arguments_of(call), dict), "the arguments are no JSON object", where)
    ids = [call["id"] for call in calls or ()]
    require(len(ids) == len(set(ids)), "two calls share an id", where)
    return ids


def said_so_far(messages: list[Message]) -> tuple[list[str], list[Message]]:
    """What the user has said, message by message, and what the calls since the last of them brought:
    {"name", "arguments", "text"} each."""
    history, results, calls = [], [], {}
    for message in messages:
        if message["role"] == "user":
            history.append(text_of(message)[:LONGEST_QUESTION])
            results = []
        elif message["role"] == "tool":
            results.append(calls[message["tool_call_id"]] | {"text": text_of(message)})
        for call in message.get("tool_calls") or ():
            calls[call["id"]] = {"name": call["function"]["name"], "arguments": arguments_of(call)}
    return history, results


def arguments_of(call: Message) -> Any:
    try:
        return json.loads(call["function"].get("arguments"))
    except (TypeError, ValueError, RecursionError):
        return None


def text_of(message: Message) -> str:
    content = message.get("content") or ""
    parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return "\n".join(part for part in parts if isinstance(part, str))
