"""A result against the schema its tool promised: said in a warning, never held against the result.

Shown, not taught. It works only where the package `jsonschema` can be imported.
https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema
"""

import sys
from types import ModuleType
from typing import Any


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
