"""What a person does with mouse and keyboard.

Events go to the native window: one that is sent to a widget ignores modality, and would reach what nobody could.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QApplication, QPlainTextEdit, QWidget

from agent_surface import AgentSurfaceRegistry, PendingConfirmation
from qt_binding.testing._driving import PATIENCE_MS, turn, wait_until

Answer: TypeAlias = Literal["approve", "deny", "stop", "take-over"]

_BUTTONS: dict[Answer, str] = {
    "approve": "Approve",
    "deny": "Deny",
    "stop": "Deny and stop",
    "take-over": "Take over",
}


def click(widget: QWidget) -> None:
    """Click into the middle of a widget.

    Raises:
        AssertionError: It is not visible or not enabled, or something covers it.
    """
    name = _name(widget)
    assert_that(widget.isVisible(), f"{name} is not visible")
    assert_that(widget.isEnabled(), f"{name} is not enabled")
    window, place = widget.window(), widget.mapTo(widget.window(), widget.rect().center())
    under = window.childAt(place) or window
    assert_that(under is widget or widget.isAncestorOf(under), f"{_name(under)} covers {name}")
    QTest.mouseClick(_native(window), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    turn()


def type_text(widget: QWidget, text: str) -> None:
    """Click into a field and type.

    Raises:
        AssertionError: It is not visible or not enabled, or something covers it.
    """
    click(widget)
    for character in text:
        if character.isascii():
            QTest.keyClick(_native(widget.window()), ord(character))
        else:  # no key of its own: it comes from an input method
            event = QInputMethodEvent()
            event.setCommitString(character)
            QGuiApplication.sendEvent(widget, event)
    turn()


def answer_confirmation(
    registry: AgentSurfaceRegistry, answer: Answer = "approve", *, note: str = "", timeout_ms: int = PATIENCE_MS
) -> PendingConfirmation:
    """Answer the question on the screen as a person does: read to the end, write the note, press the button.

    Args:
        registry: Where it is asked.
        answer: Which button.
        note: What the person writes first.
        timeout_ms: Milliseconds to wait at most, for the dialog and for its buttons.

    Returns:
        What was asked.

    Raises:
        AssertionError: No dialog came up, it offers no such button, or the button cannot be pressed.
    """
    wait_until(
        lambda: _question(registry) is not None,
        lambda: f"a confirmation dialog came up; pending are {len(registry.confirmations.pending())} requests",
        timeout_ms=timeout_ms,
    )
    found = _question(registry)
    if found is None:
        raise AssertionError("The confirmation dialog went away before it was answered.")
    dialog, pending = found
    wait_until(dialog.isVisible, lambda: "the confirmation dialog was shown", timeout_ms=timeout_ms)
    button = _button(dialog, _BUTTONS[answer])

    def can_be_pressed() -> bool:
        for area in dialog.findChildren(QAbstractScrollArea):
            if not isinstance(area, QPlainTextEdit):  # what is read, not what is written
                area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
        return button.isEnabled()

    wait_until(can_be_pressed, lambda: f"{_name(button)} could be pressed", timeout_ms=timeout_ms)
    if note:
        type_text(dialog.findChildren(QPlainTextEdit)[0], note)
    click(button)
    wait_until(
        lambda: registry.closed or registry.confirmations.resolution(pending.confirmation_id) is not None,
        lambda: f"the answer to {pending.confirmation_id} was handed over",
        timeout_ms=timeout_ms,
    )
    return pending


def assert_that(holds: bool, otherwise: str) -> None:
    """Fail with a sentence.

    Raises:
        AssertionError: It does not hold.
    """
    if not holds:
        raise AssertionError(otherwise)


def _question(registry: AgentSurfaceRegistry) -> tuple[QWidget, PendingConfirmation] | None:
    """The dialog of a pending request of this registry, and the request."""
    if registry.closed:
        return None
    pending = {item.confirmation_id: item for item in registry.confirmations.pending()}
    for window in QApplication.topLevelWidgets():
        asked = pending.get(str(getattr(window, "confirmation_id", "")))
        if asked is not None:
            return window, asked
    return None


def _button(dialog: QWidget, text: str) -> QAbstractButton:
    buttons = {button.text().replace("&", ""): button for button in dialog.findChildren(QAbstractButton)}
    if text not in buttons:
        raise AssertionError(f"the question offers {', '.join(sorted(name for name in buttons if name))}, not {text}")
    return buttons[text]


def _name(widget: QWidget) -> str:
    text = widget.text().replace("&", "") if isinstance(widget, QAbstractButton) else widget.objectName()
    return f"{type(widget).__name__} “{text}”" if text else type(widget).__name__


def _native(window: QWidget) -> QWindow:
    assert_that(window.isVisible(), f"the window {_name(window)} is not on the screen")
    return window.windowHandle()
