"""The Oracle's endpoint: chat completions on loopback, plain and streamed.

https://platform.openai.com/docs/api-reference/chat/create
"""

import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ._oracle_requests import BadRequest, read_request, said_so_far
from ._oracle_rules import decide
from .oracle import MODEL


def serve() -> ThreadingHTTPServer:
    """A server on a free port of this machine, which does not run yet."""
    return ThreadingHTTPServer(("127.0.0.1", 0), _Handler)


def complete(request: dict[str, Any]) -> dict[str, Any]:
    """The chat completion for one request, which has been checked."""
    messages, tools = request["messages"], request.get("tools") or []
    history, results = said_so_far(messages)
    calls, answer = decide(history, results, [] if request.get("tool_choice") == "none" else tools)
    message: dict[str, Any] = {"role": "assistant", "content": answer or None}
    if calls:
        made = sum(len(earlier.get("tool_calls") or ()) for earlier in messages)
        wanted = enumerate(calls if request.get("parallel_tool_calls", True) else calls[:1], made + 1)
        message["tool_calls"] = [_call(f"call_{number}", *call) for number, call in wanted]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    before, after = (-(-len(json.dumps(part)) // 4) for part in ([messages, tools], message))
    return {
        "id": f"chatcmpl-{len(messages)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [choice],  # the usage counts as if each token had four characters
        "usage": {"prompt_tokens": before, "completion_tokens": after, "total_tokens": before + after},
    }


def _call(id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def chunks(completion: dict[str, Any], with_usage: bool) -> Iterator[dict[str, Any]]:
    """The same completion as a stream: text by the word, the arguments of a call in two parts."""
    message, reason = (completion["choices"][0][key] for key in ("message", "finish_reason"))
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in re.findall(r"\S*\s*", message["content"] or "") if word]
    for index, call in enumerate(message.get("tool_calls", [])):
        name, arguments = call["function"].values()
        opening = call | {"index": index, "function": {"name": name, "arguments": arguments[:9]}}
        rest = {"index": index, "function": {"arguments": arguments[9:]}}
        deltas += [{"tool_calls": [opening]}, {"tool_calls": [rest]}]
    shared = completion | {"object": "chat.completion.chunk", "usage": None}
    for delta, ends in [*((delta, None) for delta in deltas), ({}, reason)]:
        yield shared | {"choices": [{"index": 0, "delta": delta, "finish_reason": ends}]}
    if with_usage:
        yield shared | {"choices": [], "usage": completion["usage"]}


class _Handler(BaseHTTPRequestHandler):
    timeout = 10.0  # seconds that a client may take over sending its request

    def do_GET(self) -> None:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "mcp-lessons"}
        found = {"/v1/models": {"object": "list", "data": [model]}, f"/v1/models/{MODEL}": model}
        path = self.path.rstrip("/")
        if path not in found:
            return self.send_error(404, f"no such path: {self.path}")
        return self._send(200, found[path])

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        body = self.rfile.read(int(length)) if length.isdecimal() and len(length) < 9 else b""
        if self.path.rstrip("/") != "/v1/chat/completions":
            return self.send_error(404, f"no such path: {self.path}")
        try:
            request = read_request(body)
            completion = complete(request)
        except BadRequest as problem:
            return self.send_error(400, str(problem), problem.param)
        except RecursionError:
            return self.send_error(400, "something in it is nested too deeply")
        if not request.get("stream"):
            return self._send(200, completion)
        with_usage = (request.get("stream_options") or {}).get("include_usage", False)
        parts = [json.dumps(part) for part in chunks(completion, with_usage)]
        text = "".join(f"data: {part}\n\n" for part in [*parts, "[DONE]"])
        return self._reply(200, "text/event-stream", text)

    def _send(self, status: int, body: dict[str, Any]) -> None:
        self._reply(status, "application/json", json.dumps(body))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """An error as the API has it; the base class calls this too. `explain` names what is wrong."""
        error = {"message": message, "type": "invalid_request_error", "param": explain, "code": None}
        self._send(code, {"error": error})

    def _reply(self, status: int, content_type: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.end_headers()
        self.wfile.write(text.encode())

    def handle(self) -> None:
        with suppress(ConnectionError, TimeoutError):  # the client has gone: nobody to tell
            super().handle()

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""
