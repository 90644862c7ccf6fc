"""What is wrong with the replies: their ids, their errors, their shape.

The messages: https://modelcontextprotocol.io/specification/2025-11-25/basic
"""

from ... import jsonrpc
from .healthy import INTERNAL_ERROR, Healthy, Message, text


class NonObjectJson(Healthy):
    """Precedes every reply with lines of valid JSON that are no JSON-RPC message."""

    def reply(self, message: Message) -> None:
        for value in (None, True, 42, "text", [], [1, 2], {}, {"level": "info", "msg": "hello"}):
            self.send(value)
        self.send(message)


class BatchArray(Healthy):
    """Once: the reply is wrapped in a JSON array (a batch, removed in 2025-06-18)."""

    def reply(self, message: Message) -> None:
        self.send([message] if self.calls == 1 else message)


class NoJsonrpc(Healthy):
    """Leaves "jsonrpc": "2.0" out of its replies."""

    def reply(self, message: Message) -> None:
        self.send({key: value for key, value in message.items() if key != "jsonrpc"})


class StringIds(Healthy):
    """Answers with the id turned into a string."""

    def reply(self, message: Message) -> None:
        self.send(message | {"id": str(message["id"])})


class FloatIds(Healthy):
    """Answers with the id turned into a float: 3 becomes 3.0."""

    def reply(self, message: Message) -> None:
        id = message["id"]
        self.send(message | {"id": float(id) if isinstance(id, int) else id})


class StrayIds(Healthy):
    """Precedes every reply with replies whose ids were never used."""

    def reply(self, message: Message) -> None:
        for id in (987654321, "no-such-id", -1, 2**70, 0.5):
            self.send(jsonrpc.result(id, text("nobody asked")))
        self.send(message)


class OddIds(Healthy):
    """Precedes every reply with replies whose ids are true, a list and an object."""

    def reply(self, message: Message) -> None:
        for id in (True, [1], {"id": 1}):
            self.send(jsonrpc.result(id, text("nobody asked")))  # type: ignore[arg-type]
        self.send(message)


class DuplicateReply(Healthy):
    """Sends every reply twice."""

    def reply(self, message: Message) -> None:
        self.send(message)
        self.send(message)


class NullIdError(Healthy):
    """Once: answers the call with an error whose id is null."""

    def call(self, id: int | str, params: Message) -> Message | None:
        if self.calls == 1:
            return jsonrpc.error(None, INTERNAL_ERROR, "something went wrong")
        return super().call(id, params)


class RpcError(Healthy):
    """Once: the call gets a JSON-RPC error with data."""

    def call(self, id: int | str, params: Message) -> Message | None:
        if self.calls == 1:
            return jsonrpc.error(id, INTERNAL_ERROR, "the database is locked", {"retry_after": 5})
        return super().call(id, params)


class OddErrors(Healthy):
    """Answers call after call with another malformed error: a string, null, a list, no code, no message."""

    ERRORS = ("boom", None, [], {}, {"message": "no code"}, {"code": "E42"}, {"code": 1.5, "message": ["a"]})

    def call(self, id: int | str, params: Message) -> Message | None:
        odd = self.ERRORS[(self.calls - 1) % len(self.ERRORS)]
        return {"jsonrpc": "2.0", "id": id, "error": odd}


class ResultAndError(Healthy):
    """Once: the reply has a result and an error."""

    def reply(self, message: Message) -> None:
        error = {"error": {"code": INTERNAL_ERROR, "message": "and an error too"}}
        self.send(message | error if self.calls == 1 else message)


class NullErrorBesideResult(Healthy):
    """Puts "error": null beside every result, as JSON-RPC 1.0 did."""

    def reply(self, message: Message) -> None:
        self.send(message | ({"error": None} if "result" in message else {"result": None}))


class NeitherResultNorError(Healthy):
    """Once: the reply has neither a result nor an error."""

    def call(self, id: int | str, params: Message) -> Message | None:
        return {"jsonrpc": "2.0", "id": id} if self.calls == 1 else super().call(id, params)
