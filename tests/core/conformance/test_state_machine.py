"""Everything at once, in any order: what must hold whatever happens.

A state machine registers and unregisters components, pushes availability, starts and joins and cancels calls, lets
handlers end, asks and decides and lets time pass, while it keeps its own book of what may have happened.
"""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, assignment, attr-defined, explicit-override"
# mypy: disable-error-code="index, misc, return-value, union-attr"
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# pyright: reportImplicitOverride=false, reportIndexIssue=false, reportOptionalIterable=false
# pyright: reportOptionalSubscript=false, reportReturnType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from agent_surface import (
    EXPOSE,
    HIDE,
    ActionBinding,
    AgentActionContext,
    AgentConsumer,
    AgentInvocationResult,
    AgentSurfaceLimits,
    Availability,
    Concurrency,
    ConfirmationRequested,
    ConfirmationResolved,
    DiscoveryDecision,
    InvocationError,
    InvocationSettled,
    InvocationStarted,
    PolicyContext,
    RegistrationHandle,
    SurfaceChanged,
)
from agent_surface._failures import ERROR_TABLE
from tests.core.surface_fixtures import ALICE, BOB, Surface, component, nothing, turns, zero

LIMITS = AgentSurfaceLimits(
    action_queue_depth=1,
    dedupe_cache_size=5,
    dedupe_cache_ttl_ms=2_000,
    tombstone_size=3,
    tombstone_ttl_ms=3_000,
    confirmation_ttl_ms=1_000,
    max_pending_confirmations=3,
    max_resolved_confirmations=4,
    max_concurrent_observations_per_consumer=1,
    max_concurrent_observations_total=2,
    max_queued_observations_per_consumer=1,
    action_timeout_ms=5_000,
    observation_timeout_ms=5_000,
)
FREE = component("t.free", idempotent=True)
ASKS = component("t.asks", confirmation="required")
WIDE = component("t.wide", confirmation="required", concurrency=Concurrency(mode="parallel", max=2))
CONTRACTS = {"t.free": FREE, "t.asks": ASKS, "t.wide": WIDE}
HIDDEN = "view:t.wide.go"
CONSUMERS = (ALICE, BOB)
INSTANCES = ("a", "b")


class _HideFromBob:
    """One capability that Bob must never hear of."""

    name = "hide"

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        """Vote."""
        return HIDE if context.capability_id == HIDDEN and context.consumer == BOB else EXPOSE


@dataclass
class _Run:
    """One execution of a handler."""

    capability_id: str
    registration_id: str
    consumer: AgentConsumer
    value: object
    evidence: str | None
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    ended: bool = False


@dataclass
class _Sent:
    """One request that was sent, and what became of it."""

    task: asyncio.Task[AgentInvocationResult]
    capability_id: str
    consumer: AgentConsumer
    invocation_id: str


class Life(RuleBasedStateMachine):
    """The machine. Every rule ends with the loop at rest."""

    evidence: Bundle[tuple[str, str, AgentConsumer, str, object]] = Bundle("evidence")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.surface: Surface = self.run(self._make())
        self.live: dict[tuple[str, str], RegistrationHandle] = {}
        self.runs: list[_Run] = []
        self.sent: list[_Sent] = []
        self.approved: dict[str, tuple[str, str, str, str]] = {}
        self.used: list[str] = []
        self.violations: list[str] = []
        self.stubborn = False
        self.sequence = 0

    async def _make(self) -> Surface:
        return Surface(*CONTRACTS.values(), limits=LIMITS, policies=(_HideFromBob(),))

    def run(self, coroutine: object) -> object:
        """Run something, then let the loop come to rest."""

        async def settled() -> object:
            value = await coroutine
            await turns(12)
            return value

        return self.loop.run_until_complete(settled())

    def teardown(self) -> None:
        """Close, let everything end, and look once more."""
        for run in self.runs:
            run.gate.set()
        self.run(turns(5))
        self.surface.registry.close()
        self.run(turns(12))
        self.every_call_is_settled_once()
        assert self.surface.idle()
        assert self.surface.clock.pending_timers == 0
        assert all(item.task.done() for item in self.sent)
        assert not asyncio.all_tasks(self.loop)
        self.loop.close()

    # Handlers.

    async def _act(self, value: object, context: AgentActionContext) -> object:
        run = _Run(
            capability_id=context.capability_id,
            registration_id=context.registration_id,
            consumer=context.consumer,
            value=value,
            evidence=context.confirmation.id if context.confirmation is not None else None,
        )
        # An assertion in here would only make the call fail.
        self.violations.extend(self._wrong_with(run))
        self.runs.append(run)
        stubborn = self.stubborn
        try:
            while not run.gate.is_set():
                try:
                    await run.gate.wait()
                except asyncio.CancelledError:
                    if not stubborn:
                        raise
        finally:
            run.ended = True
        return {"ok": True}

    def _wrong_with(self, run: _Run) -> Iterator[str]:
        """What is wrong with an execution that begins: no live component, or not the evidence that is needed."""
        component_type = run.capability_id.removeprefix("view:").rpartition(".")[0]
        if all(handle.registration_id != run.registration_id for handle in self.live.values()):
            yield f"executed on a component that is gone: {run}"
        if component_type == "t.free":
            return
        binding = (run.capability_id, run.registration_id, run.consumer.key, json.dumps(run.value, sort_keys=True))
        if run.evidence is None or self.approved.get(run.evidence) != binding:
            yield f"executed without an approval for exactly this: {run}"
        elif run.evidence in self.used:
            yield f"executed twice with one approval: {run}"
        else:
            self.used.append(run.evidence)

    async def _read(self) -> int:
        await asyncio.sleep(0)
        return zero()

    # Components.

    @initialize()
    def open_the_window(self) -> None:
        """Most of a life happens with components there."""
        for component_type in sorted(CONTRACTS):
            self.add(component_type, "a")

    @rule(component_type=st.sampled_from(sorted(CONTRACTS)), instance=st.sampled_from(INSTANCES))
    def register(self, component_type: str, instance: str) -> None:
        """A component comes, or is refused because another holds its identity."""
        self.add(component_type, instance)

    def add(self, component_type: str, instance: str) -> None:
        """Register a component."""

        async def step() -> None:
            handle = self.surface.mount(
                CONTRACTS[component_type],
                instance_id=instance,
                read=self._read,
                act=ActionBinding(execute=self._act),
                go=nothing,
            )
            taken = (component_type, instance) in self.live
            assert handle.status == ("rejected" if taken else "active")
            if not taken:
                self.live[component_type, instance] = handle

        self.run(step())

    @rule(component_type=st.sampled_from(sorted(CONTRACTS)), instance=st.sampled_from(INSTANCES))
    def unregister(self, component_type: str, instance: str) -> None:
        """A component goes, with everything in flight on it."""

        async def step() -> None:
            handle = self.live.pop((component_type, instance), None)
            if handle is not None:
                handle.unregister()
                assert handle.status == "unregistered"

        self.run(step())

    @rule(
        component_type=st.sampled_from(sorted(CONTRACTS)),
        instance=st.sampled_from(INSTANCES),
        name=st.sampled_from(["act", "read", "go"]),
        available=st.booleans(),
    )
    def push(self, component_type: str, instance: str, name: str, available: bool) -> None:
        """Availability is pushed."""

        async def step() -> None:
            handle = self.live.get((component_type, instance))
            if handle is not None:
                handle.update(availability={name: Availability(available=available, reason="pushed")})

        self.run(step())

    # Calls.

    @rule(
        component_type=st.sampled_from(sorted(CONTRACTS)),
        name=st.sampled_from(["act", "act", "read", "go", "nope"]),
        consumer=st.sampled_from(CONSUMERS),
        value=st.sampled_from([{"n": 1}, {"n": 2}]),
        invocation=st.sampled_from([None, None, None, 0, 1]),
        instance=st.sampled_from([None, *INSTANCES]),
        timeout_ms=st.sampled_from([None, 300]),
    )
    def invoke(
        self,
        component_type: str,
        name: str,
        consumer: AgentConsumer,
        value: dict[str, int],
        invocation: int | None,
        instance: str | None,
        timeout_ms: int | None,
    ) -> None:
        """A request is sent; it may join, replay or conflict."""
        self._send(
            f"view:{component_type}.{name}",
            value if name == "act" else None,
            consumer,
            self._fresh() if invocation is None else f"i-{invocation}",
            instance,
            timeout_ms=timeout_ms,
        )

    def _fresh(self) -> str:
        self.sequence += 1
        return f"f-{self.sequence}"

    @rule(consumer=st.sampled_from(CONSUMERS), instance=st.sampled_from(INSTANCES))
    def reach_for_what_is_hidden(self, consumer: AgentConsumer, instance: str) -> None:
        """Somebody guesses the id."""
        self._send(HIDDEN, None, consumer, self._fresh(), instance)

    @rule(
        target=evidence,
        component_type=st.sampled_from(["t.asks", "t.wide"]),
        consumer=st.sampled_from(CONSUMERS),
        value=st.sampled_from([{"n": 1}, {"n": 2}]),
    )
    def ask_and_approve(
        self, component_type: str, consumer: AgentConsumer, value: dict[str, int]
    ) -> tuple[str, str, AgentConsumer, str, object]:
        """The usual way to an approval."""
        self._send(f"view:{component_type}.act", value, consumer, self._fresh(), "a")
        return self.decide_now(0, True)

    def _send(
        self,
        capability_id: str,
        value: object,
        consumer: AgentConsumer,
        invocation_id: str,
        instance: str | None,
        **fields: object,
    ) -> None:
        async def step() -> None:
            task = self.surface.start(
                capability_id,
                value,
                consumer=consumer,
                invocation_id=invocation_id,
                instance_id=instance,
                **fields,
            )
            self.sent.append(_Sent(task, capability_id, consumer, invocation_id))

        self.run(step())

    @rule(index=st.integers(0, 20))
    def cancel(self, index: int) -> None:
        """An awaiter goes away."""

        async def step() -> None:
            waiting = [item for item in self.sent if not item.task.done()]
            if waiting:
                waiting[index % len(waiting)].task.cancel()

        self.run(step())

    @rule(index=st.integers(0, 20))
    def end(self, index: int) -> None:
        """A handler ends."""

        async def step() -> None:
            running = [run for run in self.runs if not run.ended]
            if running:
                running[index % len(running)].gate.set()

        self.run(step())

    @rule(stubborn=st.booleans())
    def handlers_ignore_cancellation(self, stubborn: bool) -> None:
        """Handlers that start from now on do, or do not."""
        self.stubborn = stubborn

    @rule(
        delay_ms=st.sampled_from([1, 299, 300, 999, 1_000, 2_000, 5_000]),
        wall_ms=st.sampled_from([0, 0, -(10**6), 10**6]),
    )
    def time_passes(self, delay_ms: int, wall_ms: int) -> None:
        """The clock moves; somebody may set the wall clock meanwhile."""

        async def step() -> None:
            self.surface.clock.jump_wall_clock(wall_ms)
            self.surface.clock.advance(delay_ms)

        self.run(step())

    # People.

    @rule(target=evidence, index=st.integers(0, 5), approved=st.booleans())
    def decide(self, index: int, approved: bool) -> tuple[str, str, AgentConsumer, str, object]:
        """A person answers one of the pending requests."""
        return self.decide_now(index, approved)

    def decide_now(self, index: int, approved: bool) -> tuple[str, str, AgentConsumer, str, object]:
        """Answer one of the pending requests."""

        async def step() -> tuple[str, str, AgentConsumer, str, object]:
            pending = self.surface.registry.confirmations.pending()
            if not pending:
                return "cnf_none", "view:t.asks.act", ALICE, "a", {"n": 1}
            asked = pending[index % len(pending)]
            value = {key: asked.input[key] for key in asked.input}
            if approved:
                self.approved[asked.confirmation_id] = (
                    asked.capability_id,
                    asked.registration_id,
                    asked.consumer_key,
                    json.dumps(value, sort_keys=True),
                )
            assert self.surface.registry.confirmations.resolve(asked.confirmation_id, approved=approved)
            return asked.confirmation_id, asked.capability_id, asked.consumer, asked.instance_id, value

        return self.run(step())

    @rule(
        given=evidence,
        change=st.sampled_from(["", "", "input", "consumer"]),
        keep=st.sampled_from([False, False, True]),
    )
    def present(self, given: tuple[str, str, AgentConsumer, str, object], change: str, keep: bool) -> None:
        """Evidence is presented, for what it was given for or for something else."""
        confirmation_id, capability_id, consumer, instance, value = given
        if change == "input":
            value = {"n": 99}
        if change == "consumer":
            consumer = BOB if consumer == ALICE else ALICE
        invocation_id = "e-0" if keep else self._fresh()
        self._send(capability_id, value, consumer, invocation_id, instance, confirmation_id=confirmation_id)

    @rule(given=consumes(evidence))
    def withdraw(self, given: tuple[str, str, AgentConsumer, str, object]) -> None:
        """An adapter gives up waiting; that can end a request and never grant one."""

        async def step() -> None:
            self.surface.registry.confirmation_waiter.withdraw(given[0])

        self.run(step())

    # What holds.

    @invariant()
    def every_call_is_settled_once(self) -> None:
        """Started before settled, settled once, and in flight is exactly what has not settled."""
        if not hasattr(self, "sent"):
            return
        open_calls: dict[str, int] = {}
        for event in self.surface.events:
            if isinstance(event, InvocationStarted):
                open_calls[event.invocation_id] = open_calls.get(event.invocation_id, 0) + 1
            elif isinstance(event, InvocationSettled):
                open_calls[event.invocation_id] -= 1
                assert open_calls[event.invocation_id] >= 0
        assert sum(open_calls.values()) == self.surface.registry.statistics().in_flight
        settled = sum(isinstance(event, InvocationSettled) for event in self.surface.events)
        pending = sum(not item.task.done() for item in self.sent)
        assert pending >= 0
        assert settled <= len(self.sent)

    @invariant()
    def nothing_executes_that_may_not(self) -> None:
        """On a live component, with evidence for exactly this where it is needed, once."""
        assert self.violations == []

    @invariant()
    def requests_of_a_person_are_resolved_once(self) -> None:
        """Requested before resolved, and no answer without a question."""
        asked: dict[str, int] = {}
        for event in self.surface.events:
            if isinstance(event, ConfirmationRequested):
                assert event.confirmation_id not in asked
                asked[event.confirmation_id] = 1
            elif isinstance(event, ConfirmationResolved):
                asked[event.confirmation_id] -= 1
                assert asked[event.confirmation_id] == 0

    @invariant()
    def bounds_hold(self) -> None:
        """Nothing grows beyond what was agreed."""
        now = self.surface.registry.statistics()
        assert now.remembered_results <= LIMITS.dedupe_cache_size
        assert now.tombstones <= LIMITS.tombstone_size
        assert now.pending_confirmations <= LIMITS.max_pending_confirmations
        assert now.resolved_confirmations <= LIMITS.max_resolved_confirmations
        assert now.observing <= LIMITS.max_concurrent_observations_total
        assert now.queued_events == now.lost_events == now.audit_failures == 0
        running = [run for run in self.runs if not run.ended]
        for registration_id in {run.registration_id for run in running}:
            here = [run for run in running if run.registration_id == registration_id]
            assert len(here) <= (2 if here[0].capability_id.startswith("view:t.wide") else 1)

    @invariant()
    def the_catalogue_is_what_is_live(self) -> None:
        """Unique identities, and the version moved with every change."""
        snapshot = self.run(self._snapshot())
        shown = {(part.type, part.instance_id): part.registration_id for part in snapshot.components}
        assert shown == {key: handle.registration_id for key, handle in self.live.items()}
        announced = [int(e.surface_version) for e in self.surface.events if isinstance(e, SurfaceChanged)]
        assert announced == sorted(set(announced))

    async def _snapshot(self) -> object:
        return self.surface.registry.snapshot()

    @invariant()
    def nothing_hidden_is_named(self) -> None:
        """What Bob must not know of is in no answer to Bob, whatever else happened."""
        catalogue = self.run(self._catalogue_of_bob())
        assert HIDDEN not in str(catalogue)
        for item in self.sent:
            if not item.task.done() or item.task.cancelled():
                continue
            result = item.task.result()
            assert result.capability_id == item.capability_id
            if isinstance(result, InvocationError):
                spec = ERROR_TABLE[result.error.code]
                assert "*" in spec.details or set(result.error.details) <= spec.details
                if item.capability_id == HIDDEN and item.consumer == BOB:
                    assert result.error.code in ("CAPABILITY_NOT_FOUND", "INVOCATION_CONFLICT")
            else:
                assert not (item.capability_id == HIDDEN and item.consumer == BOB)

    async def _catalogue_of_bob(self) -> object:
        return self.surface.catalogue(BOB)


Life.TestCase.settings = settings(
    max_examples=20,
    stateful_step_count=35,
    deadline=None,
    # Making an example small takes longer than a test may; it is printed as it was found.
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
test_a_surface_keeps_its_promises_in_any_order = pytest.mark.requirement(
    "AS-CONFIRM-003", "AS-BOUND-002", "AS-LIFE-004", "AS-INVOKE-007", "AS-EVT-001"
)(Life.TestCase)
