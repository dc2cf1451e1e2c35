"""A small registry: real confirmations and typed results, handlers in the hands of the test."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from agent_surface import _failures
from agent_surface._base._json import FrozenJson, JsonValue, freeze_json
from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._snapshot._values import (
    ActionDescriptor,
    AgentSurfaceSnapshot,
    ComponentDescriptor,
    ObservationDescriptor,
    ProcedureDescriptor,
    SnapshotContext,
)
from agent_surface.confirmations import ConfirmationBinding, ConfirmationStore, ConfirmationWaiter
from agent_surface.confirmations._evidence import EvidencePending, EvidenceRefused
from agent_surface.errors import AgentCapabilityError, RegistryClosedError
from agent_surface.events import AgentSurfaceEvent, SurfaceChanged
from agent_surface.invocation import (
    AgentConsumer,
    AgentInvocation,
    AgentInvocationResult,
    CapabilityKind,
    ComponentRef,
    Confirmation,
    ConsumerKind,
    Effect,
    InvocationError,
    InvocationOk,
)
from agent_surface.testing._clock import ManualClock
from agent_surface.testing._ids import SequentialIds

T = TypeVar("T")

Handler: TypeAlias = Callable[[dict[str, JsonValue]], object]

CONSUMER = AgentConsumer(id="assistant", kind=ConsumerKind.TEST)
ANY_OBJECT: dict[str, JsonValue] = {"type": "object"}


class RunningLoop:
    """The loop of the test as a :class:`~agent_surface._base._ports.HostLoop`."""

    def call_soon(self, callback: Callable[[], None]) -> bool:
        """Run ``callback`` in the next turn."""
        asyncio.get_running_loop().call_soon(callback)
        return True

    def call_soon_threadsafe(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` in the next turn, from any thread."""
        asyncio.get_running_loop().call_soon_threadsafe(callback)

    def create_task(self, coroutine: Coroutine[object, object, T]) -> asyncio.Task[T]:
        """Start ``coroutine``."""
        return asyncio.get_running_loop().create_task(coroutine)

    def create_future(self) -> asyncio.Future[object]:
        """A future of the loop."""
        return asyncio.get_running_loop().create_future()


@dataclass
class Offer:
    """One capability of the fake surface; change it and call ``FakeSurface.bump``."""

    capability_id: str
    kind: CapabilityKind
    handler: Handler
    description: str = "Do it."
    effect: Effect = Effect.LOCAL_STATE
    confirmation: Confirmation = Confirmation.NEVER
    idempotent: bool = False
    input_schema: dict[str, JsonValue] = field(default_factory=lambda: dict(ANY_OBJECT))
    component: ComponentRef = field(default_factory=lambda: ComponentRef(type="things.list", instance_id="main"))
    registration_id: str = "reg_1"
    available: bool = True
    reason: str | None = None
    note: str | None = None


class FakeSurface:
    """An ``InvokableSurface`` without policies, queues or time-outs."""

    def __init__(self, *, limits: AgentSurfaceLimits | None = None) -> None:
        self.clock = ManualClock()
        self.offers: list[Offer] = []
        self.gone: set[str] = set()
        self.calls: list[AgentInvocation] = []
        self.consumers: list[AgentConsumer | None] = []
        self.contexts: list[SnapshotContext | None] = []
        self.snapshots = 0
        self.closed = False
        self.admit: Callable[[], None] = lambda: None
        """Called between the claim of evidence and its consumption, as admission is."""
        self._revision = 1
        self._listeners: list[Callable[[AgentSurfaceEvent], None]] = []
        self.confirmations = ConfirmationStore(
            clock=self.clock,
            ids=SequentialIds(),
            limits=limits or AgentSurfaceLimits(),
            emit=lambda event: None,
            create_future=lambda: asyncio.get_running_loop().create_future(),
            record=lambda step: None,
        )

    # What a test does.

    def action(self, name: str, handler: Handler | None = None, **changes: object) -> Offer:
        """Offer a view action; ``changes`` are fields of the offer."""
        return self._add(f"view:things.list.{name}", CapabilityKind.ACTION, handler, changes)

    def observation(self, name: str, handler: Handler | None = None, **changes: object) -> Offer:
        """Offer an observation."""
        changes = {"effect": Effect.NONE, "idempotent": True, **changes}
        return self._add(f"view:things.list.{name}", CapabilityKind.OBSERVATION, handler, changes)

    def procedure(self, path: str, handler: Handler | None = None, **changes: object) -> Offer:
        """Offer a procedure that a person must confirm."""
        changes = {"effect": Effect.DESTRUCTIVE, "confirmation": Confirmation.REQUIRED, **changes}
        return self._add(f"domain:{path}", CapabilityKind.PROCEDURE, handler, changes)

    def remove(self, offer: Offer) -> None:
        """The component of ``offer`` goes with everything it offers."""
        self.gone.add(offer.registration_id)
        self.offers = [other for other in self.offers if other.registration_id != offer.registration_id]
        self.confirmations.expire_registration(offer.registration_id)
        self.bump()

    def bump(self) -> None:
        """A new surface version, announced at once."""
        self._revision += 1
        for listener in tuple(self._listeners):
            listener(SurfaceChanged(surface_version=self.version))

    def answer(self, *, approved: bool, note: str | None = None) -> None:
        """The person answers the oldest request."""
        pending = self.confirmations.pending()[0]
        assert self.confirmations.resolve(pending.confirmation_id, approved=approved, note=note)

    def pending_ids(self) -> list[str]:
        """Requests that are open."""
        return [pending.confirmation_id for pending in self.confirmations.pending()]

    # What a toolset sees.

    @property
    def surface_id(self) -> str:
        """One registry."""
        return "srf_fake"

    @property
    def version(self) -> str:
        """The current surface version."""
        return f"v{self._revision}"

    @property
    def confirmation_waiter(self) -> ConfirmationWaiter:
        """Waiting and withdrawing."""
        return self.confirmations.waiter

    def subscribe(self, listener: Callable[[AgentSurfaceEvent], None]) -> Callable[[], None]:
        """Hear events."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def snapshot(self, context: SnapshotContext | None = None) -> AgentSurfaceSnapshot:
        """Everything, whatever the scope."""
        if self.closed:
            raise RegistryClosedError("closed")
        self.snapshots += 1
        self.contexts.append(context)
        return AgentSurfaceSnapshot(
            surface_id=self.surface_id,
            surface_version=self.version,
            captured_at="2025-06-15T15:06:40Z",
            components=self._components(),
            procedures=tuple(_procedure(offer) for offer in self.offers if offer.kind is CapabilityKind.PROCEDURE),
        )

    async def invoke(
        self, request: AgentInvocation, *, consumer: AgentConsumer | None = None, timeout_ms: int | None = None
    ) -> AgentInvocationResult:
        """Resolve, ask, run."""
        if self.closed:
            raise RegistryClosedError("closed")
        self.calls.append(request)
        self.consumers.append(consumer)
        invocation_id = request.invocation_id or f"inv_{len(self.calls)}"
        try:
            output = await self._run(request, consumer or CONSUMER)
        except AgentCapabilityError as refusal:
            return InvocationError(
                invocation_id=invocation_id,
                capability_id=request.capability_id,
                surface_version=self.version,
                error=refusal.payload,
            )
        return InvocationOk(
            invocation_id=invocation_id,
            capability_id=request.capability_id,
            surface_version=self.version,
            output=freeze_json(output),
            has_output=output is not None,
        )

    async def _run(self, request: AgentInvocation, consumer: AgentConsumer) -> object:
        if request.registration_id in self.gone:
            raise _failures.unmounted("resolve")
        offer = next(
            (
                offer
                for offer in self.offers
                if offer.capability_id == request.capability_id and offer.registration_id == request.registration_id
            ),
            None,
        )
        if offer is None:
            raise _failures.not_found()
        if not offer.available:
            raise _failures.not_available(offer.reason or "not now")
        value = request.input if isinstance(request.input, dict) else {}
        if offer.confirmation is Confirmation.REQUIRED:
            self._require_approval(offer, value, consumer, request.confirmation_id)
        output = offer.handler(value)
        if inspect.isawaitable(output):
            awaited: Awaitable[object] = output
            return await awaited
        return output

    def _require_approval(
        self, offer: Offer, value: dict[str, JsonValue], consumer: AgentConsumer, confirmation_id: str | None
    ) -> None:
        binding = ConfirmationBinding(
            surface_id=self.surface_id,
            registration_id=offer.registration_id,
            capability_id=offer.capability_id,
            consumer_key=consumer.key,
            effect=offer.effect,
            effective_input=freeze_json(value),
        )
        try:
            if confirmation_id is not None:
                evidence = self.confirmations.claim(confirmation_id, binding)
                try:
                    self.admit()
                except AgentCapabilityError:
                    evidence.release()
                    raise
                evidence.consume()
                return
            pending = self.confirmations.request(
                binding,
                description=offer.description,
                component_type=offer.component.type,
                instance_id=offer.component.instance_id,
                consumer=consumer,
                summary=offer.description,
                bound_fields=(),
            )
        except EvidenceRefused as refusal:
            raise _failures.confirmation_invalid(refusal.reason, refusal.note) from None
        except EvidencePending as waiting:
            pending = waiting.pending
        raise _failures.confirmation_required(
            confirmation_id=pending.confirmation_id,
            summary=pending.summary,
            expires_at=pending.expires_at,
            effect=pending.effect.value,
            origin="client",
        )

    def _add(
        self, capability_id: str, kind: CapabilityKind, handler: Handler | None, changes: dict[str, object]
    ) -> Offer:
        offer = Offer(capability_id=capability_id, kind=kind, handler=handler or (lambda value: None))
        for name, value in changes.items():
            assert hasattr(offer, name), name
            setattr(offer, name, value)
        self.offers.append(offer)
        self.bump()
        return offer

    def _components(self) -> tuple[ComponentDescriptor, ...]:
        found: list[ComponentDescriptor] = []
        for registration_id in dict.fromkeys(offer.registration_id for offer in self.offers):
            own = [offer for offer in self.offers if offer.registration_id == registration_id]
            found.append(
                ComponentDescriptor(
                    type=own[0].component.type,
                    instance_id=own[0].component.instance_id,
                    registration_id=registration_id,
                    description="Things.",
                    observations=tuple(_observation(o) for o in own if o.kind is CapabilityKind.OBSERVATION),
                    actions=tuple(_action(o) for o in own if o.kind is CapabilityKind.ACTION),
                )
            )
        return tuple(found)


def _schema(value: dict[str, JsonValue]) -> dict[str, FrozenJson]:
    frozen = freeze_json(value)
    assert not isinstance(frozen, str | int | float | tuple | None)
    return dict(frozen)


def _observation(offer: Offer) -> ObservationDescriptor:
    return ObservationDescriptor(
        capability_id=offer.capability_id,
        name=offer.capability_id.rpartition(".")[2],
        description=offer.description,
        output_schema=_schema(ANY_OBJECT),
        available=offer.available,
        unavailable_reason=offer.reason,
    )


def _action(offer: Offer) -> ActionDescriptor:
    return ActionDescriptor(
        capability_id=offer.capability_id,
        name=offer.capability_id.rpartition(".")[2],
        description=offer.description,
        input_schema=_schema(offer.input_schema),
        effect=offer.effect,
        idempotent=offer.idempotent,
        reversible=True,
        confirmation=offer.confirmation,
        available=offer.available,
        unavailable_reason=offer.reason,
    )


def _procedure(offer: Offer) -> ProcedureDescriptor:
    return ProcedureDescriptor(
        procedure_id=offer.capability_id,
        description=offer.description,
        input_schema=_schema(offer.input_schema),
        effect=offer.effect,
        idempotent=offer.idempotent,
        reversible=False,
        confirmation=offer.confirmation,
        available=offer.available,
        unavailable_reason=offer.reason,
        contextual_note=offer.note,
        registration_id=offer.registration_id,
        context=offer.component,
    )
