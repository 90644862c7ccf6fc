"""A Python function as a tool: its signature as a JSON schema, a call checked against it.

Shown in lesson 5. The types that travel as JSON are enough: str, int, float, bool, list, dict,
Literal, Optional, and Annotated[T, "what it is"] for a description. A function that never returns is
waited for without end: unlike a server, it cannot be told to stop.

    >>> def double(n: Annotated[int, "a whole number"]) -> int: ...
    >>> schema_of(double)["properties"]
    {'n': {'type': 'integer', 'description': 'a whole number'}}
"""

import contextvars
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from queue import SimpleQueue
from threading import Thread
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from . import jsonrpc
from ._calls import Begun, failure, outcome
from ._schemas import utf8
from .results import ToolResult

DEEPEST_DEFAULT = 20
"""Levels of a default that a model is told."""

_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The schema of its arguments. TypeError, in a sentence, for what cannot be a tool."""
    name = getattr(function, "__name__", "")
    if not inspect.isroutine(function) or name == "<lambda>":
        raise TypeError(f"{function!r} cannot be a tool: define a function with `def` and a name")
    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    if any(is_one(function) for is_one in kinds):
        raise TypeError(f"{name} cannot be a tool: it must return its result, not await or yield it")
    try:
        hints, signature = get_type_hints(function, include_extras=True), inspect.signature(function)
    except (NameError, ValueError, TypeError) as problem:
        raise TypeError(f"{name} cannot be a tool: its signature cannot be read ({problem})") from None
    parameters = signature.parameters.values()
    properties = {p.name: _property(f"{name}, parameter {p.name!r}", p, hints) for p in parameters}
    required = [p.name for p in parameters if p.default is p.empty and "anyOf" not in properties[p.name]]
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})


def description_of(function: Callable[..., Any]) -> str:
    """The first paragraph of the docstring, as one line."""
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


def call_function(
    name: str, function: Callable[..., Any], schema: dict[str, Any], arguments: dict[str, Any], alone: bool
) -> Begun:
    """Call it where the result is waited for when it is alone, on a thread of its own otherwise."""
    run = partial(_run, function, _checked(arguments, schema))
    if alone:
        return Begun(run)
    box: SimpleQueue[ToolResult] = SimpleQueue()
    context = contextvars.copy_context()  # what it prints belongs to the cell that called

    def work() -> None:
        try:
            box.put(context.run(outcome, name, run))
        except BaseException as problem:  # somebody waits for us, whatever it is
            box.put(failure(name, problem))

    Thread(target=work, daemon=True).start()
    return Begun(box.get)


def _run(function: Callable[..., Any], arguments: dict[str, Any]) -> ToolResult:
    """What the function returned, as a result: text as it is, anything else as JSON."""
    value = function(**arguments)
    if isinstance(value, ToolResult):
        if not isinstance(value.content, list | tuple):
            raise TypeError(f"it returned a ToolResult whose content is no list: {value.content!r:.100}")
        return value
    if isinstance(value, Awaitable | Iterator | AsyncIterator):
        raise TypeError(f"it returned a {type(value).__name__}, which is no result yet")
    if not isinstance(value, str):
        value = "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return ToolResult.from_text(value)


def _property(where: str, parameter: inspect.Parameter, hints: dict[str, Any]) -> dict[str, Any]:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise TypeError(f"{where}: a tool's arguments have names, so no *args, **kwargs or /")
    if parameter.name not in hints:
        raise TypeError(f"{where}: say its type, as in `{parameter.name}: str`")
    schema = _schema(hints[parameter.name], where)
    if parameter.default is parameter.empty:  # an Optional may be left out, and is None then
        return schema | ({"default": None} if "anyOf" in schema else {})
    try:
        default = jsonrpc.decode(utf8(jsonrpc.encode(parameter.default)))
    except (TypeError, ValueError):  # it is used, and the model need not know it
        default = None
    is_told = default is not None and not jsonrpc.is_deeper(default, DEEPEST_DEFAULT)
    return schema | ({"default": default} if is_told else {})


def _schema(hint: Any, where: str) -> dict[str, Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        told = [{"description": utf8(text)} for text in hint.__metadata__ if isinstance(text, str)]
        return _schema(inner[0], where) | (told[0] if told else {})
    if origin is Literal and (kinds := {type(value) for value in inner}) <= {str, int, bool, NoneType}:
        one = {"type": _NAMES[kinds.pop()]} if len(kinds) == 1 and None not in inner else {}
        return one | {"enum": [utf8(value) if isinstance(value, str) else value for value in inner]}
    if origin in (Union, UnionType) and NoneType in inner and len(inner) == 2:
        return {"anyOf": [_schema(next(x for x in inner if x is not NoneType), where), {"type": "null"}]}
    if origin is list or hint is list:
        return {"type": "array", "items": _schema(inner[0], where) if inner else {}}
    if origin is dict and inner and inner[0] is str and inner[1] is not Any:
        return {"type": "object", "additionalProperties": _schema(inner[1], where)}
    if hint in _NAMES or origin is dict:
        return {"type": _NAMES[origin or hint]}
    raise TypeError(f"{where}: {hint!r} is not one of str, int, float, bool, list, dict, Literal, Optional")


def _checked(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments to call with. TypeError says which one is wrong, and how."""
    properties = schema["properties"]
    if unknown := [name for name in arguments if name not in properties]:
        known = ", ".join(properties) or "none"
        raise TypeError(f"there is no parameter {unknown[0]!r:.100}; there are: {known}")
    given = {name: _taken(value, properties[name], name) for name, value in arguments.items()}
    if missing := [name for name in schema.get("required", ()) if name not in arguments]:
        raise TypeError(f"missing: {', '.join(missing)}")
    unset = {name: None for name, rule in properties.items() if rule.get("default", "") is None}
    return unset | given


def _taken(value: Any, schema: dict[str, Any], where: str) -> Any:
    """The value as the function gets it: for JSON Schema, 1.0 is an integer. TypeError says what is wrong."""
    if "anyOf" in schema:  # Optional
        return None if value is None else _taken(value, schema["anyOf"][0], where)
    if schema.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    expected, actual = schema.get("type"), _NAMES.get(type(value), "null")
    if expected and actual != expected and (actual, expected) != ("integer", "number"):
        raise TypeError(f"{where} must be of type {expected}, not {actual}: {value!r:.100}")
    if "enum" in schema and value not in schema["enum"]:
        raise TypeError(f"{where} must be one of {schema['enum']}, not {value!r:.100}")
    inner = schema.get("items") or schema.get("additionalProperties")
    if inner and isinstance(value, dict):
        return {key: _taken(item, inner, f"{where}[{key!r}]") for key, item in value.items()}
    return [_taken(item, inner, f"{where}[{n}]") for n, item in enumerate(value)] if inner else value
