"""The Oracle: an offline stand-in for a language model, behind an OpenAI-compatible endpoint on loopback.

It is rule-based: it understands nothing, and says so in its model's name. It sees only what a model
sees, the messages and the tools of a request, and decides by the rules in `_oracle_rules`; it is there
so that the loop of lesson 6 runs with no key and no network, through the same code as any endpoint.
https://platform.openai.com/docs/api-reference/chat/create
"""

import json
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from ._oracle_requests import BadRequest, read_request, said_so_far
from ._oracle_rules import decide
from .errors import ModelError

MODEL = "oracle-rule-based"


class Oracle:
    """Serves the rules at `base_url` (`…/v1`) from daemon threads, until `close()`."""

    model = MODEL

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving; closing twice is fine."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> "Oracle":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
        if self.path.rstrip("/") != "/v1/models":
            return self._refuse(404, f"no such path: {self.path}")
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "mcp-lessons"}
        return self._send(200, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        body = self.rfile.read(int(length)) if length.isdecimal() else b""
        if self.path.rstrip("/") != "/v1/chat/completions":
            return self._refuse(404, f"no such path: {self.path}")
        try:
            request = read_request(body)
        except BadRequest as problem:
            return self._refuse(400, str(problem), problem.param)
        completion = complete(request)
        if not request.get("stream"):
            return self._send(200, completion)
        with_usage = (request.get("stream_options") or {}).get("include_usage", False)
        parts = [json.dumps(part) for part in chunks(completion, with_usage)]
        text = "".join(f"data: {part}\n\n" for part in [*parts, "[DONE]"])
        return self._reply(200, "text/event-stream", text)

    def _send(self, status: int, body: dict[str, Any]) -> None:
        self._reply(status, "application/json", json.dumps(body))

    def _refuse(self, status: int, message: str, param: str | None = None) -> None:
        error = {"message": message, "type": "invalid_request_error", "param": param, "code": None}
        self._send(status, {"error": error})

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


_shared: list[Oracle] = []
_lock = threading.Lock()


def choose_llm() -> tuple[Any, str]:
    """(client of the `openai` package, name of the model); `choose_llm.close()` ends the Oracle.

    The endpoint is the one that OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL name: a base URL
    without a key gets a placeholder for one, and without a model the first that the endpoint lists.
    With neither base URL nor model (a key alone is no wish to use it) it is the Oracle, at most one
    a process. ModelError when the endpoint cannot be asked for its models, or lists none.
    """
    base_url, key, model = (os.environ.get(f"OPENAI_{name}") for name in ("BASE_URL", "API_KEY", "MODEL"))
    if not base_url and not model:
        with _lock:
            _shared[:] = _shared or [Oracle()]
            return _client(_shared[0].base_url, "offline"), MODEL
    if not base_url and not key:
        raise ModelError("OPENAI_MODEL is set, but neither OPENAI_BASE_URL nor OPENAI_API_KEY")
    client = _client(base_url, key or "no-key")
    return client, model or first_model(client)


def _client(base_url: str | None, key: str) -> Any:
    from openai import DefaultHttpxClient, OpenAI

    try:  # what listens on this machine is reached directly, whatever proxy the environment names
        address = urlsplit(base_url or "https:")
        if address.scheme not in ("http", "https"):
            raise ValueError("it begins with http:// or https://")
        direct = address.hostname in ("127.0.0.1", "localhost", "::1")
        http_client = DefaultHttpxClient(trust_env=False) if direct else None
        return OpenAI(base_url=base_url or None, api_key=key, http_client=http_client)
    except Exception as problem:  # of the package, or of those below it
        raise ModelError(f"OPENAI_BASE_URL is no address ({problem}): {base_url!r}") from None


def _close() -> None:
    with _lock:
        while _shared:
            _shared.pop().close()


choose_llm.close = _close  # type: ignore[attr-defined]


def first_model(client: Any) -> str:
    """The name of the first model that an endpoint lists. ModelError when it cannot be had."""
    from openai import OpenAIError

    try:
        models = client.models.list().data
    except OpenAIError as problem:
        raise ModelError(f"{client.base_url} does not list its models: {problem}; set OPENAI_MODEL") from None
    if not models:
        raise ModelError(f"{client.base_url} lists no model; set OPENAI_MODEL")
    return models[0].id
