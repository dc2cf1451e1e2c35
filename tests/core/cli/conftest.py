"""A program with a contract, and the command run on it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_surface.cli import main
from agent_surface.compiler import contract_text
from tests.core.compiler.project import CONTRACT, Project, write_files
from tests.core.compiler.warm import _evaluate_warm, cold_interpreters, warm_interpreters

__all__ = ["_evaluate_warm", "cold_interpreters", "warm_interpreters"]

CHECKOUT = Path(__file__).parents[3]

SHOP = """
from agent_surface import (
    action_contract,
    define_agent_component_contract,
    define_agent_procedure_contract,
    from_json_schema,
    from_type,
    observation_contract,
)

PICK = from_json_schema(
    {
        "type": "object",
        "properties": {"mode": {"enum": ["replace", "add"]}, "text": {"type": "string", "maxLength": 9}},
        "additionalProperties": False,
    }
)

PARTS = define_agent_component_contract(
    type="shop.parts",
    description="The parts",
    observations={"read": observation_contract(description="Read the parts", output=from_type(list[str]))},
    actions={"pick": action_contract(description="Pick parts", input=PICK, effect="local-state")},
)

SEND = define_agent_procedure_contract(id="domain:send", description="Send the order", effect="external-side-effect")
"""

Command = Callable[..., int]


@pytest.fixture(scope="session")
def shop_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The contract of the shop, compiled once."""
    project = Project(tmp_path_factory.mktemp("shop") / "checkout")
    project.write({"shop/contracts.py": SHOP})
    return contract_text(project.compile())


@pytest.fixture
def shop(tmp_path: Path, shop_text: str) -> Project:
    """The shop with its committed contract."""
    project = Project(tmp_path / "checkout")
    project.write({"shop/contracts.py": SHOP})
    (project.root / CONTRACT).write_text(shop_text, encoding="utf-8")
    return project


@pytest.fixture
def command(shop: Project) -> Command:
    """The command, on the shop."""

    def run(*arguments: str) -> int:
        name, *rest = arguments
        return main([name, "--project", str(shop.root), *rest])

    return run


def edit(shop: Project, before: str, after: str) -> None:
    """Change the shop's source."""
    path = shop.root / "shop" / "contracts.py"
    text = path.read_text(encoding="utf-8")
    assert before in text
    write_files(shop.root, {"shop/contracts.py": text.replace(before, after)})


def start(shop: Project, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own, inside the project."""
    return subprocess.run(
        [sys.executable, "-m", "agent_surface", *arguments],
        cwd=shop.root,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **environment},
        capture_output=True,
        check=False,
    )
