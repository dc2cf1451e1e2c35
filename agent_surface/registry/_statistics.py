"""How full a registry is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryStatistics:
    """How full everything is that has a bound (AS-BOUND-003).

    Attributes:
        registrations: Live components.
        tombstones: Components that went and are remembered.
        remembered_results: Terminal results kept for replay.
        in_flight: Calls that have not settled.
        running_tasks: Tasks that run calls, or handlers whose call has settled.
        queued_calls: Calls that wait for admission.
        admission_groups: Groups somebody is in.
        observing: Observations that run.
        pending_confirmations: People asked.
        resolved_confirmations: Decisions that are remembered.
        queued_events: Events that wait for delivery.
        lost_events: Events dropped because listeners emitted faster than they heard.
        audit_failures: Records the sink did not take, or took and lost.
    """

    registrations: int
    tombstones: int
    remembered_results: int
    in_flight: int
    running_tasks: int
    queued_calls: int
    admission_groups: int
    observing: int
    pending_confirmations: int
    resolved_confirmations: int
    queued_events: int
    lost_events: int
    audit_failures: int
