"""What a registry holds, as one consumer sees it: the rows of the tree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agent_surface import (
    ActionDescriptor,
    AgentConsumer,
    AgentSurfaceRegistry,
    ComponentDescriptor,
    ConsumerKind,
    ObservationDescriptor,
    ProcedureDescriptor,
    SnapshotContext,
)
from agent_surface.explain import CapabilityExplanation, explain_surface
from agent_surface.policies import DiscoveryOutcome

Descriptor = ObservationDescriptor | ActionDescriptor | ProcedureDescriptor


class Sight(StrEnum):
    """How a consumer sees a capability; the first that applies, from the bottom up."""

    AVAILABLE = "available"
    UNAVAILABLE = "unavailable"
    DISABLED = "disabled"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityRow:
    """A capability of a live component.

    Attributes:
        key: Its id; unique in its component.
        name: What is left of the id beside the component's type.
        sight: How the consumer sees it.
        reason: Why it cannot be used, as the consumer is told; a policy's own words where the consumer is told nothing.
        explanation: Everything that is known.
    """

    key: str
    name: str
    sight: Sight
    reason: str
    explanation: CapabilityExplanation


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRow:
    """A live component with all its capabilities, hidden ones too. ``key`` is the registration id."""

    key: str
    type: str
    instance_id: str
    capabilities: tuple[CapabilityRow, ...]

    @property
    def usable(self) -> int:
        """How many capabilities the consumer can use now."""
        return sum(row.sight is Sight.AVAILABLE for row in self.capabilities)


def read_surface(registry: AgentSurfaceRegistry, consumer: AgentConsumer) -> tuple[ComponentRow, ...]:
    """Every live component, in the order of the snapshot.

    Raises:
        RegistryClosedError: The registry was closed.
    """
    found: dict[str, list[CapabilityExplanation]] = {}
    for one in explain_surface(registry, SnapshotContext(consumer=consumer)).capabilities:
        found.setdefault(one.registration_id, []).append(one)
    return tuple(
        ComponentRow(
            key=key,
            type=of_one[0].component.type,
            instance_id=of_one[0].component.instance_id,
            capabilities=tuple(_capability_row(one) for one in of_one),
        )
        for key, of_one in found.items()
    )


def find_descriptor(
    registry: AgentSurfaceRegistry, consumer: AgentConsumer, explanation: CapabilityExplanation
) -> Descriptor | None:
    """What ``consumer`` is told of a capability; ``None`` when it is hidden from it or gone."""
    snapshot = registry.snapshot(SnapshotContext(consumer=consumer, scope=(explanation.component.type,)))
    candidates: list[Descriptor] = [
        *(
            descriptor
            for component in snapshot.components
            if component.registration_id == explanation.registration_id
            for descriptor in _view_descriptors(component)
        ),
        *(one for one in snapshot.procedures if one.registration_id == explanation.registration_id),
    ]
    return next((one for one in candidates if one.capability_id == explanation.capability_id), None)


def _view_descriptors(component: ComponentDescriptor) -> tuple[Descriptor, ...]:
    return (*component.observations, *component.actions)


def parse_consumer(text: str) -> AgentConsumer | None:
    """A consumer from ``kind:id grant grant``; without a kind it is an embedded one. ``None`` for anything else."""
    name, *grants = text.split() or [""]
    kind, separator, consumer_id = name.partition(":")
    if not separator:
        kind, consumer_id = ConsumerKind.EMBEDDED.value, name
    if not consumer_id or len(consumer_id) > 128 or kind not in set(ConsumerKind):
        return None
    return AgentConsumer(id=consumer_id, kind=ConsumerKind(kind), grants=tuple(grants))


def consumer_text(consumer: AgentConsumer) -> str:
    """A consumer in the form that :func:`parse_consumer` reads."""
    return " ".join((consumer.key, *consumer.grants))


def _capability_row(one: CapabilityExplanation) -> CapabilityRow:
    sight, reason = Sight.AVAILABLE, ""
    if not one.availability.available:
        sight, reason = Sight.UNAVAILABLE, one.availability.reason or ""
    if one.outcome is DiscoveryOutcome.DISABLE:
        sight, reason = Sight.DISABLED, one.reason or ""
    elif one.outcome is DiscoveryOutcome.HIDE:
        hiding = [
            policy
            for policy in one.policies
            if policy.threw or (policy.discovery is not None and policy.discovery.outcome is DiscoveryOutcome.HIDE)
        ]
        sight, reason = Sight.HIDDEN, ", ".join(policy.name for policy in hiding)
    return CapabilityRow(key=one.capability_id, name=_short_name(one), sight=sight, reason=reason, explanation=one)


def _short_name(one: CapabilityExplanation) -> str:
    _, _, path = one.capability_id.partition(":")
    return path.removeprefix(f"{one.component.type}.") or one.capability_id
