"""What `ToolboxView` shows, out of a `ToolboxReading`, as JSON values: rows, sums, steps, warnings."""

from collections.abc import Iterable

from ._toolbox_reading import ToolboxReading
from ._toolbox_tokens import JSON, exact, pruned
from ._toolbox_track import Step, Tool, Track, row

ORDER = ("toolbox", "sent", "advertised")
"""Which list is shown first, when the record holds several."""


def tracks(reading: ToolboxReading) -> dict[str, Track]:
    """The lists that the record holds anything of: a lone client has only "advertised"."""
    found = {"advertised": reading.advertised, "toolbox": reading.toolbox, "sent": reading.sent}
    return {name: track for name, track in found.items() if track.steps}


def state(reading: ToolboxReading) -> JSON:
    """{"first": the list to show first or "", "lists": {name: …}}; the figures are estimates."""
    lists = {name: _list(reading, name, track) for name, track in tracks(reading).items()}
    return {"first": _first(reading, list(lists)), "lists": lists}


def _first(reading: ToolboxReading, names: list[str]) -> str:
    """The first list of `ORDER` in which a server has tools: after a toolbox is closed, what was sent."""
    found = [name for name in ORDER if name in names]
    with_servers = [name for name in found if any(tracks(reading)[name].servers())]
    return next(iter(with_servers + found), "")


def _list(reading: ToolboxReading, name: str, track: Track) -> JSON:
    rows = [_row(reading, name, tool) for tool in track.tools.values()]
    present = track.present()
    warnings = [] if name == "advertised" else track.warnings
    return {
        "rows": rows,
        "tools": len(present),
        "tokens": sum(tool.cost for tool in present),
        "servers": _by_server(rows),
        "steps": [_step(step) for step in track.steps],
        "steps_dropped": track.steps_dropped,
        "warnings": [pruned(warning, characters=500) for warning in warnings[:50]],
        "measured": _measured(reading, name, present),
        "unread": sorted(reading.listings.unread) if name == "advertised" else [],
        "turn": reading.turn if name == "sent" else None,
    }


def _row(reading: ToolboxReading, name: str, tool: Tool) -> JSON:
    shown = row(tool)
    source = tool if name == "advertised" else _source(reading, tool)
    received = _received(reading, tool) if name == "advertised" else tool.entry
    if source and name != "advertised":
        # What the server said, before the toolbox prepared it, is what a reader is warned of too.
        shown["findings"] = _merged(shown["findings"], source.findings)
    shown["badges"] += _membership(reading, name, tool, received)
    entries = {"advertised": source and source.entry, "received": received, "before": tool.before}
    return pruned(shown) | {key: pruned(entry) for key, entry in entries.items()}


def _source(reading: ToolboxReading, tool: Tool) -> Tool | None:
    """The tool as its server advertised it; None for a Python function."""
    return reading.advertised.tools.get((tool.server, tool.tool)) if tool.server else None


def _received(reading: ToolboxReading, tool: Tool) -> JSON | None:
    """The tool as the model receives it, for one that a server advertised; None if it does not."""
    track = reading.toolbox if reading.toolbox.steps else reading.sent
    for other in track.present():
        if (other.server, other.tool) == (tool.server, tool.tool):
            return other.entry
    return None


def _membership(reading: ToolboxReading, name: str, tool: Tool, received: JSON | None) -> list[JSON]:
    """Whether the tool is in this list and not in the next one."""
    if tool.removed:
        return []
    if name == "advertised" and received is None and tool.server in reading.toolbox.servers():
        return [{"kind": "left-out"}]
    sent = reading.sent.tools.get(tool.key)
    if name == "toolbox" and reading.sent.steps and not tool.badge and (sent is None or sent.removed):
        return [{"kind": "unsent"}]
    return []


def _measured(reading: ToolboxReading, name: str, present: list[Tool]) -> JSON | None:
    """The measured cost of exactly this list, where the record holds a measurement of it."""
    figures = reading.measured
    if not figures or name == "advertised" or figures["tools"] != exact([tool.entry for tool in present]):
        return None
    return {"tokens": figures["tokens"], "estimate": figures["estimate"]}


def _by_server(rows: list[JSON]) -> list[JSON]:
    servers: dict[str, JSON] = {}
    for item in rows:
        empty = {"server": item["server"], "tools": 0, "tokens": 0, "removed": 0}
        group = servers.setdefault(item["server"], empty)
        group["removed" if item["removed"] else "tools"] += 1
        group["tokens"] += 0 if item["removed"] else item["tokens"]
    return list(servers.values())


def _step(step: Step) -> JSON:
    by_server = [{"server": server, "tokens": cost} for server, cost in step.by_server.items()]
    figures = {"tools": step.tools, "tokens": sum(step.by_server.values()), "by_server": by_server}
    names = {"added": step.added, "changed": step.changed, "removed": step.removed}
    return {"cause": step.cause, "seq": step.seq} | figures | pruned(names, items=50, characters=200)


def _merged(own: list[JSON], other: Iterable[JSON]) -> list[JSON]:
    kinds = {finding["kind"] for finding in own} | {"bare"}
    return own + [finding for finding in other if finding["kind"] not in kinds]
