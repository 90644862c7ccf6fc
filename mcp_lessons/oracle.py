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
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

from ._oracle_requests import BadRequest, check_request, said_so_far
from ._oracle_rules import decide
from .errors import ModelError

MODEL = "oracle-rule-based"
LARGEST_REQUEST = 64 * 1024 * 1024  # bytes
_numbers = count(1)


class Oracle:
    """Serves the rules at `base_url` (`…/v1`) from daemon threads, until `close()`."""

    model = MODEL

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True, name="oracle"
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
    tools = request.get("tools") or []
    history, results = said_so_far(request["messages"])
    decision = decide(history, results, [] if request.get("tool_choice") == "none" else tools)
    calls = decision.calls[: None if request.get("parallel_tool_calls", True) else 1]
    message: dict[str, Any] = {"role": "assistant", "content": decision.answer or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{next(_numbers)}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for name, arguments in calls
        ]
    reason = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    return {
        "id": f"chatcmpl-{next(_numbers)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [choice],
        "usage": usage([request["messages"], tools], message),
    }


def usage(prompt: Any, completion: Any) -> dict[str, int]:
    """A count of tokens as if each had four characters; the Oracle itself has no tokens."""
    before, after = (-(-len(json.dumps(part)) // 4) for part in (prompt, completion))
    return {"prompt_tokens": before, "completion_tokens": after, "total_tokens": before + after}


def chunks(completion: dict[str, Any], with_usage: bool) -> Iterator[dict[str, Any]]:
    """The same completion as a stream: text by the word, the arguments of a call in two parts."""
    choice = completion["choices"][0]
    shared = {key: completion[key] for key in ("id", "created", "model")} | {
        "object": "chat.completion.chunk"
    }
    shared |= {"usage": None} if with_usage else {}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in _words(choice["message"]["content"] or "")]
    for index, call in enumerate(choice["message"].get("tool_calls", [])):
        function, arguments = call["function"], call["function"]["arguments"]
        half = len(arguments) // 2
        opening = {"index": index, **call, "function": {**function, "arguments": arguments[:half]}}
        deltas += [
            {"tool_calls": [opening]},
            {"tool_calls": [{"index": index, "function": {"arguments": arguments[half:]}}]},
        ]
    for delta in deltas:
        yield {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**shared, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    if with_usage:
        yield {**shared, "choices": [], "usage": completion["usage"]}


def _words(text: str) -> list[str]:
    pieces = text.split(" ")
    return [f"{piece} " for piece in pieces[:-1]] + pieces[-1:] if text else []


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
            return self._refuse(411, "Content-Length is missing, or too large")
        body = self.rfile.read(int(length))
        if self.path.rstrip("/") != "/v1/chat/completions":
            return self._refuse(404, f"no such path: {self.path}")
        try:
            request = json.loads(body)
            completion = complete(request)
        except BadRequest as problem:
            return self._refuse(400, str(problem), problem.param)
        except (ValueError, RecursionError) as problem:
            return self._refuse(400, f"the body is not JSON that can be read: {problem}")
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


class _ChooseLLM:
    """See `choose_llm`, the one of its kind."""

    def __init__(self) -> None:
        self._oracle: Oracle | None = None
        self._lock = threading.Lock()

    def __call__(self) -> tuple[Any, str]:
        """(client of the `openai` package, name of the model).

        The endpoint is the one that OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL name; a base URL
        without a key gets a placeholder for one, without a model the first that the endpoint lists.
        With neither a base URL nor a model (a key alone is no wish to use it), it is the Oracle.
        ModelError when the endpoint lists no model, or cannot be reached to ask.
        """
        from openai import OpenAI

        base_url, model = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_MODEL")
        if not base_url and not model:
            oracle = self._the_oracle()
            return OpenAI(base_url=oracle.base_url, api_key="offline"), oracle.model
        key = os.environ.get("OPENAI_API_KEY") or ("no-key" if base_url else None)
        if key is None:
            raise ModelError("OPENAI_MODEL is set, but neither OPENAI_API_KEY nor OPENAI_BASE_URL")
        client = OpenAI(base_url=base_url or None, api_key=key)
        return client, model or first_model(client)

    def close(self) -> None:
        """End the Oracle, if one was started; the next call starts another."""
        with self._lock:
            oracle, self._oracle = self._oracle, None
        if oracle:
            oracle.close()

    def _the_oracle(self) -> Oracle:
        with self._lock:
            self._oracle = self._oracle or Oracle()
            return self._oracle


choose_llm = _ChooseLLM()


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
