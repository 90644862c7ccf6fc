"""TrafficView on the Python side: its table, what it sends to a page, what it leaves alone."""

import gc
import json
import re
import subprocess
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile import TEXTS, hostile_traffic

from mcp_lessons.traffic import Traffic
from mcp_lessons.views import TrafficView
from mcp_lessons.views import _bundle as bundled_from
from mcp_lessons.views import _rows as rows_module
from mcp_lessons.views._bundle import bundle
from mcp_lessons.views._exchanges import exchanges
from mcp_lessons.views._redact import redact, redacted
from mcp_lessons.views._text import visible
from mcp_lessons.views._words import words

VIEWS = Path(bundled_from.__file__).parent
FORBIDDEN = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|eval\(|new Function")
Wire = Callable[..., Any]


def ask(wire: Wire, id: Any, method: str, **params: Any) -> None:
    wire("sent", json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))


def answer(wire: Wire, id: Any, **result: Any) -> None:
    wire("received", json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))


def notify(wire: Wire, method: str, **params: Any) -> None:
    wire("received", json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))


def table(traffic: Traffic) -> list[str]:
    """The rows of the snapshot, without their numbers."""
    lines = TrafficView(traffic).snapshot().text.splitlines()[2:]
    return [re.sub(r"  +", "  ", line).split("  ", 1)[-1] for line in lines]


# The table


def test_each_request_stands_with_its_reply_in_the_order_of_the_requests() -> None:
    traffic = Traffic()
    weather, maps = traffic.recorder("weather"), traffic.recorder("maps")
    ask(weather, 1, "tools/call", name="forecast", arguments={"place": "Tessaby"})
    ask(maps, 1, "tools/list")
    answer(maps, 1, tools=[{"name": "route"}, {"name": "places"}])
    answer(weather, 1, content=[{"type": "text", "text": "Rain"}])
    assert table(traffic) == [
        "Client → weather  request: tools/call forecast(place=Tessaby)  result: Rain",
        "Client → maps  request: tools/list  result: 2 tools: route, places",
    ]
    assert ">Client\u00a0→\u00a0maps</td>" in TrafficView(traffic).snapshot().html  # never in two lines


ARGUMENTS = {
    "plain": "Tessaby", "words": "3 days", "place": " true north", "number": 3, "digits": "3",
    "small": "-1.5e3", "yes": True, "said": "true", "none": None, "spelt": "null", "empty": "", "blank": "  ",
    "list": "[1]",
    "object": '{"a":1}', "quoted": '"x"', "within": 'say "x"', "nested": ["3"],
}  # fmt: skip
AS_CODE = (
    'plain=Tessaby, words=3 days, place=true north, number=3, digits="3", small="-1.5e3", yes=true, '
    'said="true", none=null, spelt="null", empty="", blank=" ", list="[1]", '
    'object="{\\"a\\":1}", quoted="\\"x\\"", '
    'within=say "x", nested=["3"]'
)


def test_text_that_reads_as_another_value_stands_in_quotes() -> None:
    traffic = Traffic()
    wire = traffic.recorder("weather")
    for name, value in ARGUMENTS.items():
        ask(wire, name, "tools/call", name="set", arguments={name: value})
    shown = [line.split("set(")[1].split(")  ")[0] for line in table(traffic)]
    assert ", ".join(shown) == AS_CODE


def test_the_page_quotes_the_same_text() -> None:
    script = (
        "const { call } = await import(process.argv[1]);"
        "for (const [k, v] of Object.entries(JSON.parse(process.argv[2]))) console.log(call('', { [k]: v }));"
    )
    command = ["node", "--no-warnings", "--input-type=module", "-e", script, (VIEWS / "words.js").as_uri()]
    run = subprocess.run([*command, json.dumps(ARGUMENTS)], capture_output=True, text=True, check=True)
    assert ", ".join(line[1:-1] for line in run.stdout.splitlines()) == AS_CODE


PAIRS = """
const { Store } = await import(process.argv[1]);
const { words } = await import(process.argv[2]);
const [store, chunks] = [new Store(), []];
for await (const chunk of process.stdin) chunks.push(chunk);
store.reset({ servers: [], rows: JSON.parse(Buffer.concat(chunks).toString()) });
const told = ({ flags }) => flags.filter((flag) => ["orphan", "null-id", "id-type", "repeated-id", "second-reply"].includes(flag));
const read = (entry) => [entry.seq, entry.partner?.seq ?? null, told(entry), words(entry).word];
console.log(JSON.stringify(store.entries.map(read)));
"""  # noqa: E501


def odd_ids() -> Traffic:
    """Replies whose ids are not quite those of their requests, beside all that is hostile."""
    traffic = hostile_traffic()
    wire = traffic.recorder("odd ids")
    for id, back in ((1, '"1"'), (2, "2.0"), (3, "null"), (4, "4"), (4, "4"), (5, "6")):
        ask(wire, id, "ping")
        wire("received", f'{{"jsonrpc":"2.0","id":{back},"result":{{}}}}')
    wire("received", '{"jsonrpc":"2.0","id":4,"result":{}}')
    return traffic


def test_the_page_pairs_the_same_and_names_each_message_by_the_same_word() -> None:
    traffic = odd_ids()
    command = ["node", "--no-warnings", "--input-type=module", "-e", PAIRS]
    modules = [(VIEWS / name).as_uri() for name in ("record.js", "words.js")]
    rows = rows_module.dumps(rows_module.rows(list(traffic)))
    run = subprocess.run([*command, *modules], input=rows, capture_output=True, text=True, check=True)
    expected = {}
    for one in exchanges(traffic):
        reply = one.reply and one.reply.seq
        expected[one.first.seq] = [one.first.seq, reply, one.flags, words(one.first)[0]]
        if one.reply is not None:
            odd = [one.odd] if one.odd else []
            expected[reply] = [reply, one.first.seq, odd, words(one.reply)[0]]
    assert json.loads(run.stdout) == [expected[event.seq] for event in traffic]


def test_which_connection_was_faster_makes_no_difference() -> None:
    def told(late: bool) -> str:
        traffic = Traffic()
        one, two = traffic.recorder("one"), traffic.recorder("two")
        ask(one, 1, "tools/list")
        if not late:
            answer(one, 1, tools=[])
            notify(one, "notifications/tools/list_changed")
        ask(two, 1, "tools/list")
        if late:
            answer(one, 1, tools=[])
            notify(one, "notifications/tools/list_changed")
        answer(two, 1, tools=[])
        return TrafficView(traffic).snapshot().html

    assert told(late=True) == told(late=False)


def messages(traffic: Traffic) -> list[str]:
    """The third column of the snapshot."""
    return [line.partition("  ")[2].partition("  ")[0] for line in table(traffic)]


def test_what_comes_during_a_call_stands_below_it_and_what_comes_after_its_reply_too() -> None:
    traffic = Traffic()
    wire = traffic.recorder("weather")
    ask(wire, 1, "tools/call", name="slow")
    notify(wire, "notifications/progress", progress=1, total=2)
    notify(wire, "notifications/prompts/list_changed")
    answer(wire, 1, content=[])
    notify(wire, "notifications/tools/list_changed")
    ask(wire, 2, "tools/list")
    wire("received", "a banner")
    answer(wire, 2, tools=[])
    assert messages(traffic) == [
        "request: tools/call slow()",
        "notification: notifications/progress 1/2",
        "notification: notifications/prompts/list_changed",
        "notification: notifications/tools/list_changed",
        "request: tools/list",
        "no message: a banner",
    ]


def test_a_change_while_two_calls_are_open_stands_where_the_stream_of_the_server_puts_it() -> None:
    traffic = Traffic()
    wire = traffic.recorder("weather")
    ask(wire, 1, "ping")
    answer(wire, 1)
    ask(wire, 2, "tools/call", name="a")
    ask(wire, 3, "tools/call", name="b")
    notify(wire, "notifications/tools/list_changed")
    answer(wire, 3, content=[])
    answer(wire, 2, content=[])
    assert messages(traffic)[1] == "notification: notifications/tools/list_changed"


def test_a_cancelled_call_is_open_no_more() -> None:
    traffic = Traffic()
    wire = traffic.recorder("weather")
    ask(wire, 1, "tools/call", name="slow")
    wire("sent", '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
    ask(wire, 2, "tools/list")
    notify(wire, "notifications/tools/list_changed")
    answer(wire, 2, tools=[])
    assert messages(traffic)[-1] == "notification: notifications/tools/list_changed"


@pytest.mark.parametrize("maps_first", [False, True])
def test_hanging_up_has_the_place_at_which_the_client_did_it(maps_first: bool) -> None:
    traffic = Traffic()
    weather, maps = traffic.recorder("weather"), traffic.recorder("maps")
    ask(weather, 1, "ping")
    ask(maps, 1, "tools/list")
    ask(weather, 2, "tools/list")
    for wire in (maps, weather) if maps_first else (weather, maps):
        wire("process", "stdin closed", {"event": "stdin closed"})
    ends = [
        lambda: weather("process", "SIGTERM", {"event": "signalled", "signal": "SIGTERM"}),
        lambda: maps("process", "exited", {"event": "exited", "status": 0, "stderr": []}),
        lambda: ask(traffic.recorder("blog"), 1, "ping"),
    ]
    for end in reversed(ends) if maps_first else ends:
        end()
    assert [line.rpartition("  no reply")[0] or line for line in table(traffic)] == [
        "Client → weather  request: ping",
        "Client → maps  request: tools/list",
        "Client → weather  request: tools/list",
        "weather  process: stdin closed",
        "weather  process: signalled SIGTERM",
        "maps  process: stdin closed",
        "maps  process: exited status 0",
        "Client → blog  request: ping",
    ]


def test_the_caption_counts_what_the_rows_say() -> None:
    traffic = Traffic()
    ask(traffic.recorder("weather"), 1, "ping")
    number = traffic.new_connection()
    for turn in (1, 2):
        asked = {"turn": turn, "messages": [], "tools": []}
        traffic.add("model", body=asked, server="oracle", connection=number, direction="sent")
    refused = {"turn": 2, "error": "429 too many"}
    traffic.add("model", body=refused, server="oracle", connection=number, direction="received")
    text = TrafficView(traffic).snapshot().text
    assert text.startswith("Traffic: 1 request, 2 questions to the model\n")
    assert (text.count("request: "), text.count("asks the model: ")) == (1, 2)
    assert "✕ error: 429 too many" in text


def test_errors_are_marked_and_told_apart() -> None:
    traffic = Traffic()
    wire = traffic.recorder("weather")
    ask(wire, 1, "tools/call", name="forecast")
    answer(wire, 1, content=[{"type": "text", "text": "no such place"}], isError=True)
    ask(wire, 2, "frobnicate")
    wire("received", '{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}')
    text = TrafficView(traffic).snapshot().text
    assert "⚠ isError: no such place" in text
    assert "✕ error: -32601 Method not found" in text
    assert text.startswith("Traffic: 2 requests, 2 replies, 1 tool error, 1 protocol error\n")


def test_what_gets_no_reply_says_why() -> None:
    traffic = Traffic()
    wire = traffic.recorder("weather")
    ask(wire, 1, "tools/call", name="slow")
    wire("sent", '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
    answer(wire, 1, content=[])
    ask(wire, 2, "tools/call", name="crash")
    ask(traffic.recorder("maps"), 1, "tools/list")
    wire("process", "exited", {"event": "exited", "status": 7, "stderr": []})
    text = "\n".join(table(traffic))
    assert "result: (empty) [late, after the cancellation]" in text
    assert "crash()  no reply: the server was gone" in text
    assert "request: tools/list  no reply\n" in text + "\n"


def test_orphans_second_replies_and_repeated_ids_are_marked() -> None:
    traffic = Traffic()
    wire = traffic.recorder("weather")
    answer(wire, 9)
    ask(wire, 1, "ping")
    answer(wire, 1)
    answer(wire, 1)
    ask(wire, 1, "ping")
    text = TrafficView(traffic).snapshot().text
    assert [flag for flag in ("[orphan]", "[second reply]", "[repeated id]") if flag not in text] == []


def test_a_reply_is_paired_as_the_client_pairs_it_and_its_odd_id_is_marked() -> None:
    traffic = Traffic()
    wire = traffic.recorder("weather")
    ask(wire, 1, "ping")
    answer(wire, "1")
    ask(wire, 2, "tools/list")
    wire("received", '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"oh"}}')
    ask(wire, 3, "ping")
    wire("received", '\x00{"jsonrpc":"2.0","id":3,"result":{},"error":null}')
    assert [line.rpartition("  ")[2] for line in table(traffic)] == [
        "result: (empty) [id of another type]",
        "✕ error: -32603 oh [no id]",
        "result: (empty)",
    ]


def test_what_json_does_not_take_goes_to_the_page_as_the_client_read_it() -> None:
    lines = ['\x00{"jsonrpc":"2.0","id":1,"result":{}}', '\ufeff{"jsonrpc":"2.0","id":1,"result":{"a":"\t"}}']
    for line in [*lines, '{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}']:
        event = Traffic().recorder("weather")("received", line)
        assert rows_module.row(event)["body"] is not None
    assert "body" not in rows_module.row(
        Traffic().recorder("w")("received", '{"jsonrpc":"2.0","method":"x"}')
    )


def test_no_time_process_number_or_path_is_in_the_table() -> None:
    traffic = Traffic(clock=iter([0.0, 98765.4]).__next__)
    command = ["/opt/venv-4711/bin/python3.12", "-m", "weather", "--db", "/home/ann/data.db"]
    body = {"event": "spawned", "command": command, "pid": 31337}
    traffic.recorder("weather")("process", "started", body)
    snapshot = TrafficView(traffic).snapshot()
    assert "process: started python -m weather --db …/data.db" in snapshot.text
    for secret in ("31337", "98765", "4711", "/home/ann"):
        assert secret not in snapshot.text + snapshot.html


def test_stderr_has_a_list_of_its_own() -> None:
    traffic = Traffic()
    wire = traffic.recorder("weather")
    wire("stderr", "loading")
    ask(wire, 1, "ping")
    wire("stderr", "ready")
    text = TrafficView(traffic).snapshot().text
    assert text.endswith("stderr of weather:\n  loading\n  ready")


def test_the_table_reads_without_style_and_holds_no_markup_of_a_server() -> None:
    page = TrafficView(hostile_traffic()).snapshot().html
    tags = set(re.findall(r"</?([a-zA-Z]+)", page))
    assert tags == {"table", "caption", "thead", "tr", "th", "tbody", "td", "code", "p", "ul", "li"}
    assert set(re.findall(r"<\w+ ([^>]*)>", page)) == {
        'style="text-align:left"', 'scope="col" style="text-align:left"',
    }  # fmt: skip
    assert page.encode("utf-8") and visible(page.replace("\n", "")) == page.replace("\n", "")


def test_the_model_and_the_toolbox_have_their_rows() -> None:
    traffic = Traffic()
    number = traffic.new_connection()
    traffic.add("tools", body={"cause": "weather joins", "schemas": [{}], "warnings": []}, server="weather")
    asked = {"turn": 1, "messages": [{}], "tools": [{}]}
    traffic.add("model", body=asked, server="oracle", connection=number, direction="sent")
    call = {"function": {"name": "weather__forecast", "arguments": '{"place": "Tessaby"}'}}
    said = {"turn": 1, "message": {"tool_calls": [call]}}
    traffic.add("model", body=said, server="oracle", connection=number, direction="received")
    end = {"stop_reason": "answer", "answer": "Rain.", "turns": 1}
    traffic.add("model", body=end, server="oracle", connection=number)
    assert table(traffic) == [
        "Client  toolbox: weather joins · 1 tool",
        "Client → oracle  asks the model: 1 message, 1 tool  calls: weather__forecast(place=Tessaby)",
        "Client  the loop ends (answer): Rain.",
    ]


def test_a_saved_record_gives_the_same_table(tmp_path: Path) -> None:
    traffic = hostile_traffic()
    traffic.save(tmp_path / "session.jsonl")
    loaded = TrafficView(Traffic.load(tmp_path / "session.jsonl")).snapshot()
    assert loaded.html == TrafficView(traffic).snapshot().html


def test_the_repr_is_stable_and_an_empty_record_says_so() -> None:
    assert repr(TrafficView(Traffic())) == repr(TrafficView(Traffic()))
    assert "0x" not in repr(TrafficView(Traffic()))
    assert TrafficView(Traffic()).snapshot().text.startswith("Traffic: no messages")


def test_a_view_takes_a_record_and_nothing_else() -> None:
    with pytest.raises(TypeError, match="takes a Traffic, not dict"):
        TrafficView({})  # type: ignore[arg-type]


# What goes to the page


class Page:
    """Hears what a view sends, as a page would."""

    def __init__(self, view: TrafficView) -> None:
        self.view, self.messages, self.came = view, [], threading.Event()
        view.send = self._take  # type: ignore[method-assign]

    def _take(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        self.came.set()

    def say(self, op: str) -> None:
        self.view._on_message(self.view, {"op": op, "page": "p"}, [])

    def next(self) -> dict[str, Any]:
        assert self.came.wait(5), "nothing came"
        self.came.clear()
        return self.messages.pop(0)


def test_nothing_is_sent_before_a_page_says_hello_and_nothing_after_it_said_bye() -> None:
    traffic = Traffic()
    page = Page(TrafficView(traffic))
    traffic.add("stderr", raw="one")
    assert not traffic._subscribers
    page.say("hello")
    assert len(json.loads(page.next()["rows"])) == 1
    page.say("bye")
    assert not traffic._subscribers


def test_what_happens_later_comes_in_batches_without_gap_or_repetition() -> None:
    traffic = Traffic()
    page = Page(TrafficView(traffic))
    page.say("hello")
    first = page.next()
    for number in range(50):
        traffic.add("stderr", raw=str(number))
    second = page.next()
    assert (first["op"], second["op"]) == ("reset", "add")
    assert second["after"] == first["upto"]
    assert [row["seq"] for row in json.loads(second["rows"])] == list(range(1, second["upto"] + 1))


def test_a_page_whose_hello_is_not_heard_finds_the_messages_in_the_state_of_the_widget() -> None:
    traffic = Traffic()
    view = TrafficView(traffic)
    page = Page(view)
    view._feed.displayed()
    told = threading.Event()
    view.observe(lambda change: told.set(), "_start")
    for number in range(3):
        traffic.add("stderr", raw=str(number))
    assert told.wait(5)
    (start,) = json.loads(view._start)
    assert [row["raw"] for row in json.loads(start["rows"])] == ["0", "1", "2"]
    assert page.next()["after"] == 0
    view.close()


def test_recording_goes_on_while_a_page_is_being_told() -> None:
    traffic = Traffic()
    page = Page(TrafficView(traffic))
    page.say("hello")
    writers = [
        threading.Thread(target=lambda: [traffic.add("stderr", raw="x") for _ in range(500)])
        for _ in range(4)
    ]
    for writer in writers:
        writer.start()
    for _ in range(20):
        page.say("hello")
    for writer in writers:
        writer.join(10)
    assert not any(writer.is_alive() for writer in writers)
    assert len(traffic) == 2000


def test_at_most_ten_thousand_rows_and_64_kilobytes_of_one_message_go_to_the_page() -> None:
    traffic = Traffic()
    ask(traffic.recorder("weather"), 1, "x", text="long " * 100_000)
    for _ in range(rows_module.MAX_ROWS):
        traffic.add("stderr", raw="x")
    page = Page(TrafficView(traffic))
    page.say("hello")
    assert sum(len(json.loads(message["rows"])) for message in page.messages) == rows_module.MAX_ROWS
    assert page.messages[0]["dropped"] == 1
    row = rows_module.row(traffic[1])
    assert row["cut"] == len(traffic[1].raw)
    assert len(row["raw"]) <= rows_module.MAX_MESSAGE
    assert len(rows_module.dumps(row["body"])) <= rows_module.MAX_MESSAGE


def test_any_text_goes_to_the_page_as_ascii_json() -> None:
    page = Page(TrafficView(hostile_traffic()))
    page.say("hello")
    for message in page.messages:
        assert message["rows"].isascii()
        json.loads(message["rows"], parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_a_view_that_nobody_holds_lets_go_of_the_record() -> None:
    traffic = Traffic()
    view = TrafficView(traffic)
    page = Page(view)
    page.say("hello")
    gone = weakref.ref(view._feed)
    view.close()
    assert not traffic._subscribers
    del view, page
    gc.collect()
    assert gone() is None


# Secrets


def test_secrets_are_left_out_of_a_page_and_the_rest_stays() -> None:
    traffic = Traffic()
    ask(
        traffic.recorder("weather"),
        1,
        "x",
        api_key="abc123",
        accessToken="t",
        progressToken="p",
        n=1,
        note="Bearer q.q",
    )
    body = redacted(traffic[1]).body
    assert body["params"] == {"api_key": "…", "accessToken": "…", "progressToken": "p", "n": 1, "note": "…"}
    assert "abc123" not in redacted(traffic[1]).raw


def test_python_and_the_page_leave_out_the_same() -> None:
    corpus = [
        {"password": "x", "maxTokens": 5, "token": "t", "nextCursor": "c", "Authorization": "Basic x"},
        {"a": ["sk-abcdefghij", "ghp_0123456789abcdefghij", "postgres://me:pw@host/db", "plain"]},
        {"x-api-key": "k", "client_secret": "s", "secretary": "Ann", "monkey": "b", "cookie": "c"},
        "Bearer abc.def-ghi and eyJhbGciOiJI.eyJzdWIiOiIx.sig",
    ]
    script = (
        "const { redact } = await import(process.argv[1]);"
        "console.log(JSON.stringify(JSON.parse(process.argv[2]).map((one) => redact(one))))"
    )
    command = [
        "node",
        "--no-warnings",
        "--input-type=module",
        "-e",
        script,
        (VIEWS / "exporting.js").as_uri(),
    ]
    run = subprocess.run([*command, json.dumps(corpus)], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == [redact(one) for one in corpus]


def test_a_page_of_its_own_fetches_nothing_and_holds_no_markup_of_a_server(tmp_path: Path) -> None:
    hostile_traffic().save_html(tmp_path / "session.html")
    page = (tmp_path / "session.html").read_text(encoding="utf-8")
    record = page.split('id="record">')[1].split("</script>")[0]
    assert "<" not in record
    assert len(json.loads(record)["rows"]) == len(hostile_traffic())
    outside = page.replace(record, "").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://(?!www\.w3\.org|evil)", outside.split("<style>")[0])
    assert "default-src 'none'" in page


def test_a_page_whose_scripts_do_not_run_shows_the_table_without_secrets(tmp_path: Path) -> None:
    traffic = Traffic()
    ask(traffic.recorder("weather"), 1, "login", api_key="abc123")
    traffic.save_html(tmp_path / "session.html")
    page = (tmp_path / "session.html").read_text(encoding="utf-8")
    table = page.split("<noscript>")[1].split("</noscript>")[0]
    assert "request: <code>login api_key=…</code>" in table
    assert "abc123" not in page
    assert "<title>Traffic: weather</title>" in page


# The files


def test_no_module_of_the_page_writes_markup() -> None:
    scripts = sorted(VIEWS.glob("*.js"))
    assert len(scripts) > 10
    for path in scripts:
        assert not FORBIDDEN.search(path.read_text(encoding="utf-8")), path


def test_a_bundle_is_one_module_that_imports_nothing() -> None:
    for entry in ("traffic.js", "standalone.js"):
        code = bundle(entry)
        assert not re.search(r"^\s*(import|export (?!default))", code, re.MULTILINE)
        run = subprocess.run(
            ["node", "--input-type=module", "--check"], input=code, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr


def test_python_and_the_page_show_the_same_hidden_characters() -> None:
    script = (
        "const { visible } = await import(process.argv[1]); let text = '';"
        "for await (const part of process.stdin) text += part;"
        "console.log(JSON.stringify(JSON.parse(text).map(visible)))"
    )
    command = ["node", "--no-warnings", "--input-type=module", "-e", script, (VIEWS / "common.js").as_uri()]
    every = [chr(point) for point in [*range(0x3000), *range(0xD7F0, 0x10000), 0x1D173, 0xE0041, 0x1F600]]
    run = subprocess.run(
        command, input=json.dumps([*TEXTS, *every]), capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout) == [visible(one) for one in [*TEXTS, *every]]
