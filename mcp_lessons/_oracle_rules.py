"""How the Oracle decides: rules about words, where a language model would think.

It knows the request and nothing else: the question, the tools with their names, descriptions and
schemas, and the results so far. The question is cut into clauses; each clause goes to the tool that
shares the most telling words with it, provided that the tool's arguments can be found in the question.
"""

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from ._oracle_values import END, MISSING, Value, cues, find_value, simple, values_in, words

Schema = dict[str, Any]
CHANGING = words("add create delete drop edit erase move remove send set update write")
SEPARATOR = re.compile(r"[?!;\n]+|\.(?=\s|$)|,?\s+(?:and|then|but)\s+|,\s+", re.IGNORECASE)
QUESTION = re.compile(r"(?i)\s*(?:what|how|who|where|when|which|why|will|is|are|can|could|do|does|should)\b")


@dataclass(frozen=True)
class Tool:
    """A tool as the request describes it."""

    name: str
    named: frozenset[str]  # the words of its name
    about: frozenset[str]  # the words of its description
    schema: Schema

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "Tool":
        function = entry["function"]
        about = words(function.get("description") or "")
        return cls(function["name"], words(function["name"]), about, simple(function.get("parameters")))

    def enumerated(self) -> list[Any]:
        return [choice for rule in self.schema["properties"].values() for choice in rule.get("enum", [])]


@dataclass
class Clause:
    """A part of the question, the values that stand in it, and the words that say what is wanted;
    `bare` when it holds values and nothing else."""

    text: str
    values: list[Value]
    wanted: frozenset[str]
    bare: bool


@dataclass(frozen=True)
class Decision:
    """The calls to make now, or the answer when there are none."""

    calls: list[tuple[str, dict[str, Any]]]
    answer: str = ""


def decide(history: list[str], results: list[dict[str, Any]], entries: list[dict[str, Any]]) -> Decision:
    """What to do about the last text of `history` (what the user has said), given `results`: for each
    call made since then {"name", "arguments", "text"}."""
    tools = [Tool.of(entry) for entry in entries]
    earlier = [clause for text in history[:-1] for clause in clauses(text, tools)]
    asked = clauses(history[-1] if history else "", tools)
    made = [(result["name"], result["arguments"]) for result in results]
    calls, unknown = [], []
    for clause in asked:
        found, lack = calls_for(clause, earlier, tools, results)
        calls += [call for call in found if call not in calls]
        if not found and (lack or QUESTION.match(clause.text)):
            unknown.append(lack or f"I cannot know “{clause.text.strip()}”: no tool I was given is about it.")
        earlier = [*earlier, clause]
    fresh = [call for call in calls if call not in made]
    return Decision(fresh, "" if fresh else answer(results, unknown))


def clauses(text: str, tools: list[Tool]) -> list[Clause]:
    """The parts of `text`; one that holds only values ("and Europe/Paris") belongs to the part before."""
    choices = [choice for tool in tools for choice in tool.enumerated()]
    found: list[Clause] = []
    start = 0
    for cut in [*SEPARATOR.finditer(without(values_in(text, choices), text)), None]:
        part = text[start : cut.start() if cut else None]
        clause = clause_of(part, choices)
        if found and (clause.bare or (found[-1].bare and clause.wanted)):
            found[-1] = clause_of(found[-1].text + " and " + part, choices)
        elif clause.values or clause.wanted:
            found.append(clause)
        start = cut.end() if cut else start
    return found


def clause_of(text: str, choices: list[Any]) -> Clause:
    values = values_in(text, choices)
    data = [value for value in values if value.kind not in ("word", "name", "choice")]
    return Clause(text, values, words(without(data, text)), bool(values) and not words(without(values, text)))


def without(values: list[Value], text: str) -> str:
    """`text` with a stroke of underscores, as long, where each value stands."""
    for value in values:
        text = text[: value.start] + "_" * (value.end - value.start) + text[value.end :]
    return text


def calls_for(
    clause: Clause, earlier: list[Clause], tools: list[Tool], results: list[dict[str, Any]]
) -> tuple[list[tuple[str, dict[str, Any]]], str]:
    """The calls that this clause asks for, or what is lacking ("": no tool is about it)."""
    frequency = Counter(word for tool in tools for word in tool.named | tool.about)
    rarity = {word: math.log(1 + len(tools) / times) for word, times in frequency.items()}
    ranked = []
    for tool in tools:
        shared = clause.wanted & (tool.named | tool.about)
        if tool.named & CHANGING and not tool.named & CHANGING & clause.wanted:
            continue  # what changes things is called only when the question says so
        if shared:
            arguments, lacking, own = fill(tool.schema, clause, earlier, results)
            borrowed = len(arguments) - own
            fits = 2 * own - borrowed / 2 - len(tool.named - clause.wanted) / 4
            score = sum(rarity[word] * (2 if word in tool.named else 1) for word in shared) + fits
            ranked.append((score, tool, arguments, lacking))
    ranked.sort(key=lambda entry: -entry[0])
    best = next((entry for entry in ranked if not entry[3] and entry[0] > ranked[0][0] - 2), None)
    if best:
        return [(best[1].name, arguments) for arguments in spread(best[1].schema, best[2], clause)], ""
    if not ranked:
        return [], ""
    _, tool, _, lacking = ranked[0]
    source = provider(lacking, clause, earlier, [other for other in tools if other is not tool])
    return source, f"To use {tool.name} I would need: {', '.join(lacking)}."


def provider(
    lacking: list[str], clause: Clause, earlier: list[Clause], tools: list[Tool]
) -> list[tuple[str, dict[str, Any]]]:
    """A call of a tool that may tell what is lacking: it is named after it, and can itself be filled."""
    for tool in tools:
        arguments, its_lack, own = fill(tool.schema, clause, earlier, [])
        if own and not its_lack and any(words(name) & tool.named for name in lacking):
            return [(tool.name, arguments)]
    return []


def fill(
    schema: Schema, clause: Clause, earlier: list[Clause], results: list[dict[str, Any]]
) -> tuple[dict[str, Any], list[str], int]:
    """Arguments for `schema`, the required ones that cannot be found, and how many the clause holds."""
    properties, required = schema["properties"], schema["required"]
    arguments, lacking, own, used = {}, [], 0, []
    for name in sorted(properties, key=lambda name: name not in required):
        rule, before = properties[name], len(used)
        value = find_value(name, rule, name in required, clause.text, clause.values, used)
        own += name in required and len(used) > before
        if value is MISSING:
            value = elsewhere(name, rule, name in required, earlier, results)
        if value is not MISSING:
            arguments[name] = value
        elif name in required:
            lacking.append(name)
    return arguments, lacking, own


def elsewhere(
    name: str, rule: Schema, required: bool, earlier: list[Clause], results: list[dict[str, Any]]
) -> Any:
    """A value from the clauses before (the last that was mentioned), from a result, or the default."""
    if required or "enum" in rule:
        for clause in reversed(earlier):
            nearest = sorted(
                clause.values,
                key=lambda value: (not END & cues(clause.text, clause.values, value), -value.start),
            )
            value = find_value(name, rule, required, clause.text, nearest, [], words_too=False)
            if value is not MISSING:
                return value
    for result in results if required else ():
        for key, value in leaves(parsed(result["text"])):
            if words(key) == words(name):
                return value
    return rule.get("const", rule.get("default", MISSING)) if required else MISSING


def spread(schema: Schema, arguments: dict[str, Any], clause: Clause) -> list[dict[str, Any]]:
    """One call for each value when one argument has several, as in "in Asia/Tokyo and Europe/Paris"."""
    texts = {value.value: value for value in clause.values if isinstance(value.value, str)}
    taken = [name for name, value in arguments.items() if isinstance(value, str) and value in texts]
    single = [name for name in taken if name in schema["required"]]
    if len(single) != 1:
        return [arguments]
    name, rule = single[0], schema["properties"][single[0]]
    first = texts[arguments[name]]
    others = [
        value.value
        for value in clause.values
        if value.kind == first.kind
        and value.start > first.start
        and value.value in rule.get("enum", [value.value])
        and value.value not in arguments.values()
        and not cues(clause.text, clause.values, value)
    ]
    return [arguments, *(arguments | {name: other} for other in others)]


def answer(results: list[dict[str, Any]], unknown: list[str]) -> str:
    """The results in plain sentences, and what stays unknown."""
    if not results and not unknown:
        unknown = ["I cannot know that: no tool I was given is about it."]
    return " ".join([*(sentence(result) for result in results), *unknown])


def sentence(result: dict[str, Any], longest: int = 500) -> str:
    value = parsed(result["text"])
    if isinstance(value, dict | list):
        facts = ", ".join(f"{key} {json.dumps(leaf).strip(chr(34))}" for key, leaf in leaves(value))
        text = f"{result['name']} says: {facts or 'nothing'}"
    else:
        text = " ".join(result["text"].split())
    text = text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0] + " …"
    return text if text.endswith((".", "!", "?", "…")) else text + "."


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def leaves(value: Any, key: str = "") -> list[tuple[str, Any]]:
    """Every plain value in a JSON value, with the key it stands under."""
    if isinstance(value, dict):
        return [leaf for name, inner in value.items() for leaf in leaves(inner, name)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner, key)]
    return [(key, value)]
