"""The record of everything that crossed the wire: `Event` and `Traffic`.

Clients, the toolbox and the agent loop write it; views read it, and nothing else. A record saved
as JSONL is read back with `Traffic.load` and drawn by the same views, with no server running.
"""

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from . import jsonrpc
from ._threads import Lock

_JSON_KINDS = frozenset(("request", "reply", "notification", "noise", "tools", "model"))


class Event(NamedTuple):
    """One thing that happened.

    `seq` counts from 1 in one record; `t` is in seconds since the record began; `connection` counts
    the connections of the record from 1 (0: none); `direction` is "sent" or "received", seen from
    the client ("" for what crosses no wire); `raw` is the text exactly as it crossed the wire.

    `kind` is one of request, reply, notification, stderr, noise (a line that is no message),
    process (spawned, stdin closed, signalled, exited), http (status, redacted headers), tools (the
    toolbox changed) and model (a request to the model, its reply).
    """

    seq: int
    t: float
    connection: int
    server: str
    direction: str
    kind: str
    raw: str
    details: Any = None

    @property
    def body(self) -> Any:
        """What the event says: the message, or the details of what happened.

        A message is read from `raw` each time, so that nobody can change what is on the record, and
        a long record holds text alone.
        """
        return jsonrpc.decode(self.raw) if self.kind in _JSON_KINDS else self.details


class Traffic:
    """Events in the order in which they happened; safe to use from several threads.

    Beyond `limit` events, or `max_bytes` bytes of text in all, the oldest are dropped, and counted
    in `dropped`. `clock` returns seconds.
    """

    def __init__(
        self,
        limit: int = 100_000,
        *,
        max_bytes: int = 256 * 1024 * 1024,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit, self.max_bytes, self.dropped = limit, max_bytes, 0
        self._events: deque[Event] = deque()
        self._bytes = 0
        self._seq, self._connections = count(1), count(1)
        self._clock, self._began = clock, clock()
        self._lock = Lock()
        self._subscribers: list[Callable[[Event], None]] = []
        self._telling: int | None = None

    def recorder(self, server: str) -> "Recorder":
        """What a new connection reports to: `record(source, raw, body=None)`."""
        return Recorder(self, server, self.new_connection())

    def add(
        self, kind: str, *, raw: str = "", body: Any = None, server: str = "", connection: int = 0,
        direction: str = "",
    ) -> Event:  # fmt: skip
        """Record one event now, tell the subscribers, and return it. `raw` may be left out where it is
        the JSON of `body`."""
        if kind in _JSON_KINDS:
            raw, body = raw or json.dumps(body), None
        return self._write(connection, server, direction, kind, raw, body)

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call `callback(event)` for every event from now on; returns the function that ends it.

        It is called on whichever thread records, must return quickly, and must not send anything: all
        who record wait for it. One that raises is told nothing any more, and its traceback is printed.
        """
        with self._alone():
            self._subscribers = [*self._subscribers, callback]
        return lambda: self._unsubscribe(callback)

    def is_telling(self) -> bool:
        """True on a thread that is in the middle of telling a subscriber."""
        return self._telling == threading.get_ident()

    def new_connection(self) -> int:
        """The next free connection number, for a writer that is no transport (the agent loop)."""
        return next(self._connections)

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Event]:
        with self._alone():
            return iter(list(self._events))

    def __getitem__(self, seq: int) -> Event:
        """The event with this sequence number: `traffic[18]` is what the views call #18."""
        with self._alone():
            first = self._events[0].seq if self._events else 1
            if not 0 <= seq - first < len(self._events):
                raise IndexError(f"no event {seq} in this record: it holds {self._span()}")
            return self._events[seq - first]

    def __repr__(self) -> str:
        return f"<Traffic: {self._span()}>"

    def save(self, path: str | Path) -> None:
        """Write the record as JSONL, one event a line."""
        with Path(path).open("w", encoding="utf-8") as file:
            for event in self:
                file.write(json.dumps(_as_fields(event)) + "\n")

    def save_html(self, path: str | Path) -> None:
        """Write the newest 10,000 events as one page that draws them as TrafficView does, with no kernel
        and no network. Keys, tokens and passwords are left out."""
        from .views._page import save_html  # drawing is apart: who never draws needs no views

        save_html(self, path)

    @classmethod
    def load(cls, path: str | Path) -> "Traffic":
        """Read a record written by `save`. ValueError, with the line's number, for anything else."""
        with Path(path).open(encoding="utf-8") as file:
            events = [_event_from(line, number) for number, line in enumerate(file, 1) if line.strip()]
        traffic = cls(limit=max(len(events), 100_000))
        for event in events:
            traffic._keep(event)
        last = events[-1] if events else None
        traffic._seq = count(last.seq + 1 if last else 1)
        traffic._connections = count(max((event.connection for event in events), default=0) + 1)
        traffic._began = traffic._clock() - (last.t if last else 0.0)
        return traffic

    def _write(self, *fields: Any) -> Event:
        with self._alone():
            event = Event(next(self._seq), self._clock() - self._began, *fields)
            self._keep(event)
            try:
                self._telling = threading.get_ident()
                for subscriber in self._subscribers:
                    self._tell(subscriber, event)
            finally:
                self._telling = None
        return event

    def _tell(self, subscriber: Callable[[Event], None], event: Event) -> None:
        try:
            subscriber(event)
        except Exception as problem:  # a thread that reads must not end by the fault of a view
            self._unsubscribe(subscriber)
            where = (type(problem), problem, problem.__traceback__, threading.current_thread())
            threading.excepthook(threading.ExceptHookArgs(where))

    def _unsubscribe(self, callback: Callable[[Event], None]) -> None:
        with self._alone():
            self._subscribers = [other for other in self._subscribers if other is not callback]

    def _alone(self) -> Any:
        """To be alone with the events: a thread that tells a subscriber is so already."""
        return nullcontext() if self.is_telling() else self._lock

    def _keep(self, event: Event) -> None:
        self._events.append(event)
        self._bytes += len(event.raw)
        while self._events and (len(self._events) > self.limit or self._bytes > self.max_bytes):
            self._bytes -= len(self._events.popleft().raw)
            self.dropped += 1

    def _span(self) -> str:
        if not self._events:
            return "no events"
        return f"events {self._events[0].seq} to {self._events[-1].seq}"


class Recorder:
    """Writes what one connection reports into a record: `record(source, raw, body=None)` -> Event.

    `source` is "sent" or "received" for a line of the wire, which is then classified (`body` is the
    message, where the caller has it at hand), or a kind ("stderr", "process", "http") for what
    stands beside the wire.
    """

    def __init__(self, traffic: Traffic, server: str, connection: int) -> None:
        self.traffic, self.server, self.connection = traffic, server, connection

    def __call__(self, source: str, raw: str, body: Any = None) -> Event:
        if source not in ("sent", "received"):
            return self.traffic.add(
                source, raw=raw, body=body, server=self.server, connection=self.connection
            )
        kind = jsonrpc.kind_of(jsonrpc.decode(raw) if body is None else body)
        return self.traffic._write(self.connection, self.server, source, kind, raw)


_SECRET_NAME = r"[\w.-]*(?:key|token|secret|password|passwd|auth)[\w.-]*"
_SECRET_OPTION = re.compile(rf"(?i)^--?(?:{_SECRET_NAME}|pat)$")
_SECRET_VALUE = re.compile(
    rf'(?i)({_SECRET_NAME}"?\s*[=:]\s*"?)[^"&]+'  # --token=…, ?api_key=…, X-API-Key: …, "apiKey": "…"
    r"|bearer\s+\S+|\bsk-[\w-]{8,}|\bgh[pousr]_\w{16,}|://[^/@\s:]+:[^/@\s]+@"
)


def redact_command(command: list[str]) -> list[str]:
    """`command` with the values of options such as --api-key, and what looks like a key, left out.

    >>> redact_command(["server", "--api-key", "abc", "--port", "80", "http://example.com/?token=xyz"])
    ['server', '--api-key', '…', '--port', '80', 'http://example.com/?token=…']
    """
    shown, secret_follows = [], False
    for word in command:
        is_secret = secret_follows and not word.startswith("-")
        shown.append("…" if is_secret else _SECRET_VALUE.sub(lambda found: f"{found[1] or ''}…", word))
        secret_follows = bool(_SECRET_OPTION.match(word))
    return shown


_FIELDS = (*Event._fields[:-1], "body")
_TYPES = (int, (int, float), int, str, str, str, str)


def _as_fields(event: Event) -> dict[str, Any]:
    return {name: getattr(event, name) for name in _FIELDS}


def _event_from(line: str, number: int) -> Event:
    try:
        fields = json.loads(line)
        event = Event(*(fields[name] for name in _FIELDS))
        if not all(map(isinstance, event, _TYPES)):
            raise TypeError("a field of another type")
        return event._replace(details=None) if event.kind in _JSON_KINDS else event
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise ValueError(f"line {number} is no event of a saved record: {line[:80]!r}") from problem
