"""Writing audit records, whatever the sink does."""

from __future__ import annotations

import logging

from agent_surface._base._ports import Clock
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface.audit import AuditRecord, AuditSink
from agent_surface.confirmations._evidence import ConfirmationAudit

logger = logging.getLogger("agent_surface.registry")


class AuditTrail:
    """Hands records to a sink. A sink that raises loses the record, which is counted (AS-OBSV-004).

    Attributes:
        sink: Where records go.
        failures: How many it did not take.
    """

    __slots__ = ("_clock", "failures", "sink")

    def __init__(self, *, sink: AuditSink, clock: Clock) -> None:
        self._clock = clock
        self.sink = sink
        self.failures = 0

    def record(self, record: AuditRecord) -> None:
        """Hand over one record."""
        try:
            self.sink.record(record)
        except USER_ERRORS:
            self.failures += 1
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
