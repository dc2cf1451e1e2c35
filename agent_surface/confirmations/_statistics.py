"""How full a store of requests is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationStatistics:
    """How full a store is.

    Attributes:
        pending: Requests nobody has decided yet.
        max_pending: Their bound.
        resolved: Ended requests that are still remembered.
        max_resolved: Their bound.
        waiters: Coroutines that wait for a decision.
        refused_total: Requests refused since the start because too many were pending.
    """

    pending: int
    max_pending: int
    resolved: int
    max_resolved: int
    waiters: int
    refused_total: int
