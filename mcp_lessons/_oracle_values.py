"""Where the Oracle finds arguments: values that stand in the question, and schemas that want them."""

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

MISSING: Any = object()
"""No value was found."""

COMMON = re.compile(
    r"(?i)(a|about|all|am|an|and|any|are|as|at|be|but|by|can|could|did|do|does|for|from|had|has|have|hello|hi|how|i"
    r"|if|in|into|is|it|its|let|me|my|no|not|of|on|one|or|our|out|please|should|so|some|tell|than|thanks?|that|the"
    r"|their|them|then|there|these|they|this|those|to|us|want|was|we|were|what|when|where|which|who|why|will|with"
    r"|would|you|your)"
)
START = frozenset({"from", "source", "origin", "start"})
END = frozenset({"to", "target", "destination", "end"})
SEPARATOR = re.compile(r"[?!;\n]+|\.(?=\s|$)|,?\s+(?:and|then|but)\s+|,\s+", re.IGNORECASE)
VALUE = re.compile(
    r"""(?<!\w)(?P<quote>["'`])(?P<text>.*?)(?P=quote)(?!\w)
    | (?P<date>\b\d{4}-\d\d-\d\d\S*\b)
    | (?P<time>\b\d{1,2}:\d\d(?::\d\d)?\b)
    | (?P<token>[\w.~:\\/@*+-]*[/\\@][\w.~:\\/@*+?=&%\#-]*[\w/*] | \w+(?:[._-]\w+)+(?<!\d))
    | (?P<number>(?<![\w.-])-?\d+(?:\.\d+)?\b)
    | (?P<name>[^\W\d_a-z]\w*\b(?![/\\:@._-]+\w)(?:\s[^\W\d_a-z]\w*\b(?![/\\:@._-]+\w))*)""",
    re.VERBOSE,
)
QUESTION = re.compile(r"(?i)\s*(what|how|who|where|when|which|why|will|is|are|can|could|do|does|should)\b")
WORDLIKE = ("name", "token", "choice")
HINTS = (  # the words in a parameter's name, and the kinds of value that it takes
    (frozenset({"timezon", "zon", "path", "fil", "directory", "folder", "url", "uri"}), {"token", "name"}),
    (frozenset({"tim", "clock"}), {"time"}),
    (frozenset({"dat"}), {"date"}),
)


@dataclass(frozen=True)
class Value:
    """A value that stands in a text, from `start` to `end`; `cues` are the words between it and the
    value before: they say what it is for ("of type", "to"). kind: a group of VALUE, "json", "choice"."""

    value: Any
    kind: str
    start: int
    end: int
    cues: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Clause:
    """A part of the question, its values, and its telling words."""

    text: str
    values: list[Value]
    wanted: frozenset[str]

    @classmethod
    def of(cls, text: str, choices: list[Any]) -> "Clause":
        values = values_in(text, choices)
        plain = [v for v in values if v.kind not in WORDLIKE or re.search(r"[/\\@]", v.value)]
        return cls(text, values, words(without(plain, text)))

    def backwards(self) -> "Clause":
        """The clause as one looks back to it: first where it leads to, then what was mentioned last."""
        values = sorted(self.values, key=lambda value: (not value.cues & END, -value.start))
        return replace(self, text="", values=values)


@dataclass(frozen=True)
class Schema:
    """A JSON schema cut down to what the rules look at, whatever it was."""

    type: str | None = None
    enum: list[Any] = field(default_factory=list)
    default: Any = MISSING
    properties: dict[str, "Schema"] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    items: "Schema | None" = None

    @classmethod
    def of(cls, raw: Any, depth: int = 5) -> "Schema":
        raw = raw if isinstance(raw, dict) and depth else {}
        branches = [branch for branch in listed(raw.get("anyOf")) if isinstance(branch, dict)]
        raw = next((branch for branch in branches if branch.get("type") != "null"), {}) | raw
        kinds = [kind for kind in [raw.get("type"), *listed(raw.get("type"))] if isinstance(kind, str)]
        properties = raw.get("properties") if isinstance(raw.get("properties"), dict) else {}
        return cls(
            next((kind for kind in kinds if kind != "null"), None),
            listed(raw.get("enum")),
            raw.get("const", raw.get("default", MISSING)),
            {name: cls.of(rule, depth - 1) for name, rule in properties.items()},
            [name for name in listed(raw.get("required")) if isinstance(name, str) and name in properties],
            cls.of(raw.get("items"), depth - 1) if depth else None,
        )


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def words(text: str) -> frozenset[str]:
    """The telling words of a text or a name, cut to their stems: "listFiles" -> {"list", "fil"}."""
    split = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())
    return frozenset(stem(word) for word in split if not COMMON.fullmatch(word))


def stem(word: str) -> str:
    word = re.sub(r"(?<=..)ies$", "y", word)
    return re.sub(r"(?<=...)(ing|ed|(?<!s)s)$", "", word).rstrip("e")


def clauses(text: str, choices: list[Any], known: frozenset[str]) -> list[Clause]:
    """The parts of `text`; one that neither asks anything nor has a word that the tools know (`known`),
    such as "and Europe/Paris", belongs to its neighbour."""
    spans: list[tuple[int, int]] = []
    cuts = [cut.span() for cut in SEPARATOR.finditer(without(values_in(text, choices), text))]
    for start, end in zip(
        [0, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(text)], strict=True
    ):
        neighbours = [text[slice(*spans[-1])], text[start:end]] if spans else []
        if any(not words(part) & known and not QUESTION.match(part) for part in neighbours):
            spans[-1] = (spans[-1][0], end)
        elif text[start:end].strip():
            spans.append((start, end))
    return [Clause.of(text[start:end], choices) for start, end in spans]


def without(values: list[Value], text: str) -> str:
    """`text` with a stroke of underscores, as long, where each value stands."""
    for value in values:
        text = text[: value.start] + "_" * (value.end - value.start) + text[value.end :]
    return text


def values_in(text: str, choices: list[Any]) -> list[Value]:
    """Every value that stands in `text`, in its order; `choices` are the values of the tools' enums."""
    found: list[Value] = []

    def keep(value: Any, kind: str, start: int, end: int) -> None:
        if not any(start < other.end and other.start < end for other in found):
            found.append(Value(value, kind, start, end))

    for match in re.finditer(r"[\[{]", text):
        try:
            value, end = json.JSONDecoder().raw_decode(text, match.start())
            keep(value, "json", match.start(), end)
        except (ValueError, RecursionError):
            continue
    for choice in sorted(
        {str(choice) for choice in choices if str(choice).strip()}, key=lambda c: (-len(c), c)
    ):
        for match in re.finditer(rf"(?<!\w){re.escape(choice)}(?!\w)", text, re.IGNORECASE):
            keep(choice, "choice", *match.span())
    for match in VALUE.finditer(text):
        kind = match.lastgroup if match.lastgroup != "quote" else "text"
        value, start = match[kind], match.start()
        if kind == "name" and not re.search(r"[^.?!\s]\s*$", text[:start]):  # a sentence opens with a capital
            value = value.partition(" ")[2]
            start = match.end() - len(value)
        if kind == "number":
            value = float(value) if "." in value else int(value)
        if kind != "name" or (value and not COMMON.fullmatch(value)):
            keep(value, kind, start, match.end())
    return with_cues(text, sorted(found, key=lambda value: value.start)[:50])


def with_cues(text: str, values: list[Value]) -> list[Value]:
    ends = [0, *(value.end for value in values)]
    between = [text[end : value.start].lower() for end, value in zip(ends, values, strict=False)]
    said = [frozenset(re.findall(r"[^\W_]+", gap)) & (START | END) | words(gap) for gap in between]
    return [replace(value, cues=cues) for value, cues in zip(values, said, strict=True)]


def find(name: str, rule: Schema, needed: bool, clause: Clause, used: list[Value]) -> Any:
    """A value for one parameter in `clause`, which is then added to `used`; else MISSING."""
    ranked = [(fitness(name, rule, value), value) for value in clause.values if value not in used]
    ranked = [(fit, value) for fit, value in ranked if fit >= (0 if needed or rule.enum else 3)]
    if ranked:
        value = max(ranked, key=lambda entry: entry[0])[1]
        used.append(value)
        return as_wanted(value.value, rule)
    if rule.type == "boolean":
        said = words(name) <= clause.wanted
        return said if said or (needed and rule.default is MISSING) else MISSING
    if needed and rule.type == "object":
        inner = {
            key: find(key, its, key in rule.required, clause, used) for key, its in rule.properties.items()
        }
        found = {key: value for key, value in inner.items() if value is not MISSING}
        return found if found and set(rule.required) <= set(found) else MISSING
    if needed and rule.type == "array" and rule.items:
        collected = []
        while (value := find(name, rule.items, True, replace(clause, text=""), used)) is not MISSING:
            collected.append(value)
        return collected or MISSING
    free = needed and rule.default is MISSING and kinds_for(name, rule) is None
    return rest_of(clause.text) if free else MISSING


def kinds_for(name: str, rule: Schema) -> set[str] | None:
    """The kinds of value that a parameter takes; None: any text."""
    by_type = {
        "integer": {"number"},
        "number": {"number"},
        "array": {"json"},
        "object": {"json"},
        "boolean": set(),
    }
    hinted = next((kinds for hints, kinds in HINTS if words(name) & hints), None)
    return {"choice"} if rule.enum else by_type.get(rule.type or "", hinted)


def fitness(name: str, rule: Schema, value: Value) -> float:
    """How well a value fits a parameter: negative for not at all, 3 and more when its cues name it."""
    kinds = kinds_for(name, rule)
    quoted_token = value.kind == "text" and re.search(r"[/\\]|^\w+\.\w+$", value.value)
    if kinds is not None and value.kind not in kinds and not (quoted_token and "token" in kinds):
        return -1
    if rule.enum and value.value not in map(str, rule.enum):
        return -1
    if value.kind == "json" and not isinstance(
        value.value, {"array": list, "object": dict}.get(rule.type or "", ())
    ):
        return -1
    if value.kind == "choice" and not rule.enum and value.value.islower():
        return -1
    named = words(name) | frozenset(re.split(r"[^a-z]+", name.lower())) & (START | END)
    for ours, theirs in ((START, END), (END, START)):
        if named & ours and value.cues & (ours | theirs):
            return 5 if value.cues & ours else -1
    return 3 * len(words(name) & value.cues) + {"text": 2.0, "name": 1.5, "token": 1.0}.get(value.kind, 0.5)


def as_wanted(value: Any, rule: Schema) -> Any:
    """The value in the schema's own type: the enum's spelling, a text."""
    if rule.enum:
        return next(choice for choice in rule.enum if str(choice) == str(value))
    return str(value) if rule.type == "string" and isinstance(value, int | float) else value


def rest_of(text: str) -> Any:
    """What follows the last "for", "about" or "say", or the first word: "Say good morning"."""
    match = re.search(r"(?i)^.*\b(?:for|about|say)\s+(.+)$|^\s*(?:please\s+)?\w+\s+(.+)$", text.strip())
    return (match[1] or match[2]).strip(" .?!") or MISSING if match else MISSING
