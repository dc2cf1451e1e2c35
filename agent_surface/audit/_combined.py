"""One record to several sinks."""

from __future__ import annotations

import logging

from agent_surface.audit._values import AuditRecord, AuditSink, LossyAuditSink

logger = logging.getLogger("agent_surface.audit")


class CombinedAuditSink:
    """Hands each record to every one of its sinks; one that raises takes nothing from the others.

    Args:
        sinks: In the order in which they are asked. Their life is their owner's: nothing is closed here.
    """

    def __init__(self, *sinks: AuditSink) -> None:
        self._sinks = sinks
        self._failures = 0

    @property
    def sinks(self) -> tuple[AuditSink, ...]:
        """The sinks, in the order in which they are asked."""
        return self._sinks

    @property
    def lost(self) -> int:
        """How many times one of the sinks did not keep a record."""
        return self._failures + sum(sink.lost for sink in self._sinks if isinstance(sink, LossyAuditSink))

    def record(self, record: AuditRecord) -> None:
        """Hand one record to every sink."""
        for sink in self._sinks:
            try:
                sink.record(record)
            except Exception:
                self._failures += 1
                logger.exception("%s did not take a record", type(sink).__name__)
