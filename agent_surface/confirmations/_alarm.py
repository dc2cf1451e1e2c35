"""One timer, at whatever becomes due next."""

from __future__ import annotations

from collections.abc import Callable

from agent_surface._base._ports import Clock, TimerHandle


class Alarm:
    """Calls ``ring`` when something is due. It may ring late, and does not ring where the clock has no loop.

    Args:
        clock: Times are those of its monotonic time.
        ring: Does what is due, and sets the alarm anew.
    """

    __slots__ = ("_clock", "_due_ms", "_ring", "_timer")

    def __init__(self, *, clock: Clock, ring: Callable[[], None]) -> None:
        self._clock = clock
        self._ring = ring
        self._timer: TimerHandle | None = None
        self._due_ms: int | None = None

    def set(self, due_ms: int | None) -> None:
        """Ring at ``due_ms`` and at no other time; never when ``None``."""
        if due_ms == self._due_ms:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._due_ms = due_ms
        self._timer = (
            None
            if due_ms is None
            else self._clock.call_later(max(0, due_ms - self._clock.monotonic_ms()), self._timer_fired)
        )

    def _timer_fired(self) -> None:
        self._timer = self._due_ms = None
        self._ring()
