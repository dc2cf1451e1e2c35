"""Phases 3 and 4: can it be used now, and may this consumer use it."""

from __future__ import annotations

from collections.abc import Awaitable

from agent_surface._failures import not_available, not_found
from agent_surface._pipeline._call import Call
from agent_surface._pipeline._policy_context import PolicyContexts
from agent_surface._registrations._live import DEFAULT_REASON, reason_text
from agent_surface.policies import DiscoveryOutcome, evaluate_discovery, run_chain


def check_availability(call: Call) -> None:
    """Phase 3: the capability can be used at this very moment.

    Raises:
        AgentCapabilityError: ``CAPABILITY_NOT_AVAILABLE`` with the descriptor's reason.
    """
    availability = call.capability.availability()
    if not availability.available:
        raise not_available(availability.reason or DEFAULT_REASON)


def authorize(call: Call, contexts: PolicyContexts) -> Awaitable[object] | None:
    """Phase 4: discovery once more, then the authorization chain, with no input in sight (AS-INVOKE-001).

    Returns:
        ``None`` when everybody agreed without awaiting, else what has to be awaited.

    Raises:
        AgentCapabilityError: A policy refused, or discovery disables the capability.
    """
    live = call.capability
    chain = live.chain
    if not chain.discovery and not chain.authorize:
        return None
    # One context for both questions: the answers are about one moment, and the host is asked once.
    context = contexts.policy(live, call.consumer)
    if chain.discovery:
        decision = evaluate_discovery(chain, context)
        if decision.outcome is DiscoveryOutcome.HIDE:
            raise not_found()
        if decision.outcome is DiscoveryOutcome.DISABLE:
            raise not_available(reason_text(decision.reason, live.capability_id))
    return run_chain(chain.authorize, context) if chain.authorize else None
