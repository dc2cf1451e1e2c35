"""A clock that only moves when a test says so."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import TypeAlias

START_MS = 1_750_000_000_000
"""Where a :class:`ManualClock` starts unless told otherwise: 2025-06-15T15:06:40Z."""


class ManualTimer:
    """A call scheduled on a :class:`ManualClock`."""

    __slots__ = ("_callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    @property
    def active(self) -> bool:
        """Whether the call is still to come."""
        return self._callback is not None

    def cancel(self) -> None:
        """Forget the call. Does nothing when it has run or was cancelled before."""
        self._callback = None

    def take(self) -> Callable[[], None] | None:
        """The call, for the clock that is about to run it; afterwards the timer is no longer active."""
        callback, self._callback = self._callback, None
        return callback


_Entry: TypeAlias = tuple[int, int, ManualTimer]


class ManualClock:
    """Time in the hands of a test; a :class:`~agent_surface._base._ports.Clock`.

    Due calls run inside :meth:`advance`, in the order of their due time and, at equal times, in the order in which
    they were scheduled. While a call runs the clock shows its due time; what it schedules within the advanced span
    runs in the same :meth:`advance`.

    Args:
        start_ms: Wall-clock time at the start, in milliseconds since the Unix epoch.
    """

    def __init__(self, *, start_ms: int = START_MS) -> None:
        self._monotonic_ms = 0
        self._wall_offset_ms = start_ms
        self._sequence = itertools.count()
        self._timers: list[_Entry] = []

    def now_ms(self) -> int:
        """Wall-clock time in milliseconds since the Unix epoch."""
        return self._wall_offset_ms + self._monotonic_ms

    def monotonic_ms(self) -> int:
        """Milliseconds advanced so far."""
        return self._monotonic_ms

    @property
    def pending_timers(self) -> int:
        """How many scheduled calls are neither run nor cancelled."""
        return sum(timer.active for _, _, timer in self._timers)

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> ManualTimer:
        """Run ``callback`` during the :meth:`advance` that reaches ``delay_ms`` milliseconds from now.

        Args:
            delay_ms: Milliseconds; zero or less means the next :meth:`advance`, also ``advance(0)``.
            callback: Called without arguments; what it raises leaves :meth:`advance`.
        """
        timer = ManualTimer(callback)
        due_ms = self._monotonic_ms + max(0, delay_ms)
        heapq.heappush(self._timers, (due_ms, next(self._sequence), timer))
        return timer

    def advance(self, delay_ms: int) -> None:
        """Move time forward and run what becomes due.

        Args:
            delay_ms: Milliseconds, zero or more.

        Raises:
            ValueError: ``delay_ms`` is negative.
        """
        if delay_ms < 0:
            raise ValueError(f"time does not go back: {delay_ms} ms")
        target_ms = self._monotonic_ms + delay_ms
        while self._timers and self._timers[0][0] <= target_ms:
            due_ms, _, timer = heapq.heappop(self._timers)
            callback = timer.take()
            if callback is None:
                continue
            self._monotonic_ms = max(self._monotonic_ms, due_ms)
            callback()
        # A callback may itself have advanced the clock past the target.
        self._monotonic_ms = max(self._monotonic_ms, target_ms)

    def jump_wall_clock(self, offset_ms: int) -> None:
        """Set the wall clock forward or back, as a person or a time server does; nothing becomes due by it."""
        self._wall_offset_ms += offset_ms
