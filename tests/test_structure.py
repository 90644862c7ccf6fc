"""The shape of the project: what imports what, what is taught where, what must not stand anywhere."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from project import ROOT, code_lines, core_files

from mcp_lessons.course import cells, notebook
from mcp_lessons.course.taught import COVERED, SHOWN, TAUGHT

PACKAGE = ROOT / "mcp_lessons"
MOST_CODE_LINES = 3_050
MOST_TAUGHT_LINES = 120
FLOORS = {  # each module, and the modules it may reach, itself or through the private helpers it imports
    "errors": "",
    "jsonrpc": "errors",
    "traffic": "errors jsonrpc",
    "results": "errors jsonrpc",
    "eras": "errors jsonrpc results",
    "contract": "errors jsonrpc results",
    "stdio": "errors jsonrpc traffic",
    "streamable_http": "errors jsonrpc traffic",
    "client": "errors jsonrpc traffic results eras",
    "toolbox": "errors jsonrpc traffic results eras stdio streamable_http client contract",
    "agent": "errors jsonrpc traffic results eras stdio streamable_http client contract toolbox",
    "oracle": "errors",
}
LAZY = {("traffic", "views"): "Traffic.save_html"}  # the one import upwards, and the method that does it
TEXT = (".py", ".md", ".ipynb", ".json", ".yml", ".toml", ".cfg", ".js", ".mjs", "Makefile", "run")
LATER = ("contract", "streamable_http")
THIRD_PARTY_SERVERS = {"blog": "mcp"}


def tracked(*endings: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    paths = [ROOT / name for name in listed.stdout.splitlines()]
    found = [path for path in paths if path.is_file() and (not endings or path.name.endswith(endings))]
    assert found, "no file to look at"
    return found


def imports_of(path: Path) -> set[str]:
    """The modules of the package that this file imports, by their first name; others as "/name"."""
    found = set()
    inside = path.relative_to(PACKAGE).parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {_top(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
            if node.module == "mcp_lessons":
                names = [f"mcp_lessons.{alias.name}" for alias in node.names]
            found |= {_top(name) for name in names}
        elif isinstance(node, ast.ImportFrom):
            folder = inside[: len(inside) - node.level]
            modules = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {(*folder, *module.split("."))[0] for module in modules}
    return found


def _top(name: str) -> str:
    first, _, rest = name.partition(".")
    return rest.partition(".")[0] if first == "mcp_lessons" and rest else f"/{first}"


def lesson_notebooks() -> dict[int, Path]:
    return {int(path.name[:2]): path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))}


# What imports what


@pytest.mark.parametrize("module", FLOORS)
def test_imports_run_one_way(module: str) -> None:
    if module in LATER and not (PACKAGE / f"{module}.py").exists():
        return
    assert reached(module) - {module} <= set(FLOORS[module].split())


def reached(module: str) -> set[str]:
    """The public modules that this one imports, also through private ones."""
    public, to_read, seen = set(), [module], set()
    while to_read:
        name = to_read.pop()
        seen.add(name)
        for found in imports_of(PACKAGE / f"{name}.py"):
            if found.startswith("_") and found not in seen:
                to_read.append(found)
            elif not found.startswith(("_", "/")) and (name, found) not in LAZY:
                public.add(found)
    return public


def test_the_one_import_upwards_stands_inside_the_method_that_draws() -> None:
    for (module, found), entry in LAZY.items():
        whole = (PACKAGE / f"{module}.py").read_text(encoding="utf-8")
        lines = f"from .{found}"
        assert whole.count(lines) == cells.package_text(module, entry).count(lines) == 1


def test_servers_import_the_standard_library_and_jsonrpc_alone() -> None:
    paths = sorted((PACKAGE / "servers").rglob("*.py"))
    assert paths
    for path in paths:
        for name in imports_of(path):
            allowed = THIRD_PARTY_SERVERS.get(
                path.relative_to(PACKAGE / "servers").parts[0].removesuffix(".py")
            )
            if name.startswith("/"):
                assert name[1:] in sys.stdlib_module_names or name[1:] == allowed, f"{path}: {name}"
            else:
                assert name in ("servers", "jsonrpc"), f"{path}: {name}"


def test_only_views_import_widget_libraries() -> None:
    for path in PACKAGE.rglob("*.py"):
        if "views" not in path.parts:
            assert not imports_of(path) & {"/anywidget", "/ipywidgets", "/traitlets", "/IPython"}, path


def test_importing_the_package_loads_the_standard_library_alone_and_prints_nothing() -> None:
    script = (
        "import sys; before = set(sys.modules); from mcp_lessons import *; "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before} - {'mcp_lessons'}; "
        "sys.exit(', '.join(sorted(new - set(sys.stdlib_module_names))) or None)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


BLOCKED = """
import sys
for name in ("openai", "httpx2", "jsonschema"):
    sys.modules[name] = None
from mcp_lessons import Toolbox, Traffic
with Toolbox(traffic=Traffic(), era="legacy") as toolbox:
    toolbox.mount("weather", [sys.executable, "-m", "mcp_lessons.servers.weather"])
    print(toolbox.call("weather__forecast", {"place": "Tessaby", "day": "Friday"}).text)
    print([schema["function"]["name"] for schema in toolbox.schemas()])
"""


def test_everything_up_to_the_toolbox_works_without_openai_httpx2_and_jsonschema() -> None:
    run = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, timeout=30)
    assert run.returncode == 0, run.stderr
    assert "Tessaby on Friday" in run.stdout
    assert "weather__alerts" in run.stdout


def test_the_package_exports_what_readers_rely_on() -> None:
    import mcp_lessons

    assert sorted(mcp_lessons.__all__) == sorted(
        ["Client", "McpError", "Oracle", "RequestTimeout", "RpcError", "ServerExited", "StdioTransport",
         "Toolbox", "Traffic", "TransportError", "choose_llm", "run_agent"]
    )  # fmt: skip
    assert all(hasattr(mcp_lessons, name) for name in mcp_lessons.__all__)
    assert set(mcp_lessons.__all__) <= set(dir(mcp_lessons))
    with pytest.raises(AttributeError, match="no attribute 'Clinet'"):
        _ = mcp_lessons.Clinet


def test_a_sample_server_loads_messages_and_nothing_of_the_client() -> None:
    script = (
        "import sys, mcp_lessons.servers.weather; "
        "print(sorted(name for name in sys.modules if name.startswith('mcp_lessons.')))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(
        [f"mcp_lessons.{name}" for name in ("jsonrpc", "servers", "servers._stdio", "servers.weather")]
    )


def test_the_package_without_servers_views_and_course_stays_small() -> None:
    assert sum(map(code_lines, core_files())) < MOST_CODE_LINES


def test_every_module_says_what_it_is() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{path} has no docstring"


def test_functions_are_shorter_than_thirty_lines() -> None:
    long = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                length = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
                if length >= 30:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {length} lines")
    assert long == []


# Taught or shown


def table_entries() -> list[tuple[str, str]]:
    taught = [entry for entries in TAUGHT.values() for entry in entries]
    return taught + [(module, entry) for entries in SHOWN.values() for module, entry, _ in entries]


def test_no_definition_is_in_the_tables_twice() -> None:
    entries = table_entries()
    assert sorted(set(entries)) == sorted(entries)


def test_every_entry_of_the_tables_exists_in_the_package() -> None:
    for module, entry in table_entries():
        if entry == "*":
            assert cells.public_names(module)
        else:
            assert cells.package_text(module, entry)


@pytest.mark.parametrize("module", COVERED)
def test_every_public_name_is_taught_or_shown(module: str) -> None:
    entries = {entry for its_module, entry in table_entries() if its_module == module}
    assert [name for name in cells.public_names(module) if not _is_listed(name, entries)] == []


def _is_listed(name: str, entries: set[str]) -> bool:
    owner, _, method = name.partition(".")
    if not method:
        return bool(entries & {name, f"class {name}", "*"})
    grows = any(entry == f"class {owner}" or entry.startswith(f"{owner}.") for entry in entries)
    return name in entries if grows else bool(entries & {owner, "*"})


@pytest.mark.parametrize("lesson", TAUGHT)
def test_finished_cells_are_those_of_the_table_and_equal_the_package(lesson: int) -> None:
    found, wrong = [], []
    for cell in notebook.read(lesson_notebooks()[lesson]).cells:
        if cell.cell_type == "code" and cells.is_finished(cell.source):
            found += [(part.module, part.entry) for part in cells.parts_of(cell.source)]
            wrong += cells.differences(cell.source)
    assert wrong == []
    assert sorted(found) == sorted(TAUGHT[lesson])


@pytest.mark.parametrize("lesson", TAUGHT)
def test_the_finished_cells_of_a_lesson_are_short_together(lesson: int) -> None:
    finished = [
        c.source for c in notebook.read(lesson_notebooks()[lesson]).cells if cells.is_finished(c.source)
    ]
    assert finished or not TAUGHT[lesson]
    lines = [line for source in finished for line in source.splitlines()[1:] if line.strip()]
    assert len(lines) <= MOST_TAUGHT_LINES


@pytest.mark.parametrize("lesson", SHOWN)
def test_what_is_shown_is_named_in_its_lesson_with_its_file(lesson: int) -> None:
    book = notebook.read(lesson_notebooks()[lesson])
    prose = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    for module, _, reason in SHOWN[lesson]:
        assert f"mcp_lessons/{module}.py" in prose
        assert reason


def test_taught_methods_use_no_super_and_no_private_double_underscore() -> None:
    for entries in TAUGHT.values():
        for module, entry in entries:
            text = cells.package_text(module, entry)
            assert "super()" not in text, entry
            assert not re.search(r"\.__[a-z]\w*(?<!__)\b", text), entry


# What must not stand anywhere


def test_no_text_reaches_a_page_as_markup() -> None:
    sinks = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc"
    )
    for path in tracked(".js", ".mjs", ".css"):
        if "tests" not in path.parts:
            assert not sinks.search(path.read_text(encoding="utf-8")), path


def test_python_draws_no_server_text_through_html_or_markdown_widgets() -> None:
    sinks = re.compile(r"\b(widgets\.HTML\w*|display\.(HTML|Markdown))\b|import (HTML|Markdown)\b")
    for path in PACKAGE.rglob("*.py"):
        assert not sinks.search(path.read_text(encoding="utf-8")), path


def test_the_repository_names_no_machine_and_no_registry() -> None:
    hosts = [r"py[p]i\.org", r"python[h]osted\.org", r"npm[j]s\.org", r"deb\.[d]ebian\.org"]
    wanted = re.compile("|".join([*hosts, "/[r]oot/", "/[w]ork/", "/tmp/[v]/"]))
    for path in tracked(*TEXT):
        found = wanted.search(path.read_text(encoding="utf-8"))
        assert not found, f"{path.relative_to(ROOT)}: {found and found[0]!r}"


# Other ways in


def test_environment_yml_asks_for_python_and_pip_and_leaves_the_rest_to_pyproject() -> None:
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    items = re.findall(r"^ +- (.+?):?$", text, re.MULTILINE)
    assert items[1:] == ["pip", "pip", "-e .[test]"]
    python = re.fullmatch(r"python=3\.(\d+)", items[0])
    assert python, "an exact python=3.x: Binder's builder ignores a minimum"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    least = re.fullmatch(r">=3\.(\d+)", project["requires-python"])
    assert least and int(python[1]) >= int(least[1])
    assert "test" in project["optional-dependencies"]


def test_npm_packages_have_exact_versions_and_no_lock_file_with_addresses() -> None:
    dependencies = json.loads((ROOT / "tests" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in dependencies.values())
    assert not (ROOT / "tests" / "package-lock.json").exists()
