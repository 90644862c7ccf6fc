"""A short version of `make soak`."""

import subprocess
import sys
from pathlib import Path


def test_much_of_everything_leaves_nothing():
    command = [sys.executable, "-W", "error", str(Path(__file__).parent / "soak" / "run.py"), "--short"]
    soak = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert soak.returncode == 0, soak.stdout + soak.stderr
    assert soak.stdout.count("left: nothing") == 3
