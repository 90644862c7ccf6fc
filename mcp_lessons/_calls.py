"""Calls on their way, and why one failed, in words for the model.

Shown in lessons 5 and 6. A call of a server's tool and a call of your own function have the same
three methods, so the toolbox need not know which is which: `go` (begin, if it has not), `wait` for
the result, and `cancel`.
"""

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Any

from .client import Client
from .errors import McpError
from .results import ToolResult

LONGEST_LIST = 100
"""Names that a model is told when it asks for one that does not exist."""


class ServerCall:
    """A call of a server's tool: sent when it is made."""

    def __init__(self, client: Client, tool: str, arguments: dict[str, Any]) -> None:
        self._client, self._ended = client, False
        self._waiting = client.begin_call(tool, arguments)

    def go(self) -> None:
        """Nothing: the server works already."""

    def wait(self) -> ToolResult:
        try:
            return self._client.finish_call(self._waiting)
        finally:
            self._ended = True

    def cancel(self) -> None:
        if not self._ended:
            self._client.cancel(self._waiting)


class FailedCall:
    """A call that never began; waiting for it says why."""

    def __init__(self, problem: BaseException) -> None:
        self._problem = problem

    def go(self) -> None:
        """Nothing."""

    def wait(self) -> ToolResult:
        raise self._problem

    def cancel(self) -> None:
        """Nothing."""


def failure(name: str, problem: BaseException) -> ToolResult:
    """The result of a call that `problem` ended."""
    words = str(problem) if isinstance(problem, McpError) else _with_type(problem)
    return ToolResult.from_text(f"{name}: {words}" if name else words, is_error=True)


def unknown_tool(name: Any, names: Iterable[str]) -> McpError:
    """No tool has this name: which there are, the most similar first."""
    asked = str(name)[:100]
    nearest = sorted(names, key=lambda known: (-SequenceMatcher(None, asked, known).ratio(), known))
    more = f", and {len(nearest) - LONGEST_LIST} more" if len(nearest) > LONGEST_LIST else ""
    there_are = ", ".join(nearest[:LONGEST_LIST]) + more or "none"
    return McpError(f"there is no tool called {asked!r}; the tools are: {there_are}")


def _with_type(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
