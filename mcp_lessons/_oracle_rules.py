"""How the Oracle decides: rules about words, where a language model would think.

The question is cut into clauses; each goes to the tool that shares the most telling words with it and
whose arguments can be found among the values that stand there. Nothing else is known.
"""

import math
import re
from collections import Counter
from typing import Any, NamedTuple

from ._oracle_values import MISSING, Clause, Rule, clauses, find, fitness, words
from ._schemas import repair

CHANGING = words("add create delete drop edit erase move remove send set update write")
Call = tuple[str, dict[str, Any]]


class Tool(NamedTuple):
    """A tool as the request describes it: the words of its name, and those of its description too."""

    name: str
    named: frozenset[str]
    known: frozenset[str]
    rules: list[Rule]

    @classmethod
    def of(cls, function: dict[str, Any]) -> "Tool":
        name, about = function["name"], function.get("description") or ""
        rule = Rule.of("", repair(function.get("parameters"))[0])
        return cls(name, words(name), words(f"{name} {about}"), rule.inside)


def decide(history: list[str], results: list[dict[str, Any]], entries: list[Any]) -> tuple[list[Call], str]:
    """The calls to make now, or the answer, to the last text of `history` (what the user has said).

    `entries` are the tools of the request; `results` what the calls since then brought, each
    {"name", "arguments", "text"}.
    """
    tools = [Tool.of(entry["function"]) for entry in entries]
    enums = [str(choice) for tool in tools for rule in tool.rules for choice in rule.enum if choice != ""]
    known = frozenset(word for tool in tools for word in tool.known)
    said = [clauses(text, {choice.lower(): choice for choice in enums}, known) for text in history or [""]]
    before = [clause for part in said[:-1] for clause in part]
    calls: list[Call] = []
    unknown = []
    for clause in said[-1]:
        found, lack = calls_for(clause, before, tools)
        calls += [call for call in found if call not in calls]
        unknown += [lack] if lack else []
        before.append(clause)
    fresh = [call for call in calls if call not in [(made["name"], made["arguments"]) for made in results]]
    if not results and not unknown:
        unknown = ["I cannot know that: no tool I was given is about it."]
    return fresh, "" if fresh else " ".join([*map(sentence, results), *unknown])


def calls_for(clause: Clause, before: list[Clause], tools: list[Tool]) -> tuple[list[Call], str]:
    """The calls that a clause asks for, or a sentence about what is lacking."""
    users = Counter(word for tool in tools for word in tool.known)
    ranked = []
    for tool in tools:
        shared, changes = clause.wanted & tool.known, tool.named & CHANGING
        if shared and (not changes or changes & clause.wanted):  # nothing is changed unasked
            arguments, lacking, own = fill(tool.rules, clause, before)
            weight = {word: math.log(1 + len(tools) / users[word]) for word in shared}
            score = sum(weight.values()) + sum(weight[word] for word in shared & tool.named)
            score += 2 * own - 2 * len(lacking) - len(tool.named - clause.wanted) / 4
            ranked.append((score, tool, arguments, lacking))
    ranked.sort(key=lambda entry: -entry[0])
    for _, tool, arguments, lacking in ranked:
        if not lacking:
            return [(tool.name, each) for each in spread(tool.rules, arguments, clause)], ""
    if ranked:
        return [], f"To use {ranked[0][1].name} I would need: {', '.join(ranked[0][3])}."
    return [], f"I cannot know “{clause.text}”: no tool I was given is about it." if clause.asks else ""


def fill(rules: list[Rule], clause: Clause, before: list[Clause]) -> tuple[dict[str, Any], list[str], int]:
    """Arguments for these parameters, the required ones that are lacking, how many of them the clause
    holds. What it does not say, one `before` it may have said: "… to Ulm, and is it cold there?"."""
    arguments: dict[str, Any] = {}
    used: list[Any] = []
    own = 0
    for rule in rules:
        value = find(rule, clause.values, used)
        own += rule.needed and value is not MISSING
        open_text = rule.kinds is None and not rule.enum and rule.default is MISSING
        if value is MISSING and rule.needed and open_text:
            value = rest_of(clause)
        for earlier in reversed(before) if rule.needed or rule.enum else ():
            value = find(rule, earlier.values[::-1], []) if value is MISSING else value
        value = rule.default if value is MISSING and rule.needed else value
        if value is not MISSING:
            arguments[rule.name] = value
    lacking = [rule.name for rule in rules if rule.needed and rule.name not in arguments]
    return arguments, lacking, own


def rest_of(clause: Clause) -> Any:
    """What follows "for", "about" or "say"; in an order also what follows its first word: "Echo this"."""
    match = re.match(r"(?i).*\b(?:for|about|say)\s+(.+)", clause.text)
    if not match and not clause.asks:
        match = re.match(r"(?i)(?:please\s+)?\w+\s+(.+)", clause.text)
    return match[1] if match else MISSING


def spread(rules: list[Rule], arguments: dict[str, Any], clause: Clause) -> list[dict[str, Any]]:
    """One call for each value when one argument has several, as in "in Asia/Tokyo and Europe/Paris"."""
    texts = {value.value: value for value in clause.values if isinstance(value.value, str)}
    spoken = [rule for rule in rules if rule.needed and arguments[rule.name] in list(texts)]
    if len(spoken) != 1:
        return [arguments]
    alone = [text for text, value in texts.items() if not value.cues and fitness(spoken[0], value) >= 0]
    more = [text for text in alone if text not in arguments.values()]
    return [arguments, *(arguments | {spoken[0].name: text} for text in more)]


def sentence(result: dict[str, Any], longest: int = 500) -> str:
    """A result as a plain sentence; one in JSON is read out."""
    text = " ".join(result["text"].split())
    if re.match(r'[\[{]\s*["\[{]', text):
        text = f"{result['name']} says: " + re.sub(r'["\[\]{}]\s*', "", text)
    text = text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0] + " …"
    return text if text.endswith((".", "!", "?", "…")) else text + "."
