"""The explanation as JSON: only what there is to say."""

from __future__ import annotations

from logging import LogRecord
from typing import cast

import pytest

from agent_surface import EXPOSE, ActionBinding, DiscoveryDecision, PolicyContext, disable, require_confirmation
from agent_surface.explain import explain_surface
from tests.core.surface_fixtures import ACT, GO, Surface, nothing


class _Votes:
    def __init__(self, name: str, vote: DiscoveryDecision | None) -> None:
        self.name = name
        self._vote = vote

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        """Vote, or fail to."""
        if self._vote is None:
            raise LookupError("planted")
        return self._vote


@pytest.mark.requirement("AS-EXPLAIN-001")
async def test_votes_reasons_and_failures_are_shown_with_the_policy_they_come_from(
    surface: Surface, expected_logs: list[LogRecord]
) -> None:
    """A vote without a reason has none; a policy that raised is said to have."""
    surface.mount(
        act=ActionBinding(
            execute=nothing, policies=[_Votes("yes", EXPOSE), _Votes("later", disable("later")), _Votes("broken", None)]
        ),
        go=ActionBinding(execute=nothing, when=lambda: False, unavailable_reason="nowhere to go"),
    )
    explained = {item.capability_id: item.to_json() for item in explain_surface(surface.registry).capabilities}
    yes, later, broken = cast("list[dict[str, object]]", explained[ACT]["policies"])
    assert yes["discovery"] == {"outcome": "expose"}
    assert later["discovery"] == {"outcome": "disable", "reason": "later"}
    assert broken["threw"] is True
    assert "threw" not in yes
    assert explained[GO]["availability"] == {"available": False, "reason": "nowhere to go"}
    assert "reason" not in explained[GO]
    assert expected_logs


async def test_a_policy_without_a_vote_is_shown_without_one(surface: Surface) -> None:
    """It acts in other phases only, which are named."""
    surface.mount(act=ActionBinding(execute=nothing, policies=[require_confirmation()]))
    (explained,) = [item for item in explain_surface(surface.registry).capabilities if item.capability_id == ACT]
    assert explained.to_json()["policies"] == [
        {"name": "require-confirmation", "scope": "capability", "phases": ["invoke"]}
    ]
