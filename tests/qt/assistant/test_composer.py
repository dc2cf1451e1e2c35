"""Writing, sending and stopping, with the keyboard and with the mouse."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from agent_surface.assistant import SessionState
from qt_binding.assistant import AssistantDock
from tests.qt.assistant.fakes import FakeAnnouncer, FakeConversation


def test_enter_sends_what_was_typed_and_empties_the_field(dock: AssistantDock, conversation: FakeConversation) -> None:
    """The usual way to say something."""
    QTest.keyClicks(dock.composer.edit, "Show offline devices")
    QTest.keyClick(dock.composer.edit, Qt.Key.Key_Return)
    assert (conversation.sent, dock.composer.edit.toPlainText()) == (["Show offline devices"], "")


def test_ctrl_enter_sends_as_well(dock: AssistantDock, conversation: FakeConversation) -> None:
    """People who know other editors press this."""
    QTest.keyClicks(dock.composer.edit, "Help")
    QTest.keyClick(dock.composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert conversation.sent == ["Help"]


def test_shift_enter_begins_a_line_and_sends_nothing(dock: AssistantDock, conversation: FakeConversation) -> None:
    """A message may have several lines, and the field grows with them."""
    one_line = dock.composer.edit.height()
    QTest.keyClicks(dock.composer.edit, "first")
    QTest.keyClick(dock.composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(dock.composer.edit, "second")
    assert (conversation.sent, dock.composer.edit.toPlainText()) == ([], "first\nsecond")
    assert dock.composer.edit.height() > one_line


def test_the_button_sends(dock: AssistantDock, conversation: FakeConversation) -> None:
    """The same with the mouse."""
    QTest.keyClicks(dock.composer.edit, "Help")
    QTest.mouseClick(dock.composer.button, Qt.MouseButton.LeftButton)
    assert conversation.sent == ["Help"]


def test_a_blank_message_is_not_sent_and_the_button_says_why(
    dock: AssistantDock, conversation: FakeConversation
) -> None:
    """A disabled button that does not say why is a riddle."""
    QTest.keyClicks(dock.composer.edit, "   ")
    QTest.keyClick(dock.composer.edit, Qt.Key.Key_Return)
    button = dock.composer.button
    assert conversation.sent == []
    assert not button.isEnabled()
    assert button.toolTip() == button.accessibleDescription() == "Write a message first."


@pytest.mark.parametrize("state", [SessionState.THINKING, SessionState.ACTING, SessionState.WAITING_FOR_PERSON])
def test_escape_and_the_button_stop_whatever_goes_on(
    dock: AssistantDock, conversation: FakeConversation, state: SessionState
) -> None:
    """Stopping must never need a search."""
    conversation.become(state)
    assert dock.composer.button.accessibleName() == "Stop"
    QTest.mouseClick(dock.composer.button, Qt.MouseButton.LeftButton)
    QTest.keyClick(dock.composer.edit, Qt.Key.Key_Escape)
    assert conversation.stops == 2


def test_escape_stops_nothing_when_nothing_runs(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Escape belongs to the window then."""
    QTest.keyClick(dock.composer.edit, Qt.Key.Key_Escape)
    assert conversation.stops == 0


def test_while_it_works_enter_keeps_the_text_and_says_why(
    dock: AssistantDock, conversation: FakeConversation, announcer: FakeAnnouncer
) -> None:
    """A message typed meanwhile is neither lost nor sent by surprise."""
    conversation.become(SessionState.THINKING)
    QTest.keyClicks(dock.composer.edit, "and then?")
    QTest.keyClick(dock.composer.edit, Qt.Key.Key_Return)
    assert (conversation.sent, dock.composer.edit.toPlainText()) == ([], "and then?")
    assert dock.status.label.shown_text.startswith("The assistant is still at work.")
    assert announcer.said[-1][0] == dock.status.label.shown_text


def test_while_it_stops_the_button_is_disabled_and_says_so(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Stopping twice is not faster."""
    conversation.become(SessionState.STOPPING)
    assert not dock.composer.button.isEnabled()
    assert dock.composer.button.accessibleDescription() == "It is already stopping."


def test_a_message_that_is_not_taken_stays_in_the_field(dock: AssistantDock, conversation: FakeConversation) -> None:
    """What a person wrote is theirs until it was really sent."""
    conversation.accepts = False
    QTest.keyClicks(dock.composer.edit, "Help")
    QTest.keyClick(dock.composer.edit, Qt.Key.Key_Return)
    assert dock.composer.edit.toPlainText() == "Help"


def test_up_and_down_recall_what_was_sent(dock: AssistantDock, conversation: FakeConversation) -> None:
    """From the newest to the oldest and back to an empty field."""
    edit = dock.composer.edit
    for text in ("one", "two"):
        QTest.keyClicks(edit, text)
        QTest.keyClick(edit, Qt.Key.Key_Return)
        conversation.finishes()
    seen: list[str] = []
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down):
        QTest.keyClick(edit, key)
        seen.append(edit.toPlainText())
    assert seen == ["two", "one", "one", "two", ""]


def test_up_never_replaces_a_text_that_is_being_written(dock: AssistantDock, conversation: FakeConversation) -> None:
    """The arrow keys move in a text as everywhere."""
    edit = dock.composer.edit
    QTest.keyClicks(edit, "one")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    conversation.finishes()
    QTest.keyClicks(edit, "draft")
    QTest.keyClick(edit, Qt.Key.Key_Up)
    assert edit.toPlainText() == "draft"


def test_the_field_never_takes_more_than_its_share(dock: AssistantDock) -> None:
    """A pasted page scrolls inside the field."""
    dock.composer.edit.setPlainText("\n".join(["line"] * 200))
    assert dock.composer.edit.height() < dock.height() // 2
    dock.composer.edit.clear()
    assert dock.composer.edit.height() < 2 * dock.fontMetrics().lineSpacing() + 8
