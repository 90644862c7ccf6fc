"""Names that a chat-completions endpoint accepts: `[a-zA-Z0-9_-]`, 1 to 64 characters, no two alike.

Lesson 5 builds this module. A server may call its tool anything; the endpoint refuses a dot, a
slash, an accent, the sixty-fifth character, and two tools of one name.

    >>> public_names([("weather", "forecast"), ("weather", "get.wind")])
    {('weather', 'forecast'): 'weather__forecast', ('weather', 'get.wind'): 'weather__get_wind'}
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import count

LONGEST_NAME = 64

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
    """One name for each key, the same whatever the order of the keys. What is too long, or became
    equal to another by cleaning, is cut and ends in a hash of what it really is."""
    cleaned = {key: clean(full_name(key)) for key in keys}
    users, exact = Counter(cleaned.values()), Counter(map(full_name, cleaned))
    names = {}
    for key, name in cleaned.items():
        alone = users[name] == 1 or (name == full_name(key) and exact[name] == 1)
        if alone and 0 < len(name) <= LONGEST_NAME:
            names[key] = name
    for key in sorted(cleaned.keys() - names):
        taken = set(names.values())
        names[key] = next(name for name in _hashed(key, cleaned[key]) if name not in taken)
    return {key: names[key] for key in cleaned}


def _hashed(key: Key, name: str) -> Iterable[str]:
    for attempt in count():
        digest = hashlib.sha256(json.dumps([*key, attempt]).encode()).hexdigest()[:8]
        yield f"{name[: LONGEST_NAME - 9]}_{digest}"
