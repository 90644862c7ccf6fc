"""A chat-completions endpoint on a real socket that answers by a script, and refuses poisoned history.

    with Endpoint(calls(("c1", "add", '{"a": 1}')), says("2")) as endpoint:
        run_agent("…", toolbox, llm=endpoint.llm, model="m")
    endpoint.requests     # what it was sent

A step of the script is the body of a reply, an `Answer`, or a function of the request that returns one.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from openai import OpenAI


@dataclass
class Answer:
    """Bytes to send; `cut` closes the connection before the announced end."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    cut: bool = False


def message(finish_reason: str | None = "stop", usage: Any = None, **fields: Any) -> dict:
    """A whole completion whose message has just these fields."""
    choice = {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": finish_reason}
    return {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}


def says(text: str, **fields: Any) -> dict:
    return message(content=text, **fields)


def calls(*made: tuple[Any, Any, Any], **fields: Any) -> dict:
    """A completion that calls tools: (id, name, arguments) each, as odd as the endpoint likes."""
    return message(
        **{"finish_reason": "tool_calls", "content": None, "tool_calls": [call(*m) for m in made]} | fields
    )


def call(id: Any, name: Any, arguments: Any) -> dict:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def delta(finish_reason: str | None = None, **fields: Any) -> dict:
    """One chunk of a streamed reply."""
    choice = {"index": 0, "delta": fields, "finish_reason": finish_reason}
    return {"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def piece(**fields: Any) -> dict:
    """One chunk with one piece of a call; id, index, name and arguments as given."""
    function = {key: fields.pop(key) for key in ("name", "arguments") if key in fields}
    return delta(tool_calls=[{**fields, "function": function}])


def stream(*chunks: dict, end: str | None = "stop", cut: bool = False, done: bool = True) -> Answer:
    """Chunks as server-sent events; `end` is the finish_reason of a last one (None: there is none)."""
    last = [] if end is None else [delta(finish_reason=end)]
    events = [f"data: {json.dumps(chunk)}\n\n" for chunk in [*chunks, *last]]
    text = "".join(events) + ("data: [DONE]\n\n" if done and not cut else "")
    return Answer(text.encode(), content_type="text/event-stream", cut=cut)


def events(text: str | bytes, content_type: str = "text/event-stream", **fields: Any) -> Answer:
    """What stands between the chunks of a stream, written out."""
    return Answer(text if isinstance(text, bytes) else text.encode(), content_type=content_type, **fields)


def event(chunk: Any) -> str:
    return f"data: {json.dumps(chunk)}\n\n"


def refuses(status: int, text: str) -> Answer:
    return Answer(json.dumps({"error": {"message": text, "type": "invalid_request_error"}}).encode(), status)


class Endpoint:
    """Answers the requests in order; beyond the script it answers "done"."""

    def __init__(self, *script: dict | Answer | Callable[[dict], Any]) -> None:
        self.script, self.requests = list(script), []  # type: list[Any], list[dict]
        self.models: Any = {"data": []}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> "Endpoint":
        self._thread.start()
        self.llm = OpenAI(base_url=self.base_url, api_key="offline", max_retries=0, timeout=10)
        return self

    def __exit__(self, *_: object) -> None:
        self.llm.close()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: dict) -> Answer:
        self.requests.append(request)
        if problem := what_a_strict_endpoint_refuses(request):
            return refuses(400, problem)
        step = self.script.pop(0) if self.script else says("done")
        step = step(request) if callable(step) else step
        return step if isinstance(step, Answer) else Answer(json.dumps(step).encode())

    def _handler(endpoint) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send(Answer(json.dumps(endpoint.models).encode()))

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send(endpoint.answer(request))

            def send(self, answer: Answer) -> None:
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.content_type)
                self.send_header("Content-Length", str(len(answer.body) + (100 if answer.cut else 0)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def what_a_strict_endpoint_refuses(request: dict) -> str:
    """What vLLM, LM Studio, llama-cpp-python or OpenAI would say of this request; "" if they take it."""
    waiting: list[str] = []
    seen: set[str] = set()
    for entry in request["messages"]:
        if not isinstance(entry.get("content"), str):
            return f"content must be a string, not {entry.get('content')!r}"
        if entry["role"] == "tool":
            if not waiting or entry["tool_call_id"] != waiting.pop(0):
                return f"no call waits for {entry['tool_call_id']!r}"
            continue
        if waiting:
            return f"no tool message for {waiting}"
        for made in entry.get("tool_calls", []):
            if made["id"] in seen or not made["id"] or not isinstance(made["id"], str):
                return f"bad id {made['id']!r}"
            seen.add(made["id"])
            waiting.append(made["id"])
            if not isinstance(made["function"]["arguments"], str) or not _is_object(
                made["function"]["arguments"]
            ):
                return f"arguments are no JSON object: {made['function']['arguments']!r}"
            if not _is_name(made["function"]["name"]):
                return f"bad name {made['function']['name']!r}"
        if entry.get("tool_calls") == []:
            return "tool_calls is empty"
    if "tools" in request and not request["tools"]:
        return "tools is empty"
    names = [tool["function"]["name"] for tool in request.get("tools", [])]
    if len(set(names)) < len(names) or not all(map(_is_name, names)):
        return f"bad names {names}"
    return f"no tool message for {waiting}" if waiting else ""


def _is_name(name: str) -> bool:
    return 0 < len(name) <= 64 and all(c.isascii() and (c.isalnum() or c in "_-") for c in name)


def _is_object(text: str) -> bool:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        return isinstance(json.loads(text, parse_constant=refuse), dict)
    except ValueError:
        return False
