"""The manual clock: deterministic order, and no movement of its own."""

from __future__ import annotations

import pytest

from agent_surface.testing._clock import START_MS, ManualClock
from agent_surface.testing._ids import SequentialIds


def test_due_calls_run_in_order_of_time_and_then_of_scheduling() -> None:
    """The order is the same in every run, whatever the order of scheduling."""
    clock = ManualClock()
    seen: list[tuple[str, int]] = []

    def schedule(name: str, delay_ms: int) -> None:
        clock.call_later(delay_ms, lambda: seen.append((name, clock.monotonic_ms())))

    for name, delay_ms in (("late", 20), ("first", 10), ("second", 10), ("now", 0), ("never", 31)):
        schedule(name, delay_ms)
    clock.advance(30)
    assert seen == [("now", 0), ("first", 10), ("second", 10), ("late", 20)]
    assert (clock.monotonic_ms(), clock.now_ms(), clock.pending_timers) == (30, START_MS + 30, 1)


def test_what_a_due_call_schedules_within_the_span_runs_too() -> None:
    """A chain of short timers is not cut by a long step."""
    clock = ManualClock()
    seen: list[int] = []

    def tick() -> None:
        seen.append(clock.monotonic_ms())
        clock.call_later(10, tick)

    clock.call_later(10, tick)
    clock.advance(35)
    assert seen == [10, 20, 30]


def test_a_cancelled_call_does_not_run() -> None:
    """Cancelling is idempotent and harmless after the call."""
    clock = ManualClock()
    seen: list[str] = []
    cancelled = clock.call_later(10, lambda: seen.append("cancelled"))
    ran = clock.call_later(10, lambda: seen.append("ran"))
    cancelled.cancel()
    cancelled.cancel()
    clock.advance(10)
    ran.cancel()
    assert (seen, cancelled.active, ran.active) == (["ran"], False, False)


def test_the_wall_clock_jumps_alone() -> None:
    """What a time server does moves no timer."""
    clock = ManualClock()
    clock.jump_wall_clock(-5_000)
    assert (clock.now_ms(), clock.monotonic_ms()) == (START_MS - 5_000, 0)


def test_time_does_not_go_back() -> None:
    """A negative step is a mistake of the test."""
    with pytest.raises(ValueError, match="does not go back"):
        ManualClock().advance(-1)


def test_sequential_ids_count_up() -> None:
    """Each token is new, of the wanted length, and the same in every run."""
    ids = SequentialIds()
    assert [ids.token(4), ids.token(2)] == ["0001", "02"]
    for _ in range(7):
        ids.token(1)
    with pytest.raises(ValueError, match="used up"):
        ids.token(1)
