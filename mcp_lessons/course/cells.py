"""Finished cells: what they hold, what the package says instead, and the text to write into them.

A finished cell begins with `# in the package: mcp_lessons/client.py` and holds definitions only: a
function, a constant or a whole class as the package has it; the head of a class (docstring,
attributes, `__init__`); a method under `@add_to(Client)`. Comparison is by syntax tree, so comments and
layout are free; the text written by `finished_text` is the package's own, comments included.
"""

import ast
import inspect
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .taught import TAUGHT

MARK = "# in the package: "
PACKAGE = Path(__file__).resolve().parent.parent

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


class Drift(Exception):
    """A finished cell that is none: it does not hold what its first line says."""


@dataclass(frozen=True)
class Part:
    """One definition of a finished cell: its module and its entry in the tables of `taught.py`."""

    module: str
    entry: str
    node: Definition


def is_finished(source: str) -> bool:
    """Does this cell say that it is a copy from the package?"""
    return source.startswith(MARK)


def parts_of(source: str) -> list[Part]:
    """The definitions in a finished cell. Drift when it holds anything else."""
    first, _, _ = source.partition("\n")
    path = first.removeprefix(MARK).strip()
    module = path.removeprefix("mcp_lessons/").removesuffix(".py").replace("/", ".")
    if not path.startswith("mcp_lessons/") or not _file(module).is_file():
        raise Drift(f"{first!r} names no file of the package")
    return [_part(module, statement) for statement in ast.parse(source).body]


def differences(source: str) -> list[str]:
    """A sentence for each definition in a finished cell that is not what the package has."""
    wrong = []
    for part in parts_of(source):
        original = ast.parse(package_text(part.module, part.entry)).body[0]
        if _plain(part.node) != _plain(original):
            wrong.append(f"{part.entry} is not what mcp_lessons/{part.module.replace('.', '/')}.py has")
    return wrong


def finished_text(source: str) -> str:
    """The finished cell as it must be: the same definitions, in the package's own words."""
    first, _, _ = source.partition("\n")
    text, previous = first.rstrip(), None
    for part in parts_of(source):
        constants = isinstance(part.node, ast.Assign | ast.AnnAssign) and isinstance(
            previous, type(part.node)
        )
        text += "\n" if previous is None or constants else "\n\n\n"
        text += package_text(part.module, part.entry)
        previous = part.node
    return text


def package_text(module: str, entry: str) -> str:
    """One definition, by its entry, as a cell holds it. Drift when the package has none of that name."""
    lines, tree = _read(module)
    kind, _, name = entry.rpartition(" ")
    owner, _, method = name.rpartition(".")
    node = _definition(tree, owner or name, entry)
    if kind == "class":
        return _head(lines, node)
    if not owner:
        return _lines_of(lines, node)
    return f"@add_to({owner})\n" + textwrap.dedent(_lines_of(lines, _definition(node, method, entry)))


def public_names(module: str) -> list[str]:
    """The public definitions of a module: "request", "Client", "Client.close", …"""
    _, tree = _read(module)
    names = []
    for node in tree.body:
        for name in _names(node):
            if not name.startswith("_"):
                names.append(name)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            inside = dict.fromkeys(
                n for statement in node.body if _is_function(statement) for n in _names(statement)
            )
            names += [f"{node.name}.{name}" for name in inside if not name.startswith("_")]
    return names


def _part(module: str, statement: ast.stmt) -> Part:
    if _is_function(statement) and statement.decorator_list:
        first = statement.decorator_list[0]
        if isinstance(first, ast.Call) and getattr(first.func, "id", None) == "add_to":
            return Part(module, f"{ast.unparse(first.args[0])}.{statement.name}", statement)
    names = _names(statement)
    if len(names) != 1:
        raise Drift(f"a finished cell holds definitions only, not {ast.unparse(statement)[:60]!r}")
    head = f"class {names[0]}"
    if any((module, head) in entries for entries in TAUGHT.values()):
        return Part(module, head, statement)
    return Part(module, names[0], statement)


def _head(lines: list[str], node: ast.ClassDef) -> str:
    kept, previous = lines[_first_line(node) - 1 : node.lineno], node.lineno
    for statement in node.body:
        first, last = previous + 1, statement.end_lineno or 0
        if not _is_function(statement) or statement.name == "__init__":
            kept += lines[first - 1 : last]
        previous = last
    return "\n".join(kept)


def _lines_of(lines: list[str], node: Definition) -> str:
    return "\n".join(lines[_first_line(node) - 1 : node.end_lineno])


def _first_line(node: Definition) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])


def _definition(tree: ast.Module | ast.ClassDef, name: str, entry: str) -> Definition:
    found = [node for node in tree.body if name in _names(node)]
    if not found:
        raise Drift(f"the package has no {entry}")
    return found[0]


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    flat = [n for t in targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return [target.id for target in flat if isinstance(target, ast.Name)]


def _is_function(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _plain(node: ast.AST) -> str:
    """The tree as text, with docstrings freed of their indentation."""
    for inner in ast.walk(node):
        body = getattr(inner, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        ):
            first.value.value = inspect.cleandoc(first.value.value)
    return ast.dump(node)


def _file(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _read(module: str) -> tuple[list[str], ast.Module]:
    text = _file(module).read_text(encoding="utf-8")
    return text.splitlines(), ast.parse(text)
