"""Text for readers: the table of sentences, escaping, and hidden characters made visible.

The sentences are in `text/*.json`, which the page's modules import as they are: a second language
is a second folder. What a server says never comes from here, and goes through `visible` and
`escape` before it is shown.
"""

import html
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "text"

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)


@cache
def table(name: str) -> dict[str, Any]:
    """The sentences of `text/NAME.json`."""
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def visible(text: str) -> str:
    """`text` with characters that are not seen, or that turn the line around, shown by their number.

    >>> visible("a\\u200bb\\x1b[31m")
    'a⟨U+200B⟩b⟨U+001B⟩[31m'
    """
    return _HIDDEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def escape(text: str) -> str:
    """`text` made visible and harmless inside HTML, in an element or in an attribute."""
    return html.escape(visible(text), quote=True)


def shorten(text: str, limit: int) -> str:
    """`text` on one line, and at most `limit` characters of it."""
    line = re.sub(r"\s+", " ", text[: limit * 4]).strip()
    return line if len(line) <= limit and len(text) <= limit * 4 else line[: limit - 1].rstrip() + "…"
