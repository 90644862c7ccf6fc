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
from ._threads import Lock, sheltered
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
            yield (bytes(line) + piece)[:limit].removesuffix(b"\r")
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
        if isinstance(command, str | bytes) or not command:
            raise TypeError(
                f'a command is a list of words, as in ["npx", "some-server"]; this is {command!r}'
            )
        self.command = [str(word) for word in command]
        self.env, self.cwd = env, cwd
        self.stderr: deque[str] = deque(maxlen=20)
        self._child: Child | None = None
        self._threads: list[threading.Thread] = []
        self._turn, self._closing, self._over = Lock(), Lock(), threading.Event()

    @sheltered
    def start(self, on_event: Recorder) -> None:
        """Start the process, and report to `on_event(source, raw, body)` whatever happens from now on.

        TransportError when it cannot be started, or was started before: it is for one process.
        """
        if self._child is not None:
            raise TransportError(f"this transport of {self.command[0]} was started before; make another")
        self._child, self._report = Child(self.command, self.env, self.cwd), on_event
        words = redact_command(self.command)
        spawned = {"event": "spawned", "command": words, "pid": self._child.pid}
        on_event("process", "spawned " + " ".join(words), spawned)
        self._threads += [_thread(self._read_stdout), _thread(self._read_stderr)]
        self._threads += [_thread(self._watch)]

    def send(self, message: jsonrpc.Message, timeout: float = 30.0) -> None:
        """Write one message. TimeoutError when the server does not read it within `timeout` seconds,
        TransportError when it is gone; ValueError or TypeError when the message is no JSON."""
        line = jsonrpc.encode(message)
        if self._child is None:
            raise TransportError(f"{self.command[0]} is not started yet")
        try:
            with self._turn:  # the record has the order of the wire
                self._report("sent", line, message)
                unsent = self._child.queue(line.encode("utf-8", "replace") + b"\n")
            self._child.flush(unsent, timeout)
        except (BrokenPipeError, ConnectionError) as problem:
            raise TransportError(f"{self.command[0]} does not take messages any more") from problem

    def close(self) -> None:
        """Hang up: close stdin and wait; SIGTERM and wait; SIGKILL. Also for its children. Never raises."""
        if (child := self._child) is None or not any(thread.is_alive() for thread in self._threads):
            return  # not started, over already, or a fork of the process whose server this is
        if threading.get_ident() in [thread.ident for thread in self._threads]:
            _thread(self.close)  # the end waits for our own threads: they cannot wait for the end
            return
        try:
            with self._closing:
                self._hang_up(child)
            self._over.wait(2 * GRACE_SECONDS)
        except BaseException:  # Ctrl-C: whoever cannot wait any longer does not ask politely
            child.kill()
            raise

    def _hang_up(self, child: Child) -> None:
        steps = (("stdin closed", child.close_stdin), ("SIGTERM", child.terminate), ("SIGKILL", child.kill))
        for step, take in steps:
            if not child.exited.is_set():
                self._report("process", step, _step_event(step))
                take()
                child.exited.wait(GRACE_SECONDS)

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
        for reader in self._threads[:2]:
            reader.join()  # what it wrote before it died still counts
        ended = {"event": "exited", "status": status, "stderr": list(self.stderr)}
        self._child.release()
        self._report("process", f"exited with status {status}", ended)
        self._over.set()


def _thread(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def _step_event(step: str) -> dict[str, str]:
    return {"event": step} if step == "stdin closed" else {"event": "signalled", "signal": step}
