"""The three tool lists, read from the record: advertised, would be sent, sent.

`ToolboxReading` is fed events one by one, in order; `_toolbox_state` says what `ToolboxView` shows of
it. It never raises, whatever a server said, and needs no server: a saved record reads the same.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from ..traffic import Event
from ._toolbox_findings import name_findings
from ._toolbox_listing import Listings, told_apart
from ._toolbox_tokens import JSON, entries, exact, mapping, text, tokens
from ._toolbox_track import Tool, Track

CONVERSATIONS_KEPT = 64


class ToolboxReading:
    """`advertised` (replies to tools/list), `toolbox` (what the toolbox would send) and `sent` (the
    `tools=` of requests to the model), each a `Track`.

    When every server has left, `closed` is true and `toolbox` is the list as it was before the first of
    them went: closing a toolbox takes nothing from what a reader is looking at.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.advertised, self._toolbox, self.sent = Track(), Track(), Track()
        self._mounted: set[str] = set()
        self._before_leaving: tuple[Track, set[str]] | None = None
        self.listings = Listings(self.advertised)
        self.origins: dict[str, JSON] = {}
        self.turn: JSON | None = None
        self._warnings: dict[str, list[str]] = {}
        self.measured: JSON | None = None
        self._runs: dict[int, int] = {}
        self._usage: OrderedDict[str, dict[str, JSON]] = OrderedDict()
        self._asked: dict[int, tuple[str, JSON]] = {}
        self.feed(events)

    @property
    def closed(self) -> bool:
        return self._before_leaving is not None and not self._mounted

    @property
    def toolbox(self) -> Track:
        return self._before_leaving[0] if self._before_leaving and self.closed else self._toolbox

    @property
    def mounted(self) -> set[str]:
        """The servers of `toolbox`, also those that offer nothing."""
        return self._before_leaving[1] if self._before_leaving and self.closed else self._mounted

    def feed(self, events: Iterable[Event]) -> bool:
        """Read more events; True when one of them may have changed what is shown."""
        changed = False
        for event in events:
            changed = self._read(event) or changed
        return changed

    def _read(self, event: Event) -> bool:
        if event.kind == "tools":
            return self._toolbox_changed(event, mapping(event.body))
        if event.kind == "model":
            body = mapping(event.body)
            return self._sent(event, body) if "messages" in body else self._replied(event, body)
        return self.listings.read(event)

    def _toolbox_changed(self, event: Event, body: JSON) -> bool:
        origins = {text(name): mapping(origin) for name, origin in mapping(body.get("origins")).items()}
        self.origins = self.origins | origins
        listed = told_apart([_tool(schema, origins, event.seq) for schema in entries(body.get("schemas"))])
        cause = text(body.get("cause"))
        self._came_or_went(event.server, leaves=cause == f"{event.server} leaves")
        self._mounted |= {tool.server for tool in listed if tool.server}
        self._toolbox.put({"kind": "said", "text": cause}, event.seq, listed, self.turn)
        self._warned(event, [text(warning) for warning in entries(body.get("warnings"))])
        return True

    def _came_or_went(self, server: str, leaves: bool) -> None:
        if not leaves:
            self._before_leaving = None
            self._mounted |= {server} if server else set()
            return
        self._before_leaving = self._before_leaving or (self._toolbox.copy(), set(self._mounted))
        self._mounted.discard(server)

    def _warned(self, event: Event, said: list[str]) -> None:
        """A server's warnings stand until it leaves without one."""
        kept = self._warnings.setdefault(event.server, [])
        kept += [warning for warning in said if warning not in kept]
        if not said and event.server and event.server not in self._toolbox.servers():
            del self._warnings[event.server]
        self._toolbox.warnings = [warning for warnings in self._warnings.values() for warning in warnings]

    def _sent(self, event: Event, body: JSON) -> bool:
        run = self._runs.setdefault(event.connection, len(self._runs) + 1)
        before, self.turn = self.turn, {"kind": "turn", "turn": body.get("turn"), "run": run}
        offered = entries(body.get("tools"))
        conversation = exact([body.get("model"), body.get("messages")])
        figures = {"tools": exact(offered) if offered else "", "estimate": sum(map(tokens, offered))}
        self._asked[event.connection] = (conversation, figures)
        if offered or self.sent.steps:
            listed = told_apart([_tool(schema, self.origins, event.seq) for schema in offered])
            if not self.sent.steps or _entries(listed) != _entries(self.sent.present()):
                self.sent.put(self.turn, event.seq, listed, before)
        return True

    def _replied(self, event: Event, body: JSON) -> bool:
        """The same messages sent with and without `tools=`: the difference in usage is their cost."""
        asked = self._asked.pop(event.connection, None)
        used = mapping(body.get("usage")).get("prompt_tokens")
        if asked is None or not isinstance(used, int) or isinstance(used, bool):
            return False
        conversation, figures = asked
        seen = self._usage.setdefault(conversation, {})
        seen["with" if figures["tools"] else "without"] = figures | {"used": used}
        while len(self._usage) > CONVERSATIONS_KEPT:
            self._usage.popitem(last=False)
        if len(seen) < 2:
            return False
        self.measured = seen["with"] | {"tokens": seen["with"]["used"] - seen["without"]["used"]}
        return True


def _tool(schema: Any, origins: dict[str, JSON], seq: int) -> Tool:
    """An entry of `tools=`, with the server it comes from: by `origins`, else by its prefix."""
    entry = mapping(schema)
    inner = mapping(entry.get("function")) or entry
    name = text(inner.get("name")) or "(no name)"
    origin = origins.get(name)
    if origin is None:
        server, _, tool = name.rpartition("__")
        return Tool(("", name), name, server, tool, entry, seq)
    server, tool = text(origin.get("server")), text(origin.get("tool")) or name
    connection = origin.get("connection")
    number = connection if isinstance(connection, int) else 0
    return Tool(("", name), name, server, tool, entry, seq, number, tuple(name_findings(name, server, tool)))


def _entries(listed: list[Tool]) -> list[str]:
    return [exact(tool.entry) for tool in listed]
