"""A record as exchanges: each request with its reply. The page does the same in `record.js`."""

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..traffic import Event

Key = tuple[int, str, str]


@dataclass
class Exchange:
    """One row of a snapshot: something that happened, with its reply if it has one.

    `first` is the request, or whatever stands alone; `reply` is the first reply with its id; `end` says why
    none will come ("cancelled", "exited") or is "" ; `flags` are those of `record.js`; `closed` is the number
    of the event with which the wait was over; `odd` is the flag of a reply whose id is not quite that of
    the request; `late` is true for a reply that came after the end.
    """

    first: Event
    reply: Event | None = None
    end: str = ""
    flags: list[str] = field(default_factory=list)
    closed: int = sys.maxsize
    odd: str = ""

    @property
    def late(self) -> bool:
        return self.reply is not None and self.end != ""


def exchanges(events: Iterable[Event]) -> list[Exchange]:
    """Every event in wire order, but for the replies, which stand with their requests."""
    return _Pairing().read(events)


class _Pairing:
    def __init__(self) -> None:
        self.made: list[Exchange] = []
        self.asked: dict[Key, Exchange] = {}

    def read(self, events: Iterable[Event]) -> list[Exchange]:
        for event in events:
            if role(event) == "request":
                self._request(event)
            elif role(event) == "reply":
                self._reply(event)
            else:
                self._other(event)
        return self.made

    def _request(self, event: Event) -> None:
        exchange = Exchange(event)
        if _key(event) in self.asked:
            exchange.flags.append("repeated-id")
        self.asked[_key(event)] = exchange
        self.made.append(exchange)

    def _reply(self, event: Event) -> None:
        connection, direction, id = _key(event)
        way = "received" if direction == "sent" else "sent"
        exchange, odd = self.asked.get((connection, way, id)), ""
        if exchange is None:
            exchange, odd = self._meant(connection, way, id)
        if exchange is None:
            self.made.append(Exchange(event, flags=[odd or "orphan"]))
        elif exchange.reply is not None:
            self.made.append(Exchange(event, flags=[*filter(None, [odd]), "second-reply"]))
        else:
            exchange.reply, exchange.odd = event, odd
            exchange.closed = min(exchange.closed, event.seq)

    def _meant(self, connection: int, way: str, id: str) -> tuple[Exchange | None, str]:
        """As the client does: 3 is meant by "3", and the only request that waits by a reply without id."""
        if id == "null":
            waiting = [
                one
                for key, one in self.asked.items()
                if key[:2] == (connection, way) and one.reply is None and not one.end
            ]
            return (waiting[0] if len(waiting) == 1 else None), "null-id"
        other = id[1:-1] if id.startswith('"') else f'"{id}"'  # 1 and "1"
        exchange = self.asked.get((connection, way, other))
        return exchange, "id-type" if exchange else ""

    def _other(self, event: Event) -> None:
        self.made.append(Exchange(event))
        body = event.body if isinstance(event.body, dict) else {}
        if event.kind == "notification" and body.get("method") == "notifications/cancelled":
            params = body.get("params")
            id = params.get("requestId") if isinstance(params, dict) else None
            self._ended([(event.connection, event.direction, _id_text(id))], "cancelled", event.seq)
        elif event.kind == "process" and body.get("event") in ("exited", "stdout closed"):
            self._ended([key for key in self.asked if key[0] == event.connection], "exited", event.seq)

    def _ended(self, keys: list[Key], how: str, seq: int) -> None:
        for key in keys:
            exchange = self.asked.get(key)
            if exchange and exchange.reply is None and not exchange.end:
                exchange.end, exchange.closed = how, seq


def role(event: Event) -> str:
    """ "request" or "reply" for what wants or is an answer, the model's among them; "" for the rest."""
    if event.kind == "model":
        return {"sent": "request", "received": "reply"}.get(event.direction, "")
    return event.kind if event.kind in ("request", "reply") else ""


def _key(event: Event) -> Key:
    body: Any = event.body if isinstance(event.body, dict) else {}
    id = body.get("turn") if event.kind == "model" else body.get("id")
    return event.connection, event.direction, _id_text(id)


def _id_text(id: Any) -> str:
    if isinstance(id, float) and id.is_integer():
        id = int(id)  # 3.0 is 3, for the client as for JSON
    return json.dumps(id, default=str)
