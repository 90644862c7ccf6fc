"""What is wrong with the order of things, and with what the server sends unasked.

The messages: https://modelcontextprotocol.io/specification/2025-11-25/basic
"""

import json
import threading
import time
from typing import Any

from ... import jsonrpc
from .healthy import Healthy, Message, text


class NeverReply(Healthy):
    """Once: the call is never answered."""

    def call(self, id: int | str, params: Message) -> Message | None:
        return None if self.calls == 1 else super().call(id, params)


class NeverEnds(Healthy):
    """No call is ever answered; everything else is."""

    def call(self, id: int | str, params: Message) -> Message | None:
        return None


class LateReply(Healthy):
    """Once: the reply comes after --seconds (2.5), when nobody may wait for it any more."""

    def call(self, id: int | str, params: Message) -> Message | None:
        reply = super().call(id, params)
        if self.calls != 1:
            return reply
        timer = threading.Timer(self.seconds, lambda: self.send(reply))
        timer.daemon = True
        timer.start()
        return None


class OutOfOrder(Healthy):
    """Holds the first call until a second one was answered (or --seconds passed)."""

    held: Message | None = None

    def call(self, id: int | str, params: Message) -> Message | None:
        reply = super().call(id, params)
        if self.calls > 1:
            return reply
        self.held = reply
        timer = threading.Timer(self.seconds, self.release)
        timer.daemon = True
        timer.start()
        return None

    def reply(self, message: Message) -> None:
        self.send(message)
        if self.calls > 1:
            self.release()

    def release(self) -> None:
        held, self.held = self.held, None
        if held is not None:
            self.send(held)


class Progress(Healthy):
    """Once: sends progress every 0.25 s for --seconds (2.5), then answers."""

    def call(self, id: int | str, params: Message) -> Message | None:
        meta = params.get("_meta") or {}
        if self.calls == 1:
            steps = max(1, round(self.seconds / 0.25))
            for step in range(1, steps + 1):
                time.sleep(0.25)
                if "progressToken" in meta:
                    done = {"progressToken": meta["progressToken"], "progress": step, "total": steps}
                    self.notify("notifications/progress", done)
        return super().call(id, params)


class ProgressForEver(Healthy):
    """Once: sends progress for ever, and never the reply."""

    def call(self, id: int | str, params: Message) -> Message | None:
        token = (params.get("_meta") or {}).get("progressToken", 0)
        step = 0
        while self.calls == 1:
            step += 1
            self.notify("notifications/progress", {"progressToken": token, "progress": step})
            time.sleep(0.1)
        return super().call(id, params)


class PingDuringCall(Healthy):
    """Sends a ping during every call, and answers only after the pong."""

    def call(self, id: int | str, params: Message) -> Message | None:
        self.ask("ping")
        return super().call(id, params)


class PingWithYourId(Healthy):
    """Sends a ping during every call, with the id of the call."""

    def call(self, id: int | str, params: Message) -> Message | None:
        self.ask("ping", id=id)
        return super().call(id, params)


class ServerRequests(Healthy):
    """Once: asks for roots, sampling, elicitation and an unknown method; echo reports the answers."""

    QUESTIONS = {  # noqa: RUF012
        "roots/list": None,
        "sampling/createMessage": {
            "messages": [{"role": "user", "content": {"type": "text", "text": "Say hello."}}],
            "maxTokens": 10,
        },
        "elicitation/create": {
            "message": "Your name?",
            "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
        "vendor/unknown": {},
    }

    def call(self, id: int | str, params: Message) -> Message | None:
        if self.calls > 1:
            return super().call(id, params)
        answers = {method: self.ask(method, question) for method, question in self.QUESTIONS.items()}
        said = {method: answer.get("result", answer.get("error")) for method, answer in answers.items()}
        return jsonrpc.result(id, text(json.dumps(said)))


class OddNotifications(Healthy):
    """Precedes every call's answer with unknown, vendor and malformed notifications."""

    ODD: tuple[dict[str, Any], ...] = (
        {"method": "notifications/unheard_of", "params": {"a": 1}},
        {"method": "$/vendor/telemetry"},
        {"method": ""},
        {"method": 7},
        {"method": "notifications/message", "params": "text"},
        {"method": "notifications/message", "params": {"level": 9, "data": None}},
        {"method": "notifications/progress"},
        {"method": "notifications/progress", "params": [1, 2]},
        {"method": "notifications/progress", "params": {"progressToken": {"a": 1}, "progress": "half"}},
        {"method": "notifications/cancelled", "params": {"requestId": "never used"}},
        {"method": "notifications/resources/updated", "params": None},
    )

    def call(self, id: int | str, params: Message) -> Message | None:
        for odd in self.ODD:
            self.send({"jsonrpc": "2.0", **odd})
        return super().call(id, params)


class OddRequests(Healthy):
    """Once: sends requests with odd ids and odd params during the call, and does not wait for answers."""

    def call(self, id: int | str, params: Message) -> Message | None:
        if self.calls == 1:
            for odd in ("", 0, -7, 2**70, 1.5, "x" * 10_000):
                self.send({"jsonrpc": "2.0", "id": odd, "method": "ping", "params": [odd]})
            self.send({"jsonrpc": "2.0", "id": None, "method": "ping"})
            self.send({"jsonrpc": "2.0", "id": "a", "method": "roots/list", "params": "text"})
        return super().call(id, params)


class NotificationFlood(Healthy):
    """Once: 10,000 log notifications precede the answer."""

    def call(self, id: int | str, params: Message) -> Message | None:
        if self.calls == 1:
            for number in range(10_000):
                self.notify("notifications/message", {"level": "debug", "data": f"line {number}"})
        return super().call(id, params)


class RequestFlood(Healthy):
    """Once: 1,000 pings precede the answer, and nobody reads until all are sent."""

    def call(self, id: int | str, params: Message) -> Message | None:
        if self.calls == 1:
            for number in range(1_000):
                self.send(jsonrpc.request(f"flood-{number}", "ping"))
        return super().call(id, params)
