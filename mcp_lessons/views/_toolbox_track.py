"""A tool list as it grows: what each event added, changed and took away.

The three lists of `ToolboxView` (advertised, would be sent, sent) are three of these.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from . import _toolbox_parameters as parameters
from ._toolbox_findings import tool_findings
from ._toolbox_tokens import JSON, exact, mapping, split, tokens

STEPS_KEPT, REMOVED_KEPT = 200, 5000

Key = tuple[str, str]


@dataclass(frozen=True)
class Tool:
    """One tool of a list: `entry` is exactly what the server advertised, or what the model gets."""

    key: Key
    name: str
    server: str
    tool: str
    entry: JSON
    seq: int
    connection: int = 0
    findings: tuple[JSON, ...] = ()
    badge: JSON | None = None
    before: JSON | None = None
    removed: bool = False
    cost: int = 0

    @property
    def inner(self) -> JSON:
        """The part that holds name and description: `function` of an entry of `tools=`, or the entry."""
        return mapping(self.entry.get("function")) or self.entry

    def noted(self, finding: JSON, key: Key) -> "Tool":
        """The same tool under another key, with one more finding."""
        return replace(self, key=key, findings=(*self.findings, finding))


@dataclass(frozen=True)
class Step:
    """What one event made of the list. `by_server` holds estimates in tokens; `cause` is
    {"kind": "lists" | "again" | "changed", "server": …}, {"kind": "said", "text": …} or
    {"kind": "turn", "turn": …, "run": …}."""

    cause: JSON
    seq: int
    tools: int
    by_server: dict[str, int]
    added: list[str]
    changed: list[str]
    removed: list[str]
    mark: Any = field(default=None, compare=False)


class Track:
    """One list and its history."""

    def __init__(self) -> None:
        self.tools: dict[Key, Tool] = {}
        self.steps: list[Step] = []
        self.steps_dropped = 0
        self.warnings: list[str] = []
        self._base: dict[Key, Tool] = {}
        self._pinned: dict[Key, str] = {}

    def copy(self) -> "Track":
        """The list and its history as they are now, to be shown later."""
        other = Track()
        other.tools, other.steps, other.warnings = dict(self.tools), list(self.steps), list(self.warnings)
        other.steps_dropped = self.steps_dropped
        return other

    def present(self) -> list[Tool]:
        """The tools that the list holds now, in its order."""
        return [tool for tool in self.tools.values() if not tool.removed]

    def servers(self) -> dict[str, None]:
        """The servers of the tools that are there, in their order."""
        return dict.fromkeys([tool.server for tool in self.present()])

    def put(
        self, cause: JSON, seq: int, listed: Iterable[Tool], since: JSON | None = None, mark: Any = None
    ) -> None:
        """The list is now `listed`, because of `cause` at event `seq`.

        A tool of a server that was there before gets a badge, "new since …". With a `mark` equal to
        that of the last step, the step is continued (the next page of one listing).
        """
        continued = mark is not None and bool(self.steps) and self.steps[-1].mark == mark
        if not continued:
            self._base = dict(self.tools)
        base, fresh = self._base, {}
        known = {tool.server for tool in base.values()}
        for tool in listed:
            fresh[tool.key] = self._compared(tool, base.get(tool.key), tool.server in known, since)
        removed = {
            key: tool
            if tool.removed
            else replace(tool, removed=True, before=None, badge=_badge("removed", since))
            for key, tool in base.items()
            if key not in fresh
        }
        self.tools = fresh | dict(list(removed.items())[-REMOVED_KEPT:])
        gone = [tool.name for key, tool in removed.items() if not base[key].removed]
        if continued:
            self.steps.pop()
        self._record(cause, seq, fresh, base, gone, mark)

    def _compared(self, tool: Tool, old: Tool | None, server_known: bool, since: JSON | None) -> Tool:
        if old is not None and exact(old.entry) == exact(tool.entry):
            badge = old.badge if not old.removed else None
            return replace(old, removed=False, badge=badge, seq=tool.seq, connection=tool.connection)
        tool = self._pin(
            replace(tool, cost=tokens(tool.entry), findings=(*tool.findings, *tool_findings(tool.entry)))
        )
        if old is not None:
            badge = _badge("changed", since) | {"fields": changes(old.inner, tool.inner)}
            return replace(tool, before=old.entry, badge=badge)
        return replace(tool, badge=_badge("new", since) if server_known else None)

    def _pin(self, tool: Tool) -> Tool:
        """Remember the first description of each tool, and warn when a later one differs from it."""
        described = exact(tool.inner.get("description"))
        if self._pinned.setdefault(tool.key, described) == described:
            return tool
        return tool.noted({"kind": "swapped"}, tool.key)

    def _record(self, cause: JSON, seq: int, fresh: dict, base: dict, gone: list[str], mark: Any) -> None:
        by_server: dict[str, int] = {}
        for tool in fresh.values():
            by_server[tool.server] = by_server.get(tool.server, 0) + tool.cost
        added = [tool.name for key, tool in fresh.items() if key not in base or base[key].removed]
        changed = [
            tool.name
            for key, tool in fresh.items()
            if key in base and not base[key].removed and exact(base[key].entry) != exact(tool.entry)
        ]
        self.steps.append(Step(cause, seq, len(fresh), by_server, added, changed, gone, mark))
        if len(self.steps) > STEPS_KEPT:
            del self.steps[0]
            self.steps_dropped += 1


def changes(old: JSON, new: JSON) -> list[str]:
    """The fields in which two entries of one tool differ: ["description", "parameters"]; none where
    only the order of keys, or what stands around them, differs."""
    keys = dict.fromkeys([*old, *new])
    return [str(key)[:40] for key in keys if exact(old.get(key)) != exact(new.get(key))][:4]


def row(tool: Tool) -> JSON:
    """What a view shows of a tool, as JSON values."""
    inner = tool.inner
    described = inner.get("description")
    return {
        "name": tool.name,
        "server": tool.server,
        "tool": tool.tool,
        "description": described if isinstance(described, str) else "",
        "tokens": tool.cost,
        "split": split(tool.entry),
        "parameters": parameters.rows(inner.get("parameters", inner.get("inputSchema"))),
        "findings": list(tool.findings),
        "badges": [tool.badge] if tool.badge else [],
        "removed": tool.removed,
        "seq": tool.seq,
    }


def _badge(kind: str, since: JSON | None) -> JSON:
    return {"kind": kind} | ({"since": since} if since else {})
