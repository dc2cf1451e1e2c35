"""Declarations and bindings: the static half of a capability, and its behaviour.

Above: the authority verifies declarations, the registry takes bound components. Below: the manifest's hashing,
policies, schemas, ids.
"""

from agent_surface.contracts._capabilities import (
    ActionContract,
    ObservationContract,
    action_contract,
    observation_contract,
)
from agent_surface.contracts._components import (
    AgentComponentContract,
    BoundComponent,
    define_agent_component_contract,
)
from agent_surface.contracts._concurrency import Concurrency
from agent_surface.contracts._external import (
    AgentExternalToolContract,
    BoundExternalTool,
    define_external_agent_tool_contract,
)
from agent_surface.contracts._handlers import ActionBinding, ObservationBinding
from agent_surface.contracts._procedures import (
    AgentProcedureContract,
    ProcedureBinding,
    ProcedureRef,
    bind_procedure,
    define_agent_procedure_contract,
)

__all__ = [
    "ActionBinding",
    "ActionContract",
    "AgentComponentContract",
    "AgentExternalToolContract",
    "AgentProcedureContract",
    "BoundComponent",
    "BoundExternalTool",
    "Concurrency",
    "ObservationBinding",
    "ObservationContract",
    "ProcedureBinding",
    "ProcedureRef",
    "action_contract",
    "bind_procedure",
    "define_agent_component_contract",
    "define_agent_procedure_contract",
    "define_external_agent_tool_contract",
    "observation_contract",
]
