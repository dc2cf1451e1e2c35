"""The adapter's end of a store: it waits and withdraws, and holds nothing through which it could approve."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent_surface.confirmations._values import ConfirmationResolution


class StoreWaiter:
    """A :class:`~agent_surface.confirmations.ConfirmationWaiter` of one store.

    It is given three plain functions rather than the store or its bound methods, whose ``__self__`` would lead to
    ``resolve``.
    """

    __slots__ = ("__hold", "__wait_for", "__withdraw")

    def __init__(
        self,
        *,
        wait_for: Callable[[str], Awaitable[ConfirmationResolution]],
        hold: Callable[[str], Callable[[], None] | None],
        withdraw: Callable[[str], None],
    ) -> None:
        self.__wait_for = wait_for
        self.__hold = hold
        self.__withdraw = withdraw

    async def wait_for(self, confirmation_id: str) -> ConfirmationResolution:
        """Wait until the request ended; at once when it already has. An unknown id has expired."""
        return await self.__wait_for(confirmation_id)

    def hold(self, confirmation_id: str) -> Callable[[], None] | None:
        """Count on a pending request; what is returned takes that back, and the last to do so withdraws it."""
        return self.__hold(confirmation_id)

    def withdraw(self, confirmation_id: str) -> None:
        """End a pending request that nobody holds as expired, actor ``withdrawn``."""
        self.__withdraw(confirmation_id)
