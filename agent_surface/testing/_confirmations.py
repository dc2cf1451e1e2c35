"""The person, in the hands of a test."""

from __future__ import annotations

from agent_surface.confirmations import PendingConfirmation
from agent_surface.registry import AgentSurfaceRegistry
from agent_surface.testing._clock import ManualClock


class HarnessConfirmations:
    """Decides what a person is asked, through the host's controller.

    Args:
        registry: Where it is asked.
        clock: The registry's clock, when it is in the hands of the test.
    """

    def __init__(self, registry: AgentSurfaceRegistry, *, clock: ManualClock | None) -> None:
        self._registry = registry
        self._clock = clock

    @property
    def pending(self) -> tuple[PendingConfirmation, ...]:
        """What is asked and not decided, oldest first."""
        return self._registry.confirmations.pending()

    def approve(self, confirmation_id: str | None = None, *, note: str | None = None) -> str:
        """Approve a request.

        Args:
            confirmation_id: Which; the one that is pending when absent.
            note: The person's words.

        Returns:
            The evidence, for ``invoke(..., confirmation_id=...)``.

        Raises:
            AssertionError: That request is not pending, or none is named and not exactly one is.
        """
        return self._resolve(confirmation_id, approved=True, note=note)

    def deny(self, confirmation_id: str | None = None, *, note: str | None = None) -> str:
        """Deny a request; arguments, result and errors as for :meth:`approve`."""
        return self._resolve(confirmation_id, approved=False, note=note)

    def expire(self, confirmation_id: str | None = None) -> str:
        """Let a request expire: the clock moves to where it does. On an application's clock it is withdrawn instead.

        Arguments, result and errors as for :meth:`approve`.
        """
        pending = self._the_one(confirmation_id)
        if self._clock is not None:
            self._clock.advance(pending.expires_in_ms)
        else:
            self._registry.confirmation_waiter.withdraw(pending.confirmation_id)
        return pending.confirmation_id

    def _resolve(self, confirmation_id: str | None, *, approved: bool, note: str | None) -> str:
        chosen = self._the_one(confirmation_id).confirmation_id
        self._registry.confirmations.resolve(chosen, approved=approved, note=note)
        return chosen

    def _the_one(self, confirmation_id: str | None) -> PendingConfirmation:
        pending = self.pending
        chosen = [item for item in pending if confirmation_id in (None, item.confirmation_id)]
        if len(chosen) != 1:
            asked = "".join(f"\n  {item.confirmation_id} {item.capability_id}: {item.summary}" for item in pending)
            wanted = "exactly one request" if confirmation_id is None else confirmation_id
            raise AssertionError(f"Expected {wanted} to be pending; pending are:{asked or ' none'}")
        return chosen[0]
