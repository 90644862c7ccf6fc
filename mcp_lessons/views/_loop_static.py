"""The static picture of `LoopView`: a plain table that reads without CSS, the same for equal records.

It holds no times and no numbers of messages, which depend on what else a server wrote.
"""

from collections.abc import Sequence

from ._base import Snapshot
from ._text import escape, shorten, table, visible
from ._toolbox_tokens import JSON
from ._toolbox_words import fill, plural

TEXT = 300


def snapshot(turns: Sequence[JSON]) -> Snapshot:
    """A line for each turn, call and answer, with tokens by part, errors marked."""
    words = table("loop")
    if not turns:
        return Snapshot(
            f"{words['title']}: {words['empty']}", f"<p><b>{words['title']}</b>: {words['empty']}</p>"
        )
    head = headline(turns)
    several = turns[-1]["run"] > 1
    return Snapshot(_plain(head, turns, several), _html(head, turns, several))


def headline(turns: Sequence[JSON]) -> str:
    """ "Agent loop: 3 turns of at most 8, 4 tool calls, 1 tool error, ≈2,155 tokens in"."""
    words = table("loop")
    runs = turns[-1]["run"]
    outcomes = [call["outcome"] for turn in turns for call in turn["calls"]]
    limit = turns[-1]["max_turns"]
    form = "turnsOfMost" if runs == 1 and isinstance(limit, int) else "turns"
    parts = [plural(runs, words["runs"])] if runs > 1 else []
    parts += [plural(len(turns), words[form], most=limit), plural(len(outcomes), words["calls"])]
    for kind, forms in (("tool-error", "toolErrors"), ("protocol-error", "protocolErrors")):
        if kind in outcomes:
            parts.append(plural(outcomes.count(kind), words[forms]))
    parts.append(fill(words["tokensIn"], n=f"{sum(turn['figures']['in'] for turn in turns):,}"))
    return f"{words['title']}: {', '.join(parts)}"


def sent(turn: JSON) -> str:
    """ "2 messages, 6 tools; ≈482 tokens in: system prompt ≈30, tools ≈400, new in this turn ≈52"."""
    words, figures = table("loop"), turn["figures"]
    counts = fill(
        words["messagesAndTools"],
        messages=plural(turn["messages"], words["messages"]),
        tools=plural(turn["tools"], words["tools"]),
    )
    parts = [
        fill(words["partSentence"], part=words["parts"][part], n=f"{figures[part]:,}")
        for part in ("system", "tools", "history", "new")
        if figures[part]
    ]
    measured = turn["used"]["in"] if turn["used"] else None
    beside = "" if measured is None else f", {fill(words['tokensInMeasuredBeside'], n=f'{measured:,}')}"
    return f"{counts}; {fill(words['tokensIn'], n=format(figures['in'], ','))}{beside}: {', '.join(parts)}"


def outcome(call: JSON) -> str:
    """What came of a call: "← result 42", "⚠ isError: division by zero", "✕ protocol error -32602: …"."""
    words = table("loop")["outcome"]
    kind, said = call["outcome"], shorten(call["result"] or "", TEXT)
    word = words[kind]
    if kind == "protocol-error" and call["code"] is not None:
        word = f"{word} {call['code']}"
    sign = {"tool-error": "⚠", "protocol-error": "✕", "unknown": "✕", "unsent": "✕", "no-reply": "✕"}.get(
        kind, "←"
    )
    return f"{sign} {word}" + (f": {said}" if said else "")


def asked(call: JSON) -> str:
    """ "→ calc__add(a=19, b=23)", as the page has it."""
    note = "" if call["valid"] else f" [{table('loop')['invalidShort']}]"
    return f"→ {shorten(call['text'], TEXT)}{note}"


def _lines(turn: JSON) -> list[tuple[str, str]]:
    """What came back in a turn: (call or text, outcome), in the model's order."""
    words = table("loop")
    lines = []
    if turn["error"] is not None:
        lines.append((f"✕ {words['modelError']}", shorten(turn["error"], TEXT)))
    elif turn["reply"] is None:
        lines.append((words["noReply" if turn["over"] else "waitingModel"], ""))
    if turn["says"]:
        lines.append((f"{words['modelSays']}: {shorten(turn['says'], TEXT)}", ""))
    together = f" [{words['inParallel']}]" if len(turn["calls"]) > 1 else ""
    lines += [(asked(call) + together, outcome(call)) for call in turn["calls"]]
    return lines


def _end(turn: JSON) -> str:
    words = table("loop")
    if not turn["end"]:
        return ""
    reason = turn["end"]["stop_reason"]
    return f"{words['stopped']}: {words['stop'].get(reason, reason)}"


def _name(turn: JSON, several: bool) -> str:
    words = table("loop")
    run = f"{fill(words['run'], run=turn['run'])}, " if several else ""
    return run + fill(words["turn"], turn=turn["turn"])


def _plain(head: str, turns: Sequence[JSON], several: bool) -> str:
    lines = [head]
    for turn in turns:
        lines.append(f"{_name(turn, several)} → {sent(turn)}")
        for left, right in _lines(turn):
            lines.append(f"    {left}")
            lines += [f"        {right}"] if right else []
        lines += [f"    {_end(turn)}"] if turn["end"] else []
    return "\n".join(visible(line) for line in lines)


def _html(head: str, turns: Sequence[JSON], several: bool) -> str:
    names = table("loop")["columns"]
    header = "".join(
        f'<th align="left" style="text-align:left">{escape(names[key])}</th>'
        for key in ("turn", "sent", "call", "outcome")
    )
    rows = "".join(_html_turn(turn, several) for turn in turns)
    return (
        f"<table><caption>{escape(head)}</caption><thead><tr>{header}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _html_turn(turn: JSON, several: bool) -> str:
    """The rows of one turn: its name and what was sent stand once, beside all that came of it."""
    lines = _lines(turn) + ([(_end(turn), "")] if turn["end"] else [])
    lines = lines or [("", "")]
    name = _name(turn, several).replace(" ", "\N{NO-BREAK SPACE}")
    first = "".join(_cell(text, rows=len(lines)) for text in (name, sent(turn)))
    rest = ["".join(map(_cell, line)) for line in lines]
    return "".join(f"<tr>{row}</tr>" for row in [first + rest[0], *rest[1:]])


def _cell(text: str, rows: int = 1) -> str:
    span = f' rowspan="{rows}"' if rows > 1 else ""
    return (
        f'<td align="left" valign="top"{span} style="text-align:left;vertical-align:top">{escape(text)}</td>'
    )
