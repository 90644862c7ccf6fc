"""Where the project stands, and what counts as its core."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def core_files() -> list[Path]:
    """The modules of the package itself, without servers, views and course."""
    return sorted((ROOT / "mcp_lessons").glob("*.py"))
