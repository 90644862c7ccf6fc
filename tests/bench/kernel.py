"""The memory of a kernel that has run lesson 6, with its servers."""

from pathlib import Path

import nbformat
import psutil
from jupyter_client.manager import start_new_kernel
from report import line

ROOT = Path(__file__).resolve().parent.parent.parent
MEGABYTE = 1024 * 1024


def memory_of(process: psutil.Process) -> int:
    """Bytes that are its own (what it shares with others is counted in parts)."""
    return process.memory_full_info().pss


def main() -> None:
    found = sorted((ROOT / "notebooks").glob("06_*.ipynb"))
    if not found:
        print("lesson 6 is not there yet")
        return
    cells = nbformat.read(found[0], as_version=4).cells
    most = 0
    manager, client = start_new_kernel(cwd=str(found[0].parent))
    try:
        kernel = psutil.Process(manager.provisioner.process.pid)
        for cell in cells:
            if cell.cell_type == "code":
                client.execute_interactive(cell.source, timeout=60, output_hook=lambda message: None)
                family = [kernel, *kernel.children(recursive=True)]
                most = max(most, sum(memory_of(process) for process in family))
        alone = memory_of(kernel)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    figures = f"the kernel alone, in the end, {alone / MEGABYTE:.0f} MB"
    line(f"{found[0].stem}, the kernel and its servers", figures, most / MEGABYTE, 200, "MB")
