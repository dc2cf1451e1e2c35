"""The dock with a real session, a scripted back end and the event loop an application has."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from agent_surface.assistant import (
    AssistantSession,
    EndTurn,
    Fail,
    Say,
    ScriptedBackend,
    ScriptStep,
    SessionState,
    ToolCall,
    Use,
)
from agent_surface.invocation import Confirmation, Effect
from agent_surface.toolset import create_agent_toolset
from qt_binding._runtime import QtHostLoop, Runtimes
from qt_binding.assistant import AssistantDock
from qt_binding.assistant._card import ToolCard
from qt_binding.assistant._rows import MessageRow, NoticeRow
from tests.core.toolset.fake_surface import CONSUMER, FakeSurface

Begin = Callable[..., AssistantDock]


@pytest.fixture
def surface() -> FakeSurface:
    """A surface with one harmless action and one that a person must confirm."""
    surface = FakeSurface()
    surface.action("filter", description="Filter the list.")
    surface.action(
        "disable", description="Disable them.", effect=Effect.DESTRUCTIVE, confirmation=Confirmation.REQUIRED
    )
    return surface


@pytest.fixture
def begin(qtbot: QtBot, surface: FakeSurface) -> Iterator[Begin]:
    """Opens a dock over a session that plays the given steps; ends both with the test."""
    # qtbot holds windows weakly.
    held: list[tuple[QMainWindow, AssistantSession]] = []

    def begun(*steps: ScriptStep) -> AssistantDock:
        host_loop = QtHostLoop(Runtimes().loop)
        toolset = create_agent_toolset(surface, consumer=CONSUMER, topology="embedded")
        session = AssistantSession(toolset, ScriptedBackend(steps), clock=surface.clock, host_loop=host_loop)
        window = QMainWindow()
        qtbot.addWidget(window)
        dock = AssistantDock(session, registry=surface, parent=window)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        window.resize(500, 600)
        window.show()
        held.append((window, session))
        return dock

    yield begun
    for window, session in held:
        session.close()
        window.close()
    qtbot.wait(20)


def _ask(dock: AssistantDock, text: str = "Go on") -> None:
    QTest.keyClicks(dock.composer.edit, text)
    QTest.keyClick(dock.composer.edit, Qt.Key.Key_Return)


def _idle(dock: AssistantDock) -> bool:
    return dock.session.state is SessionState.IDLE


def _cards(dock: AssistantDock) -> list[ToolCard]:
    return [row for row in dock.transcript.rows() if isinstance(row, ToolCard)]


def test_a_question_is_answered_with_text_and_a_call(qtbot: QtBot, begin: Begin) -> None:
    """Typed, sent, done: a card, an answer, and an empty field ready for the next message."""
    dock = begin(
        Use(tool="view:things.list.filter", input={"site": "Milan"}), Say(text="**Two** are offline.", piece=3)
    )
    _ask(dock)
    qtbot.waitUntil(lambda: dock.transcript.count == 3 and _idle(dock))
    assert [card.title.shown_text for card in _cards(dock)] == ["Filter the list."]
    assert "Done" in _cards(dock)[0].facts.shown_text
    answer = dock.transcript.rows()[-1]
    assert isinstance(answer, MessageRow)
    assert answer.browser.toPlainText() == "Two are offline."
    assert dock.status.label.shown_text == "Ready"
    assert not dock.composer.button.stops


def test_a_call_waits_for_the_person_and_goes_on_when_approved(
    qtbot: QtBot, begin: Begin, surface: FakeSurface
) -> None:
    """The dock shows that it waits and leads to the question; it cannot answer it."""
    dock = begin(Use(tool="view:things.list.disable"), Say(text="Done."))
    _ask(dock)
    qtbot.waitUntil(dock.status.answer_button.isVisible)
    asked = QSignalSpy(dock.confirmation_requested_focus)
    QTest.mouseClick(_cards(dock)[0].answer_button, Qt.MouseButton.LeftButton)
    assert asked.at(0) == surface.pending_ids()
    surface.answer(approved=True)
    qtbot.waitUntil(lambda: _idle(dock))
    assert "Done" in _cards(dock)[0].facts.shown_text


def test_a_denial_is_told_with_the_words_of_the_person(qtbot: QtBot, begin: Begin, surface: FakeSurface) -> None:
    """As a refusal, not as a failure."""
    dock = begin(Use(tool="view:things.list.disable"), Say(text="All right."))
    _ask(dock)
    qtbot.waitUntil(dock.status.answer_button.isVisible)
    surface.answer(approved=False, note="Not today")
    qtbot.waitUntil(lambda: _idle(dock))
    assert _cards(dock)[0].reason.shown_text == "You said no: Not today"
    assert "Not carried out" in _cards(dock)[0].facts.shown_text


@pytest.mark.requirement("QT-DOCK-003")
def test_escape_ends_the_wait_withdraws_the_question_and_frees_the_field(
    qtbot: QtBot, begin: Begin, surface: FakeSurface
) -> None:
    """Nothing is left that a person could still approve."""
    dock = begin(Use(tool="view:things.list.disable"), Say(text="never said"))
    _ask(dock)
    qtbot.waitUntil(dock.status.answer_button.isVisible)
    QTest.keyClick(dock.composer.edit, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: _idle(dock))
    assert surface.pending_ids() == []
    assert not dock.status.answer_button.isVisible()
    assert not any(isinstance(row, MessageRow) and row.text == "never said" for row in dock.transcript.rows())
    assert all(not card.call.status.open for card in _cards(dock))


def test_a_back_end_that_gives_up_says_so_in_one_sentence(qtbot: QtBot, begin: Begin) -> None:
    """And the next message works again."""
    dock = begin(Fail(sentence="No key is set. Add one in the settings."), EndTurn(), Say(text="Hello"))
    _ask(dock)
    qtbot.waitUntil(lambda: _idle(dock) and dock.transcript.count == 2)
    notice = dock.transcript.rows()[-1]
    assert isinstance(notice, NoticeRow)
    assert notice.accessibleName() == "No key is set. Add one in the settings."


def test_suggestions_are_drawn_from_what_is_available_now(qtbot: QtBot, begin: Begin, surface: FakeSurface) -> None:
    """Unavailable capabilities are not suggested, and the row follows the surface."""
    dock = begin()
    qtbot.waitUntil(lambda: dock.suggestions.texts == ("Filter the list.", "Disable them."))
    surface.offers[0].available = False
    surface.bump()
    qtbot.waitUntil(lambda: dock.suggestions.texts == ("Disable them.",))


@pytest.mark.requirement("QT-DOCK-006")
def test_a_restored_conversation_is_shown_and_nothing_in_it_runs(
    qtbot: QtBot, begin: Begin, surface: FakeSurface
) -> None:
    """A call that was open is shown as stopped."""
    dock = begin(Use(tool="view:things.list.disable"))
    _ask(dock)
    qtbot.waitUntil(dock.status.answer_button.isVisible)
    session = dock.session
    assert isinstance(session, AssistantSession)
    saved = session.to_json()
    calls = len(surface.calls)
    toolset = create_agent_toolset(surface, consumer=CONSUMER, topology="embedded")
    restored = AssistantSession.restore(
        saved, toolset, ScriptedBackend([]), clock=surface.clock, host_loop=QtHostLoop(Runtimes().loop)
    )
    again = AssistantDock(restored)
    qtbot.addWidget(again)
    again.resize(400, 500)
    again.show()
    qtbot.wait(50)
    card = _cards(again)[0]
    assert isinstance(card.call, ToolCall)
    assert "Stopped" in card.facts.shown_text
    assert not card.answer_button.isVisible()
    assert len(surface.calls) == calls
    restored.close()
