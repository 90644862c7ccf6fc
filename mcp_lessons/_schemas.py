"""Schemas that a chat-completions endpoint accepts, made from whatever a server advertises.

Shown in lesson 5. One schema that an endpoint refuses spoils every request that carries it. So the
root is an object with `properties`, references are replaced by what they name (some endpoints lose
what they point to), and of the keywords those stay that help a model and are well formed: the server
checks the arguments anyway. `pattern` does not stay: what is a regular expression to one endpoint is an
error to another. A reference to another address is never fetched.

    >>> repair({"type": "object"})
    ({'type': 'object', 'properties': {}}, [])

https://json-schema.org/draft/2020-12/json-schema-validation
"""

import re
from math import inf
from typing import Any
from urllib.parse import unquote

DEPTHS = (32, 8, 4)  # levels kept: what is too large with 32 levels is tried with fewer
LARGEST_SIZE = 2_000  # llama.cpp refuses a text or a list that must be longer
LARGEST, LEAST = 100_000, 20  # characters of a schema, and those that each value in it counts at least

_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_KINDS = {
    "schema": "items",
    "schema or bool": "additionalProperties",
    "schemas": "anyOf oneOf allOf",
    "named schemas": "properties",
    "types": "type",
    "names": "required",
    "values": "enum examples",
    "value": "default const",
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum",
    "size": "minLength maxLength minItems maxItems",
    "text": "title description format",
}
_KIND_OF = {keyword: kind for kind, keywords in _KINDS.items() for keyword in keywords.split()}
_MALFORMED = object()
_CHOICES = (("allOf",), ("anyOf", "oneOf"))


def repair(schema: Any) -> tuple[dict[str, Any], list[str]]:
    """`schema` as an endpoint takes it, and what had to be left out, a sentence each."""
    if not isinstance(schema, dict):
        return _as_object({}), [f"its schema is no JSON object but {type(schema).__name__}: no parameters"]
    for depth in DEPTHS:
        walk = _Walk(schema, depth)
        try:
            return _as_object(walk.schema(schema, ("#",), 0)), list(dict.fromkeys(walk.notes))
        except OverflowError:
            continue
    return _as_object({}), ["its schema is too large: no parameters"]


def utf8(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair, which UTF-8 has no bytes for."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def _as_object(schema: dict[str, Any]) -> dict[str, Any]:
    """The root of a tool's schema. OpenAI refuses choices there: they become one list of properties, in which
    a name that means several things may be any of them."""
    every, some = ([_as_object(part) for key in keys for part in schema.pop(key, [])] for keys in _CHOICES)
    names: dict[str, list[Any]] = {}
    for part in (*every, *some, schema):
        for name, inner in part.get("properties", {}).items():
            names.setdefault(name, []).extend([] if inner in names.get(name, []) else [inner])
    properties = {name: inner[0] if len(inner) == 1 else {"anyOf": inner} for name, inner in names.items()}
    kept = {key: value for key, value in schema.items() if key not in ("enum", "const")}
    required = list(dict.fromkeys(name for part in (schema, *every) for name in part.get("required", [])))
    kept |= {"required": required} if required else {}
    return {**kept, "type": "object", "properties": properties}


class _Walk:
    """One walk over a schema: the copy it makes, and notes of what it left out."""

    def __init__(self, root: dict[str, Any], deepest: int) -> None:
        self.root, self.deepest, self.left = root, deepest, LARGEST
        self.notes: list[str] = []

    def schema(self, value: Any, inside: tuple[str, ...], depth: int) -> dict[str, Any]:
        """A copy of the schema `value`; `inside` names the references that led here."""
        self.text("")
        if depth > self.deepest:
            self.notes.append(f"its schema is more than {self.deepest} levels deep: below, anything goes")
        if depth > self.deepest or not isinstance(value, dict):
            return {}
        if isinstance(value.get("$ref"), str):
            return self.schema(self.target(value, inside), (*inside, value["$ref"]), depth + 1)
        copy: dict[str, Any] = {}
        for key in [key for key in value if key in _KIND_OF]:
            copy[key] = self.keyword(_KIND_OF[key], value[key], inside, depth + 1)
            if copy[key] is _MALFORMED:
                del copy[key]
                self.notes.append(
                    f"the keyword {key!r} of its schema is malformed or out of bounds: left out"
                )
        if "array" in copy.get("type", ""):
            copy.setdefault("items", {})
        return copy

    def keyword(self, kind: str, value: Any, inside: tuple[str, ...], depth: int) -> Any:
        """A copy of the value of a keyword of this kind, or _MALFORMED."""
        match kind, value:
            case ("schema", dict() | bool()) | ("schema or bool", dict()):
                return self.schema(value, inside, depth)
            case ("schema", [_, *_]):  # a list of items, as in drafts before 2020-12
                return {"anyOf": [self.schema(inner, inside, depth) for inner in value]}
            case ("schemas", [_, *_]):
                return [self.schema(inner, inside, depth) for inner in value]
            case ("named schemas", dict()):
                return {self.text(name): self.schema(inner, inside, depth) for name, inner in value.items()}
            case ("types", [_, *_]) if all(word in _TYPES for word in value):
                return list(dict.fromkeys(value))
            case ("names", list()) if all(isinstance(word, str) for word in value):
                return list(dict.fromkeys(map(self.text, value)))
            case ("value", _) | ("values", [_, *_]) | ("text", str()):
                return self.plain(value, 0)
            case ("schema or bool", bool()):
                return value
            case ("types", _) if value in _TYPES:
                return value
            case ("number", int() | float()) if abs(value) < inf and not isinstance(value, bool):
                return value
            case ("size", int()) if 0 <= value < LARGEST_SIZE and not isinstance(value, bool):
                return value
        return _MALFORMED

    def target(self, value: dict[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
        """What the `$ref` in `value` names, with what stands beside it in `value`."""
        ref = value["$ref"]
        found = None if ref in inside else _named(self.root, ref)
        if not isinstance(found, dict):
            why = "refers to itself" if ref in inside else "names nothing in this schema"
            self.notes.append(f"the reference {utf8(ref)[:80]!r} {why}: there, anything goes")
            found = {}
        return {**found, **{key: inner for key, inner in value.items() if key != "$ref"}}

    def plain(self, value: Any, depth: int) -> Any:
        """A copy of a value that is no schema, such as a default: what JSON cannot hold is null."""
        if isinstance(value, dict) and depth <= self.deepest:
            return {self.text(key): self.plain(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list) and depth <= self.deepest:
            return [self.plain(inner, depth + 1) for inner in value]
        text = self.text(value if isinstance(value, str) else "")
        is_number = isinstance(value, int | float) and abs(value) < inf
        return value if is_number else text if isinstance(value, str) else None

    def text(self, value: str) -> str:
        """A copy of a text, counted: through references a small schema can grow without end."""
        self.left -= len(value) + LEAST
        if self.left < 0:
            raise OverflowError
        return utf8(value)


def _named(root: dict[str, Any], ref: str) -> Any:
    """What a reference such as "#/$defs/Place" names, or None; another address names nothing."""
    found: Any = root if ref.startswith("#/") else None
    for step in ref.split("/")[1:]:
        step = unquote(step).replace("~1", "/").replace("~0", "~")
        found = {str(n): inner for n, inner in enumerate(found)} if isinstance(found, list) else found
        found = found.get(step) if isinstance(found, dict) else None
    return found
