"""The exercises of lesson 2: mend a handshake; find the reply among everything else."""

import queue
from collections.abc import Callable
from typing import Any

from ...client import CLIENT_INFO
from ...eras import LEGACY_VERSIONS
from ...errors import McpError
from ..exercise import Exercise, Wrong
from ..judging import connected_client, received, sent, started_transport

QUIET_SECONDS = 4.0
DEADLOCK_SECONDS = 0.5
NOTHING_SENT = 'your function sent nothing. Begin with client.request("initialize", …).'


def _judge_shake_hands(shake_hands: Callable[[Any], Any]) -> str | None:
    problem: McpError | None = None
    messages: list[Any] = []
    with connected_client("faulty", "strict", initialize=False) as client:
        try:
            shake_hands(client)
            messages = sent(client.traffic)
            if not messages:
                return NOTHING_SENT
            if not client.alive:
                return "your function closed the client. The work only begins now: leave it open."
            client.request("tools/list")
        except McpError as caught:
            problem = caught
        messages = messages or sent(client.traffic)
        if not messages:
            return NOTHING_SENT
        hasty = _confirmed_before_the_reply(client.traffic)
    return (
        _about_initialize(messages)
        or _about_initialized(messages)
        or hasty
        or (f"the handshake is whole, but the server then said: {problem}" if problem else None)
    )


def _about_initialize(messages: list[Any]) -> str | None:
    first = messages[0]
    if first["method"] != "initialize":
        return f"the first message must be initialize, and yours was {first['method']}."
    if "id" not in first:
        return "initialize went out as a notification. It wants a reply, so it is a request."
    params = first.get("params") or {}
    if params.get("protocolVersion") not in LEGACY_VERSIONS:
        return f"initialize offers the version {params.get('protocolVersion')!r}. Offer 2025-11-25."
    if not isinstance(params.get("capabilities"), dict):
        return (
            'initialize needs capabilities, an object. You have none to declare, so say "capabilities": {}.'
        )
    info = params.get("clientInfo")
    if not isinstance(info, dict) or not {"name", "version"} <= info.keys():
        return "clientInfo in initialize must be an object with a name and a version: who are you?"
    if info == CLIENT_INFO:
        return "client.initialize() did the work. Send the messages yourself, with client.request and client.notify."
    return None


def _confirmed_before_the_reply(traffic: Any) -> str | None:
    for event in traffic:
        if event.kind == "reply":
            return None
        if event.kind == "notification" and event.direction == "sent":
            return (
                f"{event.body['method']} went out before the reply to initialize had come. client.request "
                "waits for the reply; client.begin does not."
            )
    return None


def _about_initialized(messages: list[Any]) -> str | None:
    later = [message for message in messages[1:] if message.get("method") == "notifications/initialized"]
    if not later and messages[1:]:
        return f"the message after the reply was {messages[1].get('method')}. It must be notifications/initialized."
    if not later:
        return "after the reply the server waits for one more message from you: notifications/initialized."
    if "id" in later[0]:
        return "notifications/initialized went out as a request. Nobody answers it: use client.notify."
    return None


class _Inbox(queue.Queue):
    """A queue whose `get` never waits for ever, least of all for a server that waits for us, too.
    It knows whether somebody looked and did not wait."""

    hasty = False

    def __init__(self, traffic: Any) -> None:
        super().__init__()
        self._traffic = traffic
        traffic.subscribe(lambda event: self.put(event.body) if event.direction == "received" else None)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        self.hasty = self.hasty or not block
        in_vain = _unanswered(self._traffic) or not sent(self._traffic, "request")
        most = DEADLOCK_SECONDS if in_vain else QUIET_SECONDS
        return super().get(block, min(timeout or most, most))

    def empty(self) -> bool:
        self.hasty = True
        return super().empty()


SERVERS = {  # the fault: what to call the server in a sentence
    "early_notifications": "a server that sends notifications before the reply",
    "stray_ids": "a server that sends replies to questions that nobody asked",
    "early_ping": "a server that sends a ping before the reply",
}


MAKE_IT = "jsonrpc.request(id, method, params) makes the message."
SAID_UNASKED = "a notification of the server: it has a method"
HASTY = (
    "you looked into the inbox, and the reply was still on its way. inbox.get() waits for the next message."
)


def _judge_request(request_v2: Callable[..., Any]) -> str | None:
    for fault, trouble in SERVERS.items():
        wrong = _request_once(request_v2, fault)
        if wrong:
            return f"with {trouble}, {wrong}"
    return None


def _request_once(request_v2: Callable[..., Any], fault: str) -> str | None:
    id = 41
    me = {"name": "a-learner", "version": "1"}
    offer = {"protocolVersion": LEGACY_VERSIONS[0], "capabilities": {}, "clientInfo": me}
    with started_transport("faulty", fault) as (transport, traffic):
        inbox = _Inbox(traffic)
        try:
            reply = request_v2(transport, inbox, id, "initialize", offer)
        except queue.Empty:
            return _about_the_sending(traffic, offer) or _about_the_waiting(inbox, traffic)
        except AttributeError as problem:
            if problem.name != "finish":
                raise
            return f"here `request` is the client's method, which has the same name. {MAKE_IT}"
        except KeyError as problem:
            return (
                f"your function raised KeyError: {problem}. Not every message has an id: ask kind_of first."
            )
    return _about_the_sending(traffic, offer) or _about_the_reply(reply, id, inbox)


def _about_the_waiting(inbox: _Inbox, traffic: Any) -> str:
    asked = _unanswered(traffic)
    if inbox.hasty:
        return HASTY
    if asked and sent(traffic, "reply"):
        return (
            f"your reply to the server's ping has the id {sent(traffic, 'reply')[0].get('id')!r}, and the ping "
            f"has {asked[0]['id']!r}. A reply repeats the id of its request."
        )
    if asked:
        return "you waited, and so did the server: it sent you a ping, and it wants your reply to that first."
    return "you waited for a message that never came. Was the reply among those you threw away?"


def _about_the_reply(reply: Any, id: int, inbox: _Inbox) -> str | None:
    if reply is None:
        return (
            HASTY if inbox.hasty else f"your function returned None. Return the reply, which has the id {id}."
        )
    if isinstance(reply, dict) and "method" in reply:
        what = f"the server's ping: its id is {id}, like yours" if "id" in reply else SAID_UNASKED
        return f"your function returned {what}. What has a method is no reply."
    if isinstance(reply, dict) and "serverInfo" in reply:
        return "your function returned the result alone. Return the whole reply, with its id."
    if not isinstance(reply, dict) or not reply.keys() & {"result", "error"}:
        return f"your function returned {reply!r}. The reply has the id {id} and a result."
    if reply.get("id") != id:
        return f"you asked with the id {id} and returned the reply with the id {reply.get('id')!r}."
    return None


def _about_the_sending(traffic: Any, offer: Any) -> str | None:
    if not sent(traffic):
        return "no request went out. Send it with transport.send(jsonrpc.request(id, method, params))."
    if not (requests := sent(traffic, "request")):
        return f"what you sent is no request of JSON-RPC 2.0. {MAKE_IT}"
    if requests[0].get("params") != offer:
        return "your request went out without its params. They are the third argument of jsonrpc.request."
    if len(requests) > 1:
        return f"your request went out {len(requests)} times. Send it once, then take message after message."
    return None


def _unanswered(traffic: Any) -> list[Any]:
    """The server's requests that have no reply yet."""
    answered = [reply.get("id") for reply in sent(traffic, "reply")]
    return [message for message in received(traffic, "request") if message["id"] not in answered]


EXERCISES = [
    Exercise(
        id="2.1",
        stub='''
            def shake_hands(client):
                """The three steps of the handshake, for a server that is strict about them."""
                client.request("initialize", {"protocolVersion": "2025-11-25"})
                client.request("notifications/initialized")
        ''',
        judge=_judge_shake_hands,
        done="the strict server lets you in: offer, reply, initialized.",
        hints=(
            "Compare your initialize with OFFER, above. Which two parts are missing?",
            "The offer needs capabilities, which may be {}, and clientInfo, with a name and a version. Then look "
            "at the last line: does anybody answer notifications/initialized?",
            'client.notify("notifications/initialized") sends it without an id. The offer is that of OFFER.',
        ),
        solution='''
            def shake_hands(client):
                """The three steps of the handshake, for a server that is strict about them."""
                client.request(
                    "initialize",
                    {
                        "protocolVersion": "2025-11-25",
                        "capabilities": {},
                        "clientInfo": {"name": "me", "version": "1"},
                    },
                )
                client.notify("notifications/initialized")
        ''',
        wrong=(
            Wrong(
                """
                def shake_hands(client):
                    client.notify("notifications/initialized")
                    client.request("initialize", OFFER)
                """,
                "the first message must be initialize, and yours was notifications/initialized.",
            ),
            Wrong(
                """
                def shake_hands(client):
                    client.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
                    client.notify("notifications/initialized")
                """,
                "clientInfo in initialize must be an object with a name and a version: who are you?",
            ),
            Wrong(
                """
                def shake_hands(client):
                    client.request("initialize", OFFER)
                    client.request("notifications/initialized")
                """,
                "notifications/initialized went out as a request. Nobody answers it: use client.notify.",
            ),
            Wrong(
                """
                def shake_hands(client):
                    client.request("initialize", OFFER)
                """,
                "after the reply the server waits for one more message from you: notifications/initialized.",
            ),
            Wrong(
                """
                def shake_hands(client):
                    client.request("initialize", OFFER)
                    client.notify("initialized")
                """,
                "the message after the reply was initialized. It must be notifications/initialized.",
            ),
            Wrong(
                """
                def shake_hands(client):
                    client.initialize()
                """,
                "client.initialize() did the work. Send the messages yourself, with client.request and client.notify.",
            ),
            Wrong(
                """
                def shake_hands(client):
                    handshake_v1(client.transport, queue.Queue())
                """,
                'your function sent nothing. Begin with client.request("initialize", …).',
            ),
            Wrong(
                """
                def shake_hands(client):
                    with client:
                        client.request("initialize", OFFER)
                        client.notify("notifications/initialized")
                """,
                "your function closed the client. The work only begins now: leave it open.",
            ),
        ),
    ),
    Exercise(
        id="2.2",
        stub='''
            def request_v2(transport, inbox, id, method, params=None):
                """Send a request, and return its reply; the server's own requests get a reply on the way."""
                ...
        ''',
        judge=_judge_request,
        done="three servers, and each reply is yours: the ping answered, everything else skipped.",
        hints=(
            "Send jsonrpc.request(id, method, params). Then take message after message from the inbox, until one "
            "is the reply. What does kind_of say about each?",
            "A request of the server wants a reply from you, and the server waits for it: "
            "transport.send(reply_to(message, {})). A notification, noise, or a reply with another id wants nothing: take the next.",
            "while True: message = inbox.get(); kind = kind_of(message). If it is a request, send reply_to(message, "
            '{}). If it is a reply, and message["id"] == id, return it.',
        ),
        solution='''
            def request_v2(transport, inbox, id, method, params=None):
                """Send a request, and return its reply; the server's own requests get a reply on the way."""
                transport.send(jsonrpc.request(id, method, params))
                while True:
                    message = inbox.get()
                    kind = kind_of(message)
                    if kind == "request":
                        transport.send(reply_to(message, {}))
                    elif kind == "reply" and message["id"] == id:
                        return message
        ''',
        wrong=(
            Wrong(
                """
                def request_v2(transport, inbox, id, method, params=None):
                    transport.send(jsonrpc.request(id, method, params))
                    return inbox.get()
                """,
                "with a server that sends notifications before the reply, your function returned a "
                "notification of the server: it has a method. What has a method is no reply.",
            ),
            Wrong(
                """
                def request_v2(transport, inbox, id, method, params=None):
                    transport.send(jsonrpc.request(id, method, params))
                    while True:
                        message = inbox.get()
                        if kind_of(message) == "reply":
                            return message
                """,
                "with a server that sends replies to questions that nobody asked, you asked with the id 41 and "
                "returned the reply with the id 987654321.",
            ),
            Wrong(
                """
                def request_v2(transport, inbox, id, method, params=None):
                    transport.send(jsonrpc.request(id, method, params))
                    while True:
                        message = inbox.get()
                        if message and message.get("id") == id:
                            return message
                """,
                "with a server that sends a ping before the reply, your function returned the server's ping: its "
                "id is 41, like yours. What has a method is no reply.",
            ),
            Wrong(
                """
                def request_v2(transport, inbox, id, method, params=None):
                    transport.send(jsonrpc.request(id, method, params))
                    while True:
                        message = inbox.get()
                        if kind_of(message) == "reply" and message["id"] == id:
                            return message
                """,
                "with a server that sends a ping before the reply, you waited, and so did the server: it sent you "
                "a ping, and it wants your reply to that first.",
            ),
            Wrong(
                """
                def request_v2(transport, inbox, id, method, params=None):
                    transport.send(jsonrpc.request(id, method, params))
                    message = inbox.get()
                    while message["id"] != id:
                        message = inbox.get()
                    return message
                """,
                "with a server that sends notifications before the reply, your function raised KeyError: 'id'. Not "
                "every message has an id: ask kind_of first.",
            ),
            Wrong(
                """
                def request_v2(transport, inbox, id, method, params=None):
                    transport.send(jsonrpc.request(id, method, params))
                    while not inbox.empty():
                        message = inbox.get()
                        if kind_of(message) == "reply" and message["id"] == id:
                            return message
                """,
                "with a server that sends notifications before the reply, you looked into the inbox, and the reply "
                "was still on its way. inbox.get() waits for the next message.",
            ),
            Wrong(
                """
                def request_v2(transport, inbox, id, method, params=None):
                    transport.send(jsonrpc.request(id, method))
                    return inbox.get()
                """,
                "with a server that sends notifications before the reply, your request went out without its "
                "params. They are the third argument of jsonrpc.request.",
            ),
            Wrong(
                """
                def request_v2(transport, inbox, id, method, params=None):
                    transport.send(request(id, method, params))
                    return inbox.get()
                """,
                "with a server that sends notifications before the reply, here `request` is the client's method, "
                "which has the same name. jsonrpc.request(id, method, params) makes the message.",
            ),
            Wrong(
                """
                def request_v2(transport, inbox, id, method, params=None):
                    transport.send({"id": id, "method": method, "params": params})
                    return inbox.get()
                """,
                "with a server that sends notifications before the reply, what you sent is no request of JSON-RPC "
                "2.0. jsonrpc.request(id, method, params) makes the message.",
            ),
        ),
    ),
]
