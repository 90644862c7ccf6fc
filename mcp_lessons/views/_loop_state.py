"""What `LoopView` shows of a `LoopReading`, as JSON values: a row a turn, with all it needs."""

from ..traffic import Event
from ._loop_calls import Call, call_text, content_text
from ._loop_reading import LoopReading, Message, Run, Turn
from ._toolbox_tokens import JSON, entries, mapping, pruned, text, tokens

TEXT = 4_000


def rows(reading: LoopReading, turns: list[Turn]) -> list[JSON]:
    """One row for each of `turns`, in order."""
    return [
        row(reading.runs[turn.run - 1], turn)
        for turn in sorted(turns, key=lambda turn: (turn.run, turn.index))
    ]


def row(run: Run, turn: Turn) -> JSON:
    """A turn. `figures` are estimates in tokens; `used` is what the endpoint reported, or None."""
    asked, answered = turn.asked, turn.answered
    shown = {
        "run": run.number,
        "index": turn.index,
        "turn": asked.get("turn"),
        "max_turns": asked.get("max_turns"),
        "model": text(asked.get("model")) or turn.request.server,
        "stream": asked.get("stream") is True,
        "messages": len(turn.messages),
        "tools": len(turn.tools),
        "kept": turn.kept,
        "fresh": [_message(message) for message in turn.messages[turn.kept :]],
        "figures": figures(turn),
        "used": used(answered),
        "says": content_text(turn.message),
        "finish": text(answered.get("finish_reason")),
        "error": turn.error,
        "calls": [_call(call) for call in turn.calls],
        "request": turn.request.seq,
        "reply": turn.reply.seq if turn.reply else None,
        "took": _seconds(turn.request, turn.reply),
        "over": turn.over,
        "end": _end(run) if turn is run.turns[-1] else None,
    }
    return pruned(shown, characters=TEXT)


def figures(turn: Turn) -> JSON:
    """The context by part, in tokens: system, tools (in all and by server), history, new; and the reply."""
    parts = {
        part: sum(m.cost for m in turn.messages if m.part == part) for part in ("system", "history", "new")
    }
    by_server: dict[str, int] = {}
    for server, cost in turn.tools:
        by_server[server] = by_server.get(server, 0) + cost
    tools = sum(by_server.values())
    servers = [{"server": server, "tokens": cost} for server, cost in by_server.items()]
    whole = {"in": sum(parts.values()) + tools, "out": tokens(turn.message) if turn.message else 0}
    return parts | whole | {"tools": tools, "by_server": servers}


def used(answered: JSON) -> JSON | None:
    """What the endpoint says it used: {"in", "out"}, either None if it does not say."""
    usage = mapping(answered.get("usage"))
    said = {"in": _whole(usage.get("prompt_tokens")), "out": _whole(usage.get("completion_tokens"))}
    return said if said["in"] is not None or said["out"] is not None else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _message(message: Message) -> JSON:
    body = message.body
    calls = [
        text(mapping(mapping(call).get("function")).get("name")) for call in entries(body.get("tool_calls"))
    ]
    said = content_text(body)
    return {
        "part": message.part,
        "role": text(body.get("role")),
        "text": said,
        "calls": calls,
        "tokens": message.cost,
    }


def _call(call: Call) -> JSON:
    return {
        "name": call.name,
        "server": call.server,
        "tool": call.tool,
        "known": call.known,
        "text": call_text(call),
        "arguments": call.given,
        "valid": call.arguments is not None,
        "outcome": call.outcome,
        "result": call.result,
        "code": call.code,
        "request": call.request.seq if call.request else None,
        "reply": call.reply.seq if call.reply else None,
        "took": _seconds(call.request, call.reply),
    }


def _end(run: Run) -> JSON | None:
    if run.end is None:
        return None
    return {"stop_reason": text(run.end.get("stop_reason")), "turns": run.end.get("turns")}


def _seconds(first: Event | None, last: Event | None) -> float | None:
    return None if first is None or last is None else round(last.t - first.t, 6)
