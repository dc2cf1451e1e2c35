"""What the owner of a registration holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from agent_surface._registrations._live import HandleStatus, Registration
from agent_surface.invocation import Availability


class RegistrationOwner(Protocol):
    """The registry as a handle sees it."""

    def update_registration(
        self, registration: Registration, enabled: bool | None, availability: Mapping[str, Availability] | None
    ) -> None:
        """Push new availability."""

    def invalidate_registration(self) -> None:
        """Bump the version once."""

    def remove_registration(self, registration: Registration) -> None:
        """Take the registration away."""

    def warn_dead_handle(self, operation: str, registration_id: str) -> None:
        """Somebody used a handle that is no longer good for anything."""


class RegistrationHandle:
    """One registration, for the one who made it.

    A dead handle (rejected or unregistered) does nothing and warns in development (AS-LIFE-006).

    Attributes:
        registration_id: ``reg_…``.
    """

    __slots__ = ("__weakref__", "_owner", "_registration", "registration_id")

    def __init__(
        self, registration_id: str, *, owner: RegistrationOwner, registration: Registration | None = None
    ) -> None:
        self.registration_id = registration_id
        self._owner = owner
        self._registration = registration

    @property
    def status(self) -> HandleStatus:
        """``active``, ``rejected`` (never live) or ``unregistered``."""
        return "rejected" if self._registration is None else self._registration.status

    def update(self, *, enabled: bool | None = None, availability: Mapping[str, Availability] | None = None) -> None:
        """Push what may change on a live registration; an update that changes nothing announces nothing.

        Args:
            enabled: The component's master switch.
            availability: By capability name or id; capabilities that are not mentioned keep theirs.

        Raises:
            AgentSurfaceDefinitionError: A name is none of this component's capabilities.
        """
        registration = self._live("update")
        if registration is not None:
            self._owner.update_registration(registration, enabled, availability)

    def invalidate(self) -> None:
        """Bump the surface version once without changing anything."""
        if self._live("invalidate") is not None:
            self._owner.invalidate_registration()

    def unregister(self) -> None:
        """Take the component away; its calls in flight end."""
        registration = self._live("unregister")
        if registration is not None:
            self._owner.remove_registration(registration)

    def _live(self, operation: str) -> Registration | None:
        registration = self._registration
        if registration is None or registration.status != "active":
            self._owner.warn_dead_handle(operation, self.registration_id)
            return None
        return registration
