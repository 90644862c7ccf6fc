"""Build a Model Context Protocol client from nothing, and watch every message.

The map, from the ground up, and the lesson that builds each floor:

    errors      everything that can go wrong
    jsonrpc     messages: make, read, tell their kind         lesson 2
    traffic     the record of everything that crossed the wire
    stdio       a server as a child process                   lesson 1
    results     what a server says, as values                 lessons 2, 3, 4
    client      handshake, list, call                         lessons 2, 3, 4
    toolbox     many servers, one list of tools               lesson 5
    agent       the loop                                      lesson 6
    oracle      an offline model to run it with
    views       the record, drawn live in a notebook
    servers     sample servers to talk to
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors; at run time `__getattr__` does the same, name by name
    from .agent import run_agent
    from .client import Client
    from .errors import McpError, RequestTimeout, RpcError, ServerExited, TransportError
    from .oracle import Oracle, choose_llm
    from .stdio import StdioTransport
    from .toolbox import Toolbox
    from .traffic import Traffic

__all__ = [
    "Client", "McpError", "Oracle", "RequestTimeout", "RpcError", "ServerExited", "StdioTransport", "Toolbox",
    "Traffic", "TransportError", "choose_llm", "run_agent",
]  # fmt: skip

_HOMES = {
    "agent": ["run_agent"],
    "client": ["Client"],
    "errors": ["McpError", "RequestTimeout", "RpcError", "ServerExited", "TransportError"],
    "oracle": ["Oracle", "choose_llm"],
    "stdio": ["StdioTransport"],
    "toolbox": ["Toolbox"],
    "traffic": ["Traffic"],
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a name's module when the name is first asked for: a sample server, which needs `jsonrpc` alone,
    starts in half the time."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
