"""An authority for the contracts a test declares."""

from __future__ import annotations

from agent_surface._manifest import DeclarationRecord, make_manifest
from agent_surface.authority import CapabilityAuthority, create_capability_authority
from agent_surface.contracts import AgentComponentContract, AgentProcedureContract
from agent_surface.contracts._components import COMPONENT_SEALS
from agent_surface.contracts._procedures import PROCEDURE_SEALS
from agent_surface.errors import AuthorityError


def contract_authority(
    *contracts: AgentComponentContract | AgentProcedureContract[object, object] | object,
) -> CapabilityAuthority:
    """An authority that lists exactly these contracts, with completeness ``test``; a production registry refuses it.

    Raises:
        AuthorityError: One of them was not made by ``define_agent_component_contract`` or
            ``define_agent_procedure_contract``.
    """
    return create_capability_authority(
        make_manifest((declaration_record(contract) for contract in contracts), completeness="test")
    )


def declaration_record(contract: object) -> DeclarationRecord:
    """What was declared.

    Raises:
        AuthorityError: The contract is not genuine.
    """
    component = COMPONENT_SEALS.find(contract)
    if component is not None:
        return component.record
    procedure = PROCEDURE_SEALS.find(contract)
    if procedure is not None:
        return procedure.record
    raise AuthorityError(f"{type(contract).__name__} is not a contract made by a define_ function")
