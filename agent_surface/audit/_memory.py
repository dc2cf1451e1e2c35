"""The bounded sink that is there by default."""

from __future__ import annotations

from collections import deque

from agent_surface.audit._redaction import AuditRedaction, redacted
from agent_surface.audit._values import AuditRecord


class MemoryAuditSink:
    """Keeps the latest records in memory.

    Args:
        capacity: How many; older ones are dropped and counted.
        redact: What must not be kept is taken out first.
    """

    def __init__(self, capacity: int = 1_000, *, redact: AuditRedaction | None = None) -> None:
        if capacity < 1:
            raise ValueError("capacity must be at least 1")
        self._records: deque[AuditRecord] = deque(maxlen=capacity)
        self._redact = redact
        self._dropped = 0

    @property
    def records(self) -> tuple[AuditRecord, ...]:
        """What is kept, oldest first."""
        return tuple(self._records)

    @property
    def dropped(self) -> int:
        """How many records had to make room."""
        return self._dropped

    def record(self, record: AuditRecord) -> None:
        """Keep one record."""
        if len(self._records) == self._records.maxlen:
            self._dropped += 1
        self._records.append(redacted(record, self._redact))
