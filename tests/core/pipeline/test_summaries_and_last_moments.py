"""What a person reads before they decide, and what may still happen between a check and the handler."""

# Handlers that are one expression are handed in as they are; the checker cannot infer what they take.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from logging import LogRecord

import pytest

from agent_surface import (
    ActionBinding,
    AgentActionContext,
    AgentSurfaceLimits,
    Availability,
    CallNext,
    Concurrency,
    PolicyContext,
    PreconditionFailure,
)
from tests.core.surface_fixtures import ACT, ALICE, ASKING, BOB, ONE, Surface, component, output, refusal, turns

ASK = "view:t.asking.act"


class _Slow:
    """Agrees, a turn later."""

    name = "slow"

    async def on_authorize(self, context: PolicyContext, call_next: CallNext) -> object:
        """Let others have a turn first."""
        await asyncio.sleep(0)
        return await call_next()


async def test_a_summary_names_every_field_and_no_more_of_it_than_a_person_reads(surface: Surface) -> None:
    """Short lists in full, long ones by their length, and text cut with a mark."""
    surface.mount(ASKING)
    await surface.invoke(
        ASK,
        {
            "few": ["a", "b", 3],
            "many": [1, 2, 3, 4],
            "deep": [["x"]],
            "group": {"a": 1, "b": 2},
            "on": True,
            "off": False,
            "gone": None,
            "long": "x" * 500,
        },
    )
    summary = surface.pending().summary
    assert summary.startswith(
        "Do it (few: a, b, 3; many: 4 items; deep: 1 items; group: 2 fields; on: yes; off: no; gone: none; long: xxx"
    )
    assert "…" in summary
    assert len(summary) < 500


@pytest.mark.requirement("AS-LIFE-004")
async def test_a_component_that_its_own_availability_takes_away_runs_nothing() -> None:
    """The last predicate is the application's code; the window may be gone by the end of it."""
    ran: list[object] = []
    surface = Surface(ONE, policies=(_Slow(),))
    armed = False

    def when() -> bool:
        if armed:
            handle.unregister()
        return True

    handle = surface.mount(act=ActionBinding(execute=ran.append, when=when))
    task = surface.start(ACT, {})
    await asyncio.sleep(0)
    armed = True
    code, _ = refusal(await task)
    assert code == "COMPONENT_UNMOUNTED"
    assert ran == []
    assert surface.idle()


@pytest.mark.requirement("AS-INVOKE-007")
async def test_a_cancelled_call_that_waited_in_line_gives_its_place_to_the_next() -> None:
    """The one in the middle goes; the last is served after the first, and nothing is held at the end."""
    waiting = component("t.one", concurrency=Concurrency(queue_depth=3))
    surface = Surface(waiting)
    gate = asyncio.Event()
    ran: list[object] = []

    async def act(value: object) -> None:
        ran.append(value)
        await gate.wait()

    surface.mount(waiting, act=act)
    first = surface.start(ACT, {"n": 1})
    second = surface.start(ACT, {"n": 2})
    third = surface.start(ACT, {"n": 3})
    await turns()
    assert surface.registry.statistics().queued_calls == 2
    second.cancel()
    await turns()
    gate.set()
    await asyncio.gather(first, second, third, return_exceptions=True)
    await turns()
    assert ran == [{"n": 1}, {"n": 3}]
    assert surface.idle()


@pytest.mark.requirement("AS-INVOKE-007")
async def test_a_turn_that_has_come_is_passed_on_when_its_call_is_cancelled_in_the_same_moment() -> None:
    """The slot was handed over, its new holder has not woken yet: whoever is next gets it."""
    waiting = component("t.one", concurrency=Concurrency(queue_depth=3))
    surface = Surface(waiting)
    gate = asyncio.Event()
    ran: list[object] = []

    async def act(value: object) -> None:
        ran.append(value)
        await gate.wait()
        if value == {"n": 1}:
            second.cancel()

    surface.mount(waiting, act=act)
    first = surface.start(ACT, {"n": 1})
    second = surface.start(ACT, {"n": 2})
    third = surface.start(ACT, {"n": 3})
    await turns()
    gate.set()
    await asyncio.gather(first, second, third, return_exceptions=True)
    await turns()
    assert ran[0] == {"n": 1}
    assert ran[-1] == {"n": 3}
    assert surface.idle()


async def test_consumers_that_wait_to_read_are_served_in_turn_and_one_that_left_is_passed_over() -> None:
    """With one observation at a time in all, two consumers wait and one of them gives up."""
    limits = AgentSurfaceLimits(max_concurrent_observations_total=1)
    surface = Surface(ONE, limits=limits)
    gate = asyncio.Event()

    async def read() -> int:
        await gate.wait()
        return 1

    surface.mount(read=read)
    running = surface.start("view:t.one.read", consumer=ALICE)
    left = surface.start("view:t.one.read", consumer=BOB)
    served = surface.start("view:t.one.read", consumer=ALICE)
    await turns()
    left.cancel()
    await turns()
    gate.set()
    assert [output(await task) for task in (running, served)] == [1, 1]
    await turns()
    assert surface.idle()


async def test_a_token_asked_twice_to_end_keeps_the_first_reason_and_tells_once(
    expected_logs: list[LogRecord],
) -> None:
    """A time-out comes first, the registry closes after it; a callback that raises hides nothing from the next."""
    surface = Surface(ONE)
    told: list[str | None] = []
    gate = asyncio.Event()

    async def act(_: object, context: AgentActionContext) -> None:
        def bad() -> None:
            raise RuntimeError("planted")

        context.cancel.on_cancel(bad)
        context.cancel.on_cancel(lambda: told.append(context.cancel.reason))
        while not gate.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                continue

    surface.mount(act=act)
    task = surface.start(ACT, {}, timeout_ms=50)
    await turns()
    surface.clock.advance(50)
    assert refusal(await task)[0] == "TIMEOUT"
    surface.registry.close()
    gate.set()
    assert await surface.registry.wait_closed()
    assert told == ["timeout"]
    assert any("callback" in record.getMessage() for record in expected_logs)


async def test_waiting_for_the_end_says_when_a_handler_does_not_end(surface: Surface) -> None:
    """Nothing is killed; the host is told, and may wait again."""
    gate = asyncio.Event()

    async def act() -> None:
        while not gate.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                continue

    surface.mount(act=act)
    task = surface.start(ACT, {})
    await turns()
    surface.registry.close()
    assert refusal(await task)[0] == "CANCELLED"
    assert not await surface.registry.wait_closed(timeout_ms=1)
    gate.set()
    assert await surface.registry.wait_closed()


async def test_a_precondition_with_no_words_of_its_own_is_answered_with_ours(surface: Surface) -> None:
    """An empty message would tell the agent nothing."""

    def refuse() -> PreconditionFailure:
        return PreconditionFailure("   ")

    surface.mount(act=ActionBinding(execute=lambda value: value, precondition=refuse))
    result = await surface.invoke(ACT, {})
    assert refusal(result)[0] == "PRECONDITION_FAILED"
    message = result.to_json()["error"]
    assert isinstance(message, dict)
    assert str(message["message"]).strip()


async def test_an_application_that_pushes_unavailability_while_a_call_waits_stops_it() -> None:
    """The reason is the one that was pushed."""
    surface = Surface(ONE, policies=(_Slow(),))
    handle = surface.mount(act=lambda value: value)
    task = surface.start(ACT, {})
    await asyncio.sleep(0)
    handle.update(availability={"act": Availability(available=False, reason="saving")})
    code, details = refusal(await task)
    assert code == "CAPABILITY_NOT_AVAILABLE"
    assert details["reason"] == "saving"


async def test_a_policy_that_closes_the_registry_ends_its_own_call() -> None:
    """And the handler does not run."""

    class Closing:
        name = "closing"

        def on_authorize(self, context: PolicyContext, call_next: CallNext) -> Awaitable[object]:
            surface.registry.close()
            return call_next()

    ran: list[object] = []
    surface = Surface(ONE, policies=(Closing(),))
    surface.mount(act=ran.append)
    assert refusal(await surface.invoke(ACT, {}))[0] == "CANCELLED"
    assert ran == []
    assert await surface.registry.wait_closed()
