"""The transcript keeps the reader's place, costs what is seen, and follows the theme."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QMainWindow
from pytestqt.qtbot import QtBot

from agent_surface.assistant import AssistantMessage, PersonMessage, TranscriptEntry
from qt_binding.assistant import AssistantDock
from qt_binding.assistant._rows import MessageRow
from tests.qt.assistant.fakes import FakeConversation, focused


def _long(count: int) -> list[TranscriptEntry]:
    entries: list[TranscriptEntry] = []
    for number in range(count // 2):
        entries.append(PersonMessage(message_id=f"p{number}", text=f"Question {number}", at_ms=0))
        text = f"Answer **{number}**.\n\n- one\n- two\n\n" * (1 + number % 4)
        entries.append(AssistantMessage(message_id=f"a{number}", text=text, at_ms=0))
    return entries


def _row(dock: AssistantDock, message_id: str) -> MessageRow:
    row = dock.transcript.row_of(message_id)
    assert isinstance(row, MessageRow)
    return row


@pytest.mark.requirement("QT-DOCK-002")
def test_text_appears_at_the_next_flush_and_not_at_each_token(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """A hundred tokens change the document once."""
    message = conversation.begins("")
    row = _row(dock, message.message_id)
    changes = QSignalSpy(row.browser.document().contentsChanged)
    for number in range(100):
        conversation.streams(message, f"word{number} ")
    assert (row.text, changes.count()) == ("", 0)
    qtbot.waitUntil(lambda: row.text.endswith("word99 "))
    assert changes.count() < 10


def test_completion_shows_all_text_at_once_whatever_is_waiting(
    dock: AssistantDock, conversation: FakeConversation
) -> None:
    """Nothing is lost or doubled between the last token and the end."""
    message = conversation.begins("")
    conversation.streams(message, "Hello **wor")
    conversation.streams(message, "ld**")
    conversation.completes(message)
    dock.transcript.flush()
    assert _row(dock, message.message_id).browser.toPlainText() == "Hello world"


def test_a_long_answer_shows_its_whole_text_while_it_grows(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Rendered block by block, in pieces of any size, nothing is missing, doubled or out of order."""
    message = conversation.begins("")
    text = "".join(f"Paragraph {n} with some more words in it.\n\n" for n in range(120))
    for start in range(0, len(text), 97):
        conversation.streams(message, text[start : start + 97])
        dock.transcript.flush()
        shown = _row(dock, message.message_id).browser.toPlainText().split()
        assert shown == text[: start + 97].split()
    conversation.completes(message)
    assert _row(dock, message.message_id).browser.toPlainText().split() == text.split()


def test_a_selection_survives_the_text_that_arrives(dock: AssistantDock, conversation: FakeConversation) -> None:
    """A person may copy from an answer that is still being written."""
    message = conversation.begins("")
    conversation.streams(message, "Copy this please. ")
    dock.transcript.flush()
    browser = _row(dock, message.message_id).browser
    cursor = browser.textCursor()
    cursor.setPosition(5)
    cursor.setPosition(9, cursor.MoveMode.KeepAnchor)
    browser.setTextCursor(cursor)
    conversation.streams(message, "More text.")
    dock.transcript.flush()
    assert browser.textCursor().selectedText() == "this"


@pytest.mark.requirement("QT-DOCK-002")
def test_it_follows_the_end_while_the_reader_is_there(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Also while a message grows beyond the height of the view."""
    conversation.resets(_long(60))
    message = conversation.begins("")
    bar = dock.transcript.verticalScrollBar()
    for _ in range(12):
        conversation.streams(message, "A further paragraph.\n\n" * 5)
        dock.transcript.flush()
        assert bar.value() == bar.maximum()
        assert dock.transcript.following


@pytest.mark.requirement("QT-DOCK-002")
def test_a_reader_who_scrolled_up_is_left_alone(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Growing text below, new messages and calls move nothing that is being read."""
    conversation.resets(_long(200))
    message = conversation.begins("")
    bar = dock.transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    first = next(row for row in dock.transcript.rows() if row.mapTo(dock.transcript, QPoint(0, row.height())).y() > 0)
    place = first.mapTo(dock.transcript, QPoint(0, 0)).y()
    for _ in range(10):
        conversation.streams(message, "text\n\n" * 10)
        dock.transcript.flush()
    conversation.says("another")
    assert not dock.transcript.following
    assert first.mapTo(dock.transcript, QPoint(0, 0)).y() == place


def test_scrolling_back_to_the_end_follows_again(dock: AssistantDock, conversation: FakeConversation) -> None:
    """By hand, by the End key or by sending something."""
    conversation.resets(_long(100))
    bar = dock.transcript.verticalScrollBar()
    bar.setValue(0)
    assert not dock.transcript.following
    bar.setValue(bar.maximum())
    assert dock.transcript.following
    bar.setValue(0)
    dock.transcript.follow_end()
    assert (dock.transcript.following, bar.value()) == (True, bar.maximum())


def test_sending_goes_to_the_end(dock: AssistantDock, conversation: FakeConversation) -> None:
    """What the person says is what they want to see."""
    conversation.resets(_long(100))
    dock.transcript.verticalScrollBar().setValue(0)
    QTest.keyClicks(dock.composer.edit, "next")
    QTest.keyClick(dock.composer.edit, Qt.Key.Key_Return)
    assert dock.transcript.following
    assert dock.transcript.row_of(conversation.entries[-1].message_id) is not None


def test_reading_upwards_never_jumps(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Rows above are measured only when they come near; the one being read moves as far as the person scrolled."""
    conversation.resets(_long(400))
    bar = dock.transcript.verticalScrollBar()
    bar.setValue(bar.maximum() - 2_000)
    for _ in range(60):
        row = next(
            row for row in dock.transcript.rows() if row.mapTo(dock.transcript, QPoint(0, row.height())).y() > 200
        )
        before = row.mapTo(dock.transcript, QPoint(0, 0)).y()
        bar.setValue(bar.value() - 90)
        assert row.mapTo(dock.transcript, QPoint(0, 0)).y() == before + 90


def test_a_resize_keeps_the_row_that_is_read(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Everything above it wraps anew, off the screen."""
    conversation.resets(_long(200))
    bar = dock.transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    rows = [row for row in dock.transcript.rows() if row.mapTo(dock.transcript, QPoint(0, row.height())).y() > 0]
    place = rows[0].mapTo(dock.transcript, QPoint(0, 0)).y()
    window = dock.window()
    assert isinstance(window, QMainWindow)
    window.resizeDocks([dock], [300], Qt.Orientation.Horizontal)
    QApplication.processEvents()
    assert rows[0].mapTo(dock.transcript, QPoint(0, 0)).y() == place


@pytest.mark.requirement("QT-DOCK-002")
def test_a_flush_costs_the_same_after_two_thousand_messages(
    dock: AssistantDock, conversation: FakeConversation
) -> None:
    """Only rows near the visible part exist, and no old one is laid out again."""
    conversation.resets(_long(2_000))
    message = conversation.begins("")
    assert dock.transcript.count == 2_001
    assert len(dock.transcript.rows()) < 60
    old = next(row for row in dock.transcript.rows() if isinstance(row, MessageRow) and row.text)
    layouts = QSignalSpy(old.browser.document().documentLayout().update)
    for _ in range(20):
        conversation.streams(message, "more words ")
        dock.transcript.flush()
    assert layouts.count() == 0
    bar = dock.transcript.verticalScrollBar()
    for value in range(0, bar.maximum(), bar.maximum() // 20):
        bar.setValue(value)
    assert len(dock.transcript.rows()) < 60


def test_keys_scroll_the_conversation_also_from_within_a_message(
    dock: AssistantDock, conversation: FakeConversation
) -> None:
    """A person without a mouse can read everything."""
    conversation.resets(_long(200))
    bar = dock.transcript.verticalScrollBar()
    dock.transcript.focus_last()
    QTest.keyClick(focused(), Qt.Key.Key_PageUp)
    assert bar.value() < bar.maximum()
    dock.transcript.setFocus()
    QTest.keyClick(dock.transcript, Qt.Key.Key_Home)
    assert bar.value() == 0
    QTest.keyClick(dock.transcript, Qt.Key.Key_End)
    assert bar.value() == bar.maximum()


def test_shift_tab_walks_up_through_messages_that_were_out_of_sight(
    dock: AssistantDock, conversation: FakeConversation
) -> None:
    """What gets the keyboard is scrolled to, and the row with it stays alive."""
    conversation.resets(_long(200))
    dock.transcript.focus_last()
    for _ in range(25):
        QTest.keyClick(focused(), Qt.Key.Key_Backtab)
    assert focused().accessibleName().startswith(("You: Question 8", "Assistant: Answer **8"))
    place = focused().mapTo(dock.transcript, QPoint(0, 0)).y()
    assert 0 <= place < dock.transcript.height()


def test_every_message_has_a_spoken_name(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Who said it, and what."""
    said = conversation.person("hello\u202e")
    answer = conversation.says("**Hi**")
    assert _row(dock, said.message_id).browser.accessibleName() == "You: hello\\u202e"
    assert _row(dock, answer.message_id).browser.accessibleName() == "Assistant: **Hi**"


def test_messages_of_the_person_are_plain_text(dock: AssistantDock, conversation: FakeConversation) -> None:
    """What was typed is shown, not interpreted."""
    said = conversation.person("**not bold** <b>x</b> [a](http://b.example)")
    assert _row(dock, said.message_id).browser.toPlainText() == "**not bold** <b>x</b> [a](http://b.example)"


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_the_person_speaks_from_the_trailing_side(
    dock: AssistantDock, conversation: FakeConversation, direction: Qt.LayoutDirection
) -> None:
    """In both reading directions."""
    dock.setLayoutDirection(direction)
    said = conversation.person("hi")
    row = _row(dock, said.message_id)
    at_right = row.browser.geometry().center().x() > row.width() / 2
    assert at_right == (direction is Qt.LayoutDirection.LeftToRight)


def test_a_theme_change_is_followed_by_rendered_text_at_once(
    dock: AssistantDock, conversation: FakeConversation
) -> None:
    """Colours are baked into rendered text, so it is rendered again, in view and out of view."""
    message = conversation.says("see [this](https://example.com) and `code`")
    light = _row(dock, message.message_id).browser.document().toHtml()
    dark = QPalette()
    for role, color in (
        (QPalette.ColorRole.Window, "#202124"),
        (QPalette.ColorRole.WindowText, "#e8eaed"),
        (QPalette.ColorRole.Base, "#17181a"),
        (QPalette.ColorRole.Text, "#e8eaed"),
        (QPalette.ColorRole.Link, "#8ab4f8"),
    ):
        dark.setColor(role, QColor(color))
    dock.window().setPalette(dark)
    row = _row(dock, message.message_id)
    assert row.browser.document().toHtml() != light
    assert row.browser.palette().color(QPalette.ColorRole.Text).lightnessF() > 0.8
    image = dock.transcript.viewport().grab().toImage()
    assert QColor(image.pixel(image.width() - 3, image.height() - 3)).lightnessF() < 0.3
