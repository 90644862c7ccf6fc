"""The command line, as a real process in a terminal would run it."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from project import ROOT

from mcp_lessons import Traffic
from mcp_lessons.oracle import Oracle

FAULTY = [sys.executable, "-m", "mcp_lessons.servers.faulty"]
MAPS = [sys.executable, "-m", "mcp_lessons.servers.maps"]


def run(*words, env=None, cwd=None, timeout=120):
    return subprocess.run(
        [sys.executable, "-m", "mcp_lessons", *words],
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
        env={**os.environ, "PYTHONUTF8": "1", **(env or {})},
        stdin=subprocess.DEVNULL,
        cwd=cwd,
    )


def trace(*server, options=()):
    return run("trace", *options, "--", *server)


def test_trace_saves_a_page_that_holds_the_session_and_fetches_nothing(tmp_path):
    page = tmp_path / "session.html"
    done = trace(*MAPS, options=["--html", str(page)])
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert "tools/list" in text and "Alder Quay" in text and "default-src 'none'" in text
    assert not re.search(
        r"""(?:src|href)\s*=|\bimport\s*\(|\bfetch\s*\(""", text.partition('<script type="module">')[0]
    )


def test_ask_shows_the_picnic_with_its_traffic():
    done = run("ask")
    assert done.returncode == 0, done.stderr
    assert "→ weather" in done.stdout and "← maps" in done.stdout
    assert '"method":"tools/call"' in done.stdout and "turn 2: messages 4, tools 4" in done.stdout
    *_, question, answer, model, _ = done.stdout.split("\n")
    assert question.startswith("How do I get from") and "75 minutes in all" in answer and "65 %" in answer
    assert model == "(oracle-rule-based, 2 turns)"


def test_ask_takes_a_question_and_saves_the_record(tmp_path):
    saved = tmp_path / "session.jsonl"
    done = run("ask", "Which places are on the map?", "--save", str(saved))
    assert done.returncode == 0 and "Skerry: an island" in done.stdout
    kinds = {event.kind for event in Traffic.load(saved)}
    assert {"request", "reply", "process", "tools", "model", "stderr"} <= kinds


def test_ask_asks_the_endpoint_that_the_environment_names():
    with Oracle() as oracle:
        env = {"OPENAI_BASE_URL": oracle.base_url, "OPENAI_MODEL": "my-own-model"}
        done = run("ask", "Which places are on the map?", env=env)
    assert "(my-own-model, 2 turns)" in done.stdout


def test_ask_says_in_a_sentence_that_the_endpoint_cannot_be_reached():
    done = run("ask", env={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    assert done.returncode == 1 and "127.0.0.1:9" in done.stderr and "Traceback" not in done.stderr


def test_trace_prints_every_message_as_it_crosses():
    done = trace(*MAPS, options=["--call", "route", '{"origin": "Tessaby", "destination": "Skerry"}'])
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    wanted = ["spawned", "initialize", "protocolVersion", "initialized", "tools/list", "route", "tools/call",
              '"isError":true', "stdin closed", "exited with status 0"]  # fmt: skip
    where = [next(n for n, line in enumerate(lines) if word in line) for word in wanted]
    assert where == sorted(where)
    assert lines[-1] == "Not called: places. See --call."


def test_trace_calls_by_itself_what_only_reads(tmp_path):
    server = tmp_path / "reader.py"
    server.write_text(
        "from mcp_lessons.servers.faulty.healthy import Healthy, entry\n"
        "reading = Healthy()\n"
        "reading.tools = [entry('look') | {'annotations': {'readOnlyHint': True}},\n"
        "                 entry('wipe') | {'annotations': {'readOnlyHint': False}},\n"
        "                 entry('list') | {'annotations': ['readOnlyHint']}, entry('need', a='string')]\n"
        "reading.run()\n"
    )
    done = trace(sys.executable, str(server))
    assert done.stdout.count('"method":"tools/call"') == 1 and '"name":"look","arguments"' in done.stdout
    assert done.stdout.splitlines()[-1] == "Not called: wipe, list, need. See --call."


def test_trace_cuts_a_long_message_and_full_does_not():
    call = ["--call", "echo", '{"text": "x"}']
    cut, full = (trace(*FAULTY, "big_line", options=[*call, *more]) for more in ([], ["--full"]))
    assert len(cut.stdout) < 20_000 and "… (3,000," in cut.stdout
    assert "x" * 3_000_000 in full.stdout


def test_nothing_that_a_server_says_reaches_the_terminal_as_an_escape():
    for name in ("hostile_text", "control_characters", "stderr_terminal_codes", "coloured_lines"):
        done = trace(*FAULTY, name, options=["--timeout", "5", "--call", "echo", '{"text": "x"}', "--full"])
        for character in "\x1b\x07\x08\0\r\u202e\u200b\u2066\ud800":
            assert character not in done.stdout + done.stderr, (name, character)
    assert "⟨U+001B⟩[32m" in done.stdout


def test_trace_says_why_a_server_died(tmp_path):
    saved = tmp_path / "session.jsonl"
    done = trace(*FAULTY, "die_on_start", options=["--save", str(saved)])
    assert done.returncode == 1 and "FAULTY_API_KEY" in done.stderr and "status 1" in done.stderr
    assert next(event.kind for event in Traffic.load(saved)) == "process"


def test_trace_goes_on_after_a_call_that_fails():
    call = ["--call", "echo", '{"text": "x"}']
    done = trace(*FAULTY, "rpc_error", options=[*call, *call])
    assert done.returncode == 0 and "echo: the database is locked [-32603]" in done.stdout
    done = trace(*FAULTY, "never_reply", options=["--timeout", "5", *call, *call])
    assert done.returncode == 0 and "notifications/cancelled" in done.stdout


def test_trace_goes_on_after_a_result_that_is_none():
    call = ["--call", "echo", '{"text": "x"}']
    done = trace(*FAULTY, "result_not_an_object", options=[*call, *call])
    assert done.returncode == 0 and done.stdout.count("is no object") == 2


def test_warnings_are_printed_as_lines():
    done = trace(*FAULTY, "bad_tool")
    assert done.returncode == 0 and "     warning: server: tools/list: left out" in done.stdout
    assert "McpWarning" not in done.stderr


def test_a_command_that_is_not_there_is_named():
    done = trace("no-such-server-anywhere")
    assert (
        done.returncode == 1 and "no-such-server-anywhere" in done.stderr and "Traceback" not in done.stderr
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "required: command"),
        (["trace"], "trace needs a command behind --"),
        (["trace", "a-server"], "as in: mcp-lessons trace -- a-server"),
        (["ask", "--wrong"], "unrecognized arguments: --wrong"),
        (["doctor", "--", "x"], "unrecognized arguments: x"),
        (["trace", "--timeout", "nan", "--", "x"], "invalid seconds value: 'nan'"),
        (["trace", "--timeout", "-1", "--", "x"], "invalid seconds value: '-1'"),
        (["ask", "--\x1b[31m"], "unrecognized arguments: --⟨U+001B⟩[31m"),
        (["trace", "--call", "echo", "{", "--", "x"], "--call echo: the arguments are no JSON"),
        (["trace", "--call", "echo", '{"a": NaN}', "--", "x"], "--call echo: the arguments are no JSON"),
        (["trace", "--call", "echo", "[]", "--", "x"], "--call echo: one JSON object goes with it"),
        (["trace", "--call", "echo", "{}", "{}", "--", "x"], "--call echo: one JSON object goes with it"),
    ],
)
def test_wrong_words_get_a_sentence_and_status_2(words, sentence):
    done = run(*words)
    assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr


def test_a_record_that_cannot_be_saved_is_a_sentence(tmp_path):
    done = trace(*MAPS, options=["--save", str(tmp_path / "no" / "such" / "folder")])
    assert done.returncode == 1 and "folder" in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(os.name == "nt", reason="SIGINT to one process")
def test_ctrl_c_ends_a_trace_and_its_server():
    command = [sys.executable, "-m", "mcp_lessons", "trace", "--call", "echo", '{"text": "x"}', "--", *FAULTY]
    process = subprocess.Popen([*command, "never_ends"], stdout=subprocess.PIPE, encoding="utf-8")
    with process:
        while "tools/call" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert process.returncode == 130 and "exited with status 0" in rest


def test_a_reader_that_leaves_does_no_harm():
    process = subprocess.Popen(
        [sys.executable, "-m", "mcp_lessons", "trace", "--", *MAPS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    process.stdout.readline()
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors


def test_doctor_finds_this_machine_in_order():
    done = run("doctor")
    assert done.returncode == 0, done.stdout
    assert all(line.startswith("✓") for line in done.stdout.splitlines())
    assert f"✓ the notebooks in {ROOT / 'notebooks'}" in done.stdout and "✓ Python 3." in done.stdout


@pytest.fixture
def copied(tmp_path):
    """A folder in which the package stands alone, without the notebooks beside it."""
    shutil.copytree(ROOT / "mcp_lessons", tmp_path / "mcp_lessons")
    return tmp_path


def test_doctor_says_what_to_do_when_something_is_missing(copied):
    done = run("doctor", cwd=copied)
    assert done.returncode == 1
    [advice] = [line for line in done.stdout.splitlines() if line.startswith("✗")]
    assert "notebooks" in advice and "git clone" in done.stdout


def test_lab_says_what_to_do_where_there_are_no_notebooks(copied):
    done = run("lab", "--no-browser", cwd=copied, timeout=30)
    assert done.returncode == 1 and "git clone" in done.stderr and "Traceback" not in done.stderr


def kind_of_file(url, patience=30.0):
    """What JupyterLab says of a file, once it listens: it tells its address before that."""
    deadline = time.monotonic() + patience
    while True:
        try:
            with urllib.request.urlopen(url, timeout=20) as reply:
                return json.load(reply)["type"]
        except urllib.error.URLError:
            if time.monotonic() > deadline:
                raise
            threading.Event().wait(0.1)


def test_lab_opens_jupyterlab_at_the_first_lesson(tmp_path):
    folders = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token="]
    process = subprocess.Popen(
        [sys.executable, "-m", "mcp_lessons", "lab", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **{name: str(tmp_path / name) for name in folders}},
    )
    watchdog = threading.Timer(90, process.kill)
    watchdog.start()
    try:
        said = ""
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/lab\S*", said)):
            line = process.stderr.readline()
            assert line, said
            said += line
        assert found[0].endswith("/lab/tree/00_start_here.ipynb")
        assert kind_of_file(found[0].replace("/lab/tree", "/api/contents") + "?content=0") == "notebook"
        plugin = "@jupyterlab/apputils-extension:notification"
        settings = f"{found[0].partition('/lab/')[0]}/lab/api/settings/{plugin}"
        with urllib.request.urlopen(settings, timeout=30) as reply:  # "none" would mean: ask the reader
            assert json.load(reply)["schema"]["properties"]["fetchNews"]["default"] == "false"
    finally:
        process.terminate()
        process.communicate(timeout=30)
        watchdog.cancel()


def test_refresh_is_handed_on():
    done = run("refresh", "--check", "no-such-notebook")
    assert done.returncode == 1 and "no notebook" in done.stdout


def test_the_command_is_installed_beside_python():
    command = Path(sys.executable).with_name("mcp-lessons")
    done = subprocess.run([command, "--help"], capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0 and all(
        word in done.stdout for word in ("lab", "ask", "trace", "doctor", "refresh")
    )
