"""The command line of the faulty servers."""

import argparse

from . import FAULTS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m mcp_lessons.servers.faulty", description="See --list.")
    parser.add_argument("name", nargs="?", default="none", choices=FAULTS, metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print every fault with one sentence")
    parser.add_argument("--seconds", type=float, default=2.5, help="how long the slow ones take (2.5)")
    options = parser.parse_args()
    if options.list:
        width = max(map(len, FAULTS))
        for name, fault in FAULTS.items():
            print(f"{name:{width}}  {' '.join(str(fault.__doc__).split())}")
    else:
        FAULTS[options.name](options.seconds).run()


if __name__ == "__main__":
    main()
