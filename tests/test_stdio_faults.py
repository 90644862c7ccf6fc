"""The client against servers that misbehave, each a real process: one test for a fault, named after what
the client does about it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import psutil
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
    wait_for,
    wait_until,
)

from mcp_lessons import McpError, RequestTimeout, RpcError, ServerExited
from mcp_lessons.errors import METHOD_NOT_FOUND, McpWarning, ProtocolError

T = 0.5


def tool_names(client):
    return [tool.name for tool in client.list_tools()]


def works(client):
    """The server is asked everything once, and answers as the healthy one does."""
    assert tool_names(client) == ["echo", "add"]
    assert echo(client, "déjà vu: ☃ 🙂") == "déjà vu: ☃ 🙂"
    assert client.call_tool("add", {"a": 2, "b": 3}).text == "5"


# Lines


def test_a_banner_and_log_lines_on_stdout_are_skipped_and_kept_as_noise():
    with connected("stdout_log") as client:
        works(client)
        noise = [event.raw for event in kinds(client.traffic, "noise")]
    assert noise[0] == "Faulty Server 1.0 starting ..." and "INFO  answering request 1" in noise


def test_lines_may_end_with_cr_lf():
    with connected("crlf") as client:
        works(client)
        assert not [event for event in client.traffic if "\r" in event.raw]


def test_a_character_may_be_split_between_two_chunks():
    with connected("split_chunks") as client:
        works(client)


def test_a_reply_of_three_megabytes_on_one_line_is_read_whole():
    with connected("big_line") as client:
        assert echo(client) == "x" * 3_000_000


def test_a_reply_that_is_no_utf8_comes_back_with_replacement_characters_and_the_next_call_works():
    with connected("invalid_utf8_payload") as client:
        assert echo(client) == "d\ufffdj\ufffd vu"
        assert echo(client, "again") == "again"


def test_content_length_framing_fails_the_handshake_with_an_error_that_quotes_it():
    with client_of(faulty("content_length")) as client:
        client.start()
        wait_for(client.traffic, lambda event: event.kind == "stderr")  # now it is up
        with pytest.raises(RequestTimeout, match=r"'initialize' within 0.5 s.*Content-Length: "):
            client.initialize(timeout=T)
        assert not client.alive and is_gone(pid_of(client))


def test_json_values_that_are_no_message_are_skipped():
    with connected("non_object_json") as client:
        works(client)
        assert len(kinds(client.traffic, "noise")) >= 8


# Replies


def test_a_reply_in_a_batch_is_unpacked():
    with connected("batch_array") as client:
        assert echo(client) == "hello"
        assert echo(client, "again") == "again"


def test_an_id_that_comes_back_as_a_string_finds_its_request():
    with connected("string_ids") as client:
        works(client)


def test_replies_to_ids_never_used_are_dropped():
    with connected("stray_ids") as client:
        works(client)


def test_an_error_with_a_null_id_ends_the_only_waiting_call_at_once():
    with connected("null_id_error") as client:
        with pytest.raises(RpcError, match="something went wrong"):
            echo(client)
        assert echo(client, "again") == "again"


def test_a_json_rpc_error_is_raised_with_its_code_message_and_data():
    with connected("rpc_error") as client:
        with pytest.raises(RpcError) as caught:
            echo(client)
        assert (caught.value.code, caught.value.message) == (-32603, "the database is locked")
        assert caught.value.data == {"retry_after": 5}
        assert echo(client, "again") == "again"


# The order of things


def test_a_call_without_an_answer_ends_at_its_deadline_and_is_cancelled():
    with connected("never_reply") as client:
        began = time.monotonic()
        with pytest.raises(RequestTimeout, match=r"'tools/call' within 0\.5 s"):
            echo(client, timeout=T)
        assert T <= time.monotonic() - began < T + PROMPT
        call = next(
            e.body for e in kinds(client.traffic, "request", "sent") if e.body["method"] == "tools/call"
        )
        assert cancelled_ids(client.traffic) == [call["id"]]
        assert echo(client, "again") == "again"


def test_replies_out_of_order_reach_the_calls_they_belong_to():
    with connected("out_of_order") as client:
        first = client.begin_call("echo", {"text": "first"})
        second = client.begin_call("echo", {"text": "second"})
        assert client.finish_call(first).text == "first"
        assert client.finish_call(second).text == "second"


def test_progress_starts_the_timeout_anew_and_reaches_its_handler():
    heard = []
    handlers = {"notifications/progress": lambda params: heard.append(params["progress"])}
    with connected(faulty("progress", seconds=1.5), handlers=handlers) as client:
        assert echo(client, timeout=T) == "hello"
        wait_until(lambda: len(heard) == 6)  # the handlers' own thread may be behind the reply
    assert heard == [1, 2, 3, 4, 5, 6]


def test_a_ping_is_answered_while_a_call_waits():
    with connected("ping_during_call") as client:
        works(client)
        pongs = [e.body for e in kinds(client.traffic, "reply", "sent")]
        assert pongs == [{"jsonrpc": "2.0", "id": f"server-{n}", "result": {}} for n in (1, 2)]


def test_what_the_server_asks_is_refused_unless_there_is_a_handler():
    with connected("server_requests") as client:
        answers = json.loads(echo(client))
        assert {answer["code"] for answer in answers.values()} == {METHOD_NOT_FOUND} and len(answers) == 4
        assert echo(client, "again") == "again"


def test_what_the_server_asks_is_answered_by_its_handlers_and_declared():
    handlers = {
        "roots/list": lambda params: {"roots": [{"uri": "file:///x"}]},
        "elicitation/create": lambda params: {"action": "accept", "content": {"name": params["message"]}},
        "sampling/createMessage": lambda params: {"role": "assistant", "model": "none"},
    }
    with connected("server_requests", handlers=handlers) as client:
        answers = json.loads(echo(client))
        offered = kinds(client.traffic, "request", "sent")[0].body["params"]["capabilities"]
    assert answers["roots/list"] == {"roots": [{"uri": "file:///x"}]}
    assert answers["elicitation/create"]["content"] == {"name": "Your name?"}
    assert answers["sampling/createMessage"]["model"] == "none"
    assert answers["vendor/unknown"]["code"] == METHOD_NOT_FOUND
    assert offered == {"roots": {}, "sampling": {}, "elicitation": {}}


def test_odd_notifications_are_ignored_and_never_answered():
    with connected("odd_notifications") as client:
        works(client)
        assert not kinds(client.traffic, "reply", "sent")


# The list of tools


def test_a_changed_list_marks_the_client_stale_until_it_lists_again():
    with connected("list_changed") as client:
        assert tool_names(client) == ["echo", "add"] and not client.tools_stale
        echo(client)
        wait_until(lambda: client.tools_stale)
        assert tool_names(client) == ["add", "mul"] and not client.tools_stale
        assert client.call_tool("mul", {"a": 6, "b": 7}).text == "42"


def list_requests(client):
    return [e for e in kinds(client.traffic, "request", "sent") if e.body["method"] == "tools/list"]


@pytest.mark.parametrize("fault", ["cursor_loop", "cursor_empty"])
def test_a_cursor_that_comes_twice_ends_the_list_with_a_warning(fault):
    with connected(fault) as client:
        with pytest.warns(McpWarning, match="cursor .* came twice"):
            assert tool_names(client) == ["echo", "add"]
        assert len(list_requests(client)) == 2


def test_all_pages_are_followed_in_order():
    with connected("paged") as client:
        assert tool_names(client) == ["echo", "add", "sub"]
        assert client.call_tool("sub", {"a": 5, "b": 3}).text == "2"


def test_malformed_tools_are_left_out_with_a_warning_that_names_them():
    with connected("bad_tool") as client:
        with pytest.warns(McpWarning, match="left out") as warned:
            assert tool_names(client) == ["echo", "add"]
        assert len(warned) == 1 and "a tool that is no object: 'null'" in str(warned[0].message)
        assert len(client.list_problems) == 9 and "a tool that is no object: 'null'" in client.list_problems
        assert echo(client) == "hello"


def test_a_call_carries_the_name_that_the_server_gave():
    with connected("tool_names") as client:
        names = [name for name in tool_names(client) if name not in ("echo", "add")]
        assert any("." in name for name in names) and max(map(len, names)) > 64
        assert [client.call_tool(name).text for name in names] == [f"called {name}" for name in names]


def test_a_server_without_tools_has_an_empty_list():
    with connected("no_tools") as client:
        assert client.list_tools() == []


# Results


def test_structured_content_alone_is_read_as_json():
    with connected("structured_only") as client:
        result = client.call_tool("echo", {"text": "é"})
        assert json.loads(result.text) == result.structured == {"text": "é", "length": 1}


def test_a_result_without_content_reads_as_a_placeholder():
    with connected("empty_result") as client:
        assert echo(client) == "(the tool gave no output)"


def test_a_tool_that_fails_is_a_result_marked_as_an_error():
    with connected("is_error") as client:
        result = client.call_tool("echo", {"text": "x"})
        assert result.is_error and result.text == "cannot echo 'x': the cave is closed today"


def test_several_texts_are_read_in_order_on_lines_of_their_own():
    with connected("multi_text") as client:
        assert echo(client, "x") == "first x\nsecond x\nthird x"


def test_an_image_reads_as_its_type_and_size_and_stands_whole_in_the_content():
    with connected("huge_image") as client:
        result = client.call_tool("echo", {"text": "x"})
        assert result.text == "a picture\n[image: image/png, 2250000 bytes]"
        assert len(result.content[1]["data"]) == 3_000_000


def test_no_kind_of_block_makes_a_call_fail():
    with connected("odd_blocks") as client:
        lines = echo(client).splitlines()
    assert len(lines) == 16 and lines[1] == "inside" and lines[-1] == "the end"
    assert "note://3" in lines[3] and lines[4] == "[a block of type 'hologram', left out]"
    assert all(line.startswith("[") for line in lines[:1] + lines[2:-1])


def test_missing_structured_content_is_a_warning_and_the_text_is_delivered():
    with connected("output_schema_missing") as client:
        client.list_tools()
        with pytest.warns(McpWarning, match="promises structured content"):
            assert echo(client) == "hello"


# The handshake


def test_an_older_version_is_accepted():
    with connected("version_old") as client:
        assert client.server.protocol_version == "2024-11-05"
        works(client)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("version_future", "speaks version '2031-01-01'; we speak 2025-11-25"),
        ("modern_only", "wants version .*2026-07-28.*; we offered '2025-11-25'"),
    ],
)
def test_versions_that_do_not_meet_end_the_connection_at_once_and_are_named(fault, words):
    with client_of(faulty(fault)) as client:
        with pytest.raises(ProtocolError, match=words):
            client.initialize()
        assert not client.alive and is_gone(pid_of(client))


def test_a_server_that_enforces_every_rule_is_content():
    with connected("strict") as client:
        works(client)
        client.request("ping")
        assert client.call_tool("echo", {"text": "x"}, timeout=1).text == "x"
    assert steps(client.traffic)[-1] == "exited" and list(client.traffic)[-1].body["status"] == 0


# The process


def test_a_server_that_dies_at_the_start_is_reported_with_its_status_and_its_last_words():
    with client_of(faulty("die_on_start")) as client:
        with pytest.raises(ServerExited, match="exited with status 1; the end of its stderr:") as caught:
            client.initialize()
        assert caught.value.status == 1 and any("API" in line for line in caught.value.stderr)


def test_a_death_during_a_call_ends_it_at_once_and_every_later_one():
    with connected("die_mid_call") as client:
        with pytest.raises(ServerExited, match="status 7") as caught:
            echo(client)
        assert caught.value.stderr
        died = wait_for(client.traffic, lambda event: event.raw == "exited with status 7")
        assert client.traffic._clock() - client.traffic._began - died.t < PROMPT
        began = time.monotonic()
        with pytest.raises(ServerExited, match="status 7"):
            echo(client)
        assert time.monotonic() - began < PROMPT and not client.alive


def test_a_reply_that_is_the_last_thing_a_server_does_is_delivered():
    with connected("reply_then_exit") as client:
        assert echo(client) == "hello"
        with pytest.raises(ServerExited):
            echo(client)


def test_a_flood_on_stderr_is_drained_in_bounded_memory():
    with connected("stderr_flood") as client:
        works(client)
        assert len(client.transport.stderr) <= 20
        assert all(len(line) <= 8 * 1024 for line in client.transport.stderr)


def test_hanging_up_ends_a_server_that_ignores_the_end_of_stdin_and_sigterm():
    with connected("ignore_sigterm") as client:
        pid = pid_of(client)
        began = time.monotonic()
        client.close()
        assert time.monotonic() - began < 10 and is_gone(pid)
    assert steps(client.traffic) == ["spawned", "stdin closed", "SIGTERM", "SIGKILL", "exited"]


def test_hanging_up_ends_the_server_behind_a_launcher_too():
    with connected("npx_wrapper") as client:
        pids = [pid_of(client), *(child.pid for child in psutil.Process(pid_of(client)).children())]
        assert len(pids) == 2
        client.close()
        wait_until(lambda: all(is_gone(pid) for pid in pids))


INTERRUPTED = """
import sys
from mcp_lessons import Client, StdioTransport
server = [sys.executable, "-m", "mcp_lessons.servers.faulty", "sigint_exit"]
with Client(StdioTransport(server)) as client:
    client.initialize()
    try:
        print("ready", flush=True)
        sys.stdin.read()
    except KeyboardInterrupt:
        print(client.call_tool("echo", {"text": "still here"}, timeout=5).text)
"""


def test_an_interrupt_of_our_process_group_does_not_reach_the_server():
    ours = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    with ours:
        assert ours.stdout.readline() == "ready\n"
        os.killpg(ours.pid, signal.SIGINT)  # as when a kernel is interrupted
        said, _ = ours.communicate(timeout=10)
    assert said == "still here\n"


def test_no_call_outlives_its_deadline_when_several_wait():
    with connected("never_ends") as client:
        outcomes = []

        def call():
            with pytest.raises(McpError) as caught:
                echo(client, timeout=T)
            outcomes.append(caught.type)

        threads = [threading.Thread(target=call) for _ in range(8)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes == [RequestTimeout] * 8 and time.monotonic() - began < T + PROMPT
        assert len(cancelled_ids(client.traffic)) == 8
