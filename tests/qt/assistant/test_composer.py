"""Writing, sending and stopping, with the keyboard and with the mouse."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from agent_surface.assistant import SessionState
from qt_binding.assistant import AssistantDock
from tests.qt.assistant.fakes import FakeAnnouncer, FakeConversation


def test_enter_sends_what_was_typed_and_empties_the_field(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """The usual way to say something."""
    qtbot.keyClicks(dock.composer.edit, "Show offline devices")
    qtbot.keyClick(dock.composer.edit, Qt.Key.Key_Return)
    assert (conversation.sent, dock.composer.edit.toPlainText()) == (["Show offline devices"], "")


def test_ctrl_enter_sends_as_well(qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation) -> None:
    """People who know other editors press this."""
    qtbot.keyClicks(dock.composer.edit, "Help")
    qtbot.keyClick(dock.composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert conversation.sent == ["Help"]


def test_shift_enter_begins_a_line_and_sends_nothing(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """A message may have several lines, and the field grows with them."""
    one_line = dock.composer.edit.height()
    qtbot.keyClicks(dock.composer.edit, "first")
    qtbot.keyClick(dock.composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(dock.composer.edit, "second")
    assert (conversation.sent, dock.composer.edit.toPlainText()) == ([], "first\nsecond")
    assert dock.composer.edit.height() > one_line


def test_the_button_sends(qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation) -> None:
    """The same with the mouse."""
    qtbot.keyClicks(dock.composer.edit, "Help")
    qtbot.mouseClick(dock.composer.button, Qt.MouseButton.LeftButton)
    assert conversation.sent == ["Help"]


def test_a_blank_message_is_not_sent_and_the_button_says_why(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """A disabled button that does not say why is a riddle."""
    qtbot.keyClicks(dock.composer.edit, "   ")
    qtbot.keyClick(dock.composer.edit, Qt.Key.Key_Return)
    button = dock.composer.button
    assert conversation.sent == []
    assert not button.isEnabled()
    assert button.toolTip() == button.accessibleDescription() == "Write a message first."


@pytest.mark.parametrize("state", [SessionState.THINKING, SessionState.ACTING, SessionState.WAITING_FOR_PERSON])
def test_escape_and_the_button_stop_whatever_goes_on(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation, state: SessionState
) -> None:
    """Stopping must never need a search."""
    conversation.become(state)
    assert dock.composer.button.accessibleName() == "Stop"
    qtbot.mouseClick(dock.composer.button, Qt.MouseButton.LeftButton)
    qtbot.keyClick(dock.composer.edit, Qt.Key.Key_Escape)
    assert conversation.stops == 2


def test_escape_stops_nothing_when_nothing_runs(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """Escape belongs to the window then."""
    qtbot.keyClick(dock.composer.edit, Qt.Key.Key_Escape)
    assert conversation.stops == 0


def test_while_it_works_enter_keeps_the_text_and_says_why(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation, announcer: FakeAnnouncer
) -> None:
    """A message typed meanwhile is neither lost nor sent by surprise."""
    conversation.become(SessionState.THINKING)
    qtbot.keyClicks(dock.composer.edit, "and then?")
    qtbot.keyClick(dock.composer.edit, Qt.Key.Key_Return)
    assert (conversation.sent, dock.composer.edit.toPlainText()) == ([], "and then?")
    assert dock.status.label.text.startswith("The assistant is still at work.")
    assert announcer.said[-1][0] == dock.status.label.text


def test_while_it_stops_the_button_is_disabled_and_says_so(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Stopping twice is not faster."""
    conversation.become(SessionState.STOPPING)
    assert not dock.composer.button.isEnabled()
    assert dock.composer.button.accessibleDescription() == "It is already stopping."


def test_a_message_that_is_not_taken_stays_in_the_field(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """What a person wrote is theirs until it was really sent."""
    conversation.accepts = False
    qtbot.keyClicks(dock.composer.edit, "Help")
    qtbot.keyClick(dock.composer.edit, Qt.Key.Key_Return)
    assert dock.composer.edit.toPlainText() == "Help"


def test_up_and_down_recall_what_was_sent(qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation) -> None:
    """From the newest to the oldest and back to an empty field."""
    edit = dock.composer.edit
    for text in ("one", "two"):
        qtbot.keyClicks(edit, text)
        qtbot.keyClick(edit, Qt.Key.Key_Return)
        conversation.finishes()
    seen: list[str] = []
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down):
        qtbot.keyClick(edit, key)
        seen.append(edit.toPlainText())
    assert seen == ["two", "one", "one", "two", ""]


def test_up_never_replaces_a_text_that_is_being_written(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """The arrow keys move in a text as everywhere."""
    edit = dock.composer.edit
    qtbot.keyClicks(edit, "one")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    conversation.finishes()
    qtbot.keyClicks(edit, "draft")
    qtbot.keyClick(edit, Qt.Key.Key_Up)
    assert edit.toPlainText() == "draft"


def test_the_field_never_takes_more_than_its_share(qtbot: QtBot, dock: AssistantDock) -> None:
    """A pasted page scrolls inside the field."""
    dock.composer.edit.setPlainText("\n".join(["line"] * 200))
    assert dock.composer.edit.height() < dock.height() // 2
    dock.composer.edit.clear()
    assert dock.composer.edit.height() < 2 * dock.fontMetrics().lineSpacing() + 8
