"""Schemas that a chat-completions endpoint accepts, made from whatever a server advertises.

Shown in lesson 5. One schema that an endpoint refuses spoils every request that carries it. So the
root is an object with `properties`, references are replaced by what they name (some endpoints lose
what they point to), and a keyword with a malformed value is left out. What the server sent is never
changed, and a reference to another address is never fetched.

    >>> repair({"type": "object"})
    ({'type': 'object', 'properties': {}}, [])

https://json-schema.org/draft/2020-12/json-schema-validation
"""

import re
from math import isfinite
from typing import Any
from urllib.parse import unquote

DEPTHS = (32, 8, 4)
"""Levels kept. What is still too large at 32 levels is tried with fewer."""
MOST_VALUES, MOST_CHARACTERS = 5_000, 100_000
"""What one schema may hold; through references a small one can grow without end."""

_TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
_KINDS = {
    keyword: kind
    for kind, keywords in {
        "schema": "contains propertyNames not if then else contentSchema",
        "schema or bool": "additionalProperties unevaluatedProperties unevaluatedItems additionalItems",
        "schema or list": "items",
        "schemas": "anyOf oneOf allOf prefixItems",
        "named schemas": "properties patternProperties dependentSchemas",
        "types": "type",
        "names": "required",
        "values": "enum",
        "list": "examples",
        "number": "minimum maximum exclusiveMinimum exclusiveMaximum",
        "size": "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
        "step": "multipleOf",
        "text": "title description pattern format contentEncoding contentMediaType",
        "bool": "uniqueItems readOnly writeOnly deprecated",
        "left out": "definitions dependencies dependentRequired",
    }.items()
    for keyword in keywords.split()
}


def repair(schema: Any) -> tuple[dict[str, Any], list[str]]:
    """`schema` as an endpoint takes it, and what had to be left out, a sentence each."""
    if not isinstance(schema, dict):
        return _as_object({}), [f"its schema is no JSON object but {type(schema).__name__}: no parameters"]
    for depth in DEPTHS:
        walk = _Walk(schema, depth)
        try:
            return _as_object(walk.schema(schema, ("#",), 0)), list(dict.fromkeys(walk.notes))
        except _TooLargeError:
            continue
    return _as_object({}), ["its schema is too large: no parameters"]


def utf8(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair, which UTF-8 has no bytes for."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def _as_object(schema: dict[str, Any]) -> dict[str, Any]:
    """The root of a tool's schema. OpenAI refuses choices there: they become one list of properties."""
    parts = [part for key in ("allOf", "anyOf", "oneOf") for part in schema.pop(key, [])]
    for key in ("not", "enum", "const"):
        schema.pop(key, None)
    properties: dict[str, Any] = {}
    for part in (*parts, schema):
        properties |= part.get("properties", {})
    return {**schema, "type": "object", "properties": properties}


class _TooLargeError(Exception):
    pass


class _Walk:
    """One walk over a schema: the copy it makes, and notes of what it left out."""

    def __init__(self, root: dict[str, Any], deepest: int) -> None:
        self.root, self.deepest, self.values, self.characters = root, deepest, 0, 0
        self.notes: list[str] = []

    def schema(self, value: Any, inside: tuple[str, ...], depth: int) -> dict[str, Any]:
        """A copy of the schema `value`; `inside` names the references that led here."""
        self.count(1)
        if not isinstance(value, dict):
            return {"not": {}} if value is False else {}
        if depth > self.deepest:
            self.notes.append(f"its schema is more than {self.deepest} levels deep: below, anything goes")
            return {}
        if isinstance(value.get("$ref"), str):
            return self.schema(self.target(value, inside), (*inside, value["$ref"]), depth + 1)
        copy = {}
        for key, inner in value.items():
            kind = "left out" if key.startswith("$") else _KINDS.get(key, "any")
            if _fits(kind, inner):
                copy[self.text(key)] = self.keyword(kind, inner, inside, depth + 1)
            elif kind != "left out":
                self.notes.append(f"the keyword {utf8(key)[:40]!r} of its schema is malformed: left out")
        return copy | ({"items": {}} if copy.get("type") == "array" and "items" not in copy else {})

    def keyword(self, kind: str, value: Any, inside: tuple[str, ...], depth: int) -> Any:
        if kind == "named schemas":
            return {self.text(name): self.schema(inner, inside, depth) for name, inner in value.items()}
        if kind == "schemas":
            return [self.schema(inner, inside, depth) for inner in value]
        if kind == "schema or list" and isinstance(value, list):  # as in drafts before 2020-12
            return {"anyOf": [self.schema(inner, inside, depth) for inner in value]}
        if kind == "names":
            return list(dict.fromkeys(map(self.text, value)))
        if kind.startswith("schema") and not (kind == "schema or bool" and isinstance(value, bool)):
            return self.schema(value, inside, depth)
        return self.plain(value, depth)

    def target(self, value: dict[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
        """What the `$ref` in `value` names, with what stands beside it in `value`."""
        ref = value["$ref"]
        found = None if ref in inside else _named(self.root, ref)
        if not isinstance(found, dict):
            why = "refers to itself" if ref in inside else "names nothing in this schema"
            self.notes.append(f"the reference {utf8(ref)[:80]!r} {why}: there, anything goes")
            found = {}
        self.count(len(found))
        return {**found, **{key: inner for key, inner in value.items() if key != "$ref"}}

    def plain(self, value: Any, depth: int) -> Any:
        """A copy of a value that is no schema, such as an enum or a default."""
        self.count(1)
        if isinstance(value, dict) and depth <= self.deepest:
            return {self.text(key): self.plain(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list) and depth <= self.deepest:
            return [self.plain(inner, depth + 1) for inner in value]
        if isinstance(value, str):
            return self.text(value)
        return value if isinstance(value, bool) or _finite(value) else None

    def text(self, value: str) -> str:
        self.characters += len(value)
        self.count(0)
        return utf8(value)

    def count(self, values: int) -> None:
        self.values += values
        if self.values > MOST_VALUES or self.characters > MOST_CHARACTERS:
            raise _TooLargeError


def _named(root: dict[str, Any], ref: str) -> Any:
    """What a reference such as "#/$defs/Place" names, or None; another address names nothing."""
    found: Any = root if ref.startswith("#/") else None
    for step in ref.split("/")[1:]:
        step = unquote(step).replace("~1", "/").replace("~0", "~")
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _fits(kind: str, value: Any) -> bool:
    """Whether a keyword of this kind may have this value."""
    match kind, value:
        case ("any", _) | ("schema" | "schema or bool" | "schema or list", dict() | bool()):
            return True
        case ("named schemas", dict()) | ("text", str()) | ("bool", bool()) | ("list", list()):
            return True
        case ("schema or list" | "schemas" | "values", [_, *_]):
            return True
        case ("number" | "size" | "step", int() | float()) if _finite(value):
            return kind == "number" or (value > 0 if kind == "step" else value >= 0 and value == int(value))
        case ("types", str()):
            return value in _TYPES
        case ("types", [_, *_]):
            words = {word for word in value if isinstance(word, str)}
            return len(words) == len(value) and words <= _TYPES
        case ("names", list()):
            return all(isinstance(word, str) for word in value)
    return False


def _finite(value: Any) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
