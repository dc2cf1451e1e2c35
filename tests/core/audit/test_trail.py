"""What is kept of calls and decisions, how much, and what a broken sink costs."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, dict-item"
# pyright: reportArgumentType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

import asyncio
from logging import LogRecord

import pytest

from agent_surface import (
    ActionBinding,
    AgentSurfaceLimits,
    AuditRecord,
    MemoryAuditSink,
    ServiceExecutor,
    bind_procedure,
    capability_error,
    create_agent_surface_registry,
)
from agent_surface.errors import ErrorCode
from agent_surface.testing import ManualClock, contract_authority
from tests.core.surface_fixtures import (
    ACT,
    ALICE,
    DISABLE,
    ONE,
    READ,
    Surface,
    component,
    count,
    nothing,
    output,
    refusal,
    turns,
    zero,
)

START_MS = ManualClock().now_ms()


@pytest.mark.requirement("AS-OBSV-001")
async def test_a_call_is_one_record_with_its_facts(surface: Surface) -> None:
    """Who, what, where, when, how it ended and how long it took."""

    async def act() -> None:
        surface.clock.advance(40)
        await asyncio.sleep(0)

    handle = surface.mount(act=act)
    surface.clock.advance(5)
    await surface.invoke(ACT, {"a": 1}, consumer=ALICE, invocation_id="i-1")
    assert list(surface.sink.records) == [
        AuditRecord(
            kind="invocation",
            at_ms=START_MS + 45,
            capability_id=ACT,
            consumer_key="test:alice",
            registration_id=handle.registration_id,
            invocation_id="i-1",
            status="ok",
            phase=10,
            execution_ms=40,
        )
    ]


@pytest.mark.requirement("AS-OBSV-001")
@pytest.mark.parametrize(
    ("level", "kept"), [("none", None), ("metadata", (None,)), ("full", ({"a": 1},))], ids=["none", "metadata", "full"]
)
async def test_a_capability_says_how_much_is_kept(level: str, kept: tuple[object, ...] | None) -> None:
    """Nothing, the facts, or the facts and the effective input."""
    contract = component("t.one", audit=level)
    surface = Surface(contract)
    surface.mount(contract)
    await surface.invoke(ACT, {"a": 1})
    assert [record.input for record in surface.audited()] == list(kept or ())
    surface.registry.close()


@pytest.mark.requirement("AS-OBSV-001")
async def test_observations_leave_no_record_by_default(surface: Surface) -> None:
    """They are many and change nothing."""
    surface.mount()
    await surface.invoke(READ)
    assert list(surface.sink.records) == []


@pytest.mark.requirement("AS-OBSV-001")
async def test_a_request_for_nothing_is_recorded(surface: Surface) -> None:
    """Somebody tries ids."""
    await surface.invoke("view:t.nope.act", consumer=ALICE)
    (record,) = surface.audited()
    assert (record.capability_id, record.code, record.phase, record.registration_id) == (
        "view:t.nope.act",
        "CAPABILITY_NOT_FOUND",
        2,
        None,
    )


@pytest.mark.requirement("AS-OBSV-001", "AS-CONFIRM-009")
async def test_every_step_of_a_decision_is_recorded_with_who_took_it() -> None:
    """Asked, approved, used; and what the person said when not."""
    surface = Surface(ONE, DISABLE, procedures=ServiceExecutor({"devices.disable": count}))
    surface.mount(procedures=[bind_procedure(DISABLE)])
    for ids, approved in ((["a"], True), (["b"], False)):
        await surface.invoke("domain:devices.disable", {"ids": ids})
        confirmation_id = surface.pending().confirmation_id
        surface.registry.confirmations.resolve(confirmation_id, approved=approved, note=None if approved else "No.")
        await surface.invoke("domain:devices.disable", {"ids": ids}, confirmation_id=confirmation_id)
    await surface.invoke("domain:devices.disable", {"ids": ["c"]})
    surface.clock.advance(120_000)
    steps = [(record.status, record.actor, record.note) for record in surface.audited("confirmation")]
    assert steps == [
        ("requested", "consumer", None),
        ("approved", "person", None),
        ("consumed", "consumer", None),
        ("requested", "consumer", None),
        ("denied", "person", "No."),
        ("requested", "consumer", None),
        ("expired", "clock", None),
    ]
    done = [record for record in surface.audited() if record.status == "ok"]
    assert [(record.input, record.confirmation_id is not None) for record in done] == [({"ids": ("a",)}, True)]
    surface.registry.close()


@pytest.mark.requirement("AS-OBSV-001")
async def test_what_only_the_log_may_say_is_kept_apart(surface: Surface) -> None:
    """The cause and the policy, for people who look into it."""

    def act() -> None:
        facts = {"cause": "row 5 is locked", "row": 5, "share": 0.5, "sure": True, "huge": 2**70}
        raise capability_error(ErrorCode.PRECONDITION_FAILED, log_facts=facts)

    surface.mount(act=act)
    result = await surface.invoke()
    assert "row 5" not in str(result.to_json())
    record = surface.audited()[0]
    assert dict(record.facts) == {
        "cause": "row 5 is locked",
        "row": 5,
        "share": 0.5,
        "sure": True,
        "huge": 2**70,
    }
    # What is no JSON is written as text, so that no fact costs its record.
    written = record.to_json()["facts"]
    assert isinstance(written, dict)
    assert (written["row"], written["share"], written["sure"]) == (5, 0.5, True)
    assert isinstance(written["huge"], str)


@pytest.mark.requirement("AS-OBSV-004")
async def test_a_sink_that_fails_costs_its_record_and_nothing_else(expected_logs: list[LogRecord]) -> None:
    """Calls go on, the loss is counted and logged."""

    class Broken:
        """Takes nothing."""

        def record(self, record: AuditRecord) -> None:
            """Fail."""
            raise OSError("disk full")

    clock = ManualClock()
    registry = create_agent_surface_registry(
        authority=contract_authority(ONE), environment="test", clock=clock, audit=Broken()
    )
    registry.register(ONE.bind(observations={"read": zero}, actions={"act": lambda: {"a": 1}, "go": nothing}))
    from agent_surface import AgentInvocation

    assert output(await registry.invoke(AgentInvocation(capability_id=ACT))) == {"a": 1}
    assert refusal(await registry.invoke(AgentInvocation(capability_id="view:t.nope.x")))[0] == "CAPABILITY_NOT_FOUND"
    assert registry.statistics().audit_failures == 2
    assert len(expected_logs) == 2
    registry.close()


@pytest.mark.requirement("AS-OBSV-005", "AS-BOUND-003")
async def test_the_default_sink_is_bounded_memory_and_counts_what_it_drops() -> None:
    """The latest records stay."""
    from agent_surface import AgentInvocation

    registry = create_agent_surface_registry(
        authority=contract_authority(ONE),
        environment="test",
        limits=AgentSurfaceLimits(audit_buffer_size=3),
        clock=ManualClock(),
    )
    registry.register(ONE.bind(observations={"read": zero}, actions={"act": nothing, "go": nothing}))
    for index in range(5):
        await registry.invoke(AgentInvocation(capability_id=ACT, invocation_id=f"i-{index}"))
    sink = registry.audit
    assert isinstance(sink, MemoryAuditSink)
    assert ([record.invocation_id for record in sink.records], sink.dropped) == (["i-2", "i-3", "i-4"], 2)
    registry.close()
    with pytest.raises(ValueError, match="capacity"):
        MemoryAuditSink(0)


@pytest.mark.requirement("AS-BOUND-003")
async def test_many_calls_leave_a_registry_as_large_as_few() -> None:
    """Every store stays within its bound and empties where it can."""
    limits = AgentSurfaceLimits(
        dedupe_cache_size=10, tombstone_size=5, max_resolved_confirmations=5, audit_buffer_size=10
    )
    surface = Surface(component("t.one"), component("t.asking", confirmation="required"), limits=limits)
    asking = component("t.asking", confirmation="required")
    one = component("t.one")
    surface.registry.subscribe(nothing)

    async def some(count: int) -> object:
        for index in range(count):
            handle = surface.mount(one, act=ActionBinding(execute=nothing))
            other = surface.mount(asking)
            await surface.invoke(ACT, {"n": index})
            await surface.invoke(READ)
            await surface.invoke("view:t.asking.act", {"n": index})
            await surface.invoke("view:t.asking.act", {"n": index}, confirmation_id=surface.approve())
            await surface.invoke("view:t.asking.act", {"n": index})
            await surface.invoke("view:t.nope.act")
            handle.unregister()
            other.unregister()
        surface.events.clear()
        await turns()
        surface.events.clear()
        return surface.registry.statistics()

    after_few = await some(20)
    assert await some(200) == after_few
    assert (surface.clock.pending_timers, surface.idle()) == (1, True)
    surface.clock.advance(10**7)
    assert surface.registry.statistics().tombstones == 0
    assert surface.registry.statistics().resolved_confirmations == 0
    surface.registry.close()
    assert surface.clock.pending_timers == 0
