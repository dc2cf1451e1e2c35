"""The machine's clock where no event loop runs."""

from __future__ import annotations

from agent_surface._base._system import SystemClock


def test_a_timer_asked_for_where_no_loop_runs_never_fires_and_can_be_cancelled() -> None:
    """A registry may be filled before the loop starts; what has a time to live is checked when it is used."""
    ran: list[object] = []
    timer = SystemClock().call_later(0, lambda: ran.append(1))
    timer.cancel()
    timer.cancel()
    assert ran == []


async def test_a_timer_of_a_running_loop_fires_unless_it_was_cancelled() -> None:
    """The other half: the loop's own timers are used."""
    import asyncio

    fired = asyncio.Event()
    ran: list[object] = []
    clock = SystemClock()
    clock.call_later(0, lambda: ran.append(1)).cancel()
    clock.call_later(0, fired.set)
    await fired.wait()
    assert ran == []
