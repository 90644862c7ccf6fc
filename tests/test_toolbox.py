"""The toolbox: many servers and functions as one list of tools, against real processes."""

import asyncio
import copy
import json
import os
import sys
import threading
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Dict, Literal, Optional  # noqa: UP035

import pytest
from kit import faulty, tiny
from test_schemas import ACCEPTED

from mcp_lessons.errors import McpError, McpWarning, ServerExited, TransportError
from mcp_lessons.results import ToolResult
from mcp_lessons.toolbox import Toolbox
from mcp_lessons.traffic import Traffic

WEATHER = [sys.executable, "-m", "mcp_lessons.servers.weather"]
MAPS = [sys.executable, "-m", "mcp_lessons.servers.maps"]

LISTING = """
def other(message):
    if message.get("method") == "tools/list":
        reply(message, {"tools": [{"inputSchema": {"type": "object"}, **tool} for tool in TOOLS]})
serve(lambda m: reply(m, text("called " + m["params"]["name"])), other)
"""


def offering(*tools: dict[str, Any]) -> list[str]:
    """A server that lists these tools; a call answers "called NAME"."""
    return tiny(f"TOOLS = {list(tools)!r}\n" + LISTING)


def telling(expression: str) -> list[str]:
    """A server whose only tool, x, answers with the value of a Python expression."""
    return tiny("TOOLS = [{'name': 'x'}]\n" + LISTING.replace('"called " + m["params"]["name"]', expression))


@contextmanager
def toolbox_of(**servers: list[str]) -> Iterator[Toolbox]:
    with Toolbox() as toolbox:
        for name, command in servers.items():
            toolbox.mount(name, command, timeout=5)
        yield toolbox


def offered(toolbox: Toolbox) -> list[str]:
    return [schema["function"]["name"] for schema in toolbox.schemas()]


def events(toolbox: Toolbox) -> list[dict[str, Any]]:
    return [event.body for event in toolbox.traffic if event.kind == "tools"]


def double(n: Annotated[int, "a whole number"]) -> int:
    """Twice
    the number.

    Not for the model.
    """
    return 2 * n


# Mounting


def test_two_servers_and_a_function_are_one_list() -> None:
    with toolbox_of(weather=WEATHER, maps=MAPS) as toolbox:
        toolbox.add(double)
        assert offered(toolbox) == [
            "weather__forecast",
            "weather__alerts",
            "maps__route",
            "maps__places",
            "double",
        ]
        assert "Tessaby on Friday" in toolbox.call("weather__forecast", {"place": "Tessaby"}).text
        assert "Skerry" in toolbox.call("maps__places").text
        assert toolbox.call("double", {"n": 21}).text == "42"


def test_a_schema_is_what_a_chat_completion_takes_and_a_copy() -> None:
    with toolbox_of(s=faulty("none")) as toolbox:
        (first, _) = toolbox.schemas()
        assert first["type"] == "function"
        assert set(first["function"]) == {"name", "description", "parameters"}
        first["function"]["parameters"]["properties"].clear()
        assert toolbox.schemas()[0]["function"]["parameters"]["properties"]


def test_the_same_tool_of_two_servers_reaches_each() -> None:
    with toolbox_of(a=offering({"name": "x"}), b=offering({"name": "x"})) as toolbox:
        assert offered(toolbox) == ["a__x", "b__x"]
        assert [toolbox.call(name).text for name in offered(toolbox)] == ["called x"] * 2


def test_every_odd_name_is_offered_once_and_reaches_its_tool() -> None:
    with toolbox_of(s=faulty("tool_names")) as toolbox:
        names = offered(toolbox)
        assert all(ACCEPTED.fullmatch(name) for name in names) and len(set(names)) == len(names) == 20
        (event,) = events(toolbox)
        called = {
            name: toolbox.call(name).text
            for name, o in event["origins"].items()
            if o["tool"] not in ("echo", "add")
        }
        assert called == {name: f"called {event['origins'][name]['tool']}" for name in called}
        assert "'s__files.read' is offered as 's__files_read_" in " ".join(event["warnings"])


def test_server_names_that_become_equal_or_hold_the_separator_are_told_apart() -> None:
    servers = {"a.b": "x", "a_b": "x", "a": "b__x", "a__b": "x"}
    with toolbox_of(**{server: offering({"name": tool}) for server, tool in servers.items()}) as toolbox:
        assert len(set(offered(toolbox))) == 4
        assert {(o["server"], o["tool"]) for o in events(toolbox)[-1]["origins"].values()} == set(
            servers.items()
        )


def test_only_the_tools_that_are_asked_for_are_offered_and_a_name_that_is_not_there_is_said() -> None:
    with Toolbox() as toolbox:
        with pytest.warns(McpWarning, match="no tool 'nobody'"):
            toolbox.mount("s", faulty("none"), only=["add", "nobody"])
        assert offered(toolbox) == ["s__add"]
        assert toolbox.call("s__echo", {"text": "x"}).is_error
        with pytest.raises(TypeError, match="a list of names"):
            toolbox.mount("t", faulty("none"), only="add")


@pytest.mark.parametrize("only", ["echo", 7, [1], [None], iter(["echo"])])
def test_only_is_a_list_of_names(only: Any) -> None:
    with Toolbox() as toolbox, pytest.raises(TypeError, match="only= is a list of names"):
        toolbox.mount("s", faulty("none"), only=only)


def test_a_tool_that_runs_as_a_task_alone_is_left_out_and_said() -> None:
    tools = [
        {"name": f"t{n}", "execution": e}
        for n, e in enumerate(({"taskSupport": "required"}, {"taskSupport": "optional"}, {}, None))
    ]
    with Toolbox() as toolbox:
        with pytest.warns(McpWarning, match="'t0' is left out"):
            toolbox.mount("s", offering(*tools))
        assert offered(toolbox) == ["s__t1", "s__t2", "s__t3"]
        assert "'t0' is left out" in events(toolbox)[0]["warnings"][0]


def test_odd_schemas_are_repaired_with_a_warning_and_the_tools_stay_callable() -> None:
    with Toolbox() as toolbox:
        with pytest.warns(McpWarning) as said:
            toolbox.mount("s", faulty("odd_schemas"))
        assert any("names nothing" in str(w.message) for w in said)
        for schema in toolbox.schemas():
            assert schema["function"]["parameters"]["type"] == "object"
            assert isinstance(schema["function"]["parameters"]["properties"], dict)
        assert toolbox.call("s__add", {"a": 1, "b": 2}).text == "3"


def test_hostile_text_is_offered_as_text_that_utf8_can_carry() -> None:
    with toolbox_of(s=faulty("hostile_text")) as toolbox:
        json.dumps(toolbox.schemas(), ensure_ascii=False).encode("utf-8")
        assert "<script>" in json.dumps(toolbox.schemas())


def test_a_description_of_a_megabyte_is_cut_and_said() -> None:
    with Toolbox() as toolbox:
        with pytest.warns(McpWarning, match="cut"):
            toolbox.mount("s", tiny("TOOLS = [{'name': 'x', 'description': 'x' * 10**6}]" + LISTING))
        assert len(toolbox.schemas()[0]["function"]["description"]) == 10_000


def test_a_server_with_a_thousand_problems_is_warned_of_in_twenty_sentences() -> None:
    code = "TOOLS = [{'name': f't.{n}', 'execution': {'taskSupport': 'required'}} for n in range(500)]\n"
    code += "TOOLS += [{'name': f'u.{n}'} for n in range(500)]\n"
    with Toolbox() as toolbox:
        with pytest.warns(McpWarning) as said:
            toolbox.mount("s", tiny(code + LISTING))
        assert len(said) == 21 and "480 more" in str(said[-1].message)
        assert len(events(toolbox)[0]["warnings"]) == 42


def test_a_server_that_does_not_start_is_an_error_and_the_others_stay() -> None:
    with toolbox_of(good=faulty("none")) as toolbox:
        with pytest.raises(ServerExited, match="API"):
            toolbox.mount("bad", faulty("die_on_start"))
        with pytest.raises(TransportError, match="no-such-command"):
            toolbox.mount("none", ["no-such-command"])
        assert offered(toolbox) == ["good__echo", "good__add"]
        toolbox.mount("bad", faulty("none"))


def test_a_server_without_tools_is_mounted_and_offers_none() -> None:
    with toolbox_of(s=faulty("no_tools")) as toolbox:
        assert offered(toolbox) == []
        assert repr(toolbox) == "<Toolbox: 0 tools>\n  s: no tools"


def test_a_toolbox_that_nothing_refers_to_any_more_hangs_up() -> None:
    traffic, gone = Traffic(), threading.Event()
    traffic.subscribe(lambda e: gone.set() if e.kind == "process" and e.body["event"] == "exited" else None)
    toolbox = Toolbox(traffic=traffic)
    toolbox.mount("s", faulty("none"))
    del toolbox
    assert gone.wait(5)


def test_mounting_again_replaces_the_server_with_one_warning() -> None:
    with toolbox_of(s=faulty("none")) as toolbox:
        old = events(toolbox)[-1]["origins"]["s__echo"]["connection"]
        with pytest.warns(McpWarning, match="was mounted already") as said:
            toolbox.mount("s", faulty("none"))
        assert len(said) == 1
        assert offered(toolbox) == ["s__echo", "s__add"]
        new = events(toolbox)[-1]["origins"]["s__echo"]["connection"]
        happened = [(e.connection, e.body["event"]) for e in toolbox.traffic if e.kind == "process"]
        assert happened.index((old, "exited")) < happened.index((new, "spawned"))
        assert toolbox.call("s__add", {"a": 1, "b": 2}).text == "3"


def test_another_command_under_a_name_in_use_is_refused() -> None:
    with toolbox_of(s=faulty("none")) as toolbox:
        with pytest.raises(ValueError, match="unmount"):
            toolbox.mount("s", WEATHER)
        assert toolbox.call("s__add", {"a": 1, "b": 2}).text == "3"
        toolbox.unmount("s")
        assert offered(toolbox) == []
        toolbox.mount("s", WEATHER)
        assert offered(toolbox) == ["s__forecast", "s__alerts"]
        with pytest.raises(ValueError, match="there are: s"):
            toolbox.unmount("nobody")


@pytest.mark.parametrize(
    ("name", "command", "words"),
    [
        ("s", "http://127.0.0.1/mcp", "not a URL"),
        ("s", "python server.py", "list of words"),
        ("s", [], "list of words"),
        ("", WEATHER, "needs a name"),
        (None, WEATHER, "needs a name"),
    ],
)
def test_what_cannot_be_mounted_is_refused_in_a_sentence(name: Any, command: Any, words: str) -> None:
    with Toolbox() as toolbox, pytest.raises((ValueError, TypeError), match=words):
        toolbox.mount(name, command)


def test_another_era_is_refused_until_it_is_built() -> None:
    with Toolbox(era="modern") as toolbox, pytest.raises(ValueError, match="era"):
        toolbox.mount("s", faulty("none"))


def test_servers_may_be_mounted_from_several_threads_and_called_from_them() -> None:
    texts: dict[int, str] = {}

    def work(n: int) -> None:
        toolbox.mount(f"s{n}", faulty("none"))
        texts[n] = toolbox.call(f"s{n}__add", {"a": n, "b": 1}).text

    with Toolbox() as toolbox:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert texts == {n: str(n + 1) for n in range(4)}
        assert len(offered(toolbox)) == len(events(toolbox)[-1]["schemas"]) == 8


def test_env_cwd_handlers_and_timeout_reach_the_server(tmp_path: Path) -> None:
    with Toolbox() as toolbox:
        command = telling("os.environ['X'] + os.getcwd()")
        toolbox.mount("s", command, env={"X": "yes "}, cwd=tmp_path, timeout=3, handlers={"roots/list": dict})
        assert toolbox.call("s__x").text == f"yes {os.path.realpath(tmp_path)}"
        sent = [e.body for e in toolbox.traffic if e.direction == "sent"]
        assert sent[0]["params"]["capabilities"] == {"roots": {}}


def test_closing_ends_every_server_also_one_that_will_not_go() -> None:
    with toolbox_of(a=faulty("none"), b=faulty("ignore_sigterm"), c=faulty("none")) as toolbox:
        toolbox.close()
        assert offered(toolbox) == []
        assert [e["cause"] for e in events(toolbox)[3:]] == ["a leaves", "b leaves", "c leaves"]
        assert "the tools are: none" in toolbox.call("a__echo").text
        toolbox.close()


def test_a_toolbox_closed_from_two_threads_says_once_that_a_server_leaves() -> None:
    with toolbox_of(s=faulty("ignore_sigterm")) as toolbox:
        threads = [threading.Thread(target=toolbox.close) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [e["cause"] for e in events(toolbox)] == ["s joins", "s leaves"]


def test_servers_that_will_not_go_are_closed_side_by_side() -> None:
    def seconds(most: int) -> float:
        with toolbox_of(**{f"s{n}": faulty("ignore_sigterm") for n in range(most)}) as toolbox:
            began = time.monotonic()
            toolbox.close()
            return time.monotonic() - began

    assert seconds(4) < 2 * seconds(1)


def test_a_notebook_sees_the_tools_by_server() -> None:
    with toolbox_of(weather=WEATHER) as toolbox:
        toolbox.add(double)
        assert repr(toolbox) == (
            "<Toolbox: 3 tools>\n  weather: weather__forecast, weather__alerts\n  your functions: double"
        )
        assert toolbox.tools == ["weather__forecast", "weather__alerts", "double"]


# Calling


def test_an_unknown_name_is_an_error_that_lists_the_names() -> None:
    with toolbox_of(weather=offering({"name": "forecast"}, {"name": "alerts"})) as toolbox:
        for name in ("forecast", "Weather__forecast", "", "x" * 10**6, None, 7, ["x"], "\ud800"):
            result = toolbox.call(name)  # type: ignore[arg-type]
            assert result.is_error
            assert "weather__forecast" in result.text and "weather__alerts" in result.text
            assert len(result.text) < 1000


def test_the_nearest_name_comes_first() -> None:
    with toolbox_of(weather=offering({"name": "forecast"}), maps=offering({"name": "route"})) as toolbox:
        assert "are: maps__route, " in toolbox.call("maps_rout").text
        assert "are: weather__forecast, " in toolbox.call("forecast").text


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("rpc_error", "[-32603]"),
        ("is_error", ""),
        ("never_reply", "within 0.3 s"),
        ("die_mid_call", "status 7"),
    ],
)
def test_a_call_that_fails_in_any_way_is_a_result(fault: str, words: str) -> None:
    with Toolbox() as toolbox:
        toolbox.mount("s", faulty(fault), timeout=0.3 if fault == "never_reply" else 5)
        result = toolbox.call("s__echo", {"text": "x"})
    assert result.is_error and words in result.text


@pytest.mark.parametrize("arguments", [[1], "x", 7, {"a": {1}}, {"a": float("nan")}, {"a": object()}])
def test_arguments_that_are_no_json_object_are_an_error_and_the_server_lives(arguments: Any) -> None:
    with toolbox_of(s=faulty("none")) as toolbox:
        assert toolbox.call("s__add", arguments).is_error
        assert toolbox.call("s__add", {"a": 1, "b": 2}).text == "3"


def test_the_tools_of_a_dead_server_stay_and_say_how_it_ended() -> None:
    with toolbox_of(s=faulty("die_mid_call"), t=faulty("none")) as toolbox:
        first, second = toolbox.call("s__echo", {"text": "x"}), toolbox.call("s__add", {"a": 1, "b": 2})
        assert "status 7" in first.text and "status 7" in second.text
        assert offered(toolbox) == ["s__echo", "s__add", "t__echo", "t__add"]
        assert toolbox.call("t__add", {"a": 1, "b": 2}).text == "3"
        with pytest.warns(McpWarning, match="was mounted already"):
            toolbox.mount("s", faulty("die_mid_call"))


def test_results_come_in_the_order_of_the_calls_and_requests_go_out_in_it() -> None:
    with toolbox_of(a=faulty("none"), b=faulty("none")) as toolbox:
        made = [
            ("b__add", {"a": 1, "b": 1}),
            ("nobody", {}),
            ("a__add", {"a": 2, "b": 2}),
            ("b__add", {"a": 3, "b": 3}),
        ]
        results = list(toolbox.call_all(made))
        sent = [
            (e.server, e.body["params"]["arguments"]["a"])
            for e in toolbox.traffic
            if e.direction == "sent" and e.body["method"] == "tools/call"
        ]
    assert [result.text for result in results][::2] == ["2", "4"] and results[3].text == "6"
    assert sent == [("b", 1), ("a", 2), ("b", 3)]


def test_ctrl_c_while_waiting_cancels_every_call_of_the_batch() -> None:
    code = "def call(m):\n  if m['params']['name'] == 'quick': reply(m, text('ok'))\n"
    tools = "[{'name': n, 'inputSchema': {}} for n in ('quick', 'never')]"
    command = tiny(code + f"serve(call, lambda m: reply(m, {{'tools': {tools}}}) if 'id' in m else None)")

    def interrupt() -> ToolResult:
        raise KeyboardInterrupt

    with toolbox_of(s=command) as toolbox:
        results = toolbox.call_all([("s__quick", {}), ("s__never", {}), ("s__never", {})])
        assert next(results).text == "ok"
        results.close()
        assert [e.body["method"] for e in toolbox.traffic if e.direction == "sent"][-2:] == [
            "notifications/cancelled"
        ] * 2
        assert toolbox.call("s__quick").text == "ok"


def test_a_command_with_a_key_in_it_is_not_shown_whole() -> None:
    with Toolbox() as toolbox:
        toolbox.mount(
            "s", [*tiny("serve(None, lambda m: 'id' in m and reply(m, {'tools': []}))"), "--api-key", "abc"]
        )
        with pytest.raises(ValueError, match="another command") as refused:
            toolbox.mount("s", WEATHER)
        assert "abc" not in str(refused.value)


def test_ctrl_c_while_a_batch_waits_cancels_each_of_its_calls() -> None:
    silent = tiny("TOOLS = [{'name': 'x'}]\n" + LISTING.replace("reply(m, text", "(m, text"))
    signals = telling("str(os.kill(int(os.environ['CLIENT']), signal.SIGINT))")
    with toolbox_of(a=silent) as toolbox:
        toolbox.mount("b", signals, env={"CLIENT": str(os.getpid())})
        with pytest.raises(KeyboardInterrupt):
            list(toolbox.call_all([("a__x", {}), ("a__x", {}), ("b__x", {})]))
        sent = [event.body for event in toolbox.traffic if event.direction == "sent" and event.server == "a"]
        called = [message["id"] for message in sent if message["method"] == "tools/call"]
        cancelled = [message["params"]["requestId"] for message in sent[-2:]]
        assert sorted(cancelled) == called and len(called) == 2


# The list changes


def test_a_list_that_changed_is_asked_for_again_before_the_next_schemas_or_call() -> None:
    changed = threading.Event()
    with Toolbox() as toolbox:
        heard = {"notifications/tools/list_changed": lambda params: changed.set()}
        toolbox.mount("s", faulty("list_changed"), handlers=heard)
        toolbox.call("s__add", {"a": 1, "b": 2})
        assert changed.wait(5)
        assert toolbox.call("s__mul", {"a": 3, "b": 2}).text == "6"
        assert "s__mul" in toolbox.call("s__echo", {"text": "x"}).text
        assert offered(toolbox) == ["s__add", "s__mul"]
        assert [e["cause"] for e in events(toolbox)] == ["s joins", "s: list_changed"]


def test_a_server_that_says_so_for_nothing_is_asked_again_and_nothing_is_recorded() -> None:
    with toolbox_of(s=faulty("list_changed_always")) as toolbox:
        for _ in range(3):
            toolbox.call("s__add", {"a": 1, "b": 2})
            assert offered(toolbox) == ["s__echo", "s__add"]
        assert [event["cause"] for event in events(toolbox)] == ["s joins"]


def test_a_list_that_cannot_be_had_again_stays_as_it_was_with_one_warning() -> None:
    code = """
lists = 0
def other(m):
    global lists
    if m.get("method") == "tools/list":
        lists += 1
        if lists == 1: reply(m, {"tools": [{"name": "x", "inputSchema": {}}]})
        else: send({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -1, "message": "not now"}})
def call(m):
    send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    reply(m, text("ok"))
serve(call, other)
"""
    with toolbox_of(s=tiny(code)) as toolbox:
        toolbox.call("s__x")
        with pytest.warns(McpWarning, match="not now") as said:
            assert offered(toolbox) == ["s__x"]
        assert len(said) == 1
        assert offered(toolbox) == ["s__x"]


# The record


def test_each_change_is_recorded_with_the_exact_schemas_and_where_each_tool_comes_from() -> None:
    with toolbox_of(s=faulty("none")) as toolbox:
        toolbox.add(double)
        joined, added = events(toolbox)
        assert (joined["cause"], added["cause"]) == ("s joins", "add double")
        assert joined["origins"]["s__add"] == {"server": "s", "tool": "add", "connection": 1}
        assert added["origins"]["double"] == {"server": "", "tool": "double", "connection": 0}
        assert added["schemas"] == toolbox.schemas()
        assert joined["warnings"] == []
        (first, *_) = (e for e in toolbox.traffic if e.kind == "tools")
        assert (first.connection, first.server, first.direction) == (0, "s", "")
        json.dumps(added)


# Functions


def test_a_function_is_offered_by_its_signature_and_first_paragraph() -> None:
    def plan(
        place: Annotated[str, "where"],
        days: int,
        km: float = 1.5,
        swim: bool = False,
        tags: list[str] | None = None,
        kind: Literal["day", "week"] = "day",
        extra: dict | None = None,
        note: Optional[str] = "none",  # noqa: UP045
        raw: list | None = None,
        *,
        depth: dict[str, int] | None = None,
    ) -> str:
        """Plans."""
        return f"{place} {days} {km} {swim} {tags} {kind} {extra} {note} {raw} {depth}"

    toolbox = Toolbox()
    toolbox.add(plan)
    toolbox.add(double)
    parameters = toolbox.schemas()[0]["function"]["parameters"]
    assert parameters["required"] == ["place", "days"]
    assert parameters["properties"]["place"] == {"type": "string", "description": "where"}
    assert parameters["properties"]["kind"] == {"type": "string", "enum": ["day", "week"], "default": "day"}
    assert parameters["properties"]["tags"] == {
        "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]
    }
    assert toolbox.schemas()[1]["function"]["description"] == "Twice the number."
    assert (
        toolbox.call("plan", {"place": "Skerry", "days": 2}).text
        == "Skerry 2 1.5 False None day None none None None"
    )
    given = {
        "place": "Skerry",
        "days": 2,
        "km": 3,
        "tags": ["a"],
        "note": None,
        "depth": {"a": 1},
        "raw": [1, "x"],
    }
    assert toolbox.call("plan", given).text == "Skerry 2 3 False ['a'] day None None [1, 'x'] {'a': 1}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "missing: n"),
        ({"n": "2"}, "n must be of type integer, not string"),
        ({"n": True}, "not boolean"),
        ({"n": None}, "not null"),
        ({"n": 1.5}, "not number"),
        ({"n": 1, "m": 2}, "no parameter 'm'; there are: n"),
    ],
)
def test_arguments_are_checked_against_the_signature(arguments: dict, words: str) -> None:
    toolbox = Toolbox()
    toolbox.add(double)
    result = toolbox.call("double", arguments)
    assert result.is_error and words in result.text


def test_arguments_are_checked_inside_lists_and_choices() -> None:
    def pick(kind: Literal["a", "b"], tags: list[int]) -> str:
        return kind

    toolbox = Toolbox()
    toolbox.add(pick)
    assert "one of ['a', 'b']" in toolbox.call("pick", {"kind": "c", "tags": []}).text
    assert "tags[1] must be of type integer" in toolbox.call("pick", {"kind": "a", "tags": [1, "x"]}).text


def test_choices_of_several_types_and_a_bare_dict_are_taken() -> None:
    def pick(kind: Literal["a", 1, None], more: Dict) -> str:  # noqa: UP006
        return repr((kind, more))

    toolbox = Toolbox()
    toolbox.add(pick)
    properties = toolbox.schemas()[0]["function"]["parameters"]["properties"]
    assert properties == {"kind": {"enum": ["a", 1, None]}, "more": {"type": "object"}}
    for kind in ("a", 1, None):
        assert toolbox.call("pick", {"kind": kind, "more": {}}).text == repr((kind, {}))
    assert "one of ['a', 1, None]" in toolbox.call("pick", {"kind": "b", "more": {}}).text


def untyped(x) -> str:
    return x


def starred(*xs: int) -> str:
    return ""


def typed_by_a_set(x: set) -> str:
    return ""


def typed_by_two(x: int | str) -> str:
    return ""


def typed_by_nothing_known(x: "Nobody") -> str:  # noqa: F821
    return ""


def typed_by_bytes(x: Literal[b"x"]) -> str:
    return ""


async def awaited(x: int) -> str:
    return ""


def yielded(x: int) -> Iterator[int]:
    yield x


async def yielded_and_awaited(x: int) -> AsyncIterator[int]:
    yield x


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (untyped, "say its type, as in `x: str`"),
        (starred, r"no \*args"),
        (typed_by_a_set, "set"),
        (typed_by_two, "is not one of"),
        (typed_by_nothing_known, "Nobody"),
        (typed_by_bytes, "Literal"),
        (awaited, "await"),
        (yielded, "yield"),
        (yielded_and_awaited, "yield"),
        (lambda x: x, "with `def`"),
        ("double", "with `def`"),
        (dict, "with `def`"),
        (None, "with `def`"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_in_a_sentence(function: Any, words: str) -> None:
    toolbox = Toolbox()
    with pytest.raises(TypeError, match=words):
        toolbox.add(function)
    assert toolbox.schemas() == []


def test_what_a_function_raises_is_an_error_for_the_model() -> None:
    def fail(how: str) -> str:
        """Fails."""
        raise {"value": ValueError("no"), "exit": SystemExit(3), "mcp": McpError("gone")}[how]

    toolbox = Toolbox()
    toolbox.add(fail)
    assert toolbox.call("fail", {"how": "value"}).text == "fail: ValueError: no"
    assert toolbox.call("fail", {"how": "exit"}).is_error
    assert toolbox.call("fail", {"how": "mcp"}).text == "fail: gone"
    results = list(toolbox.call_all([("fail", {"how": "value"}), ("fail", {"how": "exit"})]))
    assert all(result.is_error for result in results)


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Stubborn(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


class Nameless(type):
    @property
    def __name__(cls) -> str:
        raise RuntimeError("no name")


class Unnamed(Exception, metaclass=Nameless):
    pass


@pytest.mark.parametrize("problem", [Stubborn(), Unnamed("x")])
def test_what_cannot_say_what_it_is_is_a_failed_call(problem: Exception) -> None:
    def fail() -> str:
        raise problem

    toolbox = Toolbox()
    toolbox.add(fail)
    results = [toolbox.call("fail"), *toolbox.call_all([("fail", {})] * 2)]
    assert all(result.is_error and "it cannot say why" in result.text for result in results)


@pytest.mark.parametrize("problem", [asyncio.CancelledError("stop"), GeneratorExit(), Mute()])
def test_whatever_a_function_raises_nobody_waits_for_ever(problem: BaseException) -> None:
    def fail() -> str:
        raise problem

    toolbox = Toolbox()
    toolbox.add(fail)
    assert all(type(problem).__name__ in result.text for result in toolbox.call_all([("fail", {})] * 2))
    assert type(problem).__name__ in toolbox.call("fail").text


def test_an_interrupt_on_a_thread_of_a_batch_is_a_failed_call() -> None:
    def stop() -> str:
        raise KeyboardInterrupt

    toolbox = Toolbox()
    toolbox.add(stop)
    assert all("KeyboardInterrupt" in result.text for result in toolbox.call_all([("stop", {})] * 2))


def test_a_default_that_json_cannot_hold_stays_out_of_the_schema_and_is_used() -> None:
    endless, odd = [float("inf")], {"x": object}

    def f(a: float = float("nan"), b: list = endless, c: dict = odd, d: list | None = (1, 2)) -> str:  # type: ignore[assignment]
        return f"{a} {b} {len(c)} {d}"

    def g(needed: int | None) -> str:
        return str(needed)

    toolbox = Toolbox()
    toolbox.add(f)
    toolbox.add(g)
    json.dumps(toolbox.schemas(), allow_nan=False)
    assert toolbox.call("f").text == "nan [inf] 1 (1, 2)"
    assert toolbox.call("g").text == "None"
    assert toolbox.schemas()[1]["function"]["parameters"]["properties"]["needed"]["default"] is None


def test_a_signature_holds_nothing_that_would_spoil_a_request() -> None:
    deep: list[Any] = []
    for _ in range(700):
        deep = [deep]

    def f(
        told: Annotated[str, "half \ud800"] = "\ud800",
        one_of: Literal["\ud800", "b"] = "b",
        nested: list = deep,  # type: ignore[assignment]
        pair: list = ("\ud800", 1),  # type: ignore[assignment]
    ) -> str:
        return f"{len(nested)} {pair[1]} {one_of}"

    toolbox = Toolbox()
    toolbox.add(f)
    parameters = toolbox.schemas()[0]["function"]["parameters"]
    json.dumps(parameters, ensure_ascii=False, allow_nan=False).encode()
    assert parameters["properties"] == {
        "told": {"type": "string", "description": "half \ufffd", "default": "\ufffd"},
        "one_of": {"type": "string", "enum": ["\ufffd", "b"], "default": "b"},
        "nested": {"type": "array", "items": {}},
        "pair": {"type": "array", "items": {}, "default": ["\ufffd", 1]},
    }
    assert toolbox.call("f").text == "1 1 b"


def test_ctrl_c_in_a_function_is_no_result() -> None:
    def stop() -> str:
        raise KeyboardInterrupt

    toolbox = Toolbox()
    toolbox.add(stop)
    with pytest.raises(KeyboardInterrupt):
        toolbox.call("stop")


def test_what_a_function_returns_becomes_text() -> None:
    values = {
        "text": ("so", "so"),
        "number": (1.5, "1.5"),
        "dict": ({"a": "é"}, '{"a": "é"}'),
        "list": ([1, None], "[1, null]"),
        "nothing": (None, "(the tool gave no output)"),
        "path": (Path("x"), '"x"'),
        "half": ("\ud800", "?"),
    }
    toolbox = Toolbox()

    def give(what: str) -> object:
        return values[what][0]

    toolbox.add(give)
    assert {what: toolbox.call("give", {"what": what}).text for what in values} == {
        what: text for what, (_, text) in values.items()
    }


def test_what_a_function_has_only_promised_is_no_result() -> None:
    class Later:
        def __await__(self) -> Iterator[Any]:
            yield

    toolbox = Toolbox()
    promises = {"later": Later(), "one by one": iter([1]), "one by one, later": yielded_and_awaited(1)}

    def give(what: str) -> object:
        return promises[what]

    toolbox.add(give)
    assert toolbox.call("give", {"what": "later"}).text == (
        "give: TypeError: it returned a Later, which is no result yet"
    )
    assert toolbox.call("give", {"what": "one by one"}).is_error
    assert toolbox.call("give", {"what": "one by one, later"}).is_error


@pytest.mark.parametrize("content", [None, 5, "text", {"type": "text", "text": "x"}])
def test_a_tool_result_of_no_blocks_is_an_error_that_says_so(content: Any) -> None:
    def give() -> ToolResult:
        return ToolResult(content)

    toolbox = Toolbox()
    toolbox.add(give)
    for result in (toolbox.call("give"), *toolbox.call_all([("give", {})] * 2)):
        assert result.is_error and "ToolResult whose content is no list" in result.text


def test_a_whole_float_is_an_integer_wherever_it_stands() -> None:
    def show(n: int, many: list[int], named: dict[str, int], maybe: int | None, real: float) -> str:
        return repr((n, many, named, maybe, real))

    toolbox = Toolbox()
    toolbox.add(show)
    given = {"n": 3.0, "many": [-1e3, 2], "named": {"a": 0.0}, "maybe": 1.0, "real": 1.0}
    before = copy.deepcopy(given)
    assert toolbox.call("show", given).text == "(3, [-1000, 2], {'a': 0}, 1, 1.0)"
    assert repr(given) == repr(before)
    assert "many[0] must be of type integer" in toolbox.call("show", given | {"many": [2.5]}).text
    assert toolbox.call("show", given | {"n": float("inf")}).is_error


def test_a_function_alone_runs_on_the_callers_thread_and_several_side_by_side() -> None:
    both = threading.Barrier(2)

    def where(wait: bool = False) -> str:
        if wait:
            both.wait(5)
        return str(threading.get_ident())

    toolbox = Toolbox()
    toolbox.add(where)
    here = str(threading.get_ident())
    assert toolbox.call("where").text == here
    texts = {result.text for result in toolbox.call_all([("where", {"wait": True})] * 2)}
    assert len(texts) == 2 and here not in texts


def test_adding_a_function_again_replaces_it_with_a_warning() -> None:
    toolbox = Toolbox()
    toolbox.add(double)
    with pytest.warns(McpWarning, match="double was added already"):
        toolbox.add(double)
    assert offered(toolbox) == ["double"]


def test_a_function_that_is_called_like_a_servers_tool_takes_nothing_from_it() -> None:
    def s__add() -> str:
        return "mine"

    with toolbox_of(s=faulty("none")) as toolbox:
        toolbox.add(s__add)
        mine, theirs = sorted(n for n in offered(toolbox) if "add" in n)
        assert {
            toolbox.call(n, {"a": 1, "b": 2} if o["server"] else {}).text
            for n, o in events(toolbox)[-1]["origins"].items()
            if n in (mine, theirs)
        } == {"mine", "3"}


# Configuration files


def config(tmp_path: Path, servers: Any) -> Path:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8-sig")
    return path


def entry(command: list[str], **more: Any) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:], **more}


def test_the_servers_of_a_file_are_mounted(tmp_path: Path) -> None:
    servers = {
        "weather": entry(WEATHER),
        "s": entry(faulty("none"), type="stdio", env={"A": "1"}, cwd=str(tmp_path)),
    }
    with Toolbox.from_config(config(tmp_path, servers)) as toolbox:
        assert offered(toolbox) == ["weather__forecast", "weather__alerts", "s__echo", "s__add"]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (entry(faulty("die_on_start")), "status 1"),
        ({"command": "no-such-command"}, "no-such-command"),
        ({"url": "https://example.com/mcp", "headers": {}}, "URL"),
        ({}, '"command"'),
        (7, '"command"'),
        ({"command": 7}, '"command"'),
        ({"command": "x", "args": "y"}, '"args"'),
        ({"command": "x", "args": [None]}, "text"),
        ({"command": "x", "env": {"A": ["1"]}}, "text"),
        ({"command": "x", "env": ["A"]}, '"env"'),
        ({"command": "x", "cwd": 7}, '"cwd"'),
        ({"command": "x", "env": {"A": "${NOT_SET_ANYWHERE}"}}, "NOT_SET_ANYWHERE is not set"),
        ({"command": "x", "env": {"A": "${input:a-key}"}}, "${input:a-key} is known to an editor alone"),
        ({"command": "${workspaceFolder}/x"}, "known to an editor alone"),
        (entry(faulty("none"), cwd="/no/such/folder"), "folder"),
    ],
)
def test_a_server_of_a_file_that_does_not_start_is_reported_and_the_others_are_mounted(
    tmp_path: Path, bad: Any, words: str
) -> None:
    path = config(tmp_path, {"bad": bad, "good": entry(faulty("none"))})
    with pytest.warns(McpWarning, match="bad is not mounted") as said:
        toolbox = Toolbox.from_config(path, timeout=5)
    with toolbox:
        assert offered(toolbox) == ["good__echo", "good__add"]
        assert words in str(said[0].message)
        assert [e["cause"] for e in events(toolbox)] == ["good joins", "bad is not mounted"]
        assert words in events(toolbox)[1]["warnings"][0]


def test_a_server_that_a_file_disables_is_not_started(tmp_path: Path) -> None:
    servers = {"off": entry(faulty("none"), disabled=True), "on": entry(faulty("none"), disabled=False)}
    servers["off too"] = entry(faulty("none"), enabled=False)
    with Toolbox.from_config(config(tmp_path, servers)) as toolbox:
        assert offered(toolbox) == ["on__echo", "on__add"]


def test_a_file_with_what_editors_allow_in_it_is_read(tmp_path: Path) -> None:
    command, *args = telling("os.environ['A'] + os.environ['B'] + ' ' + ' '.join(sys.argv[1:])")
    path = tmp_path / "mcp.json"
    path.write_text(
        f"""{{ // the servers of this folder, as in "mcpServers"
        /* one
           only, */
        "servers": {{"s": {{
            "type": "stdio", "url": "", // it has none
            "command": {json.dumps(command)},
            "args": {json.dumps(args)[:-1]}, 80, "http://x/*,}}*/", ], /* the end, */
            "env": {{"A": true, "B": 8.5, }}, // and a comma
        }}, }},
        }}"""
    )
    with Toolbox.from_config(path) as toolbox:
        assert toolbox.call("s__x").text == "true8.5 80 http://x/*,}*/"


def test_variables_in_a_file_stand_for_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "k")
    command = [
        *telling("os.environ['A'] + ' ' + ' '.join(sys.argv[1:])"),
        "${env:MY_KEY}",
        "${UNSET_ONE:-else}",
        "$HOME",
        "${}",
    ]
    with Toolbox.from_config(config(tmp_path, {"s": entry(command, env={"A": "<${MY_KEY}>"})})) as toolbox:
        assert toolbox.call("s__x").text == "<k> k else $HOME ${}"


def test_the_servers_of_a_file_start_side_by_side_and_stand_in_its_order(tmp_path: Path) -> None:
    met = tmp_path / "met"  # each waits for the other: the first is listed when the second is
    wait = f"""
import pathlib
pathlib.Path({str(met)!r} + sys.argv[1]).touch()
while not all(pathlib.Path({str(met)!r} + name).exists() for name in "abc"): time.sleep(0.01)
"""
    last = f"while not pathlib.Path({str(met)!r} + 'done').exists(): time.sleep(0.01)\n"
    serve = "TOOLS = [{'name': 'x'}]\n" + LISTING
    servers = {name: entry([*tiny(wait + serve), name]) for name in "bc"}
    servers = {"a": entry([*tiny(wait + last + serve), "a"])} | servers
    traffic = Traffic()
    traffic.subscribe(
        lambda event: (
            event.kind == "tools" and event.body["cause"] == "c joins" and Path(f"{met}done").touch()
        )
    )
    with Toolbox.from_config(config(tmp_path, servers), traffic=traffic) as toolbox:
        assert toolbox.tools == ["a__x", "b__x", "c__x"]
        causes = [event["cause"] for event in events(toolbox)]
        assert set(causes[:3]) == {"a joins", "b joins", "c joins"}
        assert list(events(toolbox)[-1]["origins"]) == toolbox.tools


@pytest.mark.parametrize("name", ["mcpServers", "servers"])
def test_the_object_of_servers_may_have_either_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"inputs": [], name: {"s": entry(faulty("none"), cwd="")}}))
    with Toolbox.from_config(path) as toolbox:
        assert toolbox.tools == ["s__echo", "s__add"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"mcpServers": []}', "[" * 100_000])
def test_a_file_of_another_kind_is_an_error_with_its_path(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"mcp\.json"):
        Toolbox.from_config(path)


def test_a_warning_that_is_made_an_error_leaves_the_server_mounted() -> None:
    with Toolbox() as toolbox:
        with warnings.catch_warnings(), pytest.raises(McpWarning):
            warnings.simplefilter("error")
            toolbox.mount("s", faulty("none"), only=["add", "nobody"])
        assert offered(toolbox) == ["s__add"]


def test_two_hundred_calls_of_one_batch_come_back() -> None:
    began = time.monotonic()
    with Toolbox() as toolbox:
        for n in range(5):
            toolbox.mount(f"s{n}", offering({"name": "x"}))
        assert [r.text for r in toolbox.call_all([(f"s{n % 5}__x", {}) for n in range(200)])] == [
            "called x"
        ] * 200
    assert time.monotonic() - began < 10
