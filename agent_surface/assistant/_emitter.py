"""Delivery of session events in order, whatever a listener does."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

from agent_surface.assistant._values import SessionEvent

_log = logging.getLogger(__name__)

_Subscription = tuple[object, Callable[[SessionEvent], None]]


class EventEmitter:
    """Calls listeners one event after the other.

    What a listener causes is queued: with listeners A and B and an event 1 in which A causes event 2, the calls are
    A(1), B(1), A(2), B(2). A listener that fails is logged and hears the next event all the same.
    """

    def __init__(self) -> None:
        self._listeners: list[_Subscription] = []
        self._queue: deque[SessionEvent] = deque()
        self._delivering = False

    def subscribe(self, listener: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Hear events from the next one on; returns a disposer that may be called twice."""
        entry: _Subscription = (object(), listener)
        self._listeners.append(entry)

        def dispose() -> None:
            self._listeners = [other for other in self._listeners if other is not entry]

        return dispose

    def emit(self, event: SessionEvent) -> None:
        """Deliver ``event`` now, or after the one that is being delivered."""
        self._queue.append(event)
        if self._delivering:
            return
        self._delivering = True
        try:
            while self._queue:
                current = self._queue.popleft()
                for entry in tuple(self._listeners):
                    self._deliver(entry, current)
        finally:
            self._delivering = False

    def _deliver(self, entry: _Subscription, event: SessionEvent) -> None:
        if not any(entry is other for other in self._listeners):
            return
        try:
            entry[1](event)
        except Exception:  # noqa: BLE001  user code; logged with its traceback
            _log.exception("a listener of the session failed at %s", type(event).__name__)
