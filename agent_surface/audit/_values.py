"""What is kept of calls and decisions, for people and never for agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Protocol

from agent_surface._base._json import FrozenJson
from agent_surface.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One fact.

    Attributes:
        kind: ``invocation`` (settled), ``late-settlement`` (a handler ended after its call had settled) or
            ``confirmation``.
        at_ms: Wall-clock milliseconds since the Unix epoch.
        capability_id: What it is about.
        consumer_key: Who asked.
        registration_id: The live component, when one was resolved.
        invocation_id: The call.
        status: ``ok`` or ``error`` for an invocation; ``requested``, ``approved``, ``denied``, ``expired`` or
            ``consumed`` for a confirmation.
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

    kind: Literal["invocation", "late-settlement", "confirmation"]
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


class AuditSink(Protocol):
    """Where audit records go. It must not block; an exception is logged, counted and forgotten."""

    def record(self, record: AuditRecord) -> None:
        """Keep one record."""
