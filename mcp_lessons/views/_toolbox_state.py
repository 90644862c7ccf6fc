"""What `ToolboxView` shows, out of a `ToolboxReading`, as JSON values: rows, sums, steps, warnings."""

from collections.abc import Iterable

from ._toolbox_reading import ToolboxReading
from ._toolbox_tokens import JSON, exact, pruned
from ._toolbox_track import Key, Step, Tool, Track, row
from ._toolbox_warnings import sentences, unusable

ROWS_SENT = 500
"""Rows of one list that a page or a table gets; the others are counted."""

REMOVED_SHOWN = 10
"""Rows of removed tools that each server gets."""

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
    """The first list of `ORDER` in which a server has tools. It stays the same when the toolbox is closed."""
    found = [name for name in ORDER if name in names]
    with_servers = [name for name in found if any(tracks(reading)[name].servers())]
    return next(iter(with_servers + found), "")


def _list(reading: ToolboxReading, name: str, track: Track) -> JSON:
    tools = list(track.tools.values())
    offered = {tool_of(tool): tool.entry for tool in _offered(reading).present()}
    shown = _worth_a_row(tools)
    rows = [_row(reading, name, tool, offered) for tool in shown[:ROWS_SENT]]
    present = track.present()
    return {
        "rows": rows,
        "rows_left": len(shown[ROWS_SENT:]),
        "tools": len(present),
        "tokens": sum(tool.cost for tool in present),
        "servers": _by_server(tools),
        "counts": _counts(tools, rows),
        "steps": [_step(step) for step in track.steps],
        "steps_dropped": track.steps_dropped,
        "warnings": sentences(reading, name),
        "closed": name == "toolbox" and reading.closed,
        "measured": _measured(reading, name, present),
        "turn": reading.turn if name == "sent" else None,
    }


def _worth_a_row(tools: list[Tool]) -> list[Tool]:
    """All tools that are there, and the first few of each server that are gone."""
    gone: dict[str, int] = {}
    shown = []
    for tool in tools:
        gone[tool.server] = gone.get(tool.server, 0) + tool.removed
        if not tool.removed or gone[tool.server] <= REMOVED_SHOWN:
            shown.append(tool)
    return shown


def _counts(tools: list[Tool], rows: list[JSON]) -> JSON:
    """How many tools are new, changed, removed, and how many rows have something to look at."""
    kinds = [tool.badge["kind"] for tool in tools if tool.badge]
    counts: JSON = {kind: kinds.count(kind) for kind in ("new", "changed", "removed")}
    return counts | {"warned": sum(1 for row in rows if row["findings"] and not row["removed"])}


def _row(reading: ToolboxReading, name: str, tool: Tool, offered: dict[Key, JSON]) -> JSON:
    """`offered` is what the model is offered, by server and the server's own name of the tool."""
    shown = row(tool)
    source = tool if name == "advertised" else _source(reading, tool)
    received = tool.entry if name != "advertised" else None if unusable(tool) else offered.get(tool_of(tool))
    if source and name != "advertised":
        # What the server said, before the toolbox prepared it, is what a reader is warned of too.
        shown["findings"] = _merged(shown["findings"], source.findings)
    shown["badges"] += _membership(reading, name, tool, received)
    shown["advertised_seq"] = source.seq if source else None
    entries = {"advertised": source and source.entry, "received": received, "before": tool.before}
    return pruned(shown) | {key: pruned(entry) for key, entry in entries.items()}


def tool_of(tool: Tool) -> Key:
    return (tool.server, tool.tool)


def _source(reading: ToolboxReading, tool: Tool) -> Tool | None:
    """The tool as its server advertised it; None for a Python function."""
    return reading.advertised.tools.get(tool_of(tool)) if tool.server else None


def _offered(reading: ToolboxReading) -> Track:
    """The list that a model gets: the toolbox's, or what was sent where there is no toolbox."""
    return reading.toolbox if reading.toolbox.steps else reading.sent


def _membership(reading: ToolboxReading, name: str, tool: Tool, received: JSON | None) -> list[JSON]:
    """Whether the tool is in this list and not in the next one."""
    if tool.removed:
        return []
    if name == "advertised" and received is None and tool.server in reading.mounted:
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


def _by_server(tools: list[Tool]) -> list[JSON]:
    servers: dict[str, JSON] = {}
    for tool in tools:
        empty = {"server": tool.server, "tools": 0, "tokens": 0, "removed": 0}
        group = servers.setdefault(tool.server, empty)
        group["removed" if tool.removed else "tools"] += 1
        group["tokens"] += 0 if tool.removed else tool.cost
    for group in servers.values():
        group["removed_left"] = max(group["removed"] - REMOVED_SHOWN, 0)
    return list(servers.values())


def _step(step: Step) -> JSON:
    by_server = [{"server": server, "tokens": cost} for server, cost in step.by_server.items()]
    figures = {"tools": step.tools, "tokens": sum(step.by_server.values()), "by_server": by_server}
    counts = {"added": len(step.added), "changed": len(step.changed), "removed": len(step.removed)}
    return {"cause": step.cause, "seq": step.seq} | figures | counts


def _merged(own: list[JSON], other: Iterable[JSON]) -> list[JSON]:
    kinds = {finding["kind"] for finding in own} | {"bare"}
    return own + [finding for finding in other if finding["kind"] not in kinds]
