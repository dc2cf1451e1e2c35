"""Who is told that the pending requests are other ones now.

An example of the order: listeners A and B; a request comes, and A answers it from inside its call::

    request(r)      A([r])     A answers r: the change waits
                    B([r])
                    A([])      now the change A made
                    B([])

Each listener sees every change it is told of in the order in which they happened, and none of them nested.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeAlias

from agent_surface._base._user_errors import USER_ERRORS
from agent_surface.confirmations._values import PendingConfirmation

_log = logging.getLogger(__name__)

PendingListener: TypeAlias = Callable[[Sequence[PendingConfirmation]], None]


class _Subscription:
    """One subscription: the same listener may be subscribed twice."""

    __slots__ = ("listener",)

    def __init__(self, listener: PendingListener) -> None:
        self.listener: PendingListener | None = listener

    def end(self) -> None:
        self.listener = None


class PendingObservers:
    """Delivery of the pending requests to any number of listeners.

    Args:
        snapshot: Makes the value that is delivered, once per change.
    """

    def __init__(self, *, snapshot: Callable[[], tuple[PendingConfirmation, ...]]) -> None:
        self._snapshot = snapshot
        self._subscriptions: list[_Subscription] = []
        self._changed = False
        self._delivering = False

    def subscribe(self, listener: PendingListener) -> Callable[[], None]:
        """Add ``listener``; the returned disposer may be called any number of times, also during delivery."""
        subscription = _Subscription(listener)
        self._subscriptions.append(subscription)

        def dispose() -> None:
            subscription.end()
            self._subscriptions = [other for other in self._subscriptions if other is not subscription]

        return dispose

    def clear(self) -> None:
        """Drop all listeners."""
        for subscription in self._subscriptions:
            subscription.end()
        self._subscriptions = []

    def notify(self) -> None:
        """Tell all listeners, unless a delivery is under way: then it goes on with this change when it is done."""
        self._changed = True
        if self._delivering:
            return
        self._delivering = True
        try:
            while self._changed:
                self._changed = False
                pending = self._snapshot()
                for subscription in tuple(self._subscriptions):
                    _deliver(subscription, pending)
        finally:
            self._delivering = False


def _deliver(subscription: _Subscription, pending: tuple[PendingConfirmation, ...]) -> None:
    if subscription.listener is None:
        return
    try:
        subscription.listener(pending)
    except USER_ERRORS:
        _log.exception("a listener of pending confirmations failed; the others are told all the same")
