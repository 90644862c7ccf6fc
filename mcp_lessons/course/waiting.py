"""An end to a wait that would be endless: `give_up_after`."""

import _thread
import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


class StillWaiting(TimeoutError):
    """The code in `with give_up_after(…)` was still waiting when its time was up."""


@contextlib.contextmanager
def give_up_after(seconds: float, process: Any) -> Iterator[None]:
    """Let the body wait for at most `seconds`; then end `process` and raise `StillWaiting`.

    `process` is a `subprocess.Popen`, or anything with `kill()` or, without that, `close()` (a client). Once
    it is dead, a read from its pipes returns; whatever the body makes of that, an exception included, is
    replaced by `StillWaiting`. A body that waits for something else is interrupted half a second later. A
    body that ends in time leaves `process` alone.
    """
    watch = _Watch(seconds, process)
    try:
        yield
    except BaseException:
        if not watch.stop():
            raise
    else:
        if not watch.stop():
            return
    unit = "second" if seconds == 1 else "seconds"
    raise StillWaiting(f"still waiting after {seconds:g} {unit}, so the process was ended") from None


class _Watch:
    """A thread that ends the process when the time is up, then interrupts the body's thread."""

    def __init__(self, seconds: float, process: Any) -> None:
        self._seconds, self._process = seconds, process
        self._body_is_over, self._time_is_up = threading.Event(), False
        self._lock = threading.Lock()
        self._body = threading.get_ident()
        self._thread = threading.Thread(target=self._run, name="give_up_after", daemon=True)
        self._thread.start()

    def stop(self) -> bool:
        """The body is over; was its time up?"""
        with contextlib.suppress(KeyboardInterrupt):  # ours, if it comes as late as this
            with self._lock:
                self._body_is_over.set()
            self._thread.join()
        return self._time_is_up

    def _run(self) -> None:
        if self._body_is_over.wait(self._seconds):
            return
        self._time_is_up = True
        (getattr(self._process, "kill", None) or self._process.close)()
        if hasattr(self._process, "wait"):
            with contextlib.suppress(Exception):
                self._process.wait(5)
        if not self._body_is_over.wait(0.5) and self._body == threading.main_thread().ident:
            with self._lock:
                if not self._body_is_over.is_set():
                    self._interrupt()

    def _interrupt(self) -> None:
        # A real signal, where there is one, also wakes a thread that sleeps in a system call.
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(self._body, signal.SIGINT)
        else:
            _thread.interrupt_main()
