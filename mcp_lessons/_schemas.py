"""Schemas that a chat-completions endpoint accepts, made from whatever a server advertises.

Shown in lesson 5. One schema that an endpoint refuses spoils every request that carries it. So the
root is an object with `properties`, references are replaced by what they name (some endpoints lose
what they point to), and a keyword with a malformed value is left out. What the server sent is never
changed, and a reference to another address is never fetched.

    >>> repair({"type": "object"})
    ({'type': 'object', 'properties': {}}, [])

JSON Schema 2020-12: https://json-schema.org/draft/2020-12/json-schema-validation
"""

import math
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

DEPTHS = (32, 8, 4)
"""Levels kept. What is still too large at 32 levels is tried with fewer."""

MOST_VALUES, MOST_CHARACTERS = 5_000, 100_000
"""What one schema may hold; through references a small one can grow without end."""

_TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
_BY_NAME = {"properties", "patternProperties", "dependentSchemas"}
_OPTIONS = {"anyOf", "oneOf", "allOf", "prefixItems"}
_CLOSING = {"additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems"}
_INNER = {"items", "contains", "propertyNames", "not", "if", "then", "else", "contentSchema"} | _CLOSING


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
    """The root of a tool's schema: an object, its choices folded into one list of properties."""
    choices = [choice for key in ("allOf", "anyOf", "oneOf") for choice in schema.pop(key, [])]
    for key in ("not", "enum", "const", "if", "then", "else"):
        schema.pop(key, None)
    properties = {}
    for part in (*choices, schema):
        properties.update(part.get("properties", {}))
    return {**schema, "type": "object", "properties": properties}


class _TooLargeError(Exception):
    pass


class _Walk:
    """One walk over one schema: the copy it makes, and notes of what it left out."""

    def __init__(self, root: dict[str, Any], deepest: int) -> None:
        self.root, self.deepest = root, deepest
        self.values, self.characters = 0, 0
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
            return self.reference(value, inside, depth)
        copy = {}
        for key, inner in value.items():
            if key.startswith("$") or key == "definitions":
                continue
            if not _FITS.get(key, _anything)(inner):
                self.notes.append(f"the keyword {utf8(key)[:40]!r} of its schema is malformed: left out")
                continue
            copy[self.text(key)] = self.keyword(key, inner, inside, depth + 1)
        return copy | ({"items": {}} if copy.get("type") == "array" and "items" not in copy else {})

    def keyword(self, key: str, value: Any, inside: tuple[str, ...], depth: int) -> Any:
        if key in _BY_NAME:
            return {self.text(name): self.schema(inner, inside, depth) for name, inner in value.items()}
        if key in _OPTIONS:
            return [self.schema(inner, inside, depth) for inner in value]
        if key == "items" and isinstance(value, list):
            return {"anyOf": [self.schema(inner, inside, depth) for inner in value]}
        if key in _INNER and not (key in _CLOSING and isinstance(value, bool)):
            return self.schema(value, inside, depth)
        return self.plain(value, depth)

    def reference(self, value: dict[str, Any], inside: tuple[str, ...], depth: int) -> dict[str, Any]:
        ref = value["$ref"]
        beside = {key: inner for key, inner in value.items() if key != "$ref"}
        target = None if ref in inside else _named(self.root, ref)
        if isinstance(target, dict):
            self.count(len(target))
            return self.schema({**target, **beside}, (*inside, ref), depth + 1)
        why = "refers to itself" if ref in inside else "names nothing in this schema"
        self.notes.append(f"the reference {utf8(ref)[:80]!r} {why}: there, anything goes")
        return self.schema(beside, inside, depth + 1)

    def plain(self, value: Any, depth: int) -> Any:
        """A copy of a value that is no schema, such as an enum or a default."""
        self.count(1)
        if isinstance(value, dict | list) and depth > self.deepest:
            return None
        if isinstance(value, dict):
            return {self.text(key): self.plain(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.plain(inner, depth + 1) for inner in value]
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return self.text(value) if isinstance(value, str) else value

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
        if isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            found = found.get(step) if isinstance(found, dict) else None
    return found


def _anything(value: Any) -> bool:
    return True


def _schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_schema, value))


def _strings(value: Any) -> bool:
    return (
        isinstance(value, list) and all(isinstance(x, str) for x in value) and len(set(value)) == len(value)
    )


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _type(value: Any) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    return _strings(value) and bool(value) and _TYPES.issuperset(value)


def _checks() -> dict[str, Callable[[Any], bool]]:
    """keyword -> whether a value fits it."""
    kinds: list[tuple[Callable[[Any], bool], str]] = [
        (_schema, " ".join(_INNER)),
        (_schemas, " ".join(_OPTIONS)),
        (lambda v: isinstance(v, dict) and all(map(_schema, v.values())), " ".join(_BY_NAME)),
        (_number, "minimum maximum exclusiveMinimum exclusiveMaximum"),
        (lambda v: _number(v) and v > 0, "multipleOf"),
        (_whole, "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains"),
        (_strings, "required"),
        (lambda v: isinstance(v, dict) and all(map(_strings, v.values())), "dependentRequired"),
        (
            lambda v: isinstance(v, dict) and all(_schema(x) or _strings(x) for x in v.values()),
            "dependencies",
        ),
        (lambda v: isinstance(v, list), "examples"),
        (lambda v: isinstance(v, list) and bool(v), "enum"),
        (lambda v: isinstance(v, str), "title description pattern format contentEncoding contentMediaType"),
        (lambda v: isinstance(v, bool), "uniqueItems readOnly writeOnly deprecated"),
        (_type, "type"),
        (lambda v: _schema(v) or _schemas(v), "items"),
    ]
    return {keyword: fits for fits, keywords in kinds for keyword in keywords.split()}


_FITS = _checks()
