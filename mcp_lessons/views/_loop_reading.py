"""The agent loop, read from the record: runs, turns, what each turn sent, what came of each call.

`LoopReading` is fed events one by one, in order. It never raises, whatever a model or a server said.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..traffic import Event
from ._loop_calls import Call, calls_of, match, pair_answers
from ._toolbox_tokens import JSON, entries, exact, mapping, text, tokens

SYSTEM = ("system", "developer")


@dataclass
class Message:
    """One message to the model: its part of the context is "system", "history" or "new"."""

    part: str
    body: JSON
    exact: str
    cost: int


@dataclass
class Turn:
    """One request to the model and what followed it, up to the next one.

    Its first `kept` messages are those of the turn before; `asked` and `answered` hold the other fields
    of the request and of its reply.
    """

    run: int
    index: int
    request: Event
    asked: JSON
    messages: list[Message]
    tools: list[tuple[str, int]]
    kept: int = 0
    calls: list[Call] = field(default_factory=list)
    reply: Event | None = None
    answered: JSON = field(default_factory=dict)
    message: JSON = field(default_factory=dict)
    error: str | None = None
    over: bool = False


@dataclass
class Run:
    """One `run_agent`: all model events of one connection."""

    number: int
    connection: int
    turns: list[Turn] = field(default_factory=list)
    end: JSON | None = None


class LoopReading:
    """`runs`, in the order in which they began; `dirty` holds the turns that changed since it was cleared."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.runs: list[Run] = []
        self.dirty: dict[tuple[int, int], Turn] = {}
        self._by_connection: dict[int, Run] = {}
        self._origins: dict[str, JSON] = {}
        self._waiting: dict[tuple[int, str], tuple[Turn, Call]] = {}
        self.feed(events)

    def feed(self, events: Iterable[Event]) -> None:
        """Read more events."""
        for event in events:
            if event.kind == "model":
                self._model(event, mapping(event.body))
            elif event.kind == "tools":
                origins = mapping(mapping(event.body).get("origins"))
                self._origins = self._origins | {name: mapping(origin) for name, origin in origins.items()}
            elif event.kind == "request" and event.direction == "sent" and "tools/call" in event.raw:
                self._called(event, mapping(event.body))
            elif event.kind == "reply" and event.direction == "received" and self._waiting:
                self._returned(event, mapping(event.body))

    def _model(self, event: Event, body: JSON) -> None:
        run = self._by_connection.get(event.connection)
        if "messages" in body:
            run = run or self._begin(event)
            self._asked(run, event, body)
        elif run is None or not run.turns:
            return
        elif "stop_reason" in body:
            run.end = body
            run.turns[-1].over = True
            for call in run.turns[-1].calls:
                call.end(ran=body["stop_reason"] != "length")
        else:
            self._said(run.turns[-1], event, body)
        self._touch(run.turns[-1])

    def _begin(self, event: Event) -> Run:
        run = Run(len(self.runs) + 1, event.connection)
        self.runs.append(run)
        self._by_connection[event.connection] = run
        return run

    def _asked(self, run: Run, event: Event, body: JSON) -> None:
        bodies = [mapping(message) for message in entries(body.get("messages"))]
        before = run.turns[-1].messages if run.turns else None
        messages, kept = sorted_out(bodies, before)
        if run.turns:
            last = run.turns[-1]
            last.over = True
            pair_answers(last.calls, [message.body for message in messages if message.part == "new"])
            self._touch(last)
        details = {key: body.get(key) for key in ("turn", "max_turns", "model", "stream")}
        tools = [(self._server(tool), tokens(tool)) for tool in entries(body.get("tools"))]
        run.turns.append(Turn(run.number, len(run.turns), event, details, messages, tools, kept))

    def _server(self, tool: Any) -> str:
        """The server of an entry of `tools=`: by the toolbox's table, else by its prefix."""
        name = text(mapping(mapping(tool).get("function")).get("name"))
        origin = self._origins.get(name)
        return name.rpartition("__")[0] if origin is None else text(origin.get("server"))

    def _said(self, turn: Turn, event: Event, body: JSON) -> None:
        turn.reply = event
        turn.answered = {key: body.get(key) for key in ("usage", "finish_reason")}
        if "error" in body:
            turn.error = text(body["error"])
            return
        turn.message = mapping(body.get("message"))
        turn.calls = calls_of(turn.message, self._origins)

    def _called(self, event: Event, body: JSON) -> None:
        if body.get("method") != "tools/call":
            return
        turns = [run.turns[-1] for run in self.runs if run.turns and not run.turns[-1].over]
        call = match((call for turn in turns for call in turn.calls), event, mapping(body.get("params")))
        if call is not None:
            turn = next(turn for turn in turns if any(other is call for other in turn.calls))
            self._waiting[event.connection, exact(body.get("id"))] = (turn, call)
            self._touch(turn)

    def _returned(self, event: Event, body: JSON) -> None:
        turn, call = self._waiting.pop((event.connection, exact(body.get("id"))), (None, None))
        if turn is not None and call is not None:
            call.take_reply(event, body)
            self._touch(turn)

    def _touch(self, turn: Turn) -> None:
        self.dirty[turn.run, turn.index] = turn


def sorted_out(bodies: list[JSON], before: list[Message] | None) -> tuple[list[Message], int]:
    """Each message with its part of the context, and how many stood in the last turn's request too.

    New is what that request did not hold; in the first turn, the last question and what follows it.
    """
    texts = [exact(body) for body in bodies]
    kept = old = 0
    if before is None:
        asked = [index for index, body in enumerate(bodies) if body.get("role") == "user"]
        old = asked[-1] if asked else len(bodies)
    else:
        same = [words == message.exact for words, message in zip(texts, before, strict=False)]
        kept = old = same.index(False) if False in same else len(same)
    messages = []
    for index, (body, words) in enumerate(zip(bodies, texts, strict=True)):
        part = "system" if body.get("role") in SYSTEM else "history" if index < old else "new"
        messages.append(Message(part, body, words, -(-len(words) // 4)))
    return messages, kept
