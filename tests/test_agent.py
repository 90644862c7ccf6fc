"""The agent loop against endpoints as they are: each test's name says what the endpoint does, and what
then happens. The endpoint is `fake_llm.Endpoint` on a real socket, and refuses poisoned history."""

import copy
import json
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from fake_llm import (
    Answer,
    Endpoint,
    call,
    calls,
    delta,
    event,
    events,
    message,
    piece,
    refuses,
    says,
    stream,
    what_a_strict_endpoint_refuses,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import OpenAI

from mcp_lessons._model_errors import Refusal
from mcp_lessons._replies import Reply
from mcp_lessons._stream import events as stream_events
from mcp_lessons.agent import AgentResult, assistant_message, read_calls, run_agent, tool_message
from mcp_lessons.errors import ModelError
from mcp_lessons.results import ToolResult
from mcp_lessons.toolbox import Toolbox

FAULTY = [sys.executable, "-m", "mcp_lessons.servers.faulty"]


@pytest.fixture
def toolbox() -> Toolbox:
    """Two functions: `add` and `fail`; `toolbox.heard` lists the calls of `add`."""
    box = Toolbox()
    box.heard = []  # type: ignore[attr-defined]

    def add(a: int = 0, b: int = 0) -> str:
        """The sum."""
        box.heard.append((a, b))  # type: ignore[attr-defined]
        return str(a + b)

    def fail() -> str:
        """Fails."""
        raise RuntimeError("the well is dry")

    box.add(add)
    box.add(fail)
    return box


def ask(
    toolbox: Toolbox, *script: Any, question: Any = "?", **options: Any
) -> tuple[AgentResult, list[dict]]:
    """Run against an endpoint with this script; the result, and the requests that the endpoint got."""
    with Endpoint(*script) as endpoint:
        result = run_agent(question, toolbox, llm=endpoint.llm, model="m", **options)
    return result, endpoint.requests


def tool_texts(messages: list[dict]) -> list[str]:
    return [m["content"] for m in messages if m["role"] == "tool"]


def made_calls(messages: list[dict]) -> list[dict]:
    return [made for m in messages for made in m.get("tool_calls", [])]


def nested(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value


ADD = calls(("c1", "add", '{"a": 1, "b": 2}'))
ADD_STREAMED = stream(
    piece(index=0, id="c1", name="add", arguments=""),
    piece(index=0, arguments='{"a": 1,'),
    piece(index=0, arguments=' "b": 2}'),
    end="tool_calls",
)


# The plain way


def test_an_answer_without_calls_ends_the_run(toolbox: Toolbox) -> None:
    result, requests = ask(toolbox, says("Forty-two."))
    assert (result.answer, result.stop_reason, result.turns) == ("Forty-two.", "answer", 1)
    assert requests[0]["messages"] == [{"role": "user", "content": "?"}]
    assert [tool["function"]["name"] for tool in requests[0]["tools"]] == ["add", "fail"]
    assert result.messages[-1] == {"role": "assistant", "content": "Forty-two."}


@pytest.mark.parametrize("streamed", [False, True])
def test_a_call_is_run_and_its_result_is_sent_back(toolbox: Toolbox, streamed: bool) -> None:
    script = (
        [ADD_STREAMED, stream(delta(content="It is "), delta(content="3."))]
        if streamed
        else [ADD, says("It is 3.")]
    )
    result, requests = ask(toolbox, *script, stream=streamed)
    assert (result.answer, result.stop_reason, result.turns) == ("It is 3.", "answer", 2)
    assert requests[1]["messages"][1:] == [
        {"role": "assistant", "content": "", "tool_calls": [call("c1", "add", '{"a": 1, "b": 2}')]},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
    ]
    assert requests[0].get("stream", False) is streamed
    assert "tool_choice" not in requests[0]


def test_the_system_text_stands_first_and_once(toolbox: Toolbox) -> None:
    first, _ = ask(toolbox, says("Hello."), system="Be kind.")
    assert first.messages[0] == {"role": "system", "content": "Be kind."}
    again = [*first.messages, {"role": "user", "content": "And now?"}]
    second, _ = ask(toolbox, says("Now too."), question=again, system="Be brief.")
    assert [m["content"] for m in second.messages if m["role"] == "system"] == ["Be brief."]


def test_the_callers_messages_stay_as_they_are(toolbox: Toolbox) -> None:
    mine = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None},
        {"role": "user", "content": "!"},
    ]
    before = copy.deepcopy(mine)
    result, _ = ask(toolbox, ADD, says("3"), question=mine)
    assert mine == before
    assert result.messages[1]["content"] == ""


def test_messages_with_null_fields_as_other_libraries_keep_them_are_taken(toolbox: Toolbox) -> None:
    kept = {"role": "assistant", "content": None, "tool_calls": None, "function_call": None, "refusal": None}
    messages = [{"role": "user", "content": "?"}, kept, {"role": "user", "content": "so?", "tool_calls": []}]
    _, requests = ask(toolbox, says("So."), question=messages)
    assert requests[0]["messages"][1:] == [
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "so?"},
    ]


def test_a_toolbox_without_tools_sends_no_tools(toolbox: Toolbox) -> None:
    _, requests = ask(Toolbox(), says("."))
    assert "tools" not in requests[0]


@pytest.mark.parametrize(
    "odd",
    [b"bytes", object(), {1, 2}, float("nan"), nested(1, 5_000), nested(1, 940), 10**5_000],
    ids=["bytes", "an object", "a set", "no number", "too deep", "rather deep", "too long a number"],
)
def test_messages_that_hold_what_json_cannot_are_refused_before_anything_is_sent(
    toolbox: Toolbox, odd: Any
) -> None:
    with Endpoint() as endpoint, pytest.raises(ValueError, match="message"):
        run_agent([{"role": "user", "content": "?", "odd": odd}], toolbox, llm=endpoint.llm, model="m")
    assert endpoint.requests == []


@pytest.mark.parametrize("question", [[], [{}], ["text"], [3], 3, None])
def test_what_is_no_question_is_refused_before_anything_is_sent(toolbox: Toolbox, question: Any) -> None:
    with Endpoint() as endpoint, pytest.raises(ValueError, match="the question must be"):
        run_agent(question, toolbox, llm=endpoint.llm, model="m")
    assert endpoint.requests == []


# Arguments


@pytest.mark.parametrize("arguments", ["", None, "  ", "null", {}, '""', '"{}"'])
def test_missing_arguments_are_an_empty_object(toolbox: Toolbox, arguments: Any) -> None:
    result, _ = ask(toolbox, calls(("c1", "add", arguments)))
    assert toolbox.heard == [(0, 0)]
    assert made_calls(result.messages)[0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize("arguments", [{"a": 1, "b": 2}, '"{\\"a\\": 1, \\"b\\": 2}"'])
def test_arguments_that_come_as_an_object_or_encoded_twice_are_used(toolbox: Toolbox, arguments: Any) -> None:
    result, _ = ask(toolbox, calls(("c1", "add", arguments)))
    assert toolbox.heard == [(1, 2)]
    assert json.loads(made_calls(result.messages)[0]["function"]["arguments"]) == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    "arguments",
    ['{"a": 1', "a=1", "[1, 2]", [1, 2], "7", True, '{"a": NaN}', '{"a": 1e999}', "[" * 5000, '{"a":' * 5000,
     '{"a":' * 921 + "1" + "}" * 921, '{"a":' * 985 + "1" + "}" * 985,
     '"\\"[1]\\""', "{'a': 1}", '{"a": ' + "9" * 5000 + "}"],
)  # fmt: skip
def test_arguments_that_are_no_json_object_run_nothing_and_the_model_is_told(
    toolbox: Toolbox, arguments: Any
) -> None:
    result, requests = ask(toolbox, calls(("c1", "add", arguments)), says("I see."))
    assert toolbox.heard == []
    assert result.answer == "I see."
    assert requests[1]["messages"][-1]["content"].startswith("Error: not run: the arguments")
    assert made_calls(result.messages)[0]["function"]["arguments"] == "{}"


def test_the_model_is_shown_the_arguments_that_are_no_json_and_the_record_keeps_them(
    toolbox: Toolbox,
) -> None:
    result, _ = ask(toolbox, calls(("c1", "add", '{"a": 1')))
    assert '{"a": 1' in tool_texts(result.messages)[0]
    replies = [e.body for e in toolbox.traffic if e.kind == "model" and e.direction == "received"]
    assert replies[0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"a": 1'


# Ids and names


@pytest.mark.parametrize("ids", [(None, None), ("", ""), ("c", "c"), (1, 1), ("c", None), (" ", "\t")])
def test_missing_and_repeated_ids_are_invented(toolbox: Toolbox, ids: tuple) -> None:
    script = [calls((ids[0], "add", '{"a": 1}'), (ids[1], "add", '{"a": 2}')) for _ in range(2)]
    result, _ = ask(toolbox, *script, says("done"))
    made = [made["id"] for made in made_calls(result.messages)]
    assert len(set(made)) == 4 and all(made)
    assert [m["tool_call_id"] for m in result.messages if m["role"] == "tool"] == made
    assert toolbox.heard == [(1, 0), (2, 0)] * 2


def test_invented_ids_have_nine_letters_and_digits_as_some_chat_templates_want(toolbox: Toolbox) -> None:
    result, _ = ask(toolbox, calls((None, "add", "{}")))
    (made,) = made_calls(result.messages)
    assert len(made["id"]) == 9 and made["id"].isalnum()


def test_a_name_with_spaces_around_it_is_found(toolbox: Toolbox) -> None:
    ask(toolbox, calls(("c1", " add\n", "{}")))
    assert toolbox.heard == [(0, 0)]


@pytest.mark.parametrize("name", [None, "", "  ", "nobody", "add.it", "x" * 100_000, "\ud800", ["add"], 5])
def test_an_unknown_name_gets_the_list_of_names_and_the_run_goes_on(toolbox: Toolbox, name: Any) -> None:
    result, _ = ask(toolbox, calls(("c1", name, "{}")), says("I see."))
    (text,) = tool_texts(result.messages)
    assert "the tools are:" in text and "add" in text and len(text) < 1000
    assert result.answer == "I see."


# Several calls in one message


def test_each_call_gets_one_tool_message_directly_after_in_the_models_order(toolbox: Toolbox) -> None:
    made = [
        ("c1", "add", '{"a": 1}'),
        ("c2", "nobody", "{}"),
        ("c3", "fail", "{}"),
        ("c4", "add", "{"),
        ("c5", "add", "{}"),
    ]
    result, _ = ask(toolbox, calls(*made), says("done"))
    roles = [m["role"] for m in result.messages]
    assert roles == ["user", "assistant", "tool", "tool", "tool", "tool", "tool", "assistant"]
    texts = tool_texts(result.messages)
    assert (texts[0], texts[4]) == ("1", "0")
    assert texts[2] == "Error: fail: RuntimeError: the well is dry"


def test_calls_of_one_message_run_at_the_same_time() -> None:
    together = threading.Barrier(3)

    def meet(n: int) -> int:
        """Returns when three are inside."""
        together.wait(5)
        return n

    toolbox = Toolbox()
    toolbox.add(meet)
    result, _ = ask(toolbox, calls(*((f"c{n}", "meet", json.dumps({"n": n})) for n in range(3))))
    assert tool_texts(result.messages) == ["0", "1", "2"]


def test_more_calls_than_the_limit_are_refused_and_answered(toolbox: Toolbox) -> None:
    result, _ = ask(toolbox, calls(*((f"c{n}", "add", "{}") for n in range(40))))
    texts = tool_texts(result.messages)
    assert texts[:32] == ["0"] * 32
    assert texts[32:] == ["Error: not run: more than 32 calls in one message"] * 8


# How a run ends


def test_a_model_that_calls_for_ever_is_stopped_after_max_turns_and_can_be_taken_up_again(
    toolbox: Toolbox,
) -> None:
    result, requests = ask(toolbox, *[calls(("c1", "add", "{}"))] * 5, max_turns=3)
    assert (result.stop_reason, result.turns, result.answer) == ("max_turns", 3, "")
    assert len(requests) == 3 and len(toolbox.heard) == 3
    more, _ = ask(toolbox, says("0 it is."), question=result.messages)
    assert more.answer == "0 it is."


def test_fewer_than_one_turn_is_refused(toolbox: Toolbox) -> None:
    with Endpoint() as endpoint, pytest.raises(ValueError, match="max_turns"):
        run_agent("?", toolbox, llm=endpoint.llm, model="m", max_turns=0)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_message_cut_at_the_token_limit_runs_nothing_and_ends_the_run(
    toolbox: Toolbox, streamed: bool
) -> None:
    whole = calls(("c1", "add", "{}"), ("c2", "add", '{"a": '), finish_reason="length", content="I will")
    pieces = stream(
        delta(content="I will"), piece(index=0, id="c1", name="add", arguments="{}"), end="length"
    )
    result, _ = ask(toolbox, pieces if streamed else whole, stream=streamed)
    assert (result.stop_reason, result.answer, toolbox.heard) == ("length", "I will", [])
    assert len(tool_texts(result.messages)) == len(made_calls(result.messages)) > 0
    assert "cut" in tool_texts(result.messages)[0]
    ask(toolbox, says("Again."), question=result.messages)


@pytest.mark.parametrize(
    "reason", ["max_tokens", "model_length", "LENGTH", "MAX_TOKENS", "Length", "max_output_tokens"]
)
def test_the_token_limit_goes_by_other_names_too(toolbox: Toolbox, reason: str) -> None:
    result, _ = ask(toolbox, calls(("c1", "add", "{}"), finish_reason=reason))
    assert (result.stop_reason, toolbox.heard) == ("length", [])


@pytest.mark.parametrize("reason", ["content_filter", "malformed_function_call", "SAFETY", "tool_calls"])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_reply_of_nothing_that_did_not_stop_by_itself_is_an_error_that_says_why(
    toolbox: Toolbox, reason: str, streamed: bool
) -> None:
    nothing = message(content=None, finish_reason=reason)
    with pytest.raises(ModelError, match=reason.lower()):
        ask(toolbox, stream(delta(content=""), end=reason) if streamed else nothing, stream=streamed)


@pytest.mark.parametrize("reason", ["stop", "STOP", "eos", None, ""])
def test_a_model_may_have_nothing_to_say(toolbox: Toolbox, reason: str | None) -> None:
    result, _ = ask(toolbox, message(content=None, finish_reason=reason))
    assert (result.answer, result.stop_reason) == ("", "answer")


def test_calls_are_run_whatever_the_finish_reason_says(toolbox: Toolbox) -> None:
    for reason in ("stop", None, "", "function_call", "eos"):
        ask(toolbox, calls(("c1", "add", "{}"), finish_reason=reason))
    assert len(toolbox.heard) == 5


def test_finish_reason_tool_calls_without_any_call_is_an_answer(toolbox: Toolbox) -> None:
    for none in (None, []):
        result, _ = ask(toolbox, message(content="So.", tool_calls=none, finish_reason="tool_calls"))
        assert (result.answer, result.stop_reason) == ("So.", "answer")


# What a message may look like


def test_a_refusal_is_the_answer(toolbox: Toolbox) -> None:
    result, _ = ask(toolbox, message(content=None, refusal="I would rather not."))
    assert result.answer == "I would rather not."
    result, _ = ask(toolbox, stream(delta(refusal="I would "), delta(refusal="rather not.")), stream=True)
    assert result.messages[-1] == {"role": "assistant", "content": "I would rather not."}


def test_reasoning_stays_out_of_the_history(toolbox: Toolbox) -> None:
    thinking = {"reasoning": "hm", "thinking": "hm"}
    result, _ = ask(
        toolbox, calls(("c1", "add", "{}"), **thinking), says("0", reasoning_content="hm", **thinking)
    )
    assert "hm" not in json.dumps(result.messages)
    assert result.answer == "0"


REASONED = {"reasoning_content": "I should add."}
SIGNED = {"index": 0, **call("c1", "add", "{}"), "extra_content": {"google": {"thought_signature": "AbC=="}}}


def as_deepseek_wants_it(request: dict) -> Any:
    made = [m for m in request["messages"] if m.get("tool_calls")]
    if any(m.get("reasoning_content") != "I should add." for m in made):
        return refuses(400, "the `reasoning_content` must be passed back")
    return says("0") if not request.get("stream") else stream(delta(content="0"))


def as_gemini_wants_it(request: dict) -> Any:
    if any(made.get("extra_content") != SIGNED["extra_content"] for made in made_calls(request["messages"])):
        return refuses(400, "function call is missing a thought_signature")
    return says("0") if not request.get("stream") else stream(delta(content="0"))


@pytest.mark.parametrize(
    ("reply", "then"),
    [
        (calls(("c1", "add", "{}"), **REASONED), as_deepseek_wants_it),
        (stream(delta(reasoning_content="I should"), delta(reasoning_content=" add."),
                piece(index=0, id="c1", name="add", arguments="{}")), as_deepseek_wants_it),
        (message(content=None, tool_calls=[SIGNED]), as_gemini_wants_it),
        (stream(delta(tool_calls=[SIGNED])), as_gemini_wants_it),
    ],
    ids=["DeepSeek", "DeepSeek, streamed", "Gemini", "Gemini, streamed"],
)  # fmt: skip
def test_what_an_endpoint_wants_back_with_the_calls_is_sent_back(
    toolbox: Toolbox, reply: Any, then: Any
) -> None:
    result, _ = ask(toolbox, reply, then, stream=isinstance(reply, Answer))
    assert (result.answer, toolbox.heard) == ("0", [(0, 0)])


@pytest.mark.parametrize("odd", [None, "x", [1], {"a": float("nan")}, {"a": "\ud800"}])
def test_what_is_sent_back_with_a_call_is_json_that_can_be_sent(toolbox: Toolbox, odd: Any) -> None:
    signed = {**call("c1", "add", "{}"), "extra_content": odd}
    result, requests = ask(toolbox, message(content=None, tool_calls=[signed], reasoning_content="\ud800"))
    assert result.stop_reason == "answer" and len(requests) == 2
    json.dumps(result.messages, allow_nan=False, ensure_ascii=False).encode()


def test_the_old_function_call_is_a_call(toolbox: Toolbox) -> None:
    old = {"name": "add", "arguments": '{"a": 1}'}
    ask(toolbox, message(content=None, function_call=old))
    run_streamed(
        toolbox,
        delta(function_call={"name": "add", "arguments": '{"a"'}),
        delta(function_call={"arguments": ": 1}"}),
    )
    assert toolbox.heard == [(1, 0)] * 2


@pytest.mark.parametrize(
    ("content", "answer"),
    [(None, ""), ("", ""), ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"), (7, "7"),
     (False, ""), ([{"type": "thinking", "thinking": "hm"}, None, "x"], "x"),
     ({"type": "text", "text": "y"}, "y"), ([[[["z"]]]], "z"), (nested("x", 600), ""),
     ("half \ud800 pair", "half \ufffd pair")],
)  # fmt: skip
def test_content_of_any_form_is_read(toolbox: Toolbox, content: Any, answer: str) -> None:
    result, _ = ask(toolbox, message(content=content))
    assert result.answer == answer


@pytest.mark.parametrize(
    "odd", [[None], ["add"], [{}], [{"function": None}], [{"id": "c1"}], [7], {}, "add", 7]
)
def test_calls_of_any_form_are_answered_and_end_nothing(toolbox: Toolbox, odd: Any) -> None:
    result, _ = ask(toolbox, message(content="x", tool_calls=odd, finish_reason="tool_calls"), says("done"))
    assert result.stop_reason == "answer"
    result, _ = ask(toolbox, stream(delta(tool_calls=odd)), stream(delta(content="x")), stream=True)
    assert result.stop_reason == "answer"


def test_fields_that_are_missing_are_not_missed(toolbox: Toolbox) -> None:
    result, _ = ask(toolbox, {"choices": [{"message": {"content": "So."}}]})
    assert result.answer == "So."


# Streams


def run_streamed(toolbox: Toolbox, *chunks: dict, **options: Any) -> list[tuple]:
    ask(toolbox, stream(*chunks, **options), stream(delta(content="done")), stream=True)
    return sorted(toolbox.heard)


def whole(n: int, **fields: Any) -> dict:
    return piece(name="add", arguments=json.dumps({"a": n}), **fields)


def test_calls_without_an_index_are_told_apart_by_their_ids(toolbox: Toolbox) -> None:
    assert run_streamed(toolbox, whole(1, id="c1"), whole(2, id="c2")) == [(1, 0), (2, 0)]


def test_calls_whose_index_is_always_0_are_told_apart_by_their_ids(toolbox: Toolbox) -> None:
    assert run_streamed(toolbox, whole(1, id="c1", index=0), whole(2, id="c2", index=0)) == [(1, 0), (2, 0)]


@pytest.mark.parametrize("fields", [{}, {"index": 0}, {"id": None}, {"id": "", "index": 0}])
def test_whole_calls_without_an_id_are_told_apart_by_their_names(toolbox: Toolbox, fields: dict) -> None:
    assert run_streamed(toolbox, whole(1, **fields), whole(2, **fields)) == [(1, 0), (2, 0)]


def test_id_and_name_that_are_repeated_in_every_piece_are_taken_once(toolbox: Toolbox) -> None:
    repeated = {"index": 0, "id": "c1", "name": "add"}
    parts = ["", '{"a":', " 1", "}", "", " "]
    assert run_streamed(toolbox, *(piece(arguments=part, **repeated) for part in parts)) == [(1, 0)]


def test_a_repeated_name_without_an_id_is_one_call_as_long_as_its_arguments_are_not_whole(
    toolbox: Toolbox,
) -> None:
    assert run_streamed(
        toolbox, *(piece(index=0, name="add", arguments=part) for part in ['{"a"', ": 1", "}"])
    ) == [(1, 0)]


def test_pieces_without_index_and_id_go_on_with_the_last_call(toolbox: Toolbox) -> None:
    chunks = [piece(id="c1", name="add", arguments=""), piece(arguments='{"a": 1}'),
              piece(id="c2", name="add", arguments=""), piece(arguments='{"a": 2}')]  # fmt: skip
    assert run_streamed(toolbox, *chunks) == [(1, 0), (2, 0)]


def test_pieces_of_several_calls_may_be_mixed(toolbox: Toolbox) -> None:
    chunks = [piece(index=0, id="c1", name="add"), piece(index=1, id="c2", name="add"),
              piece(index=1, arguments='{"a": 2'), piece(index=0, arguments='{"a": 1'),
              piece(index=0, arguments="}"), piece(index=1, arguments="}")]  # fmt: skip
    assert run_streamed(toolbox, *chunks) == [(1, 0), (2, 0)]


ARGUMENTS = '{"a": 1}'


@pytest.mark.parametrize(
    "chunks",
    [
        [piece(index=0, id="c1", arguments=ARGUMENTS), piece(index=0, name="add", arguments="")],
        [piece(index=0, id="c1", name="add"), piece(index=0, name="add", arguments=ARGUMENTS),
         piece(index=0, name="add", arguments="")],
        [piece(index=0, id="c1", name="add"), piece(index=0, name="add", arguments=ARGUMENTS),
         piece(index=0, name="add")],
        [piece(index=0, id="c1", name="add", arguments=""),
         piece(index=1, id="c1", name="add", arguments=ARGUMENTS)],
        [piece(index=0, id="c1", name="add", arguments=ARGUMENTS),
         piece(index=1, id="c1", name="add", arguments="")],
        [piece(index=0, id="c1", name="add", arguments=ARGUMENTS),
         piece(index=1, id="c1", name="add", arguments=ARGUMENTS)],
        [piece(index=0, id="c1", name="add"), piece(index=0, arguments=ARGUMENTS),
         piece(index=1, id="c1", name="add"), piece(index=1, arguments=ARGUMENTS)],
        [piece(id="c1", name="add", arguments=""), piece(index=0, arguments=ARGUMENTS)],
        [piece(index="0", id="c1", name="add", arguments=""), piece(index=0, arguments=ARGUMENTS)],
        [delta(tool_calls=[{"index": 0, "id": "c1", "name": "add", "arguments": ARGUMENTS}])],
        [delta(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "add", "parameters": {"a": 1}}}])],
        [piece(index=0, id="c1", name="add", arguments=ARGUMENTS),
         message(content="", tool_calls=[call("c1", "add", ARGUMENTS)])],
        [piece(index=0, name="add", arguments=ARGUMENTS),
         message(content="", tool_calls=[call("c9", "add", ARGUMENTS)])],
    ],
    ids=[
        "the arguments, then the name",
        "the name in each piece, an empty one last",
        "the name in each piece, one without arguments last",
        "an empty twin under another index, first",
        "an empty twin under another index, last",
        "a twin under another index",
        "a twin under another index, in pieces",
        "an index that comes late",
        "an index that is a text, and a number",
        "without the level of the function",
        "parameters for arguments",
        "the whole message at the end",
        "the whole message at the end, with an id",
    ],
)  # fmt: skip
def test_one_call_in_odd_pieces_is_run_once(toolbox: Toolbox, chunks: list) -> None:
    assert run_streamed(toolbox, *chunks) == [(1, 0)]


def test_one_id_for_calls_that_differ_is_two_calls(toolbox: Toolbox) -> None:
    same = {"id": "c1", "name": "add"}
    whole_ones = [piece(index=n, arguments=json.dumps({"a": n}), **same) for n in (1, 2)]
    parts = [
        (piece(index=n, arguments="", **same), piece(index=n, arguments=f'{{"a": {n}}}')) for n in (1, 2)
    ]
    assert run_streamed(toolbox, *whole_ones) == [(1, 0), (2, 0)]
    toolbox.heard.clear()
    assert run_streamed(toolbox, *parts[0], *parts[1]) == [(1, 0), (2, 0)]


def test_a_call_without_the_level_of_the_function_is_run(toolbox: Toolbox) -> None:
    flat = {"id": "c1", "type": "function", "name": "add", "arguments": {"a": 1}}
    other = {"id": "c2", "type": "function", "function": {"name": "add", "parameters": {"a": 2}}}
    result, _ = ask(toolbox, message(content=None, tool_calls=[flat, other]))
    assert tool_texts(result.messages) == ["1", "2"]


def test_a_whole_message_after_the_deltas_adds_what_they_left_out_alone(toolbox: Toolbox) -> None:
    parts = [delta(content="It is "), delta(content="3.")]
    assert ask(toolbox, stream(*parts, says("It is 3.")), stream=True)[0].answer == "It is 3."
    assert (
        ask(toolbox, stream(delta(role="assistant"), says("It is 3.")), stream=True)[0].answer == "It is 3."
    )


def test_a_character_that_is_cut_in_two_is_put_together(toolbox: Toolbox) -> None:
    toolbox.add(say)
    heard: list[dict] = []
    chunks = [delta(content="a\ud83d"), delta(content="\ude00b"), delta(content="c\ud83d"),
              piece(index=0, id="c1", name="say", arguments='{"text": "a\ud83d'),
              piece(index=0, arguments='\ude00b"}')]  # fmt: skip
    result, _ = ask(toolbox, stream(*chunks), stream(delta(content=".")), stream=True, on_event=heard.append)
    assert result.messages[1]["content"] == "a\U0001f600bc"
    assert result.messages[2]["content"] == "a\U0001f600b"
    assert [e["text"] for e in heard if e["kind"] == "text"] == ["a", "\U0001f600b", "c", "."]


def say(text: str) -> str:
    """Says it."""
    return text


@pytest.mark.parametrize("repeated", [{}, {"id": "c1"}, {"id": "c1", "name": "say"}])
def test_arguments_in_thousands_of_pieces_are_not_read_again_with_each(
    repeated: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads, read = json.loads, []
    monkeypatch.setattr("json.loads", lambda text: [read.append(len(text)), loads(text)][1])
    text = json.dumps({"text": "{ b(); } if (a) " * 500})
    pieces = [piece(index=0, arguments=text[at : at + 4], **repeated) for at in range(2, len(text), 4)]
    reply = Reply()
    for chunk in [piece(index=0, id="c1", name="say", arguments=text[:2]), *pieces]:
        reply.take(chunk)
    assert [made["arguments"] for made in reply.calls] == [text]
    assert sum(read) < 10 * len(text)


def test_two_calls_in_one_chunk_are_two_calls(toolbox: Toolbox) -> None:
    both = [call("c1", "add", '{"a": 1}'), call("c2", "add", '{"a": 2}')]
    for index in ({}, {"index": 0}, {"index": None}):
        toolbox.heard.clear()
        assert run_streamed(toolbox, delta(tool_calls=[made | index for made in both])) == [(1, 0), (2, 0)]


def test_an_id_that_comes_late_belongs_to_the_call_that_has_none(toolbox: Toolbox) -> None:
    chunks = [piece(index=0, name="add", arguments='{"a"'), piece(index=0, id="c1", arguments=": 1}")]
    assert run_streamed(toolbox, *chunks) == [(1, 0)]


def test_arguments_may_come_as_an_object_in_a_stream_too(toolbox: Toolbox) -> None:
    assert run_streamed(toolbox, piece(index=0, id="c1", name="add", arguments={"a": 1})) == [(1, 0)]


def test_a_chunk_of_usage_without_choices_is_read_and_recorded(toolbox: Toolbox) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
    odd = [{"choices": [], "usage": None}, {"choices": None}, {}, {"choices": [{"index": 0, "delta": None}]}]
    text = stream(*odd, delta(content="So."), delta(content=None), delta(finish_reason="stop"),
                  {"choices": [], "usage": usage}, end=None)  # fmt: skip
    result, _ = ask(toolbox, text, stream=True)
    assert result.answer == "So."
    assert [e.body["usage"] for e in toolbox.traffic if e.kind == "model" and e.direction == "received"] == [
        usage
    ]


def test_a_second_choice_is_not_mixed_into_the_first(toolbox: Toolbox) -> None:
    other = delta(content="B")
    other["choices"][0]["index"] = 1
    result, _ = ask(toolbox, stream(delta(content="A"), other), stream=True)
    assert result.answer == "A"


@pytest.mark.parametrize("index", ["0", 1, None])
def test_a_choice_is_read_whatever_its_number(toolbox: Toolbox, index: Any) -> None:
    whole, part = says("So."), delta(content="So.", finish_reason="stop")
    for choices in (whole["choices"], part["choices"]):
        choices[0]["index"] = index
    assert ask(toolbox, whole)[0].answer == "So."
    assert ask(toolbox, stream(part, end=None), stream=True)[0].answer == "So."


@pytest.mark.parametrize(
    "empty",
    [{"tool_calls": {}}, {"tool_calls": [{}]}, {"function_call": {}},
     {"function_call": {"name": "", "arguments": ""}},
     {"tool_calls": [{"id": "", "function": {"name": None, "arguments": ""}}]}],
)  # fmt: skip
def test_an_empty_field_for_calls_is_no_call(toolbox: Toolbox, empty: dict) -> None:
    assert len(ask(toolbox, message(content="So.", **empty))[1]) == 1
    assert len(ask(toolbox, stream(delta(content="So.", **empty), delta(**empty)), stream=True)[1]) == 1


def test_a_new_id_in_every_piece_makes_no_new_call(toolbox: Toolbox) -> None:
    parts = ["", '{"a":', " 1}", ""]
    names = ["add", None, "", None]
    chunks = [
        piece(index=0, id=f"c{number}", name=name, arguments=part)
        for number, (name, part) in enumerate(zip(names, parts, strict=True))
    ]
    assert run_streamed(toolbox, *chunks) == [(1, 0)]


PARTS = st.sampled_from(
    [
        "choices",
        "delta",
        "message",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "index",
        "finish_reason",
        "usage",
        "text",
        "refusal",
        "prompt_tokens",
        "function_call",
        "parameters",
        "extra_content",
        "reasoning_content",
    ]
)
SCRAPS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(), max_size=6)
    | st.sampled_from(["add", "{}", '{"a": 1}', '{"a": NaN}', "[1]", '"{}"', "stop", "length"])
)
CHUNKS = st.recursive(
    SCRAPS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PARTS, inner, max_size=5),
    max_leaves=12,
)
PIECES = st.fixed_dictionaries(
    {},
    optional={
        "extra_content": CHUNKS,
        "index": st.sampled_from([None, 0, 1, "0"]),
        "id": st.sampled_from([None, "", "c1", "c2", 7, "\ud800"]),
        "function": st.none() | st.fixed_dictionaries({}, optional={"name": SCRAPS, "arguments": CHUNKS}),
    },
)
DELTAS = st.fixed_dictionaries(
    {},
    optional={
        "content": CHUNKS,
        "reasoning_content": CHUNKS,
        "tool_calls": st.lists(PIECES | CHUNKS, max_size=3),
    },
)
STREAMED = st.builds(lambda part: {"choices": [{"delta": part}]}, DELTAS)
WHOLE = st.builds(lambda part: {"choices": [{"message": part}]}, DELTAS)


@settings(max_examples=300, deadline=None)
@given(st.lists(STREAMED | CHUNKS, max_size=6) | st.lists(WHOLE, min_size=1, max_size=1))
def test_whatever_an_endpoint_sends_the_history_is_what_a_strict_one_takes_back(chunks: list[Any]) -> None:
    reply = Reply()
    for chunk in chunks:
        reply.take(chunk)
    made = read_calls(reply, [])
    history = [{"role": "user", "content": "?"}, assistant_message(reply, made)]
    history += [tool_message(call, ToolResult.from_text("ok")) for call in made]
    json.dumps(history, ensure_ascii=False, allow_nan=False).encode("utf-8")
    assert what_a_strict_endpoint_refuses({"messages": history}) == ""


LINES = st.binary(max_size=12) | st.builds(
    lambda field, value: f"{field}: {json.dumps(value)}".encode(),
    st.sampled_from(["data", "event", "error", "id", "", "other", "\ufeffdata"]),
    CHUNKS,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(LINES | st.sampled_from([b"", b"data: [DONE]", b"event: error", b"data: {"]), max_size=8))
def test_whatever_the_lines_of_a_stream_are_they_are_chunks_or_an_error_in_words(lines: list[bytes]) -> None:
    try:
        reply = Reply()
        for chunk in stream_events(lines):
            reply.take(chunk)
    except (Refusal, ValueError) as problem:
        assert str(problem)


# Results


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rpc_error", "-32603"),
        ("is_error", "Error: "),
        ("die_mid_call", "status 7"),
        ("never_reply", "within 0.5 s"),
    ],
)
def test_a_tool_that_fails_in_any_way_is_told_to_the_model_and_the_run_goes_on(name: str, text: str) -> None:
    with Toolbox() as toolbox:
        toolbox.mount("s", [*FAULTY, name], timeout=0.5)
        both = calls(("c1", "s__echo", '{"text": "x"}'), ("c2", "s__add", '{"a": 1, "b": 2}'))
        result, _ = ask(toolbox, both, says("I see."))
    first, second = tool_texts(result.messages)
    assert first.startswith("Error: ") and text in first
    assert second == "3" or name == "die_mid_call"
    assert result.answer == "I see."


def test_a_long_result_is_cut_for_the_model_and_whole_in_the_record() -> None:
    with Toolbox() as toolbox:
        toolbox.mount("s", [*FAULTY, "big_line"])
        result, _ = ask(toolbox, calls(("c1", "s__echo", '{"text": "x"}')))
        (text,) = tool_texts(result.messages)
        assert 20_000 < len(text) < 20_100 and "more characters left out" in text
        assert max(len(e.raw) for e in toolbox.traffic if e.kind == "reply") > 3_000_000


def test_a_tool_that_comes_while_the_run_goes_on_is_offered_in_the_next_turn() -> None:
    changed = threading.Event()

    def when_changed(request: dict) -> dict:
        assert changed.wait(5)
        return calls(("c2", "s__add", '{"a": 1, "b": 2}'))

    with Toolbox() as toolbox:
        heard = {"notifications/tools/list_changed": lambda params: changed.set()}
        toolbox.mount("s", [*FAULTY, "list_changed"], handlers=heard)
        script = [calls(("c1", "s__add", '{"a": 1, "b": 2}')), when_changed]
        _, requests = ask(toolbox, *script, calls(("c3", "s__mul", '{"a": 3, "b": 2}')), says("done"))
    offered = [[tool["function"]["name"] for tool in request["tools"]] for request in requests]
    assert (offered[0], offered[2]) == (["s__echo", "s__add"], ["s__add", "s__mul"])


def test_three_calls_to_servers_take_the_time_of_one() -> None:
    with Toolbox() as toolbox:
        for n in range(3):
            toolbox.mount(f"s{n}", [*FAULTY, "progress", "--seconds", "0.5"])
        began = time.monotonic()
        result, _ = ask(toolbox, calls(*((f"c{n}", f"s{n}__add", '{"a": 1, "b": 2}') for n in range(3))))
        assert time.monotonic() - began < 1.3
    assert tool_texts(result.messages) == ["3"] * 3


# Asking first, listening, interrupting


def test_a_call_that_is_not_approved_is_not_run_and_the_model_reads_why(toolbox: Toolbox) -> None:
    verdicts = {1: True, 2: False, 3: "too much", 4: ""}
    made = [(f"c{n}", "add", json.dumps({"a": n})) for n in verdicts]
    result, _ = ask(toolbox, calls(*made), approve=lambda call: verdicts[call.arguments["a"]])
    assert toolbox.heard == [(1, 0)]
    assert tool_texts(result.messages)[0] == "1"
    assert tool_texts(result.messages)[2] == "Error: not run: too much"
    assert all("not run" in text for text in tool_texts(result.messages)[1:])


@pytest.mark.parametrize("verdict", [None, 0, 1, "", [], ["x"], object()])
def test_what_is_neither_true_nor_a_reason_refuses_the_call(toolbox: Toolbox, verdict: Any) -> None:
    result, _ = ask(toolbox, ADD, approve=lambda call: verdict)
    assert result.messages[2]["content"] == "Error: not run: the user refused it"
    assert toolbox.heard == []


def test_a_run_that_an_error_of_the_callers_own_ends_is_over_on_the_record_too(toolbox: Toolbox) -> None:
    with pytest.raises(ZeroDivisionError):
        ask(toolbox, ADD, approve=lambda call: 1 / 0)
    last = [e for e in toolbox.traffic if e.kind == "model"][-1]
    assert last.body == {"stop_reason": "interrupted", "answer": "", "turns": 1}


def test_nobody_is_asked_to_approve_what_cannot_be_run(toolbox: Toolbox) -> None:
    asked: list[Any] = []
    ask(toolbox, calls(("c1", "add", "{")), approve=asked.append)
    assert asked == []


def test_events_come_while_the_run_goes_on(toolbox: Toolbox) -> None:
    heard: list[dict] = []
    ask(
        toolbox,
        ADD_STREAMED,
        stream(delta(content="It "), delta(content="is 3.")),
        stream=True,
        on_event=heard.append,
    )
    assert heard == [
        {"turn": 1, "kind": "call", "id": "c1", "name": "add", "arguments": {"a": 1, "b": 2}},
        {"turn": 1, "kind": "result", "id": "c1", "name": "add", "text": "3", "is_error": False},
        {"turn": 2, "kind": "text", "text": "It "},
        {"turn": 2, "kind": "text", "text": "is 3."},
    ]


def test_an_interrupt_in_a_function_ends_the_run_and_stands_on_the_record() -> None:
    toolbox = Toolbox()

    def stop() -> str:
        """Is interrupted."""
        raise KeyboardInterrupt

    toolbox.add(stop)
    with pytest.raises(KeyboardInterrupt):
        ask(toolbox, calls(("c1", "stop", "{}")))
    last = [e for e in toolbox.traffic if e.kind == "model"][-1]
    assert last.body == {"stop_reason": "interrupted", "answer": "", "turns": 1}


def test_a_listener_that_raises_ends_the_run_and_cancels_the_calls_that_wait() -> None:
    def listen(event: dict) -> None:
        if event["kind"] == "result":
            raise LookupError("enough")

    with Toolbox() as toolbox:
        toolbox.mount("a", [*FAULTY, "none"])
        toolbox.mount("b", [*FAULTY, "never_reply"])
        both = calls(("c1", "a__add", '{"a": 1, "b": 2}'), ("c2", "b__add", '{"a": 1, "b": 2}'))
        with pytest.raises(LookupError):
            ask(toolbox, both, on_event=listen)
        sent = [e.body["method"] for e in toolbox.traffic if e.direction == "sent" and e.server == "b"]
    assert sent[-1] == "notifications/cancelled"


# The record


def test_the_record_holds_every_request_every_reply_and_the_end(toolbox: Toolbox) -> None:
    _, requests = ask(toolbox, ADD, says("3"), max_turns=4)
    events = [e for e in toolbox.traffic if e.kind == "model"]
    assert [e.direction for e in events] == ["sent", "received", "sent", "received", ""]
    assert {e.server for e in events} == {"m"} and len({e.connection for e in events}) == 1
    assert events[0].body == {
        "turn": 1, "max_turns": 4, "model": "m", "messages": requests[0]["messages"],
        "tools": requests[0]["tools"], "stream": False,
    }  # fmt: skip
    assert events[1].body == {
        "turn": 1,
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [call("c1", "add", '{"a": 1, "b": 2}')],
        },
        "finish_reason": "tool_calls",
        "usage": None,
    }
    assert events[4].body == {"stop_reason": "answer", "answer": "3", "turns": 2}
    assert all(json.loads(e.raw) == e.body for e in events)
    ask(toolbox, says("again"))
    assert len({e.connection for e in toolbox.traffic if e.kind == "model"}) == 2


# The endpoint fails


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refuses(400, '"auto" tool choice is not enabled'), ["is not enabled", "enable-auto-tool-choice"]),
        (refuses(400, "the context is too long"), ["the context is too long"]),
        (refuses(401, "no such key"), ["no such key", "OPENAI_API_KEY"]),
        (refuses(404, "model 'm' not found"), ["model 'm' not found", "/v1"]),
        (refuses(429, "slow down"), ["slow down", "Hint"]),
        (refuses(500, "out of memory"), ["out of memory"]),
        (Answer(b'{"error": "the model is not loaded"}', 400), ["the model is not loaded"]),
        (Answer(b'{"detail": "this model takes no tools"}', 400), ["takes no tools", "Hint"]),
        (Answer(b'{"object": "error", "message": "too long"}', 400), ["too long"]),
        (Answer(b"<html>no such gateway</html>", 502, "text/html"), ["no such gateway"]),
        (Answer(b"<html>welcome</html>", content_type="text/html"), ["<html>welcome"]),
        (Answer(b"<html>welcome</html>"), ["http://127.0.0.1"]),
        (message(finish_reason="error", content="It "), ["no chat completion"]),
        (Answer(b"{}"), ["no chat completion"]),
        (Answer(b'{"detail": "Not Found"}'), ["no chat completion: {'detail': 'Not Found'}"]),
        (Answer(b"[]"), ["no chat completion"]),
        (Answer(b"null"), ["no chat completion"]),
        (Answer(b'{"choices": []}'), ["no chat completion"]),
        (Answer(b'{"choices": [{"index": 0}]}'), ["no chat completion"]),
        (Answer(b'{"error": {"message": "the GPU is on fire"}}'), ["the GPU is on fire"]),
        (Answer(b'{"choices": [', cut=True), ["http://127.0.0.1"]),
    ],
)  # fmt: skip
def test_an_endpoint_that_refuses_is_a_model_error_in_its_own_words_after_one_request(
    toolbox: Toolbox, answer: Answer, words: list[str]
) -> None:
    with Endpoint(answer) as endpoint:
        with pytest.raises(ModelError) as caught:
            run_agent("?", toolbox, llm=endpoint.llm, model="m")
        assert len(endpoint.requests) == 1
    assert all(word in str(caught.value) for word in words), str(caught.value)
    last = [e for e in toolbox.traffic if e.kind == "model"][-1]
    assert last.body == {"turn": 1, "error": str(caught.value)}


@pytest.mark.parametrize(
    "answer",
    [
        stream(delta(content="It is "), end=None, cut=True),
        stream(delta(content="It is "), end=None, done=False),
        stream(piece(index=0, id="c1", name="add", arguments="{}"), end=None, done=False),
        stream(end=None),
        Answer(b"<html>welcome</html>", content_type="text/html"),
        Answer(b'data: {"error": {"message": "the GPU is on fire"}}\n\n', content_type="text/event-stream"),
        Answer(b"data: {no json\n\n", content_type="text/event-stream"),
        refuses(400, "no tools here"),
    ],
)
def test_a_stream_that_breaks_is_a_model_error_and_runs_nothing(toolbox: Toolbox, answer: Answer) -> None:
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1"):
        ask(toolbox, answer, stream=True)
    assert toolbox.heard == []


def test_an_error_in_the_middle_of_a_stream_is_told_in_the_endpoints_words_alone(toolbox: Toolbox) -> None:
    for error in ("the GPU is on fire", {"message": "the GPU is on fire"}):
        with pytest.raises(ModelError, match="the GPU is on fire") as caught:
            ask(toolbox, stream(delta(content="It "), {"error": error}), stream=True)
        assert "Hint" not in str(caught.value)


def test_an_endpoint_that_is_not_there_is_a_model_error_with_its_address(toolbox: Toolbox) -> None:
    with Endpoint() as endpoint:
        llm = endpoint.llm.with_options(base_url="http://127.0.0.1:9/v1")
        with pytest.raises(ModelError, match=r"127\.0\.0\.1:9.*\n?.*running"):
            run_agent("?", toolbox, llm=llm, model="m")


def test_the_loop_takes_any_object_with_the_shape_of_a_client(toolbox: Toolbox) -> None:
    class Llm:
        def create(self, **request: Any) -> Any:
            return (
                iter([delta(content="S"), None, delta(content="o.", finish_reason="stop")])
                if request.get("stream")
                else says("So.")
            )

        completions = chat = property(lambda self: self)

    assert run_agent("?", toolbox, llm=Llm(), model="m").answer == "So."
    assert run_agent("?", toolbox, llm=Llm(), model="m", stream=True).answer == "So."


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), SystemExit(3)])
def test_what_ends_a_program_ends_the_run_too(toolbox: Toolbox, problem: BaseException) -> None:
    class Llm:
        def create(self, **request: Any) -> Any:
            raise problem

        completions = chat = property(lambda self: self)

    with pytest.raises(type(problem)):
        run_agent("?", toolbox, llm=Llm(), model="m")


# Endpoints that nobody has measured yet


ONE_AND_TWO = '{"a": 1, "b": 2}'
WHOLE = {"index": 0, "id": "c1", "function": {"name": "add", "arguments": ONE_AND_TWO}}


@pytest.mark.parametrize(
    "chunks",
    [
        [delta(tool_calls=WHOLE)],
        [{"choices": delta(tool_calls=[WHOLE])["choices"][0]}],
        [{"id": "x"}, {"choices": None}, {"choices": []}, delta(tool_calls=[WHOLE])],
        [{"choices": [{"index": 0, "delta": None}]}, delta(tool_calls=[WHOLE])],
        [piece(index=0, id="c1", name="add", arguments={"a": 1, "b": 2}), piece(index=0, arguments="")],
        [piece(index=0, id="c1", name="add", arguments={"a": 1}), piece(index=0, arguments={"b": 2})],
        [piece(index=0, id="c1", name="add", arguments=None), piece(index=0, arguments=ONE_AND_TWO)],
        [delta(tool_calls=[WHOLE]), delta(tool_calls=[WHOLE])],
        [delta(role="user"), delta(role="tool"), delta(role=None, tool_calls=[WHOLE], reasoning_content="?")],
    ],
    ids=[
        "the calls are one object",
        "the choices are one object",
        "chunks without choices",
        "a delta that is null",
        "an object, then an empty text",
        "an object in two parts",
        "null, then a text",
        "the last chunk twice",
        "roles that change",
    ],
)
def test_a_call_in_a_stream_of_an_odd_form_is_run_once(toolbox: Toolbox, chunks: list) -> None:
    with Endpoint(stream(*chunks), stream(delta(content="3"))) as endpoint:
        result = run_agent("1 + 2?", toolbox, llm=endpoint.llm, model="m", stream=True)
    assert [message["content"] for message in result.messages if message["role"] == "tool"] == ["3"]
    assert result.answer == "3"


def test_an_end_whose_delta_is_null_is_an_end(toolbox: Toolbox) -> None:
    end = {"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]}
    with Endpoint(stream(delta(content="hi"), end, end=None)) as endpoint:
        assert run_agent("?", toolbox, llm=endpoint.llm, model="m", stream=True).answer == "hi"


def test_a_call_that_stands_alone_instead_of_in_a_list_is_run(toolbox: Toolbox) -> None:
    with Endpoint(message(content=None, tool_calls=call("c1", "add", '{"a": 1, "b": 2}'))) as endpoint:
        result = run_agent("1 + 2?", toolbox, llm=endpoint.llm, model="m")
    assert result.messages[2]["content"] == "3"


HELLO = event(delta(content="hel")), event(delta(content="lo"))
END = event(delta(finish_reason="stop")) + "data: [DONE]\n\n"


@pytest.mark.parametrize(
    "text",
    [
        HELLO[0] + "data: \n\n" + HELLO[1] + END,
        HELLO[0] + "data:\n\n" + HELLO[1] + END,
        HELLO[0] + "event: ping\n\n" + HELLO[1] + END,
        HELLO[0] + 'event: ping\ndata: {"type": "ping"}\n\n' + HELLO[1] + END,
        "retry: 3000\n\n" + HELLO[0] + "id: 7\n\n" + HELLO[1] + END,
        HELLO[0] + ": still here\n\n" + HELLO[1] + END,
        HELLO[0] + 'data: null\n\ndata: 7\n\ndata: "x"\n\ndata: [1]\n\n' + HELLO[1] + END,
        "\ufeff" + HELLO[0] + HELLO[1] + END,
        (HELLO[0] + HELLO[1] + END).replace("\n", "\r\n"),
        (HELLO[0] + HELLO[1] + END).replace("\n", "\r"),
        (HELLO[0] + HELLO[1] + END).replace("\n\n", "\n"),
        (HELLO[0] + HELLO[1] + END).replace('", "', '",\ndata: "'),
        HELLO[0] + HELLO[1] + "data: [DONE]\n\n",
        HELLO[0] + event(delta(content="lo", finish_reason="")) + "data: [DONE]\n\n",
        HELLO[0] + HELLO[1] + event(delta(finish_reason="stop")) + "garbage\n\n",
        json.dumps(says("hello")),
        json.dumps(says("hello"), indent=1),
    ],
    ids=[
        "data that are empty",
        "data of no letter",
        "an event without data",
        "an event that is no chunk",
        "retry and id",
        "a comment",
        "data of other types",
        "a byte order mark",
        "CR LF",
        "CR",
        "no blank lines",
        "data in several lines",
        "DONE and no finish_reason",
        "DONE and an empty finish_reason",
        "garbage after the end",
        "JSON",
        "JSON in lines",
    ],
)
@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json", "application/x-ndjson"])
def test_a_stream_is_read_whatever_stands_between_its_chunks_and_whatever_it_calls_itself(
    toolbox: Toolbox, text: str, content_type: str
) -> None:
    assert ask(toolbox, events(text, content_type), stream=True)[0].answer == "hello"


def test_bytes_that_are_no_utf8_spoil_one_character(toolbox: Toolbox) -> None:
    text = b'data: {"choices": [{"delta": {"content": "a\xff \xe2\x80\xa8b"}}]}\n\n' + END.encode()
    assert ask(toolbox, events(text), stream=True)[0].answer == "a\ufffd \u2028b"


def test_calls_of_a_stream_that_ends_with_done_alone_are_run(toolbox: Toolbox) -> None:
    one = piece(index=0, id="c1", name="add", arguments='{"a": 1}')
    assert run_streamed(toolbox, one, end=None) == [(1, 0)]


USED = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def test_usage_in_every_chunk_is_no_sign_that_the_reply_is_whole(toolbox: Toolbox) -> None:
    half = {**piece(index=0, id="c1", name="add", arguments=""), "usage": USED}
    with pytest.raises(ModelError, match="ended before the reply was complete"):
        ask(toolbox, stream(half, end=None, done=False), stream=True)
    assert toolbox.heard == []


def test_usage_that_comes_alone_is_a_sign_that_the_reply_is_whole(toolbox: Toolbox) -> None:
    alone = {"choices": [], "usage": USED}
    assert (
        ask(toolbox, stream(delta(content="hi"), alone, end=None, done=False), stream=True)[0].answer == "hi"
    )


FAILED = {"code": 500, "message": "the GPU is on fire"}


@pytest.mark.parametrize(
    "text",
    [
        f"error: {json.dumps(FAILED)}\n\n",
        f"error: {json.dumps(FAILED)}\n\ndata: [DONE]\n\n",
        f"event: error\ndata: {json.dumps(FAILED)}\n\n",
        f"event: error\ndata: {json.dumps({'type': 'error', 'error': FAILED})}\n\n",
        json.dumps({"error": FAILED}),
        json.dumps([{"error": FAILED}]),
        event({"error": FAILED}),
        event({"error": FAILED, **delta(content="")}),
        event(
            {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error", "error": FAILED}]}
        )
        + event({"choices": [], "usage": USED})
        + "data: [DONE]\n\n",
        "the GPU is on fire",
    ],
    ids=[
        "a field of its own",
        "a field of its own, then the end",
        "an event of this name",
        "an event of this name, with an error in it",
        "bare JSON",
        "bare JSON in a list",
        "in place of a chunk",
        "beside a chunk",
        "inside a choice, then usage",
        "plain words",
    ],
)
@pytest.mark.parametrize("before", ["", event(delta(content="It "))], ids=["first", "later"])
def test_an_error_in_a_stream_is_told_in_the_endpoints_words_wherever_it_stands(
    toolbox: Toolbox, text: str, before: str
) -> None:
    with pytest.raises(ModelError, match="the GPU is on fire"):
        ask(toolbox, events(before + text), stream=True)


@pytest.mark.parametrize("error", [None, {}, {"code": 0, "message": ""}])
def test_an_empty_error_beside_a_chunk_is_none(toolbox: Toolbox, error: Any) -> None:
    result, _ = ask(toolbox, stream({**delta(content="hi"), "error": error}), stream=True)
    assert result.answer == "hi"


def test_an_endpoint_that_does_not_stream_when_it_is_asked_to_is_understood(toolbox: Toolbox) -> None:
    with Endpoint(says("whole"), {"error": {"message": "no money left"}}) as endpoint:
        assert run_agent("?", toolbox, llm=endpoint.llm, model="m", stream=True).answer == "whole"
        with pytest.raises(ModelError, match="no money left"):
            run_agent("?", toolbox, llm=endpoint.llm, model="m", stream=True)


def test_a_thousand_calls_of_one_reply_are_kept_and_the_others_cost_nothing(toolbox: Toolbox) -> None:
    with Endpoint(calls(*[(None, "add", "{}") for _ in range(5_000)])) as endpoint:
        result = run_agent("?", toolbox, llm=endpoint.llm, model="m", max_turns=1)
    assert len(result.messages) == 1_002


@contextmanager
def wire(head: bytes, drip: bytes = b"", reset: bool = False) -> Iterator[OpenAI]:
    """An endpoint that sends `head`, and then `drip` until its client goes, or a reset."""
    over = threading.Event()

    def serve() -> None:
        with server.accept()[0] as connection, suppress(OSError):
            connection.recv(65536)
            connection.sendall(head)
            while not reset and not over.wait(0.02):
                connection.sendall(drip)
            if reset:
                over.wait(0.1)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        try:
            with OpenAI(base_url=address, api_key="x", timeout=20, max_retries=0) as llm:
                yield llm
        finally:
            over.set()
            thread.join()


OK = b"HTTP/1.1 200 OK\r\nContent-Type: "
STREAM, JSON = OK + b"text/event-stream\r\n\r\n", OK + b"application/json\r\n\r\n"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("head", "drip"),
    [(STREAM, b": still here\n\n"), (STREAM + b"data: ", b"x"), (STREAM, b""), (JSON, b" "),
     (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
     (b"HTTP/1.1 500 Oh\r\nContent-Type: text/html\r\n\r\n", b"x")],
    ids=["comments", "one long line", "silence", "a body", "headers", "early hints", "an error"],
)  # fmt: skip
def test_a_reply_that_never_ends_has_a_deadline(
    toolbox: Toolbox, head: bytes, drip: bytes, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_lessons._stream.REPLY_SECONDS", 0.2)
    with wire(head, drip) as llm, pytest.raises(ModelError, match=r"not over within 0\.2 s"):
        run_agent("?", toolbox, llm=llm, model="m", stream=streamed)


SAID = STREAM + (event(delta(content="It is")) + event(delta(finish_reason="stop"))).encode()


@pytest.mark.parametrize(
    "ending",
    [{"drip": b": still here\n\n"}, {"drip": b""}, {"reset": True}],
    ids=["signs of life", "silence", "a reset"],
)
def test_a_reply_that_is_whole_is_taken_whatever_comes_after_it(
    toolbox: Toolbox, ending: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_lessons._stream.LAST_SECONDS", 0.2)
    with wire(SAID, **ending) as llm:
        assert run_agent("?", toolbox, llm=llm, model="m", stream=True).answer == "It is"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that interrupts")
@pytest.mark.parametrize("streamed", [False, True])
def test_ctrl_c_ends_the_wait_for_the_model_at_once(toolbox: Toolbox, streamed: bool) -> None:
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with wire(b"") as llm:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            began = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                run_agent("?", toolbox, llm=llm, model="m", stream=streamed)
            assert time.monotonic() - began < 1
    finally:
        signal.signal(signal.SIGALRM, before)
    last = [e for e in toolbox.traffic if e.kind == "model"][-1]
    assert last.body == {"stop_reason": "interrupted", "answer": "", "turns": 1}


NEVER_ANSWERS = """
import threading, types
import mcp_lessons._stream
from mcp_lessons import Toolbox, run_agent
mcp_lessons._stream.REPLY_SECONDS = 0.1
never = types.SimpleNamespace(create=lambda **request: threading.Event().wait())
llm = types.SimpleNamespace(chat=types.SimpleNamespace(completions=never))
try:
    run_agent("?", Toolbox(), llm, "m")
except Exception as problem:
    print(type(problem).__name__)
"""


def test_a_request_that_nobody_waits_for_keeps_no_interpreter_from_ending() -> None:
    run = subprocess.run([sys.executable, "-c", NEVER_ANSWERS], capture_output=True, text=True, timeout=10)
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "ModelError", "")


KEY = "sk-SECRET-1234567890"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("key", "answer"),
    [
        (KEY, refuses(401, f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}")),
        (KEY, events(f"<html>Authorization: Bearer {KEY}</html>", "text/html")),
        (KEY, events(event({"error": {"message": f"no such key: {KEY}"}}))),
        *((KEY + end, says("never sent")) for end in ("\n", "\r\n", " ", "\t", "\0")),
    ],
    ids=["a refusal", "a page", "a stream", "LF", "CR LF", "a space", "a tab", "a zero"],
)
def test_the_key_stands_neither_in_an_error_nor_in_the_record(
    toolbox: Toolbox, key: str, answer: Any, streamed: bool
) -> None:
    with Endpoint(answer) as endpoint, pytest.raises(ModelError) as caught:
        llm = endpoint.llm.with_options(api_key=key)
        run_agent("?", toolbox, llm=llm, model="m", stream=streamed)
    record = "".join(e.raw for e in toolbox.traffic if e.kind == "model")
    assert KEY not in str(caught.value) and KEY not in record


@pytest.mark.parametrize("address", ["http://me:{}@127.0.0.1:9/v1", "http://127.0.0.1:9/v1?api_key={}&x=y"])
def test_what_is_secret_in_an_address_is_not_shown(toolbox: Toolbox, address: str) -> None:
    with (
        OpenAI(base_url=address.format(KEY), api_key="x", max_retries=0) as llm,
        pytest.raises(ModelError, match=r"127\.0\.0\.1:9") as caught,
    ):
        run_agent("?", toolbox, llm=llm, model="m")
    assert KEY not in str(caught.value)


def test_a_result_says_in_a_line_how_the_run_ended(toolbox: Toolbox) -> None:
    result, _ = ask(toolbox, says("So."))
    assert repr(result) == "<AgentResult: answer after 1 turn: 'So.'>"


def test_a_tool_result_may_be_returned_by_a_function() -> None:
    def fail() -> ToolResult:
        return ToolResult.from_text("no", is_error=True)

    toolbox = Toolbox()
    toolbox.add(fail)
    assert toolbox.call("fail").is_error
