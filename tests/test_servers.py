"""The weather and the maps server, as real processes that read and write JSON lines."""

import json
import subprocess
import sys

import pytest

VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]


def converse(server, *messages, timeout=20):
    """Send every message (a dict, or a raw line), close stdin, and return the process that has ended."""
    lines = [message if isinstance(message, str) else json.dumps(message) for message in messages]
    return subprocess.run(
        [sys.executable, "-m", f"mcp_lessons.servers.{server}"],
        input="".join(line + "\n" for line in lines).encode(),
        capture_output=True,
        timeout=timeout,
    )


def request(id, method, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def messages_of(process):
    return [json.loads(line) for line in process.stdout.splitlines()]


def call(server, tool, **arguments):
    """The result of one call, in a fresh process."""
    process = converse(server, request(1, "tools/call", name=tool, arguments=arguments))
    return messages_of(process)[-1]["result"]


def tools_of(server):
    [reply] = messages_of(converse(server, request(1, "tools/list")))
    return {tool["name"]: tool for tool in reply["result"]["tools"]}


def text_of(result):
    [block] = result["content"]
    assert block["type"] == "text"
    return block["text"]


@pytest.mark.parametrize("server", ["weather", "maps"])
def test_a_whole_session_from_handshake_to_the_end_of_stdin(server):
    process = converse(
        server,
        request(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t"}),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("two", "ping"),
        request(3, "resources/list"),
    )
    hello, pong, refusal = messages_of(process)
    assert hello["id"] == 1 and hello["result"]["serverInfo"] == {"name": server, "version": "1.0.0"}
    assert hello["result"]["capabilities"] == {"tools": {"listChanged": True}}
    assert hello["result"]["instructions"]
    assert pong == {"jsonrpc": "2.0", "id": "two", "result": {}}
    assert refusal["id"] == 3 and refusal["error"]["code"] == -32601
    assert process.returncode == 0
    assert process.stderr.decode().splitlines() == [f"{server}: ready"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_known_version_is_taken(version):
    [reply] = messages_of(converse("weather", request(1, "initialize", protocolVersion=version)))
    assert reply["result"]["protocolVersion"] == version


@pytest.mark.parametrize("version", ["2026-07-28", "2031-01-01", 7, None])
def test_an_unknown_version_gets_a_counter_offer(version):
    [reply] = messages_of(converse("weather", request(1, "initialize", protocolVersion=version)))
    assert reply["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("server", ["weather", "maps"])
def test_lines_that_are_no_request_get_an_error_or_nothing(server):
    process = converse(
        server, "", "not json", "[1]", '{"jsonrpc":"2.0","method":"odd"}', "{", request(1, "ping")
    )
    codes = [message.get("error", {}).get("code") for message in messages_of(process)]
    assert codes == [-32700, -32600, -32700, None]


def test_params_that_are_no_object_are_refused():
    [reply] = messages_of(converse("maps", {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}))
    assert reply["error"]["code"] == -32602


def test_the_picnic_can_be_answered():
    way = text_of(call("maps", "route", origin="Tessaby", destination="Larkmoor"))
    assert way == (
        "From Tessaby to Larkmoor: bus 9 to Brindlow (50 min), then the moor railway to Larkmoor (25 min). "
        "75 minutes in all."
    )
    sky = text_of(call("weather", "forecast", place="Larkmoor", day="Saturday"))
    assert sky == "Larkmoor on Saturday: showers in the afternoon, 17 °C, 65 % chance of rain."


def test_the_servers_know_the_same_places():
    place = tools_of("weather")["forecast"]["inputSchema"]["properties"]["place"]["enum"]
    origin = tools_of("maps")["route"]["inputSchema"]["properties"]["origin"]["enum"]
    listed = [line.split(":")[0] for line in text_of(call("maps", "places")).splitlines()]
    assert place == origin == listed


def test_every_way_is_the_same_length_in_both_directions():
    places = tools_of("maps")["route"]["inputSchema"]["properties"]["origin"]["enum"]
    pairs = [(a, b) for a in places for b in places]
    asked = [
        request(n, "tools/call", name="route", arguments={"origin": a, "destination": b})
        for n, (a, b) in enumerate(pairs)
    ]
    replies = messages_of(converse("maps", *asked))
    found = {pair: reply["result"] for pair, reply in zip(pairs, replies, strict=True)}
    for (a, b), result in found.items():
        assert result["isError"] == (a != b and "Skerry" in (a, b))
        assert text_of(result).split()[-4:-3] == text_of(found[b, a]).split()[-4:-3] or result["isError"]


def test_a_tool_that_cannot_do_it_says_so_as_a_result():
    result = call("maps", "route", origin="Tessaby", destination="Skerry")
    assert result["isError"] and "laid up until spring" in text_of(result)


def test_defaults_stand_in_for_what_is_left_out():
    assert text_of(call("weather", "forecast", place="Skerry")).startswith("Skerry on Friday:")
    assert "Level 1" in text_of(call("weather", "alerts", region="coast"))
    assert "Level 1" not in text_of(call("weather", "alerts", region="coast", level=2))


def test_a_region_without_alerts_is_an_answer():
    result = call("weather", "alerts", region="moors")
    assert not result["isError"] and text_of(result) == "No alerts: moors."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "place: required, and missing."),
        ({"place": "Atlantis"}, "place: 'Atlantis' is not one of Alder Quay, Brindlow"),
        ({"place": 5}, "place: 5 is not of type string."),
        ({"place": "Skerry", "hour": 5}, "hour: no such argument; there are place, day."),
        ({"place": "Skerry", "day": "Monday"}, "day: 'Monday' is not one of Friday, Saturday, Sunday."),
        ([1], "The arguments must be an object."),
    ],
)
def test_a_bad_argument_gets_a_sentence_of_its_own_before_the_tool_runs(arguments, sentence):
    process = converse("weather", request(1, "tools/call", name="forecast", arguments=arguments))
    [reply] = messages_of(process)
    assert reply["result"]["isError"]
    assert text_of(reply["result"]).startswith("forecast did not run. ")
    assert sentence in text_of(reply["result"])


@pytest.mark.parametrize(
    ("level", "sentence"),
    [
        (0, "level: 0 is less than the minimum, 1."),
        (4, "level: 4 is more than the maximum, 3."),
        (True, "level: True is not of type integer."),
        ("2", "level: '2' is not of type integer."),
    ],
)
def test_minimum_maximum_and_type_are_held(level, sentence):
    result = call("weather", "alerts", region="coast", level=level)
    assert result["isError"] and text_of(result) == f"alerts did not run. {sentence}"


@pytest.mark.parametrize("name", ["forecats", "", None, ["forecast"], "half a smile \ud83d"])
def test_an_unknown_tool_is_answered_by_a_failed_result(name):
    [reply] = messages_of(converse("weather", request(1, "tools/call", name=name)))
    assert reply["result"]["isError"] and "The tools: forecast, alerts." in text_of(reply["result"])


def test_structured_content_fits_the_output_schema():
    import jsonschema

    schema = tools_of("weather")["forecast"]["outputSchema"]
    places = tools_of("weather")["forecast"]["inputSchema"]["properties"]["place"]["enum"]
    days = tools_of("weather")["forecast"]["inputSchema"]["properties"]["day"]["enum"]
    asked = [
        request(1, "tools/call", name="forecast", arguments={"place": place, "day": day})
        for place in places
        for day in days
    ]
    replies = messages_of(converse("weather", *asked))
    assert len(replies) == 18
    for reply in replies:
        jsonschema.validate(reply["result"]["structuredContent"], schema)


@pytest.mark.parametrize("server", ["weather", "maps"])
def test_every_schema_is_valid_and_every_argument_described(server):
    import jsonschema

    for tool in tools_of(server).values():
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        assert len(tool["description"]) > 30
        for argument in tool["inputSchema"]["properties"].values():
            assert argument["description"] and argument["type"] in ("string", "integer")


def test_the_tool_list_grows_when_a_region_must_take_shelter():
    listing = request(0, "tools/list")
    alerts = request(1, "tools/call", name="alerts", arguments={"region": "coast"})
    before, news, answer, after, again, last = messages_of(
        converse("weather", listing, alerts, listing, alerts, listing)
    )
    names = [[tool["name"] for tool in reply["result"]["tools"]] for reply in (before, after, last)]
    assert names == [["forecast", "alerts"]] + [["forecast", "alerts", "shelters"]] * 2
    assert news == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    assert answer == again and answer["id"] == 1


def test_the_tool_list_does_not_grow_for_a_mild_alert():
    replies = messages_of(
        converse(
            "weather",
            request(1, "tools/call", name="alerts", arguments={"region": "hills"}),
            request(2, "tools/call", name="shelters", arguments={"region": "hills"}),
        )
    )
    assert [reply.get("id") for reply in replies] == [1, 2]
    assert replies[1]["result"]["isError"]


def test_the_new_tool_can_be_called():
    replies = messages_of(
        converse(
            "weather",
            request(1, "tools/call", name="alerts", arguments={"region": "coast"}),
            request(2, "tools/call", name="shelters", arguments={"region": "coast"}),
        )
    )
    assert "net loft" in text_of(replies[-1]["result"])
