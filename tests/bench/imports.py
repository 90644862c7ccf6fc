"""Importing all that the package exports, against importing the official SDK."""

import subprocess
import sys
import time

from report import line

ROUNDS = 9


def seconds_of(statement: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - began


def main() -> None:
    statements = {"nothing": "pass", "mcp_lessons": "from mcp_lessons import *", "mcp": "import mcp"}
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(ROUNDS):
        for name, statement in statements.items():
            best[name] = min(best[name], seconds_of(statement))
    ours, theirs = (best[name] - best["nothing"] for name in ("mcp_lessons", "mcp"))
    figures = f"mcp_lessons {ours * 1e3:.0f} ms  mcp {theirs * 1e3:.0f} ms"
    line("import, over an empty interpreter", figures, ours / theirs, 0.2)
