"""The order of the rows of a snapshot: the same for two runs that said the same things.

What the client did stands in the order in which it did it: starting a server, sending, hanging up. What
came from a server has no fixed place between the acts on other connections, so it is placed by what is
fixed: the stream of its own connection. It stands below the request that was open; where none was, or
several were, below the exchange that had ended. How a process went on after the client hung up stands
below the hanging up, though other servers may have been sent something in between.
"""

from bisect import bisect
from typing import Any

from ..traffic import Event
from ._exchanges import Exchange, role

Place = tuple[int, int, int, int]
"""(the act it stands at, 0 for the act itself, the connection of what ends, its own place in the record)."""

_DURING = {"notifications/progress", "notifications/message"}
_LONG_AGO = 1000  # so far back an open request is looked for, in events: a record may be long


def ordered(rows: list[Exchange]) -> list[Exchange]:
    """`rows` in an order that does not depend on which of two connections was faster."""
    order = _Order(rows)
    return sorted(rows, key=lambda row: order.place(row.first))


class _Order:
    def __init__(self, rows: list[Exchange]) -> None:
        self.acts = sorted(row.first.seq for row in rows if _is_act(row.first))
        self.sent: dict[int, list[Exchange]] = {}  # connection -> the requests that the client sent
        self.replied: dict[int, list[tuple[int, int]]] = {}  # the same: (seq of the reply, of its request)
        self.last: dict[int, int] = {}  # connection -> the newest thing that was sent
        self.hung_up: dict[int, int] = {}  # connection -> the act below which its stdin was closed
        for row in sorted(rows, key=lambda row: row.first.seq):
            self._read(row)
        for connection, sent in self.sent.items():
            pairs = [(row.reply.seq, row.first.seq) for row in sent if row.reply is not None]
            self.replied[connection] = sorted(pairs)

    def _read(self, row: Exchange) -> None:
        event = row.first
        if event.direction == "sent":
            self.last[event.connection] = event.seq
            if role(event) == "request":
                self.sent.setdefault(event.connection, []).append(row)
        elif _happened(event) == "stdin closed":
            self.hung_up.setdefault(event.connection, self._act_before(event))

    def place(self, event: Event) -> Place:
        if _is_act(event) or event.kind in ("model", "tools"):
            return event.seq, 0, 0, event.seq
        if event.kind == "process":
            return self._of_process(event)
        if event.direction == "received":
            return self._request_of(event), 1, 0, event.seq
        return event.seq, 0, 0, event.seq

    def _of_process(self, event: Event) -> Place:
        act = self.hung_up.get(event.connection)
        if act is None or _happened(event) == "stdout closed":  # which the server may do at any time
            return self.last.get(event.connection, event.seq), 2, 0, event.seq
        return act, 2, event.connection, event.seq

    def _act_before(self, event: Event) -> int:
        """Several servers hang up side by side: no act is between them, so they stand by their connection."""
        before = bisect(self.acts, event.seq)
        return self.acts[before - 1] if before else event.seq

    def _request_of(self, event: Event) -> int:
        """The request below which `event` stands, or its own number where there is none."""
        replied = self.replied.get(event.connection, [])
        now = bisect(replied, (event.seq, 0))
        if event.kind != "reply" and (alone := self._alone_open(event)):
            return alone
        if role(event) == "request" or _said(event, "method") in _DURING:
            return replied[now][1] if now < len(replied) else self.last.get(event.connection, event.seq)
        first = replied[0][1] if replied else event.seq
        return replied[now - 1][1] if now else first

    def _alone_open(self, event: Event) -> int | None:
        """The request that was open when `event` came, if there was exactly one."""
        sent = self.sent.get(event.connection, [])
        found: list[int] = []
        for row in reversed(sent[: bisect(sent, event.seq, key=lambda row: row.first.seq)]):
            if row.closed > event.seq:
                found.append(row.first.seq)
            if len(found) > 1 or row.first.seq < event.seq - _LONG_AGO:
                break
        return found[0] if len(found) == 1 else None


def _is_act(event: Event) -> bool:
    """The client or the agent did it, in this order. Not so "leaves": servers hang up side by side."""
    if event.kind == "tools":
        return not str(_said(event, "cause")).endswith(" leaves")
    return event.direction == "sent" or event.kind == "model" or _happened(event) == "spawned"


def _happened(event: Event) -> Any:
    return _said(event, "event") if event.kind == "process" else None


def _said(event: Event, name: str) -> Any:
    return event.body.get(name) if isinstance(event.body, dict) else None
