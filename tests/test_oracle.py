"""The Oracle: an endpoint like any other, and a chooser of tools that knows nothing but the request."""

import json
import os
import re
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import closing, contextmanager
from pathlib import Path

import openai
import pytest
from fake_llm import Endpoint
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mcp_lessons
from mcp_lessons import Client, StdioTransport
from mcp_lessons._oracle_rules import decide
from mcp_lessons.errors import ModelError
from mcp_lessons.oracle import Oracle, choose_llm

NPM = Path(__file__).parent / "node_modules" / ".bin"


@pytest.fixture(scope="module")
def oracle():
    with Oracle() as running:
        yield running


@pytest.fixture
def llm(oracle):
    with openai.OpenAI(base_url=oracle.base_url, api_key="offline", max_retries=0) as client:
        yield client


def function(name, description="", properties=None, required=()):
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def words_of(text):
    return text.split(" ")


CITY = {"type": "string", "enum": ["Ulm", "Bad Orb", "Trier"]}
AIR = function("air", "Air quality in a city today.", {"city": CITY}, ["city"])
TRAIN = function(
    "train",
    "Find a train between two cities.",
    {"origin": CITY, "destination": CITY},
    ["origin", "destination"],
)
USER = {"role": "user", "content": "How is the air in Trier?"}


def ask(llm, question, tools, **options):
    """The message that answers one question."""
    reply = llm.chat.completions.create(
        model="oracle-rule-based", messages=[{"role": "user", "content": question}], tools=tools, **options
    )
    return reply.choices[0].message


def calls_in(message):
    return [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]


def chosen(question, *tools):
    return decide([question], [], list(tools))[0]


def said(question, *tools):
    calls, answer = decide([question], [], list(tools))
    assert calls == []
    return answer


# It knows nothing of this course


def test_it_knows_nothing_of_the_servers_of_this_course():
    sources = "".join(
        path.read_text("utf-8") for path in Path(mcp_lessons.__file__).parent.glob("*oracle*.py")
    )
    vocabulary = words_of(
        "weather forecast alert shelter storm rain shower sky celsius route places maps picnic "
        "coast moors hills alder quay brindlow larkmoor skerry sorrel tessaby saturday sunday blog draft"
    )
    found = [word for word in vocabulary if re.search(rf"\b{word}s?\b", sources, re.IGNORECASE)]
    assert found == []


def test_it_says_that_it_is_rule_based(oracle):
    assert "rule-based" in oracle.model and "rule-based" in Oracle.__module__.join(
        [sys.modules["mcp_lessons.oracle"].__doc__, ""]
    )


# The endpoint


def test_its_one_model_can_be_asked_for(llm, oracle):
    assert llm.models.retrieve(oracle.model).id == oracle.model
    with pytest.raises(openai.NotFoundError):
        llm.models.retrieve("another")


def test_models_lists_its_one_model(llm, oracle):
    assert [model.id for model in llm.models.list()] == [oracle.model]


def test_it_listens_on_loopback_alone(oracle):
    assert oracle.base_url.startswith("http://127.0.0.1:") and oracle.base_url.endswith("/v1")


def test_a_plain_reply_has_a_call_a_reason_and_usage(llm):
    reply = llm.chat.completions.create(model="m", messages=[USER], tools=[AIR])
    assert reply.choices[0].finish_reason == "tool_calls"
    assert calls_in(reply.choices[0].message) == [("air", {"city": "Trier"})]
    assert reply.usage.prompt_tokens > 50 and reply.usage.total_tokens > reply.usage.prompt_tokens


def test_without_tools_the_request_is_cheaper(llm):
    with_tools = llm.chat.completions.create(model="m", messages=[USER], tools=[AIR]).usage.prompt_tokens
    without = llm.chat.completions.create(model="m", messages=[USER]).usage.prompt_tokens
    assert with_tools > without + 30


def streamed(llm, question, tools, **options):
    return list(
        llm.chat.completions.create(
            model="m", messages=[{"role": "user", "content": question}], tools=tools, stream=True, **options
        )
    )


def test_a_streamed_reply_says_the_same_in_parts(llm):
    question = "How is the air in Trier and Ulm?"
    chunks = streamed(llm, question, [AIR])
    parts = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    arguments = dict.fromkeys((0, 1), "")
    for part in parts:
        arguments[part.index] += part.function.arguments
    assert [json.loads(text) for text in arguments.values()] == [{"city": "Trier"}, {"city": "Ulm"}]
    assert [part.id for part in parts] == ["call_1", None, "call_2", None]
    assert chunks[-1].choices[0].finish_reason == "tool_calls"
    assert all(chunk.usage is None for chunk in chunks)


def test_a_streamed_answer_adds_up_to_the_plain_one(llm):
    chunks = streamed(llm, "How is the cheese?", [AIR])
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == ask(llm, "How is the cheese?", [AIR]).content and len(chunks) > 5
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_usage_comes_last_in_a_stream_when_asked_for(llm):
    chunks = streamed(llm, "How is the air in Ulm?", [AIR], stream_options={"include_usage": True})
    assert chunks[-1].choices == [] and chunks[-1].usage.prompt_tokens > 0


def test_the_stream_ends_with_done(oracle):
    body = json.dumps({"model": "m", "messages": [USER], "stream": True}).encode()
    request = urllib.request.Request(f"{oracle.base_url}/chat/completions", body)
    with urllib.request.urlopen(request, timeout=5) as reply:
        assert reply.headers["Content-Type"] == "text/event-stream"
        lines = reply.read().decode().split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]


def test_a_client_that_leaves_in_the_middle_does_no_harm(llm, oracle):
    port = int(oracle.base_url.split(":")[2].split("/")[0])
    for sent in (
        b"",
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{",
        b"\0\xff\r\n\r\n",
    ):
        with closing(socket.create_connection(("127.0.0.1", port), timeout=5)) as connection:
            connection.sendall(sent)
    assert calls_in(ask(llm, "How is the air in Ulm?", [AIR]))


def test_many_clients_at_once_each_get_their_answer(oracle):
    found = []

    def one(city):
        with openai.OpenAI(base_url=oracle.base_url, api_key="x") as client:
            found.append(calls_in(ask(client, f"How is the air in {city}?", [AIR]))[0][1]["city"] == city)

    threads = [threading.Thread(target=one, args=(city,)) for city in CITY["enum"] * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert found == [True] * 9


def test_after_close_nothing_listens_and_closing_again_is_fine():
    oracle = Oracle()
    port = int(oracle.base_url.split(":")[2].split("/")[0])
    oracle.close()
    oracle.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


# Odd requests


def call(arguments='{"city": "Ulm"}', id="c1", name="air"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(*calls, content=""):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tool(id="c1", content="good"):
    return {"role": "tool", "tool_call_id": id, "content": content}


TEXT_SCHEMA = {"type": "function", "function": {"name": "a", "parameters": {"type": "string"}}}
ODD = {
    "messages is missing": ({}, "messages: missing or empty"),
    "messages is empty": ({"messages": []}, "messages: missing or empty"),
    "messages is no list": ({"messages": {"role": "user"}}, "messages"),
    "a message is a text": ({"messages": ["hi"]}, "messages[0]"),
    "a role nobody knows": ({"messages": [{"role": "robot", "content": "hi"}]}, "the role 'robot'"),
    "content is null": ({"messages": [{"role": "user", "content": None}]}, "no content"),
    "content is a number": ({"messages": [{"role": "user", "content": 5}]}, "no content"),
    "tools is empty": ({"messages": [USER], "tools": []}, "tools"),
    "tools is an object": ({"messages": [USER], "tools": {"air": AIR}}, "tools"),
    "a tool is a text": ({"messages": [USER], "tools": ["air"]}, "tools[0]: not of type function"),
    "a tool has no function": ({"messages": [USER], "tools": [{"type": "function"}]}, "tools[0]"),
    "a name with a dot": ({"messages": [USER], "tools": [function("a.b")]}, "does not match"),
    "a name of 65 characters": ({"messages": [USER], "tools": [function("a" * 65)]}, "does not match"),
    "a name with a newline at its end": ({"messages": [USER], "tools": [function("a\n")]}, "does not match"),
    "a name twice": ({"messages": [USER], "tools": [AIR, AIR]}, "the same name"),
    "a schema that is no object": (
        {"messages": [USER], "tools": [TEXT_SCHEMA]},
        "type 'object'",
    ),
    "a description that is no text": ({"messages": [USER], "tools": [function("a", 5)]}, "the description"),
    "a tool message that answers no call": (
        {"messages": [USER, tool()]},
        "tool_call_id 'c1' answers no call",
    ),
    "a tool message too many": ({"messages": [USER, assistant(call()), tool(), tool()]}, "answers no call"),
    "a tool message without id": (
        {"messages": [USER, assistant(call()), {"role": "tool", "content": "x"}]},
        "answers no call",
    ),
    "a call without tool message": ({"messages": [USER, assistant(call()), USER]}, "need a tool message: c1"),
    "a call without tool message at the end": (
        {"messages": [USER, assistant(call())]},
        "need a tool message: c1",
    ),
    "two calls with one id": ({"messages": [USER, assistant(call(), call()), tool(), tool()]}, "share an id"),
    "a call without id": ({"messages": [USER, assistant(call(id=None)), tool()]}, "a call has no id"),
    "arguments that are no JSON": ({"messages": [USER, assistant(call("{city")), tool()]}, "the arguments"),
    "arguments that are a list": ({"messages": [USER, assistant(call("[1]")), tool()]}, "the arguments"),
    "arguments that are an object": (
        {"messages": [USER, assistant(call({"a": 1})), tool()]},
        "the arguments",
    ),
    "a call of an impossible name": (
        {"messages": [USER, assistant(call(name="a b")), tool()]},
        "does not match",
    ),
    "tool_calls is empty": ({"messages": [USER, assistant()]}, "tool_calls is empty"),
    "tool_calls of the user": ({"messages": [USER | {"tool_calls": [call()]}, tool()]}, "tool_calls"),
    "tool_calls of a tool": (
        {"messages": [USER, assistant(call()), tool() | {"tool_calls": "x"}]},
        "not the assistant's",
    ),
    "two choices": ({"messages": [USER], "n": 2}, "n: there is one choice"),
    "stream is a text": ({"messages": [USER], "stream": "yes"}, "stream"),
    "stream_options without stream": (
        {"messages": [USER], "stream_options": {"include_usage": True}},
        "stream_options",
    ),
    "tool_choice is an object": ({"messages": [USER], "tool_choice": {"type": "function"}}, "tool_choice"),
    "the model is missing": ({"messages": [USER], "model": None}, "you must provide a model"),
}


def post(oracle, body, path="/chat/completions"):
    """(status, body) of a raw request."""
    request = urllib.request.Request(oracle.base_url + path, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal)


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_request_gets_a_400_that_names_it(oracle, odd):
    request, sentence = ODD[odd]
    status, body = post(oracle, json.dumps({"model": "m"} | request).encode())
    assert status == 400 and sentence in body["error"]["message"]
    assert body["error"]["type"] == "invalid_request_error" and set(body["error"]) >= {"param", "code"}


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_no_request_gets_a_400(oracle, body):
    status, reply = post(oracle, body)
    assert status == 400 and reply["error"]["message"]


def test_a_question_that_is_nested_too_deeply_gets_a_400(oracle):
    keep = function("keep", "Keep it.", {"it": {"type": "array"}}, ["it"])
    question = {"role": "user", "content": "keep " + "[" * 990 + "]" * 990}
    status, reply = post(oracle, json.dumps({"model": "m", "messages": [question], "tools": [keep]}).encode())
    assert status == 200 or (status == 400 and "too deeply" in reply["error"]["message"])


@pytest.mark.parametrize("length", ["-1", "9" * 17, "9" * 30, "9" * 5_000, "x"])
def test_a_length_that_no_request_has_gets_a_400(oracle, length):
    port = int(oracle.base_url.split(":")[2].partition("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(f"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode())
        assert b" 400 " in client.makefile("rb").readline()


def test_the_openai_package_raises_its_own_error_for_a_400(llm):
    with pytest.raises(openai.BadRequestError, match="does not match"):
        ask(llm, "hello", [function("a.b")])


def test_unknown_paths_and_methods_are_refused(oracle):
    assert post(oracle, b"{}", "/completions")[0] == 404
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(oracle.base_url + "/nowhere", timeout=5)
    with refusal.value:
        assert refusal.value.code == 404


@pytest.mark.parametrize("line", [b"PUT /v1/models HTTP/1.1", b"no request at all, nor anything like it"])
def test_what_is_no_request_of_the_api_gets_an_error_in_json(oracle, line):
    with closing(socket.create_connection(("127.0.0.1", int(oracle.base_url.split(":")[2][:-3])), 5)) as raw:
        raw.sendall(line + b"\r\n\r\n")
        said = b"".join(iter(lambda: raw.recv(65536), b"")).decode()
    assert json.loads(said[said.index("{") :])["error"]["type"] == "invalid_request_error"


def test_what_is_unusual_and_right_is_taken(llm):
    messages = [
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "How is the air in Ulm?"}]},
        {"role": "assistant", "content": None, "tool_calls": [call()]},
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [{"type": "text", "text": "The air in Ulm is good"}],
        },
    ]
    reply = llm.chat.completions.create(model="m", messages=messages, tools=[AIR], temperature=0, seed=1)
    assert reply.choices[0].message.content == "The air in Ulm is good."


# What it chooses


def test_values_of_an_enum_are_found_and_told_apart_by_from_and_to():
    there = [("train", {"origin": "Ulm", "destination": "Bad Orb"})]
    assert chosen("Is there a train from Ulm to Bad Orb?", TRAIN, AIR) == there
    assert chosen("Is there a train to bad orb from ulm?", AIR, TRAIN) == there


def test_two_questions_become_two_calls_and_there_means_where_the_first_one_leads():
    assert chosen("Find me a train from Ulm to Trier, and how is the air there?", TRAIN, AIR) == [
        ("train", {"origin": "Ulm", "destination": "Trier"}),
        ("air", {"city": "Trier"}),
    ]


@pytest.mark.parametrize(
    "question",
    [
        "A trip to Trier, starting from Ulm: is there a train, and how is the air?",
        "We spend a day in Trier, starting from Ulm. Is there a train? How is the air there?",
        "Starting from Ulm, is there a train to Trier, and how is the air?",
    ],
)
def test_where_a_journey_starts_is_not_where_it_leads(question):
    assert ("air", {"city": "Trier"}) in chosen(question, TRAIN, AIR)
    assert ("air", {"city": "Ulm"}) not in chosen(question, TRAIN, AIR)


def test_a_question_about_there_takes_the_name_that_was_said_before():
    city = function("air", "Air quality in a city.", {"city": {"type": "string"}}, ["city"])
    calls, _ = decide(["How do I get from Ulm to Trier?", "How is the air there?"], [], [city])
    assert calls == [("air", {"city": "Trier"})]


def test_several_values_for_one_argument_become_parallel_calls(llm):
    message = ask(llm, "How is the air in Ulm, Trier and Bad Orb?", [TRAIN, AIR])
    assert calls_in(message) == [("air", {"city": city}) for city in ("Ulm", "Trier", "Bad Orb")]
    message = ask(llm, "How is the air in Ulm, Trier and Bad Orb?", [TRAIN, AIR], parallel_tool_calls=False)
    assert calls_in(message) == [("air", {"city": "Ulm"})]


def test_several_places_are_asked_for_in_their_order():
    clock = function("clock", "The time in a zone.", {"timezone": {"type": "string"}}, ["timezone"])
    zones = [
        args["timezone"] for _, args in chosen("Tell me the time in Asia/Tokyo, UTC and Europe/Rome.", clock)
    ]
    assert zones == ["Asia/Tokyo", "UTC", "Europe/Rome"]


def test_it_chooses_by_names_and_descriptions_alone():
    bread, air = function("tool_a", "Bake bread."), function("tool_b", "How clean the air is.")
    assert chosen("How clean is the air?", bread, air) == [("tool_b", {})]
    bread["function"]["description"], air["function"]["description"] = "How clean the air is.", "Bake bread."
    assert chosen("How clean is the air?", bread, air) == [("tool_a", {})]


def test_it_says_what_it_cannot_know():
    question = "Find me a train from Ulm to Trier, and how is the air there?"
    result = {"name": "train", "arguments": {"origin": "Ulm", "destination": "Trier"}, "text": "At noon"}
    calls, answer = decide([question], [result], [TRAIN])
    assert calls == []
    assert answer == "At noon. I cannot know “how is the air there”: no tool I was given is about it."
    assert said("What is the meaning of life?") == (
        "I cannot know “What is the meaning of life”: no tool I was given is about it."
    )
    assert said("") == said("Hello!", AIR) == "I cannot know that: no tool I was given is about it."


def test_a_list_of_objects_that_need_nothing_does_not_go_on_for_ever():
    note = {"type": "object", "properties": {"text": {"type": "string"}}}
    keep = function("keep", "Keep notes.", {"notes": {"type": "array", "items": note}}, ["notes"])
    for question in ("keep these notes please", 'keep the notes "one" and "two"'):
        assert isinstance(decide([question], [], [keep])[0], list)


@pytest.mark.parametrize(
    "text", ["@" * 2_000, "\\" * 2_000, "@-" * 1_000, "/:" * 1_000, "a." * 1_000 + "=", "1.1." * 500]
)
def test_no_question_takes_longer_to_read_than_to_write(text):
    began = time.thread_time()
    decide([text], [], [AIR])
    assert time.thread_time() - began < 2, "seconds of the processor; a question costs some hundredths"


def test_it_says_which_argument_is_lacking():
    assert said("How is the air?", AIR) == "To use air I would need: city."


def test_it_does_not_call_when_told_not_to(llm):
    assert calls_in(ask(llm, "How is the air in Ulm?", [AIR], tool_choice="none")) == []


def test_it_changes_nothing_that_the_question_does_not_say():
    delete = function("delete_city", "Delete a city and its air.", {"city": CITY}, ["city"])
    assert said("How is the air in Ulm?", delete)
    assert chosen("Delete the city of Ulm.", delete) == [("delete_city", {"city": "Ulm"})]


def test_a_failed_call_is_not_repeated_but_reported():
    result = {"name": "air", "arguments": {"city": "Ulm"}, "text": "Error: the sensor is out of order"}
    assert decide(["How is the air in Ulm?"], [result], [AIR]) == ([], "Error: the sensor is out of order.")


def test_a_question_may_refer_to_the_one_before():
    calls, _ = decide(["How is the air in Ulm?", "And is there a train there from Trier?"], [], [AIR, TRAIN])
    assert calls == [("train", {"origin": "Trier", "destination": "Ulm"})]


@pytest.mark.parametrize(
    ("rule", "question", "value"),
    [
        ({"type": "integer"}, "Set the level to 7.", 7),
        ({"type": "number"}, "Set the level to -2.5 now", -2.5),
        ({"type": "string"}, "Set the level to 7", "7"),
        ({"type": "string"}, 'Set the level to "very high"', "very high"),
        ({"type": "string"}, "Set the level to `a and b, c`", "a and b, c"),
        ({"type": "array", "items": {"type": "integer"}}, "Set the level to 1, 2 and 3", [1, 2, 3]),
        ({"type": "array"}, "Set the level to [1, {}]", [1, {}]),
        ({"type": "object"}, 'Set the level to {"a": "b c"}', {"a": "b c"}),
        ({"enum": [1, 2]}, "Set the level to 2", 2),
        ({"type": "string", "enum": ["low", "high"]}, "Set the level to HIGH", "high"),
        ({"type": ["string", "null"]}, 'Set the level to "x"', "x"),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "Set the level to 4", 4),
        ({"type": "integer", "default": 3}, "Set the level", 3),
        ({}, "Set the level to Ulm", "Ulm"),
    ],
)  # fmt: skip
def test_arguments_follow_the_schema(rule, question, value):
    tool = function("set_level", "Set it.", {"level": rule}, ["level"])
    assert chosen(question, tool) == [("set_level", {"level": value})]


@pytest.mark.parametrize(
    ("name", "question", "value"),
    [
        ("path", "Open /tmp/a-b/c.txt.", "/tmp/a-b/c.txt"),
        ("path", 'Open "/tmp/with a blank.txt", please', "/tmp/with a blank.txt"),
        ("path", r"Open C:\Users\ada\x.txt", r"C:\Users\ada\x.txt"),
        ("file", "Open notes.txt now", "notes.txt"),
        ("url", "Open https://example.org/a?b=c", "https://example.org/a?b=c"),
        ("start_time", "Open at 09:30 on 2026-11-30", "09:30"),
        ("date", "Open at 09:30 on 2026-11-30", "2026-11-30"),
        ("timezone", "Open in Asia/Tokyo", "Asia/Tokyo"),
        ("query", "Open for mice and rats", "mice and rats"),
    ],
)
def test_the_name_of_a_parameter_says_which_value_it_takes(name, question, value):
    tool = function("open", "Open it.", {name: {"type": "string"}}, [name])
    assert chosen(question, tool)[0] == ("open", {name: value})


def test_a_result_in_json_is_read_out():
    result = {"name": "air", "arguments": {"city": "Ulm"}, "text": '{"ozone": 12, "dust": {"fine": true}}'}
    assert decide(["How is the air in Ulm?"], [result], [AIR])[1] == "air says: ozone: 12, dust: fine: true."


@pytest.mark.parametrize(
    "text", ['{"a":' * 900 + "1" + "}" * 900, "[" * 100_000, '{"n": ' + "9" * 10_000 + "}", "NaN", ""]
)
def test_a_result_that_is_hard_to_read_is_still_a_result(text):
    result = {"name": "air", "arguments": {"city": "Ulm"}, "text": text}
    calls, answer = decide(["How is the air in Ulm?"], [result], [AIR])
    assert calls == [] and answer and len(answer) < 510


def test_a_long_result_is_cut():
    result = {"name": "air", "arguments": {"city": "Ulm"}, "text": "very clean " * 1000}
    answer = decide(["How is the air in Ulm?"], [result], [AIR])[1]
    assert len(answer) < 510 and answer.endswith(" …")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "enum", "items", "properties", "required", "anyOf", "default", "a"]),
            inner,
        )
    ),
    max_leaves=12,
)
TEXT = st.text(max_size=60) | st.lists(
    st.sampled_from(words_of('air Ulm "a b" {"a":1} [1] 12:30 2026-01-01 -3.5 /tmp/x and , . ? to from in "'))
).map(" ".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXT, TEXT, JSON, JSON, TEXT)
def test_it_decides_something_for_whatever_it_is_asked(before, question, rule, schema, result):
    odd = function("odd_air", question, {"a": rule, "b": rule}, ["a"])
    odder = {"type": "function", "function": {"name": "odder", "description": before, "parameters": schema}}
    results = [{"name": "odder", "arguments": {}, "text": result}]
    calls, answer = decide([before, question], results, [odd, odder])
    assert bool(calls) != bool(answer)
    assert all(name in ("odd_air", "odder") and isinstance(arguments, dict) for name, arguments in calls)


# Servers it has never seen


def as_function(tool):
    entry = function(tool["name"], tool.get("description", ""))
    entry["function"]["parameters"] = tool["inputSchema"]
    return entry


@contextmanager
def mounted(command, env=None):
    """A real server, as the tools of a request and a function that calls one."""
    with Client(StdioTransport(command, env=env), name="s", timeout=20) as client:
        client.initialize()
        tools = [as_function(tool.raw) for tool in client.list_tools()]
        yield tools, client.call_tool


def converse(llm, question, tools, call_tool):
    """Question, calls, results, answer: the answer, and the names of the tools that were called."""
    messages, called = [{"role": "user", "content": question}], []
    for _ in range(5):
        message = llm.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
        if not message.tool_calls:
            return message.content, called
        messages.append(
            {"role": "assistant", "content": "", "tool_calls": [c.to_dict() for c in message.tool_calls]}
        )
        for made in message.tool_calls:
            called.append(made.function.name)
            result = call_tool(made.function.name, json.loads(made.function.arguments))
            messages.append({"role": "tool", "tool_call_id": made.id, "content": result.text})
    raise AssertionError(f"no answer after five turns: {called}")


def test_the_time_server_is_asked_the_time(llm):
    command = [str(Path(sys.executable).with_name("mcp-server-time")), "--local-timezone", "UTC"]
    with mounted(command) as (tools, call_tool):
        answer, called = converse(llm, "what time is it in Asia/Tokyo?", tools, call_tool)
        assert called == ["get_current_time"] and "timezone: Asia/Tokyo" in answer and "+09:00" in answer
        answer, called = converse(llm, "Convert 16:30 from Asia/Kolkata to Asia/Tokyo.", tools, call_tool)
        assert called == ["convert_time"] and "T20:00:00+09:00" in answer
        answer, called = converse(llm, "What time is it in UTC and in Europe/Paris?", tools, call_tool)
        assert called == ["get_current_time"] * 2 and "timezone: Europe/Paris" in answer


def test_the_memory_server_remembers(llm, tmp_path):
    env = {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}
    with mounted([str(NPM / "mcp-server-memory")], env) as (tools, call_tool):
        question = 'Create an entity named "Ada" of type "person" with the observation "writes programs".'
        assert converse(llm, question, tools, call_tool)[1] == ["create_entities"]
        question = 'Create the entities [{"name": "Grace", "entityType": "person", "observations": []}].'
        assert converse(llm, question, tools, call_tool)[1] == ["create_entities"]
        question = 'Create a relation from "Ada" to "Grace" of type "admires".'
        assert converse(llm, question, tools, call_tool)[1] == ["create_relations"]
        answer, called = converse(llm, 'Search the nodes for "programs".', tools, call_tool)
        assert (
            called == ["search_nodes"] and "name: Ada" in answer and "observations: writes programs" in answer
        )
        answer, called = converse(llm, 'Open the nodes "Ada" and "Grace".', tools, call_tool)
        assert called == ["open_nodes"] and "relationType: admires" in answer and "name: Grace" in answer
        assert converse(llm, "What does the graph know about Ada?", tools, call_tool)[1] in (
            ["search_nodes"], ["read_graph"],
        )  # fmt: skip


def test_the_filesystem_server_reads_and_writes(llm, tmp_path):
    home = tmp_path.resolve()
    (home / "notes.txt").write_text("buy bread")
    with mounted([str(NPM / "mcp-server-filesystem"), str(home)]) as (tools, call_tool):
        answer, called = converse(llm, f"Read the text file {home}/notes.txt.", tools, call_tool)
        assert called == ["read_text_file"] and answer == "buy bread."
        question = f'Write "good morning, all" to the file {home}/new.txt and list the directory {home}'
        answer, called = converse(llm, question, tools, call_tool)
        assert called == ["write_file", "list_directory"] and "[FILE] notes.txt" in answer
        assert (home / "new.txt").read_text() == "good morning, all"
        converse(llm, f"Move the file {home}/new.txt to {home}/old.txt", tools, call_tool)
        assert (home / "old.txt").read_text() == "good morning, all"
        answer, called = converse(llm, "Which directories am I allowed to access?", tools, call_tool)
        assert called == ["list_allowed_directories"] and str(home) in answer


LISTED = {
    "git": [
        ("Show the git log of /srv/repo", "git_log", {"repo_path": "/srv/repo"}),
        ('Create the branch "dew" in /srv/repo', "git_create_branch",
         {"repo_path": "/srv/repo", "branch_name": "dew"}),
        ('Commit /srv/repo with the message "fix the door"', "git_commit",
         {"repo_path": "/srv/repo", "message": "fix the door"}),
        ("What is the status of the repository /srv/repo?", "git_status", {"repo_path": "/srv/repo"}),
    ],
    "sqlite": [
        ("List the tables", "list_tables", {}),
        ('Describe the table "users"', "describe_table", {"table_name": "users"}),
        ("Run the query `select 1`", "read_query", {"query": "select 1"}),
    ],
    "word": [('Create the document "report.docx"', "create_document", {"filename": "report.docx"})],
    "grafana": [("List the datasources", "list_datasources", {})],
    "fastmcp": [("Check the air at Ulm: its weather", "weather.check/v2", {"place": "Ulm"})],
}  # fmt: skip


@pytest.mark.parametrize("name", LISTED)
def test_the_tools_of_a_server_that_it_has_never_seen_are_chosen_and_filled(name):
    said = json.loads((Path(__file__).parent / "tool_lists" / f"{name}.json").read_text("utf-8"))
    tools = [as_function(tool) for reply in said["replies"] for tool in reply["tools"]]
    for question, tool, arguments in LISTED[name]:
        assert chosen(question, *tools) == [(tool, arguments)]


# choose_llm


@pytest.fixture
def environment(monkeypatch):
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)
    yield monkeypatch.setenv
    choose_llm.close()


def test_with_no_endpoint_named_there_is_one_oracle_a_process(environment):
    first, model = choose_llm()
    second, _ = choose_llm()
    with first, second:
        assert first.base_url == second.base_url and model == "oracle-rule-based"
        assert calls_in(ask(first, "How is the air in Ulm?", [AIR])) == [("air", {"city": "Ulm"})]


def test_close_ends_the_oracle_and_the_next_call_starts_another(environment):
    client, _ = choose_llm()
    choose_llm.close()
    choose_llm.close()
    with client, pytest.raises(openai.APIConnectionError):
        client.with_options(max_retries=0).models.list()
    client, _ = choose_llm()
    with client:
        assert client.models.list().data


def test_a_proxy_in_the_environment_is_no_way_to_this_machine(environment):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        environment(name, "http://127.0.0.1:9")
    environment("NO_PROXY", "")
    with choose_llm()[0] as client:
        assert client.models.list().data


def test_a_key_alone_is_no_wish_to_use_it(environment):
    environment("OPENAI_API_KEY", "sk-secret")
    client, model = choose_llm()
    with client:
        assert model == "oracle-rule-based" and client.api_key == "offline"


def test_the_environment_names_the_endpoint(environment):
    environment("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    environment("OPENAI_MODEL", "some-model")
    client, model = choose_llm()
    with client:
        assert model == "some-model" and str(client.base_url) == "http://127.0.0.1:9/v1/" and client.api_key
    environment("OPENAI_API_KEY", "k")
    with choose_llm()[0] as client:
        assert client.api_key == "k"


def test_a_base_url_without_a_model_asks_for_the_first(environment, oracle):
    environment("OPENAI_BASE_URL", oracle.base_url)
    client, model = choose_llm()
    with client:
        assert model == oracle.model


@pytest.mark.parametrize(
    "address",
    ["http://[::1", "http://127.0.0.1:9/\x1b[31m", "http://127.0.0.1:x/v1", "localhost:9/v1", "::1"],
)
def test_an_address_that_is_none_is_a_model_error(environment, address):
    environment("OPENAI_BASE_URL", address)
    environment("OPENAI_MODEL", "m")
    with pytest.raises(ModelError, match="is no address"):
        choose_llm()


@pytest.mark.parametrize("end", ["\n", "\r\n", " ", "\t"])
def test_white_space_around_what_the_environment_says_is_no_part_of_it(environment, end):
    environment("OPENAI_BASE_URL", "http://127.0.0.1:9/v1" + end)
    environment("OPENAI_API_KEY", "sk-0123456789" + end)
    environment("OPENAI_MODEL", " some-model" + end)
    client, model = choose_llm()
    with client:
        assert (str(client.base_url), client.api_key) == ("http://127.0.0.1:9/v1/", "sk-0123456789")
        assert model == "some-model"


@pytest.mark.parametrize("address", ["http://me:hush@127.0.0.1:9/v1", "http://127.0.0.1:9/v1?key=hush"])
def test_what_is_secret_in_an_address_is_in_no_error(environment, address):
    environment("OPENAI_BASE_URL", address)
    with pytest.raises(ModelError) as problem:
        choose_llm()
    assert "hush" not in str(problem.value)


def test_a_model_whose_name_is_no_text_is_passed_over(environment):
    with Endpoint() as endpoint:
        endpoint.models = {"data": [{"id": 5}, {"id": None}, {"id": "second"}]}
        environment("OPENAI_BASE_URL", endpoint.base_url)
        client, model = choose_llm()
        with client:
            assert model == "second"


@pytest.mark.parametrize("listed", [{}, {"data": []}, {"data": None}, [], {"data": [7]}, {"data": [{}]}])
def test_an_endpoint_that_lists_no_model_is_a_model_error(environment, listed):
    with Endpoint() as endpoint:
        endpoint.models = listed
        environment("OPENAI_BASE_URL", endpoint.base_url)
        with pytest.raises(ModelError, match=r"lists no model .*: set OPENAI_MODEL"):
            choose_llm()


def test_an_endpoint_that_cannot_be_reached_or_named_is_a_model_error(environment):
    environment("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9.*set OPENAI_MODEL"):
        choose_llm()
    environment("OPENAI_BASE_URL", "")
    environment("OPENAI_MODEL", "m")
    with pytest.raises(ModelError, match="neither OPENAI_BASE_URL nor OPENAI_API_KEY"):
        choose_llm()
