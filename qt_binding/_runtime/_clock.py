"""Time for a registry that lives in a Qt application."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol


class Scheduled(Protocol):
    """A callback that waits for its time."""

    def cancel(self) -> None:
        """Forget the callback. Does nothing when it has run or was cancelled before."""


class Deadlines(Protocol):
    """Where a deadline is kept: a guest loop, or a deadline timer beside a loop of the application's own."""

    def call_at(self, when: float, callback: Callable[[], None]) -> Scheduled:
        """Run ``callback`` once the monotonic clock reads ``when`` seconds."""
        ...


class QtClock:
    """The ``Clock`` port. All deadlines share one Qt timer, and none is ever early."""

    def __init__(self, deadlines: Callable[[str], Deadlines]) -> None:
        """Make a clock.

        Args:
            deadlines: Finds where deadlines are kept, given the name of the operation; called at first need, because
                a registry may be made before the application.
        """
        self._deadlines = deadlines

    def now_ms(self) -> int:
        """Wall-clock time in milliseconds since the Unix epoch (UTC)."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        """Milliseconds on a clock that never goes back."""
        return time.monotonic_ns() // 1_000_000

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Scheduled:
        """Run ``callback`` on the GUI thread once ``delay_ms`` milliseconds have passed.

        Raises:
            NoApplicationError: There is no ``QApplication`` yet.
        """
        return self._deadlines("Clock.call_later").call_at(time.monotonic() + delay_ms / 1_000, callback)
