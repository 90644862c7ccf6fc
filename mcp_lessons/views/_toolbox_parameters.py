"""A tool's parameters, out of its input schema, as the rows of a table.

>>> rows({"properties": {"place": {"type": "string"}}, "required": ["place"]})
[{'name': 'place', 'type': 'string', 'required': True, 'notes': '', 'description': ''}]
"""

from typing import Any

from ._toolbox_tokens import JSON, entries, exact, mapping, text

DEPTH, LIMIT = 3, 200


def rows(schema: Any) -> list[JSON]:
    """One row a parameter: name, type, required, notes (enum, default, bounds), description.

    The properties of an object inside follow it as `outer.inner`, three levels deep.
    """
    return _rows(mapping(schema), mapping(schema), "", DEPTH)[:LIMIT]


def _rows(schema: JSON, root: JSON, prefix: str, depth: int) -> list[JSON]:
    required = [name for name in entries(schema.get("required")) if isinstance(name, str)]
    found = []
    for name, given in list(mapping(schema.get("properties")).items())[:LIMIT]:
        part = _followed(given, root)
        found.append(
            {
                "name": _short(prefix + name),
                "type": _short(kind(part, root)),
                "required": name in required,
                "notes": _short(notes(part)),
                "description": text(mapping(given).get("description") or part.get("description"))[:2000],
            }
        )
        if depth > 1:
            inner = _followed(part.get("items"), root) if part.get("type") == "array" else part
            dots = f"{prefix}{name}[]." if part.get("type") == "array" else f"{prefix}{name}."
            found += _rows(inner, root, dots, depth - 1)
    return found


def kind(schema: Any, root: JSON | None = None, depth: int = 4) -> str:
    """The type in words: "string", "array of integer", "string or null"."""
    part = _followed(schema, root or {})
    if depth == 0:
        return "…"
    if "const" in part:
        return exact(part["const"])
    for word in ("anyOf", "oneOf"):
        if entries(part.get(word)):
            return " or ".join(dict.fromkeys(kind(item, root, depth - 1) for item in part[word][:12]))
    named = part.get("type")
    if isinstance(named, list):
        return " or ".join(text(item) for item in named[:12])
    if named == "array" and "items" in part:
        return f"array of {kind(part['items'], root, depth - 1)}"
    if named is None and ("enum" in part or "properties" in part):
        return "one of" if "enum" in part else "object"
    return text(named) or "any"


def notes(schema: JSON) -> str:
    """What narrows the values: the enum, the default, the bounds, the format."""
    said = []
    if choices := entries(schema.get("enum")):
        more = f", … {len(choices) - 12} more" if len(choices) > 12 else ""
        said.append("one of " + ", ".join(text(choice) for choice in choices[:12]) + more)
    if "default" in schema:
        said.append(f"default {exact(schema['default'])}")
    for word, sign in (
        ("minimum", "≥"),
        ("exclusiveMinimum", ">"),
        ("maximum", "≤"),
        ("exclusiveMaximum", "<"),
    ):
        if word in schema:
            said.append(f"{sign} {text(schema[word])}")
    said += [
        f"{word} {text(schema[word])}"
        for word in ("format", "pattern", "minLength", "maxLength")
        if word in schema
    ]
    return "; ".join(said)


def _short(said: str) -> str:
    return said if len(said) <= 300 else f"{said[:300]}…"


def _followed(schema: Any, root: JSON) -> JSON:
    """`schema`, or what its `$ref` names inside the document (`#/$defs/Place`), a few steps at most."""
    part = mapping(schema)
    for _ in range(5):
        reference = part.get("$ref")
        if not (isinstance(reference, str) and (reference == "#" or reference.startswith("#/"))):
            break
        target: Any = root
        for step in reference[2:].split("/") if len(reference) > 1 else ():
            target = mapping(target).get(step.replace("~1", "/").replace("~0", "~"))
        if not isinstance(target, dict):
            return {"type": reference.rsplit("/", 1)[-1]}
        part = target
    return part
