"""What a reader should be warned of in a tool: markup, characters that hide, names that were changed.

Lessons 5 and 12 look at these. A finding is `{"kind": …}` (its words are in `text/toolbox.json`);
nothing here decides what a description *means*, only what its characters are.
"""

import re
import unicodedata
from typing import Any

from ._toolbox_tokens import JSON, mapping

MARKUP = re.compile(
    r"<[A-Za-z/!?][^<>]{0,500}>|<(?:script|img|svg|iframe|style)\b|!?\[[^\]\n]{0,200}\]\([^)\n]{1,500}\)",
    re.I,
)
BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")
NAME_LIMIT = 64


def text_findings(text: str) -> list[JSON]:
    """The findings in one text (a name, a description, the words inside a schema)."""
    found = []
    if MARKUP.search(text):
        found.append({"kind": "markup"})
    if BIDI.search(text):
        found.append({"kind": "bidi"})
    kinds = {_hidden_kind(character) for character in set(text)}
    if "hidden" in kinds:
        found.append({"kind": "hidden"})
    if "control" in kinds:
        found.append({"kind": "control"})
    if "surrogate" in kinds:
        found.append({"kind": "broken"})
    return found


def _hidden_kind(character: str) -> str:
    """How a character hides: "hidden" (no width), "control", "surrogate" (half a character), or ""."""
    if character < "\x7f":
        return "control" if character < " " and character not in "\n\r\t" else ""
    category = unicodedata.category(character)
    if category == "Cf" and not BIDI.match(character):
        return "hidden"
    if 0xE0100 <= ord(character) <= 0xE01EF or character in "\u115f\u1160\u3164\uffa0\u2800":
        return "hidden"
    return {"Cc": "control", "Cs": "surrogate"}.get(category, "")


def schema_words(schema: Any, depth: int = 24) -> str:
    """All texts inside a schema, keys too: what hides in a parameter's description reaches the model."""
    if isinstance(schema, str):
        return schema
    if depth == 0:
        return ""
    if isinstance(schema, dict):
        return "\n".join(f"{key}\n{schema_words(value, depth - 1)}" for key, value in schema.items())
    if isinstance(schema, list):
        return "\n".join(schema_words(value, depth - 1) for value in schema)
    return ""


def name_findings(name: str, server: str, tool: str) -> list[JSON]:
    """How the name that the model gets differs from `<server>__<tool>`: cut, cleaned, told apart."""
    expected = f"{server}__{tool}" if server else tool
    if name == expected:
        return []
    if len(expected) > NAME_LIMIT:
        return [{"kind": "name-cut", "was": len(expected), "most": NAME_LIMIT}]
    if NOT_ALLOWED.search(expected):
        return [{"kind": "name-cleaned"}]
    return [{"kind": "name-apart"}]


def tool_findings(entry: JSON) -> list[JSON]:
    """The findings in a tool's own texts, each kind once; `entry` as advertised or as the model gets it."""
    inner = mapping(entry.get("function")) or entry
    described = inner.get("description")
    schema = inner.get("parameters", inner.get("inputSchema"))
    words = [
        str(inner.get("name") or ""),
        str(described or ""),
        str(inner.get("title") or ""),
        schema_words(schema),
    ]
    found = text_findings("\n".join(words))
    if not (isinstance(described, str) and described.strip()):
        found.append({"kind": "bare"})
    return found
