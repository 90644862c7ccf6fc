"""What makes a run count, as a pytest plugin: `-p gate` for the notebooks, imported by conftest.py.

A skipped or expected failure is a failure. A notebook's kernel gets the environment that the
committed outputs were made in; above all it does not see PYTEST_CURRENT_TEST, which would switch off
the kernel's capture of file descriptors.
"""

import sys
from contextlib import suppress
from typing import Any

import pytest

from mcp_lessons.course.notebook import kernel_environment

# jsonschema builds a grammar of all web addresses on import, if this package is there: three seconds,
# once a process, for a check that no notebook needs. It does without when the import fails.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

UNWANTED = ("skipped", "xfailed", "xpassed")


def pytest_configure(config: pytest.Config) -> None:
    with suppress(ImportError):
        import nbval.kernel

        if not hasattr(nbval.kernel.start_new_kernel, "in_clean_environment"):
            nbval.kernel.start_new_kernel = _in_clean_environment(nbval.kernel.start_new_kernel)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.OK and _unwanted(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for report in _unwanted(config):
        terminalreporter.write_line(f"NOT RUN {report.nodeid}: {report.longrepr or report.outcome}", red=True)


def _unwanted(config: pytest.Config) -> list[Any]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return [report for kind in UNWANTED for report in (reporter.stats.get(kind, []) if reporter else [])]


def _in_clean_environment(start: Any) -> Any:
    def start_new_kernel(*args: Any, **kwargs: Any) -> Any:
        return start(*args, env=kernel_environment(), **kwargs)

    start_new_kernel.in_clean_environment = True  # type: ignore[attr-defined]
    return start_new_kernel
