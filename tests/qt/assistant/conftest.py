"""A conversation the test drives by hand, and a dock in a window that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from agent_surface.assistant import (
    AssistantMessage,
    ConfirmationSettled,
    ConfirmationWaiting,
    MessageAdded,
    MessageCompleted,
    Notice,
    NoticeKind,
    OfferedTool,
    PersonMessage,
    SessionEvent,
    SessionState,
    StateChanged,
    TextDelta,
    ToolCall,
    ToolCallSettled,
    ToolCallStarted,
    ToolCallStatus,
    TranscriptEntry,
    TranscriptReset,
    TurnEnd,
    TurnFinished,
)
from agent_surface.confirmations import ConfirmationOutcome
from agent_surface.errors import CapabilityErrorPayload, ErrorCode, Retry
from agent_surface.invocation import InvocationError, InvocationOk
from qt_binding.assistant import AssistantDock


class FakeConversation:
    """Follows the interface of a session and does only what the test says."""

    def __init__(self) -> None:
        self.state = SessionState.IDLE
        self.closed = False
        self.entries: list[TranscriptEntry] = []
        self.sent: list[str] = []
        self.stops = 0
        self.offered: tuple[OfferedTool, ...] = ()
        self.suggested: tuple[str, ...] = ()
        self.accepts = True
        self.listeners: list[Callable[[SessionEvent], None]] = []

    @property
    def transcript(self) -> tuple[TranscriptEntry, ...]:
        return tuple(self.entries)

    def send(self, text: str) -> bool:
        if not self.accepts:
            return False
        self.sent.append(text)
        self.person(text)
        self.become(SessionState.THINKING)
        return True

    def stop(self) -> bool:
        self.stops += 1
        return True

    def tools(self) -> tuple[OfferedTool, ...]:
        return self.offered

    def suggestions(self) -> tuple[str, ...]:
        return self.suggested

    def subscribe(self, listener: Callable[[SessionEvent], None]) -> Callable[[], None]:
        self.listeners.append(listener)

        def dispose() -> None:
            if listener in self.listeners:
                self.listeners.remove(listener)

        return dispose

    def tell(self, event: SessionEvent) -> None:
        for listener in tuple(self.listeners):
            listener(event)

    def become(self, state: SessionState) -> None:
        previous, self.state = self.state, state
        self.tell(StateChanged(state=state, previous=previous))

    def person(self, text: str) -> PersonMessage:
        message = PersonMessage(message_id=f"m{len(self.entries)}", text=text, at_ms=0)
        self.entries.append(message)
        self.tell(MessageAdded(message=message))
        return message

    def says(self, text: str) -> AssistantMessage:
        message = self.begins("")
        self.streams(message, text)
        return self.completes(message)

    def begins(self, text: str) -> AssistantMessage:
        message = AssistantMessage(message_id=f"m{len(self.entries)}", text=text, at_ms=0, streaming=True)
        self.entries.append(message)
        self.tell(MessageAdded(message=message))
        return message

    def streams(self, message: AssistantMessage, text: str) -> None:
        index = self._index(message.message_id)
        current = self.entries[index]
        assert isinstance(current, AssistantMessage)
        self.entries[index] = replace(current, text=current.text + text)
        self.tell(TextDelta(message_id=message.message_id, text=text))

    def completes(self, message: AssistantMessage) -> AssistantMessage:
        index = self._index(message.message_id)
        current = self.entries[index]
        assert isinstance(current, AssistantMessage)
        done = replace(current, streaming=False)
        self.entries[index] = done
        self.tell(MessageCompleted(message=done))
        return done

    def notice(self, text: str, kind: NoticeKind = NoticeKind.INFO) -> Notice:
        notice = Notice(message_id=f"m{len(self.entries)}", kind=kind, text=text, at_ms=0)
        self.entries.append(notice)
        self.tell(MessageAdded(message=notice))
        return notice

    def calls(self, call: ToolCall) -> None:
        self.entries.append(call)
        self.tell(ToolCallStarted(call=call))

    def waits(self, call_id: str, confirmation_id: str) -> None:
        self._change(
            call_id, lambda call: replace(call, status=ToolCallStatus.WAITING, confirmation_id=confirmation_id)
        )
        self.become(SessionState.WAITING_FOR_PERSON)
        self.tell(ConfirmationWaiting(call_id=call_id, confirmation_id=confirmation_id))

    def answered(self, call_id: str, outcome: ConfirmationOutcome) -> None:
        call = self._change(call_id, lambda call: replace(call, status=ToolCallStatus.RUNNING))
        self.become(SessionState.ACTING)
        self.tell(ConfirmationSettled(call_id=call_id, confirmation_id=call.confirmation_id or "", outcome=outcome))

    def settles(self, call_id: str, status: ToolCallStatus, error: CapabilityErrorPayload | None = None) -> None:
        def ended(call: ToolCall) -> ToolCall:
            identity = {
                "invocation_id": call.call_id,
                "capability_id": call.capability_id or "",
                "surface_version": "1",
            }
            result = InvocationOk(**identity) if error is None else InvocationError(**identity, error=error)
            return replace(call, status=status, result=result, ended_ms=call.started_ms + 412)

        self.tell(ToolCallSettled(call=self._change(call_id, ended)))

    def finishes(self) -> None:
        self.become(SessionState.IDLE)
        self.tell(TurnFinished(reason=TurnEnd.COMPLETED))

    def resets(self, entries: list[TranscriptEntry]) -> None:
        self.entries = entries
        self.tell(TranscriptReset())

    def _index(self, message_id: str) -> int:
        return next(i for i, entry in enumerate(self.entries) if entry.message_id == message_id)

    def _change(self, call_id: str, change: Callable[[ToolCall], ToolCall]) -> ToolCall:
        index = self._index(call_id)
        call = self.entries[index]
        assert isinstance(call, ToolCall)
        changed = change(call)
        self.entries[index] = changed
        return changed


class FakeAnnouncer:
    """Keeps what would be spoken."""

    def __init__(self) -> None:
        self.said: list[tuple[str, bool]] = []

    def announce(self, widget: QWidget, text: str, *, urgent: bool = False) -> None:
        self.said.append((text, urgent))


def failure(code: ErrorCode, message: str = "Try again.", **details: str) -> CapabilityErrorPayload:
    """An error as a surface reports it."""
    return CapabilityErrorPayload(code=code, message=message, retry=Retry.NO, details=details)


@pytest.fixture
def conversation() -> FakeConversation:
    """A conversation nobody has begun."""
    return FakeConversation()


@pytest.fixture
def announcer() -> FakeAnnouncer:
    """What would be spoken."""
    return FakeAnnouncer()


@pytest.fixture
def opened() -> list[QUrl]:
    """Addresses the browser was given."""
    return []


@pytest.fixture
def dock(
    qtbot: QtBot, conversation: FakeConversation, announcer: FakeAnnouncer, opened: list[QUrl]
) -> Iterator[AssistantDock]:
    """The dock in a shown window, showing ``conversation``."""
    window = QMainWindow()
    qtbot.addWidget(window)
    window.resize(900, 640)
    dock = AssistantDock(conversation, announcer=announcer, open_url=opened.append, parent=window)
    window.setCentralWidget(QWidget())
    from PySide6.QtCore import Qt

    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    window.resizeDocks([dock], [420], Qt.Orientation.Horizontal)
    window.show()
    qtbot.waitExposed(window)
    yield dock
    window.close()
