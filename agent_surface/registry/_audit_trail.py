"""Writing audit records, whatever the sink does."""

from __future__ import annotations

import logging

from agent_surface._base._ports import Clock
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface.audit import AuditRecord, AuditSink, LossyAuditSink
from agent_surface.confirmations._evidence import ConfirmationAudit

logger = logging.getLogger("agent_surface.registry")


class AuditTrail:
    """Hands records to a sink. A sink that raises loses the record, which is counted (AS-OBSV-004).

    Attributes:
        sink: Where records go.
    """

    __slots__ = ("_clock", "_refused", "sink")

    def __init__(self, *, sink: AuditSink, clock: Clock) -> None:
        self._clock = clock
        self.sink = sink
        self._refused = 0

    @property
    def failures(self) -> int:
        """How many records the sink did not take, or took and lost."""
        return self._refused + (self.sink.lost if isinstance(self.sink, LossyAuditSink) else 0)

    def record(self, record: AuditRecord) -> None:
        """Hand over one record."""
        try:
            self.sink.record(record)
        except USER_ERRORS:
            self._refused += 1
            logger.exception("the audit sink did not take a record")

    def record_confirmation(self, step: ConfirmationAudit) -> None:
        """Hand over one step in the life of a confirmation."""
        self.record(
            AuditRecord(
                kind="confirmation",
                at_ms=self._clock.now_ms(),
                capability_id=step.capability_id,
                consumer_key=step.consumer_key,
                registration_id=step.registration_id,
                status=step.kind.value,
                confirmation_id=step.confirmation_id,
                actor=step.actor,
                note=step.note,
            )
        )
