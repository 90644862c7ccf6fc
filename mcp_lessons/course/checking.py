"""`check`, `hint` and `solution`: what a learner says to an exercise. None of them raises.

`check` runs the learner's code on a thread of its own, so that a deadline holds whatever the code
does: when the time is up, the servers it was given are ended, the thread is told to stop, and the
learner reads that the code never came back.
"""

import ast
import ctypes
import threading
import traceback
from inspect import iscoroutinefunction
from types import CodeType, FunctionType
from typing import Any

from . import judging
from .exercise import Exercise, exercises_of, find_exercise
from .waiting import StillWaiting

DEADLINE = 10.0
"""Seconds that a check takes at most, before it ends what still runs."""

NOT_DONE = "not done yet"

_hints_given: dict[str, int] = {}


def check(id: str, answer: Any = ...) -> None:
    """Print "not done yet", "✓ …", or the first thing that is wrong with `answer`. Never raises or hangs."""
    exercise = _find(id)
    if exercise is None:
        return
    if _is_stub(exercise, answer):
        fault: str | None = NOT_DONE
    else:
        fault = _no_function(exercise, answer) or _verdict_in_time(exercise, answer)
    if fault == NOT_DONE:
        print(f"{id}: {NOT_DONE}")
    else:
        print(f"✓ {id}: {exercise.done}" if fault is None else f"✗ {id}: {fault}")


def hint(id: str) -> None:
    """Print one more hint each time; the last one again when there are no more."""
    exercise = _find(id)
    if exercise is None:
        return
    given = _hints_given[id] = min(_hints_given.get(id, 0) + 1, len(exercise.hints))
    print(f"Hint {given} of {len(exercise.hints)}: {exercise.hints[given - 1]}")
    if given == len(exercise.hints):
        print(f'That was the last one. solution("{id}") shows an answer.')


def solution(id: str) -> None:
    """Print an answer that passes."""
    exercise = _find(id)
    if exercise is not None:
        print(exercise.solution)


def _find(id: str) -> Exercise | None:
    exercise = find_exercise(id)
    if exercise is None:
        lesson = str(id).partition(".")[0]
        known = [other.id for other in exercises_of(int(lesson))] if lesson.isdecimal() else []
        print(f"There is no exercise {id!r}; this lesson has: {', '.join(known) or 'none'}.")
    return exercise


def _no_function(exercise: Exercise, answer: Any) -> str | None:
    """What is wrong with an answer that a judge cannot even call; None when nothing is."""
    if not isinstance(ast.parse(exercise.stub).body[-1], ast.FunctionDef):
        return None
    if not callable(answer):
        wanted = f"check({exercise.id!r}, {exercise.name})".replace("'", '"')
        return f"the function itself is wanted, {wanted}; this is {judging.shown(answer)}."
    if iscoroutinefunction(answer):
        return f"{exercise.name} is an `async def`: calling it runs nothing. Write it with `def`."
    return None


def _verdict_in_time(exercise: Exercise, answer: Any) -> str | None:
    verdict: list[str | None] = []
    judge = threading.Thread(
        target=lambda: verdict.append(_verdict(exercise, answer)), name=f"check {exercise.id}", daemon=True
    )
    judge.start()
    try:
        judge.join(DEADLINE)
        late = judge.is_alive()
    finally:  # also when the reader interrupts the cell
        judging.end_everything()
    if not late:
        return verdict[0]
    judge.join(0.5)
    _stop(judge)
    return (
        f"after {DEADLINE:g} seconds your code still ran, so it was stopped. "
        "What does it wait for, or which loop has no end?"
    )


def _verdict(exercise: Exercise, answer: Any) -> str | None:
    try:
        return exercise.judge(answer)
    except NotImplementedError:
        return NOT_DONE
    except BaseException as problem:
        return f"it raised {type(problem).__name__}: {str(problem) or '(no message)'}{_place(problem)}"


def _place(problem: BaseException) -> str:
    """ " (line 3 of your cell)", when the error comes from there."""
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if "ipykernel" in frame.filename or frame.filename == "<cell>"]
    return f" (line {lines[-1]} of your cell)" if lines else ""


def _stop(thread: threading.Thread) -> None:
    # The only way to end a loop that waits for nothing; a thread asleep in a system call sees it on waking.
    if thread.is_alive() and thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(StillWaiting)
        )


def _is_stub(exercise: Exercise, answer: Any) -> bool:
    """Is the answer what the stub says, unchanged?"""
    if answer is ... or answer is None:
        return True
    if isinstance(answer, FunctionType):
        return _same_code(answer.__code__, _code_of(exercise.stub, answer.__name__))
    if isinstance(answer, type):
        body = _code_of(exercise.stub, answer.__name__)
        methods = [value for value in vars(answer).values() if isinstance(value, FunctionType)]
        stubs = [_code_in(body, method.__name__) for method in methods] if body else []
        return bool(methods) and all(map(_same_code, [method.__code__ for method in methods], stubs))
    last = ast.parse(exercise.stub).body[-1]
    try:
        return isinstance(last, ast.Assign) and bool(ast.literal_eval(last.value) == answer)
    except ValueError:
        return False


def _code_of(source: str, name: str) -> CodeType | None:
    return _code_in(compile(source, "<stub>", "exec"), name)


def _code_in(code: CodeType | None, name: str) -> CodeType | None:
    constants = code.co_consts if code else ()
    return next((c for c in constants if isinstance(c, CodeType) and c.co_name == name), None)


def _same_code(one: CodeType | None, other: CodeType | None) -> bool:
    if one is None or other is None:
        return False
    if (one.co_code, one.co_names, one.co_varnames) != (other.co_code, other.co_names, other.co_varnames):
        return False
    if len(one.co_consts) != len(other.co_consts):
        return False
    pairs = zip(one.co_consts, other.co_consts, strict=True)
    return all(_same_code(a, b) if isinstance(a, CodeType) else a == b for a, b in pairs)
