"""What an approval is bound to, how it is presented, and how it is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from agent_surface._base._canonical import canonical_json
from agent_surface._base._json import FrozenJson
from agent_surface.confirmations._values import PendingConfirmation
from agent_surface.errors import AgentSurfaceError
from agent_surface.invocation import Effect

RefusalReason: TypeAlias = Literal["expired", "denied", "consumed", "mismatch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationBinding:
    """The one call a record stands for. Two bindings are equal when their canonical JSON is the same text.

    Attributes:
        surface_id: The registry that asks.
        registration_id: The live component it is to be done on.
        capability_id: What is to be done.
        consumer_key: ``kind:id`` of who asks.
        effect: What it does to the world.
        effective_input: Bound and supplied values together, validated.
    """

    surface_id: str
    registration_id: str
    capability_id: str
    consumer_key: str
    effect: Effect
    effective_input: FrozenJson

    def canonical_text(self) -> str:
        """The exact text that is compared; injective, because every part is a JSON value under a key of its own."""
        return canonical_json(
            {
                "capabilityId": self.capability_id,
                "consumerKey": self.consumer_key,
                "effect": self.effect.value,
                "effectiveInput": self.effective_input,
                "registrationId": self.registration_id,
                "surfaceId": self.surface_id,
            }
        )


class ConfirmationsFull(AgentSurfaceError):  # noqa: N818 - an outcome of asking, not a mistake
    """As many requests as allowed are pending. Raised instead of making a record; it says nothing about the others."""


class EvidenceRefused(AgentSurfaceError):  # noqa: N818 - an answer to a claim, not a mistake
    """The presented id approves nothing, and never will.

    Not raised while the person has yet to decide: that is :class:`EvidencePending`.

    Attributes:
        reason: Why, in the words an agent may see.
        note: The person's words, when they denied with some.
    """

    def __init__(self, reason: RefusalReason, note: str | None = None) -> None:
        super().__init__(reason)
        self.reason: RefusalReason = reason
        self.note = note


class EvidencePending(AgentSurfaceError):  # noqa: N818 - an answer to a claim, not a mistake
    """The presented id belongs to exactly this call and the person has not decided yet.

    Attributes:
        pending: The record to wait for.
    """

    def __init__(self, pending: PendingConfirmation) -> None:
        super().__init__(pending.confirmation_id)
        self.pending = pending


class ClaimedEvidence:
    """An approval that one call holds. Nobody else can use it until it is released.

    End it by :meth:`consume` in the turn in which the handler is dispatched, or by :meth:`release` when the call ends
    before that. The first of the two counts; whatever follows does nothing.

    Attributes:
        confirmation_id: The record.
        approved_at: ISO 8601, UTC.
    """

    __slots__ = ("_consume", "_open", "_release", "approved_at", "confirmation_id")

    def __init__(
        self,
        *,
        confirmation_id: str,
        approved_at: str,
        consume: Callable[[], None],
        release: Callable[[], None],
    ) -> None:
        self.confirmation_id = confirmation_id
        self.approved_at = approved_at
        self._open = True
        self._consume = consume
        self._release = release

    def consume(self) -> None:
        """Use the approval up. It approves nothing afterwards."""
        if self._open:
            self._open = False
            self._consume()

    def release(self) -> None:
        """Give the approval back unused: the same evidence works again until it expires."""
        if self._open:
            self._open = False
            self._release()


class ConfirmationAuditKind(StrEnum):
    """The steps in the life of a record that are written down."""

    REQUESTED = "requested"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    CONSUMED = "consumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationAudit:
    """One step in the life of a record, for the audit.

    Attributes:
        kind: What happened.
        confirmation_id: The record.
        capability_id: What was to be done.
        registration_id: On which component.
        consumer_key: Who asked.
        effect: What it would do to the world.
        actor: Who caused the step: ``consumer`` (requested, consumed), ``person`` (approved, denied), or for
            ``expired`` ``clock``, ``withdrawn``, ``unmounted``, ``closed``.
        origin: ``client`` or ``server``: who demanded that a person be asked.
        at: When, ISO 8601, UTC.
        note: The person's words.
        unused: For ``expired``: the person had approved, and the approval ran out without being used.
    """

    kind: ConfirmationAuditKind
    confirmation_id: str
    capability_id: str
    registration_id: str
    consumer_key: str
    effect: Effect
    actor: str
    origin: str
    at: str
    note: str | None = None
    unused: bool = False
