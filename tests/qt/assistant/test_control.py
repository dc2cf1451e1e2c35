"""The person takes control in the dock, and gives it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from agent_surface import (
    AgentConsumer,
    AgentSurfaceRegistry,
    TakeOver,
    action_contract,
    define_agent_component_contract,
)
from agent_surface.assistant import (
    AssistantSession,
    Notice,
    NoticeKind,
    ScriptedBackend,
    SessionState,
    ToolCall,
    ToolCallStatus,
    use,
)
from agent_surface.testing import contract_authority
from agent_surface.toolset import create_agent_toolset
from qt_binding import create_qt_registry
from qt_binding.assistant import AssistantDock, create_assistant_session
from tests.qt.assistant.fakes import focused

DROP = action_contract(description="Drop it", effect="local-state", confirmation="required")
CLEAR = action_contract(description="Clear it", effect="local-state")
PARTS = define_agent_component_contract(type="test.shelf", description="Parts", actions={"drop": DROP, "clear": CLEAR})

Begin = Callable[[ScriptedBackend], tuple[AssistantDock, AssistantSession, AgentSurfaceRegistry, TakeOver]]


@pytest.fixture
def begin(qtbot: QtBot) -> Iterator[Begin]:
    """Opens a dock over a registry that a person can take over."""
    ends: list[Callable[[], object]] = []

    def begun(backend: ScriptedBackend) -> tuple[AssistantDock, AssistantSession, AgentSurfaceRegistry, TakeOver]:
        take_over = TakeOver()
        registry = create_qt_registry(authority=contract_authority(PARTS), environment="test", policies=[take_over])
        registry.register(PARTS.bind(actions={"drop": lambda: None, "clear": lambda: None}))
        toolset = create_agent_toolset(registry, consumer=AgentConsumer(id="assistant"), topology="embedded")
        session = create_assistant_session(registry, toolset, backend, take_over=take_over)
        window = QMainWindow()
        dock = AssistantDock(session, registry=registry, take_over=take_over, parent=window)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        window.resize(500, 600)
        window.show()
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        ends.extend((session.close, toolset.close, registry.close, window.close, window.deleteLater))
        return dock, session, registry, take_over

    yield begun
    for end in ends:
        end()
    qtbot.wait(20)


def _calls(session: AssistantSession) -> list[ToolCall]:
    return [entry for entry in session.transcript if isinstance(entry, ToolCall)]


@pytest.mark.requirement("QT-DOCK-004")
def test_taking_over_in_the_dock_ends_what_runs_and_refuses_what_comes(qtbot: QtBot, begin: Begin) -> None:
    """The waiting question goes, the next call is refused with the reason, and after hand-back calls work again."""
    dock, session, registry, take_over = begin(
        ScriptedBackend([use("view:test.shelf.drop"), use("view:test.shelf.clear")])
    )
    session.send("go on")
    qtbot.waitUntil(lambda: session.state is SessionState.WAITING_FOR_PERSON)
    QTest.mouseClick(dock.header.take_over, Qt.MouseButton.LeftButton)
    assert registry.confirmations.pending() == ()
    assert dock.banner.isVisible()
    assert not dock.header.take_over.isVisible()
    qtbot.waitUntil(lambda: session.state is SessionState.IDLE)
    refused = _calls(session)[-1]
    assert refused.status is ToolCallStatus.REFUSED
    assert "taken control" in str(refused.result)
    assert dock.status.label.shown_text == "You have control"
    QTest.mouseClick(dock.banner.hand_back, Qt.MouseButton.LeftButton)
    assert not take_over.engaged
    assert not dock.banner.isVisible()
    kinds = [entry.kind for entry in session.transcript if isinstance(entry, Notice)]
    assert [kind for kind in kinds if kind in (NoticeKind.TAKEN_OVER, NoticeKind.HANDED_BACK)] == [
        NoticeKind.TAKEN_OVER,
        NoticeKind.HANDED_BACK,
    ]
    session.use_backend(ScriptedBackend([use("view:test.shelf.clear")]))
    session.send("again")
    qtbot.waitUntil(lambda: _calls(session)[-1].status is ToolCallStatus.DONE)


def test_the_two_buttons_stand_in_for_each_other(qtbot: QtBot, begin: Begin) -> None:
    """With the keyboard alone, and from elsewhere in the application, too."""
    dock, _, _, take_over = begin(ScriptedBackend([]))
    dock.header.take_over.setFocus()
    QTest.keyClick(dock.header.take_over, Qt.Key.Key_Space)
    assert focused() is dock.banner.hand_back
    QTest.keyClick(dock.banner.hand_back, Qt.Key.Key_Space)
    assert focused() is dock.header.take_over
    take_over.engage()
    assert dock.banner.isVisible()


def test_without_a_switch_nothing_is_offered(dock: AssistantDock) -> None:
    """A button that does nothing would be a lie."""
    assert not dock.header.take_over.isVisible()
    assert not dock.banner.isVisible()


@pytest.mark.parametrize("width", [500, 250])
def test_taking_control_leaves_the_window_as_large_as_it_is(qtbot: QtBot, begin: Begin, width: int) -> None:
    """The words that say so take room of the conversation, whatever shape they need; the window is the person's."""
    dock, _session, _registry, take_over = begin(ScriptedBackend([]))
    window = dock.window()
    window.resize(width, 420)
    take_over.engage()
    qtbot.waitUntil(dock.banner.isVisible)
    qtbot.wait(20)
    assert (window.width(), window.height()) == (width, 420)
    assert dock.banner.label.height() >= dock.banner.label.heightForWidth(dock.banner.label.width())
    assert dock.banner.hand_back.label == "Hand back"
    assert dock.banner.hand_back.width() >= dock.banner.hand_back.sizeHint().width()
