"""Child processes on every platform: started in a group of their own, read, written, ended.

Shown, not taught: this is the work of the platform, none of it is MCP. Three facts drive it.

* A server started from a notebook must not get the kernel's Ctrl-C, and ending it must reach the
  server behind a launcher such as `npx` too: so each child leads a process group of its own.
* A group of its own survives the kernel. So one small guard process (`_guard.py`) waits for the
  kernel's end, however it comes, and then ends every group that is left.
* Neither a server that never reads nor a stranger that holds its pipes may block us for ever: so
  writes have a deadline, and reads end soon after the process has.
"""

import os
import select
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from ._commands import WINDOWS, child_environment, find_program, reason
from ._guard import guard, signal_group
from ._threads import Lock
from .errors import TransportError

CHUNK = 65_536
"""Bytes asked for at a time: what a pipe holds on Linux."""
MAX_UNSENT = 64 * 1024 * 1024
"""Bytes kept for a server that does not read; beyond it a write is refused."""
DRAIN_SECONDS = 2.0
"""How long what a dead process wrote is still read while somebody else holds its pipes open."""
QUIET_SECONDS = 0.2
DEAF_SECONDS = 1.0
"""How long the next write waits for a server that did not read within the timeout of the last one."""
LONGEST_POLL = 0.5
"""Seconds after which a write that waits looks up, to see whether its pipe has been closed."""

_FLAGS = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW if WINDOWS else 0


class Child:
    """A running process: unbuffered pipes, a group of its own, an end that nothing can postpone."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | Path | None = None
    ) -> None:
        """Start `command`. TransportError, with the reason, when that cannot be done."""
        environment = child_environment(env)
        program = find_program(command[0], environment, cwd)
        self._bell: Sequence[int] = ()  # a pipe, rung when the process has ended
        try:
            self._bell = () if WINDOWS else os.pipe()
            self.popen = subprocess.Popen(
                [program, *command[1:]],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                bufsize=0, cwd=cwd, env=environment, start_new_session=True, creationflags=_FLAGS,
            )  # fmt: skip
        except (OSError, ValueError) as problem:
            self._close_bell()
            raise TransportError(f"cannot start {command[0]!r}: {reason(problem, program)}") from problem
        self.pid, self._owner = self.popen.pid, os.getpid()
        self.exited = threading.Event()
        self._unsent: deque[_Unsent] = deque()
        self._is_deaf = False  # it has not read for a whole timeout, nor since
        self._pipes, self._reaping = Lock(), Lock()
        self._outputs = [_Output(pipe, self._bell) for pipe in (self.popen.stdout, self.popen.stderr)]
        self.read_stdout, self.read_stderr = (output.read for output in self._outputs)
        try:
            guard.add(self)
        except OSError as problem:
            with self.popen:
                self.kill()
            self._close_bell()
            raise TransportError(f"cannot watch over {command[0]!r}: {problem}") from problem
        if not WINDOWS:
            os.set_blocking(self.popen.stdin.fileno(), False)

    def queue(self, data: bytes) -> "_Unsent":
        """Put `data` in line to be written. TimeoutError when too much is waiting there already."""
        if os.getpid() != self._owner:
            raise TransportError("this process is a fork: the server belongs to the one that started it")
        if self._unsent and sum(len(line.data) for line in list(self._unsent)) > MAX_UNSENT:
            raise TimeoutError("the server has stopped reading")
        self._unsent.append(line := _Unsent(data))
        return line

    def flush(self, line: "_Unsent", timeout: float) -> None:
        """Write until `line` is out. TimeoutError when the process does not read it within `timeout`
        seconds: the rest stays in line before the next one, so that no line is ever torn. After that nobody
        has as much patience, until it reads again."""
        deadline = time.monotonic() + (min(timeout, DEAF_SECONDS) if self._is_deaf else timeout)
        while not line.is_out():
            with self._pipes:  # a pipe that is being closed must not be written to
                if self.popen.stdin.closed:
                    raise BrokenPipeError("stdin is closed")
                fd = self.popen.stdin.fileno()
                written = not self._unsent or self._unsent[0].write(fd)
                while self._unsent and self._unsent[0].is_out():
                    self._unsent.popleft()
            self._is_deaf = not written and (self._is_deaf or time.monotonic() >= deadline)
            if not written:
                if time.monotonic() >= deadline:
                    raise TimeoutError("the server does not read what it is sent")
                _wait_until_writable(fd, deadline - time.monotonic())

    def close_stdin(self) -> None:
        """Close our end of stdin: the polite way to say goodbye."""
        self._pipes.give_back()
        if self._pipes.acquire(timeout=QUIET_SECONDS):  # not to be had: a write blocks (Windows alone)
            try:
                self.popen.stdin.close()
            finally:
                self._pipes.release()

    def wait(self) -> int | None:
        """Block until the process has ended; its exit status (negative: the signal's number), or None
        when somebody else has taken it (a program that ignores SIGCHLD leaves it to the system)."""
        known = True
        if hasattr(os, "waitid"):
            try:
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            except ChildProcessError:
                known = False
        else:
            self.popen.wait()
        with self._reaping:  # before it is reaped, no stranger can have its number
            signal_group(self.pid, "SIGKILL")  # whatever it leaves behind in its group
            status = self.popen.wait()
            self.exited.set()
        for output in self._outputs:
            output.drain_until = time.monotonic() + DRAIN_SECONDS
        for fd in self._bell[1:]:
            os.write(fd, b"!")
        return status if known else None

    def terminate(self) -> None:
        """Ask the whole group to end (SIGTERM; on Windows there is no asking)."""
        self._signal("SIGTERM")

    def kill(self) -> None:
        """End the whole group, now."""
        self._signal("SIGKILL")

    def release(self) -> None:
        """Close the pipes and leave the guard. Call it once, after the readers have returned."""
        guard.remove(self)
        with self._pipes:
            self.abandon()
            self._close_bell()

    def abandon(self) -> None:
        """Close our ends of the pipes, as a fork of ours must."""
        for pipe in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            pipe.close()

    def _signal(self, name: str) -> None:
        with self._reaping:
            if not self.exited.is_set():
                signal_group(self.pid, name)

    def _close_bell(self) -> None:
        for fd in self._bell:
            os.close(fd)
        self._bell = ()


class _Unsent:
    """A line on its way into the pipe."""

    def __init__(self, data: bytes) -> None:
        self.data, self._written = data, []

    def is_out(self) -> bool:
        return sum(self._written) == len(self.data)

    def write(self, fd: int) -> bool:
        """Write what the pipe takes now; False when it takes nothing.

        The bytes are written and counted in one step of C code: Ctrl-C between the two would have
        them written again.
        """
        start = sum(self._written)
        try:
            self._written.extend(map(os.write, (fd,), (self.data[start : start + CHUNK],)))
        except BlockingIOError:
            return False
        return True


class _Output:
    """One of the two pipes that a child writes to."""

    def __init__(self, pipe: IO[bytes], bell: Sequence[int]) -> None:
        self._pipe, self.drain_until = pipe, 0.0
        if not WINDOWS:
            self._data, self._data_or_end, self._ending = select.poll(), select.poll(), bell[0]
            self._data.register(pipe, select.POLLIN)
            for source in (pipe, self._ending):
                self._data_or_end.register(source, select.POLLIN)

    def read(self) -> bytes:
        """The next bytes, as soon as there are some; b"" at the end."""
        if WINDOWS:
            return self._pipe.read(CHUNK) or b""
        ready = self._data_or_end.poll()
        if (len(ready) > 1 or ready[0][0] == self._ending) and self._is_quiet():
            return b""
        return os.read(self._pipe.fileno(), CHUNK)

    def _is_quiet(self) -> bool:
        return time.monotonic() > self.drain_until or not self._data.poll(QUIET_SECONDS * 1000)


def _wait_until_writable(fd: int, seconds: float) -> None:
    if not WINDOWS:
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        poll.poll(max(0.0, min(seconds, LONGEST_POLL)) * 1000)
