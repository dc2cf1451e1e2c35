"""An inspector over a registry that a test fills by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from agent_surface import (
    AgentConsumer,
    AgentSurfaceRegistry,
    RegistrationHandle,
    action_contract,
    define_agent_component_contract,
    from_json_schema,
    has_permission,
    observation_contract,
)
from agent_surface.testing import contract_authority
from qt_binding import create_qt_registry
from qt_binding.inspector import SurfaceInspector

ALICE = AgentConsumer(id="alice")

MOVE = action_contract(
    description="Move it",
    input=from_json_schema(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 2},
                "count": {"type": "integer"},
                "size": {"type": "number"},
                "mode": {"enum": ["fast", "slow"]},
                "sure": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "where": {
                    "type": "object",
                    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                    "required": ["x"],
                    "additionalProperties": False,
                },
                "rest": {},
            },
            "required": ["name"],
            "additionalProperties": False,
        }
    ),
    effect="local-state",
)
CLEAR = action_contract(description="Clear it", effect="local-state")
DROP = action_contract(description="Drop it", effect="local-state", confirmation="required")
COUNT = observation_contract(description="How many", output=from_json_schema({"type": "integer"}))
PARTS = define_agent_component_contract(
    type="test.parts",
    description="Parts",
    observations={"count": COUNT},
    actions={"move": MOVE, "clear": CLEAR, "drop": DROP},
)


@dataclass
class Shop:
    """What the capabilities of the parts did."""

    registry: AgentSurfaceRegistry
    calls: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])

    def open(self, instance_id: str = "default") -> RegistrationHandle:
        """A component goes live."""
        return self.registry.register(
            PARTS.bind(
                instance_id=instance_id,
                observations={"count": lambda: len(self.calls)},
                actions={
                    "move": self._moved,
                    "clear": lambda: self.calls.append(("clear", instance_id)),
                    "drop": lambda: self.calls.append(("drop", instance_id)),
                },
                policies=[has_permission("parts")] if instance_id.startswith("secret") else [],
            )
        )

    def _moved(self, given: Mapping[str, object]) -> None:
        self.calls.append(("move", given))


@pytest.fixture
def shop(qtbot: QtBot) -> Iterator[Shop]:
    """An empty registry with the ports of Qt."""
    made = Shop(create_qt_registry(authority=contract_authority(PARTS), environment="test"))
    yield made
    made.registry.close()
    qtbot.wait(1)


Inspect = Callable[[], SurfaceInspector]


@pytest.fixture
def inspect(qtbot: QtBot, shop: Shop) -> Iterator[Inspect]:
    """Opens an inspector in a shown window."""
    windows: list[QMainWindow] = []

    def opened() -> SurfaceInspector:
        window = QMainWindow()
        windows.append(window)
        window.resize(900, 800)
        inspector = SurfaceInspector(shop.registry, consumers=(ALICE,), parent=window)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, inspector)
        window.show()
        qtbot.waitExposed(window)
        return inspector

    yield opened
    for window in windows:
        window.close()
        window.deleteLater()
    qtbot.wait(1)


def rows(inspector: SurfaceInspector) -> dict[str, tuple[str, str]]:
    """What the tree shows: state and reason by name, capabilities under their component."""
    view = inspector.surface.tree
    model = view.model()
    found: dict[str, tuple[str, str]] = {}

    def said(index: QModelIndex) -> tuple[str, str]:
        return index.siblingAtColumn(1).data(), index.siblingAtColumn(2).data()

    for row in range(model.rowCount()):
        component = model.index(row, 0)
        found[component.data()] = said(component)
        for inner in range(model.rowCount(component)):
            capability = model.index(inner, 0, component)
            found[f"{component.data()}/{capability.data()}"] = said(capability)
    return found


def choose(inspector: SurfaceInspector, capability: str, component: int = 0) -> QModelIndex:
    """Go to a capability in the tree, as a person does with the arrow keys."""
    view = inspector.surface.tree
    model = view.model()
    parent = model.index(component, 0)
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        if index.data() == capability:
            view.setCurrentIndex(index)
            return index
    raise AssertionError(f"no {capability} in the tree")
