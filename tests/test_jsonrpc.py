"""Messages: made, written as one line, read back, told apart."""

import json
import math

import pytest

from mcp_lessons import errors, jsonrpc
from mcp_lessons.errors import RpcError, ServerExited, brief

REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def test_a_request_has_an_id_a_method_and_params_only_where_there_are_some():
    assert jsonrpc.request(1, "tools/list") == REQUEST
    assert jsonrpc.request("a", "ping", {}) == {"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {}}


def test_a_notification_has_no_id():
    assert jsonrpc.notification("notifications/initialized") == {
        "jsonrpc": "2.0",
        "method": "notifications/initialized",
    }


def test_a_reply_has_the_id_of_its_request_and_a_result_or_an_error():
    assert jsonrpc.result(7, {"a": 1}) == {"jsonrpc": "2.0", "id": 7, "result": {"a": 1}}
    assert jsonrpc.error(7, -32601, "no") == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": -32601, "message": "no"},
    }
    assert jsonrpc.error(7, -32601, "no", [1])["error"]["data"] == [1]


def test_a_message_is_written_on_one_line_whatever_its_texts_hold():
    message = jsonrpc.request(1, "m", {"text": "a\nb\r\u2028 é \ud800"})
    line = jsonrpc.encode(message)
    assert "\n" not in line and "\r" not in line and "é" in line
    assert jsonrpc.decode(line) == message


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_has_no_number_for_is_a_value_error(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        jsonrpc.encode(jsonrpc.result(1, value))


def test_circles_and_depths_are_value_errors_and_strangers_type_errors():
    circle = []
    circle.append(circle)
    deep = []
    for _ in range(200_000):
        deep = [deep]
    for value in (circle, deep):
        with pytest.raises(ValueError, match=r"[Cc]ircular|deeply"):
            jsonrpc.encode(jsonrpc.result(1, value))
    with pytest.raises(TypeError, match="object"):
        jsonrpc.encode(jsonrpc.result(1, object()))
    while deep:  # taken apart by hand: freeing it recursively is slow
        deep = deep.pop()


@pytest.mark.parametrize(
    "line", ["", " ", "hello", "{", '{"a":1', "{'a': 1}", "[" * 100_000, "{}\x00{", "{} {", "{} done"]
)
def test_what_is_no_json_decodes_to_none(line):
    assert jsonrpc.decode(line) is None


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('{"a":1}{"b":2}', [{"a": 1}, {"b": 2}]),
        ('{"a":1} \t{"b":2}', [{"a": 1}, {"b": 2}]),
        ('{"a":1}\0', {"a": 1}),
        ('{"a":1}\x0b\u2028', {"a": 1}),
        ('{"a":"b\tc\x01"}', {"a": "b\tc\x01"}),
        ('{"a":' + "9" * 5_000 + ',"b":1}', {"a": math.inf, "b": 1}),
    ],
)
def test_what_only_a_strict_reader_refuses_is_read(line, value):
    assert jsonrpc.decode(line) == value


@pytest.mark.parametrize(("open_", "close"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_what_is_read_can_be_written_again_with_room_to_spare(open_, close):
    levels = jsonrpc.DEEPEST // len(close)
    fits = open_ * levels + "1" + close * levels
    assert jsonrpc.encode(jsonrpc.decode(fits)) == fits
    assert jsonrpc.decode(open_ * (levels + 1) + "1" + close * (levels + 1)) is None
    wide = "[" + "[1]," * 2 * jsonrpc.DEEPEST + "[2]]"
    assert len(jsonrpc.decode(wide)) == 2 * jsonrpc.DEEPEST + 1


@pytest.mark.parametrize("before", ["\ufeff", "\0", "\0\0\0", " \t"])
def test_a_byte_order_mark_and_nuls_before_a_message_are_no_part_of_it(before):
    assert jsonrpc.decode(before + json.dumps(REQUEST)) == REQUEST


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (REQUEST, "request"),
        (REQUEST | {"result": {}}, "request"),
        (REQUEST | {"id": "a"}, "request"),
        (REQUEST | {"id": 1.5}, "request"),
        (REQUEST | {"id": None}, "noise"),
        (REQUEST | {"id": True}, "noise"),
        (REQUEST | {"id": [1]}, "noise"),
        (REQUEST | {"id": math.nan}, "noise"),
        (REQUEST | {"jsonrpc": "1.0"}, "noise"),
        (REQUEST | {"method": 7}, "noise"),
        ({"jsonrpc": "2.0", "method": "m"}, "notification"),
        ({"jsonrpc": "2.0", "id": 1, "result": None}, "reply"),
        ({"jsonrpc": "2.0", "id": None, "error": {}}, "reply"),
        ({"jsonrpc": "2.0", "error": {}}, "reply"),
        ({"jsonrpc": "2.0", "id": {}, "result": {}}, "noise"),
        ({"jsonrpc": "2.0", "id": 1}, "noise"),
        ({"id": 1, "result": {}}, "noise"),
        ({}, "noise"),
        ([], "noise"),
        (None, "noise"),
        ("text", "noise"),
        (7, "noise"),
    ],
)
def test_the_kind_of_a_message_is_told_by_its_method_before_its_id(message, kind):
    assert jsonrpc.kind_of(message) == kind


def test_the_codes_are_those_of_the_specification_and_differ():
    codes = {
        name: value
        for name, value in vars(errors).items()
        if name.isupper() and isinstance(value, int) and value < 0
    }
    assert codes == {
        "PARSE_ERROR": -32700,
        "INVALID_REQUEST": -32600,
        "METHOD_NOT_FOUND": -32601,
        "INVALID_PARAMS": -32602,
        "INTERNAL_ERROR": -32603,
    }


def test_an_error_object_and_the_exception_made_of_it_say_the_same():
    problem = RpcError.from_object(jsonrpc.error(1, -32602, "bad", {"field": "é"})["error"])
    assert (problem.code, problem.message, problem.data) == (-32602, "bad", {"field": "é"})
    assert str(problem) == 'bad [-32602] (data: {"field": "é"})'


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (None, "an error that is no object: null [-32603]"),
        ("boom", "an error that is no object: boom [-32603]"),
        ([], "an error that is no object: [] [-32603]"),
        ({}, "an error without a message [-32603]"),
        ({"message": "no code"}, "no code [-32603]"),
        ({"code": "E42", "message": "m"}, "m [-32603]"),
        ({"code": True, "message": "m"}, "m [-32603]"),
        ({"code": 1.5, "message": ["a"]}, '["a"] [-32603]'),
    ],
)
def test_an_odd_error_object_is_still_an_rpc_error(odd, words):
    assert str(RpcError.from_object(odd)) == words


def test_an_error_says_no_more_of_a_long_message_than_can_be_read():
    problem = RpcError.from_object({"code": 1, "message": "x" * 1_000_000, "data": "y" * 1_000_000})
    assert len(str(problem)) < 12_000 and problem.data == "y" * 1_000_000


def test_what_cannot_be_shown_is_quoted_by_a_sentence():
    circle = {}
    circle["a"] = circle
    assert brief(circle) == "a dict that cannot be shown"
    assert brief(object()) == "a object that cannot be shown"


def test_a_signal_and_a_status_are_told_apart():
    assert str(ServerExited("s", -9)) == "server 's' exited with signal 9"
    assert str(ServerExited("s", 7, ["a", "b"])) == (
        "server 's' exited with status 7; the end of its stderr:\n    a\n    b"
    )
    assert str(ServerExited("s", None)) == "server 's' exited with an unknown status"
