"""How a tool without a component is put before the pipeline: as the one capability of a registration of its own."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._registrations import LiveCapability, Registration
from agent_surface._registrations._prepare import check_limits
from agent_surface.contracts import AgentComponentContract, BoundComponent, BoundExternalTool
from agent_surface.contracts._components import ComponentSeal
from agent_surface.contracts._external import EXTERNAL
from agent_surface.policies import AgentPolicy, compose_policies


def register_tool(
    tool: BoundExternalTool, registration_id: str, *, policies: Sequence[AgentPolicy], limits: AgentSurfaceLimits
) -> Registration:
    """A registration that holds exactly this tool.

    Args:
        tool: Verified against the manifest by the caller.
        registration_id: Issued by the store it goes to.
        policies: The gateway's own, outermost.
        limits: Of the gateway.

    Raises:
        AgentSurfaceDefinitionError: The tool is beyond the gateway's limits.
    """
    contract = tool.seal.contract
    # No proof is made for this component: the pipeline asks for none, and a registry would refuse it.
    component = AgentComponentContract(
        type=EXTERNAL,
        description=contract.description,
        observations=MappingProxyType({}),
        actions=MappingProxyType({}),
        meta=MappingProxyType({}),
        origin=contract.origin,
        priority=0,
        parent_type=None,
        policies=(),
        tags=(),
    )
    path = contract.id.partition(":")[2]
    registration = Registration(
        registration_id,
        BoundComponent(
            seal=ComponentSeal(record=tool.seal.record, contract=component),
            instance_id=path,
            observations=MappingProxyType({}),
            actions=MappingProxyType({}),
            procedures=(),
            parent=None,
            internal=MappingProxyType({}),
            policies=(),
            enabled=True,
            availability=None,
        ),
    )
    live = LiveCapability(
        registration=registration,
        capability_id=contract.id,
        name=path,
        contract=contract,
        binding=tool.binding,
        chain=compose_policies(policies, (), tool.binding.policies),
        default_timeout_ms=limits.procedure_timeout_ms,
    )
    check_limits(contract, contract.id, limits)
    registration.capabilities = {contract.id: live}
    return registration
