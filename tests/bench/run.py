"""`make bench`: our client, the official SDK's and a bare pipe, side by side in one run.

Contenders take turns in short blocks on one core, and the best block of each counts, so that what else
the machine does disturbs all alike. Ratios stand beside their targets; a target that is missed says so.
`python tests/bench/run.py calls imports kernel notebooks` runs those parts alone.
"""

import sys

import calls
import imports
import kernel

import notebooks

PARTS = {"calls": calls, "imports": imports, "kernel": kernel, "notebooks": notebooks}


def main(names: list[str]) -> None:
    for name in names or PARTS:
        print(f"\n== {name}: {PARTS[name].__doc__.strip().splitlines()[0]}")
        PARTS[name].main()


if __name__ == "__main__":
    main(sys.argv[1:])
