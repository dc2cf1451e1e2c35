"""Saying that the surface moved: once per turn of the loop, however much moved."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from agent_surface._base._ports import HostLoop
from agent_surface._registrations import SurfaceVersion
from agent_surface.events import SurfaceChanged
from agent_surface.events._dispatcher import EventDispatcher


class Announcements:
    """Owns the surface version and announces it (AS-VER-001, AS-VER-002, AS-EVT-001).

    With a loop ``surface-changed`` comes in its next turn; without one, when the outermost public call returns.

    Attributes:
        version: The counter; mutations bump it.
    """

    __slots__ = ("_depth", "_events", "_host_loop", "_pending", "_scheduled", "_stopped", "version")

    def __init__(self, *, host_loop: HostLoop, events: EventDispatcher) -> None:
        self._host_loop = host_loop
        self._events = events
        self._scheduled = False
        self._pending = False
        self._stopped = False
        self._depth = 0
        self.version = SurfaceVersion(self._moved)

    def current(self) -> str:
        """The surface version as consumers see it."""
        return self.version.text

    @contextmanager
    def public_call(self) -> Generator[None]:
        """Around a call of the public interface, which may contain others."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth and self._pending:
                self._deliver()

    @contextmanager
    def mutation(self) -> Generator[None]:
        """Around a change of several steps: one bump of the version, and heard of when all of it is done."""
        with self._events.held(), self.version.batch():
            yield

    def stop(self) -> None:
        """Announce what is left and nothing after it."""
        if self._scheduled or self._pending:
            self._deliver()
        self._stopped = True

    def _moved(self) -> None:
        if self._scheduled or self._stopped:
            return
        if self._host_loop.call_soon(self._turn):
            self._scheduled = True
        else:
            self._pending = True

    def _turn(self) -> None:
        if self._scheduled and not self._stopped:
            self._deliver()

    def _deliver(self) -> None:
        self._scheduled = self._pending = False
        self._events.emit(SurfaceChanged(surface_version=self.version.text))
