"""What an endpoint said when it refused, in its own words, and without the reader's secrets.

Shown in lesson 6.
"""

import re
from typing import Any

from ._loose import as_text, get, whole_characters
from .errors import ModelError

HINTS = {
    None: "is an OpenAI-compatible endpoint running there?",
    400: "does this model take tools? vLLM needs --enable-auto-tool-choice and --tool-call-parser",
    401: "is OPENAI_API_KEY the key for this endpoint?",
    404: "does the base URL end in /v1, and does the endpoint have this model?",
    429: "the endpoint takes no more requests for now: wait, or look at the account",
}

_KEY = re.compile(r"[!-~]{8,}")  # a shorter one ("x", "offline") is a placeholder, and a common word
_IN_ADDRESS = re.compile(r"(?i)(://)[^/@\s]+@|([?&][^=&\s]*(?:key|token)[^=&\s]*=)[^&\s]*[^&\s:]")


class Refusal(Exception):
    """An error that came in the place of a reply; `body` is as the `openai` package has it."""

    def __init__(self, error: Any) -> None:
        super().__init__(as_text(get(error, "message")) or str(error))
        self.body = {"message": str(self)}


def model_error(llm: Any, problem: Exception) -> ModelError:
    """What the endpoint said, in its own words, and a hint."""
    body, status = getattr(problem, "body", None), getattr(problem, "status_code", None)
    cause = problem.__cause__ or (None if get(body, "message") else body)  # the package quotes no other
    said = str(problem)[:1000] or type(problem).__name__
    words = f"{getattr(llm, 'base_url', 'the model')}: {said}"
    words += f" ({str(cause)[:300]})" if cause and str(cause) not in said else ""
    needless = body if status is None else status == 400 and "tool" not in words.lower()
    hint = "" if needless else HINTS.get(status, "")
    words = without_secrets(whole_characters(words), getattr(llm, "api_key", ""))
    return ModelError(f"{words}\nHint: {hint}" if hint else words)


def without_secrets(words: str, key: Any = "") -> str:
    """`words` without the key (endpoints and proxies repeat it), and without what is secret in an address.

    >>> without_secrets("http://me:pass@host/v1?key=abc: no such key: sk-123456", "sk-123456")
    'http://…@host/v1?key=…: no such key: …'
    """
    for part in _KEY.findall(key) if isinstance(key, str) else ():
        words = words.replace(part, "…")
    return _IN_ADDRESS.sub(lambda found: f"{found[1]}…@" if found[1] else f"{found[2]}…", words)
