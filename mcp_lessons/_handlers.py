"""What the server asks and tells, answered beside the reader thread.

Shown, not taught, but for `reply_to`, which lesson 2 builds. A handler may call the server, ask a
person, or hang: so it never runs on the thread that reads, and never delays the answer to a ping.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from . import jsonrpc
from ._checks import check_handlers
from .errors import INTERNAL_ERROR, METHOD_NOT_FOUND, McpError, RpcError
from .jsonrpc import Message

MAX_WAITING = 10_000
"""Jobs that may wait for a worker; beyond it they are dropped, so that a flood cannot fill the memory."""

Handler = Callable[[dict[str, Any]], Any]


def reply_to(message: Message, handlers: Mapping[str, Handler]) -> Message:
    """The reply to a request of the server: from its handler, if there is one; a ping needs none.

    >>> reply_to({"jsonrpc": "2.0", "id": 7, "method": "ping"}, {})
    {'jsonrpc': '2.0', 'id': 7, 'result': {}}
    """
    id, method = message["id"], message["method"]
    if method not in handlers:
        if method == "ping":
            return jsonrpc.result(id, {})
        return jsonrpc.error(id, METHOD_NOT_FOUND, f"this client does not answer {method!r}")
    try:
        answer = handlers[method](params_of(message))
        return jsonrpc.result(id, {} if answer is None else answer)
    except RpcError as problem:
        return jsonrpc.error(id, problem.code, problem.message, problem.data)
    except BaseException as problem:  # a handler's fault is the server's answer
        return jsonrpc.error(id, INTERNAL_ERROR, f"{type(problem).__name__}: {problem}")


def capabilities_of(handlers: Mapping[str, Handler]) -> dict[str, Any]:
    """What the client declares in the handshake: it follows from what it can answer.

    https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
    """
    askable = ("roots/list", "sampling/createMessage", "elicitation/create")
    return {method.split("/")[0]: {} for method in askable if method in handlers}


def params_of(message: Message) -> dict[str, Any]:
    """The params of a message; empty when they are missing or no object."""
    params = message.get("params")
    return params if isinstance(params, dict) else {}


class Inbox:
    """Runs the handlers of one client on one thread, and answers the rest on another."""

    def __init__(self, handlers: Mapping[str, Handler] | None) -> None:
        check_handlers(handlers or {})
        self.handlers = dict(handlers or {})
        self._open: deque[Any] = deque(maxlen=MAX_WAITING)  # ids of requests that wait for their answer
        self.workers = self._handling, self._refusing = Worker(), Worker()

    def answer(self, message: Message, send: Callable[[Message], None]) -> None:
        """Have the server's request answered, soon."""
        self._open.append(message["id"])
        worker = self._handling if message["method"] in self.handlers else self._refusing
        worker.do(self._answer, message, send)

    def cancel(self, id: Any) -> None:
        """The server does not want the answer to this request of its own any more.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
        """
        with suppress(ValueError):
            self._open.remove(id)

    def tell(self, message: Message, report: Callable[[str, str, dict], Any]) -> None:
        """Have the notification's handler run, soon, if there is one."""
        if message["method"] in self.handlers:
            self._handling.do(self._tell, message, report)

    def close(self) -> None:
        """End both threads after the jobs they are at."""
        for worker in self.workers:
            worker.close()

    def _answer(self, message: Message, send: Callable[[Message], None]) -> None:
        reply = reply_to(message, self.handlers)
        try:
            self._open.remove(message["id"])
        except ValueError:  # cancelled meanwhile
            return
        with suppress(McpError):  # the server that asked is gone, or does not listen
            try:
                send(reply)
            except (TypeError, ValueError) as problem:  # a handler's answer that is no JSON
                send(jsonrpc.error(message["id"], INTERNAL_ERROR, f"{type(problem).__name__}: {problem}"))

    def _tell(self, message: Message, report: Callable[[str, str, dict], Any]) -> None:
        method = message["method"]
        try:
            self.handlers[method](params_of(message))
        except BaseException as problem:  # there is nobody to raise it to: it goes on the record
            what = f"the handler of {method} failed: {type(problem).__name__}: {problem}"
            report("process", what, {"event": "handler failed", "method": method})


class Worker:
    """Runs jobs one after the other on one daemon thread, which starts with the first."""

    def __init__(self) -> None:
        self._jobs: queue.Queue = queue.Queue(MAX_WAITING)
        self._first = threading.Lock()  # taken by the first job, and never given back

    def do(self, job: Callable[..., None], *arguments: Any) -> None:
        """Have `job(*arguments)` run soon. A job must not raise."""
        with suppress(queue.Full):
            self._jobs.put_nowait((job, arguments))
        if self._first.acquire(blocking=False):
            threading.Thread(target=_run, args=(self._jobs,), daemon=True).start()

    def close(self) -> None:
        """End the thread after the job it is at; the jobs that wait are dropped."""
        with suppress(queue.Empty):
            while True:
                self._jobs.get_nowait()
        self._jobs.put_nowait(None)


def _run(jobs: queue.Queue) -> None:
    while (entry := jobs.get()) is not None:
        job, arguments = entry
        job(*arguments)
        del entry, job, arguments  # an idle worker must not keep its owner alive
