"""A server as a child process: one JSON-RPC message a line, over its stdin and stdout.

Lesson 1 builds this module. The rules are those of
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from . import jsonrpc
from ._process import Child
from .errors import TransportError
from .traffic import Recorder, redact_command

MAX_LINE = 64 * 1024 * 1024
"""Bytes of one line of stdout that are kept; the rest of a longer one is dropped."""
MAX_STDERR_LINE = 8 * 1024
GRACE_SECONDS = 2.0
"""How long each step of hanging up waits before the next, harder one."""


def split_lines(read: Callable[[], bytes], limit: int) -> Iterator[bytes]:
    """Chunks of bytes in, lines out, without LF or CR LF and each cut at `limit` bytes.

    `read()` returns the next chunk, b"" at the end. A chunk may end anywhere, also inside a
    character, so nothing is decoded before its line is whole.
    """
    line = bytearray()
    while chunk := read():
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            line += piece[: limit - len(line)]
            yield bytes(line.removesuffix(b"\r"))
            line.clear()
        line += rest[: limit - len(line)]
    if line:
        yield bytes(line)


class StdioTransport:
    """One server as a child process: JSON lines on stdin and stdout, free text on stderr.

    `command` is a list of words; `env` is added to the few variables every child gets; `cwd` is
    the folder it starts in. The last lines of its stderr stand in `.stderr`.
    """

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | Path | None = None
    ) -> None:
        if isinstance(command, str) or not command:
            raise TypeError(
                f'a command is a list of words, as in ["npx", "some-server"]; this is {command!r}'
            )
        self.command = [str(word) for word in command]
        self.env, self.cwd = env, cwd
        self.stderr: deque[str] = deque(maxlen=20)
        self._child: Child | None = None
        self._turn = threading.Lock()

    def start(self, on_event: Recorder) -> None:
        """Start the process, and report to `on_event(source, raw, body)` whatever happens from now on.

        TransportError when it cannot be started.
        """
        self._child, self._report = Child(self.command, self.env, self.cwd), on_event
        words = redact_command(self.command)
        spawned = {"event": "spawned", "command": words, "pid": self._child.pid}
        on_event("process", "spawned " + " ".join(words), spawned)
        self._readers = [_thread(self._read_stdout), _thread(self._read_stderr)]
        self._watcher = _thread(self._watch)

    def send(self, message: jsonrpc.Message, timeout: float = 30.0) -> None:
        """Write one message. TimeoutError when the server does not read it within `timeout` seconds,
        TransportError when it is gone; ValueError or TypeError when the message is no JSON."""
        line = jsonrpc.encode(message)
        if not self._turn.acquire(timeout=max(0.0, timeout)):
            raise TimeoutError("the server does not read what it is sent")
        try:
            self._report("sent", line, message)
            self._child.write(line.encode("utf-8", "replace") + b"\n", timeout)
        except (BrokenPipeError, ConnectionError) as problem:
            raise TransportError(f"{self.command[0]} does not take messages any more") from problem
        finally:
            self._turn.release()

    def close(self) -> None:
        """Hang up: close stdin and wait; SIGTERM and wait; SIGKILL. Also for its children. Never raises."""
        if self._child is None or threading.current_thread() is self._watcher:
            return
        steps = [("stdin closed", self._child.close_stdin), ("SIGTERM", self._child.terminate)]
        for step, take in steps:
            if not self._watcher.is_alive():
                return
            self._report("process", step, _step_event(step))
            take()
            self._watcher.join(GRACE_SECONDS)
        if self._watcher.is_alive():
            self._report("process", "SIGKILL", _step_event("SIGKILL"))
            self._child.kill()
            self._watcher.join()

    def _read_stdout(self) -> None:
        for line in split_lines(self._child.read_stdout, MAX_LINE):
            if line.strip():
                self._report("received", line.decode("utf-8", "replace"))
        if not self._child.exited.wait(GRACE_SECONDS / 4):
            self._report("process", "stdout closed", {"event": "stdout closed"})

    def _read_stderr(self) -> None:
        for line in split_lines(self._child.read_stderr, MAX_STDERR_LINE):
            text = line.decode("utf-8", "replace")
            self.stderr.append(text)
            self._report("stderr", text)

    def _watch(self) -> None:
        status = self._child.wait()
        for reader in self._readers:
            reader.join()  # what it wrote before it died still counts
        ended = {"event": "exited", "status": status, "stderr": list(self.stderr)}
        self._child.release()
        self._report("process", f"exited with status {status}", ended)


def _thread(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def _step_event(step: str) -> dict[str, str]:
    return {"event": step} if step == "stdin closed" else {"event": "signalled", "signal": step}
