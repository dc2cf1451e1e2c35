"""A lamp, for the tests of the audit policy."""

from __future__ import annotations

from agent_surface import action_contract, define_agent_component_contract, from_json_schema

SWITCH = action_contract(
    description="Switch the lamp",
    input=from_json_schema(
        {
            "type": "object",
            "properties": {"on": {"type": "boolean"}},
            "required": ["on"],
            "additionalProperties": False,
        }
    ),
    effect="local-state",
)
LAMP = define_agent_component_contract(type="home.lamp", description="A lamp", actions={"switch": SWITCH})


def switch(wanted: object) -> None:
    """Switch it."""
