"""From a contract object to what was declared."""

from __future__ import annotations

from agent_surface._manifest import DeclarationRecord
from agent_surface.contracts._components import COMPONENT_SEALS
from agent_surface.contracts._external import EXTERNAL_SEALS
from agent_surface.contracts._procedures import PROCEDURE_SEALS


def find_declaration(candidate: object) -> DeclarationRecord | None:
    """The declaration of a contract made by a ``define_`` function; ``None`` for anything else."""
    component = COMPONENT_SEALS.find(candidate)
    if component is not None:
        return component.record
    procedure = PROCEDURE_SEALS.find(candidate)
    if procedure is not None:
        return procedure.record
    external = EXTERNAL_SEALS.find(candidate)
    return external.record if external is not None else None
