"""The assistant in the console: the dock, the question, and what comes of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QDialog, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from agent_surface.assistant import AssistantMessage, SessionState, ToolCall, ToolCallStatus
from demo_app.composition import Console
from demo_app.domain import ChangeResult, DeviceStatus, FleetService
from demo_app.views import MainWindow, Outline


def say(qtbot: QtBot, console: Console, text: str) -> None:
    """Type a message into the dock and send it with the keyboard."""
    edit = console.dock.composer.edit
    edit.setFocus()
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(
        lambda: console.assistant.state in (SessionState.IDLE, SessionState.WAITING_FOR_PERSON), timeout=20_000
    )


def last_call(console: Console) -> ToolCall:
    """The newest call of the conversation."""
    return next(entry for entry in reversed(console.assistant.transcript) if isinstance(entry, ToolCall))


def last_words(console: Console) -> str:
    """What the assistant said last."""
    return next(e.text for e in reversed(console.assistant.transcript) if isinstance(e, AssistantMessage))


def wait_for_question(qtbot: QtBot, console: Console) -> QDialog:
    """The question, once it can be answered."""
    qtbot.waitUntil(lambda: console.confirmations.dialog is not None, timeout=10_000)
    dialog = console.confirmations.dialog
    assert dialog is not None
    qtbot.waitUntil(button(dialog, "Approve").isEnabled, timeout=10_000)
    return dialog


def button(dialog: QWidget, text: str) -> QAbstractButton:
    """The button a person would look for by its text."""
    return next(found for found in dialog.findChildren(QAbstractButton) if found.text().replace("&", "") == text)


def click(widget: QWidget) -> None:
    """Click through the window system."""
    window = widget.window()
    place = widget.mapTo(window, widget.rect().center())
    QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)


def wait_idle(qtbot: QtBot, console: Console) -> None:
    """Until the assistant has finished."""
    qtbot.waitUntil(lambda: console.assistant.state is SessionState.IDLE, timeout=20_000)


@pytest.mark.requirement("QT-CONF-002")
def test_what_the_question_shows_is_what_the_service_receives(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, console: Console
) -> None:
    """The same ids in the same order, once, and not before the click."""
    received: list[tuple[str, ...]] = []
    disable = FleetService.disable

    def recording(service: FleetService, device_ids: Sequence[str], *, actor: str) -> ChangeResult:
        received.append(tuple(device_ids))
        return disable(service, device_ids, actor=actor)

    monkeypatch.setattr(FleetService, "disable", recording)
    say(qtbot, console, "show offline devices in Milan, select all shown")
    say(qtbot, console, "disable them")
    dialog = wait_for_question(qtbot, console)
    shown = dialog.findChildren(QTextEdit)[0].toPlainText()
    assert received == []
    click(button(dialog, "Approve"))
    wait_idle(qtbot, console)
    assert received == [tuple(json.loads(shown[shown.index("[") : shown.rindex("]") + 1]))]
    assert set(received[0]) == {"MIL-002", "MIL-004", "MIL-010"}
    assert last_call(console).status is ToolCallStatus.DONE


def test_deny_and_stop_ends_the_turn(qtbot: QtBot, console: Console, window: MainWindow) -> None:
    """What was to come after it is not begun, and nothing changed."""
    version = console.registry.version
    window.table.select_ids(["MIL-002"])
    qtbot.waitUntil(lambda: console.registry.version != version)
    say(qtbot, console, "disable them, clear selection")
    dialog = wait_for_question(qtbot, console)
    click(button(dialog, "Deny and stop"))
    wait_idle(qtbot, console)
    qtbot.waitUntil(lambda: console.confirmations.dialog is None)
    assert window.table.selected_ids() == ("MIL-002",)
    assert window.session.repository.require_device("MIL-002").status is DeviceStatus.OFFLINE
    assert console.registry.confirmations.pending() == ()


def test_the_assistant_says_why_something_cannot_be_done(qtbot: QtBot, console: Console) -> None:
    """In the words of the application."""
    say(qtbot, console, "disable them")
    assert "No device is selected." in last_words(console)


def test_show_in_window_brings_the_component_to_the_front(qtbot: QtBot, console: Console, window: MainWindow) -> None:
    """From a card of the conversation to where it happened."""
    window.go_to("activity")
    console.dock.show_requested.emit("devices.table", "default")
    assert window.section() == "devices"
    outline = window.table.findChildren(Outline)[0]
    assert outline.isVisible()
    assert outline.size() == window.table.size()
    qtbot.waitUntil(lambda: not window.table.findChildren(Outline))
    window.drawer.close()
    console.dock.show_requested.emit("devices.drawer", "default")
    assert window.drawer.isVisible()


def test_the_dock_is_shown_and_hidden_from_the_view_menu(qtbot: QtBot, console: Console, window: MainWindow) -> None:
    """With a shortcut that nothing else has."""
    toggle = console.dock.toggleViewAction()
    assert toggle in window.view_menu.actions()
    assert window.dockWidgetArea(console.dock) is Qt.DockWidgetArea.RightDockWidgetArea
    QTest.keyClick(window, Qt.Key.Key_F8)
    assert not console.dock.isVisible()
    QTest.keyClick(window, Qt.Key.Key_F8)
    assert console.dock.isVisible()
    qtbot.waitUntil(console.dock.composer.edit.hasFocus)
    taken = [action.shortcut() for action in window.findChildren(type(toggle)) if action.shortcut() != QKeySequence()]
    assert len({shortcut.toString() for shortcut in taken}) == len(taken)


def test_suggestions_follow_what_is_possible(qtbot: QtBot, console: Console, window: MainWindow) -> None:
    """Nothing is suggested that could not be done now."""
    before = console.assistant.suggestions()
    assert before
    assert not any("disable" in text for text in before)
    window.table.select_ids(["MIL-001"])
    qtbot.waitUntil(lambda: any("isable" in text for text in console.assistant.suggestions()))


def test_a_large_fleet_is_filtered_selected_and_disabled(
    qtbot: QtBot, tmp_path: Path, console: Console, window: MainWindow
) -> None:
    """Six thousand devices: the assistant reads a screenful, and the question shows every id."""
    ids = [f"X-{number:05}" for number in range(6_000)]
    repository = window.session.repository
    path = tmp_path / "many.csv"
    rows = (f"{id_},Station {id_},{'offline' if n % 2 else 'maintenance'},Quito" for n, id_ in enumerate(ids))
    path.write_text("\n".join(["id,name,status,city", *rows]), encoding="utf-8")
    with qtbot.waitSignal(window.session.changed, timeout=30_000):
        window.session.import_csv(
            path, {"id": 0, "name": 1, "status": 2, "city": 3}, existing="reject", all_or_nothing=True
        )
    qtbot.waitUntil(lambda: window.listed_count() == 6_221 and not window.session.busy_with)
    say(qtbot, console, "show maintenance devices in Quito")
    say(qtbot, console, "select all shown")
    assert window.table.selected_count() == 3_000
    say(qtbot, console, "disable them")
    qtbot.waitUntil(lambda: console.confirmations.dialog is not None, timeout=20_000)
    dialog = console.confirmations.dialog
    assert dialog is not None
    view = dialog.findChildren(QTextEdit)[0]
    assert view.toPlainText().count("X-") == 3_000
    qtbot.waitUntil(button(dialog, "Deny").hasFocus, timeout=10_000)
    assert not button(dialog, "Approve").isEnabled()
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    qtbot.waitUntil(button(dialog, "Approve").isEnabled, timeout=10_000)
    click(button(dialog, "Approve"))
    wait_idle(qtbot, console)
    assert last_call(console).status is ToolCallStatus.DONE
    changed = [device for device in repository.read_devices(ids) if device.status is DeviceStatus.DISABLED]
    assert [device.id for device in changed] == ids[::2]
