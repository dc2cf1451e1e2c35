"""From a verified binding to live capabilities."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._registrations._live import LiveCapability, Registration
from agent_surface.contracts._checks import DEFAULT_LIMITS, check_description, check_meta_size
from agent_surface.contracts._procedures import PROCEDURE_BINDING_PROOFS
from agent_surface.errors import AgentSurfaceDefinitionError
from agent_surface.ids import format_view_capability_id
from agent_surface.policies import AgentPolicy, compose_policies
from agent_surface.schemas import AgentSchema, check_schema_subset

logger = logging.getLogger("agent_surface.registrations")


def prepare_capabilities(
    registration: Registration,
    *,
    limits: AgentSurfaceLimits,
    policies: Sequence[AgentPolicy],
    procedure_paths: Collection[str],
    announce_missing: bool,
) -> dict[str, LiveCapability]:
    """The live capabilities of a registration, by id.

    Args:
        registration: Whose.
        limits: Of the registry; a contract within the default limits can still be beyond a registry's own.
        policies: The registry's own, outermost.
        procedure_paths: What the executor can run; a reference to anything else registers nothing (AS-BIND-003).
        announce_missing: Whether such a reference is worth a line in the log.

    Raises:
        AgentSurfaceDefinitionError: A description is beyond the registry's limits.
    """
    bound = registration.bound
    contract = bound.seal.contract
    check_description(contract.description, limits.max_component_description, contract.type)
    check_meta_size(contract.meta, limits.max_meta_bytes, contract.type)
    capabilities: dict[str, LiveCapability] = {}
    for name, observation in contract.observations.items():
        observation_binding = bound.observations[name]
        capability_id = format_view_capability_id(contract.type, name)
        capabilities[capability_id] = LiveCapability(
            registration=registration,
            capability_id=capability_id,
            name=name,
            contract=observation,
            binding=observation_binding,
            chain=compose_policies(policies, bound.policies, observation_binding.policies),
            default_timeout_ms=limits.observation_timeout_ms,
        )
    for name, action in contract.actions.items():
        action_binding = bound.actions[name]
        capability_id = format_view_capability_id(contract.type, name)
        capabilities[capability_id] = LiveCapability(
            registration=registration,
            capability_id=capability_id,
            name=name,
            contract=action,
            binding=action_binding,
            chain=compose_policies(policies, bound.policies, action_binding.policies),
            default_timeout_ms=limits.action_timeout_ms,
        )
    for reference in bound.procedures:
        sealed = PROCEDURE_BINDING_PROOFS.find(reference)
        if sealed is None:
            continue
        procedure = sealed.seal.contract
        if procedure.path not in procedure_paths:
            if announce_missing:
                logger.warning(
                    "%s refers to %s, but no installed executor runs that path; the reference is left out",
                    contract.type,
                    procedure.id,
                )
            continue
        capabilities[procedure.id] = LiveCapability(
            registration=registration,
            capability_id=procedure.id,
            name=procedure.path,
            contract=procedure,
            binding=sealed,
            chain=compose_policies(policies, bound.policies, sealed.policies),
            default_timeout_ms=limits.procedure_timeout_ms,
        )
    for live in capabilities.values():
        check_limits(live, limits)
    return capabilities


def check_limits(live: LiveCapability, limits: AgentSurfaceLimits) -> None:
    """Hold a capability to the limits of this registry; it was held to the usual ones when it was declared."""
    check_description(live.description, limits.max_capability_description, live.capability_id)
    check_meta_size(live.meta, limits.max_meta_bytes, live.capability_id)
    if (
        limits.max_schema_bytes >= DEFAULT_LIMITS.max_schema_bytes
        and limits.max_schema_depth >= DEFAULT_LIMITS.max_schema_depth
    ):
        return
    schemas: tuple[AgentSchema[object] | None, ...] = (live.input, live.output)
    for schema in schemas:
        if schema is None:
            continue
        try:
            check_schema_subset(
                schema.json_schema, max_depth=limits.max_schema_depth, max_bytes=limits.max_schema_bytes
            )
        except AgentSurfaceDefinitionError as error:
            raise AgentSurfaceDefinitionError(
                error.code, f"a schema of {live.capability_id}: {error}", subject=live.capability_id, path=error.path
            ) from error
