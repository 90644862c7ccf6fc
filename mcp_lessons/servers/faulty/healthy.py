"""The healthy server, in parts that a fault can replace one by one.

A message goes through `read` -> `receive` -> `answer` -> `call` -> `tool`, and its reply through
`reply` -> `send` -> `write`.
"""

import re
import sys
from itertools import count
from typing import Any

from ... import jsonrpc

Message = dict[str, Any]

INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32600, -32601, -32602, -32603

VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]


def entry(tool: str, **arguments: str) -> Message:
    """An entry of tools/list: entry("add", a="number", b="number")."""
    properties = {name: {"type": kind} for name, kind in arguments.items()}
    schema = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"name": tool, "description": DESCRIPTIONS.get(tool, "Does nothing."), "inputSchema": schema}


DESCRIPTIONS = {
    "echo": "Give back the text.",
    "add": "Add two numbers: a + b.",
    "sub": "Subtract two numbers: a - b.",
    "mul": "Multiply two numbers: a * b.",
}


def text(*texts: str, is_error: bool = False) -> Message:
    """The result of a call: one text block for each text."""
    return {"content": [{"type": "text", "text": text} for text in texts], "isError": is_error}


def fault_name(fault: type) -> str:
    """The name of a fault: fault_name(StdoutLog) -> "stdout_log"; the healthy server's is "none"."""
    if fault is Healthy:
        return "none"
    return re.sub(r"(?<!^)(?=[A-Z])", "_", fault.__name__).lower()


class Healthy:
    """Nothing is wrong: two tools, echo(text) and add(a, b)."""

    def __init__(self, seconds: float = 2.5) -> None:
        self.seconds = seconds  # how long the slow faults take
        self.calls = 0  # calls received so far, this one included
        self.tools = [entry("echo", text="string"), entry("add", a="number", b="number")]
        self.ids = count(1)

    # The loop

    def run(self) -> None:
        self.log(f"faulty {fault_name(type(self))}: ready")
        self.start()
        while (line := self.read()) is not None:
            self.receive(line)
        self.finish()

    def start(self) -> None:
        """Before the first line is read."""

    def finish(self) -> None:
        """After the end of stdin."""

    def read(self) -> str | None:
        """The next line, or None at the end of stdin."""
        line = sys.stdin.buffer.readline()
        return line.decode("utf-8", "replace") if line else None

    def receive(self, line: str) -> None:
        message = jsonrpc.decode(line)
        kind = jsonrpc.kind_of(message)
        if kind == "request":
            reply = self.answer(message)
            if reply is not None:
                self.reply(reply)
        elif kind == "noise" and line.strip():
            self.reply(jsonrpc.error(None, INVALID_REQUEST, "this line is no JSON-RPC message"))

    # What goes out

    def reply(self, message: Message) -> None:
        """Send the reply to a request of the client."""
        self.send(message)

    def send(self, message: Any) -> None:
        self.write(jsonrpc.encode(message))

    def write(self, line: str) -> None:
        self.write_bytes(line.encode("utf-8", "backslashreplace") + b"\n")

    def write_bytes(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def log(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def notify(self, method: str, params: Message | None = None) -> None:
        self.send(jsonrpc.notification(method, params))

    def ask(self, method: str, params: Message | None = None, id: int | str | None = None) -> Message:
        """Send a request to the client, and read on until its answer is there."""
        asked = jsonrpc.request(f"server-{next(self.ids)}" if id is None else id, method, params)
        self.send(asked)
        while (line := self.read()) is not None:
            message = jsonrpc.decode(line)
            if jsonrpc.kind_of(message) == "reply" and message.get("id") == asked["id"]:
                return message
            self.receive(line)
        raise SystemExit(0)

    # What is answered

    def answer(self, message: Message) -> Message | None:
        """The reply to a request; None: there is none, or it has been sent already."""
        id, params = message["id"], message.get("params")
        params = params if isinstance(params, dict) else {}
        match message["method"]:
            case "initialize":
                return jsonrpc.result(id, self.initialize(params))
            case "ping":
                return jsonrpc.result(id, {})
            case "tools/list":
                return self.list(id, params)
            case "tools/call":
                self.calls += 1
                return self.call(id, params)
        return jsonrpc.error(id, METHOD_NOT_FOUND, f"no method {message['method']!r} here")

    def initialize(self, params: Message) -> Any:
        wanted = params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": f"faulty-{fault_name(type(self))}", "version": "1.0.0"},
        }

    def list(self, id: int | str, params: Message) -> Message:
        if "cursor" in params:
            return jsonrpc.error(id, INVALID_PARAMS, f"no such cursor: {params['cursor']!r}")
        return jsonrpc.result(id, {"tools": self.tools})

    def call(self, id: int | str, params: Message) -> Message | None:
        name, arguments = params.get("name"), params.get("arguments")
        return jsonrpc.result(id, self.tool(name, arguments if isinstance(arguments, dict) else {}))

    def tool(self, name: Any, arguments: Message) -> Any:
        match name, arguments:
            case "echo", {"text": str(echoed)}:
                return text(echoed)
            case "add", {"a": int() | float() as a, "b": int() | float() as b}:
                return text(str(a + b))
            case (("echo" | "add"), _):
                return text(f"{name}: missing or wrong arguments", is_error=True)
        return text(f"no tool {name!r} here", is_error=True)
