"""One process that outlives ours and ends the servers that are left, however we end.

Shown, not taught. Each server leads a process group of its own, and such a group survives the kernel
that started it. On Windows a job object of the system does the same work.
"""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

WINDOWS = sys.platform == "win32"


class Guard:
    """It runs while there are children: a shell with the script `_guard.sh`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None
        self._children: dict[int, Any] = {}
        self._before_the_fork: dict[str, Any] = {}

    def add(self, child: Any) -> None:
        """Watch over `child` (which has a `pid`, a `popen`, and an `abandon` for forks of ours)."""
        if WINDOWS:
            from ._windows import end_with_us

            return end_with_us(child.popen)
        _hear_of_forks()
        with self._lock:
            self._children[child.pid] = child
            self._tell(f"+ {child.pid}\n")
            if self._process is None:
                self._process = subprocess.Popen(
                    ["/bin/sh", Path(__file__).with_name("_guard.sh")],
                    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    bufsize=0, cwd="/", start_new_session=True,
                )  # fmt: skip
                self._tell("".join(f"+ {pid}\n" for pid in self._children))

    def remove(self, child: Any) -> None:
        """Forget `child`, which has ended."""
        with self._lock:
            self._children.pop(child.pid, None)
            self._tell(f"- {child.pid}\n")
            if not self._children:
                self._dismiss()

    def forked(self) -> None:
        """Called in each fork of our process: the servers are not its own, and it must not hold open what
        tells them, and the guard, of our end."""
        for child in self._children.values():
            child.abandon()
        if self._process is not None:
            self._process.stdin.close()
        inherited = vars(self).copy()
        self.__init__()
        self._before_the_fork = inherited  # kept: a Popen that is collected asks after its process

    def _tell(self, lines: str) -> None:
        try:
            if self._process is not None:
                self._process.stdin.write(lines.encode())
        except OSError:  # somebody ended the guard: the next child starts another
            self._dismiss()

    def _dismiss(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.stdin.close()
            process.wait()


def signal_group(pid: int, name: str) -> None:
    """Send the signal to the whole group that `pid` leads, if it is still there."""
    if WINDOWS:
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(pid)], capture_output=True, check=False)
        return
    with suppress(ProcessLookupError, PermissionError):  # nobody is left (macOS says: not permitted)
        os.killpg(pid, getattr(signal, name))


guard = Guard()


@cache
def _hear_of_forks() -> None:
    os.register_at_fork(after_in_child=guard.forked)
