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

from .agent import run_agent
from .client import Client
from .errors import McpError, RequestTimeout, RpcError, ServerExited, TransportError
from .oracle import Oracle, choose_llm
from .stdio import StdioTransport
from .toolbox import Toolbox
from .traffic import Traffic

__all__ = [
    "Client",
    "McpError",
    "Oracle",
    "RequestTimeout",
    "RpcError",
    "ServerExited",
    "StdioTransport",
    "Toolbox",
    "Traffic",
    "TransportError",
    "choose_llm",
    "run_agent",
]
