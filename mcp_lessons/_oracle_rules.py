"""How the Oracle decides: rules about words, where a language model would think.

It knows the request and nothing else: the question, the tools with their names, descriptions and
schemas, and the results so far. The question is cut into clauses; each goes to the tool that shares
the most telling words with it and whose arguments can be found among the values that stand there.
"""

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from ._oracle_values import MISSING, QUESTION, Clause, Schema, Value, clauses, find, fitness, kinds_for, words

CHANGING = words("add create delete drop edit erase move remove send set update write")
Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Tool:
    """A tool as the request describes it: the words of its name, and of its description."""

    name: str
    named: frozenset[str]
    about: frozenset[str]
    schema: Schema


def decide(history: list[str], results: list[dict[str, Any]], entries: list[Any]) -> tuple[list[Call], str]:
    """The calls to make now, or the answer, to the last text of `history` (what the user has said).

    `entries` are the tools of the request; `results` what the calls since then brought, each
    {"name", "arguments", "text"}.
    """
    functions = [entry["function"] for entry in entries]
    tools = [
        Tool(f["name"], words(f["name"]), words(f.get("description") or ""), Schema.of(f.get("parameters")))
        for f in functions
    ]
    choices = [choice for tool in tools for rule in tool.schema.properties.values() for choice in rule.enum]
    known = frozenset(word for tool in tools for word in tool.named | tool.about)
    earlier = [clause for text in history[:-1] for clause in clauses(text, choices, known)]
    calls: list[Call] = []
    unknown = []
    for clause in clauses(history[-1] if history else "", choices, known):
        found, lack = calls_for(clause, earlier, tools, results)
        calls += [call for call in found if call not in calls]
        unknown += [lack] if lack else []
        earlier = [*earlier, clause]
    made = [(result["name"], result["arguments"]) for result in results]
    fresh = [call for call in calls if call not in made]
    if not fresh and not results and not unknown:
        unknown = ["I cannot know that: no tool I was given is about it."]
    return fresh, "" if fresh else " ".join([*map(sentence, results), *unknown])


def calls_for(
    clause: Clause, earlier: list[Clause], tools: list[Tool], results: list[dict[str, Any]]
) -> tuple[list[Call], str]:
    """The calls that a clause asks for, or a sentence about what is lacking."""
    known = Counter(word for tool in tools for word in tool.named | tool.about)
    ranked = []
    for tool in tools:
        shared = clause.wanted & (tool.named | tool.about)
        if tool.named & CHANGING and not tool.named & CHANGING & clause.wanted:
            continue  # what changes things is called only when the question says so
        if shared:
            arguments, lacking, own = fill(tool.schema, clause, earlier, results)
            telling = {word: math.log(1 + len(tools) / known[word]) for word in shared}
            score = sum(value * (2 if word in tool.named else 1) for word, value in telling.items())
            score += (
                2 * own - (len(arguments) - own) / 2 - len(tool.named - clause.wanted) / 4 - 2 * len(lacking)
            )
            ranked.append((score, tool, arguments, lacking))
    ranked.sort(key=lambda entry: -entry[0])
    for score, tool, arguments, lacking in ranked:
        if not lacking and score > ranked[0][0] - 2:
            return [(tool.name, each) for each in spread(tool.schema, arguments, clause)], ""
    if ranked:
        return [], f"To use {ranked[0][1].name} I would need: {', '.join(ranked[0][3])}."
    asks = QUESTION.match(clause.text)
    return (
        [],
        f"I cannot know “{clause.text.strip(' .?!')}”: no tool I was given is about it." if asks else "",
    )


def fill(
    schema: Schema, clause: Clause, earlier: list[Clause], results: list[dict[str, Any]]
) -> tuple[dict[str, Any], list[str], int]:
    """Arguments for `schema`, the required ones that are lacking, how many of them the clause holds."""
    arguments, lacking, own = {}, [], 0
    used: list[Value] = []
    for name in sorted(schema.properties, key=lambda name: name not in schema.required):
        rule, needed, before = schema.properties[name], name in schema.required, len(used)
        value = find(name, rule, needed, clause, used)
        own += needed and len(used) > before
        if value is MISSING:
            value = elsewhere(name, rule, needed, earlier, results)
        if value is not MISSING:
            arguments[name] = value
        elif needed:
            lacking.append(name)
    return arguments, lacking, own


def elsewhere(
    name: str, rule: Schema, needed: bool, earlier: list[Clause], results: list[dict[str, Any]]
) -> Any:
    """A value from the clauses before (where to, else the last), from a result, or the default."""
    for clause in reversed(earlier) if needed or rule.enum else ():
        value = find(name, rule, needed, clause.backwards(), [])
        if value is not MISSING:
            return value
    found = [
        leaf
        for result in results
        for key, leaf in leaves(parsed(result["text"]))
        if words(key) == words(name)
    ]
    return [*found, rule.default][0] if needed else MISSING


def spread(schema: Schema, arguments: dict[str, Any], clause: Clause) -> list[dict[str, Any]]:
    """One call for each value when one argument has several, as in "in Asia/Tokyo and Europe/Paris"."""
    stands = {value.value: value for value in clause.values if isinstance(value.value, str)}
    named = [
        name for name in schema.required if isinstance(arguments[name], str) and arguments[name] in stands
    ]
    if len(named) != 1:
        return [arguments]
    name, first = named[0], stands[arguments[named[0]]]
    rule, any_text = schema.properties[name], kinds_for(name, schema.properties[name]) is None
    others = [
        value.value
        for value in stands.values()
        if value.value not in arguments.values()
        and not value.cues
        and fitness(name, rule, value) >= 0
        and (value.kind == first.kind or not any_text)
    ]
    return [arguments, *(arguments | {name: other} for other in others)]


def sentence(result: dict[str, Any], longest: int = 500) -> str:
    """A result as a plain sentence."""
    value, text = parsed(result["text"]), " ".join(result["text"].split())
    if isinstance(value, dict | list):
        facts = ", ".join(f"{key} {json.dumps(leaf).strip(chr(34))}".strip() for key, leaf in leaves(value))
        text = f"{result['name']} says: {facts or 'nothing'}"
    text = text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0] + " …"
    return text if text.endswith((".", "!", "?", "…")) else text + "."


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def leaves(value: Any, key: str = "", depth: int = 30) -> list[tuple[str, Any]]:
    """Every plain value in a JSON value, at most `depth` deep, with the key it stands under."""
    if not isinstance(value, dict | list):
        return [(key, value)]
    inside = value.items() if isinstance(value, dict) else [(key, inner) for inner in value]
    return [leaf for name, inner in inside if depth for leaf in leaves(inner, name, depth - 1)]
