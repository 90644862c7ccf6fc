"""Requests that wait for their reply: who gets which, until when, and what ends them all.

Shown, not taught: lesson 2 pairs replies with requests in six lines, and these are the cases that
six lines leave out. Replies come on a reader thread, requests wait on any number of others.
"""

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from ._checks import check_seconds
from .errors import McpError, RequestTimeout
from .jsonrpc import Message

PROGRESS_LIMIT = 10
"""Progress may extend a deadline to at most this many times the request's timeout."""
LOOK_UP_SECONDS = 1.0
"""A wait looks up this often: for a deadline that progress has moved, and for Ctrl-C on Windows."""


class Waiting:
    """One request on its way: `message` was sent, a reply is awaited until its deadline."""

    def __init__(self, message: Message, timeout: float) -> None:
        self.message, self.timeout = message, check_seconds(timeout)
        self._deadline = time.monotonic() + timeout
        self._latest = self._deadline + (PROGRESS_LIMIT - 1) * timeout
        self._box: SimpleQueue[Message | McpError] = SimpleQueue()

    @property
    def method(self) -> str:
        """The request's method."""
        return self.message["method"]

    def seconds_left(self) -> float:
        """Seconds until the deadline, never below 0."""
        return max(0.0, self._deadline - time.monotonic())

    def reply(self) -> Message:
        """Block until the reply is there. RequestTimeout at the deadline; what ended the connection
        is raised here too (ServerExited, TransportError)."""
        while True:
            left = self.seconds_left()
            try:
                item = self._box.get(timeout=min(left, LOOK_UP_SECONDS))
            except Empty:
                if self.seconds_left() == 0.0:
                    raise RequestTimeout(f"no reply to {self.method!r} within {self.timeout:g} s") from None
                continue
            self._box.put(item)  # it stays: whoever asks again gets it again
            if isinstance(item, McpError):
                raise item
            return item

    def put(self, item: Message | McpError) -> None:
        """Hand over the reply, or the error that ends the wait."""
        self._box.put(item)

    def extend(self) -> None:
        """Progress came: the timeout begins anew, up to the absolute limit."""
        self._deadline = min(time.monotonic() + self.timeout, self._latest)


class Pending:
    """The requests of one connection that wait, by id; safe to use from several threads."""

    def __init__(self) -> None:
        self._waiting: dict[Any, Waiting] = {}
        self._lock = threading.Lock()
        self._make_error: Callable[[], McpError] | None = None
        self.ended = threading.Event()

    def add(self, message: Message, timeout: float) -> Waiting:
        """Expect a reply to `message`. Raises what ended the connection, when it has ended."""
        waiting = Waiting(message, timeout)
        with self._lock:
            self.check()
            self._waiting[message["id"]] = waiting
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

    def resolve(self, reply: Message) -> bool:
        """Give `reply` to the request it answers; False when there is none.

        Servers exist that turn an id into a string, and that answer with the id null: the first is
        matched by its number, the second when only one request waits.
        """
        with self._lock:
            waiting = self._waiting.pop(self._key(reply.get("id")), None)
        if waiting is None:
            return False
        waiting.put(reply)
        return True

    def progress(self, token: Any) -> None:
        """A notifications/progress with this token came: give its request more time."""
        with self._lock:
            waiting = next((w for w in self._waiting.values() if _token(w.message) == token), None)
        if waiting is not None:
            waiting.extend()

    def end(self, make_error: Callable[[], McpError]) -> None:
        """The connection is over: every request that waits, and every later one, gets an error of its
        own from `make_error()`. The first reason given is the one that counts."""
        with self._lock:
            if self._make_error is None:
                self._make_error = make_error
            left, self._waiting = list(self._waiting.values()), {}
        for waiting in left:
            waiting.put(self._make_error())
        self.ended.set()

    def why_ended(self, patience: float = 0.0) -> McpError | None:
        """The error that ended the connection, waiting up to `patience` seconds for it, or None."""
        self.ended.wait(patience)
        return self._make_error() if self._make_error else None

    def _key(self, id: Any) -> Any:
        if id is None and len(self._waiting) == 1:
            return next(iter(self._waiting))
        if isinstance(id, str) and id.isdecimal() and len(id) < 20 and str(int(id)) == id:
            return int(id)
        return id


def sheltered(work: Callable[[], None]) -> None:
    """Run `work` on a thread of its own, and wait for it: Ctrl-C ends the wait, and never the work."""
    box: SimpleQueue[BaseException | None] = SimpleQueue()

    def run() -> None:
        try:
            work()
        except BaseException as problem:  # raised again where it is waited for
            box.put(problem)
        else:
            box.put(None)

    threading.Thread(target=run, daemon=True).start()
    if (problem := box.get()) is not None:
        try:
            raise problem
        finally:
            del problem  # or its traceback would keep it, and the client, alive


def _token(message: Message) -> Any:
    match message:
        case {"params": {"_meta": {"progressToken": token}}}:
            return token
    return _NO_TOKEN


_NO_TOKEN = object()
