"""The toolbox: the tools of many servers, and functions of your own, as one list for a model.

Lesson 5 builds this module, on top of the client. A tool is offered as `<server>__<tool>`, and a
table says where a call of that name goes.
"""

import copy
import threading
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from ._calls import Begun, failure, outcome, unknown_tool
from ._config import mount_arguments, servers_in
from ._functions import call_function, description_of, schema_of
from ._mounted import Entry, Mounted
from ._names import full_name, public_names
from ._schemas import utf8
from .client import Client
from .errors import McpError, McpWarning, at_most
from .results import ToolResult
from .stdio import StdioTransport
from .traffic import Traffic, redact_command


class Toolbox:
    """Servers mounted under a name each, and Python functions: `schemas()` for the model, `call()` for
    what it asks. Everything is recorded in `traffic`. Safe to use from several threads.

    A server that dies stays until it is mounted again or unmounted: calling its tools is a failed
    result that says how it ended.
    """

    def __init__(self, *, traffic: Traffic | None = None, era: str = "legacy") -> None:
        self.traffic = Traffic() if traffic is None else traffic
        self.era = era
        self._servers: dict[str, Mounted] = {}
        self._functions: dict[str, Entry] = {}
        self._table: dict[str, Entry] = {}
        self._lock = threading.RLock()

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
        """Start a server, connect, and offer its tools (`only` those named there) as `<name>__<tool>`.

        The same name with the same command again replaces the server. ValueError for a name in use
        by another command; McpError when the server cannot be started: then it is not mounted.
        """
        _check_mount(name, command, only)
        transport = StdioTransport(command, env=env, cwd=cwd)
        client = Client(transport, name=name, traffic=self.traffic, timeout=timeout, handlers=handlers)
        server = Mounted(client, transport.command, only)
        replaced: list[str] = []
        try:
            replaced = self._take_place(name, server)
            client.connect(era=self.era)
            notes = server.relist()
        except BaseException:
            self._leave_place(name, server, was_offered=bool(replaced))
            raise
        self._changed(f"{name} joins", replaced + notes, name)

    def unmount(self, name: str) -> None:
        """Close this server and offer its tools no longer."""
        if name not in self._servers:
            raise ValueError(f"no server {name!r} here; there are: {', '.join(self._servers) or 'none'}")
        self._leave_place(name, self._servers[name])

    def add(self, function: Callable[..., Any]) -> None:
        """Offer a Python function under its own name. Its parameters need types; the first paragraph
        of its docstring is what the model is told. TypeError says what is missing."""
        schema, name = schema_of(function), function.__name__
        told = {"description": utf8(description_of(function)), "parameters": schema}
        notes = [f"{name} was added already: this function replaces it"] if name in self._functions else []
        with self._lock:
            begin = partial(call_function, name, function, schema)
            self._functions[name] = Entry("", name, 0, told, begin)
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
        calls, begun = list(calls), deque[tuple[str, Begun]]()
        try:
            for name, arguments in calls:
                begun.append((name, self._begin(name, arguments, alone=len(calls) == 1)))
            while begun:
                name, call = begun.popleft()
                yield outcome(name, call.wait)
        finally:
            for _, call in begun:
                call.cancel()

    def close(self) -> None:
        """Close every server. They hang up side by side: one that does not want to go takes seconds."""
        servers = dict(self._servers)
        for server in servers.values():
            threading.Thread(target=server.client.close, daemon=True).start()
        with ExitStack() as stack:  # whatever happens, each leaves; the stack runs from its end
            for name, server in reversed(servers.items()):
                stack.callback(self._leave_place, name, server)

    def __enter__(self) -> "Toolbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @classmethod
    def from_config(
        cls, path: str | Path, *, traffic: Traffic | None = None, era: str = "legacy", timeout: float = 30.0
    ) -> "Toolbox":
        """Mount the servers of an `mcpServers` file, as the desktop clients have it, side by side. A
        server that does not start is warned of, and the others are mounted."""
        toolbox, servers, problems = cls(traffic=traffic, era=era), servers_in(path), {}

        def mount(name: str) -> None:
            try:
                toolbox.mount(name, **mount_arguments(servers[name]), timeout=timeout)
            except Exception as problem:
                problems[name] = [f"{name} is not mounted: {problem}"]

        with ExitStack() as stack:
            stack.callback(toolbox.close)
            threads = [threading.Thread(target=mount, args=(name,), daemon=True) for name in servers]
            for step in (threading.Thread.start, threading.Thread.join):
                for thread in threads:
                    step(thread)
            joined = toolbox._servers
            toolbox._servers = {name: joined[name] for name in servers if name in joined}
            if list(joined) != list(toolbox._servers):
                toolbox._changed("now in the file's order", ())
            for name in [name for name in servers if name in problems]:
                toolbox._changed(f"{name} is not mounted", problems[name], name)
            stack.pop_all()
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

    def _begin(self, name: str, arguments: Any, alone: bool) -> Begun:
        entry = self._table.get(name) if isinstance(name, str) else None
        try:
            if entry is None:
                raise unknown_tool(name, self._table)
            if not isinstance(arguments, dict | None):
                raise TypeError(f"the arguments must be an object, not {type(arguments).__name__}")
            return entry.begin(arguments or {}, alone)
        except Exception as problem:
            return Begun(partial(failure, name, problem))

    def _relist(self) -> None:
        """List the servers again that have said that their tools changed."""
        with self._lock:
            stale = {name: s for name, s in self._servers.items() if s.client.tools_stale and s.client.alive}
        for name, server in stale.items():
            before = [entry.told for entry in server.entries]
            try:
                notes = server.relist()
            except McpError as problem:
                notes = [f"{name}: its tools changed, listing them failed, the old list stays: {problem}"]
            if notes or [entry.told for entry in server.entries] != before:
                self._changed(f"{name}: list_changed", notes, name)

    def _take_place(self, name: str, server: Mounted) -> list[str]:
        """Put `server` under `name`; the one that it replaces is closed, and said to be."""
        with self._lock:
            old = self._servers.get(name)
            if old is not None and old.command != server.command:
                raise ValueError(
                    f"{name!r} is mounted with another command, {redact_command(old.command)}: "
                    f"take another name, or say toolbox.unmount({name!r}) first"
                )
            self._servers[name] = server
        if old is None:
            return []
        old.client.close()
        return [f"{name[:80]} was mounted already: the old server is closed, this is a new one"]

    def _leave_place(self, name: str, server: Mounted, was_offered: bool = True) -> None:
        with self._lock:
            is_there = self._servers.get(name) is server
            if is_there:
                del self._servers[name]
        try:
            server.client.close()
        finally:
            if was_offered and is_there:
                self._changed(f"{name} leaves", (), name)

    def _changed(self, cause: str, notes: Sequence[str], server: str = "") -> None:
        """Make the table anew, record it, and warn of what was left out."""
        with self._lock:
            entries = [entry for mounted in self._servers.values() for entry in mounted.entries]
            entries += self._functions.values()
            names = public_names((entry.server, entry.tool) for entry in entries)
            before, self._table = self._table, {names[e.server, e.tool]: e for e in entries}
            body = _event(cause, self._table)
            body["warnings"] = [*notes, *_renamed(names, before)]
            self.traffic.add("tools", body=body, server=server)
        for note in notes:
            warnings.warn(note, McpWarning, stacklevel=3)


def _schemas(table: Mapping[str, Entry]) -> list[dict[str, Any]]:
    """The table as the value of `tools=`; a copy, which the caller may change."""
    functions = [{"name": name, **copy.deepcopy(entry.told)} for name, entry in table.items()]
    return [{"type": "function", "function": function} for function in functions]


def _event(cause: str, table: Mapping[str, Entry]) -> dict[str, Any]:
    whose = ("server", "tool", "connection")
    origins = {name: {key: getattr(entry, key) for key in whose} for name, entry in table.items()}
    return {"cause": cause, "schemas": _schemas(table), "origins": origins}


def _renamed(names: Mapping[tuple[str, str], str], before: Mapping[str, Entry]) -> list[str]:
    fresh = {full_name(key): name for key, name in names.items() if name not in before}
    return at_most([f"{full[:200]!r} is offered as {name!r}" for full, name in fresh.items() if name != full])


def _check_mount(name: str, command: Any, only: Any) -> None:
    if not isinstance(name, str) or not name:
        raise ValueError("a server needs a name: its tools are offered as <name>__<tool>")
    if isinstance(command, str) and "://" in command:
        raise ValueError(f"{name}: so far only servers with a command can be mounted, not a URL")
    names = only if isinstance(only, Collection) and not isinstance(only, str) else [None]
    if only is not None and not all(isinstance(word, str) for word in names):
        raise TypeError(f'{name}: only= is a list of names, as in only=["forecast"]; this is {only!r:.100}')
