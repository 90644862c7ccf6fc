"""What is wrong with the process: it dies, it stays, it does not listen.

The life of a server: https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown
"""

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from .healthy import Healthy, Message, fault_name

STAY = 300.0  # seconds; those that will not go do go in the end, so that a broken test leaves nothing behind


class DieOnStart(Healthy):
    """Complains on stderr and exits 1 before reading anything."""

    def start(self) -> None:
        self.log("error: no API key: set the environment variable FAULTY_API_KEY")
        sys.exit(1)


class DieOnInitialize(Healthy):
    """Exits 4 when it reads initialize."""

    def initialize(self, params: Message) -> Any:
        self.log("fatal: cannot open the database")
        sys.exit(4)


class DieMidCall(Healthy):
    """Exits 7 during the first call, without an answer."""

    def tool(self, name: Any, arguments: Message) -> Any:
        self.log("Traceback (most recent call last):\nMemoryError: out of memory in tool " + str(name))
        sys.exit(7)


class KilledMidCall(Healthy):
    """Ends by SIGKILL during the first call, as when memory runs out."""

    def tool(self, name: Any, arguments: Message) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class ReplyThenExit(Healthy):
    """Answers the first call and exits at once; the answer must not be lost."""

    def reply(self, message: Message) -> None:
        self.send(message)
        if self.calls:
            os._exit(0)


class DieBetweenCalls(Healthy):
    """Exits 5 a moment (0.2 s) after the first answer, when nobody is waiting."""

    def reply(self, message: Message) -> None:
        self.send(message)
        if self.calls:
            time.sleep(0.2)
            self.log("fatal: the session has expired")
            os._exit(5)


class ClosesStdout(Healthy):
    """Closes stdout at the first call, and lives on."""

    def reply(self, message: Message) -> None:
        if not self.calls:
            self.send(message)
        elif self.calls == 1:
            os.close(sys.stdout.fileno())


class ClosesStdin(Healthy):
    """Closes its stdin after the first call, and lives on until it is signalled."""

    def reply(self, message: Message) -> None:
        self.send(message)
        if self.calls:
            os.close(sys.stdin.fileno())
            time.sleep(STAY)


class Deaf(Healthy):
    """Stops reading stdin after the handshake, so that the pipe fills up."""

    def receive(self, line: str) -> None:
        super().receive(line)
        if "notifications/initialized" in line:
            time.sleep(STAY)


class Stopped(Healthy):
    """Stops itself (SIGSTOP) at the first call: only SIGKILL ends a stopped process."""

    def tool(self, name: Any, arguments: Message) -> Any:
        os.kill(os.getpid(), signal.SIGSTOP)
        return super().tool(name, arguments)


class Busy(Healthy):
    """Works for --seconds (2.5) on every call, and reads nothing meanwhile."""

    def tool(self, name: Any, arguments: Message) -> Any:
        time.sleep(self.seconds)
        return super().tool(name, arguments)


class SlowExit(Healthy):
    """Takes a second to go when stdin ends, and exits 1."""

    def finish(self) -> None:
        time.sleep(1)
        self.log("saved the session")
        sys.exit(1)


class IgnoreEof(Healthy):
    """Ignores the end of stdin; SIGTERM ends it."""

    def finish(self) -> None:
        time.sleep(STAY)


class IgnoreSigterm(IgnoreEof):
    """Ignores the end of stdin, SIGTERM and SIGINT; only SIGKILL helps."""

    def start(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)


class SigintExit(Healthy):
    """Exits 130 on SIGINT, as most servers do when a notebook kernel is interrupted."""

    def start(self) -> None:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))


class NpxWrapper(Healthy):
    """A launcher whose child is the real server; the child ignores the end of stdin."""

    def run(self) -> None:
        command = [sys.executable, "-m", __package__, fault_name(IgnoreEof)]
        sys.exit(subprocess.call(command))


class HelperHoldsPipes(Healthy):
    """Starts a helper in a session of its own that keeps stdout and stderr open after the server has gone."""

    def start(self) -> None:
        sleep = f"import time; time.sleep({STAY / 10})"
        helper = subprocess.Popen(
            [sys.executable, "-c", sleep], stdin=subprocess.DEVNULL, start_new_session=True
        )
        self.log(f"helper: {helper.pid}")


class TalksAfterEof(IgnoreEof):
    """Goes on talking on both pipes when stdin has ended, until it is signalled."""

    def finish(self) -> None:
        ends = time.monotonic() + STAY
        while time.monotonic() < ends:
            self.notify("notifications/message", {"level": "info", "data": "still here"})
            self.log("still here")
            time.sleep(0.01)


class Chatterbox(Healthy):
    """Sends a log notification every 20 ms from a thread, whatever else happens."""

    def start(self) -> None:
        self.lock = threading.Lock()
        threading.Thread(target=self.chatter, daemon=True).start()

    def chatter(self) -> None:
        while True:
            self.notify("notifications/message", {"level": "debug", "data": "tick"})
            time.sleep(0.02)

    def write_bytes(self, data: bytes) -> None:
        with self.lock:
            super().write_bytes(data)
