"""What is wrong with the handshake, and a server that is strict about ours.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

import time
from typing import Any

from ... import jsonrpc
from .healthy import INVALID_PARAMS, INVALID_REQUEST, Healthy, Message

MODERN = "2026-07-28"


class EarlyPing(Healthy):
    """Sends a ping before the reply to initialize, with the same id, and waits for the pong."""

    def answer(self, message: Message) -> Message | None:
        if message["method"] == "initialize":
            self.ask("ping", id=message["id"])
        return super().answer(message)


class EarlyNotifications(Healthy):
    """Sends log lines and list_changed before the reply to initialize."""

    def initialize(self, params: Message) -> Any:
        self.notify("notifications/message", {"level": "info", "data": "warming up"})
        self.notify("notifications/tools/list_changed")
        return super().initialize(params)


class SlowStart(Healthy):
    """Takes --seconds (2.5) before it reads anything."""

    def start(self) -> None:
        time.sleep(self.seconds)


class Mute(Healthy):
    """Reads everything and never answers."""

    def answer(self, message: Message) -> Message | None:
        return None


class VersionOld(Healthy):
    """Answers initialize with the older version 2024-11-05."""

    version: Any = "2024-11-05"

    def initialize(self, params: Message) -> Any:
        return super().initialize(params) | {"protocolVersion": self.version}


class VersionFuture(VersionOld):
    """Answers initialize with a version nobody knows (2031-01-01)."""

    version = "2031-01-01"


class VersionNumber(VersionOld):
    """Answers initialize with the number 2 for a version."""

    version = 2


class InitializeEmpty(Healthy):
    """Answers initialize with an empty object."""

    def initialize(self, params: Message) -> Any:
        return {}


class InitializeText(Healthy):
    """Answers initialize with a text instead of an object."""

    def initialize(self, params: Message) -> Any:
        return "hello"


class InitializeOddParts(Healthy):
    """Answers initialize with the version alone in order: the other parts are null, a list, a number."""

    def initialize(self, params: Message) -> Any:
        return super().initialize(params) | {"capabilities": None, "serverInfo": [], "instructions": 7}


class InitializeError(Healthy):
    """Answers initialize with a JSON-RPC error."""

    def answer(self, message: Message) -> Message | None:
        if message["method"] == "initialize":
            return jsonrpc.error(message["id"], INVALID_PARAMS, "the licence has expired")
        return super().answer(message)


class ModernOnly(Healthy):
    """Speaks only 2026-07-28, which has no handshake: initialize gets -32022 and the supported list."""

    def answer(self, message: Message) -> Message | None:
        params = message.get("params") or {}
        version = params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion")
        if message["method"] == "server/discover":
            capabilities = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}
            return jsonrpc.result(message["id"], {"resultType": "complete", **capabilities})
        if message["method"] in ("tools/list", "tools/call") and version == MODERN:
            return super().answer(message)
        wanted = params.get("protocolVersion", version)
        supported = {"supported": [MODERN], "requested": wanted}
        return jsonrpc.error(message["id"], -32022, f"unsupported protocol version {wanted!r}", supported)


class Strict(Healthy):
    """Enforces the rules on the client's side; a breach gets an error (or exit 3 for a notification)."""

    def __init__(self, seconds: float = 2.5) -> None:
        super().__init__(seconds)
        self.stage = "new"  # then "greeted" (initialize is answered), then "open"
        self.used: set[Any] = set()

    def receive(self, line: str) -> None:
        message = jsonrpc.decode(line)
        if jsonrpc.kind_of(message) == "notification":
            if message["method"] == "notifications/initialized" and self.stage == "greeted":
                self.stage = "open"
            elif self.stage != "open" or not isinstance(message.get("params", {}), dict):
                self.log(f"strict: {message['method']} is not in order now")
                raise SystemExit(3)
        super().receive(line)

    def answer(self, message: Message) -> Message | None:
        breach = self.breach(message, message.get("params", {}))
        self.used.add(message["id"])
        if breach:
            return jsonrpc.error(message["id"], INVALID_REQUEST, f"strict: {breach}")
        if message["method"] == "initialize":
            self.stage = "greeted"
        return super().answer(message)

    def breach(self, message: Message, params: Any) -> str | None:
        """The first rule that this request breaks."""
        method = message["method"]
        if isinstance(message["id"], float) or message["id"] in self.used:
            return f"the id {message['id']!r} is not fresh"
        if not isinstance(params, dict):
            return "params is no object"
        if not isinstance(params.get("arguments", {}), dict):
            return "arguments is no object"
        if method == "initialize":
            client = params.get("clientInfo")
            whole = isinstance(params.get("capabilities"), dict) and isinstance(client, dict)
            if not whole or not {"name", "version"} <= client.keys():
                return "initialize lacks capabilities or clientInfo"
            return None if self.stage == "new" else "initialize came twice"
        if method != "ping" and self.stage != "open":
            return f"{method} came before notifications/initialized"
        return None
