"""The exercises of lesson 1: spawn a server, speak one JSON object a line."""

from collections.abc import Callable
from typing import Any

from ..exercise import Exercise, Wrong
from ..judging import sent, started_transport


def _judge_two_pings(two_pings: Callable[[Any], Any]) -> str | None:
    with started_transport("weather") as (transport, traffic):
        two_pings(transport)
        pings = sent(traffic, method="ping")
    if not pings:
        return "no ping was sent. Your function gets a transport: call transport.send(message)."
    if any("id" not in ping for ping in pings):
        return "a ping without an id is a notification, and nobody answers it. Give each one an id."
    if len({ping["id"] for ping in pings}) < len(pings):
        return "both pings have the same id, so nobody can tell their replies apart."
    if len(pings) != 2:
        return f"two pings were wanted, and {len(pings)} went out."
    return None


EXERCISES = [
    Exercise(
        id="1.1",
        stub='''
            def two_pings(transport):
                """Send two pings whose replies can be told apart."""
                transport.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        ''',
        judge=_judge_two_pings,
        done="two pings, two ids: whatever order the replies come in, you know which is which.",
        hints=(
            "One ping is there already. What has to differ in the second one?",
            "A reply repeats the id of its request, and nothing else of it.",
            'Send the same message once more, with "id": 2.',
        ),
        solution='''
            def two_pings(transport):
                """Send two pings whose replies can be told apart."""
                for id in (1, 2):
                    transport.send({"jsonrpc": "2.0", "id": id, "method": "ping"})
        ''',
        wrong=(
            Wrong(
                """
                def two_pings(transport):
                    for _ in range(2):
                        transport.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
                """,
                "both pings have the same id, so nobody can tell their replies apart.",
            ),
            Wrong(
                """
                def two_pings(transport):
                    for _ in range(2):
                        transport.send({"jsonrpc": "2.0", "method": "ping"})
                """,
                "a ping without an id is a notification, and nobody answers it. Give each one an id.",
            ),
        ),
    ),
]
