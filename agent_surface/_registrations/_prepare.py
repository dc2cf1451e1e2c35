"""From a verified binding to live capabilities."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._provenance import ProofStore
from agent_surface._registrations._live import LiveCapability, Registration
from agent_surface.contracts import ActionBinding, BoundComponent, ObservationBinding, ProcedureBinding
from agent_surface.contracts._capabilities import ActionContract, ObservationContract
from agent_surface.contracts._checks import DEFAULT_LIMITS, check_description, check_meta_size
from agent_surface.contracts._components import ComponentSeal
from agent_surface.contracts._domain import DomainContract
from agent_surface.errors import AgentSurfaceDefinitionError
from agent_surface.ids import format_view_capability_id
from agent_surface.policies import AgentPolicy, PolicyChain, compose_policies
from agent_surface.schemas import AgentSchema, check_schema_subset

logger = logging.getLogger("agent_surface.registrations")

Contract: TypeAlias = ObservationContract[object] | ActionContract[object, object] | DomainContract[object, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """A capability of a contract, as every registration of it has it."""

    name: str
    capability_id: str
    contract: ObservationContract[object] | ActionContract[object, object]
    default_timeout_ms: int


class CapabilityPreparation:
    """Makes verified bindings into live capabilities, for one registry.

    What depends on the declaration alone is worked out once for each: a window of many rows registers the same one
    again and again.

    Args:
        limits: Of the registry; a contract within the default limits can still be beyond a registry's own.
        policies: The registry's own, outermost.
        announce_missing: Whether a reference to a procedure that nothing runs is worth a line in the log.
    """

    __slots__ = ("_announce_missing", "_declared", "_limits", "_policies")

    def __init__(self, *, limits: AgentSurfaceLimits, policies: Sequence[AgentPolicy], announce_missing: bool) -> None:
        self._limits = limits
        self._policies = policies
        self._announce_missing = announce_missing
        self._declared: ProofStore[tuple[_Declared, ...]] = ProofStore()

    def prepare(self, registration: Registration, procedure_paths: Collection[str]) -> dict[str, LiveCapability]:
        """The live capabilities of a registration, by id.

        Args:
            registration: Whose.
            procedure_paths: What the executor can run; a reference to anything else registers nothing (AS-BIND-003).

        Raises:
            AgentSurfaceDefinitionError: A description is beyond the registry's limits.
        """
        bound = registration.bound
        # Looked up for each registration, since a policy may be another by then; nearly all capabilities share it.
        shared = compose_policies(self._policies, bound.policies, ())
        capabilities: dict[str, LiveCapability] = {}
        for item in self._view_capabilities(bound.seal):
            binding: ObservationBinding | ActionBinding | None = (
                bound.observations.get(item.name)
                if isinstance(item.contract, ObservationContract)
                else bound.actions.get(item.name)
            )
            if binding is None:  # of a partial contract, and nothing contributes it now
                continue
            capabilities[item.capability_id] = LiveCapability(
                registration=registration,
                capability_id=item.capability_id,
                name=item.name,
                contract=item.contract,
                binding=binding,
                chain=self._chain(shared, bound, binding.policies),
                default_timeout_ms=item.default_timeout_ms,
            )
        for reference in bound.procedures:
            live = self._procedure(registration, reference, shared, procedure_paths)
            if live is not None:
                capabilities[live.capability_id] = live
        return capabilities

    def _chain(self, shared: PolicyChain, bound: BoundComponent, own: tuple[AgentPolicy, ...]) -> PolicyChain:
        return compose_policies(self._policies, bound.policies, own) if own else shared

    def _view_capabilities(self, seal: ComponentSeal) -> tuple[_Declared, ...]:
        """What a contract declares, once it is known to be within the limits."""
        known = self._declared.find(seal)
        if known is not None:
            return known
        contract, limits = seal.contract, self._limits
        check_description(contract.description, limits.max_component_description, contract.type)
        check_meta_size(contract.meta, limits.max_meta_bytes, contract.type)
        declared = (
            *(
                _declared(contract.type, name, observation, limits.observation_timeout_ms)
                for name, observation in contract.observations.items()
            ),
            *(
                _declared(contract.type, name, action, limits.action_timeout_ms)
                for name, action in contract.actions.items()
            ),
        )
        for item in declared:
            check_limits(item.contract, item.capability_id, limits)
        self._declared.attest(seal, declared)
        return declared

    def _procedure(
        self,
        registration: Registration,
        reference: ProcedureBinding,
        shared: PolicyChain,
        procedure_paths: Collection[str],
    ) -> LiveCapability | None:
        bound = registration.bound
        procedure = reference.seal.contract
        if procedure.path not in procedure_paths:
            if self._announce_missing:
                logger.warning(
                    "%s refers to %s, but no installed executor runs that path; the reference is left out",
                    registration.type,
                    procedure.id,
                )
            return None
        check_limits(procedure, procedure.id, self._limits)
        return LiveCapability(
            registration=registration,
            capability_id=procedure.id,
            name=procedure.path,
            contract=procedure,
            binding=reference,
            chain=self._chain(shared, bound, reference.policies),
            default_timeout_ms=self._limits.procedure_timeout_ms,
        )


def _declared(
    component_type: str,
    name: str,
    contract: ObservationContract[object] | ActionContract[object, object],
    default_timeout_ms: int,
) -> _Declared:
    return _Declared(
        name=name,
        capability_id=format_view_capability_id(component_type, name),
        contract=contract,
        default_timeout_ms=default_timeout_ms,
    )


def check_limits(contract: Contract, capability_id: str, limits: AgentSurfaceLimits) -> None:
    """Hold a capability to the limits of this registry; it was held to the usual ones when it was declared."""
    check_description(contract.description, limits.max_capability_description, capability_id)
    check_meta_size(contract.meta, limits.max_meta_bytes, capability_id)
    if (
        limits.max_schema_bytes >= DEFAULT_LIMITS.max_schema_bytes
        and limits.max_schema_depth >= DEFAULT_LIMITS.max_schema_depth
    ):
        return
    schemas: tuple[AgentSchema[object] | None, ...] = (
        None if isinstance(contract, ObservationContract) else contract.input,
        contract.output,
    )
    for schema in schemas:
        if schema is None:
            continue
        try:
            check_schema_subset(
                schema.json_schema, max_depth=limits.max_schema_depth, max_bytes=limits.max_schema_bytes
            )
        except AgentSurfaceDefinitionError as error:
            raise AgentSurfaceDefinitionError(
                error.code, f"a schema of {capability_id}: {error}", subject=capability_id, path=error.path
            ) from error
