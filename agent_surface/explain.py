"""Why a consumer sees what it sees: for developers, never for agents.

The snapshot answers what an agent may call, and deletes what a policy hides together with the reason. The explanation
answers why. It is reached by importing this module and in no other way: not from the package root, not through a
toolset or any other adapter (AS-EXPLAIN-004).

Above: developer tools such as an inspector. Below: the registry's internals.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_surface._base._json import JsonValue
from agent_surface._registrations import LiveCapability
from agent_surface._registrations._live import reason_text
from agent_surface._snapshot import SnapshotContext
from agent_surface.invocation import Availability, CapabilityKind, ComponentRef, Plane
from agent_surface.policies import DiscoveryDecision, DiscoveryOutcome, PolicyContext, PolicyPhase, PolicyScope
from agent_surface.policies._chain import DiscoveryVote, compose_votes, discovery_vote
from agent_surface.registry import AgentSurfaceRegistry
from agent_surface.registry._internals import require_internals

__all__ = ["CapabilityExplanation", "PolicyExplanation", "SurfaceExplanation", "explain_surface"]


def explain_surface(registry: AgentSurfaceRegistry, context: SnapshotContext | None = None) -> SurfaceExplanation:
    """Report every capability a registry holds, the hidden ones too, with what each policy said.

    Every ``on_discovery`` is asked again, also those the snapshot stopped before; they are synchronous, cheap and
    without side effect by contract. Votes are composed by the very function the snapshot uses.

    Args:
        registry: A live registry, on its own thread.
        context: Its consumer and scope count. ``include_unavailable`` and ``budget`` do not: withholding is the one
            thing an explanation must not do.

    Raises:
        AgentSurfaceError: ``registry`` was not made by ``create_agent_surface_registry``.
        RegistryClosedError: It was closed. An empty explanation would look like an empty surface.
        WrongThreadError: The calling thread does not own it.
    """
    internals = require_internals(registry, "explain_surface")
    wanted = context if context is not None else SnapshotContext()
    host = internals.contexts.host()
    registrations = sorted(
        (registration for registration in internals.store if wanted.covers(registration.type)),
        key=lambda item: (-item.bound.seal.contract.priority, item.type, item.instance_id),
    )
    return SurfaceExplanation(
        surface_id=registry.surface_id,
        surface_version=registry.version,
        capabilities=tuple(
            _explain(live, internals.contexts.policy(live, wanted.consumer, host))
            for registration in registrations
            for live in sorted(registration, key=lambda item: item.capability_id)
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyExplanation:
    """One policy of a capability's chain.

    Attributes:
        name: The policy's name.
        scope: Where it was attached.
        phases: In which phases it acts.
        discovery: Its own vote, whatever the others said; ``hide`` for one that did not decide, ``None`` for one that
            does not act in discovery.
        threw: Whether it raised when it was asked, which hides.
    """

    name: str
    scope: PolicyScope
    phases: tuple[PolicyPhase, ...]
    discovery: DiscoveryDecision | None = None
    threw: bool = False

    def to_json(self) -> dict[str, JsonValue]:
        """The policy as a fresh JSON object with camelCase keys."""
        result: dict[str, JsonValue] = {"name": self.name, "scope": self.scope, "phases": [*self.phases]}
        if self.discovery is not None:
            vote: dict[str, JsonValue] = {"outcome": self.discovery.outcome.value}
            if self.discovery.reason is not None:
                vote["reason"] = self.discovery.reason
            result["discovery"] = vote
        if self.threw:
            result["threw"] = True
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityExplanation:
    """One capability of one live component, and why the consumer sees it the way it does.

    Attributes:
        capability_id: Its id.
        kind: Observation, action or procedure.
        plane: View or domain.
        description: What the author wrote; a hidden capability has no snapshot entry to read it from.
        registration_id: The live component's registration.
        component: The live component.
        outcome: The composed vote. ``hide`` means that the snapshot does not have the capability.
        reason: What the agent is told, with ``disable``.
        policies: The chain in its order, registry first.
        availability: What the state allows, apart from every policy.
    """

    capability_id: str
    kind: CapabilityKind
    plane: Plane
    description: str
    registration_id: str
    component: ComponentRef
    outcome: DiscoveryOutcome
    reason: str | None
    policies: tuple[PolicyExplanation, ...]
    availability: Availability

    def to_json(self) -> dict[str, JsonValue]:
        """The capability as a fresh JSON object with camelCase keys."""
        result: dict[str, JsonValue] = {
            "capabilityId": self.capability_id,
            "kind": self.kind.value,
            "plane": self.plane.value,
            "description": self.description,
            "registrationId": self.registration_id,
            "component": self.component.to_json(),
            "outcome": self.outcome.value,
        }
        if self.reason is not None:
            result["reason"] = self.reason
        result["policies"] = [policy.to_json() for policy in self.policies]
        availability: dict[str, JsonValue] = {"available": self.availability.available}
        if self.availability.reason is not None:
            availability["reason"] = self.availability.reason
        result["availability"] = availability
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceExplanation:
    """Everything a registry holds in scope, for one consumer.

    Attributes:
        surface_id: The registry's.
        surface_version: The version that was explained.
        capabilities: In the order of the snapshot's components, then by id.
    """

    surface_id: str
    surface_version: str
    capabilities: tuple[CapabilityExplanation, ...]

    def to_json(self) -> dict[str, JsonValue]:
        """The explanation as a fresh JSON object with camelCase keys."""
        return {
            "surfaceId": self.surface_id,
            "surfaceVersion": self.surface_version,
            "capabilities": [item.to_json() for item in self.capabilities],
        }


def _explain(live: LiveCapability, context: PolicyContext) -> CapabilityExplanation:
    # The chain keeps the hooks it looked up at registration, in the order of the policies that have them.
    votes = [discovery_vote(name, hook, context) for name, hook in live.chain.discovery]
    composed = compose_votes(vote.decision for vote in votes)
    return CapabilityExplanation(
        capability_id=live.capability_id,
        kind=live.kind,
        plane=live.plane,
        description=live.description,
        registration_id=live.registration.registration_id,
        component=live.registration.ref,
        outcome=composed.outcome,
        reason=(
            reason_text(composed.reason, live.capability_id) if composed.outcome is DiscoveryOutcome.DISABLE else None
        ),
        policies=_policies(live, votes),
        availability=live.availability(),
    )


def _policies(live: LiveCapability, votes: list[DiscoveryVote]) -> tuple[PolicyExplanation, ...]:
    remaining = iter(votes)
    explained: list[PolicyExplanation] = []
    for attached in live.chain.attached:
        vote = next(remaining) if "discovery" in attached.phases else None
        explained.append(
            PolicyExplanation(
                name=attached.policy.name,
                scope=attached.scope,
                phases=attached.phases,
                discovery=None if vote is None else vote.decision,
                threw=vote is not None and vote.threw,
            )
        )
    return tuple(explained)
