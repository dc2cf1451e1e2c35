"""Who hears what, when, and in which order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from logging import LogRecord

import pytest

from agent_surface import AgentSurfaceEvent, Availability, AvailabilityChanged, SurfaceChanged
from agent_surface.events._dispatcher import MAX_QUEUED_EVENTS
from tests.core.surface_fixtures import ACT, ASKING, READ, TWO, Surface, output, turns

GONE = Availability(available=False, reason="not now")


@pytest.mark.requirement("AS-EVT-001")
async def test_an_event_comes_after_its_mutation(surface: Surface) -> None:
    """A listener finds the surface as the event says it is."""
    seen: list[tuple[str, int, str]] = []

    def hear(event: AgentSurfaceEvent) -> None:
        snapshot = surface.registry.snapshot()
        seen.append((event.type, len(snapshot.components), snapshot.surface_version))

    stop = surface.registry.subscribe(hear)
    handle = surface.mount()
    handle.update(availability={"act": GONE})
    handle.unregister()
    stop()
    assert seen == [
        ("component-registered", 1, "1"),
        ("availability-changed", 1, "2"),
        ("component-unregistered", 0, "3"),
    ]


@pytest.mark.requirement("AS-EVT-001")
async def test_every_listener_hears_the_same_order_though_one_causes_more(surface: Surface) -> None:
    """What happens inside a delivery is told after it."""
    first: list[str] = []
    second: list[str] = []

    def cause(event: AgentSurfaceEvent) -> None:
        first.append(event.type)
        if event.type == "component-registered" and len(first) == 1:
            surface.mount(TWO).update(enabled=False)

    surface.registry.subscribe(cause)
    surface.registry.subscribe(lambda event: second.append(event.type))
    surface.mount()
    assert first == second == ["component-registered", "component-registered", *["availability-changed"] * 3]
    assert surface.told() == first


@pytest.mark.requirement("AS-EVT-001")
async def test_events_of_one_update_are_not_interleaved_with_those_it_causes(surface: Surface) -> None:
    """The order of events is the order of mutations."""
    handle = surface.mount()
    surface.events.clear()

    def cause(event: AgentSurfaceEvent) -> None:
        if event.type == "availability-changed" and not event.available:
            handle.update(enabled=True)

    surface.registry.subscribe(cause)
    handle.update(enabled=False)
    told = [event.available for event in surface.events if event.type == "availability-changed"]
    assert told == [False] * 3 + [True] * 3


@pytest.mark.requirement("AS-EVT-001")
async def test_a_listener_that_raises_keeps_nobody_from_hearing(
    surface: Surface, expected_logs: list[LogRecord]
) -> None:
    """Nor the mutation from being made."""
    after: list[str] = []

    def broken(_: AgentSurfaceEvent) -> None:
        raise ValueError("listener")

    stop = surface.registry.subscribe(broken)
    surface.registry.subscribe(lambda event: after.append(event.type))
    assert surface.mount().status == "active"
    assert output(await surface.invoke(READ)) == 0
    stop()
    assert after == [
        "component-registered",
        "surface-changed",
        "invocation-started",
        "invocation-settled",
    ] or after == [
        "component-registered",
        "invocation-started",
        "invocation-settled",
    ]
    assert {record.name for record in expected_logs} == {"agent_surface.events"}


@pytest.mark.requirement("AS-EVT-001")
async def test_listeners_come_and_go_during_a_delivery(surface: Surface) -> None:
    """One that was removed hears nothing more; one that was added hears the next event."""
    heard: list[str] = []
    disposers: list[Callable[[], None]] = []

    def swap(_: AgentSurfaceEvent) -> None:
        disposers[1]()
        if len(disposers) == 2:
            disposers.append(surface.registry.subscribe(lambda event: heard.append(f"new {event.type}")))

    disposers.append(surface.registry.subscribe(swap))
    disposers.append(surface.registry.subscribe(lambda event: heard.append(f"old {event.type}")))
    handle = surface.mount()
    assert heard == []
    handle.unregister()
    assert heard == ["new component-unregistered"]
    for dispose in disposers * 2:
        dispose()
    surface.mount(TWO)
    assert heard == ["new component-unregistered"]


@pytest.mark.requirement("AS-EVT-001")
async def test_surface_changed_comes_once_in_a_turn_of_the_loop(surface: Surface) -> None:
    """However much moved, and after it; the next turn has its own."""
    handle = surface.mount()
    surface.mount(TWO)
    handle.update(enabled=False)
    assert surface.told("surface-changed") == []
    await turns()
    assert [e for e in surface.events if e.type == "surface-changed"] == [SurfaceChanged(surface_version="3")]
    handle.unregister()
    await turns()
    assert surface.events[-1] == SurfaceChanged(surface_version="4")


@pytest.mark.requirement("AS-EVT-001")
def test_surface_changed_without_a_loop_comes_when_the_outermost_call_returns() -> None:
    """A batch is one such call."""
    surface = Surface()
    with surface.registry.batch():
        surface.mount()
        surface.mount(TWO)
        assert surface.events == []
    assert surface.told() == ["component-registered", "component-registered", "surface-changed"]
    surface.registry.close()


@pytest.mark.requirement("AS-EVT-001")
def test_who_comes_after_a_change_that_nobody_heard_is_not_told_of_it() -> None:
    """It was announced when it was made, if to nobody; what is told next is what changes next."""
    surface = Surface()
    handle = surface.mount()
    surface.stop_hearing()
    handle.update(availability={"act": GONE})
    heard: list[AgentSurfaceEvent] = []
    stop = surface.registry.subscribe(heard.append)
    with surface.registry.batch():
        pass
    assert heard == []
    stop()
    surface.registry.close()


@pytest.mark.requirement("AS-EVT-001")
def test_what_a_listener_changes_without_a_loop_is_announced_too() -> None:
    """And only once for both."""
    surface = Surface()

    def hear(event: AgentSurfaceEvent) -> None:
        if event.type == "component-registered" and event.component_type == "t.one":
            surface.mount(TWO)

    surface.registry.subscribe(hear)
    surface.mount()
    assert surface.events[-1] == SurfaceChanged(surface_version="2")
    assert len(surface.told("surface-changed")) == 1
    surface.registry.close()


@pytest.mark.requirement("AS-EVT-001")
def test_changes_before_during_and_after_a_loop_are_all_announced() -> None:
    """A registry outlives a loop."""
    surface = Surface()
    handle = surface.mount()

    async def use() -> None:
        handle.update(enabled=False)
        await turns()
        handle.update(enabled=True)

    asyncio.run(use())
    handle.unregister()
    versions = [event.surface_version for event in surface.events if isinstance(event, SurfaceChanged)]
    assert versions == ["1", "2", "3", "4"]
    surface.registry.close()


@pytest.mark.requirement("AS-EVT-001")
async def test_a_call_is_started_before_it_is_settled_and_asked_before_it_is_answered(surface: Surface) -> None:
    """Also when all of it happens in one turn, inside a delivery."""

    def answer(event: AgentSurfaceEvent) -> None:
        if event.type == "confirmation-requested":
            surface.registry.confirmations.resolve(event.confirmation_id, approved=True)

    surface.mount(ASKING)
    surface.registry.subscribe(answer)
    await surface.invoke("view:t.asking.act", invocation_id="i-1")
    assert surface.told(
        "invocation-started", "invocation-settled", "confirmation-requested", "confirmation-resolved"
    ) == ["invocation-started", "confirmation-requested", "confirmation-resolved", "invocation-settled"]


@pytest.mark.requirement("AS-EVT-001")
async def test_listeners_that_emit_without_end_lose_events_and_are_counted(
    surface: Surface, expected_logs: list[LogRecord]
) -> None:
    """The queue has a bound, the loss a number and a line in the log."""
    handle = surface.mount()
    rounds: list[int] = []

    def flood(event: AgentSurfaceEvent) -> None:
        if event.type == "availability-changed" and not rounds:
            rounds.append(1)
            for index in range(MAX_QUEUED_EVENTS + 5):
                handle.update(availability={"act": Availability(available=False, reason=str(index))})

    stop = surface.registry.subscribe(flood)
    handle.update(availability={"act": GONE})
    stop()
    statistics = surface.registry.statistics()
    assert statistics.lost_events > 0
    assert statistics.queued_events == 0
    assert len(expected_logs) == 1


@pytest.mark.requirement("AS-EVT-001")
async def test_a_batch_of_any_size_is_told_to_its_last_change(surface: Surface) -> None:
    """The bound is for listeners that never end: a page of thousands of components that is turned is no flood."""
    handle = surface.mount()
    told: list[str | None] = []
    stop = surface.registry.subscribe(
        lambda event: told.append(event.reason) if isinstance(event, AvailabilityChanged) else None
    )
    with surface.registry.batch():
        for index in range(MAX_QUEUED_EVENTS + 5):
            handle.update(availability={"act": Availability(available=False, reason=str(index))})
    stop()
    assert told == [str(index) for index in range(MAX_QUEUED_EVENTS + 5)]
    assert surface.registry.statistics().lost_events == 0


@pytest.mark.requirement("AS-EVT-001")
async def test_after_closing_nobody_hears_anything(surface: Surface) -> None:
    """The last thing told is that the surface is empty."""
    surface.mount()
    await turns()
    surface.registry.close()
    assert surface.events[-2:] == [
        surface.events[-2],
        SurfaceChanged(surface_version="2"),
    ]
    assert surface.events[-2].type == "component-unregistered"
    count = len(surface.events)
    surface.registry.close()
    await turns()
    assert len(surface.events) == count
    assert ACT not in str(surface.events)
