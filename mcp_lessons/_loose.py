"""Values of any form, as endpoints send them: read without complaint, or taken as nothing.

Shown in lesson 6.
"""

from typing import Any

DEEPEST_TEXT = 20
"""Lists and objects in one another that text is looked for in."""


def get(thing: Any, name: str) -> Any:
    """A field of an object, or of one of the `openai` package's; None when it has no such field."""
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def as_list(value: Any) -> list[Any]:
    """A list, whatever it was; some servers send the one thing that would be in it."""
    values = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    return [item for item in values if item is not None]


def as_text(content: Any, deepest: int = DEEPEST_TEXT) -> str:
    """Text that stands alone, in an object, or in the parts of a list."""
    if content is None or deepest == 0:
        return ""
    match content:
        case str() | int() | float() if not isinstance(content, bool):
            return str(content)
        case list():
            return "".join(as_text(part, deepest - 1) for part in content)
    return as_text(get(content, "text"), deepest - 1)


def whole_characters(text: str) -> str:
    """`text` with the halves of surrogate pairs joined, and U+FFFD for each that is alone.

    >>> whole_characters("\\ud83d\\ude00") == "\\U0001f600"
    True
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
