"""The transcript with its announcements: every change is first visible, then told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agent_surface._base._json import JsonValue, NotJsonError, freeze_json
from agent_surface._base._ports import Clock
from agent_surface.assistant._emitter import EventEmitter
from agent_surface.assistant._replies import status_of
from agent_surface.assistant._transcript import Transcript
from agent_surface.assistant._values import (
    AssistantMessage,
    ConfirmationSettled,
    ConfirmationWaiting,
    MessageAdded,
    MessageCompleted,
    Notice,
    NoticeKind,
    PersonMessage,
    TextDelta,
    ToolCall,
    ToolCallSettled,
    ToolCallStarted,
    ToolCallStatus,
    TranscriptEntry,
)
from agent_surface.errors import CapabilityErrorPayload, ErrorCode
from agent_surface.invocation import AgentInvocationResult, InvocationError
from agent_surface.toolset._values import ConfirmationWait, ToolDefinition


class Conversation:
    """What was said and done, in order.

    Args:
        entries: Where it begins.
        clock: Time of new entries.
        emitter: Hears of every change.
    """

    def __init__(self, entries: Iterable[TranscriptEntry] = (), *, clock: Clock, emitter: EventEmitter) -> None:
        self._transcript = Transcript(entries)
        self._clock = clock
        self._emitter = emitter

    def entries(self) -> tuple[TranscriptEntry, ...]:
        """All entries, oldest first."""
        return self._transcript.entries()

    # Messages.

    def add_person_message(self, text: str) -> None:
        """The person wrote ``text``."""
        message = PersonMessage(message_id=self._transcript.new_id("m"), text=_whole(text), at_ms=self._clock.now_ms())
        self._transcript.add(message)
        self._emitter.emit(MessageAdded(message=message))

    def add_text(self, text: str) -> None:
        """The assistant said a piece more; begins a message when none is being written."""
        text = _whole(text)
        if not text:
            return
        message_id = self._transcript.streaming
        if message_id is None:
            message = AssistantMessage(
                message_id=self._transcript.new_id("m"), text="", at_ms=self._clock.now_ms(), streaming=True
            )
            message_id = message.message_id
            self._transcript.add(message)
            self._emitter.emit(MessageAdded(message=message))
        self._transcript.append_text(text)
        self._emitter.emit(TextDelta(message_id=message_id, text=text))

    def complete_message(self) -> None:
        """The message that is being written, if there is one, will not grow any more."""
        message = self._transcript.complete()
        if message is not None:
            self._emitter.emit(MessageCompleted(message=message))

    def add_notice(self, kind: NoticeKind, text: str) -> None:
        """The application remarks something."""
        self.complete_message()
        notice = Notice(
            message_id=self._transcript.new_id("m"), kind=kind, text=_whole(text), at_ms=self._clock.now_ms()
        )
        self._transcript.add(notice)
        self._emitter.emit(MessageAdded(message=notice))

    # Tool calls.

    def find_call(self, call_id: str) -> ToolCall | None:
        """The tool call of this id."""
        return self._transcript.call(call_id)

    def open_call(
        self, name: str, definition: ToolDefinition | None, tool_input: JsonValue, call_id: str | None
    ) -> ToolCall:
        """The assistant uses a tool; ``definition`` is ``None`` for one nobody offered."""
        self.complete_message()
        name = _whole(name)
        try:
            frozen = freeze_json(tool_input)
        except NotJsonError:
            # The registry refuses it with the place and the reason; there is nothing that could be shown.
            frozen = None
        call = ToolCall(
            call_id=self._transcript.free_call_id(None if call_id is None else _whole(call_id)),
            tool_name=name,
            capability_id=None if definition is None else definition.capability_id,
            title=name if definition is None else definition.summary,
            kind=None if definition is None else definition.kind,
            effect=None if definition is None else definition.effect,
            component_type=None if definition is None else definition.component.type,
            instance_id=None if definition is None else definition.component.instance_id,
            input=frozen,
            started_ms=self._clock.now_ms(),
        )
        self._transcript.add(call)
        self._emitter.emit(ToolCallStarted(call=call))
        return call

    def settle_call(self, call_id: str, result: AgentInvocationResult) -> None:
        """A call ended; one that was abandoned keeps that status and gets the result as a late one."""
        call = self._transcript.call(call_id)
        if call is None:
            return
        if call.status is not ToolCallStatus.ABANDONED:
            self._end_call(replace(call, status=status_of(result), result=result))
        elif not _was_cancelled(result):
            self._end_call(replace(call, result=result, late=True))

    def refuse_call(self, call_id: str, result: AgentInvocationResult, guidance: str) -> None:
        """The session does not make the call and tells the model why."""
        call = self._transcript.call(call_id)
        if call is not None:
            self._end_call(replace(call, status=ToolCallStatus.REFUSED, result=result, guidance=guidance))

    def abandon_call(self, call_id: str) -> None:
        """Nobody waits for the call any more."""
        call = self._transcript.call(call_id)
        if call is not None and call.status.open:
            self._end_call(replace(call, status=ToolCallStatus.ABANDONED))

    def show_wait(self, call_id: str, wait: ConfirmationWait) -> None:
        """The call waits for the person, or has stopped waiting."""
        call = self._transcript.call(call_id)
        if call is None or not call.status.open:
            return
        confirmation_id, outcome = wait.confirmation_id, wait.outcome
        status = ToolCallStatus.WAITING if outcome is None else ToolCallStatus.RUNNING
        self._transcript.replace_call(replace(call, status=status, confirmation_id=confirmation_id))
        if outcome is None:
            self._emitter.emit(ConfirmationWaiting(call_id=call_id, confirmation_id=confirmation_id))
        else:
            self._emitter.emit(ConfirmationSettled(call_id=call_id, confirmation_id=confirmation_id, outcome=outcome))

    def _end_call(self, call: ToolCall) -> None:
        call = replace(call, ended_ms=self._clock.now_ms())
        self._transcript.replace_call(call)
        self._emitter.emit(ToolCallSettled(call=call))


def refused(call: ToolCall, payload: CapabilityErrorPayload) -> InvocationError:
    """A result for a call that never reached the registry."""
    return InvocationError(
        invocation_id="",
        capability_id=call.capability_id or call.tool_name,
        surface_version="",
        error=payload,
    )


def _whole(text: str) -> str:
    """``text`` without halves of characters: with one in it the conversation could not be saved any more."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _was_cancelled(result: AgentInvocationResult) -> bool:
    return isinstance(result, InvocationError) and result.error.code is ErrorCode.CANCELLED
