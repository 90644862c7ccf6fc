"""Faults beyond the reported ones, of the same kinds: what a line, a reply, a list, a handshake, a process
can be. Servers of the lab where it has them; the others are inlined."""

import json
import signal
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
    tiny,
    wait_until,
)

from mcp_lessons import McpError, RequestTimeout, RpcError, ServerExited, TransportError
from mcp_lessons.errors import McpWarning, ProtocolError

T = 0.4


def names(client):
    return [tool.name for tool in client.list_tools()]


def writing(expression, then="reply(m, text('fine'))"):
    """A server that writes the bytes of a Python expression before it answers a call."""
    return tiny(f"def call(m):\n    out.write({expression}); out.flush()\n    {then}\nserve(call)")


# Lines: whatever stands on lines of its own is skipped, and the reply after it is read


@pytest.mark.parametrize(
    "noise",
    [
        r"b'\x00\x01\x02\xff\xfe\n'",
        r"bytes(range(256)).replace(b'\n', b'') + b'\n'",
        r"b'\r\r\r\n\n\n \n'",
        r"b'{\n'",
        r"b'}' * 100_000 + b'\n'",
        r"b'[' * 100_000 + b'\n'",
        r"b'{\"a\":' * 5_000 + b'1' + b'}' * 5_000 + b'\n'",
        r"b'9' * 100_000 + b'\n'",
        r"b'1e99999\n'",
        r"b'NaN\n-Infinity\n'",
        r"b'\"\\ud800\"\n'",
        r"b'{\"jsonrpc\": \"2.0\", \"id\": ' + b'9' * 5_000 + b', \"result\": {}}\n'",
        r"b'{\"jsonrpc\": \"2.0\", \"method\": \"\\ud83d\"}\n'",
        r"b'{\"jsonrpc\": \"2.0\", \"method\": \"a\", \"method\": 7}\n'",
        r"b'\xef\xbb\xbf\n'",
        r"'{\"jsonrpc\": \"2.0\"}\n'.encode('utf-16')",
        r"b'\x1b[2K\x1b[1G50%\r\x1b[2K100%\n'",
        r"b'[[], [[]], {\"jsonrpc\": \"2.0\"}, null]\n'",
        r"b'[' + b'{\"jsonrpc\":\"2.0\",\"method\":\"x\"},' * 999 + b'7]\n'",
        r"b'x' * 3_000_000 + b'\n'",
    ],
)
def test_no_line_of_noise_spoils_the_reply_after_it(noise):
    with connected(writing(noise)) as client:
        assert [client.call_tool("x").text for _ in range(2)] == ["fine", "fine"]
        assert cancelled_ids(client.traffic) == []


def test_an_endless_line_ends_the_call_at_its_deadline_in_bounded_memory(monkeypatch):
    monkeypatch.setattr("mcp_lessons.stdio.MAX_LINE", 1_000_000)
    with connected("endless_line") as client, pytest.raises(RequestTimeout):
        echo(client, timeout=T)
    assert max(len(event.raw) for event in client.traffic) <= 1_000_000


def test_half_a_reply_and_the_end_is_a_dead_server_with_the_half_on_the_record():
    with connected("cut_reply") as client:
        with pytest.raises(ServerExited, match="status 0"):
            echo(client)
        assert kinds(client.traffic, "noise")[-1].raw.startswith('{"jsonrpc"')


def test_a_last_line_without_a_newline_counts():
    code = "serve(lambda m: (out.write(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': text('bye')}).encode()), out.flush(), os._exit(0)))"  # noqa: E501
    with connected(tiny(code)) as client:
        assert client.call_tool("x").text == "bye"


@pytest.mark.parametrize(
    "fault",
    [
        "bom",
        "blank_lines",
        "two_on_a_line",
        "line_separators",
        "echoes_stdin",
        "duplicate_reply",
        "chatterbox",
    ],
)
def test_harmless_oddities_of_lines_are_taken(fault):
    with connected(fault) as client:
        assert names(client) == ["echo", "add"]
        assert client.call_tool("add", {"a": 1, "b": 2}).text or fault == "line_separators"
        assert echo(client).startswith(("hello", "one\u2028two"))


@pytest.mark.parametrize(
    "fault",
    ["stdout_log_unterminated", "pretty_json", "utf16", "coloured_lines"],
)
def test_a_reply_that_shares_its_line_or_has_none_ends_in_time_and_is_quoted(fault):
    with client_of(faulty(fault)) as client:
        client.start()
        wait_until(lambda: client.transport.stderr)
        with pytest.raises(RequestTimeout, match="it printed, beside messages: "):
            client.initialize(timeout=T)
            echo(client, timeout=T)


# Replies


@pytest.mark.parametrize(
    "fault", ["float_ids", "odd_ids", "ping_with_your_id", "early_ping", "early_notifications"]
)
def test_odd_ids_and_early_messages_are_taken(fault):
    with connected(fault) as client:
        assert echo(client) == "hello"


def test_every_odd_error_is_an_rpc_error():
    with connected("odd_errors") as client:
        for _ in range(7):
            with pytest.raises(RpcError):
                echo(client)


@pytest.mark.parametrize("fault", ["no_jsonrpc", "neither_result_nor_error", "python_repr", "deep_json"])
def test_a_reply_that_is_no_message_ends_the_call_in_time(fault):
    with client_of(faulty(fault)) as client:
        client.start()
        wait_until(lambda: client.transport.stderr)
        with pytest.raises(RequestTimeout):
            client.initialize(timeout=T if fault == "no_jsonrpc" else 10)
            echo(client, timeout=T)
        if fault != "no_jsonrpc":
            assert echo(client) == "hello"


def test_an_error_with_a_null_id_ends_no_call_when_several_wait():
    code = (
        "held = []\n"
        "def call(m):\n"
        "    held.append(m)\n"
        "    if len(held) == 2:\n"
        "        send({'jsonrpc': '2.0', 'id': None, 'error': {'code': 1, 'message': 'whose?'}})\n"
        "        for each in held: reply(each, text('mine'))\n"
        "serve(call)"
    )
    with connected(tiny(code)) as client:
        waiting = [client.begin_call("x"), client.begin_call("x")]
        assert [client.finish_call(one).text for one in waiting] == ["mine", "mine"]


@pytest.mark.parametrize(
    "id", ['" %d"', '"+%d"', '"%d.0"', '"%de0"', "[%d]", "-%d", "%d.5", '{"id": %d}', '"0%d"']
)
def test_an_id_that_only_looks_like_ours_is_not_ours(id):
    line = '{"jsonrpc": "2.0", "id": ' + id + ', "result": {}}'
    code = (
        "def call(m):\n"
        f"    out.write(({line!r} % m['id'] + '\\n').encode()); out.flush()\n"
        "    reply(m, text('mine'))\n"
        "serve(call)"
    )
    with connected(tiny(code)) as client:
        assert client.call_tool("x").text == "mine"


# Lists


@pytest.mark.parametrize(
    ("fault", "expected", "warned"),
    [
        ("paged_empty_middle", ["echo", "add"], None),
        ("cursor_null", ["echo", "add"], None),
        ("cursor_number", None, "came twice"),
        ("list_without_tools", [], "a page without tools"),
        ("tools_not_a_list", [], "a page without tools"),
        ("duplicate_tools", ["echo", "add"], "'echo' a second time"),
        ("long_name", None, None),
        ("dotted_name", None, None),
        ("hostile_text", None, None),
        ("list_changed_always", ["echo", "add"], None),
    ],
)
def test_odd_lists_of_tools_are_read_as_far_as_they_go(fault, expected, warned):
    with connected(fault) as client, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = names(client)
        said = [str(warning.message) for warning in caught]
    assert found == expected if expected is not None else "echo" in found
    assert len(said) == 1 and warned in said[0] if warned else said == []


def test_a_list_that_is_null_is_a_protocol_error():
    with connected("list_null") as client, pytest.raises(ProtocolError, match="tools/list is no object"):
        client.list_tools()


def test_schemas_that_are_no_objects_take_their_tools_with_them_and_no_others():
    with connected("odd_schemas") as client, pytest.warns(McpWarning, match="without an input schema"):
        assert {"echo", "add"} <= set(names(client))


def test_two_thousand_tools_are_listed():
    with connected("huge_list") as client:
        assert len(names(client)) == 2_002


@pytest.mark.parametrize("cursor", ['{"a": 1}', "[1]", "true", "0", '"\\ud800"', '" "', "1.5"])
def test_a_cursor_of_any_kind_is_sent_back_as_it_came(cursor):
    code = (
        f"CURSOR = json.loads({cursor!r})\n"
        "seen = []\n"
        "def other(m):\n"
        "    if m['method'] != 'tools/list': return\n"
        "    seen.append(m.get('params') or {})\n"
        "    page = {'tools': [{'name': f'tool{len(seen)}', 'inputSchema': {}}]}\n"
        "    if len(seen) == 1: page['nextCursor'] = CURSOR\n"
        "    elif json.dumps(seen[1]['cursor']) != json.dumps(CURSOR): page['tools'] = []\n"
        "    reply(m, page)\n"
        "serve(print, other)"
    )
    with connected(tiny(code)) as client:
        if cursor == '"\\ud800"':  # no UTF-8 can carry it back: the list still ends
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", McpWarning)
                assert names(client)[0] == "tool1"
        else:
            assert names(client) == ["tool1", "tool2"]


def test_a_server_that_refuses_to_list_what_it_did_not_declare_has_no_tools():
    code = (
        "HELLO['capabilities'] = {'prompts': {}}\n"
        "serve(print, lambda m: 'id' in m and send({'jsonrpc': '2.0', 'id': m['id'], 'error': {'code': -32602, 'message': 'Invalid'}}))"  # noqa: E501
    )
    with connected(tiny(code)) as client:
        assert client.list_tools() == []


# Results


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("content_not_a_list", "hello"),
        ("is_error_text", "hello"),
        ("failure_as_text", "Error: permission denied"),
        ("structured_not_an_object", '["hello", "hello"]'),
        ("not_a_number", "hello"),
        ("huge_number", "hello"),
        ("lone_surrogates", "half a smile: ? hello"),
        ("image", "[image: image/png, 70 bytes]"),
    ],
)
def test_odd_results_are_read_as_text(fault, text):
    with connected(fault) as client:
        result = client.call_tool("echo", {"text": "hello"})
        assert (result.text, result.is_error) == (text, False)


def test_one_block_without_a_list_around_it_is_read():
    with connected(
        tiny("serve(lambda m: reply(m, {'content': {'type': 'text', 'text': 'alone'}}))")
    ) as client:
        assert client.call_tool("x").text == "alone"


def test_an_error_can_be_printed_whatever_it_is_made_of():
    half = r"{'code': 1, 'message': 'half \ud83d', 'data': {'\ud83d': 1}}"
    code = f"serve(lambda m: send({{'jsonrpc': '2.0', 'id': m['id'], 'error': {half}}}))"
    with connected(tiny(code)) as client, pytest.raises(RpcError) as caught:
        client.call_tool("x")
    assert str(caught.value).encode("utf-8") == b'half ? [1] (data: {"?": 1})'


def test_control_characters_reach_the_reader_as_they_are():
    with connected("control_characters") as client:
        assert "\x1b[2J" in echo(client)


# The handshake


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        ("version_number", ProtocolError, "speaks version '2'"),
        ("initialize_empty", ProtocolError, "speaks version ''"),
        ("initialize_text", ProtocolError, "the result of initialize is no object"),
        ("initialize_error", RpcError, r"the licence has expired \[-32602\]"),
        ("die_on_initialize", ServerExited, "status 4"),
    ],
)
def test_a_handshake_that_goes_wrong_says_how_and_leaves_nothing(fault, error, words):
    with client_of(faulty(fault)) as client:
        with pytest.raises(error, match=words):
            client.initialize()
        assert not client.alive and is_gone(pid_of(client))


def test_odd_parts_of_a_handshake_are_taken_as_empty():
    with connected("initialize_odd_parts") as client:
        assert client.server.capabilities == {} and client.server.protocol_version == "2025-11-25"
        assert echo(client) == "hello"


def test_a_mute_server_ends_the_handshake_at_its_deadline():
    code = "print('log in at http://127.0.0.1:9', file=sys.stderr, flush=True)\nwhile read(): pass"
    with client_of(tiny(code)) as client:
        client.start()
        wait_until(lambda: client.transport.stderr)
        with pytest.raises(RequestTimeout, match=r"no reply to 'initialize' .*'log in at http:"):
            client.initialize(timeout=T)
        assert is_gone(pid_of(client))


@pytest.mark.parametrize(
    "hello",
    [
        "{'protocolVersion': '2025-11-25'}",
        "{'protocolVersion': '2025-11-25', 'serverInfo': [], 'capabilities': 7, 'instructions': {'a': 1}}",
        "{'protocolVersion': '2025-11-25', 'serverInfo': {'name': {'a': [1]}, 'version': 9}}",
        "{'protocolVersion': '2025-06-18', 'extra': 'x' * 1_000_000}",
    ],
)
def test_a_handshake_with_strange_company_succeeds(hello):
    with connected(tiny(f"HELLO = {hello}\nserve(lambda m: reply(m, text('fine')))")) as client:
        assert client.call_tool("x").text == "fine"
        assert isinstance(client.server.name, str) and isinstance(client.server.instructions, str)


# The process


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("os._exit(0)", "status 0"),
        ("os._exit(255)", "status 255"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
        ("os.abort()", "signal 6"),
        ("os.close(1); os.close(2); os.close(0); os._exit(3)", "status 3"),
        (
            "raise ValueError('the last words')",
            "status 1; the end of its stderr:\n(.*\n)*.*ValueError: the last words",
        ),
        (
            "[sys.stderr.write(f'line {n}\\n') for n in range(5000)]; sys.stderr.flush(); os._exit(2)",
            "status 2(.*\n)*.*line 4999",
        ),
        (
            "sys.stderr.write('no newline'); sys.stderr.flush(); os._exit(2)",
            "status 2; the end of its stderr:\n    no newline",
        ),
        ("os.write(2, b'\\xff\\xfe\\n'); os._exit(2)", "status 2"),
    ],
)
def test_however_a_server_dies_the_call_ends_with_its_status_and_its_last_words(end, words):
    with connected(tiny(f"def call(m):\n    {end}\nserve(call)")) as client:
        began = time.monotonic()
        with pytest.raises(ServerExited, match=words) as caught:
            client.call_tool("x")
        assert time.monotonic() - began < PROMPT and len(caught.value.stderr) <= 20
        with pytest.raises(ServerExited, match=words):
            client.list_tools()


def test_replies_written_just_before_a_death_are_all_delivered():
    code = (
        "held = []\n"
        "def call(m):\n"
        "    held.append(m)\n"
        "    if len(held) == 50:\n"
        "        for each in held: reply(each, text('x' * 20_000))\n"
        "        os._exit(0)\n"
        "serve(call)"
    )
    with connected(tiny(code)) as client:
        waiting = [client.begin_call("x") for _ in range(50)]
        assert [len(client.finish_call(one).text) for one in waiting] == [20_000] * 50


def test_a_death_that_nobody_sees_coming_is_reported_to_the_one_who_writes():
    with connected(tiny("read_once = read; m = read(); reply(m, HELLO); read(); os._exit(5)")) as client:
        wait_until(lambda: not client.alive)
        with pytest.raises(ServerExited, match="status 5"):
            client.notify("notifications/x")


def test_a_call_that_a_dying_server_does_not_read_ends_with_the_exit_status():
    code = "m = read(); reply(m, HELLO); read(); time.sleep(0.3); os._exit(6)"
    with connected(tiny(code)) as client, pytest.raises(ServerExited, match="status 6"):
        echo(client, "x" * 2_000_000)


def test_a_server_may_take_its_time_to_go():
    with connected("slow_exit") as client:
        pass
    assert (
        list(client.traffic)[-1].body["status"] == 1
        and list(client.traffic)[-1].body["stderr"][-1] == "saved the session"
    )


def test_a_tool_that_kills_the_server_is_a_dead_server():
    dies = pytest.raises(ServerExited, match=r"status 1(.*\n)*.*KeyError")
    with connected("unknown_tool_kills") as client, dies:
        client.call_tool("no such tool")


def test_a_killed_server_says_which_signal():
    with connected("killed_mid_call") as client, pytest.raises(ServerExited, match="signal 9") as caught:
        echo(client)
    assert caught.value.status == -signal.SIGKILL


def test_floods_on_both_pipes_at_once_do_not_block():
    code = (
        "def call(m):\n"
        "    for n in range(200):\n"
        "        os.write(2, b'e' * 50_000); out.write(b'o' * 50_000); out.flush()\n"
        "    out.write(b'\\n'); reply(m, text('done'))\n"
        "serve(call)"
    )
    with connected(tiny(code), timeout=20) as client:
        assert client.call_tool("x").text == "done"


def test_a_server_that_writes_while_we_write_blocks_neither():
    code = "def call(m):\n    reply(m, text(m['params']['arguments']['text'] * 2))\nserve(call)"
    with connected(tiny(code), timeout=30) as client:
        outcomes = []

        def work(letter):
            for _ in range(3):
                outcomes.append(echo(client, letter * 500_000) == letter * 1_000_000)

        threads = [threading.Thread(target=work, args=(letter,)) for letter in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes == [True] * 12


def test_a_busy_server_is_closed_in_the_middle_of_its_work():
    with connected(faulty("busy", seconds=60)) as client:
        waiting = client.begin_call("echo", {"text": "x"})
        began = time.monotonic()
        client.close()
        assert time.monotonic() - began < 10 and is_gone(pid_of(client))
        with pytest.raises(TransportError, match="is closed"):
            client.finish_call(waiting)


def test_whatever_a_server_answers_every_error_is_one_of_our_tree():
    answers = [
        {"jsonrpc": "2.0", "result": value}
        for value in (None, 0, "x", [], {}, {"content": 7}, {"isError": 1})
    ] + [{"jsonrpc": "2.0", "error": value} for value in (None, 0, "x", [], {}, {"code": "x"}, {"data": [1]})]
    code = (
        f"answers = iter(json.loads({json.dumps(json.dumps(answers))}))\n"
        "serve(lambda m: send({**next(answers), 'id': m['id']}))"
    )
    with connected(tiny(code)) as client:
        for _ in answers:
            try:
                assert client.call_tool("x").text
            except McpError as problem:
                assert str(problem)
