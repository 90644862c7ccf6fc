"""What servers advertise: replies to tools/list on the record, put together page by page.

https://modelcontextprotocol.io/specification/2025-11-25/server/tools#listing-tools
"""

from typing import Any

from ..traffic import Event
from ._toolbox_tokens import JSON, exact, mapping, text
from ._toolbox_track import Tool, Track

Connection = int


class Listings:
    """Feeds `track` with the tool lists that replies on the record bring."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.unread: set[str] = set()
        self.no_objects: dict[str, int] = {}
        self._asked: dict[tuple[Connection, str], bool] = {}
        self._waiting: set[Connection] = set()
        self._pages: dict[Connection, list[Tool]] = {}
        self._began: dict[Connection, int] = {}
        self._stale: set[Connection] = set()

    def read(self, event: Event) -> bool:
        """True when `event` changed what is advertised. A message is decoded only where it may matter."""
        if event.kind == "request" and event.direction == "sent" and "tools/list" in event.raw:
            body = mapping(event.body)
            if body.get("method") == "tools/list":
                first = mapping(body.get("params")).get("cursor") is None
                self._asked[event.connection, exact(body.get("id"))] = first
                self._waiting.add(event.connection)
        elif event.kind == "reply" and event.direction == "received" and event.connection in self._waiting:
            return self._reply(event, mapping(event.body))
        elif event.kind == "notification" and "list_changed" in event.raw:
            self._notified(event, mapping(event.body))
        return False

    def _notified(self, event: Event, body: JSON) -> None:
        if body.get("method") == "notifications/tools/list_changed":
            self._stale.add(event.connection)

    def _reply(self, event: Event, body: JSON) -> bool:
        first = self._asked.pop((event.connection, exact(body.get("id"))), None)
        if not any(connection == event.connection for connection, _ in self._asked):
            self._waiting.discard(event.connection)
        result = mapping(body.get("result"))
        if first is None or not isinstance(result.get("tools"), list):
            return False
        if first or event.connection not in self._pages:
            self._pages[event.connection], self._began[event.connection] = [], event.seq
            self.no_objects[event.server] = 0
        pages = self._pages[event.connection]
        self.no_objects[event.server] += sum(not isinstance(entry, dict) for entry in result["tools"])
        pages += [_tool(event, entry) for entry in result["tools"] if isinstance(entry, dict)]
        self.unread.discard(event.server)
        if result.get("nextCursor") is not None:
            self.unread.add(event.server)
        self._put(event, told_apart(pages))
        return True

    def _put(self, event: Event, listed: list[Tool]) -> None:
        track, server = self.track, event.server
        known = any(tool.server == server for tool in track.tools.values())
        if server in self.unread:
            listed = listed + self._not_listed_yet(server, listed)
        mark = (event.connection, self._began[event.connection])
        continued = bool(track.steps) and track.steps[-1].mark == mark
        changed = event.connection in self._stale
        if known and not changed and not continued and _same(listed, track.present(), server):
            return
        cause = {"kind": "changed" if changed else "again" if known else "lists", "server": server}
        if continued:
            cause = track.steps[-1].cause
        others = [tool for tool in track.present() if tool.server != server]
        track.put(cause, event.seq, _in_order(others + listed, track), mark=mark)
        if server not in self.unread:
            self._stale.discard(event.connection)

    def _not_listed_yet(self, server: str, listed: list[Tool]) -> list[Tool]:
        """The server's tools of before: while pages are missing, none of them counts as removed."""
        keys = {tool.key for tool in listed}
        return [tool for tool in self.track.present() if tool.server == server and tool.key not in keys]


def told_apart(listed: list[Tool]) -> list[Tool]:
    """A name that comes twice in one list keeps both its rows, and both say so."""
    counts: dict[tuple[str, str], int] = {}
    for tool in listed:
        counts[tool.key] = counts.get(tool.key, 0) + 1
    seen: dict[tuple[str, str], int] = {}
    return [_numbered(tool, seen) if counts[tool.key] > 1 else tool for tool in listed]


def is_repeat(tool: Tool) -> bool:
    """Whether the list holds this name further up."""
    return tool.key[1] != tool.tool and tool.key[1].startswith(f"{tool.tool}\0")


def _numbered(tool: Tool, seen: dict[tuple[str, str], int]) -> Tool:
    seen[tool.key] = number = seen.get(tool.key, 0) + 1
    key = tool.key if number == 1 else (tool.key[0], f"{tool.key[1]}\0{number}")
    return tool.noted({"kind": "repeated"}, key)


def _tool(event: Event, entry: JSON) -> Tool:
    name: Any = entry.get("name")
    said = text(name) or "(no name)"
    wrong = [] if isinstance(name, str) and name else [{"kind": "name"}]
    wrong += [] if isinstance(entry.get("inputSchema"), dict) else [{"kind": "no-schema"}]
    key = (event.server, said)
    return Tool(key, said, event.server, said, entry, event.seq, event.connection, tuple(wrong))


def _same(listed: list[Tool], present: list[Tool], server: str) -> bool:
    mine = [exact(tool.entry) for tool in present if tool.server == server]
    return mine == [exact(tool.entry) for tool in listed]


def _in_order(tools: list[Tool], track: Track) -> list[Tool]:
    """All servers' tools, each server where it first stood."""
    order = list(dict.fromkeys([tool.server for tool in [*track.tools.values(), *tools]]))
    return sorted(tools, key=lambda tool: order.index(tool.server))
