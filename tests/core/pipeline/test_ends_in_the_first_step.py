"""A call that ends before it has a task: nothing of it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from agent_surface import CallNext, PolicyContext
from tests.core.surface_fixtures import Surface, refusal, turns


class LeavesWhileAsked:
    """Takes the component away, and then has something to wait for that never comes."""

    name = "leaves-while-asked"

    def __init__(self) -> None:
        self.leave: Callable[[], None] = lambda: None
        self.began = False

    def on_authorize(self, context: PolicyContext, call_next: CallNext) -> Awaitable[object]:
        """Wait for ever."""
        self.leave()

        async def later() -> object:
            self.began = True
            await asyncio.Event().wait()
            return call_next()

        return later()


async def test_what_a_policy_would_have_waited_for_is_given_up_with_the_call() -> None:
    """The component goes while a plain policy is asked: the call ends there, and so does the task made for the rest."""
    policy = LeavesWhileAsked()
    surface = Surface(policies=(policy,))
    policy.leave = surface.mount().unregister
    assert refusal(await surface.invoke()) == ("COMPONENT_UNMOUNTED", {"phase": "queued"})
    await turns()
    assert not policy.began
    assert surface.idle()
    surface.registry.close()
