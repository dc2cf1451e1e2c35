"""Run by PyInstaller for every program that imports ``agent_surface``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from agent_surface._pyinstaller._collecting import Entry, contract_entries


class _Node(Protocol):
    identifier: str
    packagepath: Sequence[str] | None


class _Graph(Protocol):
    def iter_graph(self) -> Sequence[_Node]: ...


class _Hooked(Protocol):
    @property
    def graph(self) -> _Graph: ...

    def add_datas(self, datas: list[Entry]) -> None: ...


def hook(hook_api: _Hooked) -> None:
    """Add the contract of each package of the program."""
    packages = {
        node.identifier: Path(folder)
        for node in hook_api.graph.iter_graph()
        if "." not in node.identifier
        for folder in (node.packagepath or ())[:1]
    }
    hook_api.add_datas(list(contract_entries(packages)))
