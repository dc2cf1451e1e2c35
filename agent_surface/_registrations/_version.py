"""The surface version, and how many changes become one."""

from __future__ import annotations

from collections.abc import Callable


class SurfaceVersion:
    """Counts the mutations of a surface; opaque to consumers, which only compare it.

    Args:
        announce: Called after each bump.
    """

    __slots__ = ("_announce", "_depth", "_moved", "_value", "text")

    def __init__(self, announce: Callable[[], None]) -> None:
        self._announce = announce
        self._value = 0
        self._depth = 0
        self._moved = False
        self.text = "0"

    def bump(self) -> None:
        """One more mutation; inside a batch all of them count as one."""
        if self._depth:
            self._moved = True
            return
        self._value += 1
        self.text = str(self._value)
        self._announce()

    def begin_batch(self) -> None:
        """Everything until :meth:`end_batch` is one mutation, announced once; batches may be nested."""
        self._depth += 1

    def end_batch(self) -> None:
        """End one :meth:`begin_batch`."""
        self._depth -= 1
        if not self._depth and self._moved:
            self._moved = False
            self.bump()
