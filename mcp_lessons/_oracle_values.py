"""Where the Oracle finds arguments: values that stand in the question, and the schema that wants them."""

import json
import re
from dataclasses import dataclass
from typing import Any

MISSING: Any = object()
"""No value was found."""

STOP = frozenset(
    re.findall(
        r"\w+",
        """a about all am an and any are as at be been but by can could did do does for from had has have
        hello hi how i if in into is it its let me my no not of on one or our out please should so some
        tell than thank thanks that the their them then there these they this those to us want was we
        were what when where which who whose why will with would you your""",
    )
)
START = frozenset({"from", "source", "origin", "start"})
END = frozenset({"to", "target", "destination", "end"})

VALUE = re.compile(
    r"""
    "(?P<quoted>[^"]*)" | “(?P<curly>[^”]*)” | `(?P<ticked>[^`]*)` | (?<!\w)'(?P<single>[^']*)'(?!\w)
    | (?P<url>\w+://[^\s,"')]+)
    | (?P<email>[\w.+-]+@[\w-]+\.[\w.-]+\w)
    | (?P<date>\b\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?)
    | (?P<time>\b\d{1,2}:\d\d(?::\d\d)?\b)
    | (?P<path>[A-Za-z]:\\[^\s,"']+ | ~?/[\w.@+/-]*[\w/] | \.{1,2}/[\w.@+/-]*[\w/]
        | \w[\w.-]*(?:/[\w.@+-]*\w)+)
    | (?P<number>(?<![\w.-])-?\d+(?:\.\d+)?\b)
    | (?P<word>\w+(?:[._-]\w+)+)
    | (?P<name>[^\W\d_a-z]\w*(?:\s[^\W\d_a-z]\w*)*)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Value:
    """A value that stands in a text, from `start` to `end`. kind: "text" (quoted), "json", "choice" (one
    of an enum's), or a group of VALUE."""

    value: Any
    kind: str
    start: int
    end: int

    def overlaps(self, other: "Value") -> bool:
        return self.start < other.end and other.start < self.end


def simple(rule: Any, depth: int = 5) -> dict[str, Any]:
    """A schema with one plain type, and with whole `properties`, `required` and `items`."""
    rule = rule if isinstance(rule, dict) and depth else {}
    for branch in [*listed(rule.get("anyOf")), *listed(rule.get("oneOf"))]:
        if isinstance(branch, dict) and branch.get("type") != "null":
            rule = branch | rule
            break
    kind = rule.get("type")
    properties, required = rule.get("properties"), listed(rule.get("required"))
    inner = properties if isinstance(properties, dict) else {}
    return {
        "type": next((one for one in listed(kind) if one != "null"), kind if isinstance(kind, str) else None),
        "format": str(rule.get("format")),
        "properties": {name: simple(value, depth - 1) for name, value in inner.items()},
        "required": [name for name in required if isinstance(name, str) and name in inner],
        "items": simple(rule["items"], depth - 1) if "items" in rule else ANY,
        **({"enum": rule["enum"]} if listed(rule.get("enum")) else {}),
        **{key: rule[key] for key in ("default", "const") if key in rule},
    }


ANY: dict[str, Any] = {"type": None, "format": "", "properties": {}, "required": []}
ANY["items"] = ANY


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def words(text: str) -> frozenset[str]:
    """The telling words of a text or a name, cut to their stems: "listFiles" -> {"list", "fil"}."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return frozenset(stem(word) for word in re.findall(r"[^\W_]+", split.lower()) if word not in STOP)


def stem(word: str) -> str:
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) > 2:
            word = word[: len(word) - len(ending)] + instead
            break
    return word.rstrip("e")


def values_in(text: str, choices: list[Any]) -> list[Value]:
    """Every value that stands in `text`, in its order; `choices` are the values of the tools' enums."""
    found = json_in(text)
    for choice in sorted({str(choice) for choice in choices if str(choice).strip()}, key=len, reverse=True):
        for match in re.finditer(rf"(?<!\w){re.escape(choice)}(?!\w)", text, re.IGNORECASE):
            keep(found, Value(choice, "choice", match.start(), match.end()))
    for match in VALUE.finditer(text):
        kind, raw = match.lastgroup or "", match[match.lastgroup or 0]
        if kind in ("quoted", "curly", "ticked", "single"):
            kind, inner = "text", VALUE.fullmatch(raw)
            if inner and inner.lastgroup in ("url", "email", "date", "time", "path"):
                kind = inner.lastgroup
        first = not re.search(r"[^.?!\s]\s*$", text[: match.start()]) if kind == "name" else False
        if kind == "name" and (raw.lower() in STOP or first):
            continue  # a capital that opens a sentence is no name
        value = (float(raw) if "." in raw else int(raw)) if kind == "number" else raw
        keep(found, Value(value, kind, match.start(), match.end()))
    return sorted(found, key=lambda value: value.start)[:50]


def keep(found: list[Value], value: Value) -> None:
    if not any(value.overlaps(other) for other in found):
        found.append(value)


def json_in(text: str) -> list[Value]:
    """Every JSON object or array that stands in `text`."""
    found: list[Value] = []
    for match in re.finditer(r"[\[{]", text):
        try:
            value, end = json.JSONDecoder().raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        keep(found, Value(value, "json", match.start(), end))
    return found


def cues(text: str, values: list[Value], value: Value) -> frozenset[str]:
    """The words between a value and the one before it: they say what it is for ("of type", "to")."""
    begin = max((other.end for other in values if other.end <= value.start), default=0)
    between = re.findall(r"[^\W_]+", text[begin : value.start].lower())
    return frozenset(between) & (START | END) | words(" ".join(between))


def kinds_for(name: str, rule: dict[str, Any]) -> set[str] | None:
    """The kinds of value that a parameter takes; None: any that is text."""
    wanted, kind = words(name), rule["type"]
    if "enum" in rule:
        return {"choice"}
    if kind in ("integer", "number"):
        return {"number"}
    if kind in ("array", "object"):
        return {"json"}
    for kinds, hints in (
        ({"url"}, "url uri link href"),
        ({"email"}, "email mail"),
        ({"path", "name"}, "timezone zone"),
        ({"time"}, "time clock"),
        ({"date"}, "date"),
        ({"path", "word"}, "path file filename directory folder"),
    ):
        if wanted & words(hints) or rule["format"] in hints.split():
            return kinds
    return None


def find_value(
    name: str, rule: dict[str, Any], required: bool, text: str, values: list[Value], used: list[Value],
    words_too: bool = True,
) -> Any:  # fmt: skip
    """A value for one parameter among `values`, which is then added to `used`; else MISSING."""
    kinds, ranked = kinds_for(name, rule), []
    for value in values:
        fit = fitness(name, rule, kinds, value, cues(text, sorted(values, key=lambda v: v.start), value))
        if (
            fit is not None
            and (required or "enum" in rule or fit >= 3)
            and not any(map(value.overlaps, used))
        ):
            ranked.append((fit, value))
    if ranked:
        value = max(ranked, key=lambda entry: entry[0])[1]
        used.append(value)
        return as_wanted(value.value, rule)
    if rule["type"] in ("array", "object") and required:
        return nested(name, rule, text, values, used)
    if rule["type"] == "boolean":
        said = words(name) <= words(text)
        return said if required or said else MISSING
    if words_too and required and kinds is None and rule["type"] in ("string", None):
        return rest_of(text)
    return MISSING


def fitness(
    name: str, rule: dict[str, Any], kinds: set[str] | None, value: Value, said: frozenset[str]
) -> float | None:
    """How well a value fits a parameter, or None: 3 and more when the words before it name it."""
    if kinds is not None and value.kind not in kinds:
        return None
    if "enum" in rule and value.value not in map(str, rule["enum"]):
        return None
    if value.kind == "json" and not isinstance(value.value, list if rule["type"] == "array" else dict):
        return None
    if value.kind == "choice" and "enum" not in rule and value.value.islower():
        return None
    named = words(name) | frozenset(name.lower().replace("_", " ").split()) & (START | END)
    for ours, theirs in ((START, END), (END, START)):
        if named & ours and said & theirs and not said & ours:
            return None
        if named & ours and said & ours:
            return 5
    likely = {"text": 2.0, "name": 1.5, "word": 1.0, "path": 1.0}.get(value.kind, 0.5)
    return 3 * len(words(name) & said) + likely


def nested(name: str, rule: dict[str, Any], text: str, values: list[Value], used: list[Value]) -> Any:
    """An array or an object, filled from the values that stand in the question, in their order."""
    if rule["type"] == "object":
        found = {}
        for inner, its_rule in rule["properties"].items():
            needed = inner in rule["required"]
            value = find_value(inner, its_rule, needed, text, values, used, words_too=False)
            if value is MISSING and needed:
                return MISSING
            if value is not MISSING:
                found[inner] = value
        return found or MISSING
    items, collected = rule["items"], []
    while (value := find_value(name, items, True, text, values, used, words_too=False)) is not MISSING:
        collected.append(value)
        if items["type"] == "object":
            break
    return collected or MISSING


def as_wanted(value: Any, rule: dict[str, Any]) -> Any:
    """The value in the schema's own type: the enum's spelling, a whole number, a text."""
    if "enum" in rule:
        return next(choice for choice in rule["enum"] if str(choice) == str(value))
    if rule["type"] == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return str(value) if rule["type"] == "string" and isinstance(value, int | float) else value


def rest_of(text: str) -> Any:
    """What follows the last "for", "about" or "saying", or the first word: "Echo good morning"."""
    match = re.search(
        r"(?i)^.*\b(?:for|about|saying|say)\s+(.+)$|^\s*(?:please\s+)?\w+\s+(.+)$", text.strip()
    )
    return (match[1] or match[2]).strip(" .?!") or MISSING if match else MISSING
