"""Puts the ES modules of a view together into one, and its style sheets into one.

A module may say `import { a, b as c } from "./other.js";`, `import T from "./text/x.json" with
{ type: "json" };`, `export function|const|class NAME` and, in the first module alone,
`export default`. So the same files run under `node --test` as they are, and in a page as one string
that fetches nothing.
"""

import json
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w./-]+\.js)";\n', re.MULTILINE)
_IMPORT_JSON = re.compile(
    r'^import (\w+) from "\./([\w./-]+\.json)" with \{ type: "json" \};\n', re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) )", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)


@cache
def bundle(entry: str) -> str:
    """One ES module that holds `entry` (a file name in this folder) and all that it imports."""
    done: dict[str, str] = {}
    _visit(entry, done, ())
    first = done.pop(entry)
    tables = {match[2] for source in [first, *done.values()] for match in _IMPORT_JSON.finditer(source)}
    scopes = [_as_scope(name, source) for name, source in done.items()]
    return "\n".join([*(_as_table(name) for name in sorted(tables)), *scopes, _linked(first)])


@cache
def styles(*names: str) -> str:
    """The style sheets of this folder called `names`, in that order, as one string."""
    return "\n".join((HERE / name).read_text(encoding="utf-8") for name in names)


def _visit(name: str, done: dict[str, str], above: tuple[str, ...]) -> None:
    """Add `name` to `done`, after everything it imports."""
    if name in above:
        raise ValueError(f"modules import each other in a circle: {' -> '.join([*above, name])}")
    if name in done:
        return
    source = (HERE / name).read_text(encoding="utf-8")
    for match in _IMPORT.finditer(source):
        _visit(match[2], done, (*above, name))
    done[name] = source


def _as_scope(name: str, source: str) -> str:
    exported = ", ".join(_EXPORTED.findall(source))
    return f"const {_variable(name)} = (() => {{\n{_linked(source)}\nreturn {{ {exported} }};\n}})();"


def _linked(source: str) -> str:
    """`source` with its imports replaced by constants, and its exports by plain definitions."""
    source = _IMPORT.sub(lambda m: f"const {{{m[1].replace(' as ', ': ')}}} = {_variable(m[2])};\n", source)
    source = _IMPORT_JSON.sub(lambda m: f"const {m[1]} = {_variable(m[2])};\n", source)
    return _EXPORT.sub("", source)


def _as_table(name: str) -> str:
    return f"const {_variable(name)} = {json.dumps(json.loads((HERE / name).read_text(encoding='utf-8')))};"


def _variable(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name)
