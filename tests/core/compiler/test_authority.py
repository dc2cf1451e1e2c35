"""A program finds its contract wherever it runs from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipapp
import zipfile
from pathlib import Path

import pytest

from agent_surface.compiler import ConfigurationError, compile_capability_authority, contract_text
from tests.core.compiler.project import CONTRACT, READY, Project

CHECKOUT = Path(__file__).parents[3]

MAIN = """
from agent_surface import load_capability_authority
authority = load_capability_authority("shop")
print(authority.manifest["completeness"]["status"], authority.manifest["hash"])
"""

STARTED = """
def main():
    import agent_surface
    assert ".pyz" in agent_surface.__file__
    import shop.__main__
"""


def run(arguments: list[str], folder: Path, *paths: Path) -> str:
    """What a program prints that sees only these folders beside what is installed."""
    done = subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def shop(project: Project) -> Project:
    """A program with its committed contract."""
    project.write({"shop/contracts.py": READY, "shop/__main__.py": MAIN})
    (project.root / CONTRACT).write_text(contract_text(project.compile()), encoding="utf-8")
    return project


def expected(shop: Project) -> str:
    """What the program prints when it found its contract."""
    return f"proven {shop.compile()['hash']}"


@pytest.mark.requirement("AS-COMPILER-007")
def test_a_checkout_finds_the_file_that_the_project_file_names(shop: Project, tmp_path: Path) -> None:
    """Also when it is started from somewhere else."""
    assert run(["-m", "shop"], tmp_path, shop.root, CHECKOUT) == expected(shop)


@pytest.mark.requirement("AS-COMPILER-007")
def test_an_installed_wheel_finds_it_as_package_data(shop: Project, tmp_path: Path) -> None:
    """The build puts what lies under resources into the package; installing a wheel is unpacking it."""
    wheel = tmp_path / "shop-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in sorted((shop.root / "shop").glob("*.py")):
            archive.write(file, f"shop/{file.name}")
        archive.write(shop.root / CONTRACT, "shop/_resources/agent-contract.json")
        archive.writestr("shop-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: shop\nVersion: 1\n")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    answer = expected(shop)
    shutil.rmtree(shop.root)
    assert run(["-m", "shop"], tmp_path, site, CHECKOUT) == answer


@pytest.mark.requirement("AS-COMPILER-007")
def test_a_program_frozen_into_one_file_finds_it_inside(shop: Project, tmp_path: Path) -> None:
    """Program, library and contract in one archive, with nothing of them on the disk beside it."""
    inside = tmp_path / "inside"
    shutil.copytree(shop.root / "shop", inside / "shop")
    (inside / "shop" / "_resources").mkdir()
    shutil.copy(shop.root / CONTRACT, inside / "shop" / "_resources" / "agent-contract.json")
    shutil.copytree(CHECKOUT / "agent_surface", inside / "agent_surface", ignore=shutil.ignore_patterns("__pycache__"))
    program = tmp_path / "shop.pyz"
    zipapp.create_archive(inside, program, main="shop.started:main")
    with zipfile.ZipFile(program, "a") as archive:
        archive.writestr("shop/started.py", STARTED)
    answer = expected(shop)
    shutil.rmtree(shop.root)
    shutil.rmtree(inside)
    assert run([str(program)], tmp_path) == answer


def test_in_development_the_authority_is_built_from_the_source(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the source declares now, without a committed file."""
    (shop.root / CONTRACT).unlink()
    monkeypatch.setattr(sys, "path", [str(shop.root), *sys.path])
    for name in ("shop", "shop.contracts"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    authority = compile_capability_authority("shop")
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
        monkeypatch.delitem(sys.modules, name)
    assert authority.manifest["hash"] == shop.compile()["hash"]


def test_what_has_no_source_tree_cannot_be_compiled() -> None:
    """The message says what to use instead."""
    with pytest.raises(ConfigurationError, match="load_capability_authority"):
        compile_capability_authority("sys")
