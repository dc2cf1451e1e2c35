"""Handles after the end, executors that come and go, and a future nobody waits for any more."""

# Handlers that are one expression are handed in as they are; the checker cannot infer what they take.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false

from __future__ import annotations

import asyncio

from agent_surface import AgentInvocation, RouteInfo, ServiceExecutor, bind_procedure
from tests.core.surface_fixtures import ACT, ONE, RENAME, TWO, Surface, turns


async def test_a_handle_of_a_component_that_went_does_nothing_more(surface: Surface) -> None:
    """Neither its second end nor its news is a change."""
    handle = surface.mount()
    handle.unregister()
    version = surface.registry.version
    handle.invalidate()
    handle.unregister()
    assert handle.status == "unregistered"
    assert surface.registry.version == version


async def test_an_executor_changes_only_the_components_that_refer_to_procedures() -> None:
    """A component without one is shown as before; the reference appears and vanishes with its executor."""
    surface = Surface(ONE, TWO, RENAME)
    surface.mount(TWO)
    surface.mount(ONE, procedures=[bind_procedure(RENAME)])
    before = surface.capability_ids()
    surface.registry.set_procedure_executor(ServiceExecutor({"devices.rename": lambda id, name: name}))
    assert surface.capability_ids() == [*before, RENAME.id]
    surface.registry.set_procedure_executor(None)
    assert surface.capability_ids() == before


async def test_the_route_may_be_unknown_for_a_while() -> None:
    """A snapshot then has none; one without parameters has no place for them."""
    route: RouteInfo | None = None
    surface = Surface(ONE, route=lambda: route)
    assert "route" not in surface.catalogue()
    route = RouteInfo(path="/devices")
    assert surface.catalogue()["route"] == {"path": "/devices"}


async def test_a_future_cancelled_before_the_owner_thread_had_its_turn_runs_nothing() -> None:
    """The request was on its way; nobody wants its answer."""
    ran: list[object] = []
    surface = Surface(ONE)
    surface.mount(act=ran.append)
    future = await asyncio.to_thread(surface.registry.invoke_threadsafe, AgentInvocation(capability_id=ACT))
    await turns()
    assert future.done()
    assert len(ran) == 1
    dropped = surface.registry.invoke_threadsafe(AgentInvocation(capability_id=ACT))
    assert dropped.cancel()
    await turns()
    assert dropped.cancelled()
    assert len(ran) == 1
