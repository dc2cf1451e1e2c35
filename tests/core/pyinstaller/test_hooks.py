"""What PyInstaller collects for a program that is built on this library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from runpy import run_path

import pytest

from agent_surface._pyinstaller import hook_folders
from agent_surface._pyinstaller._collecting import Entry, metadata_entries


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A module in PyInstaller's graph."""

    identifier: str
    packagepath: Sequence[str] | None = None


@dataclass(slots=True, kw_only=True)
class Hooked:
    """What PyInstaller hands to a hook."""

    nodes: Sequence[Node]
    added: list[Entry] = field(default_factory=list[Entry])

    @property
    def graph(self) -> Hooked:
        """Itself."""
        return self

    def iter_graph(self) -> Sequence[Node]:
        """Every module of the program."""
        return self.nodes

    def add_datas(self, datas: list[Entry]) -> None:
        """Take files."""
        self.added += datas


def collected(*packages: Path) -> dict[str, str]:
    """What the hook adds for a program of these packages: target and source."""
    (folder,) = hook_folders()
    hooked = Hooked(
        nodes=[
            Node(identifier="start"),
            *(Node(identifier=package.name, packagepath=[str(package)]) for package in packages),
            *(Node(identifier=f"{package.name}.parts", packagepath=[str(package / "parts")]) for package in packages),
        ]
    )
    run_path(str(Path(folder) / "hook-agent_surface.py"))["hook"](hooked)
    assert all(kind == "DATA" for _, _, kind in hooked.added)
    return {target: source for target, source, _ in hooked.added}


def put(file: Path, text: str = "{}") -> Path:
    """Write a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.requirement("AS-COMPILER-007")
def test_a_freezing_build_collects_the_resources_of_an_installed_program(tmp_path: Path) -> None:
    """The contract, and what the build of the wheel has put beside it."""
    contract = put(tmp_path / "shop" / "_resources" / "agent-contract.json")
    picture = put(tmp_path / "shop" / "_resources" / "pictures" / "part.png")
    assert collected(tmp_path / "shop", tmp_path / "elsewhere") == {
        "shop/_resources/agent-contract.json": str(contract),
        "shop/_resources/pictures/part.png": str(picture),
    }


@pytest.mark.requirement("AS-COMPILER-007")
def test_a_freezing_build_in_a_source_tree_collects_the_contract_of_the_program_alone(tmp_path: Path) -> None:
    """An environment inside the project is full of packages, and the contract is none of theirs."""
    section = '[tool.agent-surface]\nentry-points = ["shop.__main__"]\ncontract = "resources/shop/contract.json"\n'
    put(tmp_path / "pyproject.toml", section)
    contract = put(tmp_path / "resources" / "shop" / "contract.json")
    for package in ("shop", ".venv/lib/other"):
        (tmp_path / package).mkdir(parents=True)
    assert collected(tmp_path / "shop", tmp_path / ".venv" / "lib" / "other") == {
        "shop/_resources/agent-contract.json": str(contract)
    }
    contract.unlink()
    assert collected(tmp_path / "shop") == {}


def test_the_metadata_that_is_asked_for_is_collected_as_far_as_it_is_installed() -> None:
    """A frozen program can tell which PySide6 it has."""
    (entry,) = metadata_entries(("no-such-distribution", "pydantic"))
    target, source, kind = entry
    assert (Path(target).name, Path(source).name, kind) == ("METADATA", "METADATA", "DATA")
    assert Path(target).parent.name == f"pydantic-{version('pydantic')}.dist-info"
    (folder,) = hook_folders()
    datas = run_path(str(Path(folder) / "hook-qt_binding.py"))["datas"]
    assert all(Path(source).is_file() and Path(target).suffix == ".dist-info" for source, target in datas)
