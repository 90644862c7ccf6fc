"""Calls on their way, and why one failed, in words for the model. Shown in lessons 5 and 6."""

from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from functools import partial
from typing import Any, NamedTuple

from .client import Client
from .errors import McpError, at_most
from .results import ToolResult

MOST_NAMES = 100
"""Names that a model is told when it asks for one that does not exist."""


class Begun(NamedTuple):
    """A call on its way: how to wait for its result, and how to stop waiting."""

    wait: Callable[[], ToolResult]
    cancel: Callable[[], None] = lambda: None


def call_server(client: Client, tool: str, arguments: dict[str, Any], alone: bool) -> Begun:
    """Send the call; the server works on it while we do something else."""
    waiting = client.begin_call(tool, arguments)
    return Begun(partial(client.finish_call, waiting), partial(client.cancel, waiting))


def outcome(name: str, wait: Callable[[], ToolResult]) -> ToolResult:
    """The result that `wait` gives; what it raises is a failed result. (Ctrl-C is raised.)"""
    try:
        return wait()
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # SystemExit, or the cancellation of somebody's event loop
        return failure(name, problem)


def failure(name: Any, problem: BaseException) -> ToolResult:
    kind = words = ""
    try:
        kind = "" if isinstance(problem, McpError) else type(problem).__name__
        words = str(problem)
    except BaseException:  # what it raises when it is asked what it is
        words = "it cannot say why"
    said = [str(name)[:100] or "a call without a name", kind, words]
    return ToolResult.from_text(": ".join(word for word in said if word), is_error=True)


def unknown_tool(name: Any, names: Iterable[str]) -> McpError:
    """No tool has this name: which there are, the most similar first."""
    asked = str(name)[:100]
    nearest = sorted(names, key=lambda known: (-SequenceMatcher(None, asked, known).ratio(), known))
    there_are = ", ".join(at_most(nearest, MOST_NAMES)) or "none"
    return McpError(f"there is no tool of this name; the tools are: {there_are}")
