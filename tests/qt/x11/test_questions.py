"""What only a window system with a window manager shows of questions: who has the keyboard, and who gets it back."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QPushButton, QVBoxLayout, QWidget

from tests.qt.confirmation.conftest import MakeAsking, make_asking
from tests.qt.confirmation.person import Asking
from tests.qt.x11.conftest import Desk

__all__ = ["make_asking"]

pytestmark = pytest.mark.window_manager


class Form(QMainWindow):
    """A window with a field that a person types into, and a button."""

    def __init__(self) -> None:
        super().__init__()
        deck = QWidget()
        self.field, self.button = QLineEdit(), QPushButton("Save")
        self.presses = 0
        self.button.clicked.connect(self._on_clicked)
        layout = QVBoxLayout(deck)
        layout.addWidget(self.field)
        layout.addWidget(self.button)
        self.setCentralWidget(deck)
        self.resize(500, 400)

    def _on_clicked(self) -> None:
        self.presses += 1


@pytest.fixture
def form(desk: Desk) -> Form:
    """A form in which a person is typing."""
    made = Form()
    desk.show(made)
    made.field.setFocus()
    desk.until(made.field.hasFocus)
    return made


@pytest.fixture
def asking(make_asking: MakeAsking, form: Form) -> Asking:
    """Somebody who asks over the form."""
    return make_asking(lambda _: form)


def _answerable(desk: Desk, asking: Asking) -> str:
    confirmation_id = asking.asked({"id": "d-42"})
    desk.until(lambda: QApplication.activeWindow() is asking.dialog)
    return confirmation_id


@pytest.mark.requirement("QT-CONF-006")
def test_a_question_takes_the_keyboard_and_gives_it_back(desk: Desk, form: Form, asking: Asking) -> None:
    """The focus returns to the field, and what is typed then goes there."""
    confirmation_id = _answerable(desk, asking)
    QTest.keyClick(asking.dialog.windowHandle(), Qt.Key.Key_Escape)
    desk.until(lambda: asking.outcome(confirmation_id) != "pending")
    desk.until(lambda: QApplication.activeWindow() is form and form.field.hasFocus())
    for key in (Qt.Key.Key_O, Qt.Key.Key_N):
        QTest.keyClick(form.windowHandle(), key)
    desk.until(lambda: form.field.text() == "on")


@pytest.mark.requirement("QT-CONF-004")
def test_what_was_being_typed_answers_no_question(desk: Desk, asking: Asking) -> None:
    """Return and Space meant for the form arrive at the dialog that has just come, and decide nothing."""
    confirmation_id = asking.ask({"id": "d-42"})
    desk.until(lambda: QApplication.activeWindow() is asking.dialog)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_A):
        QTest.keyClick(asking.dialog.windowHandle(), key)
    assert asking.outcome(confirmation_id) == "pending"


@pytest.mark.requirement("QT-CONF-001")
def test_the_window_behind_a_question_takes_no_clicks_until_it_is_answered(
    desk: Desk, form: Form, asking: Asking
) -> None:
    """And takes them again afterwards."""
    _answerable(desk, asking)
    desk.click(form.button)
    assert form.presses == 0
    asking.click("Deny")
    desk.until(lambda: QApplication.activeWindow() is form)
    desk.click(form.button)
    assert form.presses == 1


def test_a_minimised_window_takes_its_question_along_and_brings_it_back(desk: Desk, form: Form, asking: Asking) -> None:
    """Minimised is not hidden: nobody has said no."""
    confirmation_id = _answerable(desk, asking)
    form.showMinimized()
    desk.until(form.isMinimized)
    assert asking.outcome(confirmation_id) == "pending"
    form.showNormal()
    desk.until(lambda: not form.isMinimized() and asking.dialog.isVisible())
    asking.click("Deny")
    assert asking.outcome(confirmation_id).startswith("denied")


def test_a_dialog_closed_by_the_window_manager_is_a_no(desk: Desk, asking: Asking) -> None:
    """The cross in its frame is an answer, and never an approval."""
    confirmation_id = _answerable(desk, asking)
    asking.dialog.windowHandle().close()
    desk.until(lambda: asking.outcome(confirmation_id).startswith("denied"))
