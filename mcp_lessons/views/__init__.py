"""Live views of a record, and their static snapshots. Shown, not taught: no lesson builds them.

    TrafficView(traffic)     every message in the order of the wire
    ToolboxView(traffic)     the list of tools, growing, and what it costs
    LoopView(traffic)        a band for each turn of the agent loop

A view takes one `Traffic` and reads nothing else, so a saved record (`Traffic.load`) is drawn as a
live one. `view.snapshot()` is a plain table that never changes with the clock; `view.freeze()` puts
it in the place of the live display.

The Python side sends rows; the page draws them. The page's code is plain ES modules beside this
file, put together by `_bundle.py` with no build step; every sentence that a reader sees is in `text/`.
"""

from ._loop import LoopView
from ._toolbox import ToolboxView
from ._traffic import TrafficView

__all__ = ["LoopView", "ToolboxView", "TrafficView"]
