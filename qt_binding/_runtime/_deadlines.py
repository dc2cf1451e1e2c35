"""Every deadline of the GUI thread on one Qt timer."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable

import shiboken6
from PySide6.QtCore import QObject, Qt, QTimer

LONGEST_SLEEP_MS = 86_400_000
"""A Qt timer takes no more than 2**31 milliseconds; a later deadline is slept for in pieces."""

_COMPACT_ABOVE = 32
"""Cancelled entries that may stay in the heap before it is rebuilt."""


class Deadline:
    """A callback that waits for its time.

    Attributes:
        when: Seconds on the monotonic clock.
    """

    __slots__ = ("_callback", "_owner", "when")

    def __init__(self, when: float, callback: Callable[[], None], owner: DeadlineTimer) -> None:
        self.when = when
        self._callback: Callable[[], None] | None = callback
        self._owner = owner

    @property
    def waiting(self) -> bool:
        """Whether it is still to run."""
        return self._callback is not None

    def cancel(self) -> None:
        """Forget the callback. Does nothing when it has run or was cancelled before."""
        if self._callback is not None:
            self._callback = None
            self._owner.forget_one()

    def take(self) -> Callable[[], None] | None:
        """The callback, once; ``None`` when it was cancelled."""
        callback, self._callback = self._callback, None
        return callback


class DeadlineTimer:
    """A heap of deadlines and the single ``QTimer`` that sleeps until the earliest.

    qasync gives each delayed call a Qt timer of its own and keeps it until it is due, also when it was cancelled, so
    ten thousand calls with an hour's time-out would leave ten thousand live timers (QT-LOOP-005).

    A callback may start a nested event loop. The timer is therefore armed for the next deadline *before* a callback
    runs: deadlines go on being served inside the nested loop.
    """

    def __init__(self, parent: QObject, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Make an idle timer.

        Args:
            parent: Owner of the Qt timer; deadlines die with it.
            monotonic: Seconds on a clock that never goes back.
        """
        self._monotonic = monotonic
        self._heap: list[tuple[float, int, Deadline]] = []
        self._sequence = 0
        self._cancelled = 0
        self._timer = QTimer(parent)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._run_due)

    def __len__(self) -> int:
        """How many deadlines wait."""
        return len(self._heap) - self._cancelled

    @property
    def entries(self) -> int:
        """How many entries the heap holds, cancelled ones included; bounded by twice what waits plus a constant."""
        return len(self._heap)

    @property
    def armed(self) -> bool:
        """Whether the Qt timer runs."""
        return shiboken6.isValid(self._timer) and self._timer.isActive()

    def call_at(self, when: float, callback: Callable[[], None]) -> Deadline:
        """Run ``callback`` once the monotonic clock reads ``when`` seconds."""
        deadline = Deadline(when, callback, self)
        self._sequence += 1
        heapq.heappush(self._heap, (when, self._sequence, deadline))
        if self._heap[0][2] is deadline:
            self._arm()
        return deadline

    def forget_one(self) -> None:
        """Count a cancelled deadline; rebuild the heap when most of it is cancelled."""
        self._cancelled += 1
        if self._cancelled > _COMPACT_ABOVE and self._cancelled * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].waiting]
            heapq.heapify(self._heap)
            self._cancelled = 0
            self._arm()

    def clear(self) -> None:
        """Forget every deadline and stop the timer."""
        for _, _, deadline in self._heap:
            deadline.take()
        self._heap.clear()
        self._cancelled = 0
        self._arm()

    def _arm(self) -> None:
        if not shiboken6.isValid(self._timer):
            return
        while self._heap and not self._heap[0][2].waiting:
            heapq.heappop(self._heap)
            self._cancelled -= 1
        if not self._heap:
            self._timer.stop()
            return
        left_ms = (self._heap[0][0] - self._monotonic()) * 1_000
        self._timer.start(min(max(0, math.ceil(left_ms)), LONGEST_SLEEP_MS))

    def _run_due(self) -> None:
        now = self._monotonic()
        while self._heap and self._heap[0][0] <= now:
            callback = heapq.heappop(self._heap)[2].take()
            if callback is None:
                self._cancelled -= 1
                continue
            self._arm()
            callback()
        self._arm()
