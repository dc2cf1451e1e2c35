"""A window with a menu, a tool bar and a place for the actions under test."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMainWindow, QTextEdit
from pytestqt.qtbot import QtBot

from agent_surface import action_contract, define_agent_component_contract, from_json_schema
from agent_surface.testing import contract_authority
from qt_binding import attach_agent_component, bind_action, create_qt_registry, provide_surface
from tests.qt.mixin.parts import Surface, delete, shown, turn

RUN = action_contract(description="Run it", effect="local-state")
SWITCH = action_contract(
    description="Switch it",
    input=from_json_schema(
        {
            "type": "object",
            "properties": {"checked": {"type": "boolean"}},
            "required": ["checked"],
            "additionalProperties": False,
        }
    ),
    effect="local-state",
)
TELL = action_contract(description="Tell", output=from_json_schema({"type": "object"}), effect="local-state")
RUNNER = define_agent_component_contract(type="test.runner", description="Runs", actions={"run": RUN})
SWITCHER = define_agent_component_contract(type="test.switcher", description="Switches", actions={"switch": SWITCH})
RUN_ID, SWITCH_ID = "view:test.runner.run", "view:test.switcher.switch"

Attach = Callable[[QAction], None]


@pytest.fixture
def surface(qapp: QApplication, qtbot: QtBot) -> Iterator[Surface]:
    """A registry that the application provides; the test leaves nothing in it."""
    made = Surface(create_qt_registry(authority=contract_authority(RUNNER, SWITCHER), environment="test"), qtbot)
    withdraw = provide_surface(qapp, made.registry)
    yield made
    withdraw()
    gc.collect()
    turn()
    assert made.registry.statistics().registrations == 0
    made.registry.close()


@pytest.fixture
def window(surface: Surface) -> Iterator[QMainWindow]:
    """A shown main window."""
    del surface
    made = QMainWindow()
    made.setCentralWidget(QTextEdit())
    shown(made)
    yield made
    delete(made)
    turn()


@pytest.fixture
def attach(window: QMainWindow) -> Attach:
    """Offer an action; the window around it is no condition of its own, so what is seen is the action's doing."""

    def offer(action: QAction) -> None:
        attach_agent_component(window, RUNNER, actions={"run": bind_action(RUN, action)}, presented=True)
        turn()

    return offer


def heard(action: QAction) -> list[bool]:
    """What the action will tell its slots."""
    told = list[bool]()

    def hear(checked: bool) -> None:
        told.append(checked)

    action.triggered.connect(hear)
    return told
