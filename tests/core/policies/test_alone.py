"""A built-in policy asked on its own, as an application's own policy may do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent_surface import (
    CallNext,
    PolicyContext,
    environment,
    has_permission,
)
from tests.core.surface_fixtures import ACT, ONE, Surface, nothing, refusal


class _Delegating:
    """Leaves authorization, and only that, to another policy."""

    name = "delegating"

    def __init__(self, authorize: Callable[[PolicyContext, CallNext], Awaitable[object]]) -> None:
        self._authorize = authorize

    async def on_authorize(self, context: PolicyContext, call_next: CallNext) -> object:
        """Ask the other one."""
        return await self._authorize(context, call_next)


async def test_the_environment_is_held_to_also_where_discovery_was_not_asked() -> None:
    """Whoever wraps the policy and forgets half of it opens nothing."""
    surface = Surface(ONE, policies=(_Delegating(environment("development").on_authorize),))
    surface.mount(act=nothing)
    assert refusal(await surface.invoke(ACT, {}))[0] == "CAPABILITY_NOT_FOUND"


def test_a_policy_tells_what_it_is_with_its_parameters() -> None:
    """For logs and for people who look at a chain."""
    shown = repr(has_permission("devices:write"))
    assert shown == "<policy has-permission:devices:write {'permission': 'devices:write'}>"
