"""The Oracle: an offline stand-in for a language model, behind an OpenAI-compatible endpoint on loopback.

It is rule-based: it understands nothing, and says so in its model's name. It sees only what a model
sees, the messages and the tools of a request, and decides by the rules in `_oracle_rules`; it is there
so that the loop of lesson 6 runs with no key and no network, through the same code as any endpoint.
https://platform.openai.com/docs/api-reference/chat/create
"""

import os
import threading
from typing import Any
from urllib.parse import urlsplit

from ._model_errors import without_secrets
from .errors import ModelError

MODEL = "oracle-rule-based"


class Oracle:
    """Serves the rules at `base_url` (`…/v1`) from daemon threads, until `close()`."""

    model = MODEL

    def __init__(self) -> None:
        from ._oracle_endpoint import serve  # an HTTP server is much to load for those who start none

        self._server = serve()
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving; closing twice is fine."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> "Oracle":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_shared: list[Oracle] = []
_lock = threading.Lock()


def choose_llm() -> tuple[Any, str]:
    """(client of the `openai` package, name of the model); `choose_llm.close()` ends the Oracle.

    The endpoint is the one that OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL name: a base URL
    without a key gets a placeholder for one, and without a model the first that the endpoint lists.
    With neither base URL nor model (a key alone is no wish to use it) it is the Oracle, at most one
    a process. ModelError when the endpoint cannot be asked for its models, or lists none.
    """
    base_url, key, model = (
        os.environ.get(f"OPENAI_{name}", "").strip() for name in ("BASE_URL", "API_KEY", "MODEL")
    )
    if not base_url and not model:
        with _lock:
            _shared[:] = _shared or [Oracle()]
            return _client(_shared[0].base_url, "offline"), MODEL
    if not base_url and not key:
        raise ModelError("OPENAI_MODEL is set, but neither OPENAI_BASE_URL nor OPENAI_API_KEY")
    client = _client(base_url, key or "no-key")
    return client, model or first_model(client)


def _client(base_url: str | None, key: str) -> Any:
    from openai import DefaultHttpxClient, OpenAI

    try:  # what listens on this machine is reached directly, whatever proxy the environment names
        address = urlsplit(base_url or "https:")
        if address.scheme not in ("http", "https"):
            raise ValueError("it begins with http:// or https://")
        direct = address.hostname in ("127.0.0.1", "localhost", "::1")
        http_client = DefaultHttpxClient(trust_env=False) if direct else None
        return OpenAI(base_url=base_url or None, api_key=key, http_client=http_client)
    except Exception as problem:  # of the package, or of those below it
        words = f"OPENAI_BASE_URL is no address ({problem}): {base_url!r}"
        raise ModelError(without_secrets(words, key)) from None


def _close() -> None:
    with _lock:
        while _shared:
            _shared.pop().close()


choose_llm.close = _close  # type: ignore[attr-defined]


def first_model(client: Any) -> str:
    """The name of the first model that an endpoint lists. ModelError when it cannot be had."""
    try:
        ids = [model.id for model in client.models.list().data]
        return next(id for id in ids if id and isinstance(id, str))
    except Exception as problem:  # refused, not reached, no list, an empty one
        said = str(problem.__cause__ or problem)[:300] or "the list is empty"
        words = f"{client.base_url} lists no model ({said}): set OPENAI_MODEL"
        raise ModelError(without_secrets(words, client.api_key)) from None
