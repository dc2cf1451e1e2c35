"""A whole task with the keyboard alone, finding everything by what a screen reader says of it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from agent_surface.assistant import SessionState, ToolCall, ToolCallStatus
from demo_app.composition import Console
from demo_app.domain import DeviceStatus

NOTE = "Not these two."


def _spoken() -> str:
    """What a screen reader calls the thing that has the keyboard."""
    widget = QApplication.focusWidget()
    if widget is None:
        return ""
    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface is not None
    return interface.text(QAccessible.Text.Name).replace("&", "")


def _window() -> QWindow:
    window = QApplication.focusWindow()
    assert window is not None
    return window


def _press(key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(_window(), key, modifier)


def _type(text: str) -> None:
    widget = QApplication.focusWidget()
    assert widget is not None
    QTest.keyClicks(widget, text)


def _tab_to(name: str) -> None:
    """Press Tab until something of that name has the keyboard; everything on the way must have a name, too."""
    passed: list[str] = []
    for _ in range(40):
        if _spoken() == name:
            return
        assert _spoken(), f"{QApplication.focusWidget()} has no name, after {passed}"
        passed.append(_spoken())
        _press(Qt.Key.Key_Tab)
    raise AssertionError(f"{name} cannot be reached with Tab: {passed}")


def _last_call(console: Console) -> ToolCall:
    return next(entry for entry in reversed(console.assistant.transcript) if isinstance(entry, ToolCall))


def _say(qtbot: QtBot, console: Console, text: str) -> None:
    _tab_to("Message to the assistant")
    _type(text)
    _press(Qt.Key.Key_Return)
    qtbot.waitUntil(
        lambda: console.assistant.state in (SessionState.IDLE, SessionState.WAITING_FOR_PERSON), timeout=20_000
    )


def _wait_for_question(qtbot: QtBot) -> None:
    """Until the question is armed and says that No is what Return would mean."""
    qtbot.waitUntil(lambda: _spoken() == "Deny", timeout=10_000)
    interface = QAccessible.queryAccessibleInterface(_dialog())
    assert interface is not None
    assert interface.role() is QAccessible.Role.Dialog
    assert "Destructive" in interface.text(QAccessible.Text.Name)
    assert "assistant" in interface.text(QAccessible.Text.Description)


def _dialog() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget.window()


@pytest.mark.requirement("QT-CONF-006")
@pytest.mark.allow_logs("agent_surface.pipeline")  # a slow machine is told of slow handlers
def test_a_task_with_an_approval_and_a_denial_needs_no_mouse_and_no_eyes(qtbot: QtBot, console: Console) -> None:
    """Filter, select, approve; select others, deny with a note; take over and hand back."""
    console.window.activateWindow()
    qtbot.waitUntil(console.window.isActiveWindow)
    # The first press closes the dock, the second opens it with the keyboard in the message field.
    _press(Qt.Key.Key_F8)
    _press(Qt.Key.Key_F8)
    qtbot.waitUntil(lambda: _spoken() == "Message to the assistant")
    _say(qtbot, console, "show offline devices in Milan, select all shown")
    chosen = console.window.table.selected_ids()
    _say(qtbot, console, "disable them")
    _wait_for_question(qtbot)
    _tab_to("Approve")
    _press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: console.assistant.state is SessionState.IDLE, timeout=20_000)
    assert _last_call(console).status is ToolCallStatus.DONE
    repository = console.window.session.repository
    assert {repository.require_device(one).status for one in chosen} == {DeviceStatus.DISABLED}
    # The keyboard is back where it was.
    qtbot.waitUntil(lambda: _spoken() == "Message to the assistant")

    _say(qtbot, console, "show online devices in Milan, select all shown")
    others = console.window.table.selected_ids()
    _say(qtbot, console, "disable them")
    _wait_for_question(qtbot)
    _tab_to("Note to the assistant")
    _type(NOTE)
    _tab_to("Deny")
    _press(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: console.assistant.state is SessionState.IDLE, timeout=20_000)
    denied = _last_call(console)
    assert denied.status is ToolCallStatus.REFUSED
    assert NOTE in str(denied.result)
    assert {repository.require_device(one).status for one in others} == {DeviceStatus.ONLINE}

    qtbot.waitUntil(lambda: _spoken() == "Message to the assistant")
    _tab_to("Take over")
    _press(Qt.Key.Key_Space)
    assert console.take_over.engaged
    assert _spoken() == "Hand back"
    _press(Qt.Key.Key_Space)
    assert not console.take_over.engaged
