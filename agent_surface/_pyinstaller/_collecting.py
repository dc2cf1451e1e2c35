"""What a frozen program needs and no import statement names: its contract, and what is asked about at run time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TypeAlias

from agent_surface.authority._loading import CONTRACT_FILE, RESOURCES, find_source_tree

Entry: TypeAlias = tuple[str, str, str]
"""Where a file goes, where it is, and ``DATA``."""


def contract_entries(packages: Mapping[str, Path]) -> Iterator[Entry]:
    """The contracts of packages, with what a build has put beside them.

    Args:
        packages: Top-level packages of the program and their folders.
    """
    for name, folder in sorted(packages.items()):
        resources = folder / RESOURCES
        if (resources / CONTRACT_FILE).is_file():
            for file in sorted(path for path in resources.rglob("*") if path.is_file()):
                yield f"{name}/{file.relative_to(folder).as_posix()}", str(file), "DATA"
            continue
        tree = find_source_tree(folder)
        if tree is not None and tree.contract is not None and name in tree.packages:
            yield f"{name}/{RESOURCES}/{CONTRACT_FILE}", str(tree.contract), "DATA"


def metadata_entries(names: Iterable[str]) -> Iterator[Entry]:
    """The metadata of distributions, as far as they are installed, for the code that asks for a version."""
    for name in names:
        try:
            files = distribution(name).files or ()
        except PackageNotFoundError:
            continue
        for file in files:
            if file.name == "METADATA":
                yield file.as_posix(), str(file.locate()), "DATA"
