"""Where the Oracle finds arguments: the values that stand in a question, and the schemas that want them."""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

MISSING: Any = object()
"""No value was found."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ASKING = _set("what how who where when which why will is are can could do does should")
COMMON = ASKING | _set(
    """a about all am an and any as at be but by did for from had has have hello hi i if in into it its let me
    my no not of on one or our out please so some tell than thank thanks that the their them then there these
    they this those to us want was we were with would you your"""
)
START, END = _set("from source origin start"), _set("to target destination end")
TOKEN = r"""
      (?P<json>[\[{])
    | (?P<choice>(?<!\w)(?i:%s)(?!\w))
    | (?<!\w)(?P<quote>["'`])(?P<text>.*?)(?P=quote)(?!\w)
    | (?P<date>\b\d{4}-\d\d-\d\d\S*\b)
    | (?P<time>\b\d{1,2}:\d\d(?::\d\d)?\b)
    | (?P<path>[\w.~:\\/@*+-]*[/\\@][\w.~:\\/@*+?=&%%\#-]*[\w/*] | \w+(?:[._-]\w+)+(?<!\d))
    | (?P<number>(?<![\w.-])-?\d+(?:\.\d+)?\b)
    | (?P<name>[^\W\d_a-z]\w*(?:\s[^\W\d_a-z]\w*)*)
    | (?P<cut>[?!;,.\n]|\b(?:and|then|but)\b)
    | (?P<word>\w+)
"""
ANY_PATH, ANY_NUMBER, ANY_JSON = _set("path name"), _set("number"), _set("json")
BY_NAME = dict.fromkeys(_set("timezon zon path fil directory folder url uri"), ANY_PATH)
BY_NAME |= {"tim": _set("time"), "clock": _set("time"), "dat": _set("date")}
BY_TYPE = {
    "integer": ANY_NUMBER,
    "number": ANY_NUMBER,
    "array": ANY_JSON,
    "object": ANY_JSON,
    "boolean": _set(""),
}


class Value(NamedTuple):
    """What stands in a text, from `start` to `end`. `kind` is a group of TOKEN; `cues` are the words
    that lead to it ("of type", "to")."""

    kind: str
    value: Any
    start: int
    end: int
    cues: frozenset[str] = frozenset()


class Clause(NamedTuple):
    """A part of the question: its words and values, and its telling words by themselves."""

    text: str
    tokens: list[Value]
    values: list[Value]
    wanted: frozenset[str]
    asks: bool

    @classmethod
    def of(cls, source: str, tokens: list[Value]) -> "Clause":
        values, said = [], ""
        for token in tokens:
            if token.kind == "word":
                said += f" {token.value.lower()}"
            else:
                values.append(token._replace(cues=words(said) | frozenset(said.split()) & (START | END)))
                said = ""
        wanted = words(" ".join(token.value for token in tokens if token.kind in ("word", "name", "choice")))
        text = source[tokens[0].start : tokens[-1].end]
        return cls(text, tokens, values, wanted, re.split(r"\W", text)[0].lower() in ASKING)


class Rule(NamedTuple):
    """A schema, whatever it was, cut down to what is looked at here. `kinds`: the kinds of value that it
    takes, None for any text."""

    name: str
    needed: bool
    type: str
    kinds: frozenset[str] | None
    enum: list[Any]
    default: Any
    inside: list["Rule"]
    items: "Rule | None"

    @classmethod
    def of(cls, name: str, raw: Any, needed: bool = True, depth: int = 5) -> "Rule":
        raw = raw if isinstance(raw, dict) and depth else {}
        branches = [branch for branch in _list(raw.get("anyOf")) if isinstance(branch, dict)]
        raw = next((branch for branch in branches if branch.get("type") != "null"), {}) | raw
        type = next(
            (one for one in ("string", *BY_TYPE) if one in (_list(raw.get("type")) or [raw.get("type")])), ""
        )
        kinds = next((BY_NAME[word] for word in sorted(words(name)) if word in BY_NAME), None)
        properties = raw["properties"].items() if isinstance(raw.get("properties"), dict) else ()
        inside = [
            cls.of(key, inner, key in _list(raw.get("required")), depth - 1) for key, inner in properties
        ]
        items = cls.of(name, raw["items"], True, depth - 1) if "items" in raw else None
        inside.sort(key=lambda rule: not rule.needed)
        enum, default = _list(raw.get("enum")), raw.get("default", MISSING)
        return cls(name, needed, type, BY_TYPE.get(type, kinds), enum, default, inside, items)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def words(text: str) -> frozenset[str]:
    """The telling words of a text or a name, cut to their stems: "listFiles" -> {"list", "fil"}."""
    split = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())
    stems = (re.sub(r"(?<=..)ies$", "y", word) for word in split if word not in COMMON)
    return frozenset(re.sub(r"(?<=...)(ing|ed|(?<!s)s)$", "", stem).rstrip("e") for stem in stems)


def tokens(text: str, choices: dict[str, str]) -> Iterator[Value]:
    """What stands in `text`; `choices` are the values of the tools' enums, by their lower case."""
    options = "|".join(sorted(map(re.escape, choices), key=lambda choice: (-len(choice), choice)))
    pattern, at, opening = re.compile(TOKEN % (options or "(?!)"), re.VERBOSE), 0, True
    while match := pattern.search(text, at):
        kind, start, at = match.lastgroup or "", match.start(), match.end()
        value: Any = match[kind]
        if kind == "name" and (opening or value.split()[0].lower() in COMMON):
            kind, value = "word", value.split()[0]  # a sentence opens with a capital
            at = start + len(value)
        elif kind == "json":
            try:
                value, at = json.JSONDecoder().raw_decode(text, start)
            except (ValueError, RecursionError):
                continue
        elif kind == "number":
            value = float(value) if "." in value else int(value)
        elif kind == "choice":
            value = choices.get(value.lower(), value)
        opening = kind == "cut" and value in "?!;.\n"
        yield Value(kind, value, start, at)


def clauses(text: str, choices: dict[str, str], known: frozenset[str]) -> list[Clause]:
    """The parts of `text`. One that neither asks anything nor has a word that the tools know (`known`),
    such as "and Europe/Paris", belongs to its neighbour."""
    found: list[Clause] = []
    for is_cut, group in groupby(tokens(text, choices), lambda token: token.kind == "cut"):
        if not is_cut:
            found.append(Clause.of(text, list(group)))
            if not all(part.asks or part.wanted & known for part in found[-2:]):
                found[-2:] = [Clause.of(text, [token for part in found[-2:] for token in part.tokens])]
    return found


def find(rule: Rule, values: list[Value], used: list[Value]) -> Any:
    """The best of `values` for one parameter, which is then added to `used`; else MISSING."""
    least = 0 if rule.needed or rule.enum else 3  # what may be left out must be named
    fits = [(fit, value) for value in values if value not in used and (fit := fitness(rule, value)) >= least]
    if fits:
        best = max(fits, key=lambda pair: pair[0])[1]
        used.append(best)
        same = [choice for choice in rule.enum if str(choice).lower() == str(best.value).lower()]
        as_text = rule.type == "string" and isinstance(best.value, int | float)
        return same[0] if same else str(best.value) if as_text else best.value
    if rule.needed and rule.inside:
        found = {each.name: find(each, values, used) for each in rule.inside}
        lacking = any(each.needed and found[each.name] is MISSING for each in rule.inside)
        return MISSING if lacking else {key: value for key, value in found.items() if value is not MISSING}
    if rule.needed and rule.items:
        return list(iter(lambda: find(rule.items, values, used), MISSING)) or MISSING  # type: ignore[arg-type]
    return MISSING


def fitness(rule: Rule, value: Value) -> float:
    """How well a value fits a parameter: negative for not at all, 3 and more when its cues name it."""
    if rule.enum:
        fits = str(value.value).lower() in [str(choice).lower() for choice in rule.enum]
    elif value.kind == "json":
        fits = isinstance(value.value, {"array": list, "object": dict}.get(rule.type, ()))
    elif value.kind == "text" and "path" in (rule.kinds or ()):
        fits = re.search(r"[/\\]|^\w+\.\w+$", value.value) is not None
    else:
        fits = value.kind != "choice" if rule.kinds is None else value.kind in rule.kinds
    named = words(rule.name) | frozenset(re.split(r"[^a-z]+", rule.name.lower()))
    ours, theirs = (
        (START, END) if named & START else (END, START) if named & END else (frozenset(), frozenset())
    )
    if not fits or (value.cues & theirs and not value.cues & ours):
        return -1
    score = {"text": 2.0, "name": 1.5, "path": 1.0}.get(value.kind, 0.5)
    score += 3 * len(words(rule.name) & value.cues) + 5 * bool(value.cues & ours)
    return score + (bool(value.cues & END) - bool(value.cues & START)) / 4  # rather where to than where from
