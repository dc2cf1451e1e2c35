"""What a snapshot exposes, one line for each capability."""

from __future__ import annotations

from dataclasses import dataclass

from agent_surface._snapshot import (
    ActionDescriptor,
    AgentSurfaceSnapshot,
    ObservationDescriptor,
    ProcedureDescriptor,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposed:
    """One capability of one live component, as a consumer sees it."""

    capability_id: str
    instance_id: str
    registration_id: str
    available: bool
    reason: str | None

    @property
    def state(self) -> str:
        """``available``, or why not."""
        return "available" if self.available else f"unavailable: {self.reason}"


def all_exposed(snapshot: AgentSurfaceSnapshot) -> list[Exposed]:
    """Everything in the catalogue, in its order."""
    found: list[Exposed] = []
    for component in snapshot.components:
        items: list[ObservationDescriptor | ActionDescriptor] = [*component.observations, *component.actions]
        found += [_entry(item, component.instance_id, component.registration_id) for item in items]
    found += [_entry(item, item.context.instance_id, item.registration_id) for item in snapshot.procedures]
    return found


def find_exposed(snapshot: AgentSurfaceSnapshot, capability_id: str, instance_id: str | None) -> list[Exposed]:
    """The entries of one capability; ``instance_id`` narrows them to one instance."""
    return [
        item
        for item in all_exposed(snapshot)
        if item.capability_id == capability_id and instance_id in (None, item.instance_id)
    ]


def exposed_text(snapshot: AgentSurfaceSnapshot) -> str:
    """The catalogue for a person who reads why a test failed."""
    lines = [f"  {item.capability_id} ({item.instance_id}): {item.state}" for item in all_exposed(snapshot)]
    return "The surface exposes\n" + ("\n".join(lines) if lines else "  nothing")


def _entry(
    item: ObservationDescriptor | ActionDescriptor | ProcedureDescriptor, instance_id: str, registration_id: str
) -> Exposed:
    return Exposed(
        capability_id=item.capability_id,
        instance_id=instance_id,
        registration_id=registration_id,
        available=item.available,
        reason=item.unavailable_reason,
    )
