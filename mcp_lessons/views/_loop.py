"""LoopView: a band for each turn of the agent loop, with what it sent, called and got."""

from collections.abc import Sequence
from typing import Any

from ..traffic import Event, Traffic
from ._base import RecordView, Snapshot
from ._loop_reading import LoopReading
from ._loop_state import rows
from ._loop_static import snapshot


class LoopView(RecordView):
    """Draws the turns of `run_agent` on a record: the context by part, the calls, their results, the end.

    Each call is linked to its messages on the wire; choosing one chooses it in a `TrafficView` of the
    same record. Figures marked ≈ are estimates; what an endpoint reports is shown as measured.
    """

    entry = "_loop.js"
    sheets = ("common.css", "_toolbox.css", "_loop.css")

    def __init__(self, traffic: Traffic) -> None:
        self._reading = LoopReading()
        self._read_to = 0
        super().__init__(traffic)

    def snapshot(self) -> Snapshot:
        """Turns, calls and outcomes as a table."""
        reading = LoopReading(self.traffic)
        return snapshot(rows(reading, [turn for run in reading.runs for turn in run.turns]))

    def _rows_of(self, events: Sequence[Event]) -> list[dict[str, Any]]:
        """The turns that `events` changed, or all of them when the page begins anew."""
        again = not events or events[0].seq <= max(self._read_to, self.traffic.dropped + 1)
        new = [event for event in events if event.seq > self._read_to]
        self._read_to = max([self._read_to, *(event.seq for event in new)])
        self._reading.feed(new)
        changed, self._reading.dirty = list(self._reading.dirty.values()), {}
        every = [turn for run in self._reading.runs for turn in run.turns]
        return rows(self._reading, every if again else changed)
