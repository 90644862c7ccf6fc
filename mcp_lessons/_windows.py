"""Windows alone: a job object that ends its processes when ours ends, however that comes.

Shown, not taught. https://learn.microsoft.com/windows/win32/procthread/job-objects
"""

import ctypes
import subprocess
import sys
from ctypes import wintypes

_KILL_ON_JOB_CLOSE = 0x2000
_EXTENDED_LIMIT_INFORMATION = 9
_job: int | None = None


class _Limits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION, of which one field matters here."""

    _fields_ = (
        ("before", ctypes.c_int64 * 2),
        ("flags", ctypes.c_uint32),
        ("after", ctypes.c_size_t * (15 if sys.maxsize > 2**32 else 23)),
    )


def end_with_us(process: subprocess.Popen) -> None:
    """Put `process` into a job that the system ends when the last handle to it, ours, is gone."""
    global _job
    kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel32.CreateJobObjectW.restype = wintypes.HANDLE
    if _job is None:
        _job = kernel32.CreateJobObjectW(None, None)
        limits = _Limits(flags=_KILL_ON_JOB_CLOSE)
        kernel32.SetInformationJobObject(
            wintypes.HANDLE(_job), _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
        )
    kernel32.AssignProcessToJobObject(wintypes.HANDLE(_job), wintypes.HANDLE(int(process._handle)))
