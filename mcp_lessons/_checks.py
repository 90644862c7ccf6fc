"""What a caller hands in, checked before anything is sent; and a result against its tool's schema.

Shown, not taught. A result that breaks the schema which its tool promised is a warning, and is never
held against the result; that works only where the package `jsonschema` can be imported.
https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema
"""

import sys
import time
from collections.abc import Mapping
from functools import partial
from inspect import iscoroutinefunction
from types import ModuleType
from typing import Any

from .errors import brief
from .jsonrpc import Message

CHECK_SECONDS = 1.0
"""How long a result may be held against its schema."""
_PATTERNS = ("pattern", "patternProperties", "unevaluatedProperties")


def check_seconds(timeout: Any) -> float:
    """`timeout`, when it is a number of seconds; otherwise TypeError or ValueError, with a sentence."""
    rule = "a timeout is a number of seconds, as in timeout=2.5"
    _must(isinstance(timeout, int | float), rule, timeout)
    if timeout != timeout:
        raise ValueError(f"{rule}; this is not a number (nan)")
    return timeout


def check_message(message: Message) -> None:
    """TypeError, with a sentence, for a method, params, a tool's name or arguments of the wrong type."""
    method, params = message.get("method", "a reply"), message.get("params", {})
    _must(isinstance(method, str), "a method is a text, as in 'tools/list'", method)
    _must(isinstance(params, dict), "the params of a message are a dict", params)
    if method == "tools/call":
        name, arguments = params.get("name", ""), params.get("arguments", {})
        _must(isinstance(name, str), "a tool is called by its name, a text", name)
        _must(isinstance(arguments, dict), "arguments are a dict, one entry an argument", arguments)


def check_parts(transport: Any, traffic: Any) -> None:
    """TypeError, with a sentence, for what a client cannot work with."""
    is_transport = all(callable(getattr(transport, name, None)) for name in ("start", "send", "close"))
    example = 'Client(StdioTransport(["npx", "some-server"]))'
    _must(is_transport, f"a client needs a transport, as in {example}", transport)
    _must(hasattr(traffic, "recorder"), "a record is a Traffic, as in traffic=Traffic()", traffic)


def check_handlers(handlers: Any) -> None:
    """TypeError, with a sentence, for handlers that could never be called."""
    _must(isinstance(handlers, Mapping), 'handlers are a dict, as in {"roots/list": answer}', handlers)
    for method, handler in handlers.items():
        can_answer = isinstance(method, str) and callable(handler) and not iscoroutinefunction(handler)
        _must(can_answer, "a handler is a plain function of the params, under its method", {method: handler})


def _must(holds: bool, rule: str, value: Any) -> None:
    if not holds:
        raise TypeError(f"{rule}; this is {_shown(value)}")


def _shown(value: Any) -> str:
    try:
        return brief(repr(value), 80)
    except Exception:  # a repr may do anything
        return f"a {type(value).__name__}"


def output_problem(schema: Any, structured: Any) -> str | None:
    """What is wrong with `structured` by the tool's outputSchema, as a sentence, or None.

    A schema is a stranger's: its regular expressions, which might run for ever and cannot be stopped,
    are not tried, what it points to is not fetched, and all of it has a deadline.
    """
    if not isinstance(schema, dict):
        return None
    if structured is None:
        return "it promises structured content and gave none"
    try:
        jsonschema, referencing = _libraries()
    except ImportError:
        return None
    try:
        base = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        validator = jsonschema.validators.extend(base, _bounded(base.VALIDATORS))
        found = next(validator(schema, registry=referencing.Registry()).iter_errors(structured), None)
    except Exception as problem:  # whatever it breaks, the result stands
        return f"its output schema cannot be used ({type(problem).__name__})"
    return None if found is None else f"its structured content breaks its schema: {found.message[:200]}"


def _bounded(keywords: Mapping[str, Any]) -> dict[str, Any]:
    ends = time.monotonic() + CHECK_SECONDS

    def in_time(name: str, validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        if time.monotonic() > ends:
            raise TimeoutError
        if name in _PATTERNS or (name == "additionalProperties" and "patternProperties" in schema):
            return ()
        return keywords[name](validator, value, instance, schema)

    return {name: partial(in_time, name) for name in keywords}


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
