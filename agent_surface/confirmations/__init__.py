"""Requests of a person: records, single-use evidence, the host's controller and the adapter's waiter.

Above: policies' decisions are turned into records by the pipeline. Below: invocation values, events, ports.
"""

from agent_surface.confirmations._evidence import (
    ClaimedEvidence,
    ConfirmationAudit,
    ConfirmationAuditKind,
    ConfirmationBinding,
)
from agent_surface.confirmations._statistics import ConfirmationStatistics
from agent_surface.confirmations._store import ConfirmationStore
from agent_surface.confirmations._values import (
    ConfirmationController,
    ConfirmationOutcome,
    ConfirmationResolution,
    ConfirmationWaiter,
    PendingConfirmation,
)

__all__ = [
    "ClaimedEvidence",
    "ConfirmationAudit",
    "ConfirmationAuditKind",
    "ConfirmationBinding",
    "ConfirmationController",
    "ConfirmationOutcome",
    "ConfirmationResolution",
    "ConfirmationStatistics",
    "ConfirmationStore",
    "ConfirmationWaiter",
    "PendingConfirmation",
]
