"""What the three views share on the Python side: one record, a display, a snapshot.

A view that is not displayed listens to nothing. One that is tells its pages in batches (`_feed.py`), so
that a busy kernel still draws. Rows go as text in ASCII (see `_rows.dumps`).
"""

import uuid
from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets
from IPython.display import display, update_display

from ..traffic import Event, Traffic
from . import _rows
from ._bundle import bundle, styles
from ._feed import Feed, shared


class Snapshot:
    """A static table: `text` for a terminal, `html` for a notebook. Two equal records give two equal ones."""

    def __init__(self, text: str, html: str) -> None:
        self.text, self.html = text, html

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html}


class RecordView(anywidget.AnyWidget):
    """A widget that draws one `Traffic`. A subclass names its files and writes `snapshot`.

    `entry` is the view's ES module and `sheets` are its style sheets, all beside this file. `_row`
    may be overridden: it turns an event into what the page gets, or into None to leave it out.
    """

    entry = ""
    sheets: tuple[str, ...] = ("common.css",)

    _start = traitlets.Unicode("").tag(sync=True)

    def __init__(self, traffic: Traffic) -> None:
        if not isinstance(traffic, Traffic):
            raise TypeError(f"{type(self).__name__} takes a Traffic, not {type(traffic).__name__}")
        self._esm, self._css = bundle(self.entry), styles(*self.sheets)
        super().__init__()
        self.traffic = traffic
        self._shared = shared(traffic)
        self._display_id = uuid.uuid4().hex
        self._feed = Feed(self)
        self.on_msg(self._on_message)

    def snapshot(self) -> Snapshot:
        """What the record holds now, as a static table."""
        raise NotImplementedError

    def freeze(self) -> None:
        """Put the snapshot in the place of the live display, for readers without a kernel."""
        snapshot = self.snapshot()
        update_display(snapshot, display_id=self._display_id)
        self.close()

    def close(self) -> None:
        """End the subscription and the display."""
        feed = getattr(self, "_feed", None)
        if feed:
            feed.close()
        super().close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, drawn live in a notebook; .snapshot() is its table>"

    def _ipython_display_(self) -> None:
        bundle = self._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        if data:
            self._feed.displayed()
            display(data, metadata=metadata, raw=True, display_id=self._display_id)

    def _row(self, event: Event, limit: int = _rows.MAX_MESSAGE) -> dict[str, Any] | None:
        return _rows.row(event, limit)

    def _rows_of(self, events: Sequence[Event]) -> list[dict[str, Any]]:
        """The newest 10,000 of `events` as rows: see `_rows.rows`."""
        return _rows.rows(events, self._row)

    def _on_message(self, _: Any, content: Any, buffers: Any) -> None:
        if not isinstance(content, dict):
            return
        if content.get("op") == "hello":
            self._feed.hello(str(content.get("page")))
        elif content.get("op") == "bye":
            self._feed.bye(str(content.get("page")))
