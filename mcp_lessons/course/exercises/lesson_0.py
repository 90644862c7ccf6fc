"""The exercises of lesson 0: who is asked, and how to read the record."""

from collections.abc import Callable
from typing import Any

from ...agent import AgentResult, run_agent
from ...oracle import Oracle
from ...traffic import Traffic
from ..exercise import Exercise, Wrong
from ..judging import mounted_toolbox

_PICNIC = "How do I get from Tessaby to Larkmoor on Saturday, and will it rain there?"


def _asked(question: str) -> tuple[AgentResult, Traffic]:
    from openai import OpenAI

    with (
        mounted_toolbox(weather="weather", maps="maps") as toolbox,
        Oracle() as oracle,
        OpenAI(base_url=oracle.base_url, api_key="offline", timeout=5.0) as llm,
    ):
        return run_agent(question, toolbox, llm=llm, model=oracle.model), toolbox.traffic


def _called(traffic: Traffic) -> list[str]:
    requests = [event for event in traffic if event.kind == "request" and event.direction == "sent"]
    return [event.server for event in requests if event.body["method"] == "tools/call"]


def _judge_only_the_map(only_the_map: Callable[[], Any]) -> str | None:
    question = only_the_map()
    if question is None:
        return "your function returns nothing. End it with `return` and the question."
    if not isinstance(question, str) or not question.strip():
        return f"return a question, as text. Your function returned {_what(question)}."
    result, traffic = _asked(question)
    servers = _called(traffic)
    if servers and "maps" not in servers:
        return "only the weather server was called. Ask how to get from one place to another."
    if "weather" in servers:
        return "the weather server was called too. Leave out what only the weather server can tell."
    if not servers:
        return f"no server was called. The Oracle said: {result.answer[:120]}"
    return None


def _judge_who_was_called(who_was_called: Callable[[Traffic], Any]) -> str | None:
    _, traffic = _asked(_PICNIC)
    expected = _called(traffic)
    try:
        got = who_was_called(traffic)
    except (KeyError, TypeError) as problem:
        if str(problem) not in ("'method'", "'NoneType' object is not subscriptable"):
            raise
        return "not every body has a method: look at event.kind first, and keep the requests."
    if got is None:
        return "your function returns nothing. Collect the names in a list, and `return` it."
    if not isinstance(got, list):
        return f"return a list of names. Your function returned {_what(got)}."
    if len(got) > 2 and set(got) >= set(expected):
        return f"{len(got)} names came back, and two calls were made. Look for the method tools/call."
    if got == sorted(expected, reverse=True) and got != expected:
        return "the names are right, and their order is not: the first tools/call went to maps."
    if got != expected:
        return f"expected {expected}, and you returned {str(got)[:120]}."
    if (empty := who_was_called(Traffic())) != []:
        return f"for a record with nothing in it, return an empty list. Yours returned {str(empty)[:80]}."
    if who_was_called(list(reversed(list(traffic)))) == expected:
        return "for a record in which weather was called first, you say maps first. Keep the order of the record."
    return None


def _what(answer: Any) -> str:
    """The same words on every run: a set has no order, and a generator an address."""
    return repr(answer[:60]) if isinstance(answer, str) else f"a {type(answer).__name__}"


EXERCISES = [
    Exercise(
        id="0.1",
        stub='''
            def only_the_map():
                """A question that needs the maps server and not the weather server."""
                return "How do I get from Tessaby to Larkmoor on Saturday, and will it rain there?"
            ''',
        judge=_judge_only_the_map,
        done="the model was told of all four tools, and called the one that fits.",
        hints=(
            "The question has two halves. Each half is answered by another server.",
            "The half with the rain goes to the weather server. Leave it out.",
            'Keep "How do I get from Tessaby to Larkmoor?", or take two other places of the map.',
        ),
        solution='''
            def only_the_map():
                """A question that needs the maps server and not the weather server."""
                return "How do I get from Tessaby to Larkmoor?"
            ''',
        wrong=(
            Wrong(
                """
                def only_the_map():
                    return "Will it rain in Larkmoor on Saturday?"
                """,
                "only the weather server was called. Ask how to get from one place to another.",
            ),
            Wrong(
                """
                def only_the_map():
                    return "How do I get from Tessaby to Larkmoor, and what is the weather in Larkmoor?"
                """,
                "the weather server was called too. Leave out what only the weather server can tell.",
            ),
            Wrong(
                """
                def only_the_map():
                    question = "How do I get from Tessaby to Larkmoor?"
                """,
                "your function returns nothing. End it with `return` and the question.",
            ),
        ),
    ),
    Exercise(
        id="0.2",
        stub='''
            def who_was_called(traffic):
                """The name of the server for each tools/call request that was sent, in order."""
                ...
            ''',
        judge=_judge_who_was_called,
        done="you can read a record. The views do nothing else.",
        hints=(
            'Go over the record with `for event in traffic`, and keep the events of kind "request".',
            'The body of a request is a dict: event.body["method"] is "initialize", "tools/list" or "tools/call".',
            'Append event.server when event.kind == "request" and event.body["method"] == "tools/call".',
        ),
        solution='''
            def who_was_called(traffic):
                """The name of the server for each tools/call request that was sent, in order."""
                names = []
                for event in traffic:
                    if event.kind == "request" and event.body["method"] == "tools/call":
                        names.append(event.server)
                return names
            ''',
        wrong=(
            Wrong(
                """
                def who_was_called(traffic):
                    return [event.server for event in traffic if event.kind == "request"]
                """,
                "6 names came back, and two calls were made. Look for the method tools/call.",
            ),
            Wrong(
                """
                def who_was_called(traffic):
                    return "maps, weather"
                """,
                "return a list of names. Your function returned 'maps, weather'.",
            ),
            Wrong(
                """
                def who_was_called(traffic):
                    for event in traffic:
                        if event.kind == "request" and event.body["method"] == "tools/call":
                            event.server
                """,
                "your function returns nothing. Collect the names in a list, and `return` it.",
            ),
            Wrong(
                """
                def who_was_called(traffic):
                    return [event.server for event in traffic if event.body["method"] == "tools/call"]
                """,
                "not every body has a method: look at event.kind first, and keep the requests.",
            ),
            Wrong(
                """
                def who_was_called(traffic, names=[]):
                    calls = [e for e in traffic if e.kind == "request" and e.body["method"] == "tools/call"]
                    names += [event.server for event in calls]
                    return names
                """,
                "for a record with nothing in it, return an empty list. Yours returned ['maps', 'weather'].",
            ),
            Wrong(
                """
                def who_was_called(traffic):
                    calls = [e for e in traffic if e.kind == "request" and e.body["method"] == "tools/call"]
                    return [event.server for event in reversed(calls)]
                """,
                "the names are right, and their order is not: the first tools/call went to maps.",
            ),
            Wrong(
                """
                def who_was_called(traffic):
                    calls = [e for e in traffic if e.kind == "request" and e.body["method"] == "tools/call"]
                    return sorted({event.server for event in calls})
                """,
                "for a record in which weather was called first, you say maps first. Keep the order of the record.",
            ),
            Wrong(
                """
                def who_was_called(traffic):
                    return {e.server for e in traffic if e.kind == "request" and e.body["method"] == "tools/call"}
                """,
                "return a list of names. Your function returned a set.",
            ),
        ),
    ),
]
