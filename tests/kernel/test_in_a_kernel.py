"""The client in a real Jupyter kernel: interrupted, run again, restarted, shut down, killed."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager
from kit import is_gone, wait_until

TESTS = Path(__file__).resolve().parent.parent
SETUP = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from kit import cancelled_ids, connected, echo, is_gone, pid_of, tiny, wait_until
from mcp_lessons import Client, StdioTransport, Traffic
ECHO = tiny(
    "serve(lambda m: m['params']['name'] == 'echo' and reply(m, text(m['params']['arguments']['text'])))"
)
"""
CELL_SECONDS = 30


class Kernel:
    """A kernel, and what its cells print."""

    def __init__(self) -> None:
        self.manager = KernelManager(kernel_name="python3")
        environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        self.manager.start_kernel(env=environment)
        self.connect()

    def connect(self) -> None:
        """Open the channels (again, after a restart), and run the cell that all tests begin with."""
        self.client: BlockingKernelClient = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=CELL_SECONDS)
        assert self.run(SETUP) == ""

    def run(self, code: str, when_it_prints: str = "", then=lambda: None) -> str:
        """What the cell prints, and the name of its exception; `then` is done as soon as it has printed
        `when_it_prints`."""
        said: list[str] = []

        def hear(message):
            content = message["content"]
            if message["msg_type"] == "stream":
                said.append(content["text"])
            if message["msg_type"] == "error":
                said.append(content["ename"])
            if when_it_prints and when_it_prints in "".join(said):
                then_once()

        done = []

        def then_once():
            if not done:
                done.append(then())

        self.client.execute_interactive(code, timeout=CELL_SECONDS, output_hook=hear, store_history=False)
        return "".join(said)

    def close(self) -> None:
        self.client.stop_channels()
        if self.manager.is_alive():
            self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()


@contextmanager
def kernels(many: int) -> Iterator[list[Kernel]]:
    running: list[Kernel] = []
    try:
        for _ in range(many):
            running.append(Kernel())
        yield running
    finally:
        for kernel in running:
            kernel.close()


CONNECT = "client = Client(StdioTransport(ECHO), traffic=Traffic()); _ = client.initialize()"
CALL_IN_VAIN = """
waiting = client.begin_call("silent", timeout=25)
print("sent", flush=True)
client.finish_call(waiting)
"""


def test_cells_run_again_are_interrupted_and_open_and_close_in_any_order():
    with kernels(1) as (kernel,):
        assert kernel.run(CONNECT) == ""
        # An event loop runs in the thread of the cells, and nothing minds.
        assert kernel.run("import asyncio; print(asyncio.get_running_loop().is_running())") == "True\n"
        assert kernel.run("print(echo(client))") == "hello\n"

        # The connect cell again: nothing refers to the old client any more, so it hangs up.
        assert kernel.run("import gc; first = pid_of(client)") == ""
        assert kernel.run(CONNECT) == ""
        assert kernel.run("_ = gc.collect(); print(wait_until(lambda: is_gone(first)), echo(client))") == (
            "True hello\n"
        )

        # An interrupt ends the call at hand; the server lives, and knows that the call is cancelled.
        interrupt = kernel.manager.interrupt_kernel
        said = kernel.run(CALL_IN_VAIN, when_it_prints="sent", then=interrupt)
        assert said == "sent\nKeyboardInterrupt"
        assert kernel.run("print(cancelled_ids(client.traffic) == [waiting.message['id']])") == "True\n"
        assert kernel.run("print(echo(client))") == "hello\n"

        # Opened in one cell, closed in another, the older first.
        assert kernel.run(CONNECT.replace("client", "second")) == ""
        assert kernel.run("client.close(); print(is_gone(pid_of(client)), echo(second))") == "True hello\n"
        assert kernel.run("second.close(); print(is_gone(pid_of(second)))") == "True\n"


STUBBORN = """
deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); serve(print); time.sleep(100)"
launcher = "import subprocess; subprocess.run([sys.executable, '-S', '-c', sys.argv[1]])"
commands = [ECHO, tiny(deaf), [*tiny(launcher), tiny(deaf)[-1]]]
clients = [Client(StdioTransport(command)) for command in commands]
for client in clients:
    _ = client.initialize()
"""


def test_ten_seconds_after_a_kernel_is_killed_restarted_or_shut_down_no_server_of_it_is_left():
    with kernels(3) as (killed, restarted, shut_down):
        pids = []
        for kernel in (killed, restarted, shut_down):
            assert kernel.run(STUBBORN) == ""
            servers = psutil.Process(kernel.manager.provisioner.process.pid).children(recursive=True)
            assert len(servers) == 5  # three servers, the one behind the launcher, the guard
            pids += [process.pid for process in servers]

        os.kill(killed.manager.provisioner.process.pid, signal.SIGKILL)
        restarted.client.stop_channels()
        restarted.manager.restart_kernel()
        shut_down.manager.shutdown_kernel()
        wait_until(lambda: all(is_gone(pid) for pid in pids), seconds=10)

        restarted.connect()
        assert restarted.run("with connected(ECHO) as client: print(echo(client))") == "hello\n"
