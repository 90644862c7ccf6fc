"""The `mcpServers` file that desktop clients read, as arguments for `Toolbox.mount`.

Shown in lesson 5. `${NAME}`, `${NAME:-default}` and `${env:NAME}` stand for environment variables,
so that a file that is shared holds no key. Clients differ here: some take the first two, some the
third, some none.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]*))?\}")


def servers_in(path: str | Path) -> dict[str, Any]:
    """name -> what the file says of that server. ValueError, with the path, for another kind of file."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{path} is no JSON file: {problem}") from problem
    servers = content.get("mcpServers") if isinstance(content, dict) else None
    if not isinstance(servers, dict):
        raise ValueError(f'{path} holds no object "mcpServers"')
    return servers


def mount_arguments(entry: Any) -> dict[str, Any]:
    """`command`, `env` and `cwd` for `Toolbox.mount`. ValueError, in a sentence, for what cannot be
    mounted."""
    if not isinstance(entry, dict):
        raise ValueError("its entry is no JSON object")
    if "url" in entry or "serverUrl" in entry:
        raise ValueError("it has a URL, and so far only servers with a command can be mounted")
    command, args, env = entry.get("command"), entry.get("args") or [], entry.get("env") or {}
    if not isinstance(command, str) or not command:
        raise ValueError('its "command" is no text')
    if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
        raise ValueError('its "args" are no list of texts')
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
        raise ValueError('its "env" is no object of texts')
    cwd = entry.get("cwd")
    if cwd is not None and not isinstance(cwd, str):
        raise ValueError('its "cwd" is no text')
    return {
        "command": [_expanded(word) for word in (command, *args)],
        "env": {name: _expanded(value) for name, value in env.items()},
        "cwd": _expanded(cwd) if cwd else None,
    }


def _expanded(text: str) -> str:
    return _VARIABLE.sub(_value, text)


def _value(match: re.Match[str]) -> str:
    name, default = match.groups()
    value = os.environ.get(name, default)
    if value is None:
        raise ValueError(f"the environment variable {name} is not set")
    return value
