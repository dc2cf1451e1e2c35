"""Composition: the most restrictive vote at discovery, an onion with the registry outermost at invocation."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from agent_surface._base._awaitables import abandon
from agent_surface._base._user_errors import USER_ERRORS
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
    disable,
    policy_phases,
)

logger = logging.getLogger("agent_surface.policies")

_OUTCOMES = frozenset(DiscoveryOutcome)

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


NO_POLICIES: Final = PolicyChain(attached=(), discovery=(), authorize=(), invoke=())
"""The chain of a capability that nothing guards."""


def compose_policies(
    registry: Sequence[AgentPolicy], component: Sequence[AgentPolicy], capability: Sequence[AgentPolicy]
) -> PolicyChain:
    """The chain of one capability: registry, then component, then capability."""
    if not registry and not component and not capability:
        return NO_POLICIES
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
    """What this consumer sees; policies after the first that hides are not asked."""
    return compose_votes(discovery_vote(name, hook, context).decision for name, hook in chain.discovery)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryVote:
    """What one policy said, and what it counts as.

    Attributes:
        decision: What counts: ``HIDE`` for a policy that did not decide.
        threw: Whether it raised.
    """

    decision: DiscoveryDecision
    threw: bool = False


_HIDDEN = DiscoveryVote(decision=HIDE)
_THREW = DiscoveryVote(decision=HIDE, threw=True)
_EXPOSED = DiscoveryVote(decision=EXPOSE)


def discovery_vote(name: str, hook: Hook, context: PolicyContext) -> DiscoveryVote:
    """Ask one policy; one that throws, or returns no decision, hides."""
    try:
        vote = hook(context)
    except USER_ERRORS:
        logger.exception("policy %s raised during discovery of %s; hidden", name, context.capability_id)
        return _THREW
    if vote is EXPOSE:
        return _EXPOSED
    # Compared by value, and only what is known to expose exposes: a text in place of the member still counts.
    if not isinstance(vote, DiscoveryDecision) or not _is_outcome(vote.outcome):
        abandon(vote)
        logger.error("policy %s returned no DiscoveryDecision for %s; hidden", name, context.capability_id)
        return _HIDDEN
    if vote.outcome == DiscoveryOutcome.HIDE:
        return _HIDDEN
    if vote.outcome == DiscoveryOutcome.DISABLE:
        return DiscoveryVote(decision=disable(vote.reason if isinstance(vote.reason, str) else ""))
    return _EXPOSED


def compose_votes(decisions: Iterable[DiscoveryDecision]) -> DiscoveryDecision:
    """Any hide wins, else the first disable, else expose; stops at the first hide."""
    outcome = EXPOSE
    for decision in decisions:
        if decision.outcome is DiscoveryOutcome.HIDE:
            return HIDE
        if decision.outcome is DiscoveryOutcome.DISABLE and outcome is EXPOSE:
            outcome = decision
    return outcome


def _is_outcome(value: object) -> bool:
    return isinstance(value, str) and value in _OUTCOMES


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
    inner = _Inner(name, lambda: _step(hooks, index + 1, context))
    try:
        outcome = hook(context, inner)
    except AgentCapabilityError as error:
        inner.close()
        raise _attributed(error, name) from error.__cause__
    except USER_ERRORS as error:
        inner.close()
        logger.exception("policy %s raised on %s; refused", name, context.capability_id)
        raise _undecided(name) from error
    if outcome is PASSED and inner.agreed:
        return PASSED
    if outcome is not PASSED and inspect.isawaitable(outcome):
        return _Verdict(name, outcome, inner, context)
    inner.close()
    logger.error("policy %s returned neither call_next() nor a refusal on %s; refused", name, context.capability_id)
    raise _undecided(name)


class _Inner:
    """``call_next`` of one policy, and what became of the policies inside it.

    What it returned is not enough to go by: a policy may have kept it from another call, or never awaited it.
    """

    __slots__ = ("_called", "_name", "_next", "_passed", "_verdict")

    def __init__(self, name: str, following: Callable[[], Awaitable[object]]) -> None:
        self._name = name
        self._next = following
        self._called = False
        self._passed = False
        self._verdict: _Verdict | None = None

    def __call__(self) -> Awaitable[object]:
        if self._called:
            raise AgentSurfaceError(f"policy {self._name} called call_next twice")
        self._called = True
        outcome = self._next()
        if isinstance(outcome, _Verdict):
            self._verdict = outcome
        else:
            self._passed = True
        return outcome

    @property
    def agreed(self) -> bool:
        """Whether every policy inside was asked and agreed."""
        return self._passed or (self._verdict is not None and self._verdict.passed)

    def close(self) -> None:
        """Give up what was to be awaited, if nobody began to."""
        if self._verdict is not None:
            self._verdict.close()


class _Verdict:
    """The verdict of a policy that awaits something. It begins when it is awaited, and can be closed before that."""

    __slots__ = ("_began", "_context", "_inner", "_name", "_outcome", "passed")

    def __init__(self, name: str, outcome: Awaitable[object], inner: _Inner, context: PolicyContext) -> None:
        self._name = name
        self._outcome = outcome
        self._inner = inner
        self._context = context
        self._began = False
        self.passed = False

    def __await__(self) -> Generator[object, None, object]:
        self._began = True
        return self._settle().__await__()

    def close(self) -> None:
        """Give up the policy's coroutine, and those inside it, unless it has begun."""
        if not self._began:
            self._began = True
            abandon(self._outcome)
            self._inner.close()

    async def _settle(self) -> object:
        name, capability_id = self._name, self._context.capability_id
        try:
            verdict: object = self._outcome
            # ``async def`` policies may return ``call_next()`` without awaiting it.
            while verdict is not PASSED and inspect.isawaitable(verdict):
                verdict = await verdict
        except AgentCapabilityError as error:
            raise _attributed(error, name) from error.__cause__
        except Exception as error:
            logger.exception("policy %s raised on %s; refused", name, capability_id)
            raise _undecided(name) from error
        finally:
            self._inner.close()
        if verdict is not PASSED or not self._inner.agreed:
            logger.error("policy %s returned neither call_next() nor a refusal on %s; refused", name, capability_id)
            raise _undecided(name)
        self.passed = True
        return PASSED


def _attributed(error: AgentCapabilityError, name: str) -> AgentCapabilityError:
    """The same refusal, with the policy that made it for the log; the innermost name stays."""
    if "policy" in error.log_facts:
        return error
    return AgentCapabilityError(error.payload, log_facts={**error.log_facts, "policy": name})


def _undecided(name: str) -> AgentCapabilityError:
    return not_authorized({"policy": name, "cause": "policy did not decide"})
