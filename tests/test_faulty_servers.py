"""Every faulty server misbehaves as its name says: what it writes, and how it ends."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

import pytest

from mcp_lessons.servers.faulty import FAULTS

COMMAND = [sys.executable, "-m", "mcp_lessons.servers.faulty"]
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
GREETING = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)
LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
posix = pytest.mark.skipif(os.name == "nt", reason="POSIX signals and pipes")


def call(id, tool="echo", meta=None, **arguments):
    params = {"name": tool, "arguments": arguments} | ({"_meta": meta} if meta else {})
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


SESSION = (*GREETING, LISTING, call(3, text="hé"), call(4, "add", a=2, b=3), call(5, text="again"))


class Run:
    """A session sent in one go, and all that came back until the process ended."""

    def __init__(self, name, *messages, options=(), timeout=30):
        sent = "".join(json.dumps(message) + "\n" for message in messages).encode()
        process = subprocess.run([*COMMAND, name, *options], input=sent, capture_output=True, timeout=timeout)
        self.out, self.err, self.status = process.stdout, process.stderr, process.returncode
        self.name = name

    @property
    def messages(self):
        found = []
        for line in self.out.split(b"\n"):
            with contextlib.suppress(ValueError, RecursionError):
                found.append(json.loads(line))
        return found

    @property
    def replies(self):
        return {m["id"]: m for m in self.messages if isinstance(m, dict) and "method" not in m and "id" in m}

    def result(self, id):
        return self.replies[id]["result"]

    def methods(self):
        return [m.get("method") for m in self.messages if isinstance(m, dict) and "method" in m]


@cache
def session(name):
    return Run(name, *SESSION)


def healthy_replies(name):
    text = json.dumps(session("none").replies).replace("faulty-none", f"faulty-{name}")
    return {int(id): reply for id, reply in json.loads(text).items()}


class Live:
    """A process that is spoken to line by line."""

    def __init__(self, name, *options):
        self.process = subprocess.Popen(
            [*COMMAND, name, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.watchdog = threading.Timer(20, self.process.kill)
        self.watchdog.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.watchdog.cancel()
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                pipe.close()

    def send(self, *messages):
        for message in messages:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def greet(self):
        self.send(*GREETING)
        return self.read()


def test_list_prints_every_name_with_one_sentence():
    listed = subprocess.run(
        [*COMMAND, "--list"], capture_output=True, text=True, timeout=20
    ).stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(FAULTS)
    assert all(line.endswith(".") and len(line.split()) > 3 for line in listed)
    assert len(FAULTS) > 43 + 12


def test_an_unknown_name_is_refused_with_the_names():
    process = subprocess.run([*COMMAND, "no_such_fault"], capture_output=True, text=True, timeout=20)
    assert process.returncode == 2 and "stdout_log" in process.stderr


def test_none_is_healthy():
    run = session("none")
    assert run.status == 0 and run.err.decode().splitlines() == ["faulty none: ready"]
    assert [message["id"] for message in run.messages] == [1, 2, 3, 4, 5]
    assert [tool["name"] for tool in run.result(2)["tools"]] == ["echo", "add"]
    assert run.result(3) == {"content": [{"type": "text", "text": "hé"}], "isError": False}
    assert run.result(4)["content"][0]["text"] == "5"


def test_none_answers_wrong_arguments_and_unknown_tools_by_failed_results():
    run = Run("none", call(1, text=5), call(2, "add", a="x", b=1), call(3, "sub"))
    assert all(run.result(id)["isError"] for id in (1, 2, 3))


ODD_BYTES = {
    "banner": b"* Welcome to Faulty Server 1.0 *\n",
    "stdout_log": b"INFO  answering request 3\n",
    "crlf": b"}\r\n",
    "blank_lines": b"\n  \t \n\r\n",
    "line_separators": "one\u2028two\u2029three\u0085four".encode(),
    "non_object_json": b'null\ntrue\n42\n"text"\n[]\n[1,2]\n{}\n{"level"',
    "stray_ids": b'"id":"no-such-id"',
    "odd_ids": b'"id":{"id":1}',
    "early_notifications": b"list_changed",
    "odd_notifications": b'"method":"$/vendor/telemetry"',
    "odd_requests": b'"id":1180591620717411303424,"method":"ping"',
    "notification_flood": b'"line 9999"',
    "request_flood": b'"flood-999"',
    "list_changed_always": b"notifications/tools/list_changed",
}


@pytest.mark.parametrize("name", ODD_BYTES)
def test_it_writes_more_than_the_replies_and_the_replies_are_whole(name):
    run = session(name)
    assert ODD_BYTES[name] in run.out and ODD_BYTES[name] not in session("none").out
    for id, reply in healthy_replies(name).items():
        if name != "line_separators":
            assert reply in run.messages, id
    assert run.status == 0


def test_line_separators_stand_unescaped_inside_one_line():
    assert session("line_separators").result(3)["content"][0]["text"] == "one\u2028two\u2029three\u0085four"


SPOILED = {  # what the bytes of one reply become
    "bom": lambda line: b"\xef\xbb\xbf" + line,
    "utf16": lambda line: (line.decode() + "\r\n").encode("utf-16-le")[:-1],
    "nul_bytes": lambda line: b"\0\0\0" + line,
    "coloured_lines": lambda line: b"\x1b[32m" + line + b"\x1b[0m",
    "stdout_log_unterminated": lambda line: b"Loading ... " + line,
    "content_length": lambda line: b"Content-Length: %d\r\n\r\n%s" % (len(line), line),
    "duplicate_reply": lambda line: line + b"\n" + line,
    "no_jsonrpc": lambda line: line.replace(b'"jsonrpc":"2.0",', b""),
    "string_ids": lambda line: line.replace(b'"id":4', b'"id":"4"'),
    "float_ids": lambda line: line.replace(b'"id":4', b'"id":4.0'),
    "pretty_json": lambda line: json.dumps(json.loads(line), indent=2).encode(),
    "null_error_beside_result": lambda line: line[:-1] + b',"error":null}',
}


@pytest.mark.parametrize("name", SPOILED)
def test_every_reply_is_dressed_in_the_same_way(name):
    line = b'{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"5"}],"isError":false}}'
    assert line in session("none").out
    spoiled = SPOILED[name](line)
    assert spoiled != line and spoiled in session(name).out


def test_two_on_a_line_puts_a_notification_before_the_reply():
    assert b'"data":"answering"}}{"jsonrpc":"2.0","id":3' in session("two_on_a_line").out


@pytest.mark.parametrize(
    ("name", "spoiled"),
    [
        ("python_repr", b"{'jsonrpc': '2.0', 'id': 3, 'result':"),
        ("invalid_utf8_payload", "déjà vu".encode("cp1252")),
        ("batch_array", b'[{"jsonrpc":"2.0","id":3'),
        ("null_id_error", b'{"jsonrpc":"2.0","id":null,"error":'),
        ("neither_result_nor_error", b'{"jsonrpc":"2.0","id":3}\n'),
        ("result_and_error", b'"and an error too"'),
        ("rpc_error", b'"error":{"code":-32603,"message":"the database is locked","data":{"retry_after":5}}'),
        ("deep_json", b'{"a":' * 100_000),
    ],
)
def test_once_only_the_first_call_is_spoiled(name, spoiled):
    run = session(name)
    assert run.out.count(spoiled) == 1
    assert run.messages[-2:] == [healthy_replies(name)[4], healthy_replies(name)[5]]


def test_split_chunks_arrive_three_bytes_at_a_time():
    with Live("split_chunks") as live:
        live.send(GREETING[0])
        assert os.read(live.process.stdout.fileno(), 1000)[:3] == b'{"j'
        assert "faulty-split_chunks" in str(live.process.stdout.readline())
    assert session("split_chunks").replies == healthy_replies("split_chunks")


def test_big_line_is_three_megabytes():
    assert session("big_line").result(3)["content"][0]["text"] == "x" * 3_000_000


def test_endless_line_has_no_newline_in_the_first_megabyte():
    with Live("endless_line") as live:
        live.greet()
        live.send(call(2, text="x"))
        assert live.process.stdout.read(1_000_000) == b"x" * 1_000_000


def test_echoes_stdin_gives_back_what_was_sent():
    run = session("echoes_stdin")
    assert set(run.methods()) == {"initialize", "notifications/initialized", "tools/list", "tools/call"}
    assert run.replies == healthy_replies("echoes_stdin")


def test_cut_reply_ends_in_the_middle_of_a_message():
    run = session("cut_reply")
    assert not run.out.endswith(b"\n") and list(run.replies) == [1, 2] and run.status == 0
    assert b'"id":3' in run.out


def test_stderr_flood_is_a_megabyte_an_answer_without_newline():
    run = session("stderr_flood")
    assert len(run.err) > 5 * 1_000_000 and run.err.count(b"\n") == 1 and b"\xff\xfe" in run.err
    assert run.replies == healthy_replies("stderr_flood")


def test_stderr_terminal_codes_reach_stderr():
    assert b"\x1b[2J" in session("stderr_terminal_codes").err


@pytest.mark.parametrize("name", ["never_reply", "never_ends"])
def test_calls_stay_without_a_reply(name):
    assert sorted(session(name).replies) == {"never_reply": [1, 2, 4, 5], "never_ends": [1, 2]}[name]


def test_mute_answers_nothing():
    assert session("mute").out == b""


def test_late_reply_comes_after_the_next_one():
    with Live("late_reply", "--seconds", "0.2") as live:
        live.greet()
        live.send(call(2, text="late"), call(3, text="prompt"))
        assert [live.read()["id"], live.read()["id"]] == [3, 2]


def test_out_of_order_holds_the_first_call_until_the_second_is_answered():
    with Live("out_of_order", "--seconds", "60") as live:
        live.greet()
        live.send(call(2, text="first"), call(3, text="second"))
        assert [live.read()["id"], live.read()["id"]] == [3, 2]


def test_out_of_order_lets_a_lone_call_go_after_some_seconds():
    with Live("out_of_order", "--seconds", "0.1") as live:
        live.greet()
        live.send(call(2, text="alone"))
        assert live.read()["id"] == 2


def test_progress_comes_before_the_answer():
    with Live("progress", "--seconds", "0.5") as live:
        live.greet()
        live.send(call(2, text="x", meta={"progressToken": "p"}))
        first, second, reply = live.read(), live.read(), live.read()
    assert first["params"] == {"progressToken": "p", "progress": 1, "total": 2}
    assert second["params"]["progress"] == 2 and reply["id"] == 2


def test_progress_for_ever_counts_on():
    with Live("progress_for_ever") as live:
        live.greet()
        live.send(call(2, text="x", meta={"progressToken": "p"}))
        assert [live.read()["params"]["progress"] for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(("name", "asked"), [("ping_during_call", "server-1"), ("ping_with_your_id", 2)])
def test_a_ping_holds_the_call_until_it_is_answered(name, asked):
    with Live(name) as live:
        live.greet()
        live.send(call(2, text="x"))
        assert live.read() == {"jsonrpc": "2.0", "id": asked, "method": "ping"}
        live.send({"jsonrpc": "2.0", "id": 99, "method": "ping"})
        assert live.read()["id"] == 99
        live.send({"jsonrpc": "2.0", "id": asked, "result": {}})
        assert live.read()["result"]["content"][0]["text"] == "x"


def test_early_ping_holds_initialize_until_it_is_answered():
    with Live("early_ping") as live:
        live.send(GREETING[0])
        assert live.read() == {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        live.send({"jsonrpc": "2.0", "id": 1, "result": {}})
        assert live.read()["result"]["protocolVersion"] == "2025-11-25"


def test_server_requests_are_asked_and_their_answers_reported():
    with Live("server_requests") as live:
        live.greet()
        live.send(call(2, text="x"))
        asked = []
        for _ in range(4):
            question = live.read()
            asked.append(question["method"])
            refusal = {"code": -32601, "message": question["method"]}
            live.send({"jsonrpc": "2.0", "id": question["id"], "error": refusal})
        said = json.loads(live.read()["result"]["content"][0]["text"])
    assert asked == ["roots/list", "sampling/createMessage", "elicitation/create", "vendor/unknown"]
    assert said == {method: {"code": -32601, "message": method} for method in asked}


def test_odd_errors_follow_each_other():
    run = Run("odd_errors", *GREETING, *(call(id, text="x") for id in range(10, 18)))
    errors = [run.replies[id]["error"] for id in range(10, 18)]
    assert errors[:3] == ["boom", None, []] and errors[7] == "boom"


@pytest.mark.parametrize(
    ("name", "version"),
    [("version_old", "2024-11-05"), ("version_future", "2031-01-01"), ("version_number", 2)],
)
def test_the_version_in_the_handshake(name, version):
    assert session(name).result(1)["protocolVersion"] == version


def test_handshakes_that_are_no_handshake():
    assert session("initialize_empty").result(1) == {}
    assert session("initialize_text").result(1) == "hello"
    assert session("initialize_odd_parts").result(1)["serverInfo"] == []
    assert session("initialize_error").replies[1]["error"]["message"] == "the licence has expired"


def test_modern_only_refuses_the_handshake_and_answers_discover():
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    run = Run(
        "modern_only",
        *GREETING,
        {"jsonrpc": "2.0", "id": 2, "method": "server/discover", "params": {"_meta": meta}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {"_meta": meta}},
        {"jsonrpc": "2.0", "id": 4, "method": "tools/list"},
    )
    error = run.replies[1]["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    assert run.result(2)["supportedVersions"] == ["2026-07-28"]
    assert len(run.result(3)["tools"]) == 2 and run.replies[4]["error"]["code"] == -32022


def test_strict_is_content_with_a_client_that_keeps_the_rules():
    assert session("strict").replies == healthy_replies("strict") and session("strict").status == 0


@pytest.mark.parametrize(
    ("messages", "breach"),
    [
        ([LISTING], "tools/list came before notifications/initialized"),
        ([GREETING[0], LISTING], "tools/list came before notifications/initialized"),
        ([*GREETING, LISTING, LISTING], "the id 2 is not fresh"),
        ([*GREETING, LISTING | {"params": []}], "params is no object"),
        ([*GREETING, LISTING | {"params": {"arguments": []}}], "arguments is no object"),
        ([*GREETING, GREETING[0] | {"id": 2}], "initialize came twice"),
        ([GREETING[0] | {"id": 2, "params": {}}], "initialize lacks capabilities or clientInfo"),
    ],
)
def test_strict_names_the_rule_that_was_broken(messages, breach):
    assert Run("strict", *messages).messages[-1]["error"]["message"] == f"strict: {breach}"


def test_strict_leaves_when_a_notification_comes_too_early():
    assert Run("strict", GREETING[1]).status == 3


def walk(name, pages):
    """The tools of each page, and the cursors, following nextCursor for at most `pages` pages."""
    tools, cursors = [], []
    with Live(name) as live:
        live.greet()
        for page in range(pages):
            params = {"cursor": cursors[-1]} if cursors else {}
            live.send({"jsonrpc": "2.0", "id": f"page {page}", "method": "tools/list", "params": params})
            result = live.read().get("result", {"tools": ["error"]})
            tools.append([tool if isinstance(tool, str) else tool["name"] for tool in result["tools"]])
            if "nextCursor" not in result:
                return tools, cursors
            cursors.append(result["nextCursor"])
    return tools, cursors


@pytest.mark.parametrize(
    ("name", "tools", "cursors"),
    [
        ("paged", [["echo"], ["add"], ["sub"]], ["page 2", "page 3"]),
        ("paged_empty_middle", [["echo"], [], ["add"]], ["page 2", "page 3"]),
        ("page_two_fails", [["echo"], ["error"]], ["page 2"]),
        ("cursor_loop", [["echo", "add"]] * 3, ["again"] * 3),
        ("cursor_empty", [["echo", "add"]] * 3, [""] * 3),
        ("cursor_null", [["echo", "add"]] * 3, [None] * 3),
        ("cursor_number", [["echo", "add"]] * 3, [1] * 3),
        ("endless_pages", [["echo", "add", f"tool_{n}"] for n in (1, 2, 3)], ["page 2", "page 3", "page 4"]),
    ],
)
def test_pages(name, tools, cursors):
    assert walk(name, 3) == (tools, cursors)


def test_lists_that_are_no_lists():
    assert session("no_tools").replies[2]["error"]["code"] == -32601
    assert session("no_tools").result(1)["capabilities"] == {}
    assert session("list_without_tools").result(2) == {}
    assert session("list_null").result(2) is None
    assert isinstance(session("tools_not_a_list").result(2)["tools"], dict)


def test_bad_entries_stand_between_echo_and_add():
    for name in ("bad_tool", "odd_schemas", "duplicate_tools", "hostile_text", "tool_names", "huge_list"):
        tools = session(name).result(2)["tools"]
        assert (tools[0]["name"], tools[-1]["name"]) == ("echo", "add") and len(tools) > 2


def test_odd_tools_are_as_odd_as_they_say():
    tools = {
        name: session(name).result(2)["tools"]
        for name in ("odd_schemas", "long_list", "huge_list", "long_name")
    }
    assert [tool.get("inputSchema") for tool in tools["odd_schemas"]][1:5] == [True, None, [], 3]
    assert (len(tools["long_list"]), len(tools["huge_list"])) == (202, 2_002)
    assert len(tools["long_name"][1]["name"]) == 70
    assert session("dotted_name").result(2)["tools"][1]["name"] == "files.read"
    assert "<script>" in session("hostile_text").out.decode()


def test_a_tool_with_an_odd_name_says_which_was_called():
    names = [tool["name"] for tool in session("tool_names").result(2)["tools"]]
    run = Run("tool_names", *GREETING, *(call(name, name) for name in names[1:-1]))
    assert len(names) == len(set(names)) == 20
    assert all(run.result(name)["content"][0]["text"] == f"called {name}" for name in names[1:-1])


def test_list_changed_swaps_echo_for_mul():
    run = Run(
        "list_changed",
        *GREETING,
        call(2, text="x"),
        call(3, text="x"),
        call(4, "mul", a=2, b=3),
        LISTING | {"id": 5},
    )
    assert run.methods() == ["notifications/tools/list_changed"]
    assert not run.result(2)["isError"] and run.result(3)["isError"]
    assert run.result(4)["content"][0]["text"] == "6"
    assert [tool["name"] for tool in run.result(5)["tools"]] == ["add", "mul"]


def test_results_that_are_unusual():
    assert session("is_error").result(3)["isError"] is True
    assert session("structured_only").result(3)["content"] == []
    assert session("structured_only").result(3)["structuredContent"] == {"text": "hé", "length": 2}
    assert session("empty_result").result(3) == {}
    assert len(session("multi_text").result(3)["content"]) == 3
    assert session("image").result(3)["content"][0]["mimeType"] == "image/png"
    assert len(session("huge_image").result(3)["content"][1]["data"]) == 3_000_000
    assert session("odd_blocks").result(3)["content"][-1]["text"] == "the end"
    assert session("content_not_a_list").result(3) == {"content": "hé"}
    assert session("is_error_text").result(3)["isError"] == "false"
    assert session("failure_as_text").result(3)["isError"] is False
    assert session("structured_not_an_object").result(3)["structuredContent"] == ["hé", "hé"]
    assert session("injection").result(3)["content"][0]["text"].startswith("hé\n\nIMPORTANT:")


def test_result_not_an_object_is_another_one_each_time():
    run = Run("result_not_an_object", *GREETING, *(call(id, text="x") for id in range(10, 15)))
    assert [run.result(id) for id in range(10, 15)] == ["x", ["x"], 42, None, False]


def test_an_output_schema_is_declared_and_not_kept():
    for name in ("output_schema_missing", "output_schema_broken"):
        assert session(name).result(2)["tools"][0]["outputSchema"]["required"] == ["text"]
    assert "structuredContent" not in session("output_schema_missing").result(3)
    assert session("output_schema_broken").result(3)["structuredContent"] == {"text": 42}
    endless = session("output_schema_endless")
    assert endless.result(2)["tools"][0]["outputSchema"]["properties"]["text"]["pattern"] == "^(a+)+$"
    assert endless.result(3)["structuredContent"]["text"].endswith("a!")


def test_values_that_json_does_not_have_or_python_does_not_like():
    assert b'"structuredContent":{"a":NaN,"b":-Infinity}' in session("not_a_number").out
    assert b"9" * 10_000 in session("huge_number").out
    assert rb"\ud83d" in session("lone_surrogates").out
    assert rb"\u0000\u001b[2J" in session("control_characters").out


def test_an_unknown_tool_kills_or_is_refused():
    run = Run("unknown_tool_kills", *GREETING, call(2, "sub"), call(3, text="x"))
    assert run.status == 1 and list(run.replies) == [1] and b"KeyError: 'sub'" in run.err
    run = Run("unknown_tool_rpc_error", *GREETING, call(2, "sub"), call(3, text="x"))
    assert run.replies[2]["error"]["code"] == -32602 and 3 in run.replies


@pytest.mark.parametrize(
    ("name", "status", "answered", "complaint"),
    [
        ("die_on_start", 1, [], b"FAULTY_API_KEY"),
        ("die_on_initialize", 4, [], b"cannot open the database"),
        ("die_mid_call", 7, [1, 2], b"MemoryError: out of memory in tool echo"),
        ("reply_then_exit", 0, [1, 2, 3], b""),
        ("die_between_calls", 5, [1, 2, 3], b"the session has expired"),
        ("slow_exit", 1, [1, 2, 3, 4, 5], b"saved the session"),
    ],
)
def test_it_dies_when_it_says_with_the_status_it_says(name, status, answered, complaint):
    run = session(name)
    assert (run.status, list(run.replies)) == (status, answered) and complaint in run.err


@posix
def test_killed_mid_call_dies_of_sigkill():
    assert session("killed_mid_call").status == -signal.SIGKILL


def test_slow_start_and_busy_take_their_seconds():
    began = time.monotonic()
    run = Run("slow_start", *SESSION, options=("--seconds", "0.3"))
    assert run.replies == healthy_replies("slow_start") and time.monotonic() - began > 0.3
    began = time.monotonic()
    assert len(Run("busy", *SESSION, options=("--seconds", "0.1")).replies) == 5
    assert time.monotonic() - began > 0.3


def test_closes_stdout_and_lives_on():
    with Live("closes_stdout") as live:
        live.greet()
        live.send(call(2, text="x"))
        assert live.read() is None
        assert live.process.poll() is None


@posix
def test_closes_stdin_and_lives_on():
    with Live("closes_stdin") as live:
        live.greet()
        live.send(call(2, text="x"))
        assert live.read()["id"] == 2
        with pytest.raises(BrokenPipeError):
            while True:
                live.send(call(3, text="x" * 1000))
        assert live.process.poll() is None


@posix
def test_deaf_lets_the_pipe_fill_up():
    with Live("deaf") as live:
        live.greet()
        os.set_blocking(live.process.stdin.fileno(), False)
        with pytest.raises(BlockingIOError):
            for _ in range(100):
                os.write(live.process.stdin.fileno(), b"x" * 65536)
        assert live.process.poll() is None


@posix
def test_stopped_is_stopped():
    with Live("stopped") as live:
        live.greet()
        live.send(call(2, text="x"))
        _, status = os.waitpid(live.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)


@pytest.mark.parametrize("name", ["ignore_eof", "talks_after_eof"])
def test_it_ignores_the_end_of_stdin_and_goes_on_sigterm(name):
    with Live(name) as live:
        live.greet()
        live.process.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            live.process.wait(0.3)
        live.process.terminate()
        assert live.process.wait(5) == -signal.SIGTERM


@posix
def test_ignore_sigterm_goes_on_sigkill_alone():
    with Live("ignore_sigterm") as live:
        live.greet()
        live.process.stdin.close()
        live.process.send_signal(signal.SIGTERM)
        live.process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            live.process.wait(0.3)
        live.process.kill()
        assert live.process.wait(5) == -signal.SIGKILL


@posix
def test_sigint_exit_exits_130():
    with Live("sigint_exit") as live:
        live.greet()
        live.process.send_signal(signal.SIGINT)
        assert live.process.wait(5) == 130


@posix
def test_npx_wrapper_has_a_child_that_outlives_it():
    live = subprocess.Popen(
        [*COMMAND, "npx_wrapper"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        live.stdin.write(json.dumps(GREETING[0]).encode() + b"\n")
        live.stdin.flush()
        assert b"faulty-ignore_eof" in live.stdout.readline()
        live.terminate()
        live.wait(5)
        os.killpg(live.pid, 0)  # raises when no process of the group is left
    finally:
        os.killpg(live.pid, signal.SIGKILL)
        live.stdin.close()
        live.stdout.close()


@posix
def test_helper_holds_pipes_keeps_them_open_after_the_server_has_gone():
    with Live("helper_holds_pipes") as live:
        assert live.process.stderr.readline() == b"faulty helper_holds_pipes: ready\n"
        helper = int(live.process.stderr.readline().split()[1])
        live.process.stdin.close()
        assert live.process.wait(5) == 0
        os.set_blocking(live.process.stdout.fileno(), False)
        with pytest.raises(BlockingIOError):  # at the end of the stream it would be b""
            os.read(live.process.stdout.fileno(), 1)
        assert os.getsid(helper) == helper
        os.kill(helper, signal.SIGKILL)


def test_chatterbox_talks_unasked():
    with Live("chatterbox") as live:
        assert [live.read()["params"]["data"] for _ in range(3)] == ["tick"] * 3


def test_every_fault_is_tested_here():
    source = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in FAULTS if f'"{name}"' not in source] == []
