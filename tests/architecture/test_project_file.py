"""The project file agrees with itself."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import cast

from tests.architecture.source import CHECKOUT

Table = Mapping[str, object]

PROJECT = cast("Table", tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")))
ONLY_THE_BINDING = {"PySide6-Essentials", "markdown-it-py", "qasync"}


def _names(requirements: Sequence[str]) -> dict[str, str]:
    """Each requirement under the name of its distribution."""
    return {re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0]: requirement for requirement in requirements}


def test_the_core_without_qt_needs_what_the_distribution_needs_less_qt() -> None:
    """The environment that proves the core runs without Qt must be the one users are told to make."""
    project = cast("Mapping[str, Sequence[str]]", PROJECT["project"])
    groups = cast("Mapping[str, Sequence[str]]", PROJECT["dependency-groups"])
    expected = {name: text for name, text in _names(project["dependencies"]).items() if name not in ONLY_THE_BINDING}
    assert _names(groups["core"]) == expected


def test_the_oldest_releases_tried_are_the_oldest_admitted() -> None:
    """A lower bound is a promise; `make test-oldest` is what keeps it."""
    project = cast("Mapping[str, Sequence[str]]", PROJECT["project"])
    tried = (CHECKOUT / "tools" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    admitted = {
        name: re.search(r">=([\d.]+)", requirement) for name, requirement in _names(project["dependencies"]).items()
    }
    assert {name: f"{name}=={bound[1]}" for name, bound in admitted.items() if bound} == _names(tried[1:])
