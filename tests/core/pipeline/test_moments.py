"""What falls between two steps of a call: code of the application that acts on the call it is part of."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type"
# pyright: reportArgumentType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from logging import LogRecord
from typing import TypeVar

import pytest
from typing_extensions import override

from agent_surface import (
    EXPOSE,
    HIDE,
    AgentActionContext,
    AgentSurfaceError,
    AgentSurfaceLimits,
    AuditRecord,
    CallNext,
    DiscoveryDecision,
    JsonValue,
    MemoryAuditSink,
    PolicyContext,
    RegistrationHandle,
    ServiceExecutor,
    bind_procedure,
    capability_error,
    create_agent_surface_registry,
)
from agent_surface.errors import ErrorCode
from agent_surface.testing import ManualClock, contract_authority
from agent_surface.testing._clock import ManualTimer
from tests.core.surface_fixtures import (
    ACT,
    ASKING,
    DISABLE,
    GO,
    ONE,
    READ,
    TWO,
    Surface,
    component,
    count,
    nothing,
    output,
    refusal,
    turns,
    zero,
)

T = TypeVar("T")


class NextTurn:
    """Runs plain handlers as a user interface does: in a turn of their own, the next one or a later one."""

    def __init__(self, after: int = 0) -> None:
        self._after = after

    def run(self, handler: Callable[[], T]) -> Awaitable[T]:
        """Run ``handler`` after so many turns."""
        left = self._after
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def turn() -> None:
            nonlocal left
            if left:
                left -= 1
                asyncio.get_running_loop().call_soon(turn)
                return
            try:
                future.set_result(handler())
            except Exception as error:  # noqa: BLE001 - the future carries whatever the handler raised
                future.set_exception(error)

        asyncio.get_running_loop().call_soon(turn)
        return future


# ---------------------------------------------------------------------------------- handlers in turns of their own


async def test_a_plain_handler_that_runs_in_a_turn_of_its_own_has_its_value_awaited() -> None:
    """Also when what it returns has to be awaited itself."""

    async def later() -> int:
        return 2

    surface = Surface(handler_runner=NextTurn())
    surface.mount(read=lambda: 1, instance_id="plain")
    surface.mount(read=lambda: later(), instance_id="async")  # noqa: PLW0108 - a plain function that returns a coroutine
    values = [output(await surface.invoke(READ, instance_id=name)) for name in ("plain", "async")]
    assert values == [1, 2]
    assert surface.idle()
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-010")
@pytest.mark.parametrize("turns_before", [0, 1, 2])
async def test_a_component_that_goes_around_the_turn_of_a_handler_ends_its_call_once(turns_before: int) -> None:
    """Before its turn nothing runs; what it has begun by then is given up."""
    begun: list[str] = []

    async def later() -> None:
        begun.append("later")
        await asyncio.Event().wait()

    def act() -> Awaitable[None]:
        begun.append("act")
        return later()

    surface = Surface(handler_runner=NextTurn())
    handle = surface.mount(act=act)
    call = surface.start()
    await asyncio.sleep(0)
    for _ in range(turns_before):
        await asyncio.sleep(0)
    handle.unregister()
    assert refusal(await call)[0] == "COMPONENT_UNMOUNTED"
    await turns()
    assert surface.idle()
    assert surface.told("invocation-settled") == ["invocation-settled"]
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-010")
async def test_a_handler_whose_component_goes_in_its_own_turn_is_not_awaited_any_further() -> None:
    """It closed its own window and has more to do, of which nobody would hear."""
    awaited: list[str] = []

    async def later() -> None:
        awaited.append("later")

    def act() -> Awaitable[None]:
        handle.unregister()
        return later()

    surface = Surface(handler_runner=NextTurn())
    handle = surface.mount(act=act)
    assert refusal(await surface.invoke()) == ("COMPONENT_UNMOUNTED", {"phase": "mid-flight"})
    await turns()
    assert awaited == []
    surface.registry.close()


async def test_a_handler_whose_turn_is_late_has_it_also_when_its_caller_has_left() -> None:
    """What is on its way to run cannot be taken back, so its place is kept until it has run."""
    ran: list[str] = []
    surface = Surface(handler_runner=NextTurn(after=5))
    surface.mount(act=lambda: ran.append("act"))
    call = surface.start(timeout_ms=10)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    surface.clock.advance(10)
    assert refusal(await call)[0] == "TIMEOUT"
    assert not surface.idle()
    await turns()
    assert surface.idle()
    assert output(await surface.invoke()) is None
    assert ran[-1:] == ["act"]
    surface.registry.close()


async def test_a_task_that_a_handler_made_is_cancelled_when_the_handler_has_ended_its_own_call(
    surface: Surface,
) -> None:
    """It closed its own window and returned a task of its own, of which nobody would hear."""
    made: list[asyncio.Task[bool]] = []

    def act() -> Awaitable[bool]:
        handle.unregister()
        made.append(asyncio.ensure_future(asyncio.Event().wait()))
        return made[0]

    handle = surface.mount(act=act)
    assert refusal(await surface.invoke()) == ("COMPONENT_UNMOUNTED", {"phase": "mid-flight"})
    await turns()
    assert made[0].cancelled()


# ------------------------------------------------------------------------------------------ policies between phases


class Fickle:
    """Exposes a capability the first time it is asked in a call, and hides it from then on."""

    name = "fickle"

    def __init__(self) -> None:
        self.asked = 0

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        """Another answer each time."""
        del context
        self.asked += 1
        return EXPOSE if self.asked == 1 else HIDE


@pytest.mark.requirement("AS-AVAIL-002")
async def test_what_is_hidden_while_a_call_is_on_its_way_was_never_there() -> None:
    """A right that is withdrawn between two phases answers like an id that does not exist."""
    surface = Surface(policies=(Fickle(),))
    surface.mount()
    hidden, unknown = await surface.invoke(ACT), await surface.invoke("view:t.one.unknown")
    assert hidden.to_json()["error"] == unknown.to_json()["error"]
    surface.registry.close()


async def test_a_policy_that_refuses_only_after_its_call_was_given_up_changes_nothing() -> None:
    """No handler had begun, so nothing is late either."""

    class Stubborn:
        name = "stubborn"

        async def on_authorize(self, context: PolicyContext, call_next: CallNext) -> object:
            del context, call_next
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise capability_error(ErrorCode.NOT_AUTHORIZED) from None
            raise AssertionError

    surface = Surface(policies=(Stubborn(),))
    surface.mount()
    call = surface.start(invocation_id="i-1")
    await turns()
    call.cancel()
    await turns()
    assert refusal(await surface.invoke(invocation_id="i-1")) == ("CANCELLED", {})
    assert [record.kind for record in surface.sink.records] == ["invocation"]
    surface.registry.close()


# ----------------------------------------------------------------------------------------- what a cancel token calls


@pytest.mark.requirement("AS-CONC-010")
async def test_a_cancel_callback_that_ends_its_own_call_settles_it_once() -> None:
    """The callback closes the window the call belongs to, in the middle of the time-out."""
    surface = Surface()

    async def act(value: object, context: AgentActionContext) -> None:
        del value
        context.cancel.on_cancel(handle.unregister)
        await asyncio.Event().wait()

    handle = surface.mount(act=act)
    call = surface.start(timeout_ms=10)
    await turns()
    surface.clock.advance(10)
    assert refusal(await call)[0] == "COMPONENT_UNMOUNTED"
    await turns()
    assert surface.told("invocation-settled") == ["invocation-settled"]
    assert surface.idle()
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-013")
async def test_a_cancel_callback_that_ends_another_call_while_the_registry_closes_settles_that_once_too() -> None:
    """Closing comes to a call that has its result already."""
    surface = Surface()
    handles: list[RegistrationHandle] = []

    def end_the_last() -> None:
        handles[-1].unregister()

    async def act(value: object, context: AgentActionContext) -> None:
        del value
        context.cancel.on_cancel(end_the_last)
        await asyncio.Event().wait()

    handles += [surface.mount(act=act), surface.mount(TWO, act=act)]
    calls = [surface.start(), surface.start("view:t.two.act")]
    await turns()
    surface.registry.close()
    assert [refusal(await call)[0] for call in calls] == ["CANCELLED", "COMPONENT_UNMOUNTED"]
    assert len(surface.told("invocation-settled")) == 2


async def test_whoever_stopped_waiting_for_the_token_is_not_told_of_the_cancellation(surface: Surface) -> None:
    """Giving up the wait and the end of the call may fall into one turn."""

    async def act(value: object, context: AgentActionContext) -> None:
        del value
        waits.append(asyncio.ensure_future(context.cancel.wait()))
        await asyncio.Event().wait()

    waits: list[asyncio.Future[None]] = []
    handle = surface.mount(act=act)
    call = surface.start()
    await turns()
    waits[0].cancel()
    handle.unregister()
    assert refusal(await call)[0] == "COMPONENT_UNMOUNTED"
    assert (await asyncio.gather(*waits, return_exceptions=True))[0].__class__ is asyncio.CancelledError


# --------------------------------------------------------------------------------------------------------- queues


def _tasks_of_calls() -> list[asyncio.Task[object]]:
    return [task for task in asyncio.all_tasks() if "Pipeline" in repr(task)]


@pytest.mark.requirement("AS-CONC-014")
@pytest.mark.parametrize("kind", [ACT, READ])
async def test_a_place_in_a_queue_whose_owner_was_cancelled_in_the_same_turn_goes_to_the_next(kind: str) -> None:
    """Somebody cancels the task of a waiting call while the one before it ends: its turn is not lost."""
    gates = [asyncio.Event() for _ in range(3)]
    ran: list[int] = []

    async def work() -> int:
        number = len(ran)
        ran.append(number)
        await gates[number].wait()
        return number

    surface = Surface(limits=AgentSurfaceLimits(max_concurrent_observations_per_consumer=1))
    surface.mount(read=work, act=work)
    first = surface.start(kind)
    await turns()
    running = set(_tasks_of_calls())
    second = surface.start(kind)
    await turns()
    (waiting,) = set(_tasks_of_calls()) - running
    third = surface.start(kind)
    await turns()
    gates[0].set()
    await asyncio.sleep(0)
    # The handler ends in this turn, and its place is given away at the end of it.
    waiting.cancel()
    gates[1].set()
    assert output(await first) == 0
    assert refusal(await second)[0] == "CANCELLED"
    assert output(await third) == 1
    await turns()
    assert surface.idle()
    surface.registry.close()


# ---------------------------------------------------------------------------------------- requests that are wrong


@pytest.mark.parametrize("registration_id", [7, ("a",)])
async def test_a_registration_id_that_is_no_text_is_not_found(surface: Surface, registration_id: object) -> None:
    """A caller in the same process may hand in anything."""
    surface.mount()
    assert refusal(await surface.invoke(ACT, registration_id=registration_id)) == ("CAPABILITY_NOT_FOUND", {})


@pytest.mark.requirement("AS-INVOKE-003")
async def test_a_bound_value_that_the_library_itself_cannot_give_is_a_failed_binding() -> None:
    """The screen reads a registry that was closed: no answer of it reaches the agent, and nobody is asked."""

    def selected() -> JsonValue:
        raise AgentSurfaceError("a secret of the screen")

    surface = Surface(ONE, DISABLE, procedures=ServiceExecutor({"devices.disable": count}))
    surface.registry.register(
        ONE.bind(
            observations={"read": zero},
            actions={"act": nothing, "go": nothing},
            procedures=[bind_procedure(DISABLE, bind={"ids": selected})],
        )
    )
    result = await surface.invoke("domain:devices.disable", {})
    assert refusal(result) == ("PRECONDITION_FAILED", {"reason": "binding-failed"})
    assert "secret" not in str(result.to_json())
    assert surface.audited()[0].facts["field"] == "ids"
    assert surface.registry.confirmations.pending() == ()
    surface.registry.close()


# ------------------------------------------------------------------------------------------ audit sinks that act


class ClosingSink(MemoryAuditSink):
    """Closes the registry when the confirmation of a person ends unused."""

    def __init__(self) -> None:
        super().__init__()
        self.close: Callable[[], None] = nothing

    @override
    def record(self, record: AuditRecord) -> None:
        """Keep it, and act on it."""
        super().record(record)
        if (record.kind, record.status) == ("confirmation", "expired"):
            self.close()


@pytest.mark.requirement("AS-CONC-013")
async def test_a_sink_that_closes_the_registry_while_a_person_is_about_to_be_asked_asks_nobody() -> None:
    """The question is audited together with what expired before it."""
    sink, clock = ClosingSink(), ManualClock()
    # Without a loop a timer never fires; what is due is done when somebody comes.
    clock.call_later = lambda delay_ms, callback: ManualTimer(callback)  # type: ignore[method-assign]
    registry = create_agent_surface_registry(
        authority=contract_authority(ASKING), environment="test", audit=sink, clock=clock
    )
    surface = Surface()
    surface.registry.close()
    surface.registry = registry
    surface.mount(ASKING)
    await surface.invoke("view:t.asking.act", {"n": 1})
    surface.approve()
    clock.advance(120_000)
    sink.close = registry.close
    assert refusal(await surface.invoke("view:t.asking.act", {"n": 2}))[0] == "CANCELLED"
    assert [record.status for record in sink.records if record.kind == "confirmation"] == [
        "requested",
        "approved",
        "expired",
    ]


@pytest.mark.requirement("AS-LIFE-001")
async def test_a_sink_that_takes_a_component_away_while_the_registry_takes_all_away_is_survived() -> None:
    """Each goes once."""
    contract = component("t.one", confirmation="required")
    surface = Surface(contract, TWO)
    sink = ClosingSink()
    registry = create_agent_surface_registry(
        authority=contract_authority(contract, TWO), environment="test", audit=sink, clock=surface.clock
    )
    surface.registry.close()
    surface.registry = registry
    events: list[str] = []
    registry.subscribe(lambda event: events.append(event.type))
    surface.mount(contract)
    second = surface.mount(TWO)
    sink.close = second.unregister
    await surface.invoke()
    registry.close()
    assert events.count("component-unregistered") == 2


# ---------------------------------------------------------------------------------------------- slow and unwanted


async def test_a_plain_handler_that_holds_the_owner_thread_is_named_in_the_log(
    surface: Surface, expected_logs: list[LogRecord]
) -> None:
    """At the limit it is not slow yet."""
    surface.mount(act=lambda: surface.clock.advance(100), go=lambda: surface.clock.advance(101))
    await surface.invoke(ACT)
    assert expected_logs == []
    await surface.invoke(GO)
    (record,) = expected_logs
    assert GO in record.getMessage()
    assert "101 ms" in record.getMessage()


@pytest.mark.requirement("AS-SCHEMA-001")
async def test_an_observation_takes_nothing_or_an_empty_object(surface: Surface) -> None:
    """What it would do with more is nowhere declared."""
    surface.mount()
    assert output(await surface.invoke(READ, {})) == 0
    assert refusal(await surface.invoke(READ, {"where": "home"})) == (
        "INVALID_INPUT",
        {"issues": [{"path": "", "message": "takes no input"}]},
    )


async def test_narrower_limits_for_schemas_are_held_where_a_schema_is_and_only_there() -> None:
    """A component whose capabilities are small enough, or have no schema, is registered."""
    surface = Surface(limits=AgentSurfaceLimits(max_schema_depth=3, max_schema_bytes=1_000))
    assert surface.mount().status == "active"
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-014")
@pytest.mark.parametrize("kind", [ACT, READ])
async def test_a_place_that_comes_free_before_who_was_cancelled_has_left_the_queue_stays_free(kind: str) -> None:
    """The slot is given away between the cancellation of the one who waits and its first turn afterwards."""
    never = asyncio.Event()

    async def work() -> int:
        await never.wait()
        return 0

    surface = Surface(limits=AgentSurfaceLimits(max_concurrent_observations_per_consumer=1))
    surface.mount(read=work, act=work)
    first = surface.start(kind, timeout_ms=10)
    await turns()
    running = set(_tasks_of_calls())
    second = surface.start(kind)
    await turns()
    (waiting,) = set(_tasks_of_calls()) - running
    surface.clock.advance(10)
    waiting.cancel()
    assert refusal(await first)[0] == "TIMEOUT"
    assert refusal(await second)[0] == "CANCELLED"
    await turns()
    assert surface.idle()
    never.set()
    assert output(await surface.start(kind)) == 0
    surface.registry.close()
