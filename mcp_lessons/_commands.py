"""Which program a command means, what it gets to see of our environment, and why it does not start.

Shown, not taught.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from .errors import TransportError

WINDOWS = sys.platform == "win32"

INHERITED = (
    ("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE",
     "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE")
    if WINDOWS else
    ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE",
     "TMPDIR", "TEMP", "TMP")
)  # fmt: skip


def child_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a server gets to see of our environment, plus `extra`: enough to run, and none of our keys."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return inherited | {str(name): str(value) for name, value in (extra or {}).items()}


def find_program(name: str, environment: Mapping[str, str], cwd: str | Path | None) -> str:
    """The path to start. TransportError when there is none, with the folders it was looked for in."""
    if cwd is not None and not Path(cwd).is_dir():
        raise TransportError(f"cannot start {name!r}: there is no folder {str(cwd)!r}")
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
    return str(problem)
