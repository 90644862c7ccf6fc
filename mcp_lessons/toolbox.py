"""The toolbox: the tools of many servers, and functions of your own, as one list for a model.

Lesson 5 builds this module, on top of the client. A tool is offered as `<server>__<tool>`, and a
table says where a call of that name goes.
"""

import copy
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ._calls import FailedCall, ServerCall, failure, unknown_tool
from ._config import mount_arguments, servers_in
from ._functions import FunctionCall, description_of, parameters_of
from ._names import full_name, public_names
from ._schemas import repair, utf8
from .client import Client
from .errors import McpError, McpWarning
from .results import Tool, ToolResult
from .stdio import StdioTransport
from .traffic import Traffic

LONGEST_DESCRIPTION = 10_000
"""Characters of a description that a model is told; it pays for them in every request."""


@dataclass(frozen=True)
class Entry:
    """One row of the table: whose tool it is (server "" for your own), what the model is told of it,
    and how a call begins."""

    server: str
    tool: str
    connection: int
    told: dict[str, Any]
    begin: Callable[[dict[str, Any]], ServerCall | FunctionCall]


@dataclass
class Mounted:
    """A server in the toolbox: its client, how it was mounted, what it offered last."""

    client: Client
    command: list[str]
    only: Sequence[str] | None
    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def list(self) -> list[str]:
        """List the server's tools; returns what there is to say that was not said before."""
        notes: list[str] = []
        self.entries = list(_entries(self.client, self.only, notes))
        new, self.notes = [note for note in notes if note not in self.notes], notes
        return new


class Toolbox:
    """Servers mounted under a name each, and Python functions: `schemas()` for the model, `call()` for
    what it asks. Everything is recorded in `traffic`; safe to use from several threads.

    A server that has died stays until it is mounted again or unmounted: a call of its tools is a
    failed result that says how it ended.
    """

    def __init__(self, *, traffic: Traffic | None = None, era: str = "legacy") -> None:
        self.traffic = Traffic() if traffic is None else traffic
        self.era = era
        self._servers: dict[str, Mounted] = {}
        self._functions: dict[str, Entry] = {}
        self._table: dict[str, Entry] = {}
        self._starting: set[str] = set()
        self._lock, self._relisting = threading.RLock(), threading.Lock()

    def mount(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        only: Sequence[str] | None = None,
        timeout: float = 30.0,
        handlers: dict[str, Callable[[dict], Any]] | None = None,
    ) -> None:
        """Start a server, connect, and offer its tools as `<name>__<tool>`; `only` those named there.

        The same name with the same command again replaces the server. ValueError for a name in use
        by another command; McpError when the server cannot be started, and then nothing has changed
        for the others.
        """
        command = _checked(name, command, only)
        old = self._reserve(name, command)
        client = None
        try:
            if old is not None:
                self.unmount(name)
            transport = StdioTransport(command, env=env, cwd=cwd)
            client = Client(transport, name=name, traffic=self.traffic, timeout=timeout, handlers=handlers)
            client.connect(era=self.era)
            mounted = Mounted(client, command, only)
            notes = mounted.list()
            with self._lock:
                self._servers[name] = mounted
        except BaseException:
            if client is not None:
                client.close()
            raise
        finally:
            self._starting.discard(name)
        if old is not None:
            notes.insert(0, f"{name} was mounted already: the old server is closed, this is a new one")
        self._changed(f"{name} joins", notes, name)

    def unmount(self, name: str) -> None:
        """Close this server and offer its tools no longer."""
        with self._lock:
            mounted = self._servers.pop(name, None)
        if mounted is None:
            raise ValueError(
                f"no server {name!r} is mounted; there are: {', '.join(self._servers) or 'none'}"
            )
        try:
            mounted.client.close()
        finally:
            self._changed(f"{name} leaves", server=name)

    def add(self, function: Callable[..., Any]) -> None:
        """Offer a Python function under its own name. Its parameters need types; the first paragraph
        of its docstring is what the model is told. TypeError says what is missing."""
        name, schema = getattr(function, "__name__", ""), parameters_of(function)
        told = {"description": utf8(description_of(function)), "parameters": schema}
        notes = [f"{name} was added already: this function replaces it"] if name in self._functions else []
        with self._lock:
            self._functions[name] = Entry("", name, 0, told, partial(FunctionCall, function, schema))
        self._changed(f"add {name}", notes)

    def schemas(self) -> list[dict[str, Any]]:
        """What goes into `tools=` of a chat completion; servers whose list has changed are asked anew."""
        self._relist()
        return _schemas(self._table)

    def call(self, name: str, arguments: dict[str, Any] | None = None) -> ToolResult:
        """Call the tool that `schemas()` offers as `name`. Whatever goes wrong is a result with
        `is_error` set, whose text says what."""
        return next(self.call_all([(name, arguments)]))

    def call_all(self, calls: Iterable[tuple[str, dict[str, Any] | None]]) -> Iterator[ToolResult]:
        """Several calls at once; yields their results in the order of the calls.

        Servers are sent theirs in that order, from this thread, and work side by side; functions run
        on threads, unless there is one call only. When the waiting ends early, the rest is cancelled.
        """
        self._relist()
        begun: list[tuple[str, Any]] = []
        try:
            begun.extend((name, self._begin(name, arguments)) for name, arguments in calls)
            for _, call in begun if len(begun) > 1 else ():
                call.go()
            for name, call in begun:
                yield _outcome(name, call)
        finally:
            for _, call in begun:
                call.cancel()

    def close(self) -> None:
        """Close every server, also when closing one of them fails."""
        with ExitStack() as stack:
            for name in list(self._servers):
                stack.callback(self.unmount, name)
            self._functions.clear()

    def __enter__(self) -> "Toolbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @classmethod
    def from_config(
        cls, path: str | Path, *, traffic: Traffic | None = None, era: str = "legacy", timeout: float = 30.0
    ) -> "Toolbox":
        """Mount the servers of an `mcpServers` file, as the desktop clients have it. A server that
        does not start is warned of, and the others are mounted."""
        toolbox = cls(traffic=traffic, era=era)
        try:
            for name, entry in servers_in(path).items():
                try:
                    toolbox.mount(name, **mount_arguments(entry), timeout=timeout)
                except (McpError, ValueError, TypeError, OSError) as problem:
                    toolbox._changed(f"{name} is not mounted", [f"{name} is not mounted: {problem}"], name)
        except BaseException:
            toolbox.close()
            raise
        return toolbox

    @property
    def tools(self) -> list[str]:
        """The names that the model is offered, as of the last listing."""
        return list(self._table)

    def __repr__(self) -> str:
        lines = [f"<Toolbox: {len(self._table)} tools>"]
        for server in [*self._servers, ""]:
            names = [name for name, entry in self._table.items() if entry.server == server]
            if server or names:
                lines.append(f"  {server or 'your functions'}: {', '.join(names) or 'no tools'}")
        return "\n".join(lines)

    def _begin(self, name: str, arguments: Any) -> Any:
        entry = self._table.get(name) if isinstance(name, str) else None
        try:
            if entry is None:
                raise unknown_tool(name, self._table)
            if not isinstance(arguments, dict | None):
                raise TypeError(f"the arguments must be an object, not {type(arguments).__name__}")
            return entry.begin(arguments or {})
        except Exception as problem:
            return FailedCall(problem)

    def _relist(self) -> None:
        """List the servers again that have said that their tools changed."""
        with self._lock:
            servers = list(self._servers.items())
        for name, mounted in servers:
            if not (mounted.client.tools_stale and mounted.client.alive):
                continue
            with self._relisting:
                try:
                    notes = mounted.list()
                except McpError as problem:
                    notes = [f"{name}: its tools changed, listing them failed, the old list stays: {problem}"]
            self._changed(f"{name}: list_changed", notes, name)

    def _reserve(self, name: str, command: list[str]) -> Mounted | None:
        """Keep `name` for a server that starts; returns the one that it replaces."""
        with self._lock:
            old = self._servers.get(name)
            if name in self._starting:
                raise ValueError(f"a server called {name!r} is being mounted right now")
            if old is not None and old.command != command:
                raise ValueError(
                    f"{name!r} is mounted with another command, {old.command}: "
                    f"take another name, or say toolbox.unmount({name!r}) first"
                )
            self._starting.add(name)
            return old

    def _changed(self, cause: str, notes: Sequence[str] = (), server: str = "") -> None:
        """Make the table anew, record it, and warn of what was left out."""
        with self._lock:
            entries = [entry for server in self._servers.values() for entry in server.entries]
            entries += self._functions.values()
            names = public_names((entry.server, entry.tool) for entry in entries)
            before, self._table = self._table, {names[entry.server, entry.tool]: entry for entry in entries}
            renamed = [
                f"{full_name(key)[:200]!r} is offered as {name!r}"
                for key, name in names.items()
                if name != full_name(key) and name not in before
            ]
            origins = {
                name: {"server": entry.server, "tool": entry.tool, "connection": entry.connection}
                for name, entry in self._table.items()
            }
            body = {"cause": cause, "schemas": _schemas(self._table), "origins": origins}
            self.traffic.add("tools", raw=cause, body=body | {"warnings": [*notes, *renamed]}, server=server)
        for note in notes:
            warnings.warn(note, McpWarning, stacklevel=3)


def _schemas(table: Mapping[str, Entry]) -> list[dict[str, Any]]:
    """The table as the value of `tools=`; a copy, which the caller may change."""
    functions = [{"name": name, **copy.deepcopy(entry.told)} for name, entry in table.items()]
    return [{"type": "function", "function": function} for function in functions]


def _entries(client: Client, only: Sequence[str] | None, notes: list[str]) -> Iterator[Entry]:
    """A row for each tool that the server lists and a model can use; `notes` says what is left out."""
    tools = client.list_tools()
    known = {tool.name for tool in tools}
    for name in only or ():
        if name not in known:
            notes.append(
                f"{client.name} has no tool {name!r} for only=; it has: {', '.join(sorted(known))[:1000]}"
            )
    for tool in tools:
        if only is not None and tool.name not in only:
            continue
        if _needs_task(tool):
            notes.append(f"{client.name}: {tool.name[:80]!r} is left out: it can only be run as a task")
            continue
        parameters, problems = repair(tool.input_schema)
        if len(tool.description) > LONGEST_DESCRIPTION:
            problems.append(
                f"its description of {len(tool.description)} characters is cut at {LONGEST_DESCRIPTION}"
            )
        notes.extend(f"{client.name}: {tool.name[:80]!r}: {problem}" for problem in problems)
        told = {"description": utf8(tool.description[:LONGEST_DESCRIPTION]), "parameters": parameters}
        yield Entry(
            client.name, tool.name, client.connection or 0, told, partial(ServerCall, client, tool.name)
        )


def _needs_task(tool: Tool) -> bool:
    """https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks"""
    execution = tool.raw.get("execution")
    return isinstance(execution, dict) and execution.get("taskSupport") == "required"


def _outcome(name: str, call: Any) -> ToolResult:
    try:
        return call.wait()
    except (Exception, SystemExit) as problem:
        return failure(str(name)[:100], problem)


def _checked(name: str, command: Sequence[str], only: Sequence[str] | None) -> list[str]:
    """The command as words. ValueError or TypeError for what is no server's name or command."""
    if not isinstance(name, str) or not name:
        raise ValueError("a server needs a name: its tools are offered as <name>__<tool>")
    if isinstance(command, str) and "://" in command:
        raise ValueError(f"{name}: so far only servers with a command can be mounted, not a URL: {command}")
    if isinstance(only, str):
        raise TypeError(f"{name}: only= is a list of names, as in only=[{only!r}]")
    return StdioTransport(command).command
