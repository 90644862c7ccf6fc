"""LoopView: turns, contexts, calls and what came of them, read from the record."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mcp_lessons import jsonrpc
from mcp_lessons.agent import run_agent
from mcp_lessons.oracle import Oracle
from mcp_lessons.toolbox import Toolbox
from mcp_lessons.traffic import Event, Traffic
from mcp_lessons.views import LoopView
from mcp_lessons.views._loop_reading import LoopReading
from mcp_lessons.views._loop_state import rows
from mcp_lessons.views._loop_static import snapshot
from mcp_lessons.views._toolbox_reading import ToolboxReading
from mcp_lessons.views._toolbox_state import state
from mcp_lessons.views._toolbox_tokens import tokens

WEATHER = [sys.executable, "-m", "mcp_lessons.servers.weather"]
MAPS = [sys.executable, "-m", "mcp_lessons.servers.maps"]
ORIGINS = {
    "calc__add": {"server": "calc", "tool": "add", "connection": 1},
    "files__read": {"server": "files", "tool": "read", "connection": 2},
    "shout": {"server": "", "tool": "shout", "connection": 0},
}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ORIGINS]
SYSTEM = {"role": "system", "content": "Be brief."}
QUESTION = {"role": "user", "content": "What is 19 + 23?"}


class Session:
    """A record as two servers, a toolbox and the agent loop write it."""

    def __init__(self) -> None:
        self.traffic = Traffic()
        self.wires = {name: self.traffic.recorder(name) for name in ("calc", "files")}
        self.id = 0
        self.begin()
        body = {"cause": "calc joins", "schemas": TOOLS, "origins": ORIGINS, "warnings": []}
        self.traffic.add("tools", body=body)

    def begin(self, *messages: dict) -> None:
        self.run, self.turn = self.traffic.new_connection(), 0
        self.messages = list(messages or (SYSTEM, QUESTION))

    def asks(self, *more: dict, max_turns: int = 8) -> Event:
        self.turn += 1
        self.messages += more
        body = {"turn": self.turn, "max_turns": max_turns, "model": "m", "tools": TOOLS, "stream": False}
        return self._model("sent", body | {"messages": self.messages})

    def answers(
        self, content: str, *calls: tuple[str, str, Any], finish: str = "", usage: Any = None
    ) -> Event:
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": given}}
                for id, name, given in calls
            ]
        self.messages.append(message)
        finish = finish or ("tool_calls" if calls else "stop")
        body = {"turn": self.turn, "message": message, "finish_reason": finish, "usage": usage}
        return self._model("received", body)

    def ends(self, reason: str) -> Event:
        return self._model("", {"stop_reason": reason, "answer": "", "turns": self.turn})

    def call(self, server: str, tool: str, arguments: dict) -> Event:
        self.id += 1
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": self.id}}
        return self.wires[server]("sent", jsonrpc.encode(jsonrpc.request(self.id, "tools/call", params)))

    def returns(self, request: Event, text: str, **more: Any) -> Event:
        result = {"content": [{"type": "text", "text": text}]} | more
        return self.wires[request.server](
            "received", jsonrpc.encode(jsonrpc.result(request.body["id"], result))
        )

    def refuses(self, request: Event, code: int, text: str) -> Event:
        return self.wires[request.server](
            "received", jsonrpc.encode(jsonrpc.error(request.body["id"], code, text))
        )

    def _model(self, direction: str, body: dict) -> Event:
        return self.traffic.add("model", body=body, server="m", connection=self.run, direction=direction)

    def rows(self) -> list[dict[str, Any]]:
        return rows_of(self.traffic)


def rows_of(traffic: Traffic) -> list[dict[str, Any]]:
    reading = LoopReading(traffic)
    return rows(reading, [turn for run in reading.runs for turn in run.turns])


def told(id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def outcomes(turn: dict[str, Any]) -> list[tuple[str, str, Any]]:
    return [(call["name"], call["outcome"], call["result"]) for call in turn["calls"]]


# Turns and their context


def test_a_context_is_divided_into_system_tools_history_and_what_is_new() -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "shout", '{"text": "hi"}'))
    session.asks(told("c1", "HI"))
    first, second = session.rows()
    call = session.messages[2]
    assert first["figures"]["system"] == tokens(SYSTEM)
    assert (first["figures"]["history"], first["figures"]["new"]) == (0, tokens(QUESTION))
    assert second["figures"]["history"] == tokens(QUESTION)
    assert second["figures"]["new"] == tokens(call) + tokens(told("c1", "HI"))
    assert first["figures"]["tools"] == sum(map(tokens, TOOLS))
    by_server = {one["server"]: one["tokens"] for one in first["figures"]["by_server"]}
    assert by_server == {
        origin["server"]: tokens(tool) for origin, tool in zip(ORIGINS.values(), TOOLS, strict=True)
    }
    for turn in (first, second):
        figures = turn["figures"]
        assert figures["in"] == sum(figures[part] for part in ("system", "tools", "history", "new"))


def test_a_conversation_that_is_taken_up_again_is_history() -> None:
    session = Session()
    session.begin(
        QUESTION, {"role": "assistant", "content": "42."}, {"role": "user", "content": "And times 2?"}
    )
    session.asks()
    (turn,) = session.rows()
    assert [message["part"] for message in turn["fresh"]] == ["history", "history", "new"]


def test_a_turn_brings_only_the_messages_that_the_turn_before_did_not_have() -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "shout", "{}"))
    session.asks(told("c1", "HI"))
    first, second = session.rows()
    assert [message["role"] for message in first["fresh"]] == ["system", "user"]
    assert (second["kept"], [message["role"] for message in second["fresh"]]) == (2, ["assistant", "tool"])


def test_what_the_endpoint_reports_stands_beside_the_estimate() -> None:
    session = Session()
    session.asks()
    session.answers("42.", usage={"prompt_tokens": 321, "completion_tokens": 7})
    session.asks()
    session.answers("42.")
    first, second = session.rows()
    assert first["used"] == {"in": 321, "out": 7}
    assert second["used"] is None
    assert "measured: 321 in" in repr(LoopView(session.traffic).snapshot())


def test_each_run_is_a_connection_of_its_own() -> None:
    session = Session()
    session.asks()
    session.answers("42.")
    session.ends("answer")
    session.begin({"role": "user", "content": "Again?"})
    session.asks()
    turns = session.rows()
    assert [(turn["run"], turn["turn"]) for turn in turns] == [(1, 1), (2, 1)]
    assert turns[0]["end"] == {"stop_reason": "answer", "turns": 1}
    assert turns[1]["end"] is None


@pytest.mark.parametrize("reason", ["answer", "max_turns", "length", "interrupted", "something new"])
def test_why_a_run_stopped_is_said(reason: str) -> None:
    session = Session()
    session.asks()
    session.answers("x")
    session.ends(reason)
    assert session.rows()[-1]["end"]["stop_reason"] == reason
    assert "stopped: " in repr(LoopView(session.traffic).snapshot())


def test_an_endpoints_error_is_the_end_of_its_turn() -> None:
    session = Session()
    session.asks()
    session._model("received", {"turn": 1, "error": "401: no such key"})
    (turn,) = session.rows()
    assert turn["error"] == "401: no such key"
    assert "✕ endpoint's error" in repr(LoopView(session.traffic).snapshot())


# Calls


def test_calls_are_tied_to_their_messages_on_the_wire() -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "calc__add", '{"a": 19, "b": 23}'), ("c2", "files__read", '{"path": "n"}'))
    add, read = session.call("calc", "add", {"a": 19, "b": 23}), session.call("files", "read", {"path": "n"})
    added = session.returns(add, "42")
    done = session.returns(read, "lemons")
    (turn,) = session.rows()
    assert [(call["request"], call["reply"]) for call in turn["calls"]] == [
        (add.seq, added.seq),
        (read.seq, done.seq),
    ]
    assert outcomes(turn) == [("calc__add", "ok", "42"), ("files__read", "ok", "lemons")]


def test_the_same_tool_called_twice_is_told_apart_by_its_arguments() -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "calc__add", '{"a": 1, "b": 1}'), ("c2", "calc__add", '{"a": 2, "b": 2}'))
    second, first = (
        session.call("calc", "add", {"a": 2, "b": 2}),
        session.call("calc", "add", {"a": 1, "b": 1}),
    )
    session.returns(first, "2")
    session.returns(second, "4")
    (turn,) = session.rows()
    assert [(call["request"], call["result"]) for call in turn["calls"]] == [
        (first.seq, "2"),
        (second.seq, "4"),
    ]


def test_a_call_of_another_cell_is_no_call_of_the_loop() -> None:
    session = Session()
    before = session.call("calc", "add", {"a": 1, "b": 1})
    session.returns(before, "2")
    session.asks()
    session.call("files", "read", {})
    session.answers("", ("c1", "calc__add", '{"a": 1, "b": 1}'))
    session.call("files", "read", {})
    (turn,) = session.rows()
    assert [call["request"] for call in turn["calls"]] == [None]


def test_a_tool_error_is_not_a_protocol_error() -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "calc__add", '{"a": 1}'), ("c2", "files__read", "{}"))
    session.returns(session.call("calc", "add", {"a": 1}), "b is missing", isError=True)
    session.refuses(session.call("files", "read", {}), -32602, "no path")
    session.asks(told("c1", "Error: b is missing"), told("c2", "Error: no path [-32602]"))
    turn, _ = session.rows()
    assert outcomes(turn) == [
        ("calc__add", "tool-error", "Error: b is missing"),
        ("files__read", "protocol-error", "Error: no path [-32602]"),
    ]
    assert turn["calls"][1]["code"] == -32602
    table = repr(LoopView(session.traffic).snapshot())
    assert "1 tool error, 1 protocol error" in table
    assert "⚠ isError" in table
    assert "✕ protocol error -32602" in table


def test_what_never_crossed_a_wire_says_why() -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "shout", "{}"), ("c2", "calc__add", '{"a": '), ("c3", "nobody__has_it", "{}"))
    assert {outcome for _, outcome, _ in outcomes(session.rows()[0])} == {"asked"}
    session.asks(told("c1", "HI"), told("c2", "Error: not run: no valid JSON"), told("c3", "Error: no tool"))
    turn = session.rows()[0]
    assert [call["outcome"] for call in turn["calls"]] == ["python", "unsent", "unknown"]
    assert [call["valid"] for call in turn["calls"]] == [True, False, True]


def test_a_call_waits_until_its_reply_and_without_one_the_loop_goes_on() -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "calc__add", "{}"))
    session.call("calc", "add", {})
    assert session.rows()[0]["calls"][0]["outcome"] == "waiting"
    session.asks(told("c1", "Error: no reply within 2 s"))
    assert outcomes(session.rows()[0]) == [("calc__add", "no-reply", "Error: no reply within 2 s")]


def test_results_without_ids_are_paired_in_order() -> None:
    session = Session()
    session.asks()
    session.answers("", ("", "shout", "{}"), ("x", "shout", "{}"), ("x", "shout", "{}"))
    session.asks(told("call00001", "one"), told("x", "two"), told("call00002", "three"))
    assert [result for _, _, result in outcomes(session.rows()[0])] == ["one", "two", "three"]


def test_the_calls_of_the_last_turn_have_what_the_wire_said() -> None:
    session = Session()
    session.asks(max_turns=1)
    session.answers("", ("c1", "calc__add", "{}"), ("c2", "shout", "{}"))
    session.returns(session.call("calc", "add", {}), "42")
    session.ends("max_turns")
    assert outcomes(session.rows()[0]) == [("calc__add", "ok", "42"), ("shout", "python", None)]


def test_a_message_that_was_cut_ran_nothing() -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "shout", "{}"), finish="length")
    session.ends("length")
    assert session.rows()[0]["calls"][0]["outcome"] == "unsent"


@pytest.mark.parametrize("given", [None, "", {}, "{}"])
def test_a_call_without_arguments_may_say_so_in_many_ways(given: Any) -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "calc__add", given))
    request = session.call("calc", "add", {})
    assert session.rows()[0]["calls"][0]["request"] == request.seq


@pytest.mark.parametrize(
    ("given", "text", "note"),
    [
        ('{"a": 19, "b": "x y", "c": {"d": [1.0]}}', 'calc__add(a=19, b="x y", c={"d":[1.0]})', ""),
        ("", "calc__add()", ""),
        ('{"a": ', 'calc__add({"a": )', " [no valid JSON]"),
        ("[1]", "calc__add([1])", " [no valid JSON]"),
    ],
)
def test_a_call_is_written_in_one_form_in_the_page_and_in_the_table(given: str, text: str, note: str) -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "calc__add", given))
    (call,) = rows_of(session.traffic)[0]["calls"]
    assert call["text"] == text
    assert f"    → {text}{note}\n" in LoopView(session.traffic).snapshot().text


# With the real loop


def test_a_real_run_is_read_as_it_was() -> None:
    traffic = Traffic()
    with Oracle() as oracle, Toolbox(traffic=traffic) as toolbox:
        from openai import OpenAI

        toolbox.mount("weather", WEATHER)
        toolbox.mount("maps", MAPS)
        with OpenAI(base_url=oracle.base_url, api_key="offline") as llm:
            question = "How do I get from Tessaby to Larkmoor, and will it rain in Larkmoor on Saturday?"
            result = run_agent(question, toolbox, llm=llm, model=oracle.model)
        offered = toolbox.schemas()
    turns = rows_of(traffic)
    assert len(turns) == result.turns
    assert turns[-1]["says"] == result.answer
    assert turns[-1]["end"]["stop_reason"] == result.stop_reason == "answer"
    calls = [call for turn in turns for call in turn["calls"]]
    assert {call["name"] for call in calls} == {"maps__route", "weather__forecast"}
    for call in calls:
        request, reply = traffic[call["request"]], traffic[call["reply"]]
        assert (request.server, request.body["params"]["name"]) == (call["server"], call["tool"])
        assert reply.body["result"]["content"][0]["text"] == call["result"]
        assert call["outcome"] == "ok"
    assert turns[0]["figures"]["tools"] == sum(map(tokens, offered))
    assert state(ToolboxReading(traffic))["lists"]["sent"]["tokens"] == turns[0]["figures"]["tools"]


# The table, the saved record, the page


def a_session() -> Session:
    session = Session()
    session.asks()
    session.answers("<b>Adding</b>\u202e", ("c1", "calc__add", '{"a": "</td><script>"}'))
    session.returns(
        session.call("calc", "add", {"a": "</td><script>"}), "<img src=x onerror=alert(1)>\x1b[31m"
    )
    session.asks(told("c1", "<img src=x onerror=alert(1)>\x1b[31m"))
    session.answers("Done.")
    session.ends("answer")
    return session


def test_the_table_shows_hostile_text_as_text() -> None:
    table = LoopView(a_session().traffic).snapshot()
    assert "<script" not in table.html
    assert "<img" not in table.html
    assert "<b>" not in table.html
    assert "⟨U+202E⟩" in table.html
    assert "⟨U+001B⟩" in table.text


def test_in_the_table_a_turn_stands_once_beside_its_calls_and_its_end() -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "calc__add", "{}"), ("c2", "files__read", "{}"))
    session.ends("max_turns")
    html = LoopView(session.traffic).snapshot().html
    assert html.count('rowspan="3"') == 2
    assert [html.count(tag) for tag in ("<tr>", "Turn\N{NO-BREAK SPACE}1", "<td")] == [4, 1, 8]


def test_two_runs_give_the_same_table_whatever_else_the_servers_wrote() -> None:
    quiet, loud = a_session(), Session()
    loud.wires["files"]("stderr", "INFO starting")
    loud.asks()
    loud.wires["files"]("stderr", "INFO still there")
    loud.answers("<b>Adding</b>\u202e", ("c1", "calc__add", '{"a": "</td><script>"}'))
    text = "<img src=x onerror=alert(1)>\x1b[31m"
    loud.returns(loud.call("calc", "add", {"a": "</td><script>"}), text)
    loud.asks(told("c1", text))
    loud.answers("Done.")
    loud.ends("answer")
    tables = [LoopView(session.traffic).snapshot() for session in (quiet, loud)]
    assert tables[0].html == tables[1].html
    assert tables[0].text == tables[1].text


def test_a_saved_record_gives_the_same_table(tmp_path: Path) -> None:
    traffic = a_session().traffic
    traffic.save(tmp_path / "session.jsonl")
    assert (
        LoopView(Traffic.load(tmp_path / "session.jsonl")).snapshot().html
        == LoopView(traffic).snapshot().html
    )


def test_an_empty_record_says_so() -> None:
    assert repr(LoopView(Traffic()).snapshot()).startswith("Agent loop: No turns yet")


def test_later_events_bring_only_the_turns_that_they_change() -> None:
    session = a_session()
    view = LoopView(session.traffic)
    assert [row["index"] for row in view._rows_of(list(session.traffic))] == [0, 1]
    assert view._rows_of([session.wires["calc"]("stderr", "noise")]) == []
    session.begin()
    assert [(row["run"], row["index"]) for row in view._rows_of([session.asks()])] == [(2, 0)]
    assert len(view._rows_of(list(session.traffic))) == 3


# Anything at all

leaves = some.none() | some.booleans() | some.integers() | some.text(max_size=6)
leaves |= some.sampled_from(["tool", "user", "system", "calc__add", "tools/call", "add", "c1", "answer"])
fields = some.sampled_from(
    ["turn", "max_turns", "model", "messages", "tools", "message", "tool_calls", "function", "name",
     "arguments", "id", "role", "content", "tool_call_id", "usage", "finish_reason", "error", "stop_reason",
     "method", "params", "result", "isError", "code", "origins", "type", "text", "prompt_tokens"]
)  # fmt: skip
bodies = some.recursive(
    leaves,
    lambda inner: some.dictionaries(fields, inner, max_size=6) | some.lists(inner, max_size=3),
    max_leaves=20,
)
events = some.tuples(
    some.sampled_from(["model", "model", "request", "reply", "tools"]),
    some.sampled_from(["sent", "received", ""]),
    bodies,
)


@settings(max_examples=80, deadline=None)
@given(some.lists(events, max_size=8))
def test_whatever_is_on_the_record_can_be_drawn(more: list[tuple[str, str, Any]]) -> None:
    session = Session()
    session.asks()
    session.answers("", ("c1", "calc__add", "{}"))
    for kind, direction, body in more:
        session.traffic.add(kind, body=body, server="calc", connection=session.run, direction=direction)
    shown = session.rows()
    assert snapshot(shown).text.startswith("Agent loop: ")
    json.dumps(shown)
