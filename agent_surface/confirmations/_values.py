"""A request of a person, as the host of the application sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from agent_surface._base._json import FrozenJson
from agent_surface.invocation import AgentConsumer, Effect


class ConfirmationOutcome(StrEnum):
    """How a request of a person ended."""

    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingConfirmation:
    """One pending request, with everything a person must be shown.

    Attributes:
        confirmation_id: ``cnf_…``.
        capability_id: What is to be done.
        description: The contract's words for it.
        registration_id: The component it is to be done on.
        component_type: Type of that component.
        instance_id: Instance of that component.
        consumer: Who asks.
        consumer_key: ``kind:id`` of who asks.
        effect: What it does to the world.
        summary: Plain text, at most 300 characters; never the only thing shown.
        input: The exact effective input, bound and supplied values together.
        bound_fields: Root keys of ``input`` whose value came from the screen and not from the agent.
        requested_at: ISO 8601, UTC.
        expires_at: ISO 8601, UTC.
        expires_in_ms: Milliseconds left when this value was made.
        expires_at_monotonic_ms: When it expires on the registry's monotonic clock.
        origin: ``client`` when the capability or a policy asks, ``server`` when the back end does.
    """

    confirmation_id: str
    capability_id: str
    description: str
    registration_id: str
    component_type: str
    instance_id: str
    consumer: AgentConsumer
    consumer_key: str
    effect: Effect
    summary: str
    input: FrozenJson
    bound_fields: tuple[str, ...]
    requested_at: str
    expires_at: str
    expires_in_ms: int
    expires_at_monotonic_ms: int
    origin: str = "client"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationResolution:
    """How a record ended, with the person's words if there were any.

    ``actor`` is ``person`` for a decision of the host, ``clock`` for an expiry, ``withdrawn`` when nobody waited
    any more or a person took control, ``unmounted`` when the component went, ``closed`` when the registry did.
    """

    confirmation_id: str
    outcome: ConfirmationOutcome
    note: str | None = None
    actor: str = "person"


class ConfirmationController(Protocol):
    """The host's side: the only place where an approval can be minted."""

    def pending(self) -> tuple[PendingConfirmation, ...]:
        """Pending requests, oldest first."""
        ...

    def resolve(self, confirmation_id: str, *, approved: bool, note: str | None = None) -> bool:
        """Decide a pending request; ``False`` when it is no longer pending.

        Args:
            confirmation_id: The record.
            approved: ``True`` mints single-use evidence for exactly the shown input.
            note: The person's words (at most 500 characters are kept); reach the model on a denial.
        """
        ...

    async def wait_for(self, confirmation_id: str) -> ConfirmationResolution:
        """Wait until the request ended; at once when it already has. An unknown id has expired."""
        ...

    def subscribe(self, listener: Callable[[Sequence[PendingConfirmation]], None]) -> Callable[[], None]:
        """Call ``listener`` with all pending requests after each change; returns a disposer."""
        ...

    def resolution(self, confirmation_id: str) -> ConfirmationResolution | None:
        """How a request ended, while that is remembered; ``None`` while it is pending or when forgotten."""
        ...


class ConfirmationWaiter(Protocol):
    """An adapter's side: it can wait for a decision and end a request nobody counts on, never grant one.

    Several adapters may count on one request: equal calls of one consumer share it. Who counts on it is known here and
    nowhere else, so that none of them ends what another one still waits for.
    """

    async def wait_for(self, confirmation_id: str) -> ConfirmationResolution:
        """Wait until the request ended; at once when it already has. An unknown id has expired."""
        ...

    def hold(self, confirmation_id: str) -> Callable[[], None] | None:
        """Count on a pending request.

        Returns:
            Takes that back; may be called any number of times. When nobody holds the request any more and it is still
            pending, it is withdrawn. ``None`` when it is not pending, so that there is nothing to count on.
        """
        ...

    def withdraw(self, confirmation_id: str) -> None:
        """End a request as expired, actor ``withdrawn``. Does nothing when somebody holds it or it is not pending."""
