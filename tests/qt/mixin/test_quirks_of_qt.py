"""Habits of Qt and PySide that have surprised others, and what a component makes of them."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import textwrap

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QDockWidget, QMainWindow, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from agent_surface import AvailabilityChanged, ComponentRegistered
from qt_binding import AgentComponentMixin, attach_agent_component, performs
from tests.qt.mixin.parts import (
    PING,
    PING_ID,
    PINGER,
    READ_ID,
    SET_ID,
    Counter,
    SetValue,
    Surface,
    code_of,
    delete,
    shown,
    turn,
)


def _announced(surface: Surface, registration_id: str | None, capability_id: str) -> list[bool]:
    return [
        event.available
        for event in surface.events
        if isinstance(event, AvailabilityChanged)
        and (event.registration_id, event.capability_id) == (registration_id, capability_id)
    ]


@pytest.mark.requirement("QT-LIFE-008")
def test_a_button_of_qt_that_is_on_the_screen_already_is_watched_like_any_other(surface: Surface) -> None:
    """An override that is patched in now would never be called: PySide has looked before."""
    button = QPushButton("Ping")
    shown(button)
    handle = attach_agent_component(button, PINGER, actions={"ping": button.click})
    button.setEnabled(False)
    turn()
    button.setEnabled(True)
    turn()
    button.hide()
    turn()
    assert _announced(surface, handle.registration_id, PING_ID) == [False, True, False]
    delete(button)


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_dock_taken_out_and_put_back_in_one_turn_is_no_news(surface: Surface) -> None:
    """Qt hides and shows its contents several times over."""
    window, counter = QMainWindow(), Counter()
    dock = QDockWidget("Log", window)
    dock.setWidget(counter)
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    shown(window)
    surface.events.clear()
    dock.setFloating(True)
    dock.setFloating(False)
    turn()
    assert _announced(surface, counter.agent_handle.registration_id, READ_ID) == []
    assert not any(isinstance(event, ComponentRegistered) for event in surface.events)
    delete(window)


@pytest.mark.requirement("QT-AVAIL-005")
def test_enabling_a_parent_does_not_announce_a_child_that_is_disabled_itself(surface: Surface) -> None:
    """Only what changes for a person is news."""

    class Named(Counter):
        def __init__(self, name: str) -> None:
            super().__init__()
            self._name = name

        def agent_instance_id(self) -> str:
            return self._name

    window, on, off = QWidget(), Named("on"), Named("off")
    layout = QVBoxLayout(window)
    for counter in (on, off):
        layout.addWidget(counter)
    off.setEnabled(False)
    shown(window)
    surface.events.clear()
    for enabled in (False, True):
        window.setEnabled(enabled)
        turn()
    assert _announced(surface, on.agent_handle.registration_id, READ_ID) == [False, True]
    assert not any(_announced(surface, off.agent_handle.registration_id, READ_ID))
    delete(window)


@pytest.mark.requirement("QT-LOOP-004")
def test_a_call_cancelled_while_its_handler_shows_a_dialog_ends_and_the_answer_harms_nobody(surface: Surface) -> None:
    """A plain handler cannot be interrupted; whoever called does not have to wait for it."""
    dialogs, opened = list[QDialog](), asyncio.Event()

    class Asks(AgentComponentMixin, QWidget):
        agent_contract = PINGER

        @performs(PING)
        def ping(self) -> None:
            dialog = QDialog()
            dialogs.append(dialog)
            QTimer.singleShot(0, dialog, opened.set)
            dialog.exec()

    asks = Asks()
    shown(asks)
    call = surface.start(PING_ID)

    async def answer_late() -> bool:
        await opened.wait()
        call.cancel()
        await asyncio.wait({call})
        still_open = dialogs[0].isVisible()
        dialogs[0].accept()
        return still_open

    assert surface.finish(answer_late())
    assert call.cancelled()
    turn(3)
    assert surface.registry.statistics().running_tasks == 0
    delete(asks, *dialogs)


@pytest.mark.requirement("QT-LOOP-005")
def test_the_collector_takes_no_call_away(surface: Surface) -> None:
    """An event loop holds its tasks weakly; a call is held by the registry."""
    gone_through = list[int]()

    class Slow(Counter):
        @override
        async def set_value(self, request: SetValue) -> None:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
            for turn_number in range(5):
                await asyncio.sleep(0)
                gc.collect()
                gone_through.append(turn_number)

    slow = Slow()
    shown(slow)
    assert code_of(surface.invoke(SET_ID, {"value": 1})) == "ok"
    assert gone_through == [0, 1, 2, 3, 4]
    delete(slow)


@pytest.mark.requirement("QT-LIFE-003")
def test_a_program_with_a_hundred_components_ends_without_a_word(qapp: QApplication) -> None:
    """Qt and the interpreter take the world apart in an order of their own."""
    del qapp
    program = """
        from PySide6.QtCore import QTimer
        from PySide6.QtWidgets import QApplication, QWidget
        from agent_surface.testing import contract_authority
        from qt_binding import create_qt_registry, provide_surface
        from tests.qt.mixin.parts import COUNTER, CounterHandlers

        class Numbered(CounterHandlers, QWidget):
            def __init__(self, number, parent):
                super().__init__(parent)
                self.number = number
            def agent_instance_id(self):
                return str(self.number)

        app = QApplication([])
        registry = create_qt_registry(authority=contract_authority(COUNTER), environment="test")
        provide_surface(app, registry)
        window = QWidget()
        kept = [Numbered(number, window) for number in range(100)]
        window.show()
        QTimer.singleShot(0, lambda: QTimer.singleShot(0, app.quit))
        app.exec()
        print(registry.statistics().registrations)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=50, check=False
    )
    complaints = [line for line in ended.stderr.splitlines() if not line.startswith("This plugin does not support")]
    assert (ended.returncode, ended.stdout.strip(), complaints) == (0, "100", [])
