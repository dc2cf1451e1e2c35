"""What a policy is, and what it may know."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias

from agent_surface._base._json import FrozenJson
from agent_surface._base._ports import Clock
from agent_surface.invocation import AgentConsumer, CapabilityKind, Effect, Plane

AgentEnvironment: TypeAlias = Literal["development", "production", "test"]
PolicyPhase: TypeAlias = Literal["discovery", "authorize", "invoke"]
PolicyScope: TypeAlias = Literal["registry", "component", "capability"]


class DiscoveryOutcome(StrEnum):
    """A policy's vote on what a consumer sees."""

    EXPOSE = "expose"
    DISABLE = "disable"
    HIDE = "hide"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryDecision:
    """A vote; ``reason`` is agent-visible and only meaningful with ``disable``."""

    outcome: DiscoveryOutcome
    reason: str | None = None


EXPOSE = DiscoveryDecision(outcome=DiscoveryOutcome.EXPOSE)
HIDE = DiscoveryDecision(outcome=DiscoveryOutcome.HIDE)


def disable(reason: str) -> DiscoveryDecision:
    """Vote to list a capability as unusable right now, with a reason the agent can plan with."""
    return DiscoveryDecision(outcome=DiscoveryOutcome.DISABLE, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyContext:
    """What a policy may know before there is input.

    Attributes:
        capability_id: The capability in question.
        plane: Its plane.
        kind: Its kind.
        effect: Its effect.
        registration_id: The live component's registration.
        consumer: Who asks.
        host: The application's context, read-only.
        component_meta: Agent-visible meta of the component.
        capability_meta: Agent-visible meta of the capability.
        internal: The registration's internal values; never agent-visible.
        environment: Of the registry.
        clock: The registry's clock; the only time a policy should look at.
    """

    capability_id: str
    plane: Plane
    kind: CapabilityKind
    effect: Effect
    registration_id: str
    consumer: AgentConsumer
    host: Mapping[str, object]
    component_meta: Mapping[str, FrozenJson]
    capability_meta: Mapping[str, FrozenJson]
    internal: Mapping[str, object]
    environment: AgentEnvironment
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationDemand:
    """That a policy wants a person asked; it can only raise what the capability demands."""

    summary: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeContext(PolicyContext):
    """What a policy may know once the effective input is validated.

    Attributes:
        effective_input: Bound and supplied values together, frozen; never the agent's raw input.
    """

    effective_input: FrozenJson
    demands: list[ConfirmationDemand] = field(default_factory=list[ConfirmationDemand])

    def require_confirmation(self, summary: str | None = None) -> None:
        """Ask a person before this call executes.

        Args:
            summary: Plain text for the person, at most 300 characters; composed when absent.
        """
        # Whatever a policy says in place of a text, the person is asked.
        self.demands.append(ConfirmationDemand(summary=summary if isinstance(summary, str) else None))


class Passed:
    """What ``call_next`` returns when every inner policy agreed; may be returned or awaited."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, Passed]:
        return self
        yield


PASSED = Passed()
CallNext: TypeAlias = Callable[[], Awaitable[Passed]]
PolicyVerdict: TypeAlias = Awaitable[object]


class AgentPolicy(Protocol):
    """A named rule.

    Besides ``name`` it has any of these methods, looked up once at registration:

    * ``on_discovery(context: PolicyContext) -> DiscoveryDecision``: synchronous, cheap, without side effect;
    * ``on_authorize(context: PolicyContext, call_next)``: phase 4, no input in sight;
    * ``on_invoke(context: InvokeContext, call_next)``: phase 6, the validated effective input.

    The last two are ``def`` or ``async def``. They pass by returning ``call_next()`` and refuse by raising
    ``AgentCapabilityError``. Anything else, a second ``call_next()`` or another exception, refuses.
    """

    @property
    def name(self) -> str:
        """The policy's name, as a contract's attachment knows it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyAttachment:
    """A contract's demand that a policy of this name guards the capability in these phases.

    Attributes:
        name: The policy's name.
        phases: The phases it must act in.
        parameters: JSON that the policy's own ``parameters`` must equal, when it has any.
    """

    name: str
    phases: tuple[PolicyPhase, ...] = ("authorize",)
    parameters: Mapping[str, FrozenJson] = field(default_factory=lambda: MappingProxyType({}))


_METHODS: Mapping[PolicyPhase, str] = MappingProxyType(
    {"discovery": "on_discovery", "authorize": "on_authorize", "invoke": "on_invoke"}
)


def policy_phases(policy: AgentPolicy) -> tuple[PolicyPhase, ...]:
    """The phases in which a policy acts."""
    return tuple(phase for phase, method in _METHODS.items() if callable(getattr(policy, method, None)))
