"""What must not stand in any file under version control."""

from __future__ import annotations

import re

import pytest

from tests.architecture.source import CHECKOUT, tracked_files

# Written in pieces, so that this file does not find itself.
FORBIDDEN = {
    "a path of somebody's machine": re.compile(r"(?<![\w.])/(?:work|root)" + r"/\w|[A-Z]:\\" + r"Users\\"),
    "the address of a package registry": re.compile(
        r"py" + r"pi\.org|pythonhosted" + r"\.org|registry\.npm" + r"js|deb\.debian" + r"\.org"
    ),
    "a credential": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE"
        r" KEY|\bsk-(?:ant-)?[A-Za-z0-9_-]{20,}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bAKIA[0-9A-Z]{16}\b"
    ),
    "work left for later": re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME)\b"),
    "a conflict left by a merge": re.compile(r"^(?:<{7} |>{7} )", re.MULTILINE),
}
MAX_BYTES = 1_000_000


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str) -> None:
    """The repository is read on other machines and by other people than those who wrote it."""
    found: list[str] = []
    for file in tracked_files():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{file.relative_to(CHECKOUT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
            for match in FORBIDDEN[what].finditer(text)
        ]
    assert found == []


def test_no_file_is_big() -> None:
    """A clone stays quick; big things are made by the build."""
    assert [str(file) for file in tracked_files() if file.stat().st_size > MAX_BYTES] == []
