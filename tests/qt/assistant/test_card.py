"""A tool call in words, in each of its states."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from agent_surface.assistant import ToolCall, ToolCallStatus
from agent_surface.confirmations import ConfirmationOutcome
from agent_surface.errors import CapabilityErrorPayload, ErrorCode
from qt_binding._looks import Glyph
from qt_binding.assistant import AssistantDock
from qt_binding.assistant._card import ToolCard
from qt_binding.assistant._wording import duration_text, error_text
from tests.qt.assistant.fakes import FakeConversation, failure

CALL = ToolCall(
    call_id="c1",
    tool_name="filter",
    capability_id="view:devices.table.filter",
    title="Filter the table",
    component_type="devices.table",
    instance_id="main",
    input={"site": "Milan"},
    started_ms=0,
)


def _card(dock: AssistantDock) -> ToolCard:
    card = dock.transcript.row_of("c1")
    assert isinstance(card, ToolCard)
    return card


def test_a_running_call_says_what_it_does_and_where(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Words, target and state."""
    conversation.calls(CALL)
    card = _card(dock)
    assert (card.title.shown_text, card.facts.shown_text, card.glyph.glyph) == (
        "Filter the table",
        "devices.table \u203a main  \u00b7  Running",
        Glyph.RUNNING,
    )
    assert not card.reason.isVisible()
    assert not card.answer_button.isVisible()


@pytest.mark.parametrize(
    ("status", "error", "state", "reason", "glyph"),
    [
        (ToolCallStatus.DONE, None, "Done", "", Glyph.DONE),
        (
            ToolCallStatus.REFUSED,
            failure(ErrorCode.CONFIRMATION_INVALID, reason="denied", note="Not today"),
            "Not carried out",
            "You said no: Not today",
            Glyph.REFUSED,
        ),
        (
            ToolCallStatus.REFUSED,
            failure(ErrorCode.CAPABILITY_NOT_AVAILABLE, reason="No rows are selected"),
            "Not carried out",
            "It is not available right now. No rows are selected.",
            Glyph.REFUSED,
        ),
        (
            ToolCallStatus.FAILED,
            failure(ErrorCode.EXECUTION_FAILED, "Do not repeat.", reason="handler-error"),
            "Failed",
            "Something went wrong in the application.",
            Glyph.FAILED,
        ),
    ],
)
def test_a_settled_call_says_how_it_ended_how_long_it_took_and_why(
    dock: AssistantDock,
    conversation: FakeConversation,
    status: ToolCallStatus,
    error: CapabilityErrorPayload | None,
    state: str,
    reason: str,
    glyph: Glyph,
) -> None:
    """In plain language: no code of an error is ever shown."""
    conversation.calls(CALL)
    conversation.settles("c1", status, error)
    card = _card(dock)
    assert (card.facts.shown_text, card.reason.shown_text, card.glyph.glyph) == (
        f"devices.table \u203a main  \u00b7  {state}  \u00b7  412 ms",
        reason,
        glyph,
    )
    assert card.reason.isVisible() == bool(reason)
    assert state in card.accessibleName()


def test_a_call_that_was_stopped_does_not_claim_that_nothing_happened(
    dock: AssistantDock, conversation: FakeConversation
) -> None:
    """A handler that did not cooperate may have changed something; when it ends after all, the card says so."""
    conversation.calls(replace(CALL, status=ToolCallStatus.ABANDONED, ended_ms=9))
    assert _card(dock).reason.shown_text == "It was stopped before a result came. What it had already done may remain."
    dock.transcript.put(replace(CALL, status=ToolCallStatus.ABANDONED, late=True, ended_ms=9))
    assert "Finished after it was stopped" in _card(dock).facts.shown_text


def test_every_error_of_the_surface_has_words() -> None:
    """None of them is a code, and none is empty."""
    texts = {code: error_text(failure(code)) for code in ErrorCode}
    assert all(text and code.value not in text for code, text in texts.items())


def test_a_waiting_card_leads_to_its_question(dock: AssistantDock, conversation: FakeConversation) -> None:
    """And no longer once it was answered."""
    conversation.calls(CALL)
    conversation.waits("c1", "cnf_9")
    card = _card(dock)
    asked = QSignalSpy(dock.confirmation_requested_focus)
    QTest.mouseClick(card.answer_button, Qt.MouseButton.LeftButton)
    assert asked.at(0) == ["cnf_9"]
    conversation.answered("c1", ConfirmationOutcome.APPROVED)
    assert not card.answer_button.isVisible()
    assert card.glyph.glyph is Glyph.RUNNING


def test_show_in_window_names_the_component(dock: AssistantDock, conversation: FakeConversation) -> None:
    """The application knows where it is."""
    conversation.calls(CALL)
    shown = QSignalSpy(dock.show_requested)
    QTest.mouseClick(_card(dock).show_button, Qt.MouseButton.LeftButton)
    assert shown.at(0) == ["devices.table", "main"]


def test_a_call_of_nothing_known_offers_nothing_to_show(dock: AssistantDock, conversation: FakeConversation) -> None:
    """A tool the model invented has no place in the window and no input worth a button."""
    conversation.calls(replace(CALL, component_type=None, instance_id=None, input=None))
    assert _card(dock).tab_stops() == []


def test_the_input_is_shown_on_demand_read_only_and_stays_open(
    dock: AssistantDock, conversation: FakeConversation
) -> None:
    """Opening makes the card higher; a later state keeps it open."""
    conversation.calls(CALL)
    card = _card(dock)
    closed = card.height()
    assert not card.arguments.isVisible()
    QTest.mouseClick(card.details_button, Qt.MouseButton.LeftButton)
    assert card.arguments.isVisible()
    assert card.arguments.isReadOnly()
    assert card.arguments.toPlainText() == '{\n  "site": "Milan"\n}'
    assert card.height() > closed
    conversation.settles("c1", ToolCallStatus.DONE)
    assert card.arguments.isVisible()


def test_an_input_of_any_size_is_bounded_on_the_screen(dock: AssistantDock, conversation: FakeConversation) -> None:
    """The end is left out, and that is said."""
    conversation.calls(replace(CALL, input={"text": "x" * 100_000}))
    card = _card(dock)
    card.details_button.setChecked(True)
    assert card.arguments.toPlainText().endswith("more characters")
    assert card.height() < dock.transcript.height()


def test_text_of_tools_and_models_is_plain_and_hides_nothing(
    dock: AssistantDock, conversation: FakeConversation
) -> None:
    """Neither markup nor invisible characters work in a card, nor does a long word widen the dock."""
    width = dock.width()
    hostile = "<b>x</b>\u202e\u200b" + "Y" * 500
    conversation.calls(replace(CALL, title=hostile, component_type="a\u2066b", input={"k\u202e": "<img src=x>\u200b"}))
    conversation.settles("c1", ToolCallStatus.FAILED, failure(ErrorCode.PRECONDITION_FAILED, "no\x07 <i>x</i>"))
    card = _card(dock)
    card.details_button.setChecked(True)
    assert card.title.shown_text.startswith("<b>x</b>\\u202e\\u200bYYY")
    assert card.facts.shown_text.startswith("a\\u2066b")
    assert card.reason.shown_text == "no\\x07 <i>x</i>."
    assert '"k\\u202e": "<img src=x>\\u200b"' in card.arguments.toPlainText()
    assert dock.width() == width
    assert card.title.height() > 3 * card.fontMetrics().lineSpacing()


@pytest.mark.parametrize(
    ("duration_ms", "text"), [(0, "0 ms"), (999, "999 ms"), (1_000, "1.0 s"), (59_900, "59.9 s"), (61_000, "1 min 1 s")]
)
def test_a_duration_is_said_as_a_person_says_it(duration_ms: int, text: str) -> None:
    """Never "61000 ms"."""
    assert duration_text(duration_ms) == text


def test_in_a_narrow_dock_the_answer_button_keeps_its_word(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """The other buttons give way first, and say in a tool tip what is cut off."""
    conversation.calls(replace(CALL, status=ToolCallStatus.WAITING, confirmation_id="cnf_1"))
    card = _card(dock)
    width = 250
    card.setGeometry(0, 0, width, card.row_height(width))
    qtbot.waitUntil(lambda: card.show_button.width() < card.show_button.sizeHint().width())
    assert card.answer_button.width() == card.answer_button.sizeHint().width()
    middle = card.show_button.rect().center()
    help_wanted = QHelpEvent(QEvent.Type.ToolTip, middle, card.show_button.mapToGlobal(middle))
    QApplication.sendEvent(card.show_button, help_wanted)
    assert "Show in window" in QToolTip.text()
    QToolTip.hideText()


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_the_buttons_of_a_card_stand_under_its_title(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation, direction: Qt.LayoutDirection
) -> None:
    """At the side the window is read from, with the answer button and without."""
    dock.setLayoutDirection(direction)
    mirrored = direction is Qt.LayoutDirection.RightToLeft

    def begins(widget: QWidget, *, inside: int = 0) -> int:
        left = widget.x() + inside
        return _card(dock).width() - (widget.x() + widget.width() - inside) if mirrored else left

    conversation.calls(replace(CALL, status=ToolCallStatus.WAITING, confirmation_id="cnf_1"))
    qtbot.waitUntil(lambda: abs(begins(_card(dock).answer_button) - begins(_card(dock).title)) <= 1)
    conversation.calls(CALL)
    # The text of a quiet button begins where the title does, its round end before it.
    end = _card(dock).fontMetrics().height() // 2
    qtbot.waitUntil(lambda: abs(begins(_card(dock).show_button, inside=end) - begins(_card(dock).title)) <= 1)
