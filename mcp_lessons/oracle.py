"""The Oracle: an offline stand-in for a language model, behind an OpenAI-compatible endpoint on loopback.

It is rule-based: it understands nothing, and says so in its model's name. It sees only what a model
sees, the messages and the tools of a request, and decides by the rules in `_oracle_rules`; it is there
so that the loop of lesson 6 runs with no key and no network, through the same code as any endpoint.

    with Oracle() as oracle:
        llm = OpenAI(base_url=oracle.base_url, api_key="offline")
        llm.chat.completions.create(model=oracle.model, messages=[…], tools=[…])

The format: https://platform.openai.com/docs/api-reference/chat/create
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

from ._oracle_requests import BadRequest, check_request, said_so_far
from ._oracle_rules import decide
from .errors import ModelError

MODEL = "oracle-rule-based"
LARGEST_REQUEST = 64 * 1024 * 1024  # bytes


class Oracle:
    """Serves the rules at `base_url` (`…/v1`) from daemon threads, until `close()`."""

    model = MODEL

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), daemon=True, name="oracle"
        )
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


def complete(request: Any) -> dict[str, Any]:
    """The chat completion for one request. BadRequest for what an endpoint would answer with 400."""
    check_request(request)
    messages, tools = request["messages"], request.get("tools") or []
    history, results = said_so_far(messages)
    calls, answer = decide(history, results, [] if request.get("tool_choice") == "none" else tools)
    message: dict[str, Any] = {"role": "assistant", "content": answer or None}
    if calls:
        made = sum(len(message.get("tool_calls") or ()) for message in messages)
        wanted = calls if request.get("parallel_tool_calls", True) else calls[:1]
        functions = [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in wanted]
        message["tool_calls"] = [
            {"id": f"call_{number}", "type": "function", "function": function}
            for number, function in enumerate(functions, made + 1)
        ]
    reason = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    return {
        "id": f"chatcmpl-{len(messages)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [choice],
        "usage": usage([messages, tools], message),
    }


def usage(prompt: Any, completion: Any) -> dict[str, int]:
    """A count of tokens as if each had four characters; the Oracle itself has no tokens."""
    before, after = (-(-len(json.dumps(part)) // 4) for part in (prompt, completion))
    return {"prompt_tokens": before, "completion_tokens": after, "total_tokens": before + after}


def chunks(completion: dict[str, Any], with_usage: bool) -> Iterator[dict[str, Any]]:
    """The same completion as a stream: text by the word, the arguments of a call in two parts."""
    choice = completion["choices"][0]
    shared = completion | {"object": "chat.completion.chunk", "usage": None}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [
        {"content": word} for word in re.findall(r"\S*\s*", choice["message"]["content"] or "") if word
    ]
    for index, call in enumerate(choice["message"].get("tool_calls", [])):
        arguments = call["function"]["arguments"]
        opening = call | {"index": index, "function": call["function"] | {"arguments": arguments[:9]}}
        rest = {"index": index, "function": {"arguments": arguments[9:]}}
        deltas += [{"tool_calls": [opening]}, {"tool_calls": [rest]}]
    for delta in deltas:
        yield {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**shared, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    if with_usage:
        yield {**shared, "choices": [], "usage": completion["usage"]}


def read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise BadRequest(f"the body cannot be read as JSON: {problem}") from None


class _Handler(BaseHTTPRequestHandler):
    timeout = 10.0  # seconds that a client may take over sending its request

    def do_GET(self) -> None:
        if self.path.rstrip("/") == "/v1/models":
            model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "mcp-lessons"}
            self._send(200, {"object": "list", "data": [model]})
        else:
            self._refuse(404, f"no such path: {self.path}")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST_REQUEST:
            return self._refuse(413, "Content-Length is missing, or too large")
        body = self.rfile.read(int(length))
        if self.path.rstrip("/") != "/v1/chat/completions":
            return self._refuse(404, f"no such path: {self.path}")
        try:
            request = read(body)
            completion = complete(request)
        except BadRequest as problem:
            return self._refuse(400, str(problem), problem.param)
        if request.get("stream"):
            self._stream(
                chunks(completion, (request.get("stream_options") or {}).get("include_usage", False))
            )
        else:
            self._send(200, completion)

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, parts: Iterator[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for part in parts:
            self.wfile.write(f"data: {json.dumps(part)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def _refuse(self, status: int, message: str, param: str | None = None) -> None:
        error = {"message": message, "type": "invalid_request_error", "param": param, "code": None}
        self._send(status, {"error": error})

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

    # What listens on this machine is reached directly, whatever proxy the environment names.
    direct = urlsplit(base_url or "").hostname in ("127.0.0.1", "localhost", "::1")
    http_client = DefaultHttpxClient(trust_env=False) if direct else None
    return OpenAI(base_url=base_url or None, api_key=key, http_client=http_client)


def _close() -> None:
    with _lock:
        while _shared:
            _shared.pop().close()


choose_llm.close = _close  # type: ignore[attr-defined]


def first_model(client: Any) -> str:
    """The name of the first model that an endpoint lists."""
    from openai import OpenAIError

    try:
        models = client.models.list().data
    except OpenAIError as problem:
        raise ModelError(
            f"cannot ask {client.base_url} for its models: {problem}; set OPENAI_MODEL"
        ) from problem
    if not models:
        raise ModelError(f"{client.base_url} lists no model; set OPENAI_MODEL")
    return models[0].id
