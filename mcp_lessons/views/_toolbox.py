"""ToolboxView: the tools that a model sees, growing as servers join, and what they cost."""

from collections.abc import Sequence
from typing import Any

from ..traffic import Event, Traffic
from ._base import RecordView, Snapshot
from ._toolbox_follow import Follower
from ._toolbox_reading import ToolboxReading
from ._toolbox_state import state
from ._toolbox_static import snapshot


class ToolboxView(RecordView):
    """Draws the tool lists of a record: advertised, would be sent, sent.

    `window` is the context window, in tokens, of which the view says how much the tools take. Figures
    marked ≈ are estimates; a measured one is shown where the record holds the same request to the
    model with and without tools, and the endpoint reported usage for both.
    """

    entry = "_toolbox.js"
    sheets = ("common.css", "_toolbox.css")

    def __init__(self, traffic: Traffic, window: int = 128_000) -> None:
        if isinstance(window, bool) or not isinstance(window, int) or window < 1:
            raise ValueError(f"window is a number of tokens, at least 1, not {window!r}")
        self._window = window
        self._reading = ToolboxReading()
        self._follower = Follower()
        super().__init__(traffic)

    def snapshot(self) -> Snapshot:
        """The list that would be sent (else advertised, else sent) as a table, with its cost and growth."""
        return snapshot(state(ToolboxReading(self.traffic)), self._window)

    def _rows_of(self, events: Sequence[Event]) -> list[dict[str, Any]]:
        """All that the page shows, in one row; nothing where `events` change nothing of it."""
        again, new = self._follower.new(events, self.traffic)
        changed = self._reading.feed(new)
        return [state(self._reading) | {"window": self._window}] if changed or again else []
