"""Whatever a stranger writes: the line reader, the classifier and the whole client take it, lose nothing that
was whole, raise nothing but their own errors, and end in time."""

import json
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from kit import connected, tiny

from mcp_lessons import Client, McpError, Traffic, jsonrpc
from mcp_lessons.errors import RpcError, brief
from mcp_lessons.results import ServerInfo, Tool, ToolResult
from mcp_lessons.stdio import split_lines
from mcp_lessons.traffic import redact_command

pytestmark = pytest.mark.filterwarnings("ignore::mcp_lessons.errors.McpWarning")
quick = settings(max_examples=40, deadline=None, database=None)
few = settings(max_examples=12, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])

text = st.text(st.characters(), max_size=20)  # lone surrogates too
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(text, values, max_size=4)


def some(**fields):
    """Objects with some of these fields, each right or anything."""
    return st.fixed_dictionaries({}, optional={name: right | values for name, right in fields.items()})


blocks = some(
    type=st.sampled_from(["text", "image", "audio", "resource", "resource_link", "new"]),
    text=text,
    data=text,
    mimeType=text,
    uri=text,
    name=text,
    resource=some(uri=text, text=text, blob=text),
)
results = some(content=st.lists(blocks | values, max_size=4), structuredContent=values, isError=st.booleans())
entries = some(name=text, description=text, inputSchema=objects, outputSchema=objects)
messages = some(
    jsonrpc=st.just("2.0"),
    id=st.integers(0, 9) | text,
    method=st.sampled_from(
        ["ping", "tools/list", "notifications/tools/list_changed", "notifications/progress"]
    )
    | text,
    params=some(progressToken=st.integers(0, 9)),
    result=results,
    error=some(code=st.integers(), message=text, data=values),
)


# The line reader


@quick
@given(st.binary(max_size=400), st.lists(st.integers(1, 60), min_size=1, max_size=20), st.integers(1, 50))
def test_lines_are_those_of_the_bytes_however_they_are_cut_into_chunks(data, sizes, limit):
    chunks, rest = [], data
    for size in sizes * (len(data) // len(sizes) + 1):
        chunk, rest = rest[:size], rest[size:]
        chunks.append(chunk)
    feed = iter([chunk for chunk in chunks if chunk] + [b""])
    got = list(split_lines(lambda: next(feed), limit))
    whole = data.split(b"\n")
    if not whole[-1]:
        whole.pop()
    complete = data.count(b"\n")
    expected = [line[:limit] for line in whole]
    expected = [line.removesuffix(b"\r") for line in expected[:complete]] + expected[complete:]
    assert got == expected


# The classifier


@quick
@given(values | messages)
def test_every_value_has_a_kind_and_a_message_keeps_its_own(value):
    kind = jsonrpc.kind_of(value)
    assert kind in ("request", "reply", "notification", "noise")
    if kind == "request":
        assert jsonrpc.kind_of(jsonrpc.result(value["id"], {})) == "reply"


@quick
@given(st.text() | st.binary().map(lambda data: data.decode("utf-8", "replace")))
def test_every_line_decodes_to_a_value_or_to_none(line):
    jsonrpc.kind_of(jsonrpc.decode(line))


@quick
@given(objects)
def test_what_is_encoded_decodes_to_the_same_unless_json_has_no_word_for_it(params):
    message = jsonrpc.notification("x", params)
    try:
        line = jsonrpc.encode(message)
    except ValueError:
        assert any(word in json.dumps(params) for word in ("NaN", "Infinity"))
        return
    assert "\n" not in line and jsonrpc.decode(line) == message


# Values


@quick
@given(objects | results)
@example({"structuredContent": float("nan")})
def test_what_the_model_reads_is_never_empty_and_always_encodes(result):
    read = ToolResult.from_result(result).text
    assert read and read.encode("utf-8")


@quick
@given(values | entries)
def test_an_entry_is_a_tool_or_an_error_of_ours(entry):
    try:
        tool = Tool.from_entry(entry)
    except McpError:
        return
    assert tool.name and isinstance(tool.description, str) and isinstance(tool.input_schema, dict)


@quick
@given(values, objects)
def test_errors_and_greetings_are_read_whatever_they_hold(error, greeting):
    assert str(RpcError.from_object(error)) and isinstance(ServerInfo.from_result(greeting).name, str)
    assert len(brief(error, 50)) <= 50


@quick
@given(st.lists(text))
def test_a_command_is_redacted_word_by_word(command):
    assert len(redact_command(command)) == len(command)


# The record


@quick
@given(st.lists(st.tuples(st.sampled_from(["sent", "received", "stderr"]), text | messages.map(json.dumps))))
def test_a_record_comes_back_from_its_file_as_it_was(lines):
    traffic = Traffic()
    record = traffic.recorder("s")
    for source, line in lines:
        record(source, line)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "record.jsonl")
        traffic.save(path)
        assert list(Traffic.load(path)) == list(traffic)


# The whole client


class Stranger:
    """A transport whose server answers each request with what it was given to say, and then properly."""

    def __init__(self, lines):
        self.lines = list(lines)

    def start(self, on_event):
        self.on_event = on_event

    def send(self, message, timeout=None):
        if "method" in message and "id" in message:
            for line in self.lines:
                self.on_event("received", line)
            self.on_event("received", jsonrpc.encode(jsonrpc.result(message["id"], {"whole": True})))

    def close(self):
        pass


@quick
@given(st.lists(messages.map(json.dumps) | values.map(json.dumps) | text, max_size=5))
def test_a_call_gets_its_reply_whatever_stands_before_it(lines):
    """Unless one of the lines is a reply to it, or an error that names nobody."""
    client = Client(Stranger(lines), timeout=5)
    try:
        result = client.request("x")
    except McpError:
        result = None
    finally:
        client.close()
    answers = [
        message
        for line in lines
        for message in flat(jsonrpc.decode(line))
        if jsonrpc.kind_of(message) == "reply"
    ]
    ours = [message for message in answers if str(message.get("id")) in ("1", "1.0", "None")]
    assert result == {"whole": True} or ours


def flat(value):
    return value if isinstance(value, list) else [value]


@quick
@given(results | values)
def test_a_call_ends_in_a_result_that_can_be_read_or_in_an_error_of_ours(result):
    transport = SimpleNamespace(close=lambda: None)
    transport.start = lambda on_event: setattr(transport, "on_event", on_event)

    def send(message, timeout=None):
        if "id" in message:
            reply = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
            transport.on_event("received", reply)

    transport.send = send
    with Client(transport, timeout=5) as client:
        try:
            assert client.call_tool("x").text
        except McpError as problem:
            assert str(problem)


@quick
@given(st.lists(st.lists(entries | values, max_size=4) | values, max_size=4), st.lists(values, max_size=4))
def test_a_list_is_read_to_its_end_whatever_its_pages_hold(pages, cursors):
    transport = SimpleNamespace(close=lambda: None)
    transport.start = lambda on_event: setattr(transport, "on_event", on_event)
    feed, marks = iter(pages), iter(cursors)

    def send(message, timeout=None):
        if "id" in message:
            page = {"tools": next(feed, []), "nextCursor": next(marks, None)}
            transport.on_event(
                "received", json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": page})
            )

    transport.send = send
    with Client(transport, timeout=5) as client:
        try:
            names = [tool.name for tool in client.list_tools()]
            assert len(names) == len(set(names))
        except (McpError, ValueError) as problem:  # a cursor that is NaN cannot be sent back
            assert str(problem)


BYTES = """
chunks = [bytes.fromhex(word) for word in sys.argv[1:]]
def call(m):
    for chunk in chunks:
        out.write(chunk); out.flush()
    out.write(b"\\n"); reply(m, text("whole"))
serve(call)
"""


@few
@given(st.lists(st.binary(max_size=200), max_size=6))
@example([b'{"jsonrpc": "2.0", "id": 3, "result": {}', b"}"])
@example([b'{"jsonrpc": "2.0", "id": null, "error": 7}'])
def test_a_real_server_that_writes_any_bytes_spoils_no_reply_that_is_whole(chunks):
    written = b"".join(chunks).decode("utf-8", "replace")
    with connected([*tiny(BYTES), *(chunk.hex() for chunk in chunks)]) as client:
        try:
            assert client.call_tool("x").text == "whole" or '"id"' in written
        except McpError:
            assert '"id"' in written
