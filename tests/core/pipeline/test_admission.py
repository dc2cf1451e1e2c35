"""How many run at once, who waits, and when a place is free again."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, attr-defined, call-overload, index"
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportOptionalSubscript=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agent_surface import (
    AgentComponentContract,
    AgentInvocationResult,
    AgentSurfaceDefinitionError,
    AgentSurfaceLimits,
    Concurrency,
    ServiceExecutor,
    bind_procedure,
)
from tests.core.surface_fixtures import (
    ACT,
    ALICE,
    BOB,
    GO,
    ONE,
    READ,
    RENAME,
    TWO,
    Surface,
    component,
    output,
    refusal,
    turns,
)

FULL = ("RATE_LIMITED", {"reason": "queue-full", "retryAfterMs": 500})


class Works:
    """Handlers that run until they are told to end; keeps who runs and in which order they began."""

    def __init__(self) -> None:
        self.gates: dict[str, asyncio.Event] = {}
        self.running: list[str] = []
        self.began: list[str] = []
        self.most = 0

    async def work(self, name: str) -> dict[str, str]:
        """One run."""
        self.began.append(name)
        self.running.append(name)
        self.most = max(self.most, len(self.running))
        try:
            await self.gates.setdefault(name, asyncio.Event()).wait()
        finally:
            self.running.remove(name)
        return {"name": name}

    def end(self, *names: str) -> None:
        """Let these runs end."""
        for name in names:
            self.gates.setdefault(name, asyncio.Event()).set()

    async def act(self, value: dict[str, str]) -> dict[str, str]:
        """As an action."""
        return await self.work(value["n"])


Call = asyncio.Task[AgentInvocationResult]


def _grouped(concurrency: Concurrency, component_type: str = "t.one") -> AgentComponentContract:
    return component(component_type, concurrency=concurrency)


def _start(surface: Surface, works: Works, *names: str, capability_id: str = ACT, **fields: str) -> list[Call]:
    del works
    return [surface.start(capability_id, {"n": name}, **fields) for name in names]


@pytest.mark.requirement("AS-CONC-002")
async def test_actions_of_one_instance_run_one_at_a_time_in_order(surface: Surface) -> None:
    """Two wait; whoever comes then is told to come again."""
    works = Works()
    surface.mount(act=works.act)
    calls = _start(surface, works, "a", "b", "c")
    await turns()
    assert (works.running, surface.registry.statistics().queued_calls) == (["a"], 2)
    assert refusal(await surface.invoke(ACT, {"n": "d"})) == FULL
    assert refusal(await surface.invoke(GO)) == FULL
    works.end("a", "b", "c")
    assert [output(await call) for call in calls] == [{"name": name} for name in "abc"]
    assert (works.began, works.most) == (["a", "b", "c"], 1)
    assert surface.idle()


@pytest.mark.requirement("AS-CONC-001")
async def test_instances_do_not_wait_for_each_other(surface: Surface) -> None:
    """Nor do components of another type."""
    works = Works()
    surface.mount(act=works.act, instance_id="x")
    surface.mount(act=works.act, instance_id="y")
    surface.mount(TWO, act=works.act)
    calls = [
        *_start(surface, works, "a", instance_id="x"),
        *_start(surface, works, "b", instance_id="y"),
        *_start(surface, works, "c", capability_id="view:t.two.act"),
    ]
    await turns()
    assert works.running == ["a", "b", "c"]
    works.end("a", "b", "c")
    await asyncio.gather(*calls)


@pytest.mark.requirement("AS-CONC-001")
async def test_a_group_of_a_capability_leaves_the_others_alone() -> None:
    """Mode capability: one queue for each."""
    contract = _grouped(Concurrency(mode="capability"))
    surface, works = Surface(contract), Works()
    surface.mount(contract, act=works.act, go=lambda: None)
    calls = _start(surface, works, "a", "b")
    await turns()
    assert works.running == ["a"]
    assert (await surface.invoke(GO)).status == "ok"
    works.end("a", "b")
    await asyncio.gather(*calls)
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-001")
async def test_a_key_is_one_queue_in_the_whole_registry() -> None:
    """Whatever component the actions belong to."""
    one = _grouped(Concurrency(mode="key", key="printer"))
    two = _grouped(Concurrency(mode="key", key="printer"), "t.two")
    three = _grouped(Concurrency(mode="key", key="scanner"), "t.three")
    surface, works = Surface(one, two, three), Works()
    for contract in (one, two, three):
        surface.mount(contract, act=works.act)
    calls = [
        *_start(surface, works, "a"),
        *_start(surface, works, "b", capability_id="view:t.two.act"),
        *_start(surface, works, "c", capability_id="view:t.three.act"),
    ]
    await turns()
    assert works.running == ["a", "c"]
    works.end("a", "b", "c")
    await asyncio.gather(*calls)
    assert works.began == ["a", "c", "b"]
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-001")
async def test_parallel_has_a_bound_and_its_own_queue() -> None:
    """Mode parallel: so many at once, so many waiting."""
    contract = _grouped(Concurrency(mode="parallel", max=2, queue_depth=1))
    surface, works = Surface(contract), Works()
    surface.mount(contract, act=works.act)
    calls = _start(surface, works, *"abc")
    await turns()
    assert works.running == ["a", "b"]
    assert refusal(await surface.invoke(ACT, {"n": "d"})) == FULL
    works.end("b")
    await turns()
    assert works.running == ["a", "c"]
    works.end("a", "c")
    await asyncio.gather(*calls)
    assert works.most == 2
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-001")
async def test_a_queue_of_nothing_takes_nobody() -> None:
    """Depth zero: either now or not."""
    contract = _grouped(Concurrency(queue_depth=0))
    surface, works = Surface(contract), Works()
    surface.mount(contract, act=works.act)
    (call,) = _start(surface, works, "a")
    await turns()
    assert refusal(await surface.invoke(ACT, {"n": "b"})) == FULL
    works.end("a")
    await call
    assert output(await surface.invoke(ACT, {"n": "a"})) == {"name": "a"}
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-003")
async def test_procedures_wait_for_their_own_kind_only() -> None:
    """One group for each reference; neither behind view actions nor in front of them."""
    works = Works()

    async def rename(id: str, name: str) -> str:
        await works.work(name)
        return id

    surface = Surface(ONE, RENAME, procedures=ServiceExecutor({"devices.rename": rename}))
    for instance in ("x", "y"):
        surface.mount(instance_id=instance, act=works.act, procedures=[bind_procedure(RENAME)])

    def call(name: str, instance: str) -> Call:
        return surface.start("domain:devices.rename", {"id": name, "name": name}, instance_id=instance)

    (action,) = _start(surface, works, "a", instance_id="x")
    calls = [call("p", "x"), call("q", "x"), call("r", "y")]
    await turns()
    assert works.running == ["a", "p", "r"]
    assert surface.registry.statistics().admission_groups == 3
    works.end("a", "p", "q", "r")
    assert [output(await item) for item in calls] == ["p", "q", "r"]
    await action
    assert works.began == ["a", "p", "r", "q"]
    assert surface.registry.statistics().admission_groups == 0
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-012")
async def test_a_queued_call_that_is_cancelled_settles_at_once_and_makes_room_at_once(surface: Surface) -> None:
    """The next one takes its place in the same turn."""
    works = Works()
    surface.mount(act=works.act)
    calls = _start(surface, works, "a", "b", "c")
    await turns()
    calls[1].cancel()
    await asyncio.sleep(0)
    statistics = surface.registry.statistics()
    assert (statistics.queued_calls, statistics.in_flight) == (1, 2)
    (late,) = _start(surface, works, "d")
    await turns()
    works.end("a", "b", "c", "d")
    assert [output(await call) for call in (calls[0], calls[2], late)] == [{"name": name} for name in "acd"]
    assert works.began == ["a", "c", "d"]
    assert surface.idle()


@pytest.mark.requirement("AS-CONC-012", "AS-CONC-013")
async def test_a_call_that_is_served_and_ended_in_one_turn_passes_its_place_on(surface: Surface) -> None:
    """Between being given a place and beginning it can still be cancelled."""
    works = Works()
    surface.mount(act=works.act)
    calls = _start(surface, works, "a", "b", "c")
    await turns()
    works.end("a")
    while not calls[0].done() and works.began == ["a"]:
        calls[1].cancel()
        await asyncio.sleep(0)
    works.end("b", "c")
    assert output(await calls[2]) == {"name": "c"}
    assert calls[1].cancelled()
    assert works.began == ["a", "c"]
    await turns()
    assert surface.idle()


@pytest.mark.requirement("AS-CONC-013", "AS-LIFE-001")
@pytest.mark.parametrize("close", [True, False], ids=["close", "unregister"])
async def test_queued_calls_settle_at_once_when_their_component_or_registry_goes(close: bool) -> None:
    """In the same turn, before the running handler has ended."""
    surface, works = Surface(), Works()
    handle = surface.mount(act=works.act)
    calls = _start(surface, works, *"abc")
    await turns()
    if close:
        surface.registry.close()
    else:
        handle.unregister()
    assert surface.told("invocation-settled") == ["invocation-settled"] * 3
    assert surface.registry.statistics().queued_calls == 0
    codes = [refusal(await call)[0] for call in calls]
    assert codes == ["CANCELLED" if close else "COMPONENT_UNMOUNTED"] * 3
    assert works.began == ["a"]
    await turns()
    assert surface.idle()
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-014")
@pytest.mark.parametrize("end", ["time-out", "cancelled"])
async def test_a_place_is_held_until_the_handler_really_ends(surface: Surface, end: str) -> None:
    """A handler that goes on after its call was settled still excludes the others."""
    ended = asyncio.Event()
    began: list[str] = []

    async def act(value: dict[str, str]) -> None:
        began.append(value["n"])
        while value["n"] == "a" and not ended.is_set():
            try:
                await ended.wait()
            except asyncio.CancelledError:
                continue

    surface.mount(act=act)
    first = surface.start(ACT, {"n": "a"}, timeout_ms=10)
    await turns()
    second = surface.start(ACT, {"n": "b"})
    await turns()
    if end == "time-out":
        surface.clock.advance(10)
        assert refusal(await first)[0] == "TIMEOUT"
    else:
        first.cancel()
    await turns()
    assert began == ["a"]
    assert surface.registry.statistics().admission_groups == 1
    ended.set()
    assert (await second).status == "ok"
    assert began == ["a", "b"]
    await turns()
    assert surface.idle()


# --------------------------------------------------------------------------------------------------- observations


def _limits(**limits: int) -> AgentSurfaceLimits:
    wanted = {
        "max_concurrent_observations_per_consumer": 2,
        "max_concurrent_observations_total": 3,
        "max_queued_observations_per_consumer": 2,
        **limits,
    }
    return AgentSurfaceLimits(**wanted)


class Reads:
    """An observation that ends when it is told to."""

    def __init__(self) -> None:
        self.gates: list[asyncio.Event] = []
        self.consumers: list[str] = []
        self.running = 0

    async def read(self, context: object) -> int:
        """One reading."""
        gate = asyncio.Event()
        self.gates.append(gate)
        self.consumers.append(context.consumer.id)
        self.running += 1
        try:
            await gate.wait()
        finally:
            self.running -= 1
        return len(self.gates)

    def end(self, *indexes: int) -> None:
        """Let these readings end."""
        for index in indexes:
            self.gates[index].set()


async def _drained(surface: Surface, reads: Reads, calls: list[Call]) -> None:
    while not all(call.done() for call in calls):
        reads.end(*range(len(reads.gates)))
        await asyncio.sleep(0)
    await turns()
    assert surface.idle()


@pytest.mark.requirement("AS-OBS-001")
async def test_observations_have_a_bound_for_each_consumer_and_a_queue() -> None:
    """Two at once, two waiting, the fifth is told to come again."""
    surface, reads = Surface(limits=_limits()), Reads()
    surface.mount(read=reads.read)
    calls = [surface.start(READ, consumer=ALICE) for _ in range(4)]
    await turns()
    assert (reads.running, surface.registry.statistics().queued_calls) == (2, 2)
    assert refusal(await surface.invoke(READ, consumer=ALICE)) == FULL
    reads.end(0)
    await turns()
    assert (reads.running, surface.registry.statistics().queued_calls) == (2, 1)
    await _drained(surface, reads, calls)
    surface.registry.close()


@pytest.mark.requirement("AS-OBS-001")
async def test_observations_have_a_bound_for_all_consumers() -> None:
    """Whoever comes when all of them are busy waits, though it has none running."""
    surface, reads = Surface(limits=_limits()), Reads()
    surface.mount(read=reads.read)
    calls = [surface.start(READ, consumer=consumer) for consumer in (ALICE, ALICE, BOB, BOB)]
    await turns()
    assert (reads.running, reads.consumers) == (3, ["alice", "alice", "bob"])
    await _drained(surface, reads, calls)
    surface.registry.close()


@pytest.mark.requirement("AS-OBS-002")
async def test_a_consumer_that_fills_its_queue_does_not_keep_another_waiting() -> None:
    """A place that becomes free goes round."""
    surface, reads = Surface(limits=_limits(max_concurrent_observations_total=2)), Reads()
    surface.mount(read=reads.read)
    calls = [surface.start(READ, consumer=ALICE) for _ in range(4)]
    await turns()
    calls += [surface.start(READ, consumer=BOB) for _ in range(2)]
    await turns()
    for index in range(2):
        reads.end(index)
        await turns()
    assert sorted(reads.consumers[2:]) == ["alice", "bob"]
    await _drained(surface, reads, calls)
    surface.registry.close()


@pytest.mark.requirement("AS-OBS-002")
async def test_a_saturated_consumer_leaves_room_for_others() -> None:
    """Its queue stands beside the pool, not in front of it."""
    surface, reads = Surface(limits=_limits()), Reads()
    surface.mount(read=reads.read)
    calls = [surface.start(READ, consumer=ALICE) for _ in range(4)]
    await turns()
    calls.append(surface.start(READ, consumer=BOB))
    await turns()
    assert reads.consumers == ["alice", "alice", "bob"]
    await _drained(surface, reads, calls)
    surface.registry.close()


@pytest.mark.requirement("AS-OBS-001")
async def test_observations_do_not_wait_for_actions(surface: Surface) -> None:
    """A long action does not make a component unreadable."""
    works = Works()
    surface.mount(act=works.act, read=lambda: 5)
    (call,) = _start(surface, works, "a")
    await turns()
    assert output(await surface.invoke(READ)) == 5
    works.end("a")
    await call


@pytest.mark.requirement("AS-OBS-003")
@pytest.mark.allow_logs("agent_surface.pipeline")
@pytest.mark.parametrize("end", ["time-out", "cancelled", "raises", "unregister"])
async def test_a_place_of_an_observation_is_free_after_every_kind_of_end(end: str) -> None:
    """And the one who waits gets it."""
    surface = Surface(limits=_limits(max_concurrent_observations_per_consumer=1))
    reads = Reads()

    async def read(context: object) -> int:
        value = await reads.read(context)
        if end == "raises" and len(reads.gates) == 1:
            raise ValueError("read")
        return value

    handle = surface.mount(read=read, instance_id="x")
    surface.mount(read=read, instance_id="y")
    first = surface.start(READ, timeout_ms=10, instance_id="x")
    await turns()
    second = surface.start(READ, instance_id="y")
    await turns()
    assert reads.running == 1
    if end == "time-out":
        surface.clock.advance(10)
    elif end == "cancelled":
        first.cancel()
    elif end == "raises":
        reads.end(0)
    else:
        handle.unregister()
    await turns()
    assert len(reads.gates) == 2
    reads.end(0, 1)
    assert output(await second) == 2
    await turns()
    assert surface.idle()
    await asyncio.gather(first, return_exceptions=True)
    surface.registry.close()


@pytest.mark.requirement("AS-OBS-003")
async def test_closing_drains_waiting_observations_as_cancelled() -> None:
    """At once."""
    surface, reads = Surface(limits=_limits()), Reads()
    surface.mount(read=reads.read)
    calls = [surface.start(READ) for _ in range(4)]
    await turns()
    surface.registry.close()
    assert surface.registry.statistics().queued_calls == 0
    assert [refusal(await call) for call in calls] == [("CANCELLED", {})] * 4
    await turns()
    assert len(reads.gates) == 2
    assert surface.idle()


# --------------------------------------------------------------------------------------------------------- times


Wait = Callable[[], Awaitable[None]]


@pytest.mark.requirement("AS-TIME-001")
@pytest.mark.parametrize(
    ("declared", "asked", "expected"),
    [(None, None, 10_000), (300, None, 300), (300, 50, 50), (None, 50, 50), (300, 20_000, 20_000)],
)
async def test_the_callers_time_out_counts_then_the_capabilitys_then_the_limit(
    declared: int | None, asked: int | None, expected: int
) -> None:
    """To the millisecond, on the registry's clock."""
    contract = component("t.one", timeout_ms=declared, idempotent=True)
    surface, works = Surface(contract), Works()
    surface.mount(contract, act=works.act)
    call = surface.start(ACT, {"n": "a"}, timeout_ms=asked)
    await turns()
    surface.clock.advance(expected - 1)
    await turns()
    assert not call.done()
    surface.clock.advance(1)
    result = await call
    assert refusal(result) == ("TIMEOUT", {"timeoutMs": expected, "idempotent": True})
    assert result.to_json()["error"]["retry"] == "yes"
    await turns()
    assert works.running == []
    surface.registry.close()


@pytest.mark.requirement("AS-TIME-001")
@pytest.mark.parametrize("timeout_ms", [0, -1, True])
async def test_a_time_out_that_is_no_duration_is_refused_instead_of_meaning_the_default(timeout_ms: int) -> None:
    """Whoever computes how long is left and arrives at nothing must not get the longest time there is."""
    surface, works = Surface(), Works()
    surface.mount(act=works.act)
    with pytest.raises(AgentSurfaceDefinitionError, match="timeout_ms") as caught:
        await surface.invoke(ACT, {"n": "a"}, timeout_ms=timeout_ms)
    assert (caught.value.path, works.began) == ("timeout_ms", [])
    assert surface.idle()
    surface.registry.close()


@pytest.mark.requirement("AS-TIME-001")
@pytest.mark.parametrize(
    ("capability_id", "limit"),
    [
        (READ, {"observation_timeout_ms": 70}),
        (ACT, {"action_timeout_ms": 70}),
        ("domain:devices.rename", {"procedure_timeout_ms": 70}),
    ],
)
async def test_each_kind_has_a_limit_of_its_own(capability_id: str, limit: dict[str, int]) -> None:
    """Five, ten and thirty seconds unless the registry says otherwise."""
    defaults = AgentSurfaceLimits()
    assert (defaults.observation_timeout_ms, defaults.action_timeout_ms, defaults.procedure_timeout_ms) == (
        5_000,
        10_000,
        30_000,
    )
    never = asyncio.Event()

    async def wait(**_: str) -> str:
        await never.wait()
        return ""

    async def read() -> int:
        await never.wait()
        return 0

    executor = ServiceExecutor({"devices.rename": wait})
    surface = Surface(ONE, RENAME, limits=AgentSurfaceLimits(**limit), procedures=executor)
    surface.mount(read=read, act=read, procedures=[bind_procedure(RENAME)])
    value = {"id": "a", "name": "b"} if capability_id.startswith("domain") else None
    call = surface.start(capability_id, value)
    await turns()
    surface.clock.advance(70)
    assert refusal(await call)[1]["timeoutMs"] == 70
    await turns()
    surface.registry.close()


@pytest.mark.requirement("AS-TIME-001")
async def test_a_late_value_is_never_used(surface: Surface) -> None:
    """Neither by those who waited nor by those who ask again."""
    go_on = asyncio.Event()

    async def act() -> dict[str, str]:
        while not go_on.is_set():
            try:
                await go_on.wait()
            except asyncio.CancelledError:
                continue
        return {"late": "value"}

    surface.mount(act=act)
    call = surface.start(invocation_id="i-1", timeout_ms=10)
    await turns()
    surface.clock.advance(10)
    result = await call
    go_on.set()
    await turns()
    assert await surface.invoke(invocation_id="i-1") is result
    assert "late" not in str(result.to_json())
    assert len(surface.audited("late-settlement")) == 1


@pytest.mark.requirement("AS-TIME-001")
async def test_waiting_for_a_turn_is_not_counted_as_running(surface: Surface) -> None:
    """The clock of a time-out starts with the handler."""
    works = Works()
    surface.mount(act=works.act)
    first = surface.start(ACT, {"n": "a"}, timeout_ms=1_000_000)
    await turns()
    second = surface.start(ACT, {"n": "b"}, timeout_ms=100)
    await turns()
    surface.clock.advance(5_000)
    await turns()
    assert not second.done()
    works.end("a")
    await first
    await turns()
    surface.clock.advance(100)
    assert refusal(await second)[0] == "TIMEOUT"
    await turns()


@pytest.mark.requirement("AS-TIME-001")
async def test_no_timer_outlives_its_call(surface: Surface) -> None:
    """Ten thousand calls with an hour each leave none."""
    works = Works()
    works.end("a")
    surface.mount(act=works.act)
    for _ in range(50):
        await surface.invoke(ACT, {"n": "a"}, timeout_ms=3_600_000)
    assert surface.clock.pending_timers == 0
