"""The pages that teach testing hold tests; they are run by pytest, as their readers would run them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
OTHERS = ("randomly", "cacheprovider", "hypothesispytest", "xdist", "anyio")
INI = "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n"

# What the pages promise to show, by the heading it stands under.
RECIPES = (
    "Discovery", "Round trip", "Unmount", "Staleness", "Hidden against disabled", "Approve, deny, expire, replay",
    "Mismatch after approval", "Locked field", "Collision", "Dedupe and conflict", "Navigation", "Observation bounds",
    "Time-out with late settlement", "Purity", "Binding",
)  # fmt: skip


def _blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def _run(pytester: pytest.Pytester, page: Path) -> pytest.RunResult:
    pytester.makeini(INI)
    pytester.makepyfile(**{f"test_{page.stem.replace('-', '_')}": "\n".join(_blocks(page))})
    return pytester.runpytest_inprocess(*(f"-pno:{name}" for name in OTHERS))


@pytest.mark.allow_logs("agent_surface.pipeline")  # a binding that is not valid, as the recipe wants it
def test_every_recipe_of_the_how_to_guide_holds(pytester: pytest.Pytester) -> None:
    """Each block, in the order of the page, with warnings as errors; and each promised recipe is a test of its own."""
    page = DOCS / "how-to" / "test-an-agent-operable-widget.md"
    text = page.read_text(encoding="utf-8")
    shown = {part.partition("\n")[0]: part for part in text.split("\n### ")[1:]}
    assert [name for name in RECIPES if "def test_" not in shown.get(name, "")] == []
    ran = _run(pytester, page)
    ran.assert_outcomes(passed=text.count("def test_"))


def test_the_first_test_of_the_guide_has_five_lines() -> None:
    """As its heading says, counting from the mark to the assertion."""
    block = _blocks(DOCS / "how-to" / "test-an-agent-operable-widget.md")[1]
    assert len(block.splitlines()) == 5


def test_the_tutorial_ends_with_a_tested_widget(pytester: pytest.Pytester) -> None:
    """The file that grows along the page, run by pytest as its reader does."""
    page = DOCS / "tutorials" / "a-tested-operable-widget.md"
    _run(pytester, page).assert_outcomes(passed=page.read_text(encoding="utf-8").count("def test_"))
