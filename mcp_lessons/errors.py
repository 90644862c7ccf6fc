"""Everything that can go wrong, in one tree.

    McpError                  whatever this package raises on purpose
    ├── TransportError        the bytes do not get across
    │   └── ServerExited      the server's process is gone
    ├── RequestTimeout        no reply before the deadline
    ├── ProtocolError         the other side speaks, but not the protocol we agreed on
    ├── RpcError              the server answered with a JSON-RPC error
    └── ModelError            the chat-completions endpoint refused or could not be reached

    McpWarning                something was wrong, and the work went on without it

A tool that fails is none of these: it is a result with `is_error` set, for the model to read.
"""

import json
from collections.abc import Sequence
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

LONGEST_MESSAGE = 10_000
"""Characters of a server's error message that are kept."""


def brief(value: Any, limit: int | None = 200) -> str:
    """What a stranger sent, as a text: at most `limit` characters of it (None: all), whatever it is, and
    always encodable as UTF-8 (half of a surrogate pair becomes "?").

    >>> brief({"code": 7}), brief("a long story", 6)
    ('{"code": 7}', 'a long')
    """
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError, TypeError):
        text = f"a {type(value).__name__} that cannot be shown"
    return text[:limit].encode("utf-8", "replace").decode()


def at_most(sentences: list[str], most: int = 20) -> list[str]:
    """The first sentences, and how many more there are.

    >>> at_most(["a", "b", "c"], 1)
    ['a', 'and 2 more of the kind']
    """
    more = len(sentences) - most
    return sentences if more <= 0 else [*sentences[:most], f"and {more:,} more of the kind"]


class McpError(Exception):
    """The root: `except McpError` catches whatever this package raises on purpose."""


class TransportError(McpError):
    """The bytes do not get across: no such command, a broken pipe, a closed connection."""


class ServerExited(TransportError):
    """The server's process is gone.

    `status` is its exit status (negative: the number of the signal that ended it), or None when it
    is not known; `stderr` holds the last lines it wrote there; `noise` are lines of its stdout that may say
    why it ended.
    """

    def __init__(
        self, server: str, status: int | None, stderr: Sequence[str] = (), noise: Sequence[str] = ()
    ) -> None:
        self.server, self.status, self.stderr = server, status, list(stderr)
        said = _quoted("what it printed beside messages", noise) + _quoted("the end of its stderr", stderr)
        super().__init__(f"server {server!r} exited with {_status_in_words(status)}{said}")


class RequestTimeout(McpError, TimeoutError):
    """No reply came before the deadline."""


class ProtocolError(McpError):
    """The other side speaks, but not the protocol we agreed on (an unknown version, for instance)."""


class RpcError(McpError):
    """The server answered with a JSON-RPC error object: `code`, `message`, `data`.

    https://www.jsonrpc.org/specification#error_object
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        self.code, self.message, self.data = code, message, data
        detail = "" if data is None else f" (data: {brief(data, 500)})"
        super().__init__(f"{message or 'an error without a message'} [{code}]{detail}")

    @classmethod
    def from_object(cls, error: Any) -> "RpcError":
        """From the `error` of a reply, whatever the server has put there."""
        if not isinstance(error, dict):
            return cls(INTERNAL_ERROR, f"an error that is no object: {brief(error)}")
        code, is_code = error.get("code"), type(error.get("code")) is int
        message = brief(error.get("message") or "", LONGEST_MESSAGE)
        return cls(code if is_code else INTERNAL_ERROR, message, error.get("data"))


class ModelError(McpError):
    """The chat-completions endpoint refused the request, or could not be reached."""


class McpWarning(UserWarning):
    """Something a server said was wrong and was left out; the work went on."""


def _status_in_words(status: int | None) -> str:
    if status is None:
        return "an unknown status"
    return f"signal {-status}" if status < 0 else f"status {status}"


def _quoted(what: str, lines: Sequence[str]) -> str:
    return "".join([f"; {what}:", *(f"\n    {line}" for line in lines)]) if lines else ""
