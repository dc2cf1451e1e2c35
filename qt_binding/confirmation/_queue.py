"""In which order requests are shown. No widgets here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_surface.confirmations import PendingConfirmation


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStep:
    """What is to be done now; both are ``None`` when everything is as it should be.

    Attributes:
        ended: The shown request is no longer pending: say so and close it, then report it :meth:`closed
            <ConfirmationQueue.closed>`.
        show: Nothing is shown and this request is the oldest.
    """

    ended: str | None = None
    show: PendingConfirmation | None = None


class ConfirmationQueue:
    """One request at a time, the oldest first, and the next only when the one before is off the screen.

    An example, with requests a and b::

        update([a, b])  show a
        update([a, b])  -
        update([b])     a has ended            the dialog says so
        update([b])     -
        closed(a)
        update([b])     show b
    """

    def __init__(self) -> None:
        self._current: str | None = None
        self._ending = False

    @property
    def current(self) -> str | None:
        """The request that is on the screen."""
        return self._current

    def update(self, pending: Sequence[PendingConfirmation]) -> QueueStep:
        """Decide what follows from the requests that are pending now, oldest first."""
        if self._current is None:
            if not pending:
                return QueueStep()
            self._current = pending[0].confirmation_id
            return QueueStep(show=pending[0])
        if not self._ending and all(one.confirmation_id != self._current for one in pending):
            self._ending = True
            return QueueStep(ended=self._current)
        return QueueStep()

    def closed(self, confirmation_id: str) -> None:
        """The request is off the screen. Does nothing for any other than the current one."""
        if confirmation_id == self._current:
            self._current = None
            self._ending = False

    def waiting(self, pending: Sequence[PendingConfirmation]) -> tuple[PendingConfirmation, ...]:
        """The requests that wait behind the current one, oldest first."""
        return tuple(one for one in pending if one.confirmation_id != self._current)
