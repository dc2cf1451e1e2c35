"""Making the catalogue of one consumer: synchronous, without side effect, without reading any value."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from agent_surface._base._awaitables import abandon
from agent_surface._base._json import json_bytes
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface._registrations import LiveCapability, Registration
from agent_surface._registrations._live import reason_text
from agent_surface._snapshot._values import (
    ActionDescriptor,
    AgentSurfaceSnapshot,
    BoundFieldDescriptor,
    ComponentDescriptor,
    ObservationDescriptor,
    ProcedureDescriptor,
    RouteInfo,
    SnapshotBudget,
    SnapshotContext,
)
from agent_surface.contracts import ProcedureBinding
from agent_surface.invocation import Availability, CapabilityKind
from agent_surface.policies import DiscoveryDecision, DiscoveryOutcome

logger = logging.getLogger("agent_surface.snapshot")

MAX_NOTE_CHARACTERS = 300

Discover = Callable[[LiveCapability], DiscoveryDecision]


class SnapshotBuilder:
    """Projects live registrations for one consumer (AS-SNAP-001 to 005).

    Args:
        discover: The composed discovery vote for this consumer.
        context: Whose catalogue, and how much of it.
    """

    def __init__(self, *, discover: Discover, context: SnapshotContext) -> None:
        self._discover = discover
        self._context = context

    def build(
        self,
        registrations: Iterable[Registration],
        *,
        surface_id: str,
        surface_version: str,
        captured_at: str,
        route: RouteInfo | None,
    ) -> AgentSurfaceSnapshot:
        """The catalogue of everything in scope that the consumer may see.

        Args:
            registrations: In the order of a catalogue.
            surface_id: Of the registry.
            surface_version: Of this moment.
            captured_at: ISO 8601, UTC.
            route: Where the person is.
        """
        components: list[ComponentDescriptor] = []
        procedures: list[ProcedureDescriptor] = []
        everything = not self._context.scope
        for registration in registrations:
            if not (everything or self._context.covers(registration.type)):
                continue
            projection = self._projected(registration)
            if projection is not None:
                components.append(projection.component)
                if projection.procedures:
                    procedures.extend(projection.procedures)
        procedures.sort(key=lambda item: (item.procedure_id, item.context.type, item.context.instance_id))
        snapshot = AgentSurfaceSnapshot(
            surface_id=surface_id,
            surface_version=surface_version,
            captured_at=captured_at,
            components=tuple(components),
            procedures=tuple(procedures),
            route=route,
        )
        return snapshot if self._context.budget is None else _within(snapshot, self._context.budget)

    def _projected(self, registration: Registration) -> _Projection | None:
        """What the consumer sees of one component, from memory where nothing but a pushed change could alter it."""
        constant = self._context.include_unavailable and registration.is_constant
        remembered = registration.projection
        if constant and isinstance(remembered, _Projection):
            return remembered
        observations: list[ObservationDescriptor] = []
        actions: list[ActionDescriptor] = []
        procedures: list[ProcedureDescriptor] = []
        visible = False
        for live in registration:
            availability = self._availability(live)
            if availability is None:
                continue
            visible = True
            if not availability.available and not self._context.include_unavailable:
                continue
            descriptor = _described(live, availability)
            if isinstance(descriptor, ObservationDescriptor):
                observations.append(descriptor)
            elif isinstance(descriptor, ActionDescriptor):
                actions.append(descriptor)
            else:
                procedures.append(descriptor)
        # A component all of whose capabilities are hidden is hidden itself.
        if not visible and registration.capabilities:
            return None
        contract = registration.bound.seal.contract
        component = ComponentDescriptor(
            type=registration.type,
            instance_id=registration.instance_id,
            registration_id=registration.registration_id,
            description=contract.description,
            observations=tuple(sorted(observations, key=_capability_id)),
            actions=tuple(sorted(actions, key=_capability_id)),
            parent=registration.bound.parent,
            meta=contract.meta or None,
        )
        projection = _Projection(component=component, procedures=tuple(procedures))
        if constant:
            registration.projection = projection
        return projection

    def _availability(self, live: LiveCapability) -> Availability | None:
        """State and the consumer's policies together; ``None`` when hidden."""
        decision = self._discover(live)
        if decision.outcome is DiscoveryOutcome.HIDE:
            return None
        state = live.availability()
        if state.available and decision.outcome is DiscoveryOutcome.DISABLE:
            return Availability(available=False, reason=reason_text(decision.reason, live.capability_id))
        return state


@dataclass(frozen=True, slots=True, kw_only=True)
class _Projection:
    """What a consumer sees of one component; what every one sees, where there are no predicates nor policies."""

    component: ComponentDescriptor
    procedures: tuple[ProcedureDescriptor, ...]


def _capability_id(descriptor: ObservationDescriptor | ActionDescriptor) -> str:
    return descriptor.capability_id


def _described(
    live: LiveCapability, availability: Availability
) -> ObservationDescriptor | ActionDescriptor | ProcedureDescriptor:
    """The descriptor of a capability; the last one again when nothing in it has changed."""
    note = _note(live)
    shown = live.shown
    if (
        isinstance(shown, ObservationDescriptor | ActionDescriptor | ProcedureDescriptor)
        and shown.available == availability.available
        and shown.unavailable_reason == availability.reason
        and (not isinstance(shown, ProcedureDescriptor) or shown.contextual_note == note)
    ):
        return shown
    if live.kind is CapabilityKind.OBSERVATION:
        descriptor: ObservationDescriptor | ActionDescriptor | ProcedureDescriptor = _observation(live, availability)
    elif live.kind is CapabilityKind.ACTION:
        descriptor = _action(live, availability)
    else:
        descriptor = _procedure(live, availability, note)
    live.shown = descriptor
    return descriptor


def _observation(live: LiveCapability, availability: Availability) -> ObservationDescriptor:
    return ObservationDescriptor(
        capability_id=live.capability_id,
        name=live.name,
        description=live.description,
        output_schema=live.output.json_schema if live.output is not None else MappingProxyType({}),
        available=availability.available,
        unavailable_reason=availability.reason,
        meta=live.meta or None,
    )


def _action(live: LiveCapability, availability: Availability) -> ActionDescriptor:
    return ActionDescriptor(
        capability_id=live.capability_id,
        name=live.name,
        description=live.description,
        input_schema=live.input.json_schema if live.input is not None else MappingProxyType({}),
        output_schema=live.output.json_schema if live.output is not None else None,
        effect=live.effect,
        idempotent=live.idempotent,
        reversible=bool(live.reversible),
        confirmation=live.confirmation,
        available=availability.available,
        unavailable_reason=availability.reason,
        meta=live.meta or None,
    )


def _procedure(live: LiveCapability, availability: Availability, note: str | None) -> ProcedureDescriptor:
    binding = live.binding
    bound: Mapping[str, object] = binding.bind if isinstance(binding, ProcedureBinding) else {}
    locked = binding.locked_keys if isinstance(binding, ProcedureBinding) else ()
    return ProcedureDescriptor(
        procedure_id=live.capability_id,
        description=live.description,
        input_schema=binding.agent_schema if isinstance(binding, ProcedureBinding) else MappingProxyType({}),
        output_schema=live.output.json_schema if live.output is not None else None,
        effect=live.effect,
        idempotent=live.idempotent,
        reversible=live.reversible,
        confirmation=live.confirmation,
        available=availability.available,
        unavailable_reason=availability.reason,
        contextual_note=note,
        bound_fields=tuple(BoundFieldDescriptor(path=key, locked=key in locked) for key in bound),
        registration_id=live.registration.registration_id,
        context=live.registration.ref,
        meta=live.meta or None,
    )


def _note(live: LiveCapability) -> str | None:
    describe = live.binding.describe if isinstance(live.binding, ProcedureBinding) else None
    if describe is None:
        return None
    try:
        note = describe()
    except USER_ERRORS:
        logger.exception("describing %s raised", live.capability_id)
        return None
    if not isinstance(note, str) or not note.strip():
        abandon(note)
        return None
    return note if len(note) <= MAX_NOTE_CHARACTERS else note[: MAX_NOTE_CHARACTERS - 1] + "…"


def _within(snapshot: AgentSurfaceSnapshot, budget: SnapshotBudget) -> AgentSurfaceSnapshot:
    """The snapshot without its last components, until it fits; it says how many were left out."""
    keep = len(snapshot.components)
    if budget.max_components is not None:
        keep = min(keep, budget.max_components)
    if budget.max_bytes is not None:
        size_bytes = 0
        for index, component in enumerate(snapshot.components[:keep]):
            size_bytes += json_bytes(component.to_json())
            if size_bytes > budget.max_bytes:
                keep = index
                break
    if keep == len(snapshot.components):
        return snapshot
    kept = snapshot.components[:keep]
    registrations = {component.registration_id for component in kept}
    return AgentSurfaceSnapshot(
        surface_id=snapshot.surface_id,
        surface_version=snapshot.surface_version,
        captured_at=snapshot.captured_at,
        components=kept,
        procedures=tuple(item for item in snapshot.procedures if item.registration_id in registrations),
        route=snapshot.route,
        dropped_components=len(snapshot.components) - keep,
    )
