"""A registry with everything around it in the hands of the test, and contracts to put on it.

Contracts are made by functions: a test that needs its own declares it, and a component type stands for one component.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Literal, cast

from agent_surface import (
    ActionBinding,
    AgentComponentContract,
    AgentConsumer,
    AgentEnvironment,
    AgentInvocation,
    AgentInvocationResult,
    AgentPolicy,
    AgentSurfaceEvent,
    AgentSurfaceLimits,
    AgentSurfaceRegistry,
    AuditRecord,
    BoundComponent,
    Concurrency,
    ConsumerKind,
    HandlerRunner,
    HostLoop,
    InvocationError,
    InvocationOk,
    JsonValue,
    MemoryAuditSink,
    ObservationBinding,
    PendingConfirmation,
    ProcedureExecutor,
    RegistrationGuard,
    RegistrationHandle,
    RouteInfo,
    SnapshotContext,
    WorkerThreads,
    action_contract,
    create_agent_surface_registry,
    define_agent_component_contract,
    define_agent_procedure_contract,
    from_json_schema,
    from_type,
    observation_contract,
)
from agent_surface.testing import ManualClock, SequentialIds, contract_authority

ALICE = AgentConsumer(id="alice", kind=ConsumerKind.TEST)
BOB = AgentConsumer(id="bob", kind=ConsumerKind.TEST)

ACT = "view:t.one.act"
READ = "view:t.one.read"
GO = "view:t.one.go"

IDS_SCHEMA: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
    "required": ["ids"],
    "additionalProperties": False,
}
ANY_FIELDS = from_json_schema({"type": "object", "additionalProperties": True})

Function = Callable[..., object]


def component(
    component_type: str = "t.one",
    *,
    confirmation: Literal["never", "optional", "required"] = "never",
    concurrency: Concurrency | None = None,
    audit: Literal["none", "metadata", "full"] = "metadata",
    timeout_ms: int | None = None,
    idempotent: bool = False,
    priority: int = 0,
    parent_type: str | None = None,
    meta: Mapping[str, JsonValue] | None = None,
) -> AgentComponentContract:
    """A component with an observation ``read``, an action ``act`` and a navigation ``go``."""
    return define_agent_component_contract(
        type=component_type,
        description=f"The component {component_type}",
        observations={"read": observation_contract(description="Read the value", output=from_type(int))},
        actions={
            "act": action_contract(
                description="Do it",
                input=ANY_FIELDS,
                output=ANY_VALUE,
                effect="local-state",
                confirmation=confirmation,
                concurrency=concurrency if concurrency is not None else Concurrency(),
                audit=audit,
                timeout_ms=timeout_ms,
                idempotent=idempotent,
            ),
            "go": action_contract(description="Go there", effect="navigation"),
        },
        priority=priority,
        parent_type=parent_type,
        meta=meta,
    )


ANY_VALUE = from_json_schema({})
ONE = component()
TWO = component("t.two")
ASKING = component("t.asking", confirmation="required")

DISABLE = define_agent_procedure_contract(
    id="domain:devices.disable",
    description="Disable devices",
    input=from_json_schema(
        {
            "type": "object",
            "properties": {
                "ids": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "why": {"type": "string"},
            },
            "required": ["ids"],
            "additionalProperties": False,
        }
    ),
    output=from_type(int),
    effect="destructive",
)
RENAME = define_agent_procedure_contract(
    id="domain:devices.rename",
    description="Rename a device",
    input=from_json_schema(
        {
            "type": "object",
            "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
            "required": ["id", "name"],
            "additionalProperties": False,
        }
    ),
    output=from_type(str),
    effect="server-mutation",
    confirmation="never",
)


def nothing(*_: object) -> None:
    """A handler that does nothing."""


def zero() -> int:
    """An observation."""
    return 0


def count(ids: list[str]) -> int:
    """A service that disables devices, in a manner of speaking."""
    return len(ids)


class Surface:
    """A registry, its clock, and what it told."""

    def __init__(
        self,
        *contracts: object,
        environment: AgentEnvironment = "test",
        limits: AgentSurfaceLimits | None = None,
        policies: tuple[AgentPolicy, ...] = (),
        context: Callable[[], Mapping[str, object]] | None = None,
        procedures: ProcedureExecutor | None = None,
        on_register: RegistrationGuard | None = None,
        on_duplicate_instance: Literal["reject", "replace"] = "reject",
        duplicate_suffix_policy: Literal["off", "warn", "error"] = "warn",
        route: Callable[[], RouteInfo | None] | None = None,
        before_settlement: Callable[[], None] | None = None,
        host_loop: HostLoop | None = None,
        handler_runner: HandlerRunner | None = None,
        threads: WorkerThreads | None = None,
    ) -> None:
        self.clock = ManualClock()
        self.sink = MemoryAuditSink()
        self.events: list[AgentSurfaceEvent] = []
        self.registry: AgentSurfaceRegistry = create_agent_surface_registry(
            authority=contract_authority(*(contracts or (ONE, TWO, ASKING, DISABLE, RENAME))),
            environment=environment,
            limits=limits,
            policies=policies,
            context=context,
            procedures=procedures,
            on_register=on_register,
            on_duplicate_instance=on_duplicate_instance,
            duplicate_suffix_policy=duplicate_suffix_policy,
            route=route,
            before_settlement=before_settlement,
            host_loop=host_loop,
            handler_runner=handler_runner,
            threads=threads,
            audit=self.sink,
            clock=self.clock,
            ids=SequentialIds(),
        )
        self.stop_hearing = self.registry.subscribe(self.events.append)

    def mount(
        self,
        contract: AgentComponentContract = ONE,
        *,
        read: ObservationBinding | Function = zero,
        act: ActionBinding | Function = nothing,
        go: ActionBinding | Function = nothing,
        **binding: object,
    ) -> RegistrationHandle:
        """Register a component made by :func:`component`."""
        bind: Callable[..., BoundComponent] = contract.bind
        return self.registry.register(bind(observations={"read": read}, actions={"act": act, "go": go}, **binding))

    async def invoke(
        self,
        capability_id: str = ACT,
        input: object = None,
        *,
        consumer: AgentConsumer | None = None,
        timeout_ms: int | None = None,
        **fields: object,
    ) -> AgentInvocationResult:
        """Invoke one capability."""
        return await self.registry.invoke(
            AgentInvocation(
                capability_id=capability_id, input=cast("JsonValue", input), **cast("dict[str, str]", fields)
            ),
            consumer=consumer,
            timeout_ms=timeout_ms,
        )

    def start(
        self,
        capability_id: str = ACT,
        input: object = None,
        *,
        consumer: AgentConsumer | None = None,
        timeout_ms: int | None = None,
        **fields: object,
    ) -> asyncio.Task[AgentInvocationResult]:
        """The same as a task."""
        return asyncio.ensure_future(
            self.invoke(capability_id, input, consumer=consumer, timeout_ms=timeout_ms, **fields)
        )

    def pending(self) -> PendingConfirmation:
        """The one request a person is asked."""
        (pending,) = self.registry.confirmations.pending()
        return pending

    def approve(self) -> str:
        """Approve the one pending request; returns the evidence."""
        confirmation_id = self.pending().confirmation_id
        assert self.registry.confirmations.resolve(confirmation_id, approved=True)
        return confirmation_id

    def catalogue(self, consumer: AgentConsumer | None = None) -> dict[str, JsonValue]:
        """The snapshot as JSON."""
        context = SnapshotContext(consumer=consumer) if consumer is not None else None
        return self.registry.snapshot(context).to_json()

    def capability_ids(self, consumer: AgentConsumer | None = None) -> list[str]:
        """Everything a consumer sees, in the order of the catalogue."""
        snapshot = self.registry.snapshot(SnapshotContext(consumer=consumer) if consumer is not None else None)
        found: list[str] = []
        for part in snapshot.components:
            found += [item.capability_id for item in part.observations]
            found += [item.capability_id for item in part.actions]
        return found + [item.procedure_id for item in snapshot.procedures]

    def told(self, *types: str) -> list[str]:
        """The types of the events so far, or of those types only."""
        return [event.type for event in self.events if not types or event.type in types]

    def audited(self, kind: str = "invocation") -> list[AuditRecord]:
        """Audit records of one kind."""
        return [record for record in self.sink.records if record.kind == kind]

    def idle(self) -> bool:
        """Whether nothing is held any more: no call, task, queue place, slot or timer of a call."""
        now = self.registry.statistics()
        return not (now.in_flight or now.running_tasks or now.queued_calls or now.admission_groups or now.observing)


def output(result: AgentInvocationResult) -> object:
    """The output of a call that succeeded."""
    assert isinstance(result, InvocationOk), result
    return result.to_json().get("output")


def refusal(result: AgentInvocationResult) -> tuple[str, dict[str, JsonValue]]:
    """Code and details of a call that did not succeed."""
    assert isinstance(result, InvocationError), result
    details = result.error.to_json().get("details", {})
    assert isinstance(details, dict)
    return result.error.code.value, details


async def turns(count: int = 10) -> None:
    """Let the loop turn a few times."""
    for _ in range(count):
        await asyncio.sleep(0)
