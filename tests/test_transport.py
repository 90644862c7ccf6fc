"""A server as a child process: found, started, read, written, hung up, and never left behind."""

import gc
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from kit import (
    PRELUDE,
    client_of,
    connected,
    echo,
    faulty,
    is_gone,
    pid_of,
    steps,
    tiny,
    wait_for,
    wait_until,
)

from mcp_lessons import (
    Client,
    RequestTimeout,
    ServerExited,
    StdioTransport,
    Traffic,
    TransportError,
    _commands,
)
from mcp_lessons.stdio import split_lines

ECHO = "serve(lambda m: reply(m, text(m['params']['arguments']['text'])))\n"


def lines(*chunks, limit=100):
    rest = iter([*chunks, b""])
    return list(split_lines(lambda: next(rest), limit))


# Lines


def test_lines_are_cut_at_newlines_wherever_a_chunk_ends():
    assert lines(b"one\ntw", b"o\r\nthr", b"", b"never read") == [b"one", b"two", b"thr"]
    assert lines(b"\n\r\n", b"a\r", b"\nb") == [b"", b"", b"a", b"b"]
    assert lines() == []


def test_a_character_split_between_chunks_stays_whole():
    data = "é☃🙂\n".encode()
    assert lines(*(data[at : at + 1] for at in range(len(data)))) == ["é☃🙂".encode()]


def test_a_line_beyond_the_limit_is_cut_and_the_next_one_is_whole():
    assert lines(b"x" * 60, b"x" * 60, b"x\nnext\n", limit=100) == [b"x" * 100, b"next"]
    assert lines(b"12345", limit=3) == [b"123"]


# Starting


def test_a_command_that_is_nowhere_is_named_with_the_folders_it_was_looked_for_in():
    with client_of(["no-such-server", "--flag"], env={"PATH": "/nowhere:/bin"}) as client:
        with pytest.raises(
            TransportError, match="there is no command 'no-such-server'; looked in: /nowhere:/bin"
        ):
            client.initialize()
        assert not client.alive and client.connection is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.mkdir(), "it is a folder"),
        (lambda path: path.write_text("no program"), "it is not executable"),
        (lambda path: program(path, "neither a script nor a program"), "no script whose first line"),
        (lambda path: program(path, "#!/no/such/interpreter\n"), "the interpreter .* does not exist"),
        (lambda path: None, "No such file"),
    ],
    ids=["folder", "not executable", "no program", "no interpreter", "nothing"],
)
def test_a_command_that_cannot_run_says_why(tmp_path, make, words):
    make(tmp_path / "server")
    with client_of([str(tmp_path / "server")]) as client:
        with pytest.raises(TransportError, match=f"cannot start '.*server': .*{words}"):
            client.initialize()
        assert not client.alive


def program(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(
    "odd", [[""], ["\0"], ["a\0b"], ["/bin/echo", "\0"], ["\ud800"], ["/\ud800/x"], ["/bin/echo", "\ud800"]]
)
def test_a_word_that_no_command_can_hold_is_a_transport_error(odd):
    with client_of(odd) as client, pytest.raises(TransportError):
        client.initialize()


@pytest.mark.parametrize("odd", [{"A\0": "x"}, {"A": "x\0"}, {"A=B": "x"}, {"A": "x" * 5_000_000}])
def test_an_environment_that_no_process_can_have_is_a_transport_error(odd):
    with client_of(tiny(ECHO), env=odd) as client, pytest.raises(TransportError, match="cannot start"):
        client.initialize()


def test_a_variable_may_be_of_any_type_and_none_leaves_it_out(monkeypatch):
    monkeypatch.setenv("LANG", "C")
    code = "serve(lambda m: reply(m, text(str([os.environ.get(name) for name in ('N', 'NO', 'LANG')]))))"
    with connected(tiny(code), env={"N": 5, "NO": None, "LANG": None}) as client:
        assert client.call_tool("x").text == "['5', None, None]"
    with client_of(tiny(ECHO), env=["N=5"]) as client, pytest.raises(TransportError, match="env is a dict"):
        client.initialize()


@pytest.mark.parametrize("cwd", ["/no/such/folder", "/dev/null"])
def test_a_folder_that_does_not_exist_is_named(cwd):
    with (
        client_of(tiny(ECHO), cwd=cwd) as client,
        pytest.raises(TransportError, match=f"there is no folder '{cwd}'"),
    ):
        client.initialize()


@pytest.mark.parametrize("odd", ["server --flag", "", [], b"server"])
def test_a_command_is_a_list_of_words(odd):
    with pytest.raises(TypeError, match="a command is a list of words"):
        StdioTransport(odd)


def test_a_command_may_hold_any_characters_and_a_path(tmp_path):
    script = tmp_path / "sérver ☃.py"
    script.write_text(PRELUDE + "serve(lambda m: reply(m, text(json.dumps([sys.argv[1], os.getcwd()]))))")
    with connected([Path(sys.executable), "-S", script, "Grüße $HOME `x` \n'"], cwd=tmp_path) as client:
        assert client.call_tool("x").text == f'["Gr\\u00fc\\u00dfe $HOME `x` \\n\'", "{tmp_path}"]'


def test_a_relative_command_is_found_in_the_folder_it_starts_in(tmp_path):
    program(tmp_path / "server", f"#!{sys.executable} -S\n" + PRELUDE + ECHO)
    with connected(["./server"], cwd=tmp_path) as client:
        assert echo(client) == "hello"


def test_a_relative_folder_on_the_path_is_taken_from_here_and_not_from_the_servers_folder(
    tmp_path, monkeypatch
):
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "server", f"#!{sys.executable} -S\n" + PRELUDE + ECHO)
    monkeypatch.chdir(tmp_path)
    with connected(["server"], cwd="/", env={"PATH": "bin"}) as client:
        assert echo(client) == "hello"


def test_a_server_sees_a_few_variables_and_what_it_is_given(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with connected(
        tiny("serve(lambda m: reply(m, text(json.dumps(dict(os.environ)))))"), env={"X": "1"}
    ) as client:
        import json

        seen = json.loads(client.call_tool("x").text)
    assert seen["X"] == "1" and seen["HOME"] and seen["PATH"] and "OPENAI_API_KEY" not in seen
    assert set(seen) <= {*_commands.INHERITED, "X", "PYTHONPATH"}


def test_the_record_of_a_start_holds_the_command_without_its_secrets():
    with connected([*tiny(ECHO), "--api-key", "sk-secret"]) as client:
        started = next(iter(client.traffic))
    assert started.body["event"] == "spawned" and started.body["command"][-2:] == ["--api-key", "…"]
    assert "sk-secret" not in started.raw


def test_a_transport_is_for_one_process_only():
    transport = StdioTransport(tiny(ECHO))
    with Client(transport) as client:
        client.initialize()
        with Client(transport, name="second") as second:
            with pytest.raises(TransportError, match="was started before; make another"):
                second.initialize()
            pid = transport._child.pid
            second.connection = None
        assert is_gone(pid)  # closing either hangs up


def test_a_transport_that_is_not_started_takes_no_message_and_hangs_up_in_silence():
    transport = StdioTransport(["x"])
    with pytest.raises(TransportError, match="x is not started yet"):
        transport.send({})
    transport.close()


def test_when_no_descriptor_is_left_nothing_is_started_and_nothing_leaks():
    program = """
import os, resource, sys
from mcp_lessons import StdioTransport, Traffic, TransportError
soft = len(os.listdir("/proc/self/fd")) + 20
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))
taken = [os.dup(0) for _ in range(19)]
popen_leaks = sys.version_info < (3, 11, 4)  # python/cpython#87474: Popen itself did, until then
outcomes = []
for free in range(1 if popen_leaks else 14):
    transport = StdioTransport(["/bin/cat"])
    try:
        transport.start(Traffic().recorder("s"))
        outcomes.append("started")
        transport.close()
    except TransportError:
        outcomes.append("refused")
    left = len(os.listdir("/proc/self/fd")) - 1
    assert popen_leaks or left + 1 + 20 - len(taken) <= soft + 1, (free, left)
    os.close(taken.pop())
assert outcomes[0] == "refused" and outcomes == sorted(outcomes), outcomes
assert popen_leaks or outcomes[-1] == "started", outcomes
for descriptor in taken:
    os.close(descriptor)
transport = StdioTransport(["/bin/cat"])
transport.start(Traffic().recorder("s"))
transport.close()
import psutil
print([child.name() for child in psutil.Process().children() if child.name() == "cat"])
"""
    ours = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout == "[]\n"


# Writing


def test_a_server_that_does_not_read_times_out_the_write_and_no_line_is_torn():
    code = (
        "m = read(); reply(m, HELLO); read()\n"
        "os.kill(os.getpid(), signal.SIGSTOP)\n"  # woken up by the test
        "serve(lambda m: reply(m, text(str(len(m['params']['arguments']['text'])))))\n"
    )
    with connected(tiny(code)) as client:
        began = time.monotonic()
        with pytest.raises(RequestTimeout, match="does not read what it is sent"):
            echo(client, "x" * 1_000_000, timeout=0.3)
        with pytest.raises(RequestTimeout, match="does not read what it is sent"):
            echo(client, "y", timeout=0.3)
        assert time.monotonic() - began < 10
        os.kill(pid_of(client), signal.SIGCONT)
        assert echo(client, "z" * 2_000_000, timeout=20) == "2000000"


def test_several_calls_to_a_server_that_does_not_read_do_not_add_up_their_deadlines():
    with connected("deaf") as client:
        waited = []
        for _ in range(3):
            began = time.monotonic()
            with pytest.raises(RequestTimeout, match="does not read"):
                echo(client, "x" * 1_000_000, timeout=4.0)
            waited.append(time.monotonic() - began)
        assert waited[1] < 4.0 > waited[2], "only the first one has the whole of its timeout"


def test_a_write_that_waits_ends_when_the_client_is_closed_from_another_thread():
    with connected("deaf") as client:
        outcomes = []

        def call():
            try:
                echo(client, "x" * 1_000_000, timeout=60)
            except TransportError as problem:
                outcomes.append(str(problem))

        thread = threading.Thread(target=call)
        thread.start()
        wait_for(client.traffic, lambda event: "tools/call" in event.raw)
        client.close()
        thread.join(5)
        assert outcomes == ["the client of 'faulty' is closed"]


def test_a_server_that_has_closed_its_stdin_is_a_transport_error():
    with connected("closes_stdin") as client:
        assert echo(client) == "hello"

        def refused():
            try:
                echo(client, timeout=0.2)
            except RequestTimeout:
                return False
            except TransportError as problem:
                return str(problem)

        assert "does not take messages any more" in wait_until(refused)


@pytest.mark.parametrize("timeout", [float("inf"), 1e12, 1e9])
def test_a_timeout_may_be_as_long_as_one_likes(timeout):
    with connected(tiny(ECHO), timeout=timeout) as client:
        assert echo(client, "x" * 200_000) == "x" * 200_000


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_timeout_of_nothing_is_over_at_once(timeout):
    with connected(tiny("serve(lambda m: None)")) as client, pytest.raises(RequestTimeout):
        client.request("tools/call", timeout=timeout)


# Hanging up


def test_a_server_that_goes_when_its_stdin_closes_is_never_signalled():
    with connected(tiny(ECHO)) as client:
        pid = pid_of(client)
    assert steps(client.traffic) == ["spawned", "stdin closed", "exited"] and is_gone(pid)
    assert list(client.traffic)[-1].body == {"event": "exited", "status": 0, "stderr": []}


def test_a_server_that_ignores_the_end_of_stdin_gets_sigterm():
    with connected(tiny(ECHO + "time.sleep(60)")) as client:
        pass
    assert steps(client.traffic) == ["spawned", "stdin closed", "SIGTERM", "exited"]
    assert list(client.traffic)[-1].body["status"] == -signal.SIGTERM


def test_a_stopped_server_is_ended():
    with connected("stopped") as client:
        with pytest.raises(RequestTimeout):
            echo(client, timeout=0.3)
        pid = pid_of(client)
    assert is_gone(pid)


def test_a_helper_that_holds_the_pipes_delays_nothing():
    with connected("helper_holds_pipes") as client:
        helper = int(wait_for(client.traffic, lambda event: "helper:" in event.raw).raw.split()[-1])
        began = time.monotonic()
        client.close()
        assert time.monotonic() - began < 10
    assert steps(client.traffic) == ["spawned", "stdin closed", "exited"]
    psutil.Process(helper).kill()  # it has a session of its own: not ours to end
    wait_until(lambda: is_gone(helper))


def test_a_helper_that_goes_on_writing_delays_the_end_a_little_and_not_for_ever():
    code = (
        "import subprocess\n"
        "loop = 'import time\\nwhile True: print(1, flush=True); time.sleep(0.02)'\n"
        "loop = [sys.executable, '-S', '-c', loop]\n"
        "helper = subprocess.Popen(loop, stdin=subprocess.DEVNULL, start_new_session=True)\n"
        "print(helper.pid, file=sys.stderr, flush=True)\n" + ECHO
    )
    with connected(tiny(code)) as client:
        helper = int(wait_for(client.traffic, lambda event: event.kind == "stderr").raw)
        began = time.monotonic()
        client.close()
        assert time.monotonic() - began < 10
    psutil.Process(helper).kill()
    wait_until(lambda: is_gone(helper))
    assert steps(client.traffic) == ["spawned", "stdin closed", "exited"]


def test_a_server_that_talks_on_after_the_end_of_stdin_is_ended():
    with connected("talks_after_eof") as client:
        pid = pid_of(client)
    assert is_gone(pid) and "SIGTERM" in steps(client.traffic)


def test_what_a_dead_server_leaves_in_its_group_is_ended():
    code = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "print(child.pid, file=sys.stderr, flush=True)\n"
        "serve(lambda m: os._exit(3))"
    )
    with connected(tiny(code)) as client:
        child = int(wait_for(client.traffic, lambda event: event.kind == "stderr").raw)
        with pytest.raises(ServerExited, match="status 3"):
            echo(client)
        wait_until(lambda: is_gone(child))


def test_closing_twice_and_at_once_from_many_threads_hangs_up_once():
    with connected(tiny(ECHO)) as client:
        threads = [threading.Thread(target=client.close) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert is_gone(pid_of(client))
        client.close()
    assert steps(client.traffic) == ["spawned", "stdin closed", "exited"]


def test_closing_what_was_never_opened_does_nothing_and_it_stays_closed():
    client = Client(StdioTransport(tiny(ECHO)), name="s")
    client.close()
    with pytest.raises(TransportError, match="the client of 's' is closed"):
        client.initialize()
    assert client.connection is None and not client.alive


@pytest.mark.parametrize("when", ["spawned", "reply", "exited"])
def test_a_subscriber_may_close_the_client_whenever_it_is_told(when):
    with client_of(tiny(ECHO)) as client:
        client.traffic.subscribe(
            lambda event: when in (event.kind, (event.body or {}).get("event")) and client.close()
        )
        with suppress(TransportError):
            client.initialize()
        client.close()
        assert not client.alive
    wait_until(lambda: steps(client.traffic)[-1] == "exited")


@pytest.mark.parametrize("when", ["spawned", "received", "exited"])
def test_closing_from_a_thread_of_the_transport_itself_does_not_wait_for_itself(when):
    traffic = Traffic()
    transport = StdioTransport(tiny(ECHO))
    over = threading.Event()

    def on_event(source, raw, body=None):
        happened = body["event"] if source == "process" else source
        traffic.add("process", body={"event": happened})
        if happened == when and when != "spawned":
            transport.close()
        if happened == "exited":
            over.set()

    transport.start(on_event)
    transport.send({"jsonrpc": "2.0", "id": 1, "method": "initialize"})
    wait_until(lambda: "received" in steps(traffic))
    transport.close()
    assert over.wait(5) and steps(traffic)[-1] == "exited"


def test_an_interrupt_while_hanging_up_ends_the_server_at_once():
    with connected("ignore_sigterm") as client:
        pid = pid_of(client)
        main = threading.main_thread().ident

        def interrupt():
            wait_for(client.traffic, lambda event: event.raw == "stdin closed")
            signal.pthread_kill(main, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            client.close()
        thread.join()
        wait_until(lambda: is_gone(pid))
        client.close()


def test_a_client_that_nobody_refers_to_any_more_hangs_up():
    traffic = Traffic()
    client = Client(StdioTransport(tiny(ECHO)), traffic=traffic)
    client.initialize()
    pid, gone = pid_of(client), weakref.ref(client)
    del client
    gc.collect()
    assert gone() is None
    wait_for(traffic, lambda event: event.kind == "process" and event.body["event"] == "exited")
    assert is_gone(pid)


def test_a_client_whose_handlers_refer_to_it_hangs_up_all_the_same():
    traffic = Traffic()
    handlers = {}
    client = Client(StdioTransport(tiny(ECHO)), traffic=traffic, handlers=handlers)
    client._inbox.handlers["roots/list"] = lambda params: client.list_tools()
    client.initialize()
    client = None
    gc.collect()
    wait_for(traffic, lambda event: event.kind == "process" and event.body["event"] == "exited")


def test_no_descriptor_and_no_thread_is_left_after_many_servers():
    def descriptors():
        return len(list(Path("/proc/self/fd").iterdir()))

    with connected(tiny(ECHO)):
        pass
    before, threads = descriptors(), threading.active_count()
    for _ in range(15):
        with connected(tiny(ECHO)) as client:
            echo(client)
    wait_until(lambda: descriptors() <= before and threading.active_count() <= threads)


# The guard: one small process that outlives ours


def guard_of(client):
    ours = psutil.Process().children()
    return next(process for process in ours if "_guard.sh" in " ".join(process.cmdline()))


def test_the_guard_runs_while_there_is_a_server_and_no_longer():
    with connected(tiny(ECHO)) as first:
        guard = guard_of(first)
        with connected(tiny(ECHO)) as second:
            assert guard_of(second).pid == guard.pid
        assert guard.is_running()
    wait_until(lambda: not guard.is_running())


def test_a_guard_that_somebody_ended_is_replaced_by_the_next_server():
    with connected(tiny(ECHO)) as first:
        guard = guard_of(first)
        guard.kill()
        wait_until(lambda: guard.status() == psutil.STATUS_ZOMBIE)
        with connected(tiny(ECHO)) as second:
            assert guard_of(second).pid != guard.pid
            assert echo(first) == echo(second) == "hello"


ORPHANS = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from kit import client_of, tiny
from mcp_lessons import Client, StdioTransport
import psutil
deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); serve(print); time.sleep(60)"
launcher = "import subprocess; subprocess.run([sys.executable, '-S', '-c', sys.argv[1]])"
commands = [tiny("serve(print)"), tiny(deaf), [*tiny(launcher), tiny(deaf)[-1]]]
clients = [Client(StdioTransport(command)) for command in commands]
for client in clients:
    client.initialize()
print(*(child.pid for child in psutil.Process().children(recursive=True)), flush=True)
{end}
"""


def orphans(end):
    """A process that starts a server that goes by itself, one that does not, and one behind a launcher."""
    program = ORPHANS.format(tests=str(Path(__file__).parent), end=end)
    return subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def test_however_a_process_ends_no_server_of_it_is_left_ten_seconds_later():
    ends = [
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os._exit(0)",
        "os.abort()",
        "sys.exit()",
        "raise ValueError",
    ]
    with connected(tiny(ECHO)) as bystander:
        started = [orphans(end) for end in ends]
        pids = [int(word) for process in started for word in process.communicate(timeout=60)[0].split()]
        assert len(pids) == 5 * len(ends)  # three servers, the one behind the launcher, the guard
        wait_until(lambda: all(is_gone(pid) for pid in pids), seconds=10)
        assert echo(bystander) == "hello"


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_was_forked_leaves_the_servers_alone():
    with connected(tiny(ECHO)) as client:
        child = os.fork()
        if child == 0:
            try:
                with pytest.raises(TransportError, match="is a fork"):
                    echo(client, "to a server that is not ours")
                client.close()
            except BaseException:
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert echo(client) == "hello"


FORKS = """
if (fork := os.fork()) == 0:
    time.sleep(30)
    os._exit(0)
print(fork, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_fork_that_outlives_its_process_keeps_no_server_alive():
    process = orphans(f"import time\n{FORKS}")
    servers, fork = (process.stdout.readline().split() for _ in range(2))
    try:
        assert len(servers) == 5
        wait_until(lambda: all(is_gone(int(pid)) for pid in servers), seconds=10)
        assert not is_gone(int(fork[0]))
    finally:
        os.kill(int(fork[0]), signal.SIGKILL)
        process.communicate()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_delays_no_hanging_up_and_may_start_servers_of_its_own():
    with connected(tiny(ECHO)) as client:
        ours, theirs = os.pipe()
        if (fork := os.fork()) == 0:
            try:
                with connected(tiny(ECHO)) as another:
                    os.write(theirs, echo(another, "from the fork").encode())
                time.sleep(30)
            finally:
                os._exit(1)
        assert os.read(ours, 100) == b"from the fork"
        client.close()
        os.kill(fork, signal.SIGKILL)
        os.waitpid(fork, 0)
        assert steps(client.traffic) == ["spawned", "stdin closed", "exited"]
    os.close(ours)
    os.close(theirs)


def test_an_exit_status_that_the_system_took_is_not_known():
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with connected(tiny("serve(lambda m: os._exit(7))")) as client, pytest.raises(ServerExited) as caught:
            echo(client)
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert caught.value.status is None


def test_the_slow_servers_of_one_client_are_no_business_of_another():
    with connected(faulty("busy", seconds=0.5)) as slow, connected(tiny(ECHO)) as quick:
        waiting = slow.begin_call("echo", {"text": "slow"})
        assert echo(quick) == "hello"
        assert slow.finish_call(waiting).text == "slow"
