"""What the lessons lean on: growing classes, an end to waiting, checks that judge and never raise."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from mcp_lessons import Client, StdioTransport
from mcp_lessons.course import StillWaiting, add_to, check, checking, give_up_after, hint, so_far, solution
from mcp_lessons.course import exercise as exercises
from mcp_lessons.course.exercise import Exercise
from mcp_lessons.course.judging import (
    exchanges,
    happenings,
    received,
    sent,
    server_command,
    spawned,
    started_transport,
)

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


# Classes that grow


def test_add_to_makes_functions_properties_and_class_methods_members() -> None:
    class Greeter:
        pass

    @add_to(Greeter)
    def greet(self: Any) -> str:
        return "hello"

    @add_to(Greeter)
    @property
    def loud(self: Any) -> str:
        return self.greet().upper()

    @add_to(Greeter)
    @classmethod
    def new(cls: Any) -> Any:
        return cls()

    assert Greeter.new().loud == "HELLO"
    assert greet.__qualname__ == "Greeter.greet"


def test_add_to_refuses_the_package_s_own_class() -> None:
    with pytest.raises(
        TypeError, match=r'the package\'s own: begin with Client = so_far\("Client", lesson=…\)'
    ):
        add_to(Client)


def test_a_class_so_far_has_what_lessons_before_taught_and_nothing_later() -> None:
    third, fourth = so_far("Client", lesson=3), so_far("Client", lesson=4)
    assert hasattr(third, "initialize")
    assert not hasattr(third, "list_tools")
    assert hasattr(fourth, "list_tools")
    assert not hasattr(fourth, "call_tool")


def test_growing_a_class_leaves_the_package_s_class_and_its_sisters_alone() -> None:
    ours, original = so_far("Client", lesson=3), Client.list_tools

    @add_to(ours)
    def list_tools(self: Any) -> str:
        return "ours"

    assert Client.list_tools is original
    assert not hasattr(so_far("Client", lesson=3), "list_tools")


def test_a_class_so_far_works_against_a_real_server() -> None:
    client = so_far("Client", lesson=3)(StdioTransport(server_command("weather")), name="weather")
    try:
        assert client.initialize().name
        assert client.request("ping") == {}
    finally:
        client.close()


def test_a_class_that_the_notebook_began_gets_what_it_does_not_teach() -> None:
    class Client:
        def close(self) -> str:
            return "mine"

    same = so_far(Client, lesson=2)
    assert same is Client
    assert Client(StdioTransport(server_command("weather"))).close() == "mine"
    assert hasattr(Client, "start")
    assert not hasattr(Client, "request")


def test_a_class_that_the_lesson_begins_itself_is_refused_with_the_cell_to_run() -> None:
    with pytest.raises(ValueError, match="lesson 1 itself begins the class StdioTransport"):
        so_far("StdioTransport", lesson=1)


def test_a_class_that_no_lesson_builds_is_refused() -> None:
    with pytest.raises(ValueError, match="no lesson builds a class named 'Teapot'"):
        so_far("Teapot", lesson=3)


# An end to waiting


def waiting_child() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_a_read_that_would_never_end_ends_as_still_waiting_and_the_child_is_gone() -> None:
    with (
        waiting_child() as child,
        pytest.raises(StillWaiting, match=r"^still waiting after 0\.2 seconds, so the process was ended$"),
        give_up_after(0.2, child),
    ):
        child.stdout.read()
    assert child.returncode is not None


def test_a_body_that_waits_for_something_else_is_interrupted() -> None:
    with waiting_child() as child, pytest.raises(StillWaiting), give_up_after(0.1, child):
        time.sleep(30)


def test_a_body_that_ends_in_time_leaves_the_child_alone() -> None:
    with waiting_child() as child:
        with give_up_after(30, child):
            assert child.poll() is None
        assert child.poll() is None
        child.kill()


def test_an_error_of_the_body_comes_through_unchanged() -> None:
    with waiting_child() as child:
        with pytest.raises(ZeroDivisionError), give_up_after(30, child):
            _ = 1 / 0
        child.kill()


# Judging


def test_a_transcript_tells_what_was_sent_what_came_back_and_what_became_of_the_server() -> None:
    with started_transport("weather") as (transport, traffic):
        transport.send(PING)
        transport.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert [message["method"] for message in sent(traffic)] == ["ping", "notifications/initialized"]
    assert sent(traffic, "notification")[0]["method"] == "notifications/initialized"
    assert received(traffic, "reply") == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert exchanges(traffic, method="ping") == [(PING, {"jsonrpc": "2.0", "id": 1, "result": {}})]
    assert happenings(traffic) == ["spawned", "stdin closed", "exited"]


def test_a_bare_process_is_ended_with_its_pipes() -> None:
    with spawned("weather") as process:
        assert process.poll() is None
    assert process.poll() is not None
    assert process.stdout.closed


# Exercises


def exercise(judge: Callable[[Any], str | None], stub: str = "def answer(x):\n    ...") -> Exercise:
    hints = ("one", "two", "three")
    return Exercise("1.1", stub, judge, "done.", hints, "def answer(x):\n    return x", ())


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exercise], None]:
    monkeypatch.setattr(checking, "_hints_given", {})
    monkeypatch.setattr(checking, "DEADLINE", 0.3)

    def use(one: Exercise) -> None:
        lessons = {1: [one]}
        monkeypatch.setattr(exercises, "exercises_of", lambda lesson: lessons.get(lesson, []))
        monkeypatch.setattr(checking, "exercises_of", lambda lesson: lessons.get(lesson, []))

    return use


def made_by(source: str, name: str = "answer") -> Any:
    space: dict[str, Any] = {}
    exec(compile(source, "<cell>", "exec"), space)
    return space[name]


@pytest.mark.parametrize(
    ("stub", "name"),
    [
        ("def answer(x):\n    ...", "answer"),
        ("def answer(x):\n    '''Text.'''\n    return [y + 1 for y in x]", "answer"),
        ("answer = ['b', 'a']", "answer"),
        ("answer = ...", "answer"),
        ("class Answer:\n    def go(self):\n        return 1", "Answer"),
    ],
)
def test_a_stub_is_not_done_yet(only: Any, capsys: Any, stub: str, name: str) -> None:
    only(exercise(lambda answer: "judged", stub))
    check("1.1", made_by(stub, name))
    check("1.1")
    assert capsys.readouterr().out == "1.1: not done yet\n" * 2


def test_a_changed_stub_is_judged(only: Any, capsys: Any) -> None:
    only(
        exercise(
            lambda answer: None if answer(2) == 4 else f"2 became {answer(2)}.",
            "def answer(x):\n    return x",
        )
    )
    check("1.1", made_by("def answer(x):\n    return x + 1"))
    check("1.1", made_by("def answer(x):\n    return x + 2"))
    assert capsys.readouterr().out == "✗ 1.1: 2 became 3.\n✓ 1.1: done.\n"


def test_an_error_in_the_answer_is_named_with_its_line(only: Any, capsys: Any) -> None:
    only(exercise(lambda answer: answer(2)))
    check("1.1", made_by("def answer(x):\n    return x / 0"))
    assert (
        capsys.readouterr().out
        == "✗ 1.1: it raised ZeroDivisionError: division by zero (line 2 of your cell)\n"
    )


def test_an_answer_that_exits_or_is_not_implemented_does_not_end_the_notebook(only: Any, capsys: Any) -> None:
    only(exercise(lambda answer: answer(2)))
    check("1.1", made_by("def answer(x):\n    raise SystemExit('bye')"))
    check("1.1", made_by("def answer(x):\n    raise NotImplementedError"))
    wanted = "✗ 1.1: it raised SystemExit: bye (line 2 of your cell)\n1.1: not done yet\n"
    assert capsys.readouterr().out == wanted


def test_an_answer_that_no_judge_could_call_is_named_before_any_server_starts(only: Any, capsys: Any) -> None:
    only(exercise(lambda answer: "judged"))
    check("1.1", made_by("answer = (lambda x: x)(2)"))
    check("1.1", ["long"] * 100)
    check("1.1", made_by("async def answer(x):\n    return x"))
    number, many, coroutine = capsys.readouterr().out.splitlines()
    assert number == '✗ 1.1: the function itself is wanted, check("1.1", answer); this is 2.'
    assert many.startswith('✗ 1.1: the function itself is wanted, check("1.1", answer); this is [') and (
        len(many) < 200
    )
    assert coroutine == "✗ 1.1: answer is an `async def`: calling it runs nothing. Write it with `def`."


def test_an_answer_that_loops_for_ever_is_stopped(only: Any, capsys: Any) -> None:
    only(exercise(lambda answer: answer(2)))
    check("1.1", made_by("def answer(x):\n    while True:\n        pass"))
    assert capsys.readouterr().out == (
        "✗ 1.1: after 0.3 seconds your code still ran, so it was stopped. "
        "What does it wait for, or which loop has no end?\n"
    )


def test_an_answer_that_waits_for_a_silent_server_is_stopped_and_so_is_the_server(
    only: Any, capsys: Any
) -> None:
    def judge(answer: Any) -> str | None:
        with spawned("weather") as process:
            return answer(process)

    only(exercise(judge))
    check("1.1", made_by("def answer(process):\n    return process.stdout.readline()"))
    assert "after 0.3 seconds your code still ran" in capsys.readouterr().out


def test_hints_go_one_step_further_each_time_and_stay_at_the_last(only: Any, capsys: Any) -> None:
    only(exercise(lambda answer: None))
    for _ in range(4):
        hint("1.1")
    lines = capsys.readouterr().out.splitlines()
    last = ["Hint 3 of 3: three", 'That was the last one. solution("1.1") shows an answer.']
    assert lines == ["Hint 1 of 3: one", "Hint 2 of 3: two", *last, *last]


def test_a_solution_is_shown_as_source(only: Any, capsys: Any) -> None:
    only(exercise(lambda answer: None))
    solution("1.1")
    assert capsys.readouterr().out == "def answer(x):\n    return x\n"


@pytest.mark.parametrize("id", ["1.7", "99.1", "nonsense", 1.1, None])
def test_an_exercise_nobody_has_is_a_sentence(only: Any, capsys: Any, id: Any) -> None:
    only(exercise(lambda answer: None))
    check(id, 1)
    assert capsys.readouterr().out.startswith(f"There is no exercise {id!r}")
