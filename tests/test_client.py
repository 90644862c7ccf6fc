"""The client: handshake, calls from many threads, deadlines, handlers, interrupts, the end."""

import asyncio
import io
import json
import random
import signal
import sys
import threading
import time
import warnings

import pytest
from kit import (
    PROMPT,
    cancelled_ids,
    client_of,
    connected,
    echo,
    faulty,
    is_gone,
    kinds,
    pid_of,
    steps,
    tiny,
    wait_for,
    wait_until,
)

from mcp_lessons import (
    Client,
    McpError,
    RequestTimeout,
    RpcError,
    ServerExited,
    StdioTransport,
    Traffic,
    TransportError,
)
from mcp_lessons._checks import output_problem
from mcp_lessons.errors import McpWarning, ProtocolError
from mcp_lessons.results import Tool, ToolResult, block_text

ECHO = "serve(lambda m: reply(m, text(m['params']['arguments']['text'])))\n"


# The handshake


def test_the_handshake_offers_our_version_and_says_who_we_are_and_then_that_we_are_ready():
    with connected("none") as client:
        sent = [event.body for event in client.traffic if event.direction == "sent"]
        assert client.server.name == "faulty-none" and client.server.capabilities == {
            "tools": {"listChanged": True}
        }
    assert [message["method"] for message in sent] == ["initialize", "notifications/initialized"]
    assert sent[0]["params"] == {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "mcp-lessons", "version": "0.1.0"},
    }


def test_connect_shakes_hands_and_refuses_an_era_that_is_not_built():
    with client_of(tiny(ECHO)) as client:
        with pytest.raises(ValueError, match="era='modern' is not built yet"):
            client.connect(era="modern")
        assert client.connect().name == "tiny" and client.alive


def test_the_capabilities_declared_follow_from_the_handlers():
    handlers = dict.fromkeys(
        ["roots/list", "notifications/message", "elicitation/create"], lambda params: None
    )
    with connected(tiny(ECHO), handlers=handlers) as client:
        offer = kinds(client.traffic, "request", "sent")[0].body["params"]
    assert offer["capabilities"] == {"roots": {}, "elicitation": {}}


def test_a_handshake_that_fails_hangs_up_and_leaves_the_client_closed():
    with client_of(
        tiny("m = read(); send({'jsonrpc': '2.0', 'id': m['id'], 'error': {'code': 7, 'message': 'no'}})")
    ) as c:
        with pytest.raises(RpcError, match="no") as caught:
            c.initialize()
        assert caught.value.__cause__ is None and not c.alive and is_gone(pid_of(c))
        with pytest.raises(TransportError, match="is closed"):
            c.initialize()


def test_a_handshake_is_never_cancelled():
    with client_of(tiny("while read(): pass")) as client:
        with pytest.raises(RequestTimeout, match="'initialize'"):
            client.initialize(timeout=0.2)
        assert cancelled_ids(client.traffic) == []


# Requests


def test_a_request_returns_the_result_and_ids_are_never_used_twice():
    with connected(tiny("serve(print, lambda m: 'id' in m and reply(m, {'got': m}))")) as client:
        answers = [client.request("a/b", {"x": n})["got"] for n in range(5)]
        waiting = client.begin("c/d")
        assert client.finish(waiting)["got"] == {
            "jsonrpc": "2.0",
            "id": waiting.message["id"],
            "method": "c/d",
        }
    ids = [answer["id"] for answer in answers]
    assert len(set(ids)) == 5 and all(isinstance(id, int) for id in ids)
    assert answers[0] == {"jsonrpc": "2.0", "id": ids[0], "method": "a/b", "params": {"x": 0}}


def test_a_result_that_is_no_object_is_a_protocol_error():
    with connected("result_not_an_object") as client:
        for _ in range(5):
            with pytest.raises(ProtocolError, match="the result of tools/call is no object"):
                echo(client)


def test_arguments_that_are_no_json_are_refused_before_anything_is_sent():
    with connected(tiny(ECHO)) as client:
        before = len(client.traffic)
        with pytest.raises(TypeError):
            client.call_tool("echo", {"text": object()})
        with pytest.raises(ValueError):
            client.call_tool("echo", {"text": float("nan")})
        assert len(client.traffic) == before
        assert echo(client) == "hello"


async def later(params):
    return {}


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda client: client.call_tool("echo", ["hello"]), r"arguments are a dict.* this is \['hello'\]"),
        (lambda client: client.call_tool("echo", '{"text": 1}'), "arguments are a dict"),
        (lambda client: client.call_tool(None), "a tool is called by its name, a text; this is None"),
        (lambda client: client.request("ping", [1]), "the params of a message are a dict; this is"),
        (lambda client: client.request(7), "a method is a text, as in 'tools/list'; this is 7"),
        (lambda client: client.notify("x", "y"), "the params of a message are a dict; this is 'y'"),
        (
            lambda client: client.request("ping", timeout="1"),
            "a timeout is a number of seconds.* this is '1'",
        ),
        (lambda client: Client(client.transport, timeout=None), "a timeout is a number of seconds"),
        (lambda client: Client("npx some-server"), "a client needs a transport, as in .* this is 'npx some"),
        (lambda client: Client(client.transport, traffic=[]), "a record is a Traffic"),
        (lambda client: Client(client.transport, handlers=["roots/list"]), "handlers are a dict"),
        (
            lambda client: Client(client.transport, handlers={"roots/list": {}}),
            "a handler is a plain function",
        ),
        (lambda client: Client(client.transport, handlers={"roots/list": later}), "a plain function"),
    ],
)
def test_what_has_the_wrong_type_is_refused_with_a_sentence_before_anything_is_sent(ask, sentence):
    with connected(tiny(ECHO)) as client:
        before = len(client.traffic)
        with pytest.raises(TypeError, match=sentence):
            ask(client)
        assert len(client.traffic) == before
        assert echo(client) == "hello"


def test_a_timeout_that_is_no_number_of_seconds_is_refused():
    with pytest.raises(ValueError, match="a timeout is a number of seconds"):
        Client(StdioTransport(tiny(ECHO)), timeout=float("nan"))


def test_a_call_is_finished_as_often_as_one_likes_and_a_cancelled_one_at_once():
    with connected(tiny(ECHO)) as client:
        waiting = client.begin_call("echo", {"text": "hello"})
        assert [client.finish_call(waiting).text for _ in range(2)] == ["hello", "hello"]
        client.cancel(waiting)
    with connected(tiny("serve(lambda m: None)"), timeout=60) as client:
        waiting = client.begin_call("x")
        client.cancel(waiting)
        with pytest.raises(McpError, match="nobody waits"):
            client.finish_call(waiting)


def test_a_call_without_arguments_sends_an_empty_object_and_a_progress_token():
    with connected(tiny("serve(lambda m: reply(m, text(json.dumps(m['params']))))")) as client:
        params = json.loads(client.call_tool("x").text)
    assert (
        params["name"] == "x"
        and params["arguments"] == {}
        and isinstance(params["_meta"]["progressToken"], int)
    )


def test_sixteen_threads_call_at_once_and_each_gets_its_own_answer():
    with connected(tiny(ECHO), timeout=30) as client:
        wrong = []

        def work(me):
            for n in range(40):
                if echo(client, f"{me}-{n}") != f"{me}-{n}":
                    wrong.append((me, n))

        threads = [threading.Thread(target=work, args=(me,)) for me in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        sent = [event.body["id"] for event in kinds(client.traffic, "request", "sent")]
        assert len(sent) == len(set(sent)) == 641


def test_threads_that_start_the_client_together_start_one_server():
    with client_of(tiny("serve(print, lambda m: reply(m, {}))")) as client:
        threads = [threading.Thread(target=client.request, args=("ping",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert steps(client.traffic) == ["spawned"]


def test_long_messages_from_several_threads_are_not_mixed():
    with connected(tiny(ECHO), timeout=30) as client:
        outcomes = []
        texts = [letter * 300_000 for letter in "abcd"]
        threads = [threading.Thread(target=lambda t=t: outcomes.append(echo(client, t))) for t in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == texts


# Deadlines


def test_progress_extends_a_deadline_up_to_ten_times_the_timeout():
    with connected("progress_for_ever") as client:
        began = time.monotonic()
        with pytest.raises(RequestTimeout, match="no reply to 'tools/call' within 2 s"):
            echo(client, timeout=0.2)
        assert 1.8 < time.monotonic() - began < 2.0 + PROMPT


def test_a_progress_token_that_comes_back_as_a_text_counts():
    server = (
        "def call(m):\n"
        "    for n in range(8):\n"
        "        params = {'progressToken': str(m['params']['_meta']['progressToken']), 'progress': n}\n"
        "        send({'jsonrpc': '2.0', 'method': 'notifications/progress', 'params': params})\n"
        "        time.sleep(0.1)\n"
        "    reply(m, {'content': [{'type': 'text', 'text': 'done'}]})\n"
        "serve(call)"
    )
    with connected(tiny("import time\n" + server)) as client:
        assert client.call_tool("echo", timeout=0.6).text == "done"


def test_a_server_that_prints_how_it_is_used_and_ends_is_quoted():
    quoted = pytest.raises(ServerExited, match=r"beside messages:\n    usage: server --root FOLDER")
    for status in (0, 2):
        code = f"print('usage: server --root FOLDER'); raise SystemExit({status})"
        with client_of(tiny(code)) as client, quoted:
            client.initialize(timeout=10)


def test_a_client_with_more_patience_has_it_for_the_handshake_too():
    with client_of(tiny("serve(None)"), timeout=77.0) as client:
        client.connect()
        waited = []
        client.initialize = lambda timeout: waited.append(timeout)
        client.connect()
        client.timeout = 1.0
        client.connect()
    assert waited == [77.0, 60.0]


def test_versions_that_a_server_wants_are_quoted_briefly():
    code = (
        "error = {'code': -32022, 'message': 'no', 'data': {'supported': ['x\\ud800' * 100_000]}}\n"
        "send({'jsonrpc': '2.0', 'id': read()['id'], 'error': error}); read()"
    )
    with client_of(tiny(code)) as client, pytest.raises(ProtocolError) as refused:
        client.initialize(timeout=10)
    assert len(str(refused.value).encode()) < 500


def test_progress_of_another_call_extends_nothing():
    code = (
        "def call(m):\n"
        "    for n in range(1000):\n"
        "        params = {'progressToken': [m['params']['_meta']], 'progress': n}\n"
        "        send({'jsonrpc': '2.0', 'method': 'notifications/progress', 'params': params})\n"
        "        time.sleep(0.02)\n"
        "serve(call)"
    )
    with connected(tiny(code)) as client:
        began = time.monotonic()
        with pytest.raises(RequestTimeout):
            echo(client, timeout=0.7)
        assert time.monotonic() - began < 0.7 + PROMPT  # ten times 0.7 would be more


def test_a_late_reply_is_dropped_and_stays_on_the_record():
    code = (
        "held = []\n"
        "def call(m):\n"
        "    held.append(m)\n"
        "    if len(held) == 2:\n"
        "        for each in held: reply(each, text(each['params']['arguments']['text']))\n"
        "serve(call)"
    )
    with connected(tiny(code)) as client:
        with pytest.raises(RequestTimeout):
            echo(client, "first", timeout=0.2)
        assert echo(client, "second") == "second"
        replies = [event.raw for event in kinds(client.traffic, "reply", "received")]
        assert len(replies) == 3 and "first" in replies[1]


# What the server asks


def test_a_handler_may_call_the_server_while_a_call_waits():
    code = (
        "def call(m):\n"
        "    if m['params']['name'] == 'outer':\n"
        "        send({'jsonrpc': '2.0', 'id': 'q', 'method': 'roots/list'})\n"
        "        inner = read(); reply(inner, text('inner'))\n"
        "        answer = read(); reply(m, text(json.dumps(answer['result'])))\n"
        "serve(call)"
    )
    box = []
    handlers = {"roots/list": lambda params: {"said": box[0].call_tool("inner").text}}
    with connected(tiny(code), handlers=handlers) as client:
        box.append(client)
        assert client.call_tool("outer").text == '{"said": "inner"}'


ASKS = (
    "def call(m):\n"
    "    send({'jsonrpc': '2.0', 'id': m['params']['arguments'].get('id', 'q'), 'method': 'roots/list',\n"
    "          'params': m['params']['arguments'].get('params', {})})\n"
    "    answer = read(); reply(m, text(json.dumps(answer)))\n"
    "serve(call)"
)


def refused(answer):
    raise RpcError(-32042, "not now", answer)


def leaving(params):
    raise SystemExit(3)


def stopping(params):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("handler", "code", "message"),
    [
        (lambda params: 1 / 0, -32603, "ZeroDivisionError: division by zero"),
        (lambda params: refused({"when": "later"}), -32042, "not now"),
        (
            lambda params: refused(object()),
            -32603,
            "TypeError: Object of type object is not JSON serializable",
        ),
        (lambda params: object(), -32603, "TypeError: Object of type object is not JSON serializable"),
        (lambda params: float("nan"), -32603, "ValueError: Out of range float values are not JSON compliant"),
        (leaving, -32603, "SystemExit: 3"),
        (stopping, -32603, "KeyboardInterrupt: "),
    ],
)
def test_whatever_goes_wrong_in_a_handler_is_an_error_for_the_server_and_the_next_question_is_answered(
    handler, code, message
):
    with connected(tiny(ASKS), handlers={"roots/list": handler}) as client:
        for _ in range(2):
            error = json.loads(client.call_tool("x").text)["error"]
            assert error["code"] == code and error["message"].startswith(message)


@pytest.mark.parametrize("params", [[1], "text", None, 7])
def test_a_handler_always_gets_an_object(params):
    seen = []
    with connected(tiny(ASKS), handlers={"roots/list": seen.append}) as client:
        answer = json.loads(client.call_tool("x", {"params": params}).text)
    assert answer["result"] == {} and seen == [{}]


def test_a_question_that_the_server_takes_back_is_not_answered():
    code = (
        "def call(m):\n"
        "    for id in ('a', 'b'):\n"
        "        send({'jsonrpc': '2.0', 'id': id, 'method': 'roots/list'})\n"
        "    for id in ('a', 'never used', None, [1]):\n"
        "        send({'jsonrpc': '2.0', 'method': 'notifications/cancelled', 'params': {'requestId': id}})\n"
        "    send({'jsonrpc': '2.0', 'method': 'notifications/all_said'})\n"
        "    reply(m, text(read()['id']))\n"
        "serve(call)"
    )
    taken_back, heard = threading.Event(), []

    def roots(params):
        heard.append(params)
        assert taken_back.wait(5)
        return {"roots": []}

    with connected(tiny(code), handlers={"roots/list": roots}) as client:
        client.traffic.subscribe(
            lambda event: (
                taken_back.set() if (event.body or {}).get("method", "").endswith("all_said") else None
            )
        )
        assert client.call_tool("x").text == "b" and len(heard) == 2


def test_odd_ids_are_answered_as_they_came_and_impossible_ones_are_noise():
    code = (
        "def call(m):\n"
        "    for id in (0, -7, 2**70, 1.5, '', 'x' * 5000):\n"
        "        send({'jsonrpc': '2.0', 'id': id, 'method': 'ping'}); assert read()['id'] == id\n"
        "    for id in ('NaN', '1e999', 'true', '[1]', 'null'):\n"
        '        out.write(b\'{"jsonrpc": "2.0", "id": %s, "method": "ping"}\\n\' % id.encode())\n'
        "        out.flush()\n"
        "    send({'jsonrpc': '2.0', 'id': 'last', 'method': 'ping'}); assert read()['id'] == 'last'\n"
        "    reply(m, text('done'))\n"
        "serve(call)"
    )
    with connected(tiny(code)) as client:
        assert client.call_tool("x").text == "done"
        assert len(kinds(client.traffic, "noise")) == 5


def test_a_handler_that_hangs_delays_neither_a_ping_nor_the_end():
    release = threading.Event()
    code = (
        "def call(m):\n"
        "    send({'jsonrpc': '2.0', 'id': 'a', 'method': 'roots/list'})\n"
        "    send({'jsonrpc': '2.0', 'id': 'b', 'method': 'ping'})\n"
        "    assert read()['id'] == 'b'; reply(m, text('pong came'))\n"
        "serve(call)"
    )
    with connected(tiny(code), handlers={"roots/list": lambda params: release.wait(30)}) as client:
        assert client.call_tool("x").text == "pong came"
        began = time.monotonic()
        client.close()
        assert time.monotonic() - began < PROMPT
        release.set()


def test_a_handler_may_close_the_client():
    box, done = [], threading.Event()

    def handler(params):
        box[0].close()
        done.set()

    with connected(tiny(ASKS), handlers={"roots/list": handler}) as client:
        box.append(client)
        with pytest.raises(TransportError, match="is closed"):
            client.call_tool("x")
        assert done.wait(5) and is_gone(pid_of(client))


def test_questions_that_wait_for_an_answer_are_dropped_when_the_client_closes():
    answered, closed = [], threading.Event()

    def answer(params):
        answered.append(params["n"])
        closed.wait(5)

    code = "for n in range(50): send({'jsonrpc': '2.0', 'id': n, 'method': 'ask', 'params': {'n': n}})\n"
    with connected(tiny(code + "serve(print)"), handlers={"ask": answer}) as client:
        wait_until(lambda: answered)
        handler = next(thread for thread in threading.enumerate() if thread.name.endswith("(_run)"))
        client.close()
        closed.set()
        handler.join()
    assert answered == [0]


def test_a_subscriber_that_makes_a_call_is_refused_and_stops_nobody(monkeypatch):
    refused = []
    monkeypatch.setattr(threading, "excepthook", lambda what: refused.append(str(what.exc_value)))
    with connected(tiny(ECHO)) as client:
        client.traffic.subscribe(lambda event: event.kind == "reply" and echo(client))
        assert echo(client) == echo(client) == "hello"
    assert len(refused) == 1 and "a subscriber of the record must not send" in refused[0]


def test_a_notification_reaches_its_handler_and_a_handler_that_raises_is_on_the_record():
    code = (
        "def call(m):\n"
        "    for n in range(3):\n"
        "        send({'jsonrpc': '2.0', 'method': 'notifications/message', 'params': {'data': n}})\n"
        "    reply(m, text('ok'))\n"
        "serve(call)"
    )
    heard = []

    def handler(params):
        heard.append(params["data"])
        if params["data"] == 1:
            raise SystemExit("tired")

    with connected(tiny(code), handlers={"notifications/message": handler}) as client:
        client.call_tool("x")
        wait_until(lambda: len(heard) == 3)
        failed = wait_for(client.traffic, lambda event: event.kind == "process" and "handler" in event.raw)
    assert failed.raw == "the handler of notifications/message failed: SystemExit: tired"
    assert failed.body == {"event": "handler failed", "method": "notifications/message"}


def test_a_flood_of_pings_is_answered_and_a_flood_of_notifications_heard():
    with connected("request_flood", timeout=20) as client:
        assert echo(client) == "hello"
        wait_until(lambda: len(kinds(client.traffic, "reply", "sent")) == 1_000, seconds=20)
    with connected("notification_flood", timeout=20) as client:
        assert echo(client) == "hello"
        assert len(kinds(client.traffic, "notification", "received")) == 10_000


# Interrupts


@pytest.mark.parametrize("at", ["reading", "writing", "starting"])
def test_an_interrupt_ends_the_call_at_hand_alone(at):
    """A signal in the main thread, as Jupyter's interrupt: while the reply is awaited, while the server does
    not read, and during the handshake."""
    slow = (
        "def call(m):\n"
        "    if m['params']['arguments'].get('text') == 'hello': reply(m, text('hello'))\n"
        "    elif m['params']['arguments'].get('deaf'): time.sleep(0.5)\n"
    )
    code = slow + ("while read(): pass" if at == "starting" else "serve(call)")
    with client_of(tiny(code), timeout=20) as client:
        if at != "starting":
            client.initialize()
        if at == "writing":
            client.begin_call("x", {"deaf": True})
        main = threading.main_thread().ident
        waits_in = "_wait_until_writable" if at == "writing" else "reply"

        def interrupt():
            wait_until(lambda: sys._current_frames()[main].f_code.co_name == waits_in)
            signal.pthread_kill(main, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            if at == "starting":
                client.initialize()
            else:
                client.call_tool("x", {"text": "y" * (1_000_000 if at == "writing" else 1)})
        thread.join()
        if at == "starting":
            assert not client.alive and is_gone(pid_of(client))
            return
        assert not client._pending._alive() and client.alive
        assert echo(client) == "hello"
        interrupted = kinds(client.traffic, "request", "sent")[-2].body["id"]
        assert cancelled_ids(client.traffic) == [interrupted]


# The end


def interrupted_after(seconds, work, *arguments):
    """Calls `work`, with a KeyboardInterrupt wherever the main thread is by then, if it is in there."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            work(*arguments)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGALRM, before)


def test_interrupts_at_any_moment_of_a_call_tear_no_line_and_block_no_later_call():
    delays = random.Random(7)
    with connected(tiny(ECHO), timeout=20) as client:

        def call():
            while True:
                echo(client, "x" * delays.choice([1, 1, 200_000]))

        for _ in range(500):
            interrupted_after(delays.uniform(0.00005, 0.0015), call)
        assert echo(client) == "hello"


def test_a_call_that_nobody_holds_any_more_is_not_waited_for():
    """So it is when Ctrl-C comes between the sending and the waiting. An error with the id null belongs to
    the only call that waits."""
    code = (
        "def call(m):\n"
        "    if m['params']['name'] == 'kept': send({'jsonrpc': '2.0', 'id': None, 'error': {'code': 1}})\n"
    )
    with connected(tiny(code + "serve(call)")) as client:
        client.begin_call("dropped")
        with pytest.raises(RpcError):
            client.call_tool("kept")


def test_an_interrupt_at_any_moment_of_a_start_leaves_no_server():
    delays = random.Random(7)
    for _ in range(15):
        with client_of(tiny(ECHO)) as client:
            interrupted_after(delays.uniform(0.0005, 0.03), client.initialize)
        assert not client.alive
        assert all(
            is_gone(event.body["pid"]) for event in kinds(client.traffic, "process") if "pid" in event.body
        )


def test_an_interrupt_at_any_moment_of_a_bare_start_leaves_a_transport_that_can_be_closed():
    delays = random.Random(7)
    for _ in range(10):
        traffic = Traffic()
        transport = StdioTransport(tiny(ECHO))
        interrupted_after(delays.uniform(0.0002, 0.01), transport.start, traffic.recorder("bare"))
        transport.close()
        assert steps(traffic)[-1:] in ([], ["exited"])


def test_closing_ends_every_call_that_waits_at_once():
    with connected("never_ends") as client:
        outcomes = []

        def call():
            try:
                echo(client, timeout=30)
            except McpError as problem:
                outcomes.append(str(problem))

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(client._pending._waiting) == 4)
        began = time.monotonic()
        client.close()
        for thread in threads:
            thread.join()
        assert time.monotonic() - began < PROMPT
        assert outcomes == ["the client of 'faulty' is closed"] * 4
        with pytest.raises(TransportError, match="is closed"):
            echo(client)
        assert not client.alive and repr(client) == "<Client 'faulty', closed>"


def test_a_death_ends_every_call_that_waits_with_an_error_of_its_own():
    with connected(tiny("n = []\nserve(lambda m: (n.append(m), len(n) == 3 and os._exit(9)))")) as client:
        waiting = [client.begin_call("x") for _ in range(3)]
        errors = []
        for one in waiting:
            with pytest.raises(ServerExited, match="status 9") as caught:
                client.finish_call(one)
            errors.append(caught.value)
        assert len(set(map(id, errors))) == 3 and cancelled_ids(client.traffic) == []


def test_a_server_that_dies_between_calls_is_noticed_without_one():
    with connected("die_between_calls") as client:
        assert echo(client) == "hello"
        wait_until(lambda: not client.alive)
        with pytest.raises(ServerExited, match=r"status 5; (.*\n)*.*the session has expired"):
            echo(client)


def test_a_server_that_closes_its_stdout_ends_the_calls_although_it_lives():
    with connected("closes_stdout") as client:
        with pytest.raises(TransportError, match="closed its stdout and runs on, unheard"):
            echo(client)
        assert not client.alive and not is_gone(pid_of(client))
    assert is_gone(pid_of(client))


def test_opening_and_closing_from_different_threads_in_any_order():
    clients = [Client(StdioTransport(tiny(ECHO)), traffic=Traffic()) for _ in range(3)]
    for client in clients:
        in_a_thread(client.initialize)
    for client in reversed(clients):
        assert in_a_thread(echo, client) == "hello"
    for client in (clients[1], clients[2], clients[0]):
        in_a_thread(client.close)
    assert all(is_gone(pid_of(client)) for client in clients)


def in_a_thread(function, *arguments):
    box = []
    thread = threading.Thread(target=lambda: box.append(function(*arguments)))
    thread.start()
    thread.join()
    return box[0]


def test_the_client_works_while_an_event_loop_runs_in_the_same_thread():
    async def cell():
        with connected(tiny(ECHO)) as client:
            return echo(client)

    assert asyncio.run(cell()) == "hello"


def test_a_server_starts_although_stderr_has_no_descriptor(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with connected("none") as client:
        assert echo(client) == "hello" and client.transport.stderr[0] == "faulty none: ready"


# Values


def test_a_tool_is_read_from_its_entry_which_stays_as_it_came():
    entry = {"name": "x", "description": 7, "inputSchema": {"type": "object"}, "annotations": {"a": 1}}
    tool = Tool.from_entry(entry)
    assert (tool.name, tool.description, tool.input_schema, tool.raw) == ("x", "", {"type": "object"}, entry)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "x",
        [],
        {},
        {"name": ""},
        {"name": 7, "inputSchema": {}},
        {"name": "x"},
        {"name": "x", "inputSchema": True},
    ],
)
def test_an_entry_that_nobody_could_call_is_a_protocol_error(entry):
    with pytest.raises(ProtocolError, match="tool"):
        Tool.from_entry(entry)


DEEP = json.loads('{"a":' * 900 + "1" + "}" * 900)


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"content": None},
        {"content": [DEEP]},
        {"content": [{"type": "image", "data": "", "mimeType": DEEP}]},
        {"content": [{"type": "resource_link", "uri": "x", "name": DEEP}]},
        {"structuredContent": DEEP},
        {"structuredContent": "\ud800"},
        {"content": [{"type": "text", "text": ""}], "isError": True},
        {"content": [{"type": "text", "text": "\ud83d"}]},
        {"content": [{"type": "text", "text": " "}, {"type": "text", "text": "\n"}]},
    ],
)
def test_what_the_model_reads_is_never_empty_and_always_encodes(result):
    def deeper(levels):
        return ToolResult.from_result(result).text if levels == 0 else deeper(levels - 1)

    for text in (deeper(0), deeper(60)):
        assert text and text.encode("utf-8")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"success": True, "_meta": {}}, '{"success": true}'),
        ({"task": {"id": 7}, "isError": False}, '{"task": {"id": 7}}'),
        ({"toolResult": "sent"}, '{"toolResult": "sent"}'),
        (
            {"content": ["one", {"type": "text", "text": {"a": 1}}, {"type": "text", "text": 2}]},
            '[not a content block: one]\n[not a content block: {"type": "text", "text": {"a": 1}}]\n'
            '[not a content block: {"type": "text", "text": 2}]',
        ),
        ({"content": [{"type": "text", "text": " \n"}], "structuredContent": {"a": 1}}, '{"a": 1}'),
        ({"content": [], "other": 1}, "(the tool gave no output)"),
    ],
)
def test_what_a_server_says_in_another_shape_reaches_the_model(result, text):
    assert ToolResult.from_result(result).text == text


@pytest.mark.parametrize(
    ("sent", "is_error"), [(True, True), ("true", True), (1, True), ("false", False), (None, False)]
)
def test_a_failure_is_seen_in_whatever_a_server_writes_for_true(sent, is_error):
    assert ToolResult.from_result({"content": [], "isError": sent}).is_error is is_error


def test_a_placeholder_is_short_whatever_it_stands_for():
    for block in (
        {"type": "x" * 5_000},
        {"type": "image", "data": "AAAA", "mimeType": "y" * 5_000},
        {"type": "resource_link", "uri": "z" * 5_000},
        DEEP,
    ):
        assert len(block_text(block)) <= 302


def test_a_null_error_beside_a_result_is_no_error_and_an_error_beside_a_result_is_one():
    with connected("null_error_beside_result") as client:
        assert echo(client) == "hello"
    with connected("result_and_error") as client:
        with pytest.raises(RpcError, match="and an error too"):
            echo(client)
        assert echo(client) == "hello"


def test_structured_content_that_breaks_its_schema_is_a_warning_and_the_result_stands():
    with connected("output_schema_broken") as client:
        client.list_tools()
        with pytest.warns(McpWarning, match="structured content breaks its schema"):
            assert echo(client) == "hello"


def test_an_output_schema_whose_pattern_never_ends_delays_nothing():
    with connected("output_schema_endless") as client:
        client.list_tools()
        assert echo(client) == "hello"


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"$ref": "http://127.0.0.1:9/x"}, {"pattern": "("}, DEEP]
)
def test_an_output_schema_that_cannot_be_used_spoils_nothing(schema):
    tool = {"name": "echo", "inputSchema": {}, "outputSchema": schema}
    code = (
        f"tool = json.loads({json.dumps(json.dumps(tool))})\n"
        "serve(lambda m: reply(m, {'content': [], 'structuredContent': 'x'}),\n"
        "      lambda m: m['method'] == 'tools/list' and reply(m, {'tools': [tool]}))"
    )
    with connected(tiny(code)) as client:
        client.list_tools()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", McpWarning)
            assert echo(client) == "x"


BOMB = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)} | {"d30": {}}


@pytest.mark.parametrize(
    ("schema", "warned"),
    [
        ({"properties": {"a": {"pattern": "^(a+)+$"}}}, None),
        ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, None),
        ({"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False}, None),
        ({"propertyNames": {"pattern": "^(a+)+$"}}, None),
        ({"$defs": BOMB, "$ref": "#/$defs/d0"}, "cannot be used (TimeoutError)"),
        ({"properties": {"a": {"type": "number"}}}, "is not of type 'number'"),
        ({"additionalProperties": False, "properties": {"a": {}}}, "was unexpected"),
    ],
)
def test_an_output_schema_has_a_deadline_and_its_regular_expressions_are_not_tried(
    schema, warned, monkeypatch
):
    """A pattern that runs for ever would take the whole process with it: Python cannot interrupt it."""
    monkeypatch.setattr("mcp_lessons._checks.CHECK_SECONDS", 0.05 if "Timeout" in str(warned) else 60)
    problem = output_problem(schema, {"a": "a" * 50 + "!", "a" * 50 + "!": 1})
    assert problem is None if warned is None else warned in problem


def test_the_number_of_pages_is_bounded(monkeypatch):
    monkeypatch.setattr("mcp_lessons.client.MAX_PAGES", 20)
    with connected("endless_pages") as client, pytest.warns(McpWarning, match="the pages after the first 20"):
        assert len(client.list_tools()) >= 20
        assert client.list_problems[-1] == "the pages after the first 20" and len(client.list_problems) == 3


def test_a_list_whose_pages_never_end_has_a_deadline_in_all(monkeypatch):
    monkeypatch.setattr("mcp_lessons.client.PROGRESS_LIMIT", 0)  # timeouts that all pages may take together
    with connected("endless_pages") as client, pytest.warns(McpWarning, match="the pages after the first 1$"):
        assert [tool.name for tool in client.list_tools()] == ["echo", "add", "tool_1"]


def test_a_warning_of_a_list_says_twenty_things_and_counts_the_rest():
    tools = "{'tools': [{'name': 'n%d' % n} for n in range(1000)]}"
    with connected(tiny(f"serve(None, lambda m: 'id' in m and reply(m, {tools}))")) as client:
        with pytest.warns(McpWarning, match="and 980 more of the kind") as warned:
            assert client.list_tools() == []
        assert len(str(warned[0].message)) < 1500 and len(client.list_problems) == 1000


def test_a_second_page_that_nobody_knows_is_no_end_of_the_list():
    code = (
        "def other(m):\n"
        "    if m['method'] != 'tools/list': return\n"
        "    if not m['params'].get('cursor'): return reply(m, {'tools': [], 'nextCursor': 'two'})\n"
        "    send({'jsonrpc': '2.0', 'id': m['id'], 'error': {'code': -32601, 'message': 'no'}})\n"
        "serve(None, other)"
    )
    with connected(tiny(code)) as client, pytest.raises(RpcError):
        client.list_tools()


def test_a_page_that_fails_raises_its_error_and_the_next_listing_may_succeed():
    with connected("page_two_fails") as client, pytest.raises(RpcError):
        client.list_tools()


def test_a_slow_start_has_a_deadline_of_its_own():
    with client_of(faulty("slow_start", seconds=0.8), timeout=0.1) as client:
        assert client.initialize(timeout=10).name == "faulty-slow_start"
