"""Names that a chat-completions endpoint accepts: `[a-zA-Z0-9_-]`, 1 to 64 characters, no two alike.

Lesson 5 builds this module. A server may call its tool anything; the endpoint refuses a dot, a
slash, an accent, the sixty-fifth character, and two tools of one name.

    >>> public_names([("weather", "forecast"), ("weather", "get.wind")])
    {('weather', 'forecast'): 'weather__forecast', ('weather', 'get.wind'): 'weather__get_wind'}

The limits are those of https://platform.openai.com/docs/api-reference/chat/create (tools).
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import count

LONGEST = 64

Key = tuple[str, str]
"""A server's name ("" for your own functions) and the tool's name as that server knows it."""


def full_name(key: Key) -> str:
    """`<server>__<tool>`, or the bare name for a function of your own."""
    server, tool = key
    return f"{server}__{tool}" if server else tool


def clean(name: str) -> str:
    """`name` with an underscore for each character that endpoints refuse."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)


def public_names(keys: Iterable[Key]) -> dict[Key, str]:
    """One name for each key, the same whatever the order of the keys.

    A name that needs no change keeps its text. Names that are too long, or that became equal by
    cleaning, are cut and end in a hash of what they really are.
    """
    keys = list(dict.fromkeys(keys))
    cleaned = {key: clean(full_name(key)) for key in keys}
    users = Counter(cleaned.values())
    unchanged = Counter(full_name(key) for key in keys)

    def stands(key: Key) -> bool:
        name = cleaned[key]
        alone = users[name] == 1 or (name == full_name(key) and unchanged[name] == 1)
        return alone and 0 < len(name) <= LONGEST

    names = {key: cleaned[key] for key in keys if stands(key)}
    taken = set(names.values())
    for key in sorted(keys):
        if key not in names:
            names[key] = next(name for name in _hashed(key, cleaned[key]) if name not in taken)
            taken.add(names[key])
    return {key: names[key] for key in keys}


def _hashed(key: Key, name: str) -> Iterable[str]:
    for attempt in count():
        digest = hashlib.sha256(json.dumps([*key, attempt]).encode()).hexdigest()[:8]
        yield f"{name[: LONGEST - 9]}_{digest}"
