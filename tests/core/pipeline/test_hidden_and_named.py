"""What is hidden from a consumer, named by the registration id of somebody who sees it."""

from __future__ import annotations

import pytest

from agent_surface import (
    EXPOSE,
    HIDE,
    ActionBinding,
    AgentConsumer,
    DiscoveryDecision,
    JsonValue,
    PolicyContext,
)
from tests.core.surface_fixtures import ALICE, BOB, Surface, nothing, refusal


class HideFromBob:
    """Bob sees nothing."""

    name = "hide-from-bob"

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        """Hide from Bob."""
        return HIDE if context.consumer == BOB else EXPOSE


@pytest.mark.requirement("AS-AVAIL-002")
@pytest.mark.parametrize("other_surface", [False, True], ids=["unavailable", "of-another-surface"])
async def test_neither_its_state_nor_its_surface_is_told(other_surface: bool) -> None:
    """Discovery comes first: why it cannot be used, or that the id is stale, is for those who may see it."""
    surface = Surface(policies=(HideFromBob(),))
    handle = surface.mount(
        act=ActionBinding(execute=nothing, when=lambda: other_surface, unavailable_reason="a secret")
    )
    surface_id = "srf_other" if other_surface else None

    async def ask(consumer: AgentConsumer) -> tuple[str, dict[str, JsonValue]]:
        return refusal(
            await surface.invoke(consumer=consumer, registration_id=handle.registration_id, surface_id=surface_id)
        )

    assert await ask(BOB) == ("CAPABILITY_NOT_FOUND", {})
    code, details = await ask(ALICE)
    assert (code, details["reason"]) == (
        ("STALE_CAPABILITY", "surface-reloaded") if other_surface else ("CAPABILITY_NOT_AVAILABLE", "a secret")
    )
    surface.registry.close()
