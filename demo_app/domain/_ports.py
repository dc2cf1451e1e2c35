"""What the domain needs from outside: the time, and a way to report progress and be stopped."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class FleetClock(Protocol):
    """The time of day as the domain sees it."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        ...


class SystemFleetClock:
    """The computer's clock."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        return datetime.now(UTC)


class OperationMonitor(Protocol):
    """Watches one long operation. Called on the thread that runs the operation."""

    def report(self, done: int, total: int) -> None:
        """Say that ``done`` of ``total`` units (bytes or rows, the same within one operation) are finished."""
        ...

    def is_cancelled(self) -> bool:
        """Whether the operation should stop at the next opportunity and undo itself."""
        ...


class UnwatchedOperation:
    """The monitor of an operation nobody watches and nobody can stop."""

    def report(self, done: int, total: int) -> None:
        """Does nothing."""

    def is_cancelled(self) -> bool:
        """Always false."""
        return False
