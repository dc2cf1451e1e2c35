"""The dock follows its conversation and passes on what the person wants."""

from __future__ import annotations

import gc
import weakref

from PySide6.QtCore import QByteArray, QEvent, Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QMainWindow
from pytestqt.qtbot import QtBot

from agent_surface.assistant import NoticeKind, PersonMessage, SessionState, ToolCall, ToolCallStatus
from agent_surface.errors import ErrorCode
from qt_binding.assistant import AssistantDock
from qt_binding.assistant._rows import MessageRow
from tests.qt.assistant.fakes import FakeAnnouncer, FakeConversation, failure, focused


def _call(call_id: str = "c1", title: str = "Disable the selected devices") -> ToolCall:
    return ToolCall(
        call_id=call_id,
        tool_name="disable",
        capability_id="view:devices.table.disable",
        title=title,
        component_type="devices.table",
        instance_id="main",
        started_ms=0,
    )


def test_an_empty_conversation_says_what_the_assistant_is_for(
    dock: AssistantDock, conversation: FakeConversation
) -> None:
    """Nothing is no first impression; the first entry takes its place."""
    assert dock.welcome.isVisible()
    conversation.person("hello")
    assert not dock.welcome.isVisible()
    assert dock.transcript.isVisible()


def test_the_status_line_always_says_what_goes_on(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Also to a screen reader: the words are the accessible name."""
    seen: list[str] = []
    for state in (SessionState.THINKING, SessionState.ACTING, SessionState.STOPPING, SessionState.IDLE):
        conversation.become(state)
        seen.append(dock.status.label.accessibleName())
    assert seen == ["Thinking\u2026", "Working in the window\u2026", "Stopping\u2026", "Ready"]


def test_the_status_line_names_the_one_call_that_runs(dock: AssistantDock, conversation: FakeConversation) -> None:
    """What is done matters more than that something is done."""
    conversation.become(SessionState.ACTING)
    conversation.calls(_call())
    assert dock.status.label.shown_text == "Working: Disable the selected devices"


def test_waiting_for_the_person_is_visible_spoken_and_leads_to_the_question(
    dock: AssistantDock, conversation: FakeConversation, announcer: FakeAnnouncer
) -> None:
    """From the status line; the card has its own way."""
    conversation.calls(_call())
    assert not dock.status.answer_button.isVisible()
    conversation.waits("c1", "cnf_1")
    assert dock.status.label.shown_text == "Waiting for your decision"
    assert announcer.said[-1] == ("The assistant needs your decision: Disable the selected devices", True)
    asked = QSignalSpy(dock.confirmation_requested_focus)
    QTest.mouseClick(dock.status.answer_button, Qt.MouseButton.LeftButton)
    assert asked.at(0) == ["cnf_1"]


def test_the_oldest_of_several_questions_comes_first(dock: AssistantDock, conversation: FakeConversation) -> None:
    """The same order as the host asks in."""
    for number in ("1", "2"):
        conversation.calls(_call(f"c{number}"))
        conversation.waits(f"c{number}", f"cnf_{number}")
    assert dock.status.label.shown_text == "Waiting for 2 decisions of yours"
    asked = QSignalSpy(dock.confirmation_requested_focus)
    dock.status.answer_button.click()
    assert asked.at(0) == ["cnf_1"]


def test_suggestions_come_from_the_conversation_and_fill_the_field(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """A chip never sends by itself: the person may want to change it first."""
    conversation.suggested = ("Select all shown", "Help")
    conversation.finishes()
    qtbot.waitUntil(lambda: len(dock.suggestions.chips) == 2)
    QTest.mouseClick(dock.suggestions.chips[0], Qt.MouseButton.LeftButton)
    assert (dock.composer.edit.toPlainText(), conversation.sent) == ("Select all shown", [])


def test_suggestions_are_out_of_the_way_while_it_works(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """They could not be sent anyway."""
    conversation.suggested = ("Help",)
    conversation.finishes()
    qtbot.waitUntil(dock.suggestions.isVisible)
    conversation.become(SessionState.THINKING)
    assert not dock.suggestions.isVisible()


def test_answers_errors_and_failures_are_spoken_and_tokens_are_not(
    dock: AssistantDock, conversation: FakeConversation, announcer: FakeAnnouncer
) -> None:
    """A screen reader hears each thing once, when it is complete."""
    message = conversation.begins("")
    for word in ("Two ", "devices ", "are offline."):
        conversation.streams(message, word)
    assert announcer.said == []
    conversation.completes(message)
    conversation.notice("No network.", NoticeKind.ERROR)
    conversation.calls(_call())
    conversation.settles("c1", ToolCallStatus.FAILED, failure(ErrorCode.TIMEOUT))
    assert announcer.said == [
        ("Assistant: Two devices are offline.", False),
        ("No network.", True),
        ("Disable the selected devices: Failed. It took too long. It may have had an effect nevertheless.", False),
    ]


def test_a_replaced_transcript_is_shown_from_its_end(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Restored and cleared conversations come this way."""
    conversation.person("old")
    conversation.resets([PersonMessage(message_id=f"n{i}", text=f"new {i}", at_ms=0) for i in range(50)])
    last = dock.transcript.row_of("n49")
    assert isinstance(last, MessageRow)
    assert last.text == "new 49"
    assert dock.transcript.row_of("m0") is None
    conversation.resets([])
    assert dock.welcome.isVisible()


def test_the_shortcut_opens_the_closed_dock_and_leads_to_the_field(qtbot: QtBot, dock: AssistantDock) -> None:
    """Without a menu entry: a closed dock cannot hear a shortcut of its own."""
    window = dock.parentWidget()
    assert isinstance(window, QMainWindow)
    dock.close()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(window, Qt.Key.Key_A, modifiers)
    assert dock.isVisible()
    assert dock.composer.edit.hasFocus()


def test_the_place_of_the_dock_is_remembered_by_its_window(dock: AssistantDock) -> None:
    """``saveState`` needs an object name."""
    window = dock.parentWidget()
    assert isinstance(window, QMainWindow)
    state: QByteArray = window.saveState()
    dock.close()
    assert window.restoreState(state)
    assert dock.isVisible()


def test_everything_is_reached_with_the_tab_key(dock: AssistantDock, conversation: FakeConversation) -> None:
    """Messages, the buttons of a card, the status line, the field and its button, in the order they are seen."""
    conversation.person("hello")
    conversation.calls(_call())
    conversation.waits("c1", "cnf_1")
    dock.transcript.setFocus()
    names: list[str] = []
    for _ in range(6):
        QTest.keyClick(focused(), Qt.Key.Key_Tab)
        names.append(focused().accessibleName())
    assert names == ["You: hello", "Answer\u2026", "Show in window", "Answer\u2026", "Message to the assistant", "Stop"]


def test_a_dead_dock_leaves_the_conversation(qtbot: QtBot) -> None:
    """Conversations outlive docks: nothing is called on a dead one and nothing keeps it."""
    conversation = FakeConversation()
    window = QMainWindow()
    qtbot.addWidget(window)
    dock = AssistantDock(conversation, parent=window)
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    gone = weakref.ref(dock)
    dock.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert conversation.listeners == []
    conversation.person("nobody hears this")
    del dock
    gc.collect()
    assert gone() is None


def test_an_unknown_call_or_message_is_no_reason_to_fail(dock: AssistantDock, conversation: FakeConversation) -> None:
    """A dock that was opened in the middle of a turn may hear of things it never saw."""
    dock.transcript.append_text("unknown", "text")
    dock.transcript.flush()
    assert dock.transcript.count == 0
