"""The README and the documentation are true: their programs run and their links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent.parent
PAGES: Sequence[Path] = [
    CHECKOUT / "README.md",
    CHECKOUT / "CHANGELOG.md",
    *sorted((CHECKOUT / "docs").rglob("*.md")),
]

_FENCE = re.compile(r"^```(\w*)\s*$")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
LANGUAGES = {"python", "console", "text", "toml", "json", "diff"}
SECONDS_FOR_A_PAGE = 50


def _name(page: Path) -> str:
    return page.relative_to(CHECKOUT).as_posix()


def _blocks(page: Path) -> list[tuple[int, str, list[str]]]:
    """Each fenced block: the number of its first line, its language and its lines."""
    blocks: list[tuple[int, str, list[str]]] = []
    inside: tuple[int, str, list[str]] | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if inside is not None:
            if line.strip() == "```":
                blocks.append(inside)
                inside = None
            else:
                inside[2].append(line)
        elif fence := _FENCE.match(line):
            inside = (number + 1, fence[1], [])
    assert inside is None, f"{_name(page)}:{inside[0]} is never closed"
    return blocks


def _program(page: Path) -> str:
    """The Python blocks of a page as one program, lines at their numbers in the page, so that tracebacks lead there."""
    lines: list[str] = []
    for first, language, block in _blocks(page):
        if language == "python":
            lines += [""] * (first - 1 - len(lines)) + block
    return "\n".join(lines)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_block_says_what_it_is(page: Path) -> None:
    """A block without a language would be a program that nobody runs."""
    assert [f"line {first}: {language!r}" for first, language, _ in _blocks(page) if language not in LANGUAGES] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_the_programs_of_a_page_run(page: Path, tmp_path: Path) -> None:
    """From top to bottom in one namespace and a process of its own, with warnings as errors and no screen.

    The page is imported and not run as a script: a contract belongs to a module, and a program that would wait for its
    window to close does so only when it is started.
    """
    source = _program(page)
    if not source:
        return
    program = tmp_path / f"{page.stem.replace('-', '_')}_page.py"
    program.write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import {program.stem}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS_FOR_A_PAGE,
        check=False,
    )
    assert done.returncode == 0, f"{_name(page)}\n{done.stdout}\n{done.stderr}"


def _anchors(page: Path) -> set[str]:
    """The fragments the headings of a page answer to, as the usual renderers make them."""
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")
        for heading in _HEADING.findall(page.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_inside_the_project_leads_somewhere(page: Path) -> None:
    """Pages, pictures and headings that are linked exist."""
    broken: list[str] = []
    for link in _LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (fragment and fragment not in _anchors(target)):
            broken.append(link)
    assert broken == []
