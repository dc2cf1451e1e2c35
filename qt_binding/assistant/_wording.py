"""What a tool call looks like to a person: plain words in place of codes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QLocale

from agent_surface.assistant import SessionState, TokenUsage, ToolCall, ToolCallStatus
from agent_surface.errors import CapabilityErrorPayload, ErrorCode
from agent_surface.invocation import InvocationError
from qt_binding._looks import shortened

_MAX_ARGUMENT_CHARACTERS = 20_000


def tr(text: str) -> str:
    """The text in the language of the application."""
    return QCoreApplication.translate("AssistantDock", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWords:
    """The texts of a card. None of them is made visible yet.

    Attributes:
        title: What the tool does.
        facts: Target, state and duration, in reading order; empty ones left out.
        state: The state alone.
        reason: Why it was not carried out or went wrong; empty otherwise.
    """

    title: str
    facts: tuple[str, ...]
    state: str
    reason: str


def words_of(call: ToolCall) -> CallWords:
    """Put a call into words."""
    state = _state(call)
    duration = "" if call.duration_ms is None else duration_text(call.duration_ms)
    return CallWords(
        title=call.title,
        facts=tuple(fact for fact in (target_of(call), state, duration) if fact),
        state=state,
        reason=_reason(call),
    )


def target_of(call: ToolCall) -> str:
    """The component a call acts on, or nothing when it is unknown."""
    if not call.component_type:
        return ""
    if call.instance_id in (None, "default"):
        return call.component_type
    return f"{call.component_type} \u203a {call.instance_id}"


def duration_text(duration_ms: int) -> str:
    """A duration as a person says it: milliseconds below one second, then seconds, then minutes."""
    locale = QLocale()
    if duration_ms < 1_000:
        return tr("%1 ms").replace("%1", locale.toString(duration_ms))
    if duration_ms < 60_000:
        return tr("%1 s").replace("%1", locale.toString(duration_ms / 1_000, "f", 1))
    minutes, seconds = divmod(duration_ms // 1_000, 60)
    return tr("%1 min %2 s").replace("%1", locale.toString(minutes)).replace("%2", locale.toString(seconds))


def arguments_text(call: ToolCall) -> str:
    """What the assistant sent, as indented JSON; the end of very long ones is left out and said to be."""
    if not call.input:
        return ""
    # Frozen objects are mappings, which JSON does not know.
    text = json.dumps(call.input, indent=2, ensure_ascii=False, default=dict)
    return shortened(text, _MAX_ARGUMENT_CHARACTERS)


def idle_text(usage: TokenUsage) -> str:
    """That the assistant is ready, and what the conversation has taken of a model so far."""
    tokens = usage.input_tokens + usage.output_tokens
    if not tokens:
        return session_state_text(SessionState.IDLE)
    return tr("Ready \u00b7 %1 tokens used").replace("%1", QLocale().toString(tokens))


def session_state_text(state: SessionState) -> str:
    """What the assistant does, for the status line."""
    return {
        SessionState.IDLE: tr("Ready"),
        SessionState.THINKING: tr("Thinking\u2026"),
        SessionState.ACTING: tr("Working in the window\u2026"),
        SessionState.WAITING_FOR_PERSON: tr("Waiting for your decision"),
        SessionState.STOPPING: tr("Stopping\u2026"),
    }[state]


def _state(call: ToolCall) -> str:
    if call.status is ToolCallStatus.ABANDONED and call.late:
        return tr("Finished after it was stopped")
    return {
        ToolCallStatus.RUNNING: tr("Running"),
        ToolCallStatus.WAITING: tr("Waiting for you"),
        ToolCallStatus.DONE: tr("Done"),
        ToolCallStatus.REFUSED: tr("Not carried out"),
        ToolCallStatus.FAILED: tr("Failed"),
        ToolCallStatus.ABANDONED: tr("Stopped"),
    }[call.status]


def _reason(call: ToolCall) -> str:
    if call.status is ToolCallStatus.ABANDONED:
        if call.late:
            return ""
        return tr("It was stopped before a result came. What it had already done may remain.")
    if isinstance(call.result, InvocationError) and not call.status.open:
        return error_text(call.result.error)
    if call.status is ToolCallStatus.FAILED:
        return tr("It ended without a result.")
    return tr("Nothing was changed.") if call.status is ToolCallStatus.REFUSED else ""


def error_text(error: CapabilityErrorPayload) -> str:
    """An error of the surface as one or two sentences for a person, with what is known about the cause."""
    details = error.details
    reason = _text(details, "reason")
    match error.code:
        case ErrorCode.CAPABILITY_NOT_AVAILABLE:
            sentence = tr("It is not available right now.")
            return f"{sentence} {_sentence(reason)}" if reason else sentence
        case ErrorCode.CONFIRMATION_INVALID if reason == "denied":
            note = _text(details, "note")
            return tr("You said no: %1").replace("%1", note) if note else tr("You said no.")
        case ErrorCode.CONFIRMATION_INVALID if reason == "expired":
            return tr("Nobody answered the question in time.")
        case ErrorCode.PRECONDITION_FAILED if reason != "binding-failed":
            return _sentence(error.message)
        case _:
            return _by_code(error.code)


def _by_code(code: ErrorCode) -> str:
    return {
        ErrorCode.CAPABILITY_NOT_FOUND: tr("The application offers no such thing."),
        ErrorCode.CAPABILITY_NOT_AVAILABLE: tr("It is not available right now."),
        ErrorCode.AMBIGUOUS_INSTANCE: tr("Several parts of the window fit and none was named."),
        ErrorCode.COMPONENT_UNMOUNTED: tr("That part of the window was closed."),
        ErrorCode.STALE_CAPABILITY: tr("The window has changed since the assistant last looked."),
        ErrorCode.INVOCATION_CONFLICT: tr("The assistant used one call for two different things."),
        ErrorCode.INVALID_INPUT: tr("The assistant sent values that do not fit."),
        ErrorCode.NOT_AUTHENTICATED: tr("You are not signed in."),
        ErrorCode.NOT_AUTHORIZED: tr("The assistant has no permission for this."),
        ErrorCode.PRECONDITION_FAILED: tr("The values on the screen do not allow it."),
        ErrorCode.CONFIRMATION_REQUIRED: tr("It needs your decision first."),
        ErrorCode.CONFIRMATION_INVALID: tr("Your approval no longer fits what was asked."),
        ErrorCode.RATE_LIMITED: tr("Too much was asked at once."),
        ErrorCode.TIMEOUT: tr("It took too long. It may have had an effect nevertheless."),
        ErrorCode.CANCELLED: tr("It was cancelled. What it had already done may remain."),
        ErrorCode.EXECUTION_FAILED: tr("Something went wrong in the application."),
    }[code]


def _text(details: Mapping[str, object], key: str) -> str:
    value = details.get(key)
    return value.strip() if isinstance(value, str) else ""


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?\u2026" else f"{text}."
