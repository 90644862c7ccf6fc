"""A result against the schema its tool promised: said in a warning, never held against the result.

Shown, not taught. It works only where the package `jsonschema` can be imported.
https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema
"""

from typing import Any


def output_problem(schema: Any, structured: Any) -> str | None:
    """What is wrong with `structured` by the tool's outputSchema, as a sentence, or None."""
    if not isinstance(schema, dict):
        return None
    if structured is None:
        return "it promises structured content and gave none"
    try:
        import jsonschema
        import referencing
    except ImportError:
        return None
    try:
        validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        # An empty registry: a schema must not make us fetch what it points to.
        found = next(validator(schema, registry=referencing.Registry()).iter_errors(structured), None)
    except Exception as problem:  # a schema is a stranger's: whatever it breaks, the result stands
        return f"its output schema cannot be used ({type(problem).__name__})"
    return None if found is None else f"its structured content breaks its schema: {found.message[:200]}"
