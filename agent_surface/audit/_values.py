"""What is kept of calls and decisions, for people and never for agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType
from typing import Literal, Protocol, cast, runtime_checkable

from agent_surface._base._json import FrozenJson, JsonValue, thaw_json
from agent_surface.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One fact.

    Attributes:
        kind: ``invocation`` (settled), ``attempt`` (an audit policy saw it in phase 6), ``late-settlement`` (a handler
            ended after its call had settled), ``confirmation``, or ``records-lost`` (a sink could not keep as many
            records as ``facts["lost"]`` says, and can again).
        at_ms: Wall-clock milliseconds since the Unix epoch.
        capability_id: What it is about.
        consumer_key: Who asked.
        registration_id: The live component, when one was resolved.
        invocation_id: The call.
        status: ``ok`` or ``error`` for an invocation; ``attempted`` for an attempt; ``requested``, ``approved``,
            ``denied``, ``expired`` or ``consumed`` for a confirmation.
        code: Of an error.
        phase: Of the pipeline in which the call ended, 1 to 10.
        queue_wait_ms: Time waiting for admission.
        execution_ms: Time in the handler.
        input: The effective input, for capabilities whose audit level is ``full``.
        confirmation_id: The evidence, when there is any.
        actor: Who decided a confirmation.
        note: The person's words.
        facts: What only the log may say: the refusing policy, the cause, fingerprints.
    """

    kind: Literal["invocation", "attempt", "late-settlement", "confirmation", "records-lost"]
    at_ms: int
    capability_id: str
    consumer_key: str
    status: str
    registration_id: str | None = None
    invocation_id: str | None = None
    code: ErrorCode | None = None
    phase: int | None = None
    queue_wait_ms: int = 0
    execution_ms: int = 0
    input: FrozenJson = None
    confirmation_id: str | None = None
    actor: str | None = None
    note: str | None = None
    facts: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def to_json(self) -> dict[str, JsonValue]:
        """The record as a fresh JSON object with camelCase keys, without what it says nothing about.

        It never fails: a fact that is no JSON is written as text, and text that no encoding can write is repaired.
        """
        said: dict[str, JsonValue] = {
            "kind": self.kind,
            "atMs": self.at_ms,
            "capabilityId": _text(self.capability_id),
            "consumerKey": _text(self.consumer_key),
            "registrationId": _optional(self.registration_id),
            "invocationId": _optional(self.invocation_id),
            "status": _text(self.status),
            "code": self.code.value if self.code is not None else None,
            "phase": self.phase,
            "queueWaitMs": self.queue_wait_ms or None,
            "executionMs": self.execution_ms or None,
            "input": thaw_json(self.input),
            "confirmationId": _optional(self.confirmation_id),
            "actor": _optional(self.actor),
            "note": _optional(self.note),
            "facts": {_shown(name): _fact(value, _FACT_DEPTH) for name, value in self.facts.items()} or None,
        }
        return {key: value for key, value in said.items() if value is not None}


class AuditSink(Protocol):
    """Where audit records go. It must not block; an exception is logged, counted and forgotten."""

    def record(self, record: AuditRecord) -> None:
        """Keep one record."""


@runtime_checkable
class LossyAuditSink(Protocol):
    """A sink that answers at once and may lose a record later, and says how many it lost."""

    @property
    def lost(self) -> int:
        """How many records it took and could not keep."""
        ...


_FACT_DEPTH = 4
_MAX_FACT_CHARACTERS = 2_000
_MAX_FACT_ITEMS = 100
# What JavaScript and most readers of JSON lines still read exactly.
_MAX_INTEGER = 2**53 - 1


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode()


def _optional(value: str | None) -> str | None:
    return _text(value) if value is not None else None


def _fact(value: object, depth: int) -> JsonValue:
    """A fact as JSON; facts come from policies and exceptions, and may be anything."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and -_MAX_INTEGER <= value <= _MAX_INTEGER:
        return int(value)
    if isinstance(value, float) and isfinite(value):
        return float(value)
    if depth and isinstance(value, Mapping):
        entries = list(cast("Mapping[object, object]", value).items())[:_MAX_FACT_ITEMS]
        return {_shown(key): _fact(item, depth - 1) for key, item in entries}
    if depth and isinstance(value, list | tuple):
        return [_fact(item, depth - 1) for item in cast("Sequence[object]", value)[:_MAX_FACT_ITEMS]]
    return _shown(value)


def _shown(value: object) -> str:
    try:
        return _text(str(value)[:_MAX_FACT_CHARACTERS])
    except Exception:  # noqa: BLE001 - an object that cannot be shown is named after its type
        return f"<{type(value).__name__}>"
