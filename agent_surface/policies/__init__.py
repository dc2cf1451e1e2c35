"""Policies: who may see, who may call, and when a person must be asked.

Above: registrations, the pipeline and the snapshot evaluate chains. Below: failures, invocation values, ports.
"""

from agent_surface.policies._builtin import (
    audit,
    authenticated,
    environment,
    has_permission,
    rate_limit,
    require_confirmation,
    tenant_boundary,
)
from agent_surface.policies._chain import PolicyChain, compose_policies, evaluate_discovery, run_chain
from agent_surface.policies._policy import (
    EXPOSE,
    HIDE,
    AgentEnvironment,
    AgentPolicy,
    CallNext,
    DiscoveryDecision,
    DiscoveryOutcome,
    InvokeContext,
    PolicyAttachment,
    PolicyContext,
    PolicyPhase,
    PolicyScope,
    disable,
    policy_phases,
)
from agent_surface.policies._take_over import TakeOver

__all__ = [
    "EXPOSE",
    "HIDE",
    "AgentEnvironment",
    "AgentPolicy",
    "CallNext",
    "DiscoveryDecision",
    "DiscoveryOutcome",
    "InvokeContext",
    "PolicyAttachment",
    "PolicyChain",
    "PolicyContext",
    "PolicyPhase",
    "PolicyScope",
    "TakeOver",
    "audit",
    "authenticated",
    "compose_policies",
    "disable",
    "environment",
    "evaluate_discovery",
    "has_permission",
    "policy_phases",
    "rate_limit",
    "require_confirmation",
    "run_chain",
    "tenant_boundary",
]
