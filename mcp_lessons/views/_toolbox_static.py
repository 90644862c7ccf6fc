"""The static picture of `ToolboxView`: a plain table that reads without CSS, the same for equal records."""

from ._base import Snapshot
from ._text import escape, shorten, table, visible
from ._toolbox_tokens import JSON
from ._toolbox_words import badge, cause, fill, finding, plural, server_name, share

DESCRIPTION, ROWS = 160, 200


def snapshot(shown: JSON, window: int) -> Snapshot:
    """The list that the view shows first, its cost by server, how it grew, what to be warned of."""
    words = table("toolbox")
    if not shown["first"]:
        return Snapshot(
            f"{words['title']}: {words['empty']}", f"<p><b>{words['title']}</b>: {words['empty']}</p>"
        )
    name = shown["first"]
    listed = shown["lists"][name]
    head = headline(name, listed, window)
    lines = [cost_line(listed), growth_line(listed), *other_lists(shown), *warning_lines(listed)]
    lines = [line for line in [rest_line(listed), *lines] if line]
    listed = listed | {"rows": listed["rows"][:ROWS]}
    return Snapshot(_plain(head, listed, lines), _html(head, listed, lines))


def rest_line(listed: JSON) -> str:
    """How many tools are not in the table, there and gone."""
    words = table("toolbox")
    rest, gone = len(listed["rows"][ROWS:]) + listed["rows_left"], _gone(listed)
    said = [plural(rest, words["rest"])] if rest else []
    return "; ".join([*said, plural(gone, words["removedLeft"])] if gone else said)


def _gone(listed: JSON) -> int:
    return sum(group["removed_left"] for group in listed["servers"])


def headline(name: str, listed: JSON, window: int) -> str:
    """ "Toolbox, would be sent: 7 tools, ≈459 tokens (estimate), ≈0.4% of a 128k window"."""
    words = table("toolbox")
    parts = [plural(listed["tools"], words["tools"]), fill(words["tokens"], n=f"{listed['tokens']:,}")]
    tokens = listed["tokens"]
    if listed["measured"]:
        tokens = listed["measured"]["tokens"]
        parts.append(fill(words["measured"], n=f"{tokens:,}"))
    parts.append(share(tokens, window))
    return f"{words['title']}, {words['lists'][name].lower()}: {', '.join(parts)}"


def cost_line(listed: JSON) -> str:
    words = table("toolbox")
    costs = [
        f"{server_name(group['server'])} {plural(group['tools'], words['tools'])} ≈{group['tokens']:,}"
        for group in listed["servers"]
        if group["tools"]
    ]
    return f"{words['cost']}: {'; '.join(costs)}" if costs else ""


def growth_line(listed: JSON) -> str:
    words = table("toolbox")
    steps = [f"{cause(step['cause'])} ≈{step['tokens']:,}{_moved(step)}" for step in listed["steps"][-12:]]
    return f"{words['growth']}: {' → '.join(steps)}"


def _moved(step: JSON) -> str:
    words = table("toolbox")
    keys = {"stepAdded": "added", "stepChanged": "changed", "stepRemoved": "removed"}
    said = [plural(step[key], words[form]) for form, key in keys.items() if step[key]]
    return f" ({', '.join(said)})" if said else ""


def other_lists(shown: JSON) -> list[str]:
    """What the other lists hold, in a line each, so that the three can be compared."""
    words = table("toolbox")
    return [
        f"{words['lists'][name]}: {plural(other['tools'], words['tools'])}, "
        f"{fill(words['tokensOf'], n=format(other['tokens'], ','))}"
        for name, other in shown["lists"].items()
        if name != shown["first"]
    ]


def warning_lines(listed: JSON) -> list[str]:
    closed = [table("toolbox")["closed"]] if listed["closed"] else []
    return [*closed, *(f"⚠ {warning}" for warning in listed["warnings"])]


def marks(row: JSON) -> list[str]:
    """The badges and warnings of a row, in words."""
    return [*map(badge, row["badges"]), *(f"⚠ {finding(given)}" for given in row["findings"])]


def _cells(row: JSON) -> tuple[str, str, str]:
    said = shorten(visible(row["description"]), DESCRIPTION) or table("toolbox")["noDescription"]
    cost = "–" if row["removed"] else f"≈{row['tokens']:,}"
    return row["name"], cost, said + "".join(f" [{mark}]" for mark in marks(row))


def _plain(head: str, listed: JSON, lines: list[str]) -> str:
    cells = [tuple(visible(shorten(cell, 400)) for cell in _cells(row)) for row in listed["rows"]]
    width = max((len(name) for name, _, _ in cells), default=0)
    room = max((len(cost) for _, cost, _ in cells), default=0)
    body = [f"  {name:<{width}}  {cost:>{room}}  {said}" for name, cost, said in cells]
    return "\n".join([visible(head), *body, *(visible(shorten(line, 600)) for line in lines)])


def _html(head: str, listed: JSON, lines: list[str]) -> str:
    columns = table("toolbox")["columns"]
    names = (columns["tool"], columns["tokens"], columns["description"])
    header = "".join(f'<th align="left" style="text-align:left">{escape(name)}</th>' for name in names)
    rows = "".join(_html_row(row) for row in listed["rows"])
    notes = "".join(f"<li>{escape(shorten(line, 600))}</li>" for line in lines)
    return (
        f"<table><caption>{escape(head)}</caption><thead><tr>{header}</tr></thead>"
        f"<tbody>{rows}</tbody></table><ul>{notes}</ul>"
    )


def _html_row(row: JSON) -> str:
    name, cost, said = (escape(shorten(cell, 400)) for cell in _cells(row))
    shown = f"<del>{name}</del>" if row["removed"] else name
    return (
        f'<tr><td align="left" style="text-align:left"><code>{shown}</code></td><td align="right">{cost}</td>'
        f'<td align="left" style="text-align:left">{said}</td></tr>'
    )
