"""Delivery of events: in the order of the mutations, after each, isolated between listeners."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

from agent_surface._base._user_errors import USER_ERRORS
from agent_surface.events._values import AgentSurfaceEvent

logger = logging.getLogger("agent_surface.events")

MAX_QUEUED_EVENTS = 10_000
"""How far listeners may fall behind with the events they cause themselves."""


class EventDispatcher:
    """Tells listeners what happened.

    An event emitted while another is being delivered waits its turn, so every listener sees the same order::

        dispatcher.subscribe(first)    # on "a" it emits "b"
        dispatcher.subscribe(second)
        dispatcher.emit("a")           # first("a"), second("a"), first("b"), second("b")

    A listener that raises is logged and the others still hear. A listener added during a delivery hears the next
    event; one that was removed hears nothing more.
    """

    __slots__ = ("_clearing", "_delivering", "_held", "_listeners", "_queue", "lost")

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[AgentSurfaceEvent], None]] = {}
        self._queue: deque[AgentSurfaceEvent] = deque()
        self._delivering = False
        self._clearing = False
        self._held = 0
        self.lost = 0

    @property
    def has_listeners(self) -> bool:
        """Whether anybody would hear an event; callers may spare themselves the making of one."""
        return bool(self._listeners)

    @property
    def queued(self) -> int:
        """Events waiting for delivery."""
        return len(self._queue)

    def subscribe(self, listener: Callable[[AgentSurfaceEvent], None]) -> Callable[[], None]:
        """Add a listener; the disposer may be called any number of times."""
        token = object()
        self._listeners[token] = listener

        def dispose() -> None:
            self._listeners.pop(token, None)

        return dispose

    def emit(self, event: AgentSurfaceEvent) -> None:
        """Deliver ``event`` now, or after the one being delivered."""
        if not self._listeners:
            return
        # Only listeners can be without end; a mutation of many steps is as long as the surface is large.
        if self._delivering and len(self._queue) >= MAX_QUEUED_EVENTS:
            if not self.lost:
                logger.error("listeners emit faster than they hear; further events are lost and counted")
            self.lost += 1
            return
        self._queue.append(event)
        self._deliver_queued()

    def hold(self) -> None:
        """Keep what is emitted until :meth:`release`: a mutation of several steps is heard of when it is complete."""
        self._held += 1

    def release(self) -> None:
        """End one :meth:`hold`; with the last one what was kept is delivered."""
        self._held -= 1
        self._deliver_queued()

    def clear(self) -> None:
        """Forget all listeners, once they have heard what was emitted before."""
        if self._delivering or self._held:
            self._clearing = True
        else:
            self._listeners.clear()

    def _deliver_queued(self) -> None:
        if self._delivering or self._held:
            return
        self._delivering = True
        try:
            while self._queue:
                self._deliver(self._queue.popleft())
        finally:
            self._delivering = False
        if self._clearing:
            self._clearing = False
            self._listeners.clear()

    def _deliver(self, event: AgentSurfaceEvent) -> None:
        for token, listener in list(self._listeners.items()):
            if token not in self._listeners:
                continue
            try:
                listener(event)
            except USER_ERRORS:
                logger.exception("a listener raised on %s", event.type)
