"""What is wrong with the bytes, before any message is read.

The transport: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
"""

import json
import sys
import time
from typing import Any

from ... import jsonrpc
from .healthy import Healthy, Message, text


class Banner(Healthy):
    """Prints a banner of three lines on stdout before it reads anything."""

    def start(self) -> None:
        for line in ("*" * 32, "* Welcome to Faulty Server 1.0 *", "*" * 32):
            self.write(line)


class StdoutLog(Healthy):
    """Prints a banner at start and a log line before every reply, on stdout."""

    def start(self) -> None:
        self.write("Faulty Server 1.0 starting ...")

    def reply(self, message: Message) -> None:
        self.write(f"INFO  answering request {message['id']}")
        self.send(message)


class StdoutLogUnterminated(Healthy):
    """Prints "Loading ... " without a newline before every reply, so that both share a line."""

    def reply(self, message: Message) -> None:
        self.write_bytes(b"Loading ... ")
        self.send(message)


class Crlf(Healthy):
    """Ends its lines with CR LF, as text mode on Windows writes them."""

    def write(self, line: str) -> None:
        super().write(line + "\r")


class BlankLines(Healthy):
    """Puts empty lines and lines of blanks around every message."""

    def write(self, line: str) -> None:
        self.write_bytes(b"\n  \t \n\r\n")
        super().write(f"  {line}\t")


class Bom(Healthy):
    """Begins every line with a byte order mark."""

    def write(self, line: str) -> None:
        super().write("\ufeff" + line)


class Utf16(Healthy):
    """Writes UTF-16, as an old PowerShell pipe does."""

    def write(self, line: str) -> None:
        self.write_bytes(f"{line}\r\n".encode("utf-16-le"))


class NulBytes(Healthy):
    """Writes NUL bytes before every message."""

    def write(self, line: str) -> None:
        self.write_bytes(b"\0\0\0")
        super().write(line)


class ColouredLines(Healthy):
    """Wraps every message in the codes that colour a terminal."""

    def write(self, line: str) -> None:
        super().write(f"\x1b[32m{line}\x1b[0m")


class SplitChunks(Healthy):
    """Writes 3 bytes at a time with pauses, splitting UTF-8 characters."""

    def write_bytes(self, data: bytes) -> None:
        for start in range(0, len(data), 3):
            super().write_bytes(data[start : start + 3])
            time.sleep(0.0005)


class TwoOnALine(Healthy):
    """Writes a notification and the reply on one line, with nothing between them."""

    def reply(self, message: Message) -> None:
        log = jsonrpc.notification("notifications/message", {"level": "info", "data": "answering"})
        self.write(jsonrpc.encode(log) + jsonrpc.encode(message))


class PrettyJson(Healthy):
    """Prints its messages prettily, over several lines."""

    def send(self, message: Any) -> None:
        self.write(json.dumps(message, indent=2))


class PythonRepr(Healthy):
    """Once: the reply is written as Python prints a dict, with single quotes."""

    def reply(self, message: Message) -> None:
        if self.calls == 1:
            self.write(repr(message))
        else:
            self.send(message)


class LineSeparators(Healthy):
    """Has U+2028, U+2029 and U+0085 inside its texts: no newlines, though str.splitlines splits there."""

    def tool(self, name: Any, arguments: Message) -> Any:
        return text("one\u2028two\u2029three\u0085four")


class BigLine(Healthy):
    """Answers echo with one line of 3 MB."""

    def tool(self, name: Any, arguments: Message) -> Any:
        return text("x" * 3_000_000) if name == "echo" else super().tool(name, arguments)


class EndlessLine(Healthy):
    """Once: answers with a line that goes on, 6 MB a second, and never ends."""

    def call(self, id: int | str, params: Message) -> Message | None:
        while True:
            self.write_bytes(b"x" * 65536)
            time.sleep(0.01)


class InvalidUtf8Payload(Healthy):
    """Once: the reply is encoded as cp1252, so its text is not valid UTF-8."""

    def tool(self, name: Any, arguments: Message) -> Any:
        return text("déjà vu") if self.calls == 1 else super().tool(name, arguments)

    def reply(self, message: Message) -> None:
        if self.calls == 1:
            self.write_bytes(jsonrpc.encode(message).encode("cp1252", "replace") + b"\n")
        else:
            self.send(message)


class ContentLength(Healthy):
    """Frames its messages as language servers do: a Content-Length header, a blank line, the body."""

    def write(self, line: str) -> None:
        body = line.encode()
        self.write_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


class EchoesStdin(Healthy):
    """Writes back every line that it reads, as a terminal would."""

    def receive(self, line: str) -> None:
        self.write_bytes(line.encode())
        super().receive(line)


class CutReply(Healthy):
    """Once: writes the first half of the reply, and exits."""

    def reply(self, message: Message) -> None:
        if not self.calls:
            return self.send(message)
        half = jsonrpc.encode(message).encode()
        self.write_bytes(half[: len(half) // 2])
        sys.exit(0)


class StderrFlood(Healthy):
    """Writes 1 MB to stderr, with invalid UTF-8 and no newline, before every answer."""

    def reply(self, message: Message) -> None:
        sys.stderr.buffer.write(b"\xff\xfe flood" * 125_000)
        sys.stderr.buffer.flush()
        self.send(message)


class StderrTerminalCodes(Healthy):
    """Writes colours, a cleared screen and a new window title to stderr."""

    def start(self) -> None:
        self.log("\x1b[31mWARNING\x1b[0m \x1b[2J\x1b[H \x1b]0;owned\x07 half a line\rover it")
