"""What stands above a list of `ToolboxView`: the toolbox's own warnings, and what the client left out.

The client warns of a tool that nobody could call, and leaves it out; that is not on the record. But the
reply that it read is, so the reasons are found again here.
"""

from ._text import shorten, table
from ._toolbox_listing import is_repeat
from ._toolbox_reading import ToolboxReading
from ._toolbox_tokens import JSON, pruned
from ._toolbox_track import Tool
from ._toolbox_words import fill, finding, plural

MOST, NAMES = 50, 8
UNUSABLE = ("name", "no-schema")


def sentences(reading: ToolboxReading, name: str) -> list[str]:
    """The warnings of the list called `name`, in words, the most important first."""
    if name == "advertised":  # what else is wrong stands in the rows
        servers = reading.listings.no_objects
        said = [
            *_not_asked_for(reading),
            *(_said("listsOdd", server, _odd(reading, server)) for server in servers),
        ]
    else:
        servers = dict.fromkeys([*reading.advertised.servers(), *reading.listings.no_objects])
        said = [
            _said("leftOut", server, _left_out(reading, server))
            for server in servers
            if server in reading.mounted
        ]
        said += reading.toolbox.warnings
    return [pruned(sentence, characters=500) for sentence in said if sentence][:MOST]


def _not_asked_for(reading: ToolboxReading) -> list[str]:
    words = table("toolbox")
    return [
        fill(words["unread"], server=server or words["aServer"]) for server in sorted(reading.listings.unread)
    ]


def _left_out(reading: ToolboxReading, server: str) -> list[str]:
    tools = [tool for tool in reading.advertised.present() if tool.server == server]
    parts = [f"{shorten(tool.name, 60)!r} ({why})" for tool in tools if (why := unusable(tool))]
    more = [plural(len(parts) - NAMES, table("toolbox")["moreLeftOut"])] if len(parts) > NAMES else []
    return parts[:NAMES] + more + _odd(reading, server)


def _odd(reading: ToolboxReading, server: str) -> list[str]:
    odd = reading.listings.no_objects.get(server, 0)
    return [plural(odd, table("toolbox")["noObjects"])] if odd else []


def _said(form: str, server: str, parts: list[str]) -> str:
    words = table("toolbox")
    return fill(words[form], server=server or words["aServer"], parts="; ".join(parts)) if parts else ""


def unusable(tool: Tool) -> str:
    """Why nobody can call an advertised tool, in words; "" when somebody can."""
    given: list[JSON] = [found for found in tool.findings if found["kind"] in UNUSABLE]
    if given:
        return finding(given[0])
    return table("toolbox")["secondTime"] if is_repeat(tool) else ""
