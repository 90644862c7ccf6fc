"""What differs on the wire between the protocol's eras. So far there is one: the legacy era.

Lesson 10 builds this module. Revisions up to 2025-11-25 begin with a handshake and then send plain
requests, so what a client sends and gets needs no change on its way.
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

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
