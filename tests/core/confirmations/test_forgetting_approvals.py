"""What becomes of approvals nobody used when there are more than can be remembered, and of a registry that closes."""

from __future__ import annotations

import pytest

from agent_surface import AgentSurfaceLimits, InvokeContext, require_confirmation
from tests.core.surface_fixtures import ACT, ASKING, ONE, Surface, output, refusal

ASK = "view:t.asking.act"


@pytest.mark.requirement("AS-CONFIRM-003", "AS-BOUND-002")
async def test_an_approval_that_had_to_be_forgotten_approves_nothing_and_is_audited_as_expired() -> None:
    """The oldest goes; it is neither silently lost nor usable."""
    surface = Surface(ASKING, limits=AgentSurfaceLimits(max_resolved_confirmations=1))
    surface.mount(ASKING)
    await surface.invoke(ASK, {"n": 1})
    first = surface.approve()
    await surface.invoke(ASK, {"n": 2})
    second = surface.approve()
    assert surface.registry.statistics().resolved_confirmations == 1
    assert refusal(await surface.invoke(ASK, {"n": 1}, confirmation_id=first))[0] == "CONFIRMATION_INVALID"
    assert [r.confirmation_id for r in surface.audited("confirmation") if r.status == "expired"] == [first]
    assert refusal(await surface.invoke(ASK, {"n": 1}))[0] == "CONFIRMATION_REQUIRED"
    result = await surface.invoke(ASK, {"n": 2}, confirmation_id=second)
    assert output(result) is None


async def test_a_registry_that_is_closed_by_the_question_asks_nobody() -> None:
    """The words for the person are the application's code, and it may close everything."""
    surface = Surface(ONE, policies=())

    def summary(_: InvokeContext) -> str:
        surface.registry.close()
        return "Do it?"

    surface = Surface(ONE, policies=(require_confirmation(summary=summary),))
    surface.mount(ONE)
    code, _ = refusal(await surface.invoke(ACT, {}))
    assert code == "CANCELLED"
    assert surface.told("confirmation-requested") == []
