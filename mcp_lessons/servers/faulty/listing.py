"""What is wrong with the list of tools.

https://modelcontextprotocol.io/specification/2025-11-25/server/tools#listing-tools
"""

from typing import Any

from ... import jsonrpc
from .healthy import INVALID_PARAMS, METHOD_NOT_FOUND, Healthy, Message, entry, text


class NoTools(Healthy):
    """Declares no tools capability and rejects tools/list with -32601."""

    def initialize(self, params: Message) -> Any:
        return super().initialize(params) | {"capabilities": {}}

    def list(self, id: int | str, params: Message) -> Message:
        return jsonrpc.error(id, METHOD_NOT_FOUND, "no method 'tools/list' here")


class _Pages(Healthy):
    """Two honest pages: echo, then add."""

    def pages(self) -> list[list[Message]]:
        return [[tool] for tool in self.tools]

    def list(self, id: int | str, params: Message) -> Message:
        pages = self.pages()
        cursors = [None, *(f"page {number}" for number in range(2, len(pages) + 1))]
        if params.get("cursor") not in cursors:
            return super().list(id, params)
        here = cursors.index(params.get("cursor"))
        more = {"nextCursor": cursors[here + 1]} if here + 1 < len(pages) else {}
        return jsonrpc.result(id, {"tools": pages[here]} | more)


class Paged(_Pages):
    """Three honest pages: echo, add, sub."""

    def __init__(self, seconds: float = 2.5) -> None:
        super().__init__(seconds)
        self.tools.append(entry("sub", a="number", b="number"))

    def tool(self, name: Any, arguments: Message) -> Any:
        match name, arguments:
            case "sub", {"a": int() | float() as a, "b": int() | float() as b}:
                return text(str(a - b))
        return super().tool(name, arguments)


class PagedEmptyMiddle(_Pages):
    """The second of three pages is empty, and has a nextCursor."""

    def pages(self) -> list[list[Message]]:
        return [self.tools[:1], [], self.tools[1:]]


class CursorLoop(Healthy):
    """Every page is the same page with the same nextCursor."""

    cursor: Any = "again"

    def list(self, id: int | str, params: Message) -> Message:
        return jsonrpc.result(id, {"tools": self.tools, "nextCursor": self.cursor})


class CursorEmpty(CursorLoop):
    """The only page has nextCursor "" (and so has every further page)."""

    cursor = ""


class CursorNull(CursorLoop):
    """The only page has nextCursor null (and so has every further page)."""

    cursor = None


class CursorNumber(CursorLoop):
    """The pages have the number 1 for a nextCursor, and go on for ever."""

    cursor = 1


class EndlessPages(Healthy):
    """Every page has a new tool and a new nextCursor, for ever."""

    def list(self, id: int | str, params: Message) -> Message:
        page = next(self.ids)
        tools = [*self.tools, entry(f"tool_{page}")]
        return jsonrpc.result(id, {"tools": tools, "nextCursor": f"page {page + 1}"})


class PageTwoFails(_Pages):
    """The second page gets a JSON-RPC error."""

    def list(self, id: int | str, params: Message) -> Message:
        if "cursor" in params:
            return jsonrpc.error(id, INVALID_PARAMS, "the cursor has expired")
        return super().list(id, params)


class ListWithoutTools(Healthy):
    """Answers tools/list with an empty object."""

    listing: Any = {}  # noqa: RUF012

    def list(self, id: int | str, params: Message) -> Message:
        return jsonrpc.result(id, self.listing)


class ListNull(ListWithoutTools):
    """Answers tools/list with null."""

    listing = None


class ToolsNotAList(ListWithoutTools):
    """Answers tools/list with an object where the list should be."""

    listing = {"tools": {"echo": entry("echo", text="string")}}  # noqa: RUF012


class BadTool(Healthy):
    """Puts malformed entries between two good tools."""

    BAD: tuple[Any, ...] = (
        None,
        7,
        "tool",
        [],
        {},
        {"name": 5, "inputSchema": {"type": "object"}},
        {"name": "", "inputSchema": {"type": "object"}},
        {"name": "no_schema"},
        {"name": "text_schema", "inputSchema": "object"},
    )

    def list(self, id: int | str, params: Message) -> Message:
        return jsonrpc.result(id, {"tools": [self.tools[0], *self.BAD, self.tools[1]]})


class OddSchemas(BadTool):
    """Offers tools whose inputSchema is true, null, a list, a number or of another odd kind."""

    SCHEMAS: tuple[Any, ...] = (
        True,
        None,
        [],
        3,
        {},
        {"type": "string"},
        {"type": "object"},
        {"type": "object", "properties": None},
        {"type": "object", "properties": {"a": True, "b": None}, "required": "a"},
        {"$ref": "#/$defs/missing"},
        {"$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node"},
    )
    BAD = tuple({"name": f"odd_{n}", "description": None, "inputSchema": s} for n, s in enumerate(SCHEMAS))


class DuplicateTools(BadTool):
    """Lists echo twice, the second time with another description."""

    BAD = (entry("echo", text="string") | {"description": "echo: the other one."},)


class HostileText(BadTool):
    """Offers tools whose names and descriptions carry markup, terminal codes and invisible characters."""

    BAD = (
        entry("<img src=x onerror=alert(1)>") | {"description": "<script>alert(document.cookie)</script>"},
        entry("clear\x1b[2J") | {"description": "\x1b]0;owned\x07 \x1b[31mred\x1b[0m \r\n\0 \ud800"},
        entry("a\u200bd\u200bd") | {"description": "\u202egnirts lufmrah a\u202c \u2066\ufeff"},
        entry("../../etc/passwd") | {"description": "$(reboot) `reboot` ; rm -rf ~"},
        entry("__proto__") | {"description": "</details></table><style>*{display:none}</style>"},
    )


class ToolNames(BadTool):
    """Offers names that OpenAI rejects, or that collide once cleaned or cut; a call answers "called NAME"."""

    NAMES = (
        "files.read", "files_read", "files/read", "files read", "größe", "gr__e", "日本語", "🙂", "a" * 64,
        "x" * 100 + "1", "x" * 100 + "2", "UPPER", "upper", "_", "-", "a__b", "a", "1",
    )  # fmt: skip
    BAD = tuple(entry(name) for name in NAMES)

    def tool(self, name: Any, arguments: Message) -> Any:
        return text(f"called {name}") if name in self.NAMES else super().tool(name, arguments)


class LongName(ToolNames):
    """Offers a tool whose name has seventy characters."""

    NAMES = ("fetch_the_quarterly_report_of_each_branch_office_as_a_table_of_figures",)
    BAD = tuple(entry(name) for name in NAMES)


class DottedName(ToolNames):
    """Offers a tool whose name has a dot in it: files.read."""

    NAMES = ("files.read",)
    BAD = tuple(entry(name) for name in NAMES)


class LongList(ToolNames):
    """Offers 200 tools more."""

    NAMES = tuple(f"tool_{number:03}" for number in range(200))
    BAD = tuple(entry(name, text="string") for name in NAMES)


class HugeList(ToolNames):
    """Offers 2,000 tools more."""

    NAMES = tuple(f"tool_{number:04}" for number in range(2_000))
    BAD = tuple(entry(name, text="string") for name in NAMES)


class ListChanged(Healthy):
    """After the first call, echo disappears, mul appears and list_changed is sent."""

    def reply(self, message: Message) -> None:
        self.send(message)
        if self.calls == 1 and self.tools[0]["name"] == "echo":
            self.tools = [self.tools[1], entry("mul", a="number", b="number")]
            self.notify("notifications/tools/list_changed")

    def tool(self, name: Any, arguments: Message) -> Any:
        match name, arguments:
            case "mul", {"a": int() | float() as a, "b": int() | float() as b}:
                return text(str(a * b))
        if name not in [tool["name"] for tool in self.tools]:
            return text(f"no tool {name!r} here", is_error=True)
        return super().tool(name, arguments)


class ListChangedAlways(Healthy):
    """Sends list_changed after every tools/list, so that an eager client lists for ever."""

    def reply(self, message: Message) -> None:
        self.send(message)
        if "tools" in (message.get("result") or {}):
            self.notify("notifications/tools/list_changed")
