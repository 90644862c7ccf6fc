"""A server in the toolbox: what it offered last, as rows of the toolbox's table.

Shown in lesson 5.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ._calls import Begun, call_server
from ._schemas import repair, utf8
from .client import Client
from .errors import at_most
from .results import Tool

LONGEST_DESCRIPTION = 10_000
"""Characters of a description that a model is told; it pays for them in every request."""


@dataclass(frozen=True)
class Entry:
    """One row of the table: whose tool it is (server "" for your own), what the model is told of it,
    and `begin(arguments, alone)`, which sends a call on its way."""

    server: str
    tool: str
    connection: int
    told: dict[str, Any]
    begin: Callable[[dict[str, Any], bool], Begun]


@dataclass(eq=False)
class Mounted:
    """A server in the toolbox: its client, how it was mounted, what it offered last."""

    client: Client
    command: list[str]
    only: Sequence[str] | None
    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def relist(self) -> list[str]:
        """Ask the server for its tools; returns what there is to say that was not said before."""
        before, self.notes = self.notes, []
        tools = self.client.list_tools()
        missing = set(self.only or ()) - {tool.name for tool in tools}
        self.notes += [f"there is no tool {name!r}, which only= names" for name in sorted(missing)]
        self.entries = [self.entry(tool) for tool in tools if self.offers(tool)]
        fresh = [note for note in self.notes if note not in set(before)]
        return [f"{self.client.name[:80]}: {note}" for note in at_most(fresh)]

    def offers(self, tool: Tool) -> bool:
        """Whether the model is to have this tool. A tool that runs only as a task cannot just be called.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
        """
        if self.only is not None and tool.name not in self.only:
            return False
        execution = tool.raw.get("execution")
        if isinstance(execution, dict) and execution.get("taskSupport") == "required":
            self.notes.append(f"{tool.name[:80]!r} is left out: it runs as a task alone")
            return False
        return True

    def entry(self, tool: Tool) -> Entry:
        """The row for a tool: its schema as endpoints take it, and no closure over a loop's variable."""
        parameters, problems = repair(tool.input_schema)
        if len(tool.description) > LONGEST_DESCRIPTION:
            problems.append(f"its description is cut at {LONGEST_DESCRIPTION} characters")
        self.notes += [f"{tool.name[:80]!r}: {problem}" for problem in problems]
        told = {"description": utf8(tool.description[:LONGEST_DESCRIPTION]), "parameters": parameters}
        begin = partial(call_server, self.client, tool.name)
        return Entry(self.client.name, tool.name, self.client.connection or 0, told, begin)
