"""Which events a reading has not had yet: views are handed batches, and a long burst may miss some."""

from collections.abc import Sequence

from ..traffic import Event, Traffic


class Follower:
    """Remembers how far a record has been read."""

    def __init__(self) -> None:
        self.read_to = 0

    def new(self, events: Sequence[Event], traffic: Traffic) -> tuple[bool, list[Event]]:
        """(whether `events` begin where the record does: a page wants everything; those not read yet)."""
        again = not events or events[0].seq <= max(self.read_to, traffic.dropped + 1)
        if events and events[0].seq > self.read_to + 1:
            events = list(traffic)
        unread = [event for event in events if event.seq > self.read_to]
        self.read_to = unread[-1].seq if unread else self.read_to
        return again, unread
