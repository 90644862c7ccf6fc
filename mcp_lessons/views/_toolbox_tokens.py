"""What a tool list costs: tokens of the exact JSON, and how one tool's cost splits.

Lesson 5 reads these figures in `ToolboxView`. An estimate is `ceil(characters / 4)` of the JSON that
goes out, always shown with "≈"; sums are sums of the rows, so that a reader can add them up.
"""

import json
from collections.abc import Iterable
from typing import Any

JSON = dict[str, Any]

PARTS = ("name", "description", "schema", "wrapping")


def exact(value: Any) -> str:
    """The JSON text of `value` as it goes out: no spaces, no escapes that are not needed."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, TypeError, ValueError):
        return json.dumps(pruned(value), ensure_ascii=False, separators=(",", ":"))


def tokens(value: Any) -> int:
    """About how many tokens the JSON of `value` is: a quarter of its characters, rounded up.

    >>> tokens({"type": "object"})
    5
    """
    return -(-len(exact(value)) // 4)


def split(tool: JSON) -> dict[str, int]:
    """The tokens of one tool by part: name, description, schema, wrapping. They add up to `tokens(tool)`.

    `tool` is an entry of `tools=`, or an entry of a reply to tools/list: there "wrapping" holds what a
    model never gets (title, icons, output schema).
    """
    inner = mapping(tool.get("function")) or tool
    schema = inner.get("parameters", inner.get("inputSchema"))
    sizes = [
        0 if part is None else len(exact(part))
        for part in (inner.get("name"), inner.get("description"), schema)
    ]
    sizes.append(max(len(exact(tool)) - sum(sizes), 0))
    return dict(zip(PARTS, _apportion(tokens(tool), sizes), strict=True))


def _apportion(total: int, sizes: list[int]) -> list[int]:
    """`total` divided in proportion to `sizes`, in whole numbers that add up to it."""
    whole = sum(sizes) or 1
    shares = [total * size // whole for size in sizes]
    by_rest = sorted(range(len(sizes)), key=lambda index: -(total * sizes[index] % whole))
    for index in by_rest[: total - sum(shares)]:
        shares[index] += 1
    return shares


def pruned(value: Any, depth: int = 24, characters: int = 16_000, items: int = 500) -> Any:
    """`value` small enough to send to a page: long texts, long lists and deep nests end in a note."""
    if isinstance(value, str):
        cut = len(value) - characters
        return value if cut <= 0 else f"{value[:characters]}… ({cut:,} more characters)"
    if not isinstance(value, dict | list):
        return value if value is None or isinstance(value, bool | int | float) else str(value)
    if depth == 0:
        return "… (nested deeper)"
    rest = len(value) - items
    if isinstance(value, list):
        kept = [pruned(item, depth - 1, characters, items) for item in value[:items]]
        return kept if rest <= 0 else [*kept, f"… ({rest:,} more items)"]
    pairs = list(value.items())[:items]
    kept_pairs = {pruned(key, 1, 200): pruned(item, depth - 1, characters, items) for key, item in pairs}
    return kept_pairs if rest <= 0 else kept_pairs | {"…": f"{rest:,} more keys"}


def mapping(value: Any) -> JSON:
    """`value` if it is an object, else an empty one: what a server sends may be anything."""
    return value if isinstance(value, dict) else {}


def entries(value: Any) -> list[Any]:
    """`value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """`value` if it is text, nothing for None, else its JSON."""
    return value if isinstance(value, str) else "" if value is None else exact(value)


def total(rows: Iterable[int]) -> str:
    """A sum of estimates, as it is shown: ≈1,234."""
    return f"≈{sum(rows):,}"
