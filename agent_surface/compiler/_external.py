"""Third-party distributions that could declare something: found by what is installed, read without importing it."""

from __future__ import annotations

import ast
import csv
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Final

from agent_surface.compiler._configuration import normalised
from agent_surface.compiler._problems import Problem
from agent_surface.compiler._sources import LIBRARY, Source, parse_source

OWN_DISTRIBUTION: Final = "agent-surface-qt"
"""What brings the contract functions; it declares nothing itself."""

_MENTION: Final = LIBRARY.encode()
_NEVER_THIRD_PARTY: Final = frozenset({LIBRARY, "__main__"})
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_FOR_AN_EXTRA: Final = re.compile(r";.*\bextra\b")


class Installed:
    """What is installed on a search path."""

    def __init__(self, search_path: Sequence[str]) -> None:
        self._search_path = list(search_path)
        # By the name that stands for a distribution: packages that no list of files names.
        self._in_place: dict[str, str] = {}

    def declaring_packages(self, modules: Iterable[str]) -> dict[str, str]:
        """The distributions behind these top-level modules, and all they need, that mention the library.

        Args:
            modules: Top-level names the program imports.

        Returns:
            The distribution's name, and the imported module that leads to it.
        """
        found: dict[str, str] = {}
        for module in sorted(set(modules)):
            if module in sys.stdlib_module_names or module in _NEVER_THIRD_PARTY:
                continue
            for package in self._closure(self._packages_of(module)):
                if package not in found and self._mentions_library(package):
                    found[package] = module
        return found

    def sources(self, package: str) -> Iterator[tuple[Source, ast.Module] | Problem]:
        """Every module of a distribution with its syntax."""
        for name, file, shown in self._modules(package):
            yield parse_source(name, file, shown=shown, is_package=file.name == "__init__.py", package=package)

    @cached_property
    def _by_name(self) -> dict[str, Distribution]:
        known: dict[str, Distribution] = {}
        for found in distributions(path=self._search_path):
            name: str | None = found.metadata["Name"]
            if name:
                known.setdefault(normalised(name), found)
        return known

    @cached_property
    def _records(self) -> dict[str, str]:
        """The list of files of each distribution, as text: there may be a hundred thousand of them."""
        return {package: _record_text(found) for package, found in self._by_name.items()}

    def _packages_of(self, module: str) -> list[str]:
        entry = re.compile(rf"^{re.escape(module)}(?:/|\.py\b)", re.MULTILINE)
        listed = [package for package, text in self._records.items() if entry.search(text) is not None]
        if listed:
            return listed
        # Installed in place, so that no list of files names it: its own name has to do.
        if not self._places_of(module):
            return []
        self._in_place[normalised(module)] = module
        return [normalised(module)]

    def _closure(self, packages: Iterable[str]) -> list[str]:
        pending, seen = list(packages), list[str]()
        while pending:
            package = pending.pop()
            if package in seen or package == OWN_DISTRIBUTION:
                continue
            seen.append(package)
            found = self._by_name.get(package)
            for requirement in (found.requires or ()) if found is not None else ():
                name = _NAME.match(requirement)
                if name is not None and _FOR_AN_EXTRA.search(requirement) is None:
                    pending.append(normalised(name[0]))
        return sorted(seen)

    def _mentions_library(self, package: str) -> bool:
        return any(_MENTION in file.read_bytes() for _, file, _ in self._modules(package))

    def _modules(self, package: str) -> list[tuple[str, Path, str]]:
        """Name, file and shown path of each module of a distribution that is really there."""
        found = self._listed_modules(package)
        # An installation in place may list a file that only leads to the package.
        if not found or package in self._in_place:
            found += self._unlisted_modules(package)
        return [(name, file, shown) for name, file, shown in found if file.is_file()]

    def _listed_modules(self, package: str) -> list[tuple[str, Path, str]]:
        found = self._by_name.get(package)
        if found is None:
            return []
        entries = [PurePosixPath(row[0]) for row in csv.reader(self._records[package].splitlines()) if row]
        return [
            (name, Path(str(found.locate_file(str(entry)))), entry.as_posix())
            for entry in entries
            if entry.suffix == ".py"
            for name in [_module_name(entry)]
            if name
        ]

    def _unlisted_modules(self, package: str) -> list[tuple[str, Path, str]]:
        return [
            (name, file, shown.as_posix())
            for place in self._places_of(self._in_place.get(package, package.replace("-", "_")))
            for file in ([place] if place.is_file() else sorted(place.rglob("*.py")))
            for shown in [PurePosixPath(file.relative_to(place.parent).as_posix())]
            for name in [_module_name(shown)]
            if name
        ]

    def _places_of(self, module: str) -> list[Path]:
        """The folders of a package, several of one without a file of its own, or the file of a module."""
        spec = PathFinder.find_spec(module, self._search_path) or find_spec(module)
        if spec is None:
            return []
        if spec.submodule_search_locations is not None:
            return [Path(folder) for folder in spec.submodule_search_locations]
        # What is compiled, built in or frozen has no text to read.
        return [Path(spec.origin)] if spec.origin is not None and spec.origin.endswith(".py") else []


def _record_text(found: Distribution) -> str:
    """One file on a line, with forward slashes."""
    text = found.read_text("RECORD")
    if text is not None:
        return text
    # Installed by something older than wheels.
    return "\n".join(entry.as_posix() for entry in found.files or ())


def _module_name(path: PurePosixPath) -> str:
    """``a.b`` for ``a/b.py`` and ``a/b/__init__.py``; empty for what cannot be imported by a name."""
    parts = path.with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else ""
