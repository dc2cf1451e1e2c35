"""Taking control from every agent at once, until the person hands it back."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Protocol

from agent_surface._base._user_errors import USER_ERRORS
from agent_surface._failures import TAKEN_OVER, not_available
from agent_surface.errors import AgentSurfaceError
from agent_surface.policies._policy import EXPOSE, CallNext, DiscoveryDecision, PolicyContext, disable

logger = logging.getLogger("agent_surface.policies")


class GuardedRegistry(Protocol):
    """What a take-over does to the registry it guards."""

    def batch(self) -> AbstractContextManager[None]:
        """Everything inside is one change; refuses other threads and a closed registry."""
        ...

    def policies_changed(self) -> None:
        """Announce that consumers may be shown something else."""
        ...

    def interrupt(self) -> None:
        """End running calls and withdraw requests of a person."""
        ...


class TakeOver:
    """A switch with which a person takes control: a registry policy for all consumers (QT-DOCK-004).

    Given to a registry in ``policies``, it is connected to that registry and to no other::

        take_over = TakeOver()
        registry = create_agent_surface_registry(authority=..., policies=[take_over])

    While it is engaged every capability a consumer can see is listed as unavailable, with the reason that a person has
    taken control, and every call is refused with ``CAPABILITY_NOT_AVAILABLE`` and that reason. What was running is
    cancelled, and what waited for the person is withdrawn, at the moment it is engaged. Belongs to the registry's
    thread.
    """

    name = "take-over"

    def __init__(self) -> None:
        self._engaged = False
        self._registry: GuardedRegistry | None = None
        self._listeners: list[tuple[object, Callable[[bool], None]]] = []

    @property
    def engaged(self) -> bool:
        """Whether the person has control."""
        return self._engaged

    def engage(self) -> bool:
        """Take control; ``False``, and nothing happens, when the person has it already.

        Raises:
            AgentSurfaceError: No registry was made with this policy, so there is nothing to take control of.
            RegistryClosedError: The registry was closed.
            WrongThreadError: The calling thread does not own the registry.
        """
        return self._turn(engaged=True)

    def hand_back(self) -> bool:
        """Give control back; ``False``, and nothing happens, when the person does not have it.

        Nothing that was cancelled or withdrawn comes back.

        Raises:
            AgentSurfaceError: As for :meth:`engage`.
        """
        return self._turn(engaged=False)

    def subscribe(self, listener: Callable[[bool], None]) -> Callable[[], None]:
        """Call ``listener`` with ``engaged`` after each change; returns a disposer that may be called twice."""
        entry = (object(), listener)
        self._listeners.append(entry)

        def dispose() -> None:
            self._listeners = [other for other in self._listeners if other is not entry]

        return dispose

    # The registry's side.

    def guard(self, registry: GuardedRegistry) -> None:
        """Called once, by the registry that is made with this policy.

        Raises:
            AgentSurfaceError: It guards another registry.
        """
        if self._registry is not None:
            raise AgentSurfaceError("a TakeOver guards one registry; make another for the second")
        self._registry = registry

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:  # noqa: ARG002  the same for everybody
        """Everything that is visible is listed as unavailable while a person has control."""
        return _DISABLED if self._engaged else EXPOSE

    def on_authorize(self, context: PolicyContext, call_next: CallNext) -> Awaitable[object]:  # noqa: ARG002  as above
        """Nothing is executed while a person has control."""
        if self._engaged:
            raise not_available(TAKEN_OVER)
        return call_next()

    def _turn(self, *, engaged: bool) -> bool:
        if self._registry is None:
            raise AgentSurfaceError("this TakeOver guards nothing; give it to a registry in policies=[...]")
        if engaged is self._engaged:
            return False
        with self._registry.batch():
            # First the flag: what is cancelled or withdrawn below may be repeated at once, and is refused then.
            self._engaged = engaged
            self._registry.policies_changed()
            if engaged:
                self._registry.interrupt()
        for _, listener in tuple(self._listeners):
            try:
                listener(engaged)
            except USER_ERRORS:
                logger.exception("a listener of the take-over failed")
        return True


_DISABLED = disable(TAKEN_OVER)
