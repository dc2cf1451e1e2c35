"""The demo's committed contract is guarded: whatever moves in its declarations is told in one line."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_surface.cli import main

ROOT = Path(__file__).parents[2]
CONTRACT = "resources/demo_app/agent-contract.json"

EDITS: Mapping[str, tuple[str, str, str]] = {
    "a description": (
        'description="The pages of the console"',
        'description="Every page"',
        'wording    app.navigation: description "The pages of the console" → "Every page" - a model reads it and may',
    ),
    "a confirmation": (
        'effect="destructive"',
        'effect="destructive", confirmation="optional"',
        "widening   domain:devices.disable: confirmation required → optional - a person is asked less",
    ),
    "an enum value": (
        '["replace", "add", "remove"]',
        '["replace", "add", "remove", "toggle"]',
        'widening   view:devices.table.selectRows: input: mode: also "toggle" - an agent can send what was',
    ),
    "a capability": (
        '"clearSelection": CLEAR_SELECTION',
        '"clearSelection": CLEAR_SELECTION, "clearAgain": CLEAR_SELECTION',
        "widening   view:devices.table.clearAgain: action added (effect local-state, confirmation never) - an agent",
    ),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The demo's declarations and its committed contract, in a tree of their own."""
    package = tmp_path / "demo_app"
    package.mkdir()
    for name in ("__init__.py", "contracts.py"):
        shutil.copy(ROOT / "demo_app" / name, package / name)
    (tmp_path / CONTRACT).parent.mkdir(parents=True)
    shutil.copy(ROOT / CONTRACT, tmp_path / CONTRACT)
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.agent-surface]\nentry-points = ["demo_app.contracts"]\ncontract = "{CONTRACT}"\n', encoding="utf-8"
    )
    return tmp_path


@pytest.mark.parametrize("case", EDITS.values(), ids=list(EDITS))
def test_a_declaration_that_moves_fails_the_check_with_a_line_that_says_what_it_means(
    case: tuple[str, str, str], checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reviewer reads one sentence and not two hashes."""
    before, after, line = case
    source = checkout / "demo_app" / "contracts.py"
    text = source.read_text(encoding="utf-8")
    assert before in text
    source.write_text(text.replace(before, after), encoding="utf-8")
    assert main(["check", "--project", str(checkout)]) == 1
    found = [shown for shown in capsys.readouterr().out.splitlines() if shown.startswith(f"  {line}")]
    assert len(found) == 1
