"""A thread of its own for work that must not hold up the reader of a connection.

Shown, not taught. The thread starts with its first job, and ends when its owner is gone.
"""

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

MAX_WAITING = 1_000
"""Jobs that may wait; beyond it they are dropped, so that a flood cannot fill the memory."""


class Worker:
    """Runs jobs one after the other, in the order given, on one daemon thread."""

    def __init__(self) -> None:
        self._jobs: queue.Queue = queue.Queue(MAX_WAITING)
        self._lock = threading.Lock()
        self._started = self._closed = False

    def do(self, job: Callable[..., Any], *arguments: Any) -> bool:
        """Have `job(*arguments)` run soon; False when it was dropped. A job must not raise."""
        with self._lock:
            if self._closed:
                return False
            if not self._started:
                threading.Thread(target=_run, args=(self._jobs,), daemon=True).start()
                self._started = True
        try:
            self._jobs.put_nowait((job, arguments))
        except queue.Full:
            return False
        return True

    def close(self) -> None:
        """End the thread after the job it is at; the jobs that wait are dropped."""
        with self._lock:
            self._closed = True
        while self._started:
            try:
                self._jobs.put_nowait(None)
                return
            except queue.Full:
                with suppress(queue.Empty):
                    self._jobs.get_nowait()


def _run(jobs: queue.Queue) -> None:
    while (entry := jobs.get()) is not None:
        job, arguments = entry
        job(*arguments)
        del entry, job, arguments  # an idle worker must not keep its owner alive

