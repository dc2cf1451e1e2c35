"""One request of a person and the states it goes through.

::

    PENDING ──resolve(approved)──▶ APPROVED ──claim──▶ CLAIMED ──consume──▶ CONSUMED
       │                              │  ▲                │
       │                              │  └──── release ───┤ (in time)
       │                              │                   │
       ├── time, withdrawal, ─────────┴───────────────────┴──▶ EXPIRED
       │   component or registry gone        (release too late)
       └──resolve(denied)──▶ DENIED

Only the host's ``resolve`` leads to APPROVED. DENIED, CONSUMED and EXPIRED are final. A claim taken before the time is
up stays good: the call is under way, and its queue has bounds of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from agent_surface.confirmations._evidence import ConfirmationAudit, ConfirmationAuditKind
from agent_surface.confirmations._values import ConfirmationResolution, PendingConfirmation


class RecordState(StrEnum):
    """Where a record is in its life."""

    PENDING = "pending"
    APPROVED = "approved"
    CLAIMED = "claimed"
    CONSUMED = "consumed"
    DENIED = "denied"
    EXPIRED = "expired"


TRANSITIONS: Mapping[RecordState, frozenset[RecordState]] = MappingProxyType(
    {
        RecordState.PENDING: frozenset({RecordState.APPROVED, RecordState.DENIED, RecordState.EXPIRED}),
        RecordState.APPROVED: frozenset({RecordState.CLAIMED, RecordState.EXPIRED}),
        RecordState.CLAIMED: frozenset({RecordState.CONSUMED, RecordState.APPROVED, RecordState.EXPIRED}),
        RecordState.CONSUMED: frozenset(),
        RecordState.DENIED: frozenset(),
        RecordState.EXPIRED: frozenset(),
    }
)

FINAL = frozenset(state for state, following in TRANSITIONS.items() if not following)
"""States that nothing leaves."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ConfirmationRecord:
    """A mutable record; only the store touches it.

    Attributes:
        pending: What a person is shown, as it was when requested.
        binding_text: Canonical JSON of the call it stands for.
        state: Where it is in its life.
        resolution: How the request ended; ``None`` while pending.
        approved_at: ISO 8601, UTC; empty unless approved.
        forget_at_ms: Monotonic time from which an ended record is no longer remembered.
        void: The component or the registry is gone: a claim given back cannot be used again.
        waiters: Futures of those who wait for the end.
        holders: How many adapters count on it; a request that none counts on may be withdrawn.
    """

    __slots__ = (
        "approved_at",
        "binding_text",
        "forget_at_ms",
        "holders",
        "pending",
        "resolution",
        "state",
        "void",
        "waiters",
    )

    def __init__(self, *, pending: PendingConfirmation, binding_text: str) -> None:
        self.pending = pending
        self.binding_text = binding_text
        self.state = RecordState.PENDING
        self.resolution: ConfirmationResolution | None = None
        self.approved_at = ""
        self.forget_at_ms = 0
        self.void = False
        self.waiters: list[asyncio.Future[object]] = []
        self.holders = 0

    def move_to(self, state: RecordState) -> None:
        """Change the state.

        Raises:
            RuntimeError: The table has no such step; a defect of the store.
        """
        if state not in TRANSITIONS[self.state]:
            raise RuntimeError(f"{self.pending.confirmation_id}: no step from {self.state} to {state}")
        self.state = state

    def step(
        self, kind: ConfirmationAuditKind, *, actor: str, at: str, note: str | None = None, unused: bool = False
    ) -> ConfirmationAudit:
        """What the audit is told of a step in its life."""
        pending = self.pending
        return ConfirmationAudit(
            kind=kind,
            confirmation_id=pending.confirmation_id,
            capability_id=pending.capability_id,
            registration_id=pending.registration_id,
            consumer_key=pending.consumer_key,
            effect=pending.effect,
            actor=actor,
            origin=pending.origin,
            at=at,
            note=note,
            unused=unused,
        )


def iso_utc(epoch_ms: int) -> str:
    """``epoch_ms`` as ISO 8601 in UTC with milliseconds."""
    # Not ``fromtimestamp(ms / 1000)``: the float would now and then lose the last millisecond.
    moment = _EPOCH + timedelta(milliseconds=epoch_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
