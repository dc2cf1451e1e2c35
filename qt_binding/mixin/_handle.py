"""What an application can see of a component's registration."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_surface import AgentSurfaceError, RegistrationHandle

ComponentStatus: TypeAlias = Literal["pending", "active", "rejected", "unregistered"]


class AgentComponentHandle:
    """The registration of one component, as it is now. Read-only for the application.

    Attributes:
        registration_id: ``reg_…`` while it is active, and of the last registration after that; ``None`` before.
        status: ``pending`` until the first show (or attach), ``active``, ``rejected`` (``error`` says why; tried again
            when the reason goes), or ``unregistered``.
        error: Why it was rejected.
    """

    __slots__ = ("__weakref__", "_error", "_registration", "_status")

    def __init__(self) -> None:
        self._registration: RegistrationHandle | None = None
        self._status: ComponentStatus = "pending"
        self._error: AgentSurfaceError | None = None

    @property
    def registration_id(self) -> str | None:
        """``reg_…``, or ``None`` before the first registration."""
        return None if self._registration is None else self._registration.registration_id

    @property
    def status(self) -> ComponentStatus:
        """``pending``, ``active``, ``rejected`` or ``unregistered``."""
        if self._status == "active" and self._registration is not None:
            return self._registration.status  # the registry may have closed, or have taken another in its place
        return self._status

    @property
    def error(self) -> AgentSurfaceError | None:
        """Why it was rejected; ``None`` in every other status."""
        return self._error

    def registered(self, registration: RegistrationHandle) -> None:
        """For the binding: a registration became active."""
        self._registration, self._status, self._error = registration, "active", None

    def rejected(self, error: AgentSurfaceError) -> None:
        """For the binding: there is no registration, and this is why."""
        self._status, self._error = "rejected", error

    def unregistered(self) -> None:
        """For the binding: the registration ended."""
        self._status, self._error = "unregistered", None
