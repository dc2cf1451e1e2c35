"""An authority for the contracts a test declares."""

from __future__ import annotations

from agent_surface._manifest import DeclarationRecord, make_manifest
from agent_surface.authority import CapabilityAuthority, create_capability_authority
from agent_surface.contracts._records import find_declaration
from agent_surface.errors import AuthorityError


def contract_authority(*contracts: object) -> CapabilityAuthority:
    """An authority that lists exactly these contracts, with completeness ``test``; a production registry refuses it.

    Args:
        contracts: Made by ``define_agent_component_contract``, ``define_agent_procedure_contract`` or
            ``define_external_agent_tool_contract``.

    Raises:
        AuthorityError: One of them was not.
    """
    return create_capability_authority(
        make_manifest((_declaration(contract) for contract in contracts), completeness="test")
    )


def _declaration(contract: object) -> DeclarationRecord:
    record = find_declaration(contract)
    if record is None:
        raise AuthorityError(f"{type(contract).__name__} is not a contract made by a define_ function")
    return record
