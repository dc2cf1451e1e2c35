"""Services that are functions of C, of which nothing can be asked."""

from __future__ import annotations

from agent_surface import ServiceExecutor, bind_procedure, define_agent_procedure_contract, from_json_schema
from tests.core.surface_fixtures import ANY_VALUE, ONE, Surface, output

COLLECT = define_agent_procedure_contract(
    id="domain:builtin.collect",
    description="Collect what is given",
    input=from_json_schema(
        {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
    ),
    output=ANY_VALUE,
    effect="server-query",
)


async def test_a_function_without_a_signature_is_given_the_fields_alone() -> None:
    """It cannot have asked for anything else."""
    surface = Surface(ONE, COLLECT, procedures=ServiceExecutor({"builtin.collect": dict}))
    surface.mount(procedures=[bind_procedure(COLLECT)])
    assert output(await surface.invoke(COLLECT.id, {"n": 3})) == {"n": 3}
