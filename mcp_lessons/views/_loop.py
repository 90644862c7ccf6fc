"""LoopView: a band for each turn of the agent loop, with what it sent, called and got."""

from collections.abc import Sequence
from typing import Any

from ..traffic import Event, Traffic
from ._base import RecordView, Snapshot
from ._loop_reading import LoopReading
from ._loop_state import rows
from ._loop_static import snapshot
from ._toolbox_follow import Follower


class LoopView(RecordView):
    """Draws the turns of `run_agent` on a record: the context by part, the calls, their results, the end.

    Each call is linked to its messages on the wire; choosing one chooses it in a `TrafficView` of the
    same record. Figures marked ≈ are estimates; what an endpoint reports is shown as measured.
    """

    entry = "_loop.js"
    sheets = ("common.css", "_toolbox.css", "_loop.css")

    def __init__(self, traffic: Traffic) -> None:
        self._reading = LoopReading()
        self._follower = Follower()
        super().__init__(traffic)

    def snapshot(self) -> Snapshot:
        """Turns, calls and outcomes as a table."""
        reading = LoopReading(self.traffic)
        return snapshot(rows(reading, [turn for run in reading.runs for turn in run.turns]))

    def _rows_of(self, events: Sequence[Event]) -> list[dict[str, Any]]:
        """The turns that `events` changed, or all of them when the page begins anew."""
        again, new = self._follower.new(events, self.traffic)
        self._reading.feed(new)
        changed, self._reading.dirty = list(self._reading.dirty.values()), {}
        every = [turn for run in self._reading.runs for turn in run.turns]
        return rows(self._reading, every if again else changed)
