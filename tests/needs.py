"""What the tests need beside Python packages: a browser, Node.js with npm, git.

`python tests/needs.py` says what is missing and how to get it, and fails then; with `--node-tests` it
runs the views' tests under Node.js.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
LEAST_NODE = 18


def find_chromium() -> str | None:
    """The path of Chromium or Chrome: what CHROMIUM names, else the first one found."""
    places = [os.environ.get("CHROMIUM"), *map(shutil.which, BROWSERS), *ELSEWHERE]
    return next((place for place in places if place and Path(place).is_file()), None)


def missing() -> list[str]:
    """A sentence for each thing that is not there."""
    sentences = []
    if find_chromium() is None:
        sentences.append(
            "Chromium: the views are tried in a real browser. Debian: apt install chromium; elsewhere "
            "install Chromium or Chrome, and set CHROMIUM to its path if it is not found."
        )
    if shutil.which("npm") is None or node_version() < LEAST_NODE:
        sentences.append(
            f"Node.js {LEAST_NODE} or newer with npm: reference servers and the views' own tests run in it. "
            "Debian, Ubuntu: apt install nodejs npm; macOS: brew install node."
        )
    if shutil.which("git") is None:
        sentences.append("git: a test looks through the files that belong to the project. apt install git.")
    return sentences


def node_version() -> int:
    """The major version of Node.js, 0 if there is none."""
    if shutil.which("node") is None:
        return 0
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    found = re.match(r"v(\d+)\.", said.stdout)
    return int(found[1]) if found else 0


def run_node_tests() -> int:
    """`node --test` over the *.test.mjs and *.test.js files under tests/; having none is a failure."""
    found = [path for ending in ("mjs", "js") for path in TESTS.rglob(f"*.test.{ending}")]
    files = sorted(str(path) for path in found if "node_modules" not in path.parts)
    if not files:
        print("there is no *.test.mjs under tests/")
        return 1
    command = ["node", "--test", "--test-reporter=tap", *files]
    run = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    print(run.stdout, flush=True)
    skipped = re.search(r"^# (skipped|todo) [1-9]", run.stdout, re.MULTILINE)
    if skipped:
        print("a skipped test is a failure")
    return run.returncode or bool(skipped)


def main(arguments: list[str]) -> int:
    if arguments == ["--node-tests"]:
        return run_node_tests()
    sentences = missing()
    if sentences:
        print("make test needs some things that are not on this machine:")
        print("\n".join(f"  - {sentence}" for sentence in sentences))
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
