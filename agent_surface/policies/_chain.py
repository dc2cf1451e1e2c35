"""Composition: the most restrictive vote at discovery, an onion with the registry outermost at invocation."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agent_surface._failures import not_authorized
from agent_surface.errors import AgentCapabilityError, AgentSurfaceError
from agent_surface.policies._policy import (
    EXPOSE,
    HIDE,
    PASSED,
    AgentPolicy,
    DiscoveryDecision,
    DiscoveryOutcome,
    PolicyContext,
    PolicyPhase,
    PolicyScope,
    policy_phases,
)

logger = logging.getLogger("agent_surface.policies")

Hook: TypeAlias = Callable[..., object]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedPolicy:
    """A policy with the scope it was attached at and the phases it acts in."""

    policy: AgentPolicy
    scope: PolicyScope
    phases: tuple[PolicyPhase, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChain:
    """The policies of one capability in their order, with the hooks of each phase looked up once."""

    attached: tuple[AttachedPolicy, ...]
    discovery: tuple[tuple[str, Hook], ...]
    authorize: tuple[tuple[str, Hook], ...]
    invoke: tuple[tuple[str, Hook], ...]


def compose_policies(
    registry: Sequence[AgentPolicy], component: Sequence[AgentPolicy], capability: Sequence[AgentPolicy]
) -> PolicyChain:
    """The chain of one capability: registry, then component, then capability."""
    scopes: tuple[tuple[PolicyScope, Sequence[AgentPolicy]], ...] = (
        ("registry", registry),
        ("component", component),
        ("capability", capability),
    )
    attached = tuple(
        AttachedPolicy(policy=policy, scope=scope, phases=policy_phases(policy))
        for scope, policies in scopes
        for policy in policies
    )

    def hooks(phase: PolicyPhase, method: str) -> tuple[tuple[str, Hook], ...]:
        return tuple((item.policy.name, getattr(item.policy, method)) for item in attached if phase in item.phases)

    return PolicyChain(
        attached=attached,
        discovery=hooks("discovery", "on_discovery"),
        authorize=hooks("authorize", "on_authorize"),
        invoke=hooks("invoke", "on_invoke"),
    )


def evaluate_discovery(chain: PolicyChain, context: PolicyContext) -> DiscoveryDecision:
    """What this consumer sees: any hide wins, else the first disable, else expose. A policy that throws hides."""
    outcome = EXPOSE
    for name, hook in chain.discovery:
        try:
            vote = hook(context)
        except Exception:
            logger.exception("policy %s raised during discovery of %s; hidden", name, context.capability_id)
            return HIDE
        if not isinstance(vote, DiscoveryDecision):
            logger.error("policy %s returned no DiscoveryDecision for %s; hidden", name, context.capability_id)
            return HIDE
        if vote.outcome is DiscoveryOutcome.HIDE:
            return HIDE
        if vote.outcome is DiscoveryOutcome.DISABLE and outcome is EXPOSE:
            outcome = vote
    return outcome


def run_chain(hooks: Sequence[tuple[str, Hook]], context: PolicyContext) -> Awaitable[object] | None:
    """Run the hooks of one phase, outermost first.

    Returns:
        ``None`` when all agreed without awaiting, else an awaitable that has not been started.

    Raises:
        AgentCapabilityError: A policy refused, here or when the awaitable is awaited.
    """
    outcome = _step(hooks, 0, context)
    return None if outcome is PASSED else outcome


def _step(hooks: Sequence[tuple[str, Hook]], index: int, context: PolicyContext) -> Awaitable[object]:
    if index == len(hooks):
        return PASSED
    name, hook = hooks[index]
    called = False

    def call_next() -> Awaitable[object]:
        nonlocal called
        if called:
            raise AgentSurfaceError(f"policy {name} called call_next twice")
        called = True
        return _step(hooks, index + 1, context)

    try:
        outcome = hook(context, call_next)
    except AgentCapabilityError as error:
        raise _attributed(error, name) from error.__cause__
    except Exception as error:
        logger.exception("policy %s raised on %s; refused", name, context.capability_id)
        raise _undecided(name) from error
    if outcome is PASSED:
        return PASSED
    if inspect.isawaitable(outcome):
        return _settle(name, outcome, context)
    logger.error("policy %s returned neither call_next() nor a refusal on %s; refused", name, context.capability_id)
    raise _undecided(name)


async def _settle(name: str, outcome: Awaitable[object], context: PolicyContext) -> object:
    try:
        verdict: object = outcome
        # ``async def`` policies may return ``call_next()`` without awaiting it.
        while verdict is not PASSED and inspect.isawaitable(verdict):
            verdict = await verdict
    except AgentCapabilityError as error:
        raise _attributed(error, name) from error.__cause__
    except Exception as error:
        logger.exception("policy %s raised on %s; refused", name, context.capability_id)
        raise _undecided(name) from error
    if verdict is not PASSED:
        logger.error("policy %s returned neither call_next() nor a refusal on %s; refused", name, context.capability_id)
        raise _undecided(name)
    return PASSED


def _attributed(error: AgentCapabilityError, name: str) -> AgentCapabilityError:
    """The same refusal, with the policy that made it for the log; the innermost name stays."""
    if "policy" in error.log_facts:
        return error
    return AgentCapabilityError(error.payload, log_facts={**error.log_facts, "policy": name})


def _undecided(name: str) -> AgentCapabilityError:
    return not_authorized({"policy": name, "cause": "policy did not decide"})
