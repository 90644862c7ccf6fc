"""The `mcpServers` file that desktop clients read, as arguments for `Toolbox.mount`.

Shown in lesson 5. `${NAME}`, `${NAME:-default}` and `${env:NAME}` stand for environment variables,
so that a file that is shared holds no key. (Some clients take the first two, some the third.)
"""

import json
import os
import re
from pathlib import Path
from typing import Any

_BESIDE_TEXTS = re.compile(
    r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL
)
"""Texts, which stay, and what some editors allow beside them: comments, and a comma after the last entry."""


def servers_in(path: str | Path) -> dict[str, Any]:
    """name -> what the file says of that server; those that are switched off are left out. ValueError, with
    the path, for another kind of file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        content = json.loads(_BESIDE_TEXTS.sub(r"\1", text))
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{path} is no JSON file: {problem}") from None
    content = content if isinstance(content, dict) else {}
    servers = content.get("mcpServers", content.get("servers"))  # one editor leaves the prefix out
    if not isinstance(servers, dict):
        raise ValueError(f'{path} holds no object "mcpServers"')
    return {name: entry for name, entry in servers.items() if not _is_off(entry)}


def mount_arguments(entry: Any) -> dict[str, Any]:
    """`command`, `env` and `cwd` for one server. ValueError, in a sentence, if it cannot be mounted."""
    match entry:
        case {"url": str(url)} | {"serverUrl": str(url)} if url:
            raise ValueError("it has a URL, and so far only servers with a command can be mounted")
        case {"command": str(command)}:
            args, env, cwd = entry.get("args") or [], entry.get("env") or {}, entry.get("cwd") or None
            if isinstance(args, list) and isinstance(env, dict) and isinstance(cwd, str | None):
                words = [_expanded(word) for word in (command, *args)]
                env = {name: _expanded(value) for name, value in env.items()}
                return {"command": words, "env": env, "cwd": cwd and _expanded(cwd)}
    raise ValueError('it needs a "command"; "args" is a list of texts, "env" an object, "cwd" a text')


def _is_off(entry: Any) -> bool:
    return isinstance(entry, dict) and (entry.get("disabled") is True or entry.get("enabled") is False)


def _expanded(text: Any) -> str:
    if isinstance(text, int | float):
        return json.dumps(text)  # 8080 and true, as they stand in the file
    if not isinstance(text, str):
        raise ValueError(f"{text!r:.100} in it must be a text")
    return re.sub(r"\$\{(?:env:)?([^}]+?)(?::-([^}]*))?\}", _value, text)


def _value(match: re.Match[str]) -> str:
    if match[1] == "workspaceFolder" or match[1].startswith("input:"):
        raise ValueError(f"{match[0]} is known to an editor alone: write what it stands for")
    value = os.environ.get(*match.groups())
    if value is None:
        raise ValueError(f"the environment variable {match[1]} is not set: {match[0]} stands for it")
    return value
