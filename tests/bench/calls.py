"""Calls over stdio: one small, a thousand at once, one of 10 MB; connecting and listing. On one core."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from report import at_least, line

from mcp_lessons import Client, StdioTransport, Traffic

SERVER = [sys.executable, str(Path(__file__).with_name("server.py"))]
SDK_SERVER = StdioServerParameters(command=SERVER[0], args=SERVER[1:])
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
BLOCKS = 15
SMALL, MANY, THREADS = 200, 1000, 16

Block = Callable[[], Awaitable[None]]


class Bare:
    """A pipe and json: the least that a conversation can cost."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.request("initialize", HELLO)

    def request(self, method: str, params: dict[str, Any]) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        return self.request("tools/call", {"name": name, "arguments": arguments})["content"][0]["text"]

    def close(self) -> None:
        self.process.communicate()


def connected(traffic: Traffic | None) -> Client:
    client = Client(StdioTransport(SERVER), traffic=traffic)
    client.initialize()
    return client


async def best(contenders: dict[str, Block], blocks: int = BLOCKS) -> dict[str, float]:
    """Seconds of the best block of each, all taking turns."""
    seconds = dict.fromkeys(contenders, float("inf"))
    for _ in range(blocks):
        for name, block in contenders.items():
            began = time.perf_counter()
            await block()
            seconds[name] = min(seconds[name], time.perf_counter() - began)
    return seconds


def times(many: int, call: Callable[[], Any]) -> Block:
    async def block() -> None:
        for _ in range(many):
            call()

    return block


def from_threads(client: Client) -> Block:
    """A thousand calls from sixteen threads."""

    def work(share: int) -> None:
        for _ in range(share):
            client.call_tool("echo", {"text": "hello"}, timeout=120)

    async def block() -> None:
        shares = [MANY // THREADS + (n < MANY % THREADS) for n in range(THREADS)]
        threads = [threading.Thread(target=work, args=(share,)) for share in shares]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return block


def shown(seconds: dict[str, float], each: int = 1) -> str:
    unit, scale = ("µs", 1e6) if each > 1 else ("ms", 1e3)
    return "  ".join(f"{name} {value / each * scale:.0f} {unit}" for name, value in seconds.items())


async def compare() -> None:
    bare, ours, quiet = Bare(), connected(Traffic()), connected(None)
    async with stdio_client(SDK_SERVER) as (read, write), ClientSession(read, write) as sdk:
        await sdk.initialize()
        await sdk.list_tools()

        async def sdk_small() -> None:
            for _ in range(SMALL):
                await sdk.call_tool("echo", {"text": "hello"})

        async def sdk_many() -> None:
            await asyncio.gather(*(sdk.call_tool("echo", {"text": "hello"}) for _ in range(MANY)))

        async def sdk_big() -> None:
            assert len((await sdk.call_tool("big", {})).content[0].text) == 10_000_000

        def big(contender: Any) -> Block:
            return times(1, lambda: contender("big", {}))

        small = await best({
            "bare": times(SMALL, lambda: bare.call("echo", {"text": "hello"})),
            "recorded": times(SMALL, lambda: ours.call_tool("echo", {"text": "hello"})),
            "not recorded": times(SMALL, lambda: quiet.call_tool("echo", {"text": "hello"})),
            "sdk": sdk_small,
        })  # fmt: skip
        many = await best({"ours": from_threads(ours), "sdk": sdk_many}, blocks=5)
        large = await best({"bare": big(bare.call), "ours": big(ours.call_tool), "sdk": sdk_big}, blocks=7)
    for contender in (bare, ours, quiet):
        contender.close()
    line(
        "a small call, recorded, against the bare pipe",
        shown(small, SMALL),
        small["recorded"] / small["bare"],
        2.5,
    )
    line("a small call, not recorded, against the same", "", small["not recorded"] / small["bare"], 2.5)
    at_least("a small call, the sdk's against ours recorded", "", small["sdk"] / small["recorded"], 3)
    at_least(
        f"{MANY} calls, {THREADS} threads, the sdk's in flight", shown(many), many["sdk"] / many["ours"], 2
    )
    line("a result of 10 MB, against the bare pipe", shown(large), large["ours"] / large["bare"], 1.5)


async def connecting() -> None:
    """Connect, list, hang up."""

    async def bare() -> None:
        pipe = Bare()
        pipe.request("tools/list", {})
        pipe.close()

    async def ours() -> None:
        with connected(Traffic()) as client:
            assert len(client.list_tools()) == 2

    async def sdk() -> None:
        async with stdio_client(SDK_SERVER) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            await session.list_tools()

    seconds = await best({"bare": bare, "ours": ours, "sdk": sdk}, blocks=7)
    line("connect, list, hang up", shown(seconds))
    ours_, sdk_ = (seconds[name] / seconds["bare"] for name in ("ours", "sdk"))
    print(f"{'':46} ours {ours_:.2f} bare pipes, the sdk's {sdk_:.2f}")


def main() -> None:
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else set()
    if cores:
        os.sched_setaffinity(0, {max(cores)})
    try:
        asyncio.run(compare())
        asyncio.run(connecting())
    finally:
        if cores:
            os.sched_setaffinity(0, cores)
