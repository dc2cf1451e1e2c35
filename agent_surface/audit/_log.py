"""The sink that writes to the program's own log."""

from __future__ import annotations

import logging
from dataclasses import replace

from agent_surface._base._json import compact_json
from agent_surface.audit._redaction import AuditRedaction, redacted
from agent_surface.audit._values import AuditRecord

AUDIT_LOGGER = "agent_surface.audit.records"


class LoggingAuditSink:
    """Writes each record as one line of JSON through ``logging``, and never to standard output (AS-OBSV-002).

    Where the line ends up is the application's configuration. A handler that blocks would block the caller: put a
    ``logging.handlers.QueueHandler`` in front of it, or this sink into a :class:`BackgroundAuditSink`.

    Args:
        logger: Where to; ``agent_surface.audit.records`` when absent.
        level: Of every line.
        redact: What must not be written is taken out first.
        include_input: Whether inputs are written too. A log is read by more people than an audit, so they are not.
    """

    def __init__(
        self,
        logger: logging.Logger | None = None,
        *,
        level: int = logging.INFO,
        redact: AuditRedaction | None = None,
        include_input: bool = False,
    ) -> None:
        self._logger = logger if logger is not None else logging.getLogger(AUDIT_LOGGER)
        self._level = level
        self._redact = redact
        self._include_input = include_input

    def record(self, record: AuditRecord) -> None:
        """Write one record, when anybody listens on this level."""
        if not self._logger.isEnabledFor(self._level):
            return
        kept = redacted(record, self._redact)
        if not self._include_input:
            kept = replace(kept, input=None)
        self._logger.log(self._level, "audit %s", compact_json(kept.to_json()))
