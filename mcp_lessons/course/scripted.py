"""A model that misbehaves on purpose: a chat-completions endpoint on loopback that replays a script.

Lesson 6 uses it, and so do its exercises. What it replies was written down beforehand, reply by reply;
the socket, the HTTP and the refusals are real. It refuses what the Oracle refuses: a history that
holds arguments which are no JSON, a call without its tool message, a name that is too long.

    with Scripted([calls(("weather__tides", "{}")), says("I do not know.")]) as scripted:
        scripted.llm.chat.completions.create(model=scripted.model, messages=[…])
    scripted.requests         # the bodies that it was sent, as dicts
"""

import json
import threading
from collections.abc import Iterable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .._oracle_requests import BadRequest, check_request


def says(text: str) -> dict[str, Any]:
    """The message of a reply that is an answer."""
    return {"role": "assistant", "content": text}


def calls(*made: tuple[str, str]) -> dict[str, Any]:
    """The message of a reply that calls tools: for each a name, and the arguments as a text, which may
    be anything.

    >>> calls(("add", "{"))["tool_calls"][0]["function"]
    {'name': 'add', 'arguments': '{'}
    """
    functions = [{"name": name, "arguments": arguments} for name, arguments in made]
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": f"call_{number}", "type": "function", "function": function}
            for number, function in enumerate(functions, 1)
        ],
    }


class Scripted:
    """Serves the messages of `script`, one a request and in order, until `close()`. A request beyond
    the script, and one that endpoints refuse, is answered with status 400."""

    model = "scripted"

    def __init__(self, script: Iterable[dict[str, Any]]) -> None:
        from openai import DefaultHttpxClient, OpenAI

        self._script, self.requests = iter(script), []  # type: Any, list[dict[str, Any]]
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        # What listens here is reached without a proxy, and speaks plain HTTP: no certificates are loaded.
        http_client = DefaultHttpxClient(trust_env=False, verify=False)
        self.llm = OpenAI(base_url=self.base_url, api_key="none", max_retries=0, http_client=http_client)

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        """The chat completion for one request. BadRequest for what an endpoint would refuse."""
        self.requests.append(request)
        check_request(request)
        message = next(self._script, None)
        if message is None:
            raise BadRequest("the script is over: this reply was never written")
        reason = "tool_calls" if "tool_calls" in message else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {"id": "scripted", "object": "chat.completion", "model": self.model, "choices": [choice]}

    def close(self) -> None:
        """Stop serving; closing twice is fine."""
        self.llm.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> "Scripted":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _handler(scripted: Scripted) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10.0

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                status, body = 200, scripted.reply(request)
            except BadRequest as problem:
                error = {"message": str(problem), "type": "invalid_request_error", "param": problem.param}
                status, body = 400, {"error": error | {"code": None}}
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def handle(self) -> None:
            with suppress(ConnectionError, TimeoutError):  # the client has gone: nobody to tell
                super().handle()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    return Handler
