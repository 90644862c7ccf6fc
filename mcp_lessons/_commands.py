"""Which program a command means, what it gets to see of our environment, and why it does not start.

Shown, not taught.
"""

import errno
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import TransportError

WINDOWS = sys.platform == "win32"

INHERITED = (
    "APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE SYSTEMDRIVE SYSTEMROOT TEMP "
    "TMP USERNAME USERPROFILE"
    if WINDOWS
    else "HOME LOGNAME PATH SHELL TERM USER LANG LANGUAGE LC_ALL LC_CTYPE TMPDIR TEMP TMP"
).split()


def child_environment(extra: Mapping[str, Any] | None = None) -> dict[str, str]:
    """What a server gets to see of our environment, plus `extra`: enough to run, and none of our keys. A
    variable that is None in `extra` is left out."""
    if not isinstance(extra, Mapping | None):
        raise TransportError(f'env is a dict, as in {{"API_KEY": "…"}}; this is a {type(extra).__name__}')
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    wanted = inherited | dict(extra or {})
    return {str(name): str(value) for name, value in wanted.items() if value is not None}


def find_program(name: str, environment: Mapping[str, str], cwd: str | Path | None) -> str:
    """The path to start. TransportError when there is none, with the folders it was looked for in."""
    if cwd is not None and not (os.access(cwd, os.X_OK) and Path(cwd).is_dir()):
        raise TransportError(f"cannot start {name!r}: there is no folder {str(cwd)!r} that we may enter")
    if os.sep in name and not WINDOWS:
        return name
    path = environment.get("PATH", os.defpath)
    found = shutil.which(name, path=path)  # on Windows this tries npx.cmd for npx
    if found is None:
        raise TransportError(f"there is no command {name!r}; looked in: {path}")
    return str(Path(found).absolute())  # a folder of PATH may be relative, and the child starts in cwd


def reason(problem: Exception, program: str) -> str:
    """Why `program` did not start, in words that help more than the system's."""
    if Path(program).is_dir():
        return "it is a folder"
    if isinstance(problem, FileNotFoundError) and Path(program).is_file():
        return "the interpreter that its first line names does not exist"
    words = {
        errno.EACCES: "it is not executable, or not for us",
        errno.ENOEXEC: "it is no program, and no script whose first line names one (#!/usr/bin/env python3)",
    }
    return words.get(getattr(problem, "errno", 0), str(problem))
