"""What a server says about itself, its tools and their results, as values.

Lesson 2 builds `ServerInfo`, lesson 3 `Tool`, lesson 4 `ToolResult`. Each is read from a message of
the wire and takes whatever a server may have put there.
"""

from dataclasses import dataclass, field
from typing import Any

from .errors import ProtocolError, brief
from .jsonrpc import Message

MAX_PLACEHOLDER = 300


@dataclass(frozen=True)
class ServerInfo:
    """The server's half of the handshake.

    https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
    """

    name: str
    version: str
    protocol_version: str
    capabilities: dict[str, Any]
    instructions: str

    @classmethod
    def from_result(cls, result: Message) -> "ServerInfo":
        """From the result of `initialize`; what is missing or no object is taken as empty."""
        info, instructions = _object(result.get("serverInfo")), result.get("instructions")
        return cls(
            name=brief(info.get("name", "")),
            version=brief(info.get("version", "")),
            protocol_version=brief(result.get("protocolVersion", "")),
            capabilities=_object(result.get("capabilities")),
            instructions=instructions if isinstance(instructions, str) else "",
        )


@dataclass(frozen=True)
class Tool:
    """One entry of tools/list: a name, what it is for, and the JSON Schema of its arguments.

    `raw` is the entry as the server advertised it.
    https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_entry(cls, entry: Any) -> "Tool":
        """ProtocolError, with a sentence, for an entry that nobody could call."""
        if not isinstance(entry, dict):
            raise ProtocolError(f"a tool that is no object: {brief(entry, 80)!r}")
        name, schema = entry.get("name"), entry.get("inputSchema")
        if not isinstance(name, str) or not name:
            raise ProtocolError(f"a tool without a name: {brief(entry, 80)!r}")
        if not isinstance(schema, dict):
            raise ProtocolError(f"the tool {name[:80]!r} without an input schema")
        description = entry.get("description")
        return cls(name, description if isinstance(description, str) else "", schema, entry)


@dataclass(frozen=True)
class ToolResult:
    """What a tool gave back: blocks of `content`, perhaps `structured` content, or a failure.

    `is_error` says that the tool failed: that is for the model to read, and no exception.
    https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
    """

    content: list[Any]
    structured: Any = None
    is_error: bool = False

    @classmethod
    def from_result(cls, result: Message) -> "ToolResult":
        """From the result of `tools/call`."""
        content, structured = result.get("content"), result.get("structuredContent")
        if content is None and structured is None:  # some servers leave the envelope out
            known = ("content", "structuredContent", "isError", "_meta")
            structured = {key: value for key, value in result.items() if key not in known} or None
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if isinstance(content, dict):
            content = [content]
        return cls(
            content=content if isinstance(content, list) else [],
            structured=structured,
            is_error=result.get("isError") in (True, "true"),
        )

    @classmethod
    def from_text(cls, text: str, *, is_error: bool = False) -> "ToolResult":
        """A result that is one text: what a Python function gave, or why a call failed."""
        return cls([{"type": "text", "text": text}], is_error=is_error)

    @property
    def text(self) -> str:
        """What the model reads: every block in order. Never empty, and always encodable as UTF-8."""
        text = "\n".join(block_text(block) for block in self.content)
        if not text.strip() and self.structured is not None:
            text = brief(self.structured, None)
        if not text.strip():
            text = "(the tool failed and gave no reason)" if self.is_error else "(the tool gave no output)"
        return text.encode("utf-8", "replace").decode()


def block_text(block: Any) -> str:
    """One content block as text: its own words, or a short placeholder in brackets.

    >>> block_text({"type": "image", "mimeType": "image/png", "data": "AAAA"})
    '[image: image/png, 3 bytes]'
    """
    match block:
        case {"type": "text", "text": str(text)} | {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            words = f"{kind}: {brief(block.get('mimeType', 'of no type'))}, {_size(data)} bytes"
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data)}}:
            words = f"resource: {uri}, {_size(data)} bytes"
        case {"type": "resource_link", "uri": str(uri)}:
            words = f"link: {brief(block.get('name', ''))} {uri}"
        case {"type": str(kind)} if kind != "text":
            words = f"a block of type {kind!r}, left out"
        case _:
            words = f"not a content block: {brief(block, MAX_PLACEHOLDER)}"
    return f"[{words[:MAX_PLACEHOLDER]}]"


def _size(data: str) -> int:
    """How many bytes this base64 stands for."""
    return len(data.rstrip("=")) * 3 // 4


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
