"""`make soak`: much of everything, and nothing left. `--short` is what CI runs.

Many servers mounted at once and thousands of calls over them from several threads; mounts and closes, one
after the other; a long record. Each part prints its figures, and fails when a process, a thread or a
descriptor is left, or when memory has grown beyond its bound.
"""

import argparse
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kit import tiny, wait_until

from mcp_lessons import Toolbox, Traffic

MEGABYTE = 1024 * 1024
SERVER = tiny(
    "SCHEMA = {'type': 'object', 'properties': {'text': {'type': 'string'}}}\n"
    "TOOLS = [{'name': 'echo', 'inputSchema': SCHEMA}]\n"
    "serve(lambda m: reply(m, text(m['params']['arguments']['text'])),\n"
    "      lambda m: m['method'] == 'tools/list' and reply(m, {'tools': TOOLS}))"
)
THREADS = 8


def left() -> tuple[int, int, int]:
    """Processes, threads and descriptors that are there now."""
    gc.collect()
    me = psutil.Process()
    return len(me.children(recursive=True)), threading.active_count(), me.num_fds()


@contextmanager
def nothing_stays(what: str, most_megabytes: int) -> Iterator[None]:
    """Prints the time and the memory it took; fails when anything is left afterwards."""
    before, memory, began = left(), psutil.Process().memory_info().rss, time.monotonic()
    yield
    seconds = time.monotonic() - began
    wait_until(lambda: all(now <= then for now, then in zip(left(), before, strict=True)))
    grown = (psutil.Process().memory_info().rss - memory) / MEGABYTE
    print(
        f"{what}: {seconds:.1f} s, memory {grown:+.0f} MB (at most {most_megabytes}); left: nothing",
        flush=True,
    )
    assert grown <= most_megabytes, f"{what}: memory has grown by {grown:.0f} MB"


def in_threads(work: Callable[[int], None]) -> None:
    problems: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def many_servers(servers: int, calls: int) -> None:
    """Servers mounted at once, calls over all of them from several threads."""
    with nothing_stays(f"{servers} servers, {calls} calls from {THREADS} threads", 100), Toolbox() as toolbox:
        for number in range(servers):
            toolbox.mount(f"s{number}", SERVER)
        names = toolbox.tools
        assert len(names) == servers

        def work(me: int) -> None:
            for number in range(me, calls, THREADS):
                said = toolbox.call(names[number % servers], {"text": f"call {number}"})
                assert said.text == f"call {number}", said.text

        in_threads(work)
        replies = sum(event.kind == "reply" for event in toolbox.traffic)
        assert replies == calls + 2 * servers, replies


def many_mounts(mounts: int) -> None:
    """A server mounted, called and closed, over and over."""
    traffic = Traffic()
    with nothing_stays(f"{mounts} mounts and closes", 50):
        for number in range(mounts):
            with Toolbox(traffic=traffic) as toolbox:
                toolbox.mount("s", SERVER)
                assert toolbox.call("s__echo", {"text": str(number)}).text == str(number)


def one_long_record(messages: int) -> None:
    """Messages of a kilobyte into one record of a bounded length."""
    traffic = Traffic(limit=messages // 10, max_bytes=20 * MEGABYTE)
    with nothing_stays(f"{messages} messages into one record", 80), Toolbox(traffic=traffic) as toolbox:
        toolbox.mount("s", SERVER)
        calls = messages // 2

        def work(me: int) -> None:
            for _ in range(me, calls, THREADS):
                assert len(toolbox.call("s__echo", {"text": "x" * 1000}).text) == 1000

        in_threads(work)
        assert len(traffic) <= messages // 10 and traffic.dropped + len(traffic) >= messages


def main(short: bool) -> None:
    size = 20 if short else 1
    many_servers(20 // (4 if short else 1), 5_000 // size)
    many_mounts(200 // size)
    one_long_record(100_000 // size)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    main(parser.parse_args().short)
