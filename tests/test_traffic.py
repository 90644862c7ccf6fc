"""The record: what goes in, what is kept, what is dropped, what comes back from a file."""

import json
import threading

import pytest

from mcp_lessons import Traffic, jsonrpc
from mcp_lessons.traffic import redact_command


def clock():
    """Seconds that pass when they are asked for: 0, 1, 2, …"""
    ticks = iter(range(1_000_000))
    return lambda: float(next(ticks))


def fill(traffic, many=3):
    for number in range(many):
        traffic.add("stderr", raw=f"line {number}")
    return traffic


def test_events_count_from_one_and_carry_the_seconds_since_the_record_began():
    traffic = fill(Traffic(clock=clock()))
    assert [(event.seq, event.t, event.raw) for event in traffic] == [
        (1, 1.0, "line 0"),
        (2, 2.0, "line 1"),
        (3, 3.0, "line 2"),
    ]
    assert traffic[2].raw == "line 1" and len(traffic) == 3


def test_a_recorder_tells_the_kind_of_a_line_of_the_wire():
    traffic = Traffic()
    record = traffic.recorder("weather")
    record("sent", jsonrpc.encode(jsonrpc.request(1, "ping")))
    record("received", jsonrpc.encode(jsonrpc.result(1, {})))
    record("received", "Loading ...")
    record("stderr", "ready")
    record("process", "exited with status 0", {"event": "exited", "status": 0, "stderr": []})
    assert [(event.kind, event.direction, event.server, event.connection) for event in traffic] == [
        ("request", "sent", "weather", 1),
        ("reply", "received", "weather", 1),
        ("noise", "received", "weather", 1),
        ("stderr", "", "weather", 1),
        ("process", "", "weather", 1),
    ]
    assert [event.body for event in traffic][1:4] == [{"jsonrpc": "2.0", "id": 1, "result": {}}, None, None]


def test_every_connection_has_a_number_of_its_own():
    traffic = Traffic()
    assert [traffic.recorder("a").connection, traffic.new_connection(), traffic.recorder("a").connection] == [
        1,
        2,
        3,
    ]


def test_nobody_can_change_what_is_on_the_record():
    traffic = Traffic()
    event = traffic.recorder("s")("received", '{"jsonrpc":"2.0","id":1,"result":{}}')
    event.body["result"] = "changed"
    assert traffic[1].body["result"] == {}


def test_beyond_the_limit_the_oldest_events_are_dropped_and_counted():
    traffic = fill(Traffic(limit=2), many=5)
    assert [event.seq for event in traffic] == [4, 5] and traffic.dropped == 3
    assert traffic[4].raw == "line 3"
    with pytest.raises(IndexError, match="no event 3 in this record: it holds events 4 to 5"):
        traffic[3]


def test_beyond_the_bytes_allowed_the_oldest_events_are_dropped():
    traffic = fill(Traffic(max_bytes=13), many=5)
    assert [event.raw for event in traffic] == ["line 3", "line 4"] and traffic.dropped == 3


def test_a_record_that_keeps_nothing_still_tells_its_subscribers():
    traffic, heard = Traffic(limit=0), []
    traffic.subscribe(heard.append)
    fill(traffic)
    assert len(traffic) == 0 and traffic.dropped == 3 and [event.seq for event in heard] == [1, 2, 3]
    assert repr(traffic) == "<Traffic: no events>"


def test_an_empty_record_says_that_it_holds_nothing():
    with pytest.raises(IndexError, match="no event 1 in this record: it holds no events"):
        Traffic()[1]


def test_a_subscriber_hears_every_event_until_it_is_unsubscribed():
    traffic, heard = Traffic(), []
    end = traffic.subscribe(heard.append)
    fill(traffic, 2)
    end()
    end()
    fill(traffic, 2)
    assert [event.raw for event in heard] == ["line 0", "line 1"]


def test_a_subscriber_that_raises_is_dropped_with_its_traceback_and_the_others_go_on(monkeypatch):
    problems, heard = [], []
    monkeypatch.setattr(threading, "excepthook", lambda args: problems.append(args.exc_value))
    traffic = Traffic()
    traffic.subscribe(lambda event: 1 / 0)
    traffic.subscribe(heard.append)
    fill(traffic, 3)
    assert len(heard) == 3 and len(problems) == 1 and isinstance(problems[0], ZeroDivisionError)


def test_a_subscriber_may_read_the_record_and_end_its_own_subscription():
    traffic, heard = Traffic(), []

    def once(event):
        heard.append(len(list(traffic)))
        end()

    end = traffic.subscribe(once)
    fill(traffic, 3)
    assert heard == [1]


def test_many_threads_write_one_record_and_no_number_is_used_twice():
    traffic = Traffic()
    threads = [threading.Thread(target=fill, args=(traffic, 500)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = list(traffic)
    assert [event.seq for event in events] == list(range(1, 4001))
    assert [event.t for event in events] == sorted(event.t for event in events)


def test_a_saved_record_comes_back_whole_and_goes_on(tmp_path):
    traffic = Traffic(clock=clock())
    record = traffic.recorder("sérver")
    record("sent", '{"jsonrpc":"2.0","id":1,"method":"ping"}')
    record("received", "half a smile \ud83d, \x00 and \u2028")
    record("process", "exited", {"event": "exited", "status": -9, "stderr": ["\udcff"]})
    traffic.add("tools", body={"cause": "x joins", "schemas": []})
    traffic.save(tmp_path / "record.jsonl")
    loaded = Traffic.load(tmp_path / "record.jsonl")
    assert list(loaded) == list(traffic) and [e.body for e in loaded] == [e.body for e in traffic]
    assert loaded.add("stderr").seq == 5 and loaded.recorder("x").connection == 2
    assert loaded[5].t >= 4.0


BROKEN = json.dumps(
    {**dict.fromkeys(["server", "direction", "kind", "raw", "body"], ""), "seq": "1", "t": 0, "connection": 1}
)


@pytest.mark.parametrize("line", ["{", "[]", "7", "{}", '{"seq": 1}', "\x00", "[" * 100_000, BROKEN])
def test_a_file_that_is_no_record_is_refused_with_the_number_of_the_line(tmp_path, line):
    path = tmp_path / "record.jsonl"
    fill(Traffic(), 1).save(path)
    path.write_text(path.read_text() + "\n" + line + "\n")
    with pytest.raises(ValueError, match="line 3 is no event"):
        Traffic.load(path)


def test_a_saved_record_is_one_json_object_a_line(tmp_path):
    fill(Traffic(), 2).save(tmp_path / "r.jsonl")
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    assert [sorted(json.loads(line)) for line in lines] == [
        ["body", "connection", "direction", "kind", "raw", "seq", "server", "t"]
    ] * 2


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["s", "--api-key", "abc", "--port", "80"], ["s", "--api-key", "…", "--port", "80"]),
        (["s", "--token=abc"], ["s", "--token=…"]),
        (["s", "--db-password", "abc"], ["s", "--db-password", "…"]),
        (["s", "API_KEY=abc"], ["s", "API_KEY=…"]),
        (["s", "--token", "--verbose"], ["s", "--token", "--verbose"]),
        (["s", "--header", "Authorization: Bearer abc.def"], ["s", "--header", "Authorization: …"]),
        (["s", "https://me:secret@host/x"], ["s", "https…host/x"]),
        (["s", "sk-abcdefghijk"], ["s", "…"]),
        (["s", "ghp_abcdefghijklmnopqrstuvwx"], ["s", "…"]),
        (["s", "http://x/mcp?exaApiKey=abc&depth=2"], ["s", "http://x/mcp?exaApiKey=…&depth=2"]),
        (["s", "--header", "X-API-Key: abc"], ["s", "--header", "X-API-Key: …"]),
        (["s", "Authorization: Basic YTpi"], ["s", "Authorization: …"]),
        (["s", '{"apiKey": "abc", "port": 80}'], ["s", '{"apiKey": "…", "port": 80}']),
        (["s", "--pat", "abc", "--path", "x"], ["s", "--pat", "…", "--path", "x"]),
        (["npx", "-y", "@scope/server", "/tmp"], ["npx", "-y", "@scope/server", "/tmp"]),
    ],
)
def test_secrets_in_a_command_are_left_out(command, shown):
    assert redact_command(command) == shown
