"""The client: one connection to one server, from the handshake to hanging up.

Lesson 2 builds the requests and the handshake, lesson 3 the tool list, lesson 4 the calls. Below it
stands a transport, which moves lines; above it the toolbox, which holds several clients.
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

import itertools
import json
import threading
import time
import warnings
import weakref
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from . import _checks, errors, jsonrpc
from ._handlers import Handler, Inbox, Worker, capabilities_of, params_of
from ._pending import PROGRESS_LIMIT, Pending, Waiting
from ._threads import sheltered
from .eras import LEGACY_VERSIONS, LegacyEra, agree_on_version, refused_handshake
from .errors import METHOD_NOT_FOUND, McpError, ProtocolError, RequestTimeout, RpcError, TransportError
from .jsonrpc import Message
from .results import ServerInfo, Tool, ToolResult
from .traffic import Event, Recorder, Traffic

CLIENT_INFO = {"name": "mcp-lessons", "version": "0.1.0"}
MAX_PAGES = 1_000
CANCEL_SECONDS = 0.5
"""How long telling a server that a call is cancelled may take, when it has stopped reading."""


class Client:
    """One connection to one server. Every method blocks, and may be called from any thread.

    `timeout` is how long a request waits for its reply, in seconds. `handlers` answer what the
    server asks (`{"roots/list": lambda params: {"roots": []}}`) and hear its notifications; what is
    not in it is refused or ignored. Everything that crosses the wire goes into `traffic`.
    `list_problems` says, a sentence each, what the last `list_tools` left out.
    """

    def __init__(
        self,
        transport: Any,
        name: str = "server",
        traffic: Traffic | None = None,
        timeout: float = 30.0,
        handlers: Mapping[str, Handler] | None = None,
    ) -> None:
        self.transport, self.name, self.timeout = transport, name, _checks.check_seconds(timeout)
        self.traffic = Traffic(limit=0) if traffic is None else traffic
        _checks.check_parts(transport, self.traffic)
        self.era = LegacyEra()
        self.server: ServerInfo | None = None
        self.connection: int | None = None
        self.tools_stale = False
        self.list_problems: list[str] = []
        self._tools: dict[str, Tool] = {}
        self._noise: deque[str] = deque(maxlen=3)
        self._ids, self._tokens = itertools.count(1), itertools.count(1)
        self._pending, self._starting = Pending(), threading.RLock()
        self._inbox = Inbox(handlers)
        self._finalizer = weakref.finalize(self, _hang_up, transport, self._inbox.workers)
        self._finalizer.atexit = False  # when the kernel ends, the guard sees to the servers

    # The connection, and what arrives on it

    def start(self) -> None:
        """Start the transport; does nothing when it is started already, and raises when it cannot be."""
        if self.connection is None:
            self._start()

    @sheltered
    def _start(self) -> None:
        with self._starting:
            if self.connection is None:
                self._pending.check()
                record = self._record = self.traffic.recorder(self.name)
                self.transport.start(_weakly(self, record))
                self.connection = record.connection
                if self._pending.ended.is_set():  # closed meanwhile, from another thread
                    self.transport.close()

    def _on_event(self, source: str, raw: str, body: Any = None) -> None:
        if source == "received":
            message = jsonrpc.decode(raw) if body is None else body
            self._received(self._record(source, raw, message), message)
        else:
            self._record(source, raw, body)
            if source == "process":
                self._server_changed(body)

    def _received(self, event: Event, message: Any) -> None:
        if event.kind == "reply":
            self._pending.resolve(message)
        elif event.kind == "request":
            self._inbox.answer(message, self._send)
        elif event.kind == "notification":
            self._take_notice(message["method"], message)
        else:
            self._noise.append(event.raw[:200])
            for part in message if isinstance(message, list) else []:  # a batch: gone since 2025-06-18
                if isinstance(part, dict):
                    self._on_event("received", json.dumps(part), part)

    def _take_notice(self, method: str, message: Message) -> None:
        if method == "notifications/tools/list_changed":
            self.tools_stale = True
        elif method == "notifications/progress":
            self._pending.progress(params_of(message).get("progressToken"))
        elif method == "notifications/cancelled":
            self._inbox.cancel(params_of(message).get("requestId"))
        self._inbox.tell(message, self._record)

    def _server_changed(self, change: dict[str, Any]) -> None:
        if change["event"] == "exited":
            noise = () if self.server else tuple(self._noise)  # a usage line, when it was started wrongly
            why = (self.name, change["status"], change["stderr"], noise)
            self._pending.end(partial(errors.ServerExited, *why))
        elif change["event"] == "stdout closed":
            why = f"{self.name!r} closed its stdout and runs on, unheard"
            self._pending.end(partial(TransportError, why))

    # Requests

    def request(self, method: str, params: Message | None = None, timeout: float | None = None) -> Message:
        """Send a request, wait for its reply, return its result.

        Raises RpcError when the server answers with an error, RequestTimeout when it does not answer
        in time (it is then told that we have stopped waiting), ServerExited when it is gone.
        """
        return self.finish(self.begin(method, params, timeout))

    def begin(self, method: str, params: Message | None = None, timeout: float | None = None) -> Waiting:
        """Send a request without waiting: the first half of `request`."""
        self.start()
        message = self.era.outgoing(jsonrpc.request(next(self._ids), method, params))
        waiting = self._pending.add(message, self.timeout if timeout is None else timeout)
        try:
            self._send(message, waiting.timeout)
        except (TypeError, ValueError, TransportError):  # it was not sent: nothing is to be cancelled
            self._pending.forget(waiting)
            raise
        except BaseException:
            self.cancel(waiting)
            raise
        return waiting

    def finish(self, waiting: Waiting) -> Message:
        """Wait for the reply to what `begin` sent: the second half of `request`."""
        try:
            reply = self.era.incoming(waiting.message, waiting.reply())
        except RequestTimeout as problem:
            self.cancel(waiting)
            raise RequestTimeout(f"{self.name}: {problem}{self._overheard()}") from None
        except BaseException:  # Ctrl-C ends this call alone
            self.cancel(waiting)
            raise
        if reply.get("error") is not None or "result" not in reply:
            raise RpcError.from_object(reply.get("error"))
        if not isinstance(reply["result"], dict):
            raise ProtocolError(f"{self.name}: the result of {waiting.method} is no object")
        return reply["result"]

    def notify(self, method: str, params: Message | None = None) -> None:
        """Send a notification: nobody answers it."""
        self.start()
        self._send(self.era.outgoing(jsonrpc.notification(method, params)))

    def cancel(self, waiting: Waiting) -> None:
        """Stop waiting: tell the server so, and drop its reply if one still comes.

        https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
        """
        self._pending.forget(waiting)
        if waiting.method != "initialize" and self.alive:
            params = {"requestId": waiting.message["id"], "reason": "the client has stopped waiting"}
            with suppress(McpError):
                self._send(jsonrpc.notification("notifications/cancelled", params), CANCEL_SECONDS)

    def _send(self, message: Message, timeout: float | None = None) -> None:
        timeout = self.timeout if timeout is None else timeout
        _checks.check_message(message)
        if self.traffic.is_telling():  # whoever sends waits for the record, which we hold, and we for him
            raise TransportError("a subscriber of the record must not send: give the client handlers={…}")
        try:
            self.transport.send(message, timeout)
        except TimeoutError as problem:
            raise RequestTimeout(f"{self.name}: {problem}") from problem
        except TransportError as problem:  # the process is going: its exit status says more
            raise (self._pending.why_ended(patience=min(timeout, 1.0)) or problem) from None

    # The handshake

    def connect(self, era: str = "legacy") -> ServerInfo:
        """Agree with the server on an era and a version. So far "legacy", the handshake, is built.

        A server has a minute to start, or the client's timeout when that is longer: some are downloaded.
        """
        if era != "legacy":
            raise ValueError(f'era={era!r} is not built yet: this client speaks era="legacy"')
        return self.initialize(max(60.0, self.timeout))

    def initialize(self, timeout: float = 60.0) -> ServerInfo:
        """The handshake: who we are, which version, which capabilities. Hangs up if it fails.

        ProtocolError when no version suits both sides.
        """
        offer = {
            "protocolVersion": LEGACY_VERSIONS[0],
            "capabilities": capabilities_of(self._inbox.handlers),
            "clientInfo": CLIENT_INFO,
        }
        try:
            self.server = ServerInfo.from_result(self.request("initialize", offer, timeout))
            agree_on_version(self.name, self.server.protocol_version)
            self.notify("notifications/initialized")
        except RpcError as problem:
            self.close()
            raise refused_handshake(self.name, problem) from None
        except BaseException:
            self.close()
            raise
        return self.server

    # Tools

    def list_tools(self, timeout: float | None = None) -> list[Tool]:
        """Every tool of every page, no name twice; what nobody could call is left out, with a warning.

        Each page has the timeout, and all of them together ten times as long.
        https://modelcontextprotocol.io/specification/2025-11-25/server/tools#listing-tools
        """
        self.tools_stale = False
        tools: dict[str, Tool] = {}
        problems: list[str] = []
        for entry in self._pages("tools/list", "tools", problems, timeout):
            try:
                tool = Tool.from_entry(entry)
            except ProtocolError as problem:
                problems.append(str(problem))
                continue
            if tool.name in tools:
                problems.append(f"the tool {tool.name[:80]!r} a second time")
            tools.setdefault(tool.name, tool)
        self._tools, self.list_problems = tools, list(dict.fromkeys(problems))  # each said once
        if problems:
            self._warn("tools/list: left out", *self.list_problems)
        return list(tools.values())

    def _pages(self, method: str, key: str, problems: list[str], timeout: float | None) -> Iterator[Any]:
        cursor, seen = None, []
        ends = time.monotonic() + PROGRESS_LIMIT * (self.timeout if timeout is None else timeout)
        while True:
            page = self._page(method, {} if cursor is None else {"cursor": cursor}, timeout)
            entries = page.get(key)
            if isinstance(entries, list):
                yield from entries
            else:
                problems.append(f"a page without {key}")
            seen.append(cursor)
            cursor = page.get("nextCursor")
            if cursor is None:
                return
            if cursor in seen:
                problems.append(f"the rest of the pages: the cursor {str(cursor)[:40]!r} came twice")
                return
            if len(seen) == MAX_PAGES or time.monotonic() > ends:
                problems.append(f"the pages after the first {len(seen)}")
                return

    def _page(self, method: str, params: Message, timeout: float | None) -> Message:
        primitive = method.split("/")[0]
        try:
            return self.request(method, params, timeout)
        except RpcError as problem:
            offered = self.server is None or primitive in self.server.capabilities
            if "cursor" not in params and (problem.code == METHOD_NOT_FOUND or not offered):
                return {primitive: []}
            raise

    def call_tool(
        self, name: str, arguments: Message | None = None, timeout: float | None = None
    ) -> ToolResult:
        """Call a tool and wait for its result. A tool that fails is a result with `is_error` set.

        Each notifications/progress starts the timeout anew, up to ten times the timeout in all.
        https://modelcontextprotocol.io/specification/2025-11-25/server/tools#calling-tools
        """
        return self.finish_call(self.begin_call(name, arguments, timeout))

    def begin_call(
        self, name: str, arguments: Message | None = None, timeout: float | None = None
    ) -> Waiting:
        """Send the call without waiting, so that several calls can be under way at once."""
        params = {"name": name, "arguments": arguments or {}, "_meta": {"progressToken": next(self._tokens)}}
        return self.begin("tools/call", params, timeout)

    def finish_call(self, waiting: Waiting) -> ToolResult:
        """Wait for the result of what `begin_call` sent."""
        result = ToolResult.from_result(self.finish(waiting))
        self._check_output(waiting.message["params"]["name"], result)
        return result

    # The end

    @property
    def alive(self) -> bool:
        """True from the start until the server is gone or this client is closed."""
        return self.connection is not None and not self._pending.ended.is_set()

    def close(self) -> None:
        """Hang up, from any thread and as often as you like. Calls that wait get a TransportError."""
        self._pending.end(partial(TransportError, f"the client of {self.name!r} is closed"))
        self._finalizer.detach()
        self._inbox.close()
        with self._starting:  # a start that is under way ends first
            pass
        self.transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "new" if self.connection is None else "open" if self.alive else "closed"
        return f"<Client {self.name!r}, {state}>"

    # Small helpers

    def _check_output(self, name: str, result: ToolResult) -> None:
        tool = self._tools.get(name)
        if tool is not None and not result.is_error:
            problem = _checks.output_problem(tool.raw.get("outputSchema"), result.structured)
            if problem:
                self._warn(f"the tool {name[:80]!r}:", problem)

    def _overheard(self) -> str:
        """What may say why no reply came: on stdout always, on stderr while the server is starting."""
        said = [*self._noise, *(() if self.server else getattr(self.transport, "stderr", ()))]
        return f"; it printed, beside messages: {[line[:200] for line in said[-5:]]}" if said else ""

    def _warn(self, about: str, *problems: str) -> None:
        text = f"{self.name}: {about} {'; '.join(errors.at_most(list(problems)))}"
        warnings.warn(text, errors.McpWarning, stacklevel=3)


def _weakly(client: Client, otherwise: Recorder) -> Callable[..., None]:
    """`client._on_event`, without keeping the client alive: one that nobody refers to shall hang up."""
    reference = weakref.ref(client)

    def on_event(source: str, raw: str, body: Any = None) -> None:
        client = reference()
        (otherwise if client is None else client._on_event)(source, raw, body)

    return on_event


def _hang_up(transport: Any, workers: tuple[Worker, ...]) -> None:
    """Called by the garbage collector, in the middle of anything: so it takes no lock, not even those
    that `threading.Thread` takes."""

    with suppress(RuntimeError):  # too late for a thread: the interpreter is going, the guard takes over
        start_new_thread(_close_all, (*workers, transport))


def _close_all(*things: Any) -> None:
    for thing in things:
        thing.close()
