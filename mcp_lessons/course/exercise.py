"""The shape of an exercise, and where a lesson's exercises are found.

Each lesson N has a file `exercises/lesson_N.py` with a list `EXERCISES`; `exercises/lesson_1.py` shows
the whole shape at work. In short:

    def _judge(answer) -> str | None:
        with started_transport("weather") as (transport, traffic):     # a real server, a real record
            answer(transport)
            pings = sent(traffic, method="ping")
        return None if pings else "no ping was sent. Call transport.send(message)."

    EXERCISES = [Exercise(id="1.1", stub=…, judge=_judge, done=…, hints=(…, …, …), solution=…, wrong=(…,))]
"""

import ast
import importlib
import importlib.util
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Wrong:
    """A wrong answer that learners give: its source, and what `check` must say to it (the text after ✗)."""

    source: str
    message: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", _cell_text(self.source))


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    `id` is "lesson.number". `stub` is the cell the learner starts from (without its first line, `# Your
    turn 3.2`); its last definition is what goes to `check`. `judge` gets the learner's answer and returns
    None, or the first thing that is wrong as a sentence to act on; what it raises counts as an error of
    the answer. `done` is the sentence after ✓. `hints` go one step further each. `solution` and `wrong`
    are cells in the place of the stub, with only the names that the notebook has before it.
    """

    id: str
    stub: str
    judge: Callable[[Any], str | None]
    done: str
    hints: tuple[str, str, str]
    solution: str
    wrong: tuple[Wrong, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "stub", _cell_text(self.stub))
        object.__setattr__(self, "solution", _cell_text(self.solution))

    @property
    def name(self) -> str:
        """The name that the stub defines last, and `check` is given."""
        last = ast.parse(self.stub).body[-1]
        return last.targets[0].id if isinstance(last, ast.Assign) else last.name  # type: ignore[attr-defined]


def exercises_of(lesson: int) -> list[Exercise]:
    """The exercises of one lesson, in the order of the notebook; none for a lesson without a file."""
    name = f"{__package__}.exercises.lesson_{lesson}"
    if importlib.util.find_spec(name) is None:
        return []
    return importlib.import_module(name).EXERCISES


def find_exercise(id: str) -> Exercise | None:
    """The exercise "3.2", or None."""
    lesson = str(id).partition(".")[0]
    found = exercises_of(int(lesson)) if lesson.isdecimal() else []
    return next((exercise for exercise in found if exercise.id == id), None)


def _cell_text(source: str) -> str:
    return textwrap.dedent(source).strip()
