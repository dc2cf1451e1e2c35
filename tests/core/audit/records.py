"""Records to write."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agent_surface import AuditRecord, FrozenJson


def record(
    at_ms: int,
    *,
    input: FrozenJson = None,
    note: str | None = None,
    capability_id: str = "view:t.one.act",
    facts: Mapping[str, object] | None = None,
) -> AuditRecord:
    """The record of one call, told from the next by its time."""
    return AuditRecord(
        kind="invocation",
        at_ms=at_ms,
        capability_id=capability_id,
        consumer_key="test:alice",
        status="ok",
        input=input,
        note=note,
        facts=MappingProxyType(dict(facts or {})),
    )
