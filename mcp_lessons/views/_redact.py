"""Keys, tokens and passwords out of what leaves the notebook: the page of `save_html`.

The page's own exports do the same in `exporting.js`; a test gives both the same corpus.
"""

import json
import re
from typing import Any

from ..traffic import Event

_SECRET_KEY = re.compile(
    r"(?i:(^|[_-])(api[_-]?key|(access|refresh|auth|id|bearer)?[_-]?token|secret|client[_-]?secret"
    r"|password|passwd|credentials?|authorization|cookie)$)|(apiKey|accessToken|refreshToken|clientSecret)$"
)
_SECRET_VALUE = re.compile(
    r"(?i:bearer\s+[\w.~+/-]+=*|\bsk-[\w-]{8,}|\bgh[pousr]_\w{16,}|\bxox[abp]-[\w-]{8,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
)
_USER_INFO = re.compile(r"(://)[^/@\s:]+:[^/@\s]+@")
_DEEPEST = 300


def redact(value: Any, depth: int = 0) -> Any:
    """`value` with what looks like a key, a token or a password replaced by "…".

    >>> redact({"api_key": "abc", "note": "Bearer abc", "progressToken": "abc"})
    {'api_key': '…', 'note': '…', 'progressToken': 'abc'}
    """
    if isinstance(value, str):
        return _USER_INFO.sub(r"\1…@", _SECRET_VALUE.sub("…", value))
    if depth > _DEEPEST:
        return value
    if isinstance(value, list):
        return [redact(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {key: "…" if _is_secret(key, item) else redact(item, depth + 1) for key, item in value.items()}
    return value


def redacted(event: Event) -> Event:
    """`event` with its secrets left out, in the text of the wire too."""
    body = event.body
    clean = redact(body)
    if isinstance(clean, dict | list) and event.details is None:
        return event if clean == body else event._replace(raw=json.dumps(clean, ensure_ascii=False))
    return event._replace(raw=redact(event.raw), details=redact(event.details))


def _is_secret(key: Any, item: Any) -> bool:
    return (
        isinstance(item, str) and item != "" and bool(_SECRET_KEY.search(str(key))) and key != "progressToken"
    )
