"""A store with a clock, ids and sinks in the hands of the test."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from agent_surface._base._json import FrozenJson
from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface.confirmations import ConfirmationAudit, ConfirmationBinding, ConfirmationStore, PendingConfirmation
from agent_surface.events import AgentSurfaceEvent
from agent_surface.invocation import AgentConsumer, ConsumerKind, Effect
from agent_surface.testing._clock import ManualClock
from agent_surface.testing._ids import SequentialIds

ALICE = AgentConsumer(id="alice", kind=ConsumerKind.TEST)
BOB = AgentConsumer(id="bob", kind=ConsumerKind.TEST)


def binding_of(
    value: FrozenJson = None,
    *,
    consumer: AgentConsumer = ALICE,
    registration_id: str = "reg_1",
    capability_id: str = "domain:devices.disable",
    effect: Effect = Effect.DESTRUCTIVE,
) -> ConfirmationBinding:
    """The binding of a call, with the parts a test does not care about filled in."""
    return ConfirmationBinding(
        surface_id="srf_1",
        registration_id=registration_id,
        capability_id=capability_id,
        consumer_key=consumer.key,
        effect=effect,
        effective_input={"id": "d-42"} if value is None else value,
    )


def _no_loop() -> asyncio.Future[object]:
    return asyncio.get_running_loop().create_future()


@dataclass
class StoreUnderTest:
    """A store and everything it talks to."""

    limits: AgentSurfaceLimits = field(default_factory=AgentSurfaceLimits)
    clock: ManualClock = field(default_factory=ManualClock)
    events: list[AgentSurfaceEvent] = field(default_factory=list[AgentSurfaceEvent])
    audit: list[ConfirmationAudit] = field(default_factory=list[ConfirmationAudit])
    store: ConfirmationStore = field(init=False)

    def __post_init__(self) -> None:
        self.store = ConfirmationStore(
            clock=self.clock,
            ids=SequentialIds(),
            limits=self.limits,
            emit=self.events.append,
            create_future=_no_loop,
            record=self.audit.append,
        )

    def request(
        self,
        binding: ConfirmationBinding | None = None,
        *,
        consumer: AgentConsumer = ALICE,
        summary: str = "Disable d-42",
    ) -> PendingConfirmation:
        """Ask for ``binding``, or for the standard one."""
        return self.store.request(
            binding_of(consumer=consumer) if binding is None else binding,
            description="Disable a device",
            component_type="devices.table",
            instance_id="main",
            consumer=consumer,
            summary=summary,
            bound_fields=("id",),
        )

    def approved(self, binding: ConfirmationBinding | None = None) -> str:
        """Ask and approve; returns the id of the evidence."""
        confirmation_id = self.request(binding).confirmation_id
        assert self.store.resolve(confirmation_id, approved=True)
        return confirmation_id

    def audited(self) -> list[tuple[str, str]]:
        """Kind and actor of each audited step."""
        return [(step.kind.value, step.actor) for step in self.audit]
