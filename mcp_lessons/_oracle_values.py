"""Where the Oracle finds arguments: the values that stand in a question, and the schemas that want them."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
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
    | (?P<path>[\w.~:*+-]*+[/\\@][\w.~:\\/@*+?=&%%\#-]*[\w/*] | (?<![\w.-])\w++(?:[._-]\w++)++(?<!\d))
    | (?P<number>(?<![\w.-])-?\d+(?:\.\d+)?\b)
    | (?P<name>[^\W\d_a-z]\w*(?:\s[^\W\d_a-z]\w*)*)
    | (?P<cut>[?!;,.\n]|\b(?:and|then|but)\b)
    | (?P<word>\w+)
"""
BY_NAME = dict.fromkeys(_set("timezon zon path fil directory folder url uri"), _set("path name"))
BY_NAME |= {word: _set(kind) for word, kind in (("tim", "time"), ("clock", "time"), ("dat", "date"))}
BY_TYPE = {"integer": "number", "number": "number", "array": "json", "object": "json", "boolean": ""}


class Value(NamedTuple):
    """What stands in a text, from `start` to `end`. `kind` is a group of TOKEN; `cues` are the words
    that lead to it ("of type", "to")."""

    kind: str
    value: Any
    start: int
    end: int
    cues: frozenset[str]


class Clause(NamedTuple):
    """A part of the question: its words and values, the values alone, its telling words, whether it asks."""

    text: str
    tokens: list[Value]
    values: list[Value]
    wanted: frozenset[str]
    asks: bool

    @classmethod
    def of(cls, source: str, tokens: list[Value]) -> "Clause":
        text = source[tokens[0].start : tokens[-1].end]
        telling = words(" ".join(token.value for token in tokens if token.kind in ("word", "name", "choice")))
        values = [token for token in tokens if token.kind != "word"]
        return cls(text, tokens, values, telling, re.split(r"\W", text)[0].lower() in ASKING)

    def followed_by(self, other: "Clause", source: str) -> "Clause":
        """The two as one: it asks if its beginning does."""
        tokens, values = self.tokens + other.tokens, self.values + other.values
        text = source[tokens[0].start : tokens[-1].end]
        return Clause(text, tokens, values, self.wanted | other.wanted, self.asks)


class Rule(NamedTuple):
    """A schema, cut down to what is looked at here. `kinds`: the kinds of value that it takes, None for
    any text."""

    name: str
    needed: bool
    type: str
    kinds: frozenset[str] | None
    enum: list[Any]
    default: Any
    inside: list["Rule"]
    items: "Rule | None"

    @classmethod
    def of(cls, name: str, schema: dict[str, Any], needed: bool = True) -> "Rule":
        """From a schema that `_schemas.repair` has made well formed."""
        schema = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), {}) | schema
        type = next((one for one in ("string", *BY_TYPE) if one in schema.get("type", "")), "")
        kinds = next((BY_NAME[word] for word in sorted(words(name)) if word in BY_NAME), None)
        kinds = _set(BY_TYPE[type]) if type in BY_TYPE else kinds
        required, properties, enum = (schema.get(key, {}) for key in ("required", "properties", "enum"))
        inside = [cls.of(key, inner, key in required) for key, inner in properties.items()]
        inside.sort(key=lambda rule: not rule.needed)
        items = cls.of(name, schema["items"]) if "items" in schema else None
        return cls(name, needed, type, kinds, list(enum), schema.get("default", MISSING), inside, items)


@lru_cache(10_000)
def words(text: str) -> frozenset[str]:
    """The telling words of a text or a name, cut to their stems: "listFiles" -> {"list", "fil"}."""
    split = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())
    stems = (re.sub(r"(?<=..)ies$", "y", word) for word in split if word not in COMMON)
    return frozenset(re.sub(r"(?<=...)(ing|ed|(?<!s)s)$", "", stem).rstrip("e") for stem in stems)


def tokens(text: str, choices: dict[str, str]) -> Iterator[Value]:
    """What stands in `text`; `choices` are the values of the tools' enums, by their lower case."""
    options = "|".join(sorted(map(re.escape, choices), key=lambda choice: (-len(choice), choice)))
    pattern, at, opening, said = re.compile(TOKEN % (options or "(?!)"), re.VERBOSE), 0, True, ""
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
        yield Value(kind, value, start, at, words(said) | _set(said) & (START | END))
        said = f"{said} {value.lower()}" if kind == "word" else ""


def clauses(text: str, choices: dict[str, str], known: frozenset[str]) -> list[Clause]:
    """The parts of `text`. One that neither asks anything nor has a word that the tools know (`known`),
    such as "and Europe/Paris", belongs to its neighbour."""
    found: list[Clause] = []
    for is_cut, group in groupby(tokens(text, choices), lambda token: token.kind == "cut"):
        if not is_cut:
            found.append(Clause.of(text, list(group)))
            if len(found) > 1 and not all(part.asks or part.wanted & known for part in found[-2:]):
                found[-2:] = [found[-2].followed_by(found[-1], text)]
    return found


def find(rule: Rule, values: list[Value], used: list[Value]) -> Any:
    """The best of `values` for one parameter, which is then added to `used`; else MISSING."""
    least = 0 if rule.needed or rule.enum else 3  # what may be left out must be named
    fits = [(fit, value) for value in values if value not in used and (fit := fitness(rule, value)) >= least]
    if fits:
        best = max(fits, key=lambda pair: pair[0])[1]
        used.append(best)
        same = [choice for choice in rule.enum if str(choice).lower() == str(best.value).lower()]
        as_text = rule.type == "string" and best.kind == "number"
        return same[0] if same else str(best.value) if as_text else best.value
    if rule.needed and rule.inside:
        found = {each.name: find(each, values, used) for each in rule.inside}
        lacking = any(each.needed and found[each.name] is MISSING for each in rule.inside)
        return MISSING if lacking else {key: value for key, value in found.items() if value is not MISSING}
    if rule.needed and rule.items:
        return list(find_all(rule.items, values, used)) or MISSING
    return MISSING


def find_all(rule: Rule, values: list[Value], used: list[Value]) -> Iterator[Any]:
    """One item after the other, as long as each takes a value: an object that needs none fits for ever."""
    while (before := len(used)) < len(values):
        item = find(rule, values, used)
        if item is MISSING or len(used) == before:
            return
        yield item


def fitness(rule: Rule, value: Value) -> float:
    """How well a value fits a parameter: negative for not at all, 3 and more when its cues name it."""
    if rule.enum:
        fits = str(value.value).lower() in [str(choice).lower() for choice in rule.enum]
    elif value.kind == "json":
        fits = rule.type == ("array" if isinstance(value.value, list) else "object")
    elif value.kind == "text" and "path" in (rule.kinds or ()):
        fits = re.search(r"[/\\]|^\w+\.\w+$", value.value) is not None
    else:
        fits = value.kind != "choice" if rule.kinds is None else value.kind in rule.kinds
    named = _set(re.sub("[^a-z]", " ", rule.name.lower()))
    ours, theirs = (START, END) if named & START else (END, START) if named & END else (_set(""), _set(""))
    if not fits or (value.cues & theirs and not value.cues & ours):
        return -1
    score = {"text": 2.0, "name": 1.0 if rule.kinds else 1.5, "path": 1.0}.get(value.kind, 0.5)
    score += 3 * len(words(rule.name) & value.cues) + 5 * bool(value.cues & ours)
    return score + (bool(value.cues & END) - bool(value.cues & START)) / 4  # rather where to than where from
