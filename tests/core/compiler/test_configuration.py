"""``[tool.agent-surface]``: what it says, and what is told to whoever wrote it wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_surface.compiler import ConfigurationError, parse_configuration, read_configuration

ENTRY_POINTS = 'entry-points = ["shop.main", "shop.gui"]\n'
CONTRACT = 'contract = "resources/contract.json"\n'

WRONG: Mapping[str, tuple[str, str]] = {
    "no entry points": (CONTRACT, "entry-points of [tool.agent-surface] must be a list of strings"),
    "an empty list": (CONTRACT + "entry-points = []\n", "needs entry-points: a list of the modules the program starts"),
    "one text": (
        CONTRACT + 'entry-points = "shop"\n',
        "entry-points of [tool.agent-surface] must be a list of strings",
    ),
    "an empty name": (CONTRACT + 'entry-points = [""]\n', "entry-points of [tool.agent-surface] must be a list"),
    "a file for a module": (CONTRACT + 'entry-points = ["shop/main.py"]\n', "has 'shop/main.py', which is no module"),
    "no contract": (ENTRY_POINTS, "needs contract: the path of the committed file, inside the project"),
    "a contract on the machine": (ENTRY_POINTS + 'contract = "/contract.json"\n', "inside the project"),
    "a contract outside": (ENTRY_POINTS + 'contract = "../contract.json"\n', "inside the project"),
    "targets that are no list": (ENTRY_POINTS + CONTRACT + "targets = 3\n", "targets of [tool.agent-surface] must be"),
    "a list of dynamic imports": (
        ENTRY_POINTS + CONTRACT + 'dynamic-imports = ["shop"]\n',
        "dynamic-imports of [tool.agent-surface] must be a table of module = [modules it may load]",
    ),
    "a dynamic import that is no module": (
        ENTRY_POINTS + CONTRACT + 'dynamic-imports = { "shop.main" = ["1"] }\n',
        "dynamic-imports.shop.main of [tool.agent-surface] has '1', which is no module name",
    ),
}


def test_a_configuration_has_what_the_section_says() -> None:
    """Paths start in the project; an empty list of dynamic imports loads none of the program's own modules."""
    more = 'targets = ["desktop"]\ndynamic-imports = { "shop.main" = [], "shop.gui" = ["shop.pages"] }\n'
    found = parse_configuration("[tool.agent-surface]\n" + ENTRY_POINTS + CONTRACT + more, root=Path("/checkout"))
    assert (found.entry_points, found.targets, found.external) == (("shop.main", "shop.gui"), ("desktop",), ())
    assert found.contract == Path("/checkout/resources/contract.json")
    assert found.dynamic_imports == {"shop.main": (), "shop.gui": ("shop.pages",)}


@pytest.mark.parametrize("case", WRONG.values(), ids=list(WRONG))
def test_a_wrong_value_is_refused_with_its_key(case: tuple[str, str]) -> None:
    """Whoever wrote it reads where it stands and what it should be."""
    text, words = case
    with pytest.raises(ConfigurationError) as raised:
        parse_configuration("[tool.agent-surface]\n" + text, root=Path())
    assert words in str(raised.value)


@pytest.mark.parametrize("text", ["", "tool = 3\n", "[tool]\nagent-surface = 3\n", "[tool.agent-surface]\n"])
def test_a_project_file_without_the_section_says_what_to_add(text: str) -> None:
    """Also where something else stands in its place."""
    with pytest.raises(ConfigurationError, match=r"has no \[tool.agent-surface\]; add it with entry-points"):
        parse_configuration(text, root=Path())


def test_a_configuration_is_found_from_any_folder_below_and_nowhere_else(tmp_path: Path) -> None:
    """The nearest project file counts; without one the way out is told."""
    (tmp_path / "pyproject.toml").write_text("[tool.agent-surface]\n" + ENTRY_POINTS + CONTRACT, encoding="utf-8")
    inner = tmp_path / "shop" / "pages"
    inner.mkdir(parents=True)
    assert read_configuration(inner).root == tmp_path.resolve()
    with pytest.raises(ConfigurationError, match=r"no pyproject\.toml here or above; start the command inside"):
        read_configuration(Path(tmp_path.anchor))
