"""The command line: `mcp-lessons lab`, `ask`, `trace`, `doctor`, `refresh`."""

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .agent import run_agent
from .client import Client
from .errors import McpError, ProtocolError, RequestTimeout, RpcError, at_most
from .oracle import choose_llm
from .results import Tool
from .stdio import StdioTransport
from .toolbox import Toolbox
from .traffic import Traffic
from .views._terminal import plain, printed, utf8_output

QUESTION = "How do I get from Tessaby to Larkmoor on Saturday, and will it rain there?"
NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
FIRST = "00_start_here.ipynb"
LAB_SETTINGS = Path(__file__).resolve().parent / "course" / "lab"
NO_NOTEBOOKS = (
    f"the notebooks are not in {NOTEBOOKS}: they do not come with an installed package.\n"
    "Get the course as a folder (git clone), and in it run `make lab`, or `pip install -e .` and this again."
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    utf8_output()
    words = sys.argv[1:] if arguments is None else arguments
    cut = words.index("--") if "--" in words else len(words)
    options, rest = parser().parse_known_args(words[:cut])
    options.server = words[cut + 1 :]
    if options.command == "lab":
        return lab([*rest, *options.server])
    if options.command == "trace" and not options.server:
        wanted = " ".join(rest) or "npx some-server"
        parser().error(plain(f"trace needs a command behind --, as in: mcp-lessons trace -- {wanted}"))
    if rest or (options.server and options.command != "trace"):
        parser().error(plain(f"unrecognized arguments: {' '.join([*rest, *options.server])}"))
    try:
        return {"ask": ask, "trace": trace, "doctor": doctor, "refresh": refresh}[options.command](options)
    except (McpError, OSError) as problem:
        print(f"mcp-lessons: {plain(str(problem))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="mcp-lessons", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("lab", help="open the course in JupyterLab (further options go to JupyterLab)")
    ask = commands.add_parser("ask", help="answer a question with two servers, and show the traffic")
    ask.add_argument("question", nargs="?", default=QUESTION, help=f'"{QUESTION}" when left out')
    trace = commands.add_parser("trace", help="print what any server says: mcp-lessons trace -- COMMAND …")
    trace.usage = f"{top.prog} trace [options] -- COMMAND …"
    trace.description = (
        "Handshake, list of tools, and a call of each tool that needs no argument and says that it only "
        "reads. Everything is printed as it crosses the wire."
    )
    call = {"nargs": "+", "action": "append", "default": [], "metavar": ("TOOL", "JSON")}
    trace.add_argument("--call", **call, help="call this tool too")
    trace.add_argument("--timeout", type=seconds, default=30.0, metavar="SECONDS", help="per reply (30)")
    for command in (ask, trace):
        command.add_argument("--save", metavar="FILE", help="save the record as JSONL, for the views")
        command.add_argument("--html", metavar="FILE", help="save the record as one page, to be mailed")
        command.add_argument("--full", action="store_true", help="cut no message, however long")
    commands.add_parser("doctor", help="check whether this machine has what the course needs")
    refresh = commands.add_parser("refresh", help="maintainers: write the notebooks anew")
    refresh.add_argument("names", nargs="*", help="parts of file names; all notebooks when left out")
    refresh.add_argument("--check", action="store_true", help="write nothing, fail on any difference")
    return top


@contextmanager
def recorded(options: argparse.Namespace) -> Iterator[Traffic]:
    """A record that is printed as it grows, and saved in the end if that was asked for."""
    traffic = Traffic()
    files = {options.save: traffic.save, options.html: traffic.save_html}
    for path in filter(None, files):  # what cannot be written is said at once
        Path(path).open("a").close()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda text, *_: print(f"     warning: {plain(str(text))}", flush=True)
        try:
            with printed(traffic, None if options.full else 1_000):
                yield traffic
        finally:
            for path in filter(None, files):
                files[path](path)


def lab(options: list[str]) -> int:
    """JupyterLab at the first lesson."""
    if not (NOTEBOOKS / FIRST).is_file():
        print(f"mcp-lessons: {NO_NOTEBOOKS}", file=sys.stderr)
        return 1
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    place = [f"--ServerApp.root_dir={NOTEBOOKS}", f"--LabApp.default_url=/lab/tree/{FIRST}"]
    offline = f"--LabApp.app_settings_dir={LAB_SETTINGS}"  # it neither looks for news nor asks whether to
    command = [sys.executable, "-m", "jupyterlab", *place, offline, *as_root, *options]
    if os.name == "nt":
        return subprocess.call(command)
    os.execv(command[0], command)  # Ctrl-C then means JupyterLab alone


def ask(options: argparse.Namespace) -> int:
    """The picnic in a terminal: two servers, the model, every message, the answer."""
    llm, model = choose_llm()
    try:
        with recorded(options) as traffic, Toolbox(traffic=traffic, era="legacy") as toolbox:
            for server in ("weather", "maps"):
                toolbox.mount(server, [sys.executable, "-m", f"mcp_lessons.servers.{server}"])
            result = run_agent(options.question, toolbox, llm=llm, model=model)
    finally:
        llm.close()
        choose_llm.close()
    turns = "1 turn" if result.turns == 1 else f"{result.turns} turns"
    print(f"\n{plain(options.question)}\n{plain(result.answer)}\n({plain(model)}, {turns})")
    return 0 if result.stop_reason == "answer" else 1


def trace(options: argparse.Namespace) -> int:
    """Any server: handshake, tools, calls."""
    wanted = [call_from(words) for words in options.call]
    with recorded(options) as traffic:
        transport = StdioTransport(options.server)
        with Client(transport, name="server", traffic=traffic, timeout=options.timeout) as client:
            client.initialize(options.timeout)
            tools = client.list_tools()
            bare = [tool for tool in tools if not tool.input_schema.get("required") and only_reads(tool)]
            wanted = [(tool.name, {}) for tool in bare] + wanted
            for name, arguments in wanted:
                try:
                    client.call_tool(name, arguments)
                except (ProtocolError, RpcError, RequestTimeout) as problem:
                    print(f"     {plain(name)}: {plain(str(problem))}", flush=True)
    left = at_most([plain(tool.name) for tool in tools if tool.name not in dict(wanted)], 10)
    if left:
        print("\nCalled by itself is what needs no argument and says that it only reads.")
        print(f"Not called: {', '.join(left)}. See --call.")
    return 0


def call_from(words: list[str]) -> tuple[str, dict[str, Any]]:
    """A tool's name and its arguments, from the words behind --call."""
    try:
        arguments = json.loads(words[1]) if words[1:] else {}
        json.dumps(arguments, allow_nan=False)
    except ValueError as problem:
        parser().error(plain(f"--call {words[0]}: the arguments are no JSON: {problem}"))
    if not isinstance(arguments, dict) or words[2:]:
        parser().error(plain(f"--call {words[0]}: one JSON object goes with it, in quotes"))
    return words[0], arguments


def seconds(text: str) -> float:
    """A time to wait, as argparse wants it: ValueError for what is none."""
    value = float(text)
    if not value > 0:
        raise ValueError(text)
    return value


def only_reads(tool: Tool) -> bool:
    annotations = tool.raw.get("annotations")
    return isinstance(annotations, dict) and annotations.get("readOnlyHint") is True


def doctor(options: argparse.Namespace) -> int:
    """One line for each thing the course needs, and what to do where it is missing."""
    from .course.set_up import findings

    found = [
        (f"Python {sys.version.split()[0]}", ""),
        (f"the notebooks in {NOTEBOOKS}", "" if (NOTEBOOKS / FIRST).is_file() else NO_NOTEBOOKS),
        *findings(),
    ]
    for thing, advice in found:
        print(f"✗ {thing}: {advice}" if advice else f"✓ {thing}")
    return 1 if any(advice for _, advice in found) else 0


def refresh(options: argparse.Namespace) -> int:
    """See `mcp_lessons.course.refresh`."""
    from .course.refresh import refresh as write_anew

    return write_anew(options.names, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
