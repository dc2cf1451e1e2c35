"""Saying that the surface moved: once per turn of the loop, however much moved."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType

from typing_extensions import override

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

    __slots__ = (
        "_depth",
        "_events",
        "_host_loop",
        "_mutation",
        "_pending",
        "_public_call",
        "_scheduled",
        "_stopped",
        "version",
    )

    def __init__(self, *, host_loop: HostLoop, events: EventDispatcher) -> None:
        self._host_loop = host_loop
        self._events = events
        self._scheduled = False
        self._pending = False
        self._stopped = False
        self._depth = 0
        self.version = SurfaceVersion(self._moved)
        # They hold no state of their own, so one of each is entered again and again.
        self._public_call = _PublicCall(self)
        self._mutation = _Mutation(events, self.version)

    def current(self) -> str:
        """The surface version as consumers see it."""
        return self.version.text

    def bump(self) -> None:
        """One change of one step, as a call of the public interface or inside one."""
        if self._depth:
            self.version.bump()
            return
        with self._public_call:
            self.version.bump()

    def public_call(self) -> AbstractContextManager[None]:
        """Around a call of the public interface, which may contain others."""
        return self._public_call

    def mutation(self) -> AbstractContextManager[None]:
        """Around a change of several steps: one bump of the version, and heard of when all of it is done."""
        return self._mutation

    def enter_call(self) -> None:
        """A call of the public interface begins; for :meth:`public_call`."""
        self._depth += 1

    def leave_call(self) -> None:
        """A call of the public interface returns; for :meth:`public_call`."""
        self._depth -= 1
        if not self._depth and self._pending:
            self._deliver()

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


class _PublicCall(AbstractContextManager[None]):
    __slots__ = ("_announcements",)

    def __init__(self, announcements: Announcements) -> None:
        self._announcements = announcements

    @override
    def __enter__(self) -> None:
        self._announcements.enter_call()

    @override
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._announcements.leave_call()


class _Mutation(AbstractContextManager[None]):
    __slots__ = ("_events", "_version")

    def __init__(self, events: EventDispatcher, version: SurfaceVersion) -> None:
        self._events = events
        self._version = version

    @override
    def __enter__(self) -> None:
        self._events.hold()
        self._version.begin_batch()

    @override
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._version.end_batch()
        finally:
            self._events.release()
