"""A conversation that a test drives by hand, and a voice that only remembers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtWidgets import QApplication, QWidget

from agent_surface import JsonValue
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
    TokenUsage,
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
        self.usage = TokenUsage()
        self.listeners: list[Callable[[SessionEvent], None]] = []

    @property
    def transcript(self) -> tuple[TranscriptEntry, ...]:
        """What was said and done."""
        return tuple(self.entries)

    def send(self, text: str) -> bool:
        """Begin a turn unless told not to accept."""
        if not self.accepts:
            return False
        self.sent.append(text)
        self.person(text)
        self.become(SessionState.THINKING)
        return True

    def stop(self) -> bool:
        """Count the wish to stop."""
        self.stops += 1
        return True

    def clear(self) -> bool:
        """Begin anew."""
        self.resets([])
        return True

    def to_json(self) -> dict[str, JsonValue]:
        """Something that tells conversations apart."""
        return {"entries": len(self.entries)}

    def tools(self) -> tuple[OfferedTool, ...]:
        """What the test offers."""
        return self.offered

    def suggestions(self) -> tuple[str, ...]:
        """What the test suggests."""
        return self.suggested

    def subscribe(self, listener: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Hear what the test tells."""
        self.listeners.append(listener)

        def dispose() -> None:
            if listener in self.listeners:
                self.listeners.remove(listener)

        return dispose

    def tell(self, event: SessionEvent) -> None:
        """Deliver an event."""
        for listener in tuple(self.listeners):
            listener(event)

    def become(self, state: SessionState) -> None:
        """Change the state and say so."""
        previous, self.state = self.state, state
        self.tell(StateChanged(state=state, previous=previous))

    def person(self, text: str) -> PersonMessage:
        """The person says something."""
        message = PersonMessage(message_id=f"m{len(self.entries)}", text=text, at_ms=0)
        self.entries.append(message)
        self.tell(MessageAdded(message=message))
        return message

    def says(self, text: str) -> AssistantMessage:
        """The assistant says something and is done."""
        message = self.begins("")
        self.streams(message, text)
        return self.completes(message)

    def begins(self, text: str) -> AssistantMessage:
        """The assistant begins to say something."""
        message = AssistantMessage(message_id=f"m{len(self.entries)}", text=text, at_ms=0, streaming=True)
        self.entries.append(message)
        self.tell(MessageAdded(message=message))
        return message

    def streams(self, message: AssistantMessage, text: str) -> None:
        """The assistant says more."""
        index = self._index(message.message_id)
        current = self.entries[index]
        assert isinstance(current, AssistantMessage)
        self.entries[index] = replace(current, text=current.text + text)
        self.tell(TextDelta(message_id=message.message_id, text=text))

    def completes(self, message: AssistantMessage) -> AssistantMessage:
        """The assistant has said it."""
        index = self._index(message.message_id)
        current = self.entries[index]
        assert isinstance(current, AssistantMessage)
        done = replace(current, streaming=False)
        self.entries[index] = done
        self.tell(MessageCompleted(message=done))
        return done

    def notice(self, text: str, kind: NoticeKind = NoticeKind.INFO) -> Notice:
        """The application remarks something."""
        notice = Notice(message_id=f"m{len(self.entries)}", kind=kind, text=text, at_ms=0)
        self.entries.append(notice)
        self.tell(MessageAdded(message=notice))
        return notice

    def calls(self, call: ToolCall) -> None:
        """The assistant begins a call."""
        self.entries.append(call)
        self.tell(ToolCallStarted(call=call))

    def waits(self, call_id: str, confirmation_id: str) -> None:
        """A call waits for the person."""
        self._change(
            call_id, lambda call: replace(call, status=ToolCallStatus.WAITING, confirmation_id=confirmation_id)
        )
        self.become(SessionState.WAITING_FOR_PERSON)
        self.tell(ConfirmationWaiting(call_id=call_id, confirmation_id=confirmation_id))

    def answered(self, call_id: str, outcome: ConfirmationOutcome) -> None:
        """The person answered."""
        call = self._change(call_id, lambda call: replace(call, status=ToolCallStatus.RUNNING))
        self.become(SessionState.ACTING)
        self.tell(ConfirmationSettled(call_id=call_id, confirmation_id=call.confirmation_id or "", outcome=outcome))

    def settles(self, call_id: str, status: ToolCallStatus, error: CapabilityErrorPayload | None = None) -> None:
        """A call ends."""

        def ended(call: ToolCall) -> ToolCall:
            name, capability = call.call_id, call.capability_id or ""
            result: InvocationOk | InvocationError = InvocationOk(
                invocation_id=name, capability_id=capability, surface_version="1"
            )
            if error is not None:
                result = InvocationError(invocation_id=name, capability_id=capability, surface_version="1", error=error)
            return replace(call, status=status, result=result, ended_ms=call.started_ms + 412)

        self.tell(ToolCallSettled(call=self._change(call_id, ended)))

    def finishes(self) -> None:
        """The turn ends."""
        self.become(SessionState.IDLE)
        self.tell(TurnFinished(reason=TurnEnd.COMPLETED))

    def resets(self, entries: list[TranscriptEntry]) -> None:
        """The transcript is replaced."""
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
        """Keep it."""
        self.said.append((text, urgent))


def failure(code: ErrorCode, message: str = "Try again.", **details: str) -> CapabilityErrorPayload:
    """An error as a surface reports it."""
    return CapabilityErrorPayload(code=code, message=message, retry=Retry.NO, details=details)


def focused() -> QWidget:
    """The widget with the keyboard."""
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget
