"""The static table of TrafficView. It is the same for two runs that said the same things.

The client's requests stand in the order in which they were sent, each with its reply. What came from
a server by itself has no fixed place between the requests of other connections, so it is placed by what
is fixed: the stream of its own connection. Progress, log messages and questions of a server stand below the
exchange that was going on; other notifications below the one that had ended. stderr has a list of its own.
"""

from collections import Counter
from collections.abc import Iterable

from ..traffic import Event
from ._exchanges import Exchange, exchanges, role
from ._order import ordered
from ._text import escape, shorten, table, visible
from ._words import counted, is_error, mapping, words

MAX_ROWS = 500
MAX_STDERR = 50
MAX_CELL = 160
_LEFT = 'style="text-align:left"'  # JupyterLab puts tables of numbers right

Cell = tuple[str, str, str]
"""(our words, what the wire said, our words): the middle stands in code, so that nobody typesets it."""


def traffic_tables(events: Iterable[Event]) -> tuple[str, str]:
    """(text, html) of `events`."""
    events = list(events)
    rows = ordered(exchanges(event for event in events if event.kind != "stderr"))
    cells = [_cells(number, exchange) for number, exchange in enumerate(rows[:MAX_ROWS], 1)]
    more = len(rows) - len(cells)
    stderr = _stderr(events)
    return _as_text(cells, more, stderr, _caption(events)), _as_html(cells, more, stderr, _caption(events))


def _cells(number: int, row: Exchange) -> list[Cell]:
    said = table("traffic")
    event = row.first
    word, rest = words(event)
    kind = word if event.kind == "model" else said["kinds"].get(event.kind, event.kind)
    flags = "".join(f" [{said['flags'][flag]}]" for flag in row.flags)
    message = _cell(kind, rest if word == kind else f"{word} {rest}", flags)
    return [(str(number), "", ""), _name_cell(_route(event)), message, _answer(row)]


def _answer(row: Exchange) -> Cell:
    said = table("traffic")
    if row.reply is not None:
        word, rest = words(row.reply, str(mapping(row.first.body).get("method", "")))
        odd = [said["flags"][row.odd]] if row.odd else []
        marks = [*odd, said["snapshot"]["late"]] if row.late else odd
        return _cell(_mark(row.reply) + word, rest, "".join(f" [{mark}]" for mark in marks))
    if role(row.first) != "request":
        return "", "", ""
    ends = {"cancelled": "noReplyCancelled", "exited": "noReplyExit", "": "noReply"}
    return said["snapshot"][ends[row.end]], "", ""


def _mark(reply: Event) -> str:
    body = mapping(reply.body)
    if is_error(body):
        return "✕ "
    return "⚠ " if mapping(body.get("result")).get("isError") is True else ""


def _name_cell(route: str) -> Cell:
    """Names are plain, unless somebody would typeset them as a formula."""
    return ("", route, "") if "$" in route or "\\" in route else (route, "", "")


def _cell(before: str, said: str, after: str = "") -> Cell:
    said = visible(shorten(said, MAX_CELL))
    return (f"{before}: " if before and said else before), said, after


def _route(event: Event) -> str:
    said = table("traffic")
    client, other = said["client"], event.server or said["client"]
    if event.kind == "tools" or (event.kind == "model" and not event.direction):
        return client
    ends = {"sent": (client, other), "received": (other, client)}.get(event.direction)
    if ends is None:
        return visible(shorten(other, 40))
    start, end = (visible(shorten(name, 40)) for name in ends)
    return said["snapshot"]["arrow"].replace("{from}", start).replace("{to}", end)


def _caption(events: list[Event]) -> str:
    said = table("traffic")
    counts = Counter(event.kind for event in events if event.kind != "model")
    counts["model"] = sum(event.kind == "model" and event.direction == "sent" for event in events)
    wrong = Counter(_mark(event) for event in events if event.kind == "reply")
    counts["toolErrors"], counts["protocolErrors"] = wrong["⚠ "], wrong["✕ "]
    kinds = ("request", "reply", "notification", "model", "noise", "toolErrors", "protocolErrors")
    parts = [counted(counts[kind], said["counts"][kind]) for kind in kinds if counts[kind]]
    return said["snapshot"]["caption"].replace("{counts}", ", ".join(parts) or said["snapshot"]["none"])


def _stderr(events: list[Event]) -> dict[str, list[str]]:
    """The lines of each server's stderr, at most 50 of each."""
    found: dict[str, list[str]] = {}
    for event in events:
        if event.kind == "stderr":
            found.setdefault(event.server, []).append(visible(shorten(event.raw, MAX_CELL)))
    more = table("traffic")["snapshot"]["more"]
    return {
        server: lines[:MAX_STDERR]
        + ([more.replace("{n}", str(len(lines) - MAX_STDERR))] if len(lines) > MAX_STDERR else [])
        for server, lines in sorted(found.items())
    }


def _as_text(cells: list[list[Cell]], more: int, stderr: dict[str, list[str]], caption: str) -> str:
    said = table("traffic")["snapshot"]
    lines = [said["columns"], *(["".join(cell) for cell in row] for row in cells)]
    widths = [min(max(len(line[column]) for line in lines), 60) for column in range(3)] + [0]
    rows = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    out = [caption, *(row.rstrip() for row in rows)]
    if more:
        out.append(said["more"].replace("{n}", str(more)))
    for server, texts in stderr.items():
        out += [visible(said["stderr"].replace("{server}", server)) + ":", *(f"  {one}" for one in texts)]
    return "\n".join(out)


def _as_html(cells: list[list[Cell]], more: int, stderr: dict[str, list[str]], caption: str) -> str:
    said = table("traffic")["snapshot"]
    head = "".join(f'<th scope="col" {_LEFT}>{escape(name)}</th>' for name in said["columns"])
    body = "\n".join(
        "<tr>" + "".join(f"<td {_LEFT}>{one}</td>" for one in _html_cells(row)) + "</tr>" for row in cells
    )
    parts = [
        f"<table>\n<caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>",
        f"<tbody>\n{body}\n</tbody>\n</table>",
    ]
    if more:
        parts.append(f"<p>{escape(said['more'].replace('{n}', str(more)))}</p>")
    for server, texts in stderr.items():
        items = "\n".join(f"<li><code>{escape(one)}</code></li>" for one in texts)
        parts.append(f"<p>{escape(said['stderr'].replace('{server}', server))}</p>\n<ul>\n{items}\n</ul>")
    return "\n".join(parts)


def _html_cells(row: list[Cell]) -> list[str]:
    number, route, message, reply = map(_html_cell, row)
    return [number, route.replace(" → ", "\u00a0→\u00a0"), message, reply]  # who to whom stays on one line


def _html_cell(cell: Cell) -> str:
    before, said, after = (escape(part) for part in cell)
    return before + (f"<code>{said}</code>" if said else "") + after
