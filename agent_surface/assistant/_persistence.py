"""A conversation as JSON and back. Reading one executes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_surface._base._json import FrozenJson, JsonValue, NotJsonError, freeze_json, thaw_json
from agent_surface.assistant._values import (
    AssistantMessage,
    Notice,
    NoticeKind,
    PersonMessage,
    TokenUsage,
    ToolCall,
    ToolCallStatus,
    TranscriptEntry,
)
from agent_surface.errors import CapabilityErrorPayload, ErrorCode, Retry
from agent_surface.invocation import (
    AgentInvocationResult,
    CapabilityKind,
    Effect,
    InvocationError,
    InvocationOk,
)

FORMAT = "agent-surface-conversation"
VERSION = 1


def conversation_to_json(entries: Iterable[TranscriptEntry], usage: TokenUsage | None = None) -> dict[str, JsonValue]:
    """The conversation as a fresh JSON object."""
    return {**conversation_head(usage), "entries": [entry_to_json(entry) for entry in entries]}


def conversation_head(usage: TokenUsage | None) -> dict[str, JsonValue]:
    """What a saved conversation holds beside its entries."""
    head: dict[str, JsonValue] = {"format": FORMAT, "version": VERSION}
    if usage is not None and usage != TokenUsage():
        head["usage"] = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}
    return head


def usage_from_json(saved: Mapping[str, JsonValue]) -> TokenUsage:
    """What was reported for the saved conversation; nothing when it says nothing.

    Raises:
        ValueError: It says something else.
    """
    if saved.get("usage") is None:
        return TokenUsage()
    reader = _Reader(saved["usage"], "usage")
    return TokenUsage(input_tokens=reader.integer("inputTokens"), output_tokens=reader.integer("outputTokens"))


def conversation_from_json(saved: Mapping[str, JsonValue]) -> tuple[TranscriptEntry, ...]:
    """The saved entries; what was unfinished is abandoned, what was streaming is complete.

    Raises:
        ValueError: ``saved`` is no conversation, or of a version this library does not know.
    """
    if saved.get("format") != FORMAT:
        raise ValueError("this is no saved conversation")
    if saved.get("version") != VERSION:
        raise ValueError(f"this conversation has version {saved.get('version')!r}; this library reads {VERSION}")
    entries = saved.get("entries")
    if not isinstance(entries, list):
        raise ValueError("a saved conversation has a list of entries")  # noqa: TRY004  bad content, not a bad argument
    return tuple(_entry_from_json(entry, place) for place, entry in enumerate(entries))


def entry_to_json(entry: TranscriptEntry) -> JsonValue:
    """One entry as a fresh JSON object."""
    if isinstance(entry, ToolCall):
        return _call_to_json(entry)
    shown: dict[str, JsonValue] = {"id": entry.message_id, "text": entry.text, "atMs": entry.at_ms}
    if isinstance(entry, Notice):
        return {"type": "notice", "kind": entry.kind.value, **shown}
    return {"type": "person" if isinstance(entry, PersonMessage) else "assistant", **shown}


def _call_to_json(call: ToolCall) -> JsonValue:
    shown: dict[str, JsonValue] = {
        "type": "tool-call",
        "id": call.call_id,
        "toolName": call.tool_name,
        "capabilityId": call.capability_id,
        "title": call.title,
        "kind": None if call.kind is None else call.kind.value,
        "effect": None if call.effect is None else call.effect.value,
        "componentType": call.component_type,
        "instanceId": call.instance_id,
        "input": thaw_json(call.input),
        "status": call.status.value,
        "result": None if call.result is None else call.result.to_json(),
        "startedMs": call.started_ms,
        "endedMs": call.ended_ms,
    }
    if call.confirmation_id is not None and not call.status.open:
        # For the record; it is no evidence. Of an open call it would only suggest that somebody still waits.
        shown["confirmationId"] = call.confirmation_id
    if call.late:
        shown["late"] = True
    if call.guidance is not None:
        shown["guidance"] = call.guidance
    return shown


class _Reader:
    """One saved object; every wrong field is a ValueError that names the entry and the field."""

    def __init__(self, value: JsonValue, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} is no object")  # noqa: TRY004  bad content, not a bad argument
        self._value = value
        self._where = where

    def text(self, key: str) -> str:
        found = self._value.get(key)
        if not isinstance(found, str):
            raise self.wrong(key)
        return found

    def text_or_none(self, key: str) -> str | None:
        return None if self._value.get(key) is None else self.text(key)

    def integer(self, key: str) -> int:
        found = self._value.get(key)
        if isinstance(found, bool) or not isinstance(found, int):
            raise self.wrong(key)
        return found

    def flag(self, key: str) -> bool:
        return self._value.get(key) is True

    def has(self, key: str) -> bool:
        return self._value.get(key) is not None

    def holds(self, key: str) -> bool:
        return key in self._value

    def frozen(self, key: str) -> FrozenJson:
        try:
            return freeze_json(self._value.get(key))
        except NotJsonError:
            raise self.wrong(key) from None

    def inner(self, key: str) -> _Reader:
        return _Reader(self._value.get(key), f"{self._where}, {key}")

    def wrong(self, key: str) -> ValueError:
        return ValueError(f"{self._where}: {key} is missing or wrong")


def _entry_from_json(value: JsonValue, place: int) -> TranscriptEntry:
    reader = _Reader(value, f"entry {place}")
    kind = reader.text("type")
    if kind == "tool-call":
        return _call_from_json(reader)
    message_id, text, at_ms = reader.text("id"), reader.text("text"), reader.integer("atMs")
    if kind == "person":
        return PersonMessage(message_id=message_id, text=text, at_ms=at_ms)
    if kind == "assistant":
        return AssistantMessage(message_id=message_id, text=text, at_ms=at_ms)
    if kind == "notice":
        return Notice(message_id=message_id, kind=NoticeKind(reader.text("kind")), text=text, at_ms=at_ms)
    raise reader.wrong("type")


def _call_from_json(reader: _Reader) -> ToolCall:
    status = ToolCallStatus(reader.text("status"))
    started_ms = reader.integer("startedMs")
    ended_ms = reader.integer("endedMs") if reader.has("endedMs") else started_ms
    return ToolCall(
        call_id=reader.text("id"),
        tool_name=reader.text("toolName"),
        capability_id=reader.text_or_none("capabilityId"),
        title=reader.text("title"),
        kind=CapabilityKind(reader.text("kind")) if reader.has("kind") else None,
        effect=Effect(reader.text("effect")) if reader.has("effect") else None,
        component_type=reader.text_or_none("componentType"),
        instance_id=reader.text_or_none("instanceId"),
        input=reader.frozen("input"),
        status=ToolCallStatus.ABANDONED if status.open else status,
        confirmation_id=reader.text_or_none("confirmationId"),
        result=_result_from_json(reader.inner("result")) if reader.has("result") and not status.open else None,
        late=reader.flag("late"),
        guidance=reader.text_or_none("guidance"),
        started_ms=started_ms,
        ended_ms=ended_ms,
    )


def _result_from_json(reader: _Reader) -> AgentInvocationResult:
    invocation_id, capability_id = reader.text("invocationId"), reader.text("capabilityId")
    surface_version, changed = reader.text("surfaceVersion"), reader.flag("surfaceChanged")
    if reader.text("status") == "ok":
        return InvocationOk(
            invocation_id=invocation_id,
            capability_id=capability_id,
            surface_version=surface_version,
            output=reader.frozen("output"),
            has_output=reader.holds("output"),
            surface_changed=changed,
        )
    error = reader.inner("error")
    details = error.frozen("details")
    return InvocationError(
        invocation_id=invocation_id,
        capability_id=capability_id,
        surface_version=surface_version,
        error=CapabilityErrorPayload(
            code=ErrorCode(error.text("code")),
            message=error.text("message"),
            retry=Retry(error.text("retry")),
            details=details if isinstance(details, Mapping) else {},
        ),
        surface_changed=changed,
    )
