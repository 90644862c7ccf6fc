"""Requests that wait for their reply: who gets which, until when, and what ends them all.

Shown, not taught: lesson 2 pairs replies with requests in six lines, and these are the cases that
six lines leave out. Replies come on a reader thread, requests wait on any number of others.
"""

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any
from weakref import ref

from ._checks import check_seconds
from ._threads import Lock
from .errors import McpError, RequestTimeout
from .jsonrpc import Message

PROGRESS_LIMIT = 10
"""Progress may extend a deadline to at most this many times the request's timeout."""
LOOK_UP_SECONDS = 1.0
"""A wait looks up this often: for a deadline that progress has moved, and for Ctrl-C on Windows."""


class Waiting:
    """One request on its way: `message` was sent, a reply is awaited until its deadline."""

    def __init__(self, message: Message, timeout: float) -> None:
        self.message, self.method, self.timeout = message, message["method"], check_seconds(timeout)
        self._sent = time.monotonic()
        self._deadline = self._sent + timeout
        self._box: SimpleQueue[Message | McpError] = SimpleQueue()

    @property
    def token(self) -> Any:
        """Its progress token, or None."""
        match self.message:
            case {"params": {"_meta": {"progressToken": token}}}:
                return token

    def reply(self) -> Message:
        """Block until the reply is there. RequestTimeout at the deadline; what ended the connection
        is raised here too (ServerExited, TransportError)."""
        while True:
            left = self._deadline - time.monotonic()
            try:
                item = self._box.get(timeout=max(0.0, min(left, LOOK_UP_SECONDS)))
            except Empty:
                if left > 0:  # look once more: progress may have moved the deadline
                    continue
                waited = round(self._deadline - self._sent, 3)
                raise RequestTimeout(f"no reply to {self.method!r} within {waited:g} s") from None
            self._box.put(item)  # it stays: whoever asks again gets it again
            if isinstance(item, McpError):
                raise item
            return item

    def put(self, item: Message | McpError) -> None:
        """Hand over the reply, or the error that ends the wait."""
        self._box.put(item)

    def extend(self) -> None:
        """Progress came: the timeout begins anew, up to the absolute limit."""
        latest = self._sent + PROGRESS_LIMIT * self.timeout
        self._deadline = min(time.monotonic() + self.timeout, latest)


class Pending:
    """The requests of one connection that wait, by id; safe to use from several threads.

    It does not keep them alive: what nobody holds any more (Ctrl-C came between the sending and the
    waiting) waits no longer.
    """

    def __init__(self) -> None:
        self._waiting: dict[Any, ref[Waiting]] = {}
        self._lock = Lock()
        self._make_error: Callable[[], McpError] | None = None
        self.ended = threading.Event()

    def add(self, message: Message, timeout: float) -> Waiting:
        """Expect a reply to `message`. Raises what ended the connection, when it has ended."""
        waiting = Waiting(message, timeout)
        with self._lock:
            self.check()
            self._waiting[message["id"]] = ref(waiting)
        return waiting

    def check(self) -> None:
        """Raise what ended the connection, when it has ended."""
        if self._make_error is not None:
            raise self._make_error()

    def forget(self, waiting: Waiting) -> None:
        """Expect it no longer: a reply that still comes is dropped, and whoever waits is told."""
        with self._lock:
            self._waiting.pop(waiting.message["id"], None)
        waiting.put(McpError(f"nobody waits for the reply to {waiting.method!r} any more"))

    def resolve(self, reply: Message) -> None:
        """Give `reply` to the request it answers, if there is one.

        Servers exist that turn an id into a string, and that answer with the id null: the first is
        matched by its number, the second when only one request waits.
        """
        with self._lock:
            found = self._waiting.pop(self._key(reply.get("id")), None)
        if found is not None and (waiting := found()) is not None:
            waiting.put(reply)

    def progress(self, token: Any) -> None:
        """A notifications/progress with this token came: give its request more time."""
        with self._lock:
            for waiting in self._alive():  # some servers turn a token into a text
                if token is not None and token in (waiting.token, str(waiting.token)):
                    waiting.extend()

    def end(self, make_error: Callable[[], McpError]) -> None:
        """The connection is over: every request that waits, and every later one, gets an error of its
        own from `make_error()`. The first reason given is the one that counts."""
        with self._lock:
            if self._make_error is None:
                self._make_error = make_error
            left, self._waiting = self._alive(), {}
        for waiting in left:
            waiting.put(self._make_error())
        self.ended.set()

    def why_ended(self, patience: float = 0.0) -> McpError | None:
        """The error that ended the connection, waiting up to `patience` seconds for it, or None."""
        self.ended.wait(patience)
        return self._make_error() if self._make_error else None

    def _key(self, id: Any) -> Any:
        if id is None and len(alive := self._alive()) == 1:
            return alive[0].message["id"]
        if isinstance(id, str) and id.isdecimal() and len(id) < 20 and str(int(id)) == id:
            return int(id)
        return id

    def _alive(self) -> list[Waiting]:
        alive = [waiting for found in self._waiting.values() if (waiting := found()) is not None]
        self._waiting = {waiting.message["id"]: ref(waiting) for waiting in alive}
        return alive
