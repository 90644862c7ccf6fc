"""What a caller hands in, checked before anything is sent; and a result against its tool's schema.

Shown, not taught. A result that breaks the schema which its tool promised is a warning, and is never
held against the result; that works only where the package `jsonschema` can be imported.
https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema
"""

import sys
from collections.abc import Mapping
from inspect import iscoroutinefunction
from types import ModuleType
from typing import Any

from .errors import brief
from .jsonrpc import Message


def check_seconds(timeout: Any) -> float:
    """`timeout`, when it is a number of seconds; otherwise TypeError or ValueError, with a sentence."""
    if not isinstance(timeout, int | float):
        raise TypeError(f"a timeout is a number of seconds, as in timeout=2.5; this is {_shown(timeout)}")
    if timeout != timeout:
        raise ValueError("a timeout is a number of seconds, as in timeout=2.5; this is not a number (nan)")
    return timeout


def check_message(message: Message) -> None:
    """TypeError, with a sentence, for a method, params, a tool's name or arguments of the wrong type."""
    method, params = message.get("method", "a reply"), message.get("params", {})
    if not isinstance(method, str):
        raise TypeError(f"a method is a text, as in 'tools/list'; this is {_shown(method)}")
    if not isinstance(params, dict):
        raise TypeError(f"the params of {method!r} are a dict; these are {_shown(params)}")
    if method == "tools/call":
        name, arguments = params.get("name", ""), params.get("arguments", {})
        if not isinstance(name, str):
            raise TypeError(f"a tool is called by its name, a text; this is {_shown(name)}")
        if not isinstance(arguments, dict):
            raise TypeError(f"arguments are a dict, one entry an argument; these are {_shown(arguments)}")


def check_parts(transport: Any, traffic: Any) -> None:
    """TypeError, with a sentence, for what a client cannot work with."""
    if not all(callable(getattr(transport, name, None)) for name in ("start", "send", "close")):
        example = 'Client(StdioTransport(["npx", "some-server"]))'
        raise TypeError(f"a client needs a transport, as in {example}; this is {_shown(transport)}")
    if not hasattr(traffic, "recorder"):
        raise TypeError(f"a record is a Traffic, as in traffic=Traffic(); this is {_shown(traffic)}")


def check_handlers(handlers: Any) -> None:
    """TypeError, with a sentence, for handlers that could never be called."""
    if not isinstance(handlers, Mapping):
        raise TypeError(f'handlers are a dict, as in {{"roots/list": answer}}; these are {_shown(handlers)}')
    for method, handler in handlers.items():
        if not isinstance(method, str) or not callable(handler) or iscoroutinefunction(handler):
            shown = f"{_shown(method)}: {_shown(handler)}"
            raise TypeError(f"a handler is a plain function of the params, under its method; this is {shown}")


def _shown(value: Any) -> str:
    try:
        return brief(repr(value), 80)
    except Exception:  # a repr may do anything
        return f"a {type(value).__name__}"


def output_problem(schema: Any, structured: Any) -> str | None:
    """What is wrong with `structured` by the tool's outputSchema, as a sentence, or None."""
    if not isinstance(schema, dict):
        return None
    if structured is None:
        return "it promises structured content and gave none"
    try:
        jsonschema, referencing = _libraries()
    except ImportError:
        return None
    try:
        validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        # An empty registry: a schema must not make us fetch what it points to.
        found = next(validator(schema, registry=referencing.Registry()).iter_errors(structured), None)
    except Exception as problem:  # a schema is a stranger's: whatever it breaks, the result stands
        return f"its output schema cannot be used ({type(problem).__name__})"
    return None if found is None else f"its structured content breaks its schema: {found.message[:200]}"


def _libraries() -> tuple[ModuleType, ModuleType]:
    # jsonschema looks for this package on import, which builds a grammar of all web addresses first:
    # seconds of work, for a check of formats that nobody asks for here. It does without.
    absent = "rfc3987_syntax" not in sys.modules and sys.modules.setdefault("rfc3987_syntax", None) is None  # type: ignore[arg-type]
    try:
        import jsonschema
        import referencing
    finally:
        if absent:
            del sys.modules["rfc3987_syntax"]
    return jsonschema, referencing
