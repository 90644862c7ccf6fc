"""What the weather and the maps server share: tools with a schema, and the loop that answers for them.

A tool is described by a JSON schema, and the schema is executed: an argument that breaks it gets an
answer that says what is wrong, and the tool's own function never runs. This is the server's side of
https://modelcontextprotocol.io/specification/2025-11-25/server/tools; the client's side is what the
lessons build.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .. import jsonrpc

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]  # the newest first


class ToolError(Exception):
    """Raised by a tool that cannot do what it was asked; its text is what the model reads."""


class Tool(NamedTuple):
    """`run(**arguments)` returns the text, or a dict of structured content beside the text."""

    name: str
    description: str
    input_schema: dict[str, Any]
    run: Callable[..., str | tuple[str, dict[str, Any]]]
    output_schema: dict[str, Any] | None = None

    def advertised(self) -> dict[str, Any]:
        """The entry of this tool in the reply to tools/list."""
        entry = {"name": self.name, "description": self.description, "inputSchema": self.input_schema}
        return entry | ({"outputSchema": self.output_schema} if self.output_schema else {})


class Server:
    """Answers for `tools`, one JSON message a line on stdin and stdout, until stdin ends."""

    def __init__(self, name: str, tools: Iterable[Tool], instructions: str) -> None:
        self.name, self.tools, self.instructions = name, list(tools), instructions
        self.methods: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "initialize": self._initialize,
            "ping": lambda params: {},
            "tools/list": lambda params: {"tools": [tool.advertised() for tool in self.tools]},
            "tools/call": self._call_tool,
        }

    def run(self) -> None:
        """Answer line after line; returns when the client closes our stdin."""
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
        # A lone surrogate has no UTF-8; backslashreplace writes it as \udXXX, which is how JSON escapes it.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
        print(f"{self.name}: ready", file=sys.stderr, flush=True)
        for line in sys.stdin:
            reply = self.answer(jsonrpc.decode(line)) if line.strip() else None
            if reply is not None:
                self.send(reply)

    def send(self, message: dict[str, Any]) -> None:
        print(jsonrpc.encode(message), flush=True)

    def answer(self, message: Any) -> dict[str, Any] | None:
        """The reply to one message, or None for what nobody answers."""
        if message is None:
            return jsonrpc.error(None, PARSE_ERROR, "this line is not JSON")
        kind = jsonrpc.kind_of(message)
        if kind == "noise":
            return jsonrpc.error(None, INVALID_REQUEST, "this line is no JSON-RPC message")
        if kind != "request":
            return None
        method, params = message["method"], message.get("params", {})
        if method not in self.methods:
            return jsonrpc.error(message["id"], METHOD_NOT_FOUND, f"no method {method!r} here")
        if not isinstance(params, dict):
            return jsonrpc.error(message["id"], INVALID_PARAMS, "params must be an object")
        return jsonrpc.result(message["id"], self.methods[method](params))

    def add(self, tool: Tool) -> None:
        """Offer one more tool from now on, and tell the client that the list has changed."""
        if tool not in self.tools:
            self.tools.append(tool)
            self.send(jsonrpc.notification("notifications/tools/list_changed"))

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        wanted = params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": self.name, "version": "1.0.0"},
            "instructions": self.instructions,
        }

    def _call_tool(self, params: dict[str, Any]) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments") or {}
        tool = next((tool for tool in self.tools if tool.name == name), None)
        if tool is None:
            return failed(f"No tool {name!r} here. The tools: {', '.join(tool.name for tool in self.tools)}.")
        wrong = problems(arguments, tool.input_schema)
        if wrong:
            return failed(f"{name} did not run. " + " ".join(wrong))
        defaults = {k: v["default"] for k, v in tool.input_schema["properties"].items() if "default" in v}
        try:
            outcome = tool.run(**defaults | arguments)
        except ToolError as problem:
            return failed(str(problem))
        text, structured = outcome if isinstance(outcome, tuple) else (outcome, None)
        result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": False}
        return result | ({} if structured is None else {"structuredContent": structured})


def failed(text: str) -> dict[str, Any]:
    """A result that says that the tool failed. It is no protocol error: the model is to read it."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


def problems(arguments: Any, schema: dict[str, Any]) -> list[str]:
    """What `schema` has against `arguments`: one sentence each, none when all is well.

    >>> problems({"day": "Someday"}, {"properties": {"day": {"enum": ["Friday", "Saturday"]}}})
    ["day: 'Someday' is not one of Friday, Saturday."]
    """
    if not isinstance(arguments, dict):
        return ["The arguments must be an object."]
    properties = schema["properties"]
    missing = [name for name in schema.get("required", []) if name not in arguments]
    unknown = [name for name in arguments if name not in properties]
    return [
        *(f"{name}: required, and missing." for name in missing),
        *(f"{name}: no such argument; there are {', '.join(properties) or 'none'}." for name in unknown),
        *(
            f"{name}: {wrong}."
            for name, value in arguments.items()
            if name in properties and (wrong := _wrong(value, properties[name]))
        ),
    ]


def _wrong(value: Any, rule: dict[str, Any]) -> str | None:
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
    expected = rule.get("type")
    if expected in kinds and (
        not isinstance(value, kinds[expected]) or (isinstance(value, bool) and expected != "boolean")
    ):
        return f"{value!r} is not of type {expected}"
    if "enum" in rule and value not in rule["enum"]:
        return f"{value!r} is not one of {', '.join(map(str, rule['enum']))}"
    if "minimum" in rule and value < rule["minimum"]:
        return f"{value!r} is less than the minimum, {rule['minimum']}"
    if "maximum" in rule and value > rule["maximum"]:
        return f"{value!r} is more than the maximum, {rule['maximum']}"
    return None
