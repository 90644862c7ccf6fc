"""A Python function as a tool: its signature as a JSON schema, a call checked against it.

Shown in lesson 5. The types that travel as JSON are enough: str, int, float, bool, list, dict,
Literal, Optional, and Annotated[T, "what it is"] for a description.

    >>> def double(n: Annotated[int, "a whole number"]) -> int:
    ...     "Twice the number."
    ...     return 2 * n
    >>> parameters_of(double)["properties"]
    {'n': {'type': 'integer', 'description': 'a whole number'}}
"""

import contextvars
import inspect
import json
import threading
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from .results import ToolResult

_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}
_PLAIN_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The schema of the arguments. TypeError, in a sentence, for a function that cannot be a tool."""
    name = getattr(function, "__name__", "")
    if not inspect.isroutine(function) or name == "<lambda>":
        raise TypeError(f"{function!r} cannot be a tool: define a function with `def` and a name")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError(f"{name} cannot be a tool: it must return its result, not await or yield it")
    try:
        hints, signature = get_type_hints(function, include_extras=True), inspect.signature(function)
    except (NameError, ValueError, TypeError) as problem:
        raise TypeError(f"{name} cannot be a tool: its signature cannot be read ({problem})") from problem
    properties, required = {}, []
    for parameter in signature.parameters.values():
        properties[parameter.name] = _property(name, parameter, hints)
        if parameter.default is parameter.empty and not _may_be_none(properties[parameter.name]):
            required.append(parameter.name)
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})


def description_of(function: Callable[..., Any]) -> str:
    """The first paragraph of the docstring, as one line."""
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


def _property(function: str, parameter: inspect.Parameter, hints: dict[str, Any]) -> dict[str, Any]:
    where = f"{function}, parameter {parameter.name!r}"
    if parameter.kind not in _PLAIN_KINDS:
        raise TypeError(f"{where}: a tool's arguments have names, so no *args, **kwargs or /")
    if parameter.name not in hints:
        raise TypeError(f"{where}: say its type, as in `{parameter.name}: str`")
    schema = _schema(hints[parameter.name], where)
    if parameter.default not in (parameter.empty, None) and type(parameter.default) in _NAMES:
        schema["default"] = parameter.default
    return schema


def _schema(hint: Any, where: str) -> dict[str, Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        told = [{"description": text} for text in hint.__metadata__ if isinstance(text, str)]
        return _schema(inner[0], where) | (told[0] if told else {})
    if origin is Literal and all(type(value) in (str, int, bool) for value in inner):
        kinds = {type(value) for value in inner}
        return ({"type": _NAMES[kinds.pop()]} if len(kinds) == 1 else {}) | {"enum": list(inner)}
    if origin in (Union, UnionType) and NoneType in inner and len(inner) == 2:
        other = next(choice for choice in inner if choice is not NoneType)
        return {"anyOf": [_schema(other, where), {"type": "null"}]}
    if hint in (list, dict, str, int, float, bool):
        return {"type": _NAMES[hint]} | ({"items": {}} if hint is list else {})
    if origin is list:
        return {"type": "array", "items": _schema(inner[0], where)}
    if origin is dict and inner[0] is str:
        return {
            "type": "object",
            "additionalProperties": _schema(inner[1], where) if inner[1] is not Any else {},
        }
    takes = "str, int, float, bool, list, dict, Literal, Optional"
    raise TypeError(f"{where}: {hint!r} does not travel as JSON; take one of {takes}")


def _may_be_none(schema: dict[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", [])


class FunctionCall:
    """One call of a function. It runs where it is waited for, or on a thread of its own after `go`."""

    def __init__(self, function: Callable[..., Any], schema: dict[str, Any], arguments: Any) -> None:
        self._function, self._arguments = function, _checked(arguments, schema)
        self._thread: threading.Thread | None = None
        self._outcome: ToolResult | BaseException | None = None

    def go(self) -> None:
        run = contextvars.copy_context().run  # what it prints belongs to the cell that called
        self._thread = threading.Thread(target=run, args=(self._run,), daemon=True)
        self._thread.start()

    def wait(self) -> ToolResult:
        if self._thread is None:
            return result_of(self._function(**self._arguments))
        self._thread.join()
        if isinstance(self._outcome, ToolResult):
            return self._outcome
        raise self._outcome or RuntimeError("the function did not end")

    def cancel(self) -> None:
        """Nothing: Python cannot stop a function from outside."""

    def _run(self) -> None:
        try:
            self._outcome = result_of(self._function(**self._arguments))
        except BaseException as problem:
            self._outcome = problem


def result_of(value: Any) -> ToolResult:
    """What a function returned, as a tool's result: text as it is, anything else as JSON."""
    if isinstance(value, ToolResult):
        return value
    structured = value if isinstance(value, dict) else None
    if not isinstance(value, str):
        try:
            value = "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
        except (ValueError, TypeError, RecursionError):
            value = str(value)
    return ToolResult([{"type": "text", "text": value}], structured)


def _checked(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments to call with. TypeError says which one is wrong, and how."""
    properties = schema["properties"]
    for name in arguments:
        if name not in properties:
            raise TypeError(f"there is no parameter {name!r}; there are: {', '.join(properties) or 'none'}")
    if missing := [name for name in schema.get("required", []) if name not in arguments]:
        raise TypeError(f"missing: {', '.join(missing)}")
    for name, value in arguments.items():
        _check(value, properties[name], name)
    given = dict(arguments)
    for name, inner in properties.items():
        if name not in given and _may_be_none(inner) and "default" not in inner:
            given[name] = None
    return given


def _check(value: Any, schema: dict[str, Any], where: str) -> None:
    if "anyOf" in schema:
        return None if value is None else _check(value, schema["anyOf"][0], where)
    expected = schema.get("type")
    actual = _NAMES.get(type(value), "null")
    if expected and actual != expected and (actual, expected) != ("integer", "number"):
        raise TypeError(f"{where} must be of type {expected}, not {actual}: {value!r:.100}")
    if "enum" in schema and value not in schema["enum"]:
        raise TypeError(f"{where} must be one of {', '.join(map(repr, schema['enum']))}, not {value!r:.100}")
    if expected == "array":
        for index, item in enumerate(value):
            _check(item, schema["items"], f"{where}[{index}]")
    if expected == "object" and isinstance(schema.get("additionalProperties"), dict):
        for key, item in value.items():
            _check(item, schema["additionalProperties"], f"{where}[{key!r}]")
    return None
