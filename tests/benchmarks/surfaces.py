"""What the benchmarks call: contracts as an application would declare them."""

from __future__ import annotations

from agent_surface import (
    action_contract,
    create_capability_authority,
    define_agent_component_contract,
    from_json_schema,
    observation_contract,
)
from agent_surface._manifest import make_manifest
from agent_surface.authority import CapabilityAuthority
from agent_surface.contracts._records import find_declaration

IDS = from_json_schema(
    {
        "type": "object",
        "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
        "required": ["ids"],
        "additionalProperties": False,
    }
)
COUNT = from_json_schema({"type": "number"})

SELECT = action_contract(description="Select rows", input=IDS, effect="local-state")
READ = observation_contract(description="Read the number", output=COUNT)

TABLE = define_agent_component_contract(
    type="bench.table", description="A table", observations={"count": READ}, actions={"select": SELECT}
)

COUNT_OF_TABLE = f"view:{TABLE.type}.count"


def authority() -> CapabilityAuthority:
    """An authority that production accepts: the manifest is handed over explicitly, as a compiler would write it."""
    record = find_declaration(TABLE)
    if record is None:
        raise RuntimeError("the benchmark's contract is not genuine")
    return create_capability_authority(make_manifest([record], completeness="proven"))
