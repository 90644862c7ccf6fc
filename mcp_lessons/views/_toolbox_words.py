"""The words of ToolboxView and LoopView: `text/*.json` filled in. Values stay as given: escape after."""

import re
from typing import Any

from ._text import table
from ._toolbox_tokens import JSON, text


def plural(n: int, forms: list[str], **values: Any) -> str:
    """ "1 tool" or "2 tools": `forms` is [one, many], each with {n}."""
    return fill(forms[0] if n == 1 else forms[1], n=f"{n:,}", **values)


def fill(template: str, **values: Any) -> str:
    """`template` with each `{name}` replaced from `values`."""
    return re.sub(r"\{(\w+)\}", lambda match: str(values.get(match[1], match[0])), template)


def server_name(server: str) -> str:
    """The server's name; words for the reader's own functions, which have none."""
    return server or table("toolbox")["python"]


def cause(step_cause: JSON) -> str:
    """Why the list changed: "weather joins", "weather: list_changed", "turn 2"."""
    words = table("toolbox")["cause"]
    kind = step_cause.get("kind")
    if kind == "said":
        return text(step_cause.get("text")) or words["said"]
    if kind == "turn":
        later_run = isinstance(step_cause.get("run"), int) and step_cause["run"] > 1
        template = words["turnOfRun"] if later_run else words["turn"]
        return fill(template, turn=text(step_cause.get("turn")), run=text(step_cause.get("run")))
    return fill(words[kind], server=step_cause.get("server") or table("toolbox")["aServer"])


def badge(given: JSON) -> str:
    """A badge in words: "new since turn 2", "changed: description"."""
    words = table("toolbox")
    names = words["fields"]
    fields = ", ".join(names.get(field, field) for field in given.get("fields") or [""])
    said = fill(words["badge"][given["kind"]], fields=fields)
    since = given.get("since")
    return f"{said} {fill(words['since'], turn=cause(since))}" if since else said


def finding(given: JSON) -> str:
    """A warning in words."""
    return fill(table("toolbox")["finding"][given["kind"]], was=given.get("was"), most=given.get("most"))


def share(cost: int, window: int) -> str:
    """How much of a context window `cost` tokens are."""
    words = table("toolbox")
    size = f"{window // 1_000_000}M" if window >= 1_000_000 else f"{window // 1000}k"
    percent = 100 * cost / window
    if 0 < percent < 0.1:
        return fill(words["shareSmall"], window=size)
    return fill(words["share"], n=f"{percent:.1f}" if percent < 10 else f"{percent:.0f}", window=size)
