"""Work that Ctrl-C must not cut in two, and locks that it must not leave locked.

Shown, not taught. Ctrl-C reaches the main thread alone, between any two steps of it: a process that was
started, and not yet put where it can be found again, would be left to nobody.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from queue import Empty, SimpleQueue

SHELTER_SECONDS = 5.0
"""How long Ctrl-C is held back while sheltered work ends; a second one is heard at once."""


class Lock(type(threading.RLock())):  # type: ignore[misc]
    """A lock for `with`. A thread does not take it twice: if it has it already, Ctrl-C came between taking
    it and the block behind `with` (Python 3.14 lets it), and what was left over is given back first."""

    def __enter__(self) -> None:
        self.give_back()
        self.acquire()

    def give_back(self) -> None:
        """Give back what this thread has left over."""
        if self._is_owned():
            self.release()


def sheltered(work: Callable[..., None]) -> Callable[..., None]:
    """A decorator: called on the main thread, `work` runs on another, is waited for, and raises here what it
    raised. Ctrl-C ends the wait when the work is done."""

    @wraps(work)
    def wait_for_work(*arguments: object) -> None:
        if threading.current_thread() is not threading.main_thread():
            return work(*arguments)
        box: SimpleQueue[BaseException | None] = SimpleQueue()

        def run() -> None:
            try:
                box.put(work(*arguments))
            except BaseException as problem:
                box.put(problem)

        try:
            threading.Thread(target=run, daemon=True).start()
            problem = box.get()
        except BaseException:
            with suppress(Empty):
                box.get(timeout=SHELTER_SECONDS)
            raise
        if problem is not None:
            try:
                raise problem
            finally:
                del problem  # or its traceback would keep it, and what it refers to, alive

    return wait_for_work
