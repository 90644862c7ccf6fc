"""TrafficView: every message of a record in the order of the wire, explained. Shown, not taught."""

from ._base import RecordView, Snapshot
from ._snapshot import traffic_tables


class TrafficView(RecordView):
    """Draws a record as a sequence diagram that grows while later cells run."""

    entry = "traffic.js"
    sheets = ("common.css", "traffic.css")

    def snapshot(self) -> Snapshot:
        """Each request with its reply, in the order of the requests; no times, process numbers or paths."""
        return Snapshot(*traffic_tables(self.traffic))
