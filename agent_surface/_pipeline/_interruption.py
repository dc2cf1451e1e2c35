"""What ends a call from outside: clock, caller, person, the component that goes, the registry that closes."""

from __future__ import annotations

from agent_surface._failures import cancelled, taken_over, timed_out, unmounted
from agent_surface._pipeline._call import Call
from agent_surface._pipeline._settlement import Settlement
from agent_surface.errors import AgentCapabilityError
from agent_surface.invocation import Effect


class Interruption:
    """Settles a call at once, asks its handler to end, and cancels the task that runs it."""

    def __init__(self, *, settlement: Settlement) -> None:
        self._settlement = settlement

    def timed_out(self, call: Call, timeout_ms: int) -> None:
        """The handler did not end in time."""
        self._end(call, "timeout", timed_out(timeout_ms, idempotent=call.capability.idempotent))

    def cancelled(self, call: Call) -> None:
        """The last one who waited for the result went away."""
        self._end(call, "cancelled", cancelled())

    def taken_over(self, call: Call) -> None:
        """A person has taken control."""
        self._end(call, "taken-over", taken_over())

    def closed(self, call: Call) -> None:
        """The registry is closing."""
        self._end(call, "closed", cancelled(closed=True))

    def owner_gone(self, call: Call) -> None:
        """The component went.

        A navigation that has begun settles on its own end (AS-NAV-001). So does a plain handler that is on the stack:
        it cannot be interrupted, and it may be the very one that closed the window.
        """
        if call.on_stack or (call.dispatched and call.capability.effect is Effect.NAVIGATION):
            call.cancel_token("unmounted")
            return
        self._end(call, "unmounted", unmounted("mid-flight" if call.dispatched else "queued"))

    def _end(self, call: Call, reason: str, error: AgentCapabilityError) -> None:
        if call.result is not None:
            return
        call.cancel_token(reason)
        # A callback of the token may have ended the handler, and with it the call.
        if call.result is None:
            self._settlement.fail(call, error)
        if call.task is not None:
            call.task.cancel()
