"""What policies and handlers are told of a call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType

from agent_surface._base._ports import Clock
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface._pipeline._call import Call
from agent_surface._registrations import LiveCapability
from agent_surface.invocation import AgentConsumer
from agent_surface.policies import (
    AgentEnvironment,
    DiscoveryDecision,
    DiscoveryOutcome,
    InvokeContext,
    PolicyContext,
    evaluate_discovery,
)
from agent_surface.policies._policy import EXPOSE

logger = logging.getLogger("agent_surface.pipeline")

NO_HOST: Mapping[str, object] = MappingProxyType({})


class PolicyContexts:
    """Makes contexts; the application's host context is asked lazily and contained."""

    def __init__(
        self,
        *,
        clock: Clock,
        environment: AgentEnvironment,
        host_context: Callable[[], Mapping[str, object]] | None,
    ) -> None:
        self._clock = clock
        self._environment: AgentEnvironment = environment
        self._host_context = host_context

    def host(self) -> Mapping[str, object]:
        """The application's context, read-only; empty when asking for it fails, so that policies refuse."""
        if self._host_context is None:
            return NO_HOST
        try:
            return MappingProxyType(dict(self._host_context()))
        except USER_ERRORS:
            logger.exception("the host context raised; policies see none")
            return NO_HOST

    def policy(
        self, live: LiveCapability, consumer: AgentConsumer, host: Mapping[str, object] | None = None
    ) -> PolicyContext:
        """What a policy may know before there is input."""
        bound = live.registration.bound
        return PolicyContext(
            capability_id=live.capability_id,
            plane=live.plane,
            kind=live.kind,
            effect=live.effect,
            registration_id=live.registration.registration_id,
            consumer=consumer,
            host=self.host() if host is None else host,
            component_meta=bound.seal.contract.meta,
            capability_meta=live.meta,
            internal=bound.internal,
            environment=self._environment,
            clock=self._clock,
        )

    def invoke(self, call: Call) -> InvokeContext:
        """What a policy may know once the effective input is validated."""
        live = call.capability
        bound = live.registration.bound
        return InvokeContext(
            capability_id=live.capability_id,
            plane=live.plane,
            kind=live.kind,
            effect=live.effect,
            registration_id=live.registration.registration_id,
            consumer=call.consumer,
            host=self.host(),
            component_meta=bound.seal.contract.meta,
            capability_meta=live.meta,
            internal=bound.internal,
            environment=self._environment,
            clock=self._clock,
            effective_input=call.effective_input,
        )

    def discovery(
        self, live: LiveCapability, consumer: AgentConsumer, host: Mapping[str, object] | None = None
    ) -> DiscoveryDecision:
        """The composed vote on what this consumer sees of the capability."""
        if not live.chain.discovery:
            return EXPOSE
        return evaluate_discovery(live.chain, self.policy(live, consumer, host))

    def hides(self, call: Call, live: LiveCapability) -> bool:
        """Whether the capability does not exist for this consumer."""
        return bool(live.chain.discovery) and self.discovery(live, call.consumer).outcome is DiscoveryOutcome.HIDE
