"""Nothing an agent reaches leads to the inspector."""

from __future__ import annotations

import subprocess
import sys

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from agent_surface import AgentSurfaceRegistry, JsonValue, SnapshotContext
from agent_surface.toolset import create_agent_toolset
from qt_binding import AgentComponentMixin
from qt_binding.inspector import DEVELOPER, inspector_wanted
from tests.qt.inspector.conftest import ALICE, Inspect, Shop, choose

MODULES = ("qt_binding.inspector", "agent_surface.explain")


def _seen(registry: AgentSurfaceRegistry) -> dict[str, JsonValue]:
    seen = registry.snapshot(SnapshotContext(consumer=ALICE)).to_json()
    return {name: value for name, value in seen.items() if name not in {"capturedAt", "surfaceVersion"}}


def test_no_consumer_sees_anything_of_an_open_inspector(qtbot: QtBot, inspect: Inspect, shop: Shop) -> None:
    """The surface is the same before, with it and after its use; none of its widgets is a component."""
    shop.open()
    before = _seen(shop.registry)
    toolset = create_agent_toolset(shop.registry, consumer=ALICE, topology="embedded")
    tools = [tool.definition for tool in toolset.tools()]
    inspector = inspect()
    choose(inspector, "clear")
    inspector.surface.invoke.invoke_button.click()
    qtbot.waitUntil(lambda: bool(shop.calls))
    assert _seen(shop.registry) == before
    assert [tool.definition for tool in toolset.tools()] == tools
    assert shop.registry.statistics().registrations == 1
    assert not [one for one in inspector.findChildren(QWidget) if isinstance(one, AgentComponentMixin)]
    assert DEVELOPER.key != ALICE.key
    toolset.close()


def test_an_application_that_does_not_ask_for_it_does_not_load_it() -> None:
    """Neither the binding nor the assistant, nor anything they load, has it in hand."""
    code = (
        "import sys, qt_binding, qt_binding.assistant, qt_binding.confirmation, agent_surface.toolset\n"
        f"print([name for name in {MODULES!r} if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


@pytest.mark.parametrize(("value", "wanted"), [(None, False), ("", False), ("0", False), ("1", True)])
def test_the_environment_can_ask_for_it(value: str | None, wanted: bool) -> None:
    """A developer starts somebody else's build with it."""
    environment = {} if value is None else {"AGENT_SURFACE_INSPECT": value}
    assert inspector_wanted(environment) is wanted
