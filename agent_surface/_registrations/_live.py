"""What is registered right now, prepared so that a call needs no look-up it could have had before."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from agent_surface._base._awaitables import abandon
from agent_surface._base._json import FrozenJson
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface.contracts import ActionBinding, BoundComponent, Concurrency, ObservationBinding, ProcedureBinding
from agent_surface.contracts._capabilities import ActionContract, ObservationContract
from agent_surface.contracts._concurrency import INSTANCE
from agent_surface.contracts._domain import DomainContract
from agent_surface.contracts._handlers import Predicate, Text
from agent_surface.invocation import (
    AVAILABLE,
    AuditLevel,
    Availability,
    CapabilityKind,
    ComponentRef,
    Confirmation,
    Effect,
    Plane,
)
from agent_surface.policies import PolicyChain
from agent_surface.schemas import AgentSchema

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger("agent_surface.registrations")

HandleStatus: TypeAlias = Literal["active", "rejected", "unregistered"]

DEFAULT_REASON = "not possible right now"
COMPONENT_DISABLED = Availability(available=False, reason="component-disabled")
WHEN_ERROR = Availability(available=False, reason="when-error")
MAX_REASON_CHARACTERS = 300
_VARIES: Callable[[LiveCapability], bool] = attrgetter("varies")
_BINDING: Callable[[LiveCapability], ObservationBinding | ActionBinding | ProcedureBinding] = attrgetter("binding")


class ActiveCall(Protocol):
    """A call in flight, as its registration knows it."""

    def owner_gone(self) -> None:
        """The registration was taken away."""


class LiveCapability:
    """One capability of one registration.

    Static facts come from the sealed declaration; behaviour is looked up on the binding at each use.
    """

    __slots__ = (
        "audit",
        "binding",
        "capability_id",
        "chain",
        "concurrency",
        "confirmation",
        "description",
        "effect",
        "idempotent",
        "input",
        "kind",
        "meta",
        "name",
        "output",
        "plane",
        "registration",
        "reversible",
        "shown",
        "timeout_ms",
        "varies",
    )

    def __init__(
        self,
        *,
        registration: Registration,
        capability_id: str,
        name: str,
        contract: ObservationContract[object] | ActionContract[object, object] | DomainContract[object, object],
        binding: ObservationBinding | ActionBinding | ProcedureBinding,
        chain: PolicyChain,
        default_timeout_ms: int,
    ) -> None:
        self.registration = registration
        self.capability_id = capability_id
        self.name = name
        self.binding = binding
        self.chain = chain
        # Whether policies or a live text have a say in how it is shown; a predicate can still be given or taken away.
        self.varies = bool(chain.discovery) or (isinstance(binding, ProcedureBinding) and binding.describe is not None)
        self.description = contract.description
        self.meta: Mapping[str, FrozenJson] = contract.meta
        self.audit: AuditLevel = contract.audit
        self.timeout_ms = contract.timeout_ms if contract.timeout_ms is not None else default_timeout_ms
        self.output: AgentSchema[object] | None = contract.output
        self.input: AgentSchema[object] | None = None
        self.concurrency: Concurrency = INSTANCE
        self.plane = Plane.VIEW
        self.reversible: bool | None = None
        # What a snapshot last made of it; the snapshot alone reads and writes this.
        self.shown: object = None
        if isinstance(contract, ObservationContract):
            self.kind = CapabilityKind.OBSERVATION
            self.effect = Effect.NONE
            self.idempotent = True
            self.confirmation = Confirmation.NEVER
            return
        self.effect = contract.effect
        self.idempotent = contract.idempotent
        self.reversible = contract.reversible
        self.input = contract.input
        if isinstance(contract, ActionContract):
            self.kind = CapabilityKind.ACTION
            self.confirmation = contract.confirmation
            self.concurrency = contract.concurrency
        else:
            self.kind = CapabilityKind.PROCEDURE
            self.plane = Plane.DOMAIN
            self.confirmation = binding.confirmation if isinstance(binding, ProcedureBinding) else contract.confirmation
            self.concurrency = binding.concurrency if isinstance(binding, ProcedureBinding) else INSTANCE

    def availability(self) -> Availability:
        """Whether it can be used at this very moment; user code that raises says no (AS-AVAIL-001, AS-AVAIL-003)."""
        if not self.registration.enabled:
            return COMPONENT_DISABLED
        state = self._state()
        if not state.available or self.binding.when is None:
            return state
        return self._asked(self.binding.when)

    def _state(self) -> Availability:
        """What the component says of it, else what was pushed."""
        source = self.registration.bound.availability
        if source is not None:
            try:
                asked = source(self.capability_id)
                return AVAILABLE if asked.available else self._unavailable(asked.reason)
            except USER_ERRORS:
                logger.exception("the availability of %s could not be told", self.capability_id)
                return WHEN_ERROR
        pushed = self.registration.overrides.get(self.capability_id)
        if pushed is None or pushed.available:
            return AVAILABLE
        return self._unavailable(pushed.reason or self.binding.unavailable_reason)

    def _asked(self, when: Predicate) -> Availability:
        try:
            answer: object = when()
            # A coroutine is true whatever it would return; the predicate has not answered.
            if answer is not True and inspect.isawaitable(answer):
                abandon(answer)
                logger.error("the predicate of %s returned something to await", self.capability_id)
                return WHEN_ERROR
            return AVAILABLE if answer else self._unavailable(self.binding.unavailable_reason)
        except USER_ERRORS:
            logger.exception("the predicate of %s raised", self.capability_id)
            return WHEN_ERROR

    def _unavailable(self, reason: Text | None) -> Availability:
        return Availability(available=False, reason=reason_text(reason, self.capability_id))


def reason_text(reason: Text | None, capability_id: str) -> str:
    """A reason in words for an agent: one that raises, is blank or is no text becomes the default; the rest is cut."""
    said: object = reason
    if callable(reason):
        try:
            said = reason()
        except USER_ERRORS:
            logger.exception("the unavailable reason of %s raised", capability_id)
            return DEFAULT_REASON
    if not isinstance(said, str) or not said.strip():
        abandon(said)
        return DEFAULT_REASON
    return said if len(said) <= MAX_REASON_CHARACTERS else said[: MAX_REASON_CHARACTERS - 1] + "…"


class Registration:
    """One lifetime of one component.

    Attributes:
        registration_id: ``reg_…``.
        bound: The sealed binding.
        status: ``active`` until it is taken away, then ``unregistered``.
        enabled: The component's master switch.
        overrides: Pushed availability by capability id.
        identity: Type and instance: what no two live registrations share.
        active_calls: Calls in flight, oldest first.
    """

    __slots__ = (
        "_asked",
        "_capabilities",
        "active_calls",
        "bound",
        "enabled",
        "identity",
        "instance_id",
        "overrides",
        "projection",
        "registration_id",
        "status",
        "type",
    )

    def __init__(self, registration_id: str, bound: BoundComponent) -> None:
        self.registration_id = registration_id
        self.bound = bound
        self.type = bound.seal.contract.type
        self.instance_id = bound.instance_id
        self.identity = (self.type, self.instance_id)
        self.status: HandleStatus = "active"
        self.enabled = bound.enabled
        self.overrides: dict[str, Availability] = {}
        # What a snapshot last made of it, until something is pushed; the snapshot alone reads it.
        self.projection: object = None
        self._capabilities: dict[str, LiveCapability] = {}
        # The bindings whose predicate alone can change how it is shown; None where something else can.
        self._asked: tuple[ObservationBinding | ActionBinding | ProcedureBinding, ...] | None = None
        self.active_calls: dict[ActiveCall, None] = {}

    @property
    def capabilities(self) -> dict[str, LiveCapability]:
        """What it offers, by capability id."""
        return self._capabilities

    @capabilities.setter
    def capabilities(self, capabilities: dict[str, LiveCapability]) -> None:
        self._capabilities = capabilities
        constant = self.bound.availability is None and not any(map(_VARIES, capabilities.values()))
        self._asked = tuple(map(_BINDING, capabilities.values())) if constant else None

    @property
    def is_constant(self) -> bool:
        """Whether every consumer sees the same of it until something is pushed: no predicate, no vote, no live text."""
        if self._asked is None:
            return False
        for binding in self._asked:  # noqa: SIM110 - asked of every component by every snapshot
            if binding.when is not None:
                return False
        return True

    @property
    def ref(self) -> ComponentRef:
        """Type and instance as a value."""
        return ComponentRef(type=self.type, instance_id=self.instance_id)

    def end(self) -> None:
        """It was taken away. Its capabilities point back at it: what nobody else holds is gone at once."""
        self.status = "unregistered"
        self._capabilities = {}
        self._asked = None

    def find_named(self, name: str) -> str | None:
        """The capability id of a view capability by its name, or ``None``."""
        view_id = f"view:{self.type}.{name}"
        return view_id if view_id in self._capabilities else None

    def __iter__(self) -> Iterator[LiveCapability]:
        return iter(self._capabilities.values())
