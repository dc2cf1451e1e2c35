"""Text that nobody vouches for is shown as what it is, loads nothing, and breaks no layout."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from agent_surface.assistant import AssistantMessage, NoticeKind, PersonMessage, SessionState, ToolCall, ToolCallStatus
from agent_surface.errors import ErrorCode
from qt_binding._looks import PlainLabel
from qt_binding.assistant import AssistantDock
from qt_binding.assistant._card import ToolCard
from qt_binding.assistant._markdown import is_openable
from qt_binding.assistant._rows import MAX_SHOWN_CHARACTERS, MessageRow, NoticeRow
from tests.qt.assistant.fakes import FakeConversation, failure
from tests.qt.hostile import NOT_SHOWN, TEXTS, Trap, overflowing

MARKUP = ("html", "script", "html images", "css")
BOMBS = ("strike bomb", "table bomb", "wide table")
"""Markdown that would take seconds to lay out, or columns outside the dock."""


def _shown(text: str) -> str:
    """Without what layout adds."""
    return "".join(text.split())


@pytest.mark.requirement("QT-DOCK-005")
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_message_of_a_model_stays_text(
    dock: AssistantDock, conversation: FakeConversation, trap: Trap, name: str
) -> None:
    """While it streams and when it is done; no link but http(s), no picture, nothing wider than the dock."""
    text = trap.bait(TEXTS[name])
    message = conversation.begins("")
    for start in range(0, min(len(text), 20_000), 5_000):
        conversation.streams(message, text[start : start + 5_000])
        dock.transcript.flush()
    conversation.streams(message, text[20_000:])
    done = conversation.completes(message)
    row = dock.transcript.row_of(done.message_id)
    assert isinstance(row, MessageRow)
    document = row.browser.document()
    shown = document.toPlainText()
    assert not set(shown) & NOT_SHOWN
    if name in (*MARKUP, *BOMBS):
        assert _shown(text[:MAX_SHOWN_CHARACTERS]) == _shown(shown) or "&amp;" in text
    if name == "hidden":
        assert "\\u202e\\u2066\\u200b" in shown
    block = document.begin()
    while block.isValid():
        for part in block.textFormats():
            assert not part.format.isImageFormat()
            assert part.format.anchorHref() == "" or part.format.anchorHref().startswith("http")
        block = block.next()
    dock.grab()
    assert list(overflowing(dock)) == []
    assert dock.width() <= 900


@pytest.mark.requirement("QT-DOCK-005")
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_tools_notices_and_the_person_stay_text(
    dock: AssistantDock, conversation: FakeConversation, trap: Trap, name: str
) -> None:
    """Titles, targets, reasons, inputs and what was pasted by the person; the status line stays a few lines."""
    text = trap.bait(TEXTS[name])
    person = conversation.person(text)
    assert list(overflowing(dock)) == []
    call = ToolCall(
        call_id="c1",
        tool_name=text[:50],
        capability_id=None,
        title=text,
        component_type=text[:200],
        instance_id=text[:200],
        input={text[:100]: text},
        status=ToolCallStatus.RUNNING,
        started_ms=0,
    )
    conversation.become(SessionState.ACTING)
    conversation.calls(call)
    card = dock.transcript.row_of("c1")
    assert isinstance(card, ToolCard)
    card.details_button.setChecked(True)
    assert not set(card.title.shown_text + card.facts.shown_text + card.arguments.toPlainText()) & NOT_SHOWN
    assert not set(card.accessibleName() + dock.status.label.shown_text) & NOT_SHOWN
    assert dock.status.label.shown_text.count("\n") == 0
    assert dock.status.height() < dock.height() / 4
    assert list(overflowing(dock)) == []
    conversation.settles(
        "c1", ToolCallStatus.REFUSED, failure(ErrorCode.CAPABILITY_NOT_AVAILABLE, text[:300], reason=text)
    )
    assert not set(card.reason.shown_text) & NOT_SHOWN
    assert list(overflowing(dock)) == []
    notice = conversation.notice(text, NoticeKind.ERROR)
    remark = dock.transcript.row_of(notice.message_id)
    assert isinstance(remark, NoticeRow)
    assert not set(remark.accessibleName()) & NOT_SHOWN
    assert list(overflowing(dock)) == []
    dock.grab()
    assert dock.minimumSizeHint().width() < 400
    assert dock.transcript.row_of(person.message_id) is None or person.text == text


def test_suggestions_stay_text(dock: AssistantDock, trap: Trap) -> None:
    """Each is a button as wide as there is room."""
    texts = [trap.bait(text)[:2_000] for text in TEXTS.values()]
    for start in range(0, len(texts), 3):
        dock.suggestions.set_texts(texts[start : start + 3])
        for chip in dock.suggestions.chips:
            assert not set(chip.label) & NOT_SHOWN
            assert chip.toolTip().startswith("<qt>")
            assert "<" not in chip.toolTip()[4:-5]
        assert list(overflowing(dock)) == []


@pytest.mark.requirement("QT-DOCK-005")
def test_a_message_of_everything_scrolls_to_no_side(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Each text alone fits; together Qt measures them before it has laid them out."""
    conversation.says("\n\n".join(text[:8_000] for text in TEXTS.values()))
    assert list(overflowing(dock)) == []


# What is too much.


@pytest.mark.requirement("QT-DOCK-002")
@pytest.mark.parametrize("by_person", [False, True], ids=["assistant", "person"])
def test_of_a_book_the_beginning_is_shown_and_how_much_more_there_is(
    dock: AssistantDock, conversation: FakeConversation, by_person: bool
) -> None:
    """Laying out the whole would hold up the window; the export has it."""
    text = "".join(f"word{number} " for number in range(20_000))
    message: AssistantMessage | PersonMessage
    message = conversation.person(text) if by_person else conversation.says(text)
    row = dock.transcript.row_of(message.message_id)
    assert isinstance(row, MessageRow)
    assert row.browser.toPlainText().split() == text[:MAX_SHOWN_CHARACTERS].split()
    count = dock.locale().toString(len(text) - MAX_SHOWN_CHARACTERS)
    assert row.rest.shown_text == f"\u2026 {count} more characters. Export the conversation to read all of it."
    assert row.rest.isVisible()
    assert row.rest.geometry().bottom() < row.height()
    assert row.rest.geometry().top() >= row.browser.geometry().bottom()


@pytest.mark.requirement("QT-DOCK-002")
def test_what_streams_beyond_it_costs_a_number(dock: AssistantDock, conversation: FakeConversation) -> None:
    """The document is left alone; the sentence counts on, and nothing is doubled when the message is complete."""
    message = conversation.begins("")
    conversation.streams(message, "word " * (MAX_SHOWN_CHARACTERS // 5))
    dock.transcript.flush()
    row = dock.transcript.row_of(message.message_id)
    assert isinstance(row, MessageRow)
    assert not row.rest.isVisible()
    revision = row.browser.document().revision()
    for number in range(1, 4):
        conversation.streams(message, "x" * 1_000)
        dock.transcript.flush()
        assert row.rest.shown_text.startswith(f"\u2026 {dock.locale().toString(number * 1_000)} more characters.")
    assert row.browser.document().revision() == revision
    conversation.completes(message)
    assert row.browser.toPlainText().split() == ["word"] * (MAX_SHOWN_CHARACTERS // 5)


def test_an_answer_that_grows_long_keeps_its_width(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Short lines would give it a narrow bubble, and a new width lays the whole of it out again, each time."""
    message = conversation.begins("")
    conversation.streams(message, "short\n" * 500)
    dock.transcript.flush()
    row = dock.transcript.row_of(message.message_id)
    assert isinstance(row, MessageRow)
    width = row.browser.width()
    assert width > row.width() * 0.8
    assert row.browser.document().textWidth() == row.browser.viewport().width() == width


@pytest.mark.requirement("QT-DOCK-005")
def test_a_label_shows_so_much_of_a_text_and_says_so(qtbot: QtBot) -> None:
    """It draws a word of a hundred thousand letters in the time of a sentence."""
    label = PlainLabel()
    qtbot.addWidget(label)
    label.set_text("W" * 100_000)
    assert label.shown_text == "W" * 2_000 + f"\n\u2026 {label.locale().toString(98_000)} more characters"
    label.set_lines("one\ntwo", "W" * 2_100)
    assert label.shown_text == "one\\ntwo\n" + "W" * 2_000 + "\n\u2026 100 more characters"
    assert label.heightForWidth(300) < 5_000


@pytest.mark.requirement("QT-DOCK-005")
def test_the_question_about_a_link_fits_the_screen_whatever_the_address(dock: AssistantDock, trap: Trap) -> None:
    """All of a long address is to be read, the beginning of an endless one; a host nobody can have is no link."""
    host = ".".join(["h" * 60] * 4)[:240] + ".org"
    for address in (f"http://{host}/{'a' * 1_500}", f"https://evil.example/{'%20' * 20_000}"):
        dock._links.ask(QUrl(address))
        box = next(one for one in dock.findChildren(QMessageBox) if one.isVisible())
        assert box.width() < 800
        assert box.height() < 800
        said = box.informativeText().replace("\n", "")
        assert said == address or (said.startswith(address[:2_000]) and said.endswith(" more characters"))
        box.reject()
    assert not is_openable(f"http://{'h' * 60}.{host}/")
