"""The pages beside the notebooks: every relative link leads to something, anchors included; the glossary
is in order; the instructor's clock is that of the lessons."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from project import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("notebooks/*.md"), *ROOT.glob("notebooks/*.ipynb")])
LINK = re.compile(r"""\]\(([^)\s]+)(?:\s+"[^"]*")?\)|\b(?:href|src)=["']([^"']+)["']""")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
GLOSSARY = ROOT / "notebooks" / "GLOSSARY.md"


def prose_of(page: Path) -> str:
    """The Markdown of a page, without its code."""
    if page.suffix == ".ipynb":
        cells = nbformat.read(page, as_version=4).cells
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    else:
        text = page.read_text(encoding="utf-8")
    return CODE.sub("", text)


def links_of(page: Path) -> list[str]:
    """The relative links of a page."""
    links = [first or second for first, second in LINK.findall(prose_of(page))]
    return [link for link in links if not re.match(r"[a-z][a-z0-9+.-]*:", link)]


def anchor_of(heading: str) -> str:
    """The anchor that GitHub gives to a heading.

    >>> anchor_of("JSON-RPC error")
    'json-rpc-error'
    """
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors_of(page: Path) -> list[str]:
    return [anchor_of(heading) for heading in re.findall(r"^#+ (.+)$", prose_of(page), re.MULTILINE)]


def broken(page: Path, root: Path = ROOT) -> Iterator[str]:
    for link in links_of(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / unquote(name)).resolve() if name else page
        if not target.exists():
            yield f"{link}: there is no such file"
        elif not target.is_relative_to(root):
            yield f"{link}: leads out of the repository"
        elif anchor and anchor not in anchors_of(target):
            yield f"{link}: {target.name} has no such heading"


def test_there_are_links_to_check() -> None:
    assert len(PAGES) > 8
    assert sum(len(links_of(page)) for page in PAGES) > 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert list(broken(page)) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One two\n\n[a](#one-two) [b](page.md#one-two) [c](https://example.org/x)\n"
        "[d](#three) ![e](none.png) `[f](g.md)`\n"
    )
    assert list(broken(page, root=tmp_path)) == [
        "#three: page.md has no such heading",
        "none.png: there is no such file",
    ]


def test_the_glossary_is_in_order_and_explains_no_word_twice() -> None:
    words = [word.replace("-", " ").lower() for word in re.findall(r"^### (.+)$", prose_of(GLOSSARY), re.M)]
    assert words == sorted(set(words))


def test_a_word_that_the_glossary_points_to_is_in_it() -> None:
    words = set(anchors_of(GLOSSARY))
    pointed = {anchor_of(word) for word in re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", prose_of(GLOSSARY))}
    assert len(pointed) > 20
    singular = {word: re.sub("ies$", "y", word).removesuffix("s") for word in pointed}
    assert [word for word in pointed if not words & {word, singular[word]}] == ["in-italics"]


def minutes_of(notebook: str) -> list[int]:
    """The numbers in a lesson's line "**Time:** 18 minutes to read and run, 12 minutes for the exercises"."""
    [line] = re.findall(r"^\*\*Time:\*\* (.+?)\. \*\*", prose_of(ROOT / "notebooks" / notebook), re.MULTILINE)
    return [int(number) for number in re.findall(r"\d+", line)]


def test_the_instructors_clock_is_that_of_the_lessons() -> None:
    clock = prose_of(ROOT / "notebooks" / "INSTRUCTOR.md")
    rows = re.findall(r"\| (\d+) \| \[Lesson \d.*?\]\((.+?)\) \| (\d+) \| (\d+) \|", clock)
    assert len(rows) == len(list(ROOT.glob("notebooks/[0-9]*.ipynb")))
    for whole, notebook, talk, exercises in rows:
        assert int(whole) == int(talk) + int(exercises)
        assert minutes_of(notebook) in ([int(talk), int(exercises)], [int(whole), int(exercises)]), notebook
    assert sum(int(row[0]) for row in rows) == 200


def test_the_clock_goes_forward_by_what_each_row_takes() -> None:
    clock = prose_of(ROOT / "notebooks" / "INSTRUCTOR.md")
    rows = re.findall(r"^\| (\d):(\d\d) \| (\d*) \|", clock, re.MULTILINE)
    times = [60 * int(hours) + int(minutes) for hours, minutes, _ in rows]
    assert len(times) > 7
    assert [after - before for before, after in pairwise(times)] == [int(takes) for _, _, takes in rows[:-1]]


def test_the_instructor_is_told_which_exercises_are_extra() -> None:
    page = prose_of(ROOT / "notebooks" / "INSTRUCTOR.md")
    [told] = re.findall(r"^1\. Everything tagged .+$", page, re.MULTILINE)
    cells = [cell for page in ROOT.glob("notebooks/*.ipynb") for cell in nbformat.read(page, 4).cells]
    extra = [cell.source for cell in cells if "extra" in cell.metadata.get("tags", [])]
    exercises = [id for source in extra for id in re.findall(r"^# Your turn (\d\.\d)$", source, re.MULTILINE)]
    assert len(exercises) > 3
    assert sorted(re.findall(r"\b\d\.\d\b", told)) == sorted(exercises)
