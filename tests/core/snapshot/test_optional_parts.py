"""What a descriptor shows only when there is something to show."""

from __future__ import annotations

from typing import cast

from agent_surface import (
    AgentProcedureContract,
    Availability,
    ServiceExecutor,
    action_contract,
    bind_procedure,
    define_agent_component_contract,
    define_agent_procedure_contract,
    from_type,
    observation_contract,
)
from tests.core.surface_fixtures import Surface, nothing, zero

Part = dict[str, object]

RICH = define_agent_component_contract(
    type="parts.rich",
    description="With everything",
    observations={"read": observation_contract(description="Read", output=from_type(int), meta={"unit": "mm"})},
    actions={"act": action_contract(description="Act", effect="local-state", meta={"icon": "bolt"})},
)
TIDY: AgentProcedureContract[object, object] = define_agent_procedure_contract(
    id="domain:parts.tidy", description="Tidy up", effect="server-mutation", confirmation="never", meta={"cost": 2}
)


async def test_what_the_author_added_and_what_is_unavailable_is_shown_where_it_belongs() -> None:
    """Meta of each kind of capability, and the reason of one that cannot be used."""
    surface = Surface(RICH, TIDY, procedures=ServiceExecutor({"parts.tidy": lambda: None}))
    handle = surface.registry.register(
        RICH.bind(observations={"read": zero}, actions={"act": nothing}, procedures=[bind_procedure(TIDY)])
    )
    off = Availability(available=False, reason="locked")
    handle.update(availability={"read": off, "act": off, TIDY.id: off})
    catalogue = surface.catalogue()
    (part,) = cast("list[dict[str, list[Part]]]", catalogue["components"])
    (observation,), (action,) = part["observations"], part["actions"]
    (procedure,) = cast("list[Part]", catalogue["procedures"])
    assert observation["meta"] == {"unit": "mm"}
    assert action["meta"] == {"icon": "bolt"}
    assert procedure["meta"] == {"cost": 2}
    assert [item["unavailableReason"] for item in (observation, action, procedure)] == ["locked"] * 3
    assert "outputSchema" not in procedure


LOOK: AgentProcedureContract[object, object] = define_agent_procedure_contract(
    id="domain:parts.look", description="Look them up", effect="server-query"
)


async def test_a_query_says_nothing_of_being_reversible() -> None:
    """It changes nothing that could be taken back; a mutation says whether it can be."""
    surface = Surface(
        RICH, TIDY, LOOK, procedures=ServiceExecutor(dict.fromkeys(("parts.tidy", "parts.look"), nothing))
    )
    surface.registry.register(
        RICH.bind(
            observations={"read": zero},
            actions={"act": nothing},
            procedures=[bind_procedure(TIDY), bind_procedure(LOOK)],
        )
    )
    look, tidy = cast("list[Part]", surface.catalogue()["procedures"])
    assert "reversible" not in look
    assert tidy["reversible"] is False
    surface.registry.close()
