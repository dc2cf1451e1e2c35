"""A whole task with the keyboard alone, finding everything by what a screen reader says of it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from agent_surface.assistant import SessionState, ToolCall, ToolCallStatus
from demo_app.composition import Console
from demo_app.domain import DeviceStatus
from qt_binding.assistant import AssistantSettingsDialog

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


def _focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def _type(text: str) -> None:
    QTest.keyClicks(_focused(), text)


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
    return _focused().window()


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


def _menu(letter: Qt.Key) -> QMenu:
    """Open the menu of the menu bar that has this letter."""
    _press(letter, Qt.KeyboardModifier.AltModifier)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def _choose(menu: QMenu, name: str) -> None:
    """Go up in the menu to the entry of that name, as a screen reader says it, and choose it."""
    passed: list[str] = []
    for _ in range(40):
        QTest.keyClick(menu, Qt.Key.Key_Up)
        passed.append(_spoken_inside(menu))
        if passed[-1] == name:
            QTest.keyClick(menu, Qt.Key.Key_Return)
            return
    raise AssertionError(f"{name} is not in the menu: {passed}")


def _go_back_to_the_window(qtbot: QtBot, console: Console) -> None:
    """What a window system does when a menu closes, and the offscreen one does not."""
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)
    qtbot.wait(1)
    console.window.windowHandle().requestActivate()
    qtbot.waitUntil(lambda: bool(QApplication.focusWindow()))


def _spoken_inside(widget: QWidget | None = None) -> str:
    """What a screen reader says of the row, tab or entry that the keyboard is on."""
    interface = QAccessible.queryAccessibleInterface(widget or _focused())
    assert interface is not None
    parts = [interface.child(number) for number in range(interface.childCount())]
    return next((part.text(QAccessible.Text.Name).replace("&", "") for part in parts if _is_at(part)), "")


def _is_at(part: QAccessibleInterface) -> bool:
    # PySide gives the flags as integers.
    state = part.state()
    return bool(state.focused) or (part.role() is QAccessible.Role.PageTab and bool(state.selected))


def _read() -> str:
    """The text of the field that has the keyboard, as a screen reader reads it."""
    interface = QAccessible.queryAccessibleInterface(_focused())
    assert interface is not None
    text = interface.textInterface()
    assert text is not None
    return text.text(0, text.characterCount())


def test_a_developer_inspects_and_invokes_with_the_keyboard_alone(qtbot: QtBot, console: Console) -> None:
    """Open it from the Help menu, choose a capability, invoke it, read the result, and close it again."""
    console.window.activateWindow()
    qtbot.waitUntil(console.window.isActiveWindow)
    _choose(_menu(Qt.Key.Key_H), "Inspect the agent surface")
    _go_back_to_the_window(qtbot, console)
    qtbot.waitUntil(lambda: _spoken() == "Components and capabilities")
    _type("readCi")
    assert _spoken_inside().startswith("readCities, Available")
    _tab_to("Details")
    _press(Qt.Key.Key_Right)
    assert _spoken_inside() == "Invoke"
    _press(Qt.Key.Key_Tab)
    _tab_to("Invoke")
    _press(Qt.Key.Key_Space)
    # While the call runs the keyboard is on the button that stops it.
    assert _spoken() == "Stop"
    qtbot.waitUntil(lambda: _spoken() == "Invoke")
    _tab_to("Result")
    assert '"Milan"' in _read()
    _choose(_menu(Qt.Key.Key_V), "Surface inspector")
    _go_back_to_the_window(qtbot, console)
    assert console.inspector is not None
    assert not console.inspector.isVisible()
    assert _spoken()


def _stops(window: QWidget) -> set[QWidget]:
    """What Tab has to reach in a window."""
    return {
        widget
        for widget in window.findChildren(QWidget)
        if widget.window() is window
        and widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
    }


def _walk(key: Qt.Key) -> list[QWidget]:
    """Press a key until the keyboard is where it was; everything on the way must have a name."""
    passed: list[QWidget] = []
    for _ in range(80):
        widget = _focused()
        if widget in passed:
            break
        assert _spoken(), f"{widget} has no name, after {passed}"
        passed.append(widget)
        _press(key)
    return passed


def _walk_round(qtbot: QtBot, window: QWidget) -> None:
    """Tab reaches everything and comes round, and Shift+Tab goes the same way back."""
    window.activateWindow()
    qtbot.waitUntil(lambda: window.isActiveWindow() and QApplication.focusWidget() is not None)
    forth = _walk(Qt.Key.Key_Tab)
    assert set(forth) == _stops(window)
    back = _walk(Qt.Key.Key_Backtab)
    assert back == [forth[0], *reversed(forth[1:])]


def _open_part(qtbot: QtBot, console: Console, part: str) -> QWidget:
    window = console.window
    match part:
        case "devices":
            window.table.select_ids(window.table.listed_ids()[:1])
        case "notes" | "activity":
            window.go_to("notes" if part == "notes" else "activity")
        case "form" | "events" | "confirmations":
            inspector = console.open_inspector()
            inspector.tabs.setCurrentIndex({"form": 0, "events": 1, "confirmations": 2}[part])
            if part == "form":
                qtbot.waitUntil(lambda: inspector.surface.tree.model().rowCount() > 0)
                inspector.surface.tree.keyboardSearch("setF")
                inspector.surface.show_invoke()
        case "settings":
            console.care.open_settings()
            return next(one for one in window.findChildren(AssistantSettingsDialog) if one.isVisible())
        case "palette":
            console.dock.open_palette()
            assert console.dock.command_palette is not None
            return console.dock.command_palette
        case "question":
            window.table.select_ids(window.table.listed_ids()[:1])
            # What is available is told in the next turn of the event loop.
            qtbot.waitUntil(lambda: "clear selection" in console.dock.suggestions.texts)
            console.assistant.send("disable them")
            _wait_for_question(qtbot)
            assert console.confirmations.dialog is not None
            return console.confirmations.dialog
        case _:
            raise AssertionError(part)
    return window


@pytest.mark.allow_logs("agent_surface.pipeline")  # a slow machine is told of slow handlers
@pytest.mark.parametrize(
    "part", ["devices", "notes", "activity", "form", "events", "confirmations", "settings", "palette", "question"]
)
def test_tab_reaches_everything_goes_round_and_each_stop_has_a_name(qtbot: QtBot, console: Console, part: str) -> None:
    """In every window and page; nothing keeps the keyboard, and nothing that takes it is silent or passed over."""
    console.window.activateWindow()
    qtbot.waitUntil(console.window.isActiveWindow)
    opened = _open_part(qtbot, console, part)
    if opened is console.window:
        # Suggestions are buttons, too, and follow the surface a little later.
        qtbot.waitUntil(lambda: console.dock.suggestions.texts == console.assistant.suggestions()[:3] != ())
    _walk_round(qtbot, opened)
    if opened is not console.window:
        _press(Qt.Key.Key_Escape)
        qtbot.waitUntil(lambda: not isValid(opened) or not opened.isVisible())
        qtbot.waitUntil(lambda: console.assistant.state is SessionState.IDLE)
