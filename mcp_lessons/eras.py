"""What differs on the wire between the protocol's eras. So far there is one: the legacy era.

Lesson 10 builds this module. Revisions up to 2025-11-25 begin with a handshake and then send plain
requests, so what a client sends and gets needs no change on its way.
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from .errors import McpError, ProtocolError, RpcError, brief
from .jsonrpc import Message

LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The revisions with a handshake, newest first: the first is what we offer, all are taken."""


class LegacyEra:
    """Messages pass as they are."""

    name = "legacy"

    def outgoing(self, message: Message) -> Message:
        """`message` as it goes on the wire."""
        return message

    def incoming(self, message: Message, reply: Message) -> Message:
        """The `reply` that counts as the answer to `message`."""
        return reply


def agree_on_version(server: str, theirs: str) -> None:
    """ProtocolError, naming what both sides speak, when `theirs` is a version that we do not know."""
    if theirs not in LEGACY_VERSIONS:
        raise ProtocolError(f"{server} speaks version {theirs!r}; we speak {', '.join(LEGACY_VERSIONS)}")


def refused_handshake(server: str, problem: RpcError) -> McpError:
    """What the refusal of `initialize` means: a server that says which versions it wants has none of ours."""
    supported = problem.data.get("supported") if isinstance(problem.data, dict) else None
    if not supported:
        return problem
    return ProtocolError(f"{server} wants version {brief(supported)}; we offered {LEGACY_VERSIONS[0]!r}")
