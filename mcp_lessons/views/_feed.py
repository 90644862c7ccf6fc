"""How a view tells its pages what happens: everything on hello, then batches, from a daemon thread."""

import threading
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..traffic import Event, Traffic
from . import _rows

if TYPE_CHECKING:
    from ._base import RecordView

BATCH_SECONDS = 0.06
ROWS_A_MESSAGE = 1000
MAX_RENEWALS = 9  # the last one half a minute after the display
MAX_START = 4 * 1024 * 1024

_records: "weakref.WeakKeyDictionary[Traffic, Shared]" = weakref.WeakKeyDictionary()


class Shared:
    """What all views of one record agree on: its name in the page, and the order of its servers."""

    def __init__(self) -> None:
        self.record = uuid.uuid4().hex
        self.servers: dict[str, None] = {}


def shared(traffic: Traffic) -> Shared:
    """What the views of `traffic` share; the same object each time."""
    return _records.setdefault(traffic, Shared())


class Feed:
    """Sends one view's rows: everything when a page says hello, then what is new, in batches.

    A kernel that is busy does not hear the hello of its page. So from the display on, until one is
    heard, what there is stands in the trait `_start` too, which is renewed at growing intervals.
    Each message says which events it covers (after, upto], so that a page knows when it missed one.
    """

    def __init__(self, view: "RecordView") -> None:
        self._view = weakref.ref(view)
        self._traffic = weakref.ref(view.traffic)
        self._pages: set[str] = set()
        self._pending: deque[Event] = deque(maxlen=_rows.MAX_ROWS)
        self._read = 0  # the last event that went into a row
        self._told = 0  # the last event that the pages know of
        self._renewed = -1  # the last event that the trait knows of
        self._renewal = threading.Timer(0, self._flush)  # started when the trait has to wait
        self._open = self._scheduled = False
        self._from_nothing = False  # was the record empty when the view was displayed
        self._wait, self._renew_at, self._renewals = BATCH_SECONDS, 0.0, 0
        self._sending = threading.RLock()
        self._unsubscribe: Callable[[], None] = lambda: None

    def displayed(self) -> None:
        """The view is put into a notebook: begin, though no page has said hello yet."""
        view, traffic = self._view(), self._traffic()
        if view is None or traffic is None:
            return
        with self._sending:
            self._listen(traffic)
            self._from_nothing = len(traffic) == 0
            self._wait, self._renew_at, self._renewals = BATCH_SECONDS, 0.0, MAX_RENEWALS
            self._renew(view, traffic)

    def hello(self, page: str) -> None:
        """Another page shows the view: it gets all there is."""
        view, traffic = self._view(), self._traffic()
        if view is None or traffic is None:
            return
        with self._sending:
            self._listen(traffic)
            self._pages.add(page)
            self._renewals = 0
            self._renewal.cancel()
            for message in self._everything(view, traffic):
                view.send(message)

    def bye(self, page: str) -> None:
        """That page shows it no more; with the last one gone, nothing is collected."""
        with self._sending:
            self._pages.discard(page)
            if not self._pages:
                self.close()

    def close(self) -> None:
        """Stop listening. Another hello begins anew."""
        self._unsubscribe()
        self._renewal.cancel()
        self._open = False
        self._pages.clear()
        self._pending.clear()

    def happened(self, event: Event) -> None:
        """Called by the record, on any thread and under its lock: only remember, and wake up later."""
        self._pending.append(event)
        if not self._scheduled:
            self._scheduled = True
            _later(BATCH_SECONDS, self._flush)

    def _listen(self, traffic: Traffic) -> None:
        if not self._open:
            self._unsubscribe = _subscribed(traffic, self)
            self._open = True

    def _flush(self) -> None:
        self._scheduled = False
        view, traffic = self._view(), self._traffic()
        with self._sending:
            events = [self._pending.popleft() for _ in range(len(self._pending))]
            events = [event for event in events if event.seq > self._read]
            if view is None or traffic is None or not self._open:
                return
            if events:
                self._read = events[-1].seq
                rows = view._rows_of(events)
                for message in self._messages(view, "add", rows, events) if rows else ():
                    view.send(message)
            self._renew(view, traffic)

    def _renew(self, view: "RecordView", traffic: Traffic) -> None:
        """Bring the trait up to date, if no page has said hello and it is time."""
        if not self._renewals or self._renewed == self._read:
            return
        if (early := self._renew_at - time.monotonic()) > 0:
            self._renewal.cancel()
            self._renewal = _later(early, self._flush)
            return
        self._renewals -= 1
        self._wait *= 2
        self._renew_at = time.monotonic() + self._wait
        parts = self._everything(view, traffic)
        self._renewed = self._read
        view._start = _rows.dumps(parts) if sum(len(part["rows"]) for part in parts) < MAX_START else ""

    def _everything(self, view: "RecordView", traffic: Traffic) -> list[dict[str, Any]]:
        events = list(traffic)
        self._read = events[-1].seq if events else 0
        return self._messages(view, "reset", view._rows_of(events), events)

    def _messages(
        self, view: "RecordView", op: str, rows: list[dict[str, Any]], events: list[Event]
    ) -> list[dict[str, Any]]:
        """`rows` in messages of at most a thousand; the first of them says `op`."""
        shared = view._shared
        for event in events:
            if event.server and event.connection:
                shared.servers.setdefault(event.server)
        away = view.traffic.dropped + (max(len(events) - len(rows), 0) if op == "reset" else 0)
        after, self._told = (-1 if op == "reset" else self._told), self._read
        parts = [
            rows[start : start + ROWS_A_MESSAGE] for start in range(0, max(len(rows), 1), ROWS_A_MESSAGE)
        ]
        return [
            {
                "op": op if number == 0 else "more",
                "after": after if number == 0 else self._told,
                "upto": self._told,
                "record": shared.record,
                "servers": _rows.dumps(list(shared.servers)),
                "dropped": away,
                "fromNothing": self._from_nothing,
                "rows": _rows.dumps(part),
            }
            for number, part in enumerate(parts)
        ]


def _later(seconds: float, call: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer


def _subscribed(traffic: Traffic, feed: Feed) -> Callable[[], None]:
    """Subscribe without keeping `feed` alive; returns the function that ends it."""
    weak = weakref.ref(feed)

    def heard(event: Event) -> None:
        live = weak()
        if live is not None:
            live.happened(event)

    unsubscribe = traffic.subscribe(heard)
    weakref.finalize(feed, unsubscribe).atexit = False
    return unsubscribe
