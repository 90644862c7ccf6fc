"""Classes that grow from lesson to lesson: `add_to` and `so_far`."""

import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from .taught import SHOWN, TAUGHT

Definition = TypeVar("Definition")

_NOT_COPIED = {"__dict__", "__weakref__", "__static_attributes__", "__firstlineno__"}


def add_to(cls: type) -> Callable[[Definition], Definition]:
    """A decorator that makes the function below it a method of `cls`.

    Properties, class methods and static methods too. The classes of the package are refused
    (TypeError): a lesson changes its own copy, never what other code imports.
    """
    _refuse_the_package_class(cls)

    def add(definition: Definition) -> Definition:
        function: Any = getattr(definition, "fget", None) or getattr(definition, "__func__", definition)
        function.__qualname__ = f"{cls.__name__}.{function.__name__}"
        setattr(cls, function.__name__, definition)
        return definition

    return add


def so_far(cls: str | type, lesson: int) -> Any:
    """The class as the lessons before `lesson` left it.

    `so_far("Client", lesson=3)` is a fresh class, made of what lessons 0 to 2 taught, of what was
    shown up to this lesson, and of private helpers. `so_far(Client, lesson=2)`, with a class that the
    notebook has begun itself, adds the same to that class, keeps what it has, and returns it.
    """
    name = cls if isinstance(cls, str) else cls.__name__
    original = _package_class(name)
    attributes = _attributes_so_far(original, name, lesson)
    if not isinstance(cls, str):
        _refuse_the_package_class(cls)
        for attribute in attributes.keys() - vars(cls).keys():
            setattr(cls, attribute, attributes[attribute])
        return cls
    head = next((n for n, _, entry in _entries_of(name) if entry == f"class {name}"), -1)
    if head >= lesson:
        raise ValueError(
            f"lesson {head} itself begins the class {name}: run the cell that says `class {name}`"
        )
    return type(original)(name, original.__bases__, {**attributes, "__module__": "__main__"})


def _attributes_so_far(original: type, name: str, lesson: int) -> dict[str, Any]:
    later = {"__module__", *_NOT_COPIED}
    for number, taught, entry in _entries_of(name):
        if number > lesson or (taught and number == lesson):
            later |= {"__init__", "__doc__"} if entry.startswith("class ") else {entry.partition(".")[2]}
    return {key: value for key, value in vars(original).items() if key not in later}


def _entries_of(name: str) -> Iterator[tuple[int, bool, str]]:
    """(lesson, is it taught there?, entry) for each entry about the class `name` or a method of it."""
    for lesson, entries in TAUGHT.items():
        for _, entry in entries:
            if entry == f"class {name}" or entry.startswith(f"{name}."):
                yield lesson, True, entry
    for lesson, shown in SHOWN.items():
        for _, entry, _ in shown:
            if entry.startswith(f"{name}."):
                yield lesson, False, entry


def _package_class(name: str) -> type:
    modules = [module for entries in TAUGHT.values() for module, entry in entries if _is_about(entry, name)]
    modules += [module for shown in SHOWN.values() for module, entry, _ in shown if _is_about(entry, name)]
    if not modules:
        raise ValueError(f"no lesson builds a class named {name!r}")
    return getattr(importlib.import_module(f"mcp_lessons.{modules[0]}"), name)


def _is_about(entry: str, name: str) -> bool:
    return entry == f"class {name}" or entry.partition(".")[0] == name


def _refuse_the_package_class(cls: type) -> None:
    module = sys.modules.get(cls.__module__)
    if cls.__module__.partition(".")[0] == "mcp_lessons" and getattr(module, cls.__name__, None) is cls:
        raise TypeError(
            f"this {cls.__name__} is the package's own: begin with {cls.__name__} = "
            f'so_far("{cls.__name__}", lesson=…), then add to that'
        )
