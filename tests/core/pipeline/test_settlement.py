"""One call, one result: whatever happens inside, outside, meanwhile and afterwards."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="call-overload, index"
# pyright: reportArgumentType=false, reportCallIssue=false, reportIndexIssue=false, reportOptionalSubscript=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextvars import ContextVar
from logging import LogRecord
from typing import TypeVar, cast

import pytest

from agent_surface import (
    ActionBinding,
    AgentActionContext,
    AgentInvocationResult,
    AgentSurfaceEvent,
    Availability,
    CallNext,
    Concurrency,
    InvocationSettled,
    InvocationStarted,
    ObservationBinding,
    PolicyContext,
    RegistrationHandle,
    RegistryClosedError,
    capability_error,
)
from agent_surface.errors import ErrorCode
from tests.core.surface_fixtures import ACT, ASKING, GO, READ, TWO, Surface, component, output, refusal, turns

T = TypeVar("T")
Interrupt = Callable[[Surface, RegistrationHandle], None]
INTERRUPTIONS: dict[str, tuple[Interrupt, str]] = {
    "unregister": (lambda _, handle: handle.unregister(), "COMPONENT_UNMOUNTED"),
    "close": (lambda surface, _: surface.registry.close(), "CANCELLED"),
    "time-out": (lambda surface, _: surface.clock.advance(20_000), "TIMEOUT"),
}


class _Policy:
    """Runs a function in one hook."""

    name = "probe"

    def __init__(self, **hooks: Callable[..., object]) -> None:
        for name, hook in hooks.items():
            setattr(self, name, hook)


def _settled_once(surface: Surface, expected: int = 1) -> None:
    """Exactly one start and one settlement for each call, in that order."""
    started = [event.invocation_id for event in surface.events if isinstance(event, InvocationStarted)]
    settled = [event.invocation_id for event in surface.events if isinstance(event, InvocationSettled)]
    assert len(started) == len(set(started)) == expected
    assert sorted(started) == sorted(settled)
    order = [e for e in surface.events if isinstance(e, InvocationStarted | InvocationSettled)]
    for invocation_id in started:
        assert [e.type for e in order if e.invocation_id == invocation_id] == [
            "invocation-started",
            "invocation-settled",
        ]


# ------------------------------------------------------------------------------------- while a handler is awaited


@pytest.mark.requirement("AS-CONC-010", "AS-LIFE-001")
@pytest.mark.parametrize(("interrupt", "code"), INTERRUPTIONS.values(), ids=INTERRUPTIONS)
async def test_a_call_in_flight_settles_at_once_when_it_is_interrupted(interrupt: Interrupt, code: str) -> None:
    """Its result does not wait for the handler; the handler is cancelled and told why."""
    surface = Surface()
    reasons: list[str | None] = []
    never = asyncio.Event()

    async def act(_: object, context: AgentActionContext) -> None:
        try:
            await never.wait()
        except asyncio.CancelledError:
            reasons.append(context.cancel.reason)
            raise

    handle = surface.mount(act=act)
    task = surface.start()
    await turns()
    interrupt(surface, handle)
    assert surface.told("invocation-settled") == ["invocation-settled"]
    assert refusal(await task)[0] == code
    await turns()
    assert reasons == [{"COMPONENT_UNMOUNTED": "unmounted", "CANCELLED": "closed", "TIMEOUT": "timeout"}[code]]
    assert surface.idle()
    assert surface.audited("late-settlement") == []
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-010")
async def test_a_call_that_is_closed_tells_its_listeners_first(surface: Surface) -> None:
    """Closing settles, tells, and only then drops those who listen."""
    never = asyncio.Event()

    async def act() -> None:
        await never.wait()

    surface.mount(act=act)
    task = surface.start()
    await turns()
    surface.registry.close()
    assert refusal(await task) == ("CANCELLED", {})
    _settled_once(surface)
    assert surface.told()[-1] == "surface-changed"


@pytest.mark.requirement("AS-CONC-011", "AS-TIME-001")
@pytest.mark.parametrize("ending", ["returns", "raises", "refuses"])
@pytest.mark.parametrize(("interrupt", "code"), INTERRUPTIONS.values(), ids=INTERRUPTIONS)
@pytest.mark.allow_logs("agent_surface.pipeline")
async def test_a_handler_that_swallows_cancellation_is_recorded_as_late_and_changes_nothing(
    interrupt: Interrupt, code: str, ending: str
) -> None:
    """Its value or error reaches nobody; the audit says that it ended."""
    surface = Surface()
    go_on = asyncio.Event()

    async def act() -> object:
        while not go_on.is_set():
            try:
                await go_on.wait()
            except asyncio.CancelledError:
                continue
        if ending == "raises":
            raise ValueError("too late")
        if ending == "refuses":
            raise capability_error(ErrorCode.PRECONDITION_FAILED, message="too late")
        return {"secret": "too late"}

    handle = surface.mount(act=act)
    task = surface.start(invocation_id="i-1")
    await turns()
    interrupt(surface, handle)
    result = await task
    assert refusal(result)[0] == code
    events = len(surface.events)
    go_on.set()
    await turns()
    assert surface.idle()
    (late,) = surface.audited("late-settlement")
    assert (late.invocation_id, late.status) == ("i-1", "ok" if ending == "returns" else "error")
    assert len(surface.audited()) == 1
    assert len(surface.events) == events
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-011", "AS-CONC-014")
async def test_a_worker_thread_that_ends_late_is_recorded_and_keeps_its_place_until_then() -> None:
    """A thread cannot be interrupted, so nothing else of its component starts beside it."""
    import threading

    surface = Surface()
    begun, release = threading.Event(), threading.Event()
    seen: list[bool] = []

    def act(_: object, context: AgentActionContext) -> None:
        begun.set()
        assert release.wait(30)
        seen.append(context.cancel.cancelled)

    surface.mount(act=ActionBinding(execute=act, thread=True))
    first = surface.start(timeout_ms=10)
    assert await asyncio.to_thread(begun.wait, 30)
    surface.clock.advance(10)
    assert refusal(await first) == ("TIMEOUT", {"timeoutMs": 10, "idempotent": False})
    second = surface.start()
    await turns()
    assert surface.registry.statistics().queued_calls == 1
    release.set()
    assert output(await second) is None
    assert seen == [True, False]
    assert [record.status for record in surface.audited("late-settlement")] == ["ok"]
    surface.registry.close()
    assert await surface.registry.wait_closed()


class HeldThreads:
    """Worker threads that do nothing until the test lets them."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Future[object], Callable[[], object]]] = []
        self.ended: list[bool] = []

    def submit(self, function: Callable[[], T], /) -> Future[T]:
        """Keep the function."""
        future: Future[T] = Future()
        self.jobs.append((cast("Future[object]", future), function))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Remember how it was asked for."""
        self.ended.append(not wait and cancel_futures)

    def run_next(self) -> None:
        """Run the oldest function unless it was cancelled."""
        future, function = self.jobs.pop(0)
        if future.set_running_or_notify_cancel():
            future.set_result(function())


@pytest.mark.requirement("AS-CONC-011", "AS-CONC-014")
@pytest.mark.parametrize("kind", INTERRUPTIONS)
async def test_what_waits_for_a_free_thread_never_begins_once_its_call_has_ended(kind: str) -> None:
    """Nothing has happened yet, so nothing has to be outlived; its place is free at once."""
    threads, ran = HeldThreads(), list[str]()
    surface = Surface(threads=threads)
    handle = surface.mount(act=ActionBinding(execute=lambda: ran.append("ran"), thread=True))
    call = surface.start()
    await turns()
    assert len(threads.jobs) == 1
    interrupt, code = INTERRUPTIONS[kind]
    interrupt(surface, handle)
    assert refusal(await call)[0] == code
    await turns()
    assert surface.idle()
    threads.run_next()
    await turns()
    assert ran == []
    assert surface.audited("late-settlement") == []
    surface.registry.close()
    assert threads.ended == [True]


async def test_a_handler_on_a_thread_sees_the_context_of_its_call() -> None:
    """Tracing and the like follow a call wherever it runs, as with ``asyncio.to_thread``."""
    threads, traced = HeldThreads(), ContextVar("traced", default="nothing")
    surface = Surface(threads=threads)
    surface.mount(act=ActionBinding(execute=lambda: {"traced": traced.get()}, thread=True))
    traced.set("the caller")
    call = surface.start()
    await turns()
    traced.set("somebody else")
    threads.run_next()
    assert output(await call) == {"traced": "the caller"}
    surface.registry.close()


# -------------------------------------------------------------------------------------------- by the call itself


@pytest.mark.requirement("AS-CONC-010")
async def test_a_plain_handler_settles_before_the_unmount_it_causes(surface: Surface) -> None:
    """The window it closes may be its own."""
    handles: list[RegistrationHandle] = []

    def act() -> dict[str, str]:
        handles[0].unregister()
        return {"closed": "yes"}

    handles.append(surface.mount(act=act))
    result = await surface.invoke()
    assert output(result) == {"closed": "yes"}
    assert result.surface_changed
    _settled_once(surface)


@pytest.mark.requirement("AS-CONC-010")
async def test_a_plain_handler_that_unmounts_and_then_hands_out_a_coroutine_is_ended(surface: Surface) -> None:
    """What it would still await belongs to a component that is gone."""
    handles: list[RegistrationHandle] = []
    ran: list[str] = []

    async def rest() -> None:
        ran.append("rest")

    def act() -> Awaitable[None]:
        handles[0].unregister()
        return rest()

    handles.append(surface.mount(act=act))
    assert refusal(await surface.invoke()) == ("COMPONENT_UNMOUNTED", {"phase": "mid-flight"})
    await turns()
    assert ran == []
    _settled_once(surface)


async def test_a_handler_that_closes_the_registry_settles_as_cancelled_once() -> None:
    """Closing ends everything in flight, the caller included."""
    surface = Surface()
    surface.mount(act=surface.registry.close)
    assert refusal(await surface.invoke()) == ("CANCELLED", {})
    _settled_once(surface)
    assert surface.idle()


async def test_an_async_handler_that_closes_the_registry_settles_as_cancelled_once() -> None:
    """The same when it runs in a task of its own."""
    surface = Surface()

    async def act() -> None:
        surface.registry.close()
        await asyncio.sleep(0)

    surface.mount(act=act)
    assert refusal(await surface.invoke()) == ("CANCELLED", {})
    await turns()
    _settled_once(surface)
    assert surface.idle()


@pytest.mark.allow_logs("agent_surface.pipeline")
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
async def test_a_handler_that_cancels_itself_has_failed(surface: Surface, plain: bool) -> None:
    """A CancelledError nobody asked for is a failure of the handler, and the caller is not cancelled by it."""

    def act() -> None:
        raise asyncio.CancelledError

    async def async_act() -> None:
        await asyncio.sleep(0)
        raise asyncio.CancelledError

    surface.mount(act=act if plain else async_act)
    assert refusal(await surface.invoke()) == ("EXECUTION_FAILED", {"reason": "handler-error"})
    _settled_once(surface)


class _Stop(BaseException):
    """What a test framework or an interpreter raises to be let through."""


@pytest.mark.allow_logs("agent_surface.pipeline")
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
async def test_what_is_no_exception_goes_on_after_the_call_has_settled(surface: Surface, plain: bool) -> None:
    """The call has its result, the slot is free, and whoever asked is told to stop."""

    def act() -> None:
        raise _Stop

    async def async_act() -> None:
        await asyncio.sleep(0)
        raise _Stop

    surface.mount(act=act if plain else async_act)
    with pytest.raises(_Stop):
        await surface.invoke(invocation_id="i-1")
    await turns()
    _settled_once(surface)
    assert surface.idle()
    assert refusal(await surface.invoke(invocation_id="i-1")) == ("EXECUTION_FAILED", {"reason": "handler-error"})


@pytest.mark.allow_logs("agent_surface.pipeline")
def test_an_interrupt_in_an_async_handler_stops_the_loop_and_leaves_nothing() -> None:
    """KeyboardInterrupt goes through the loop, as Python promises."""
    surfaces: list[Surface] = []

    async def act() -> None:
        await asyncio.sleep(0)
        raise KeyboardInterrupt

    async def main() -> None:
        surface = Surface()
        surfaces.append(surface)
        surface.mount(act=act)
        await surface.invoke()

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    (surface,) = surfaces
    assert [record.code for record in surface.audited()] == [ErrorCode.EXECUTION_FAILED]
    _settled_once(surface)
    assert surface.idle()


# ------------------------------------------------------------- by everything that runs before and after a handler


class _Where:
    """Every place of a call in which the application's own code runs before the handler."""

    def __init__(self, surface: Surface, interrupt: Interrupt) -> None:
        self.surface = surface
        self.interrupt = interrupt
        self.handle: RegistrationHandle | None = None
        self.calls: list[str] = []
        self.at = ""

    def __call__(self, place: str) -> None:
        self.calls.append(place)
        if place == self.at and self.handle is not None:
            handle, self.handle = self.handle, None
            self.interrupt(self.surface, handle)

    def mount(self, surface: Surface, *, plain: bool) -> None:
        def when() -> bool:
            self("when")
            return True

        def precondition(_: object) -> None:
            self("precondition")

        def act() -> None:
            self("handler")

        async def async_act() -> None:
            self("handler")

        def on_authorize(_: PolicyContext, call_next: CallNext) -> Awaitable[object]:
            self("authorize")
            return call_next()

        async def async_authorize(_: PolicyContext, call_next: CallNext) -> object:
            self("async authorize")
            await asyncio.sleep(0)
            return await call_next()

        def on_invoke(_: PolicyContext, call_next: CallNext) -> Awaitable[object]:
            self("invoke")
            return call_next()

        policies = [_Policy(on_authorize=on_authorize, on_invoke=on_invoke)]
        if not plain:
            policies.append(_Policy(on_authorize=async_authorize))
        self.handle = surface.mount(
            act=ActionBinding(
                execute=act if plain else async_act, when=when, precondition=precondition, policies=policies
            )
        )


PLACES = ["started", "when", "authorize", "host", "invoke", "precondition"]


@pytest.mark.requirement("AS-CONC-010", "AS-NAV-003", "AS-INVOKE-009")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["unregister", "close"])
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
async def test_a_call_that_ends_before_its_handler_never_runs_it(place: str, kind: str, plain: bool) -> None:
    """Wherever the application's own code takes the component away, the call settles once and executes nothing."""
    interrupt, code = INTERRUPTIONS[kind]
    where: list[_Where] = []

    def context() -> dict[str, object]:
        if where:
            where[0]("host")
        return {}

    surface = Surface(context=context)
    where.append(_Where(surface, interrupt))
    where[0].mount(surface, plain=plain)
    where[0].at = place

    def hear(event: AgentSurfaceEvent) -> None:
        if event.type == "invocation-started":
            where[0]("started")

    surface.registry.subscribe(hear)
    result = await surface.invoke()
    await turns()
    if place == "started" and kind == "unregister":
        code = "CAPABILITY_NOT_FOUND"
    assert refusal(result)[0] == code
    assert "handler" not in where[0].calls
    _settled_once(surface)
    assert surface.idle()
    assert surface.audited("late-settlement") == []
    assert [record.status for record in surface.audited()] == ["error"]
    surface.registry.close()


@pytest.mark.requirement("AS-INVOKE-009")
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
async def test_a_component_that_goes_in_the_very_last_check_is_not_acted_on(surface: Surface, plain: bool) -> None:
    """The predicate is asked once more in the turn of the start, and what it does then counts too."""
    asked: list[int] = []
    ran: list[int] = []
    handles: list[RegistrationHandle] = []

    def when() -> bool:
        asked.append(1)
        if len(asked) == 2:
            handles[0].unregister()
        return True

    async def async_act() -> None:
        ran.append(1)

    handles.append(surface.mount(act=ActionBinding(execute=(lambda: ran.append(1)) if plain else async_act, when=when)))
    assert refusal(await surface.invoke()) == ("COMPONENT_UNMOUNTED", {"phase": "queued"})
    assert ran == []
    _settled_once(surface)


@pytest.mark.parametrize("kind", ["unregister", "close"])
async def test_what_the_hook_before_a_settlement_does_settles_nothing_twice(kind: str) -> None:
    """The handler ended first: its value stays."""
    interrupt, _ = INTERRUPTIONS[kind]
    handles: list[RegistrationHandle] = []

    def before_settlement() -> None:
        interrupt(surface, handles[0])

    surface = Surface(before_settlement=before_settlement)
    handles.append(surface.mount(act=lambda: {"done": True}))
    assert output(await surface.invoke()) == {"done": True}
    assert [record.status for record in surface.audited()] == ["ok"]
    heard = surface.told()
    assert heard.count("invocation-settled") == 1
    assert heard.index("component-unregistered") < heard.index("invocation-settled")
    surface.registry.close()


@pytest.mark.allow_logs("agent_surface.pipeline")
async def test_a_hook_that_stops_the_program_does_so_after_the_call_has_its_result() -> None:
    """Ctrl-C in the middle of a push: who watches still sees the call end, and nothing of it is left."""

    def before_settlement() -> None:
        raise KeyboardInterrupt

    surface = Surface(before_settlement=before_settlement)
    surface.mount(act=lambda: {"done": True})
    with pytest.raises(KeyboardInterrupt):
        await surface.invoke(invocation_id="i-1")
    assert surface.told("invocation-settled") == ["invocation-settled"]
    assert output(await surface.invoke(invocation_id="i-1")) == {"done": True}
    assert surface.idle()
    surface.registry.close()


@pytest.mark.parametrize("kind", ["unregister", "close"])
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
async def test_a_listener_that_ends_everything_on_a_settlement_is_survived(kind: str, plain: bool) -> None:
    """Re-entrant endings come too late for this call, and reach every other."""
    interrupt, code = INTERRUPTIONS[kind]
    surface = Surface()
    never = asyncio.Event()

    async def async_act(value: dict[str, object]) -> dict[str, object]:
        if value.get("wait"):
            await never.wait()
        return value

    def act(value: dict[str, object]) -> object:
        return async_act(value) if value.get("wait") else value

    contract = component("t.one", concurrency=Concurrency(mode="parallel", max=3))
    surface = Surface(contract)
    handle = surface.mount(contract, act=act if plain else async_act)

    def hear(event: AgentSurfaceEvent) -> None:
        if event.type == "invocation-settled":
            interrupt(surface, handle)

    waiting = surface.start(ACT, {"wait": True})
    await turns()
    surface.registry.subscribe(hear)
    assert output(await surface.invoke(ACT, {"a": 1})) == {"a": 1}
    assert refusal(await waiting)[0] == code
    await turns()
    assert surface.idle()
    _settled_once(surface, 2)
    surface.registry.close()


@pytest.mark.requirement("AS-EVT-001")
async def test_a_listener_that_closes_the_registry_does_not_keep_others_from_hearing(surface: Surface) -> None:
    """What has happened is told before those who listen are dropped, also from inside a delivery."""
    surface.mount(act=lambda: None)
    heard: list[str] = []

    def close(event: AgentSurfaceEvent) -> None:
        if event.type == "invocation-started":
            surface.registry.close()

    surface.registry.subscribe(close)
    surface.registry.subscribe(lambda event: heard.append(event.type))
    assert refusal(await surface.invoke())[0] == "CANCELLED"
    assert heard == ["invocation-started", "invocation-settled", "component-unregistered", "surface-changed"]


# ------------------------------------------------------------------------------------------------------ awaiters


@pytest.fixture
async def slow(surface: Surface) -> AsyncIterator[tuple[Surface, asyncio.Event, list[str]]]:
    """A surface whose action waits for an event."""
    go_on = asyncio.Event()
    ended: list[str] = []

    async def act() -> dict[str, bool]:
        try:
            await go_on.wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        ended.append("done")
        return {"done": True}

    surface.mount(act=act)
    yield surface, go_on, ended
    go_on.set()
    await turns()


Slow = tuple[Surface, asyncio.Event, list[str]]


@pytest.mark.requirement("AS-INVOKE-008", "AS-CONC-012")
async def test_cancelling_the_only_awaiter_cancels_the_call(slow: Slow) -> None:
    """Nobody wants the result any more."""
    surface, _, ended = slow
    task = surface.start(invocation_id="i-1")
    await turns()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await turns()
    assert ended == ["cancelled"]
    assert refusal(await surface.invoke(invocation_id="i-1")) == ("CANCELLED", {})
    _settled_once(surface)
    assert surface.idle()


@pytest.mark.requirement("AS-INVOKE-008", "AS-IDENT-001")
async def test_cancelling_one_of_two_awaiters_leaves_the_call_to_the_other(slow: Slow) -> None:
    """Whoever started it, the one who is left gets the result."""
    surface, go_on, ended = slow
    first, second = surface.start(invocation_id="i-1"), surface.start(invocation_id="i-1")
    await turns()
    first.cancel()
    await turns()
    assert ended == []
    go_on.set()
    assert output(await second) == {"done": True}
    assert first.cancelled()
    assert ended == ["done"]
    _settled_once(surface)


@pytest.mark.requirement("AS-INVOKE-008")
@pytest.mark.parametrize("together", [True, False], ids=["in one turn", "one after the other"])
async def test_the_last_awaiter_to_go_ends_the_call(slow: Slow, together: bool) -> None:
    """However they go."""
    surface, _, ended = slow
    tasks = [surface.start(invocation_id="i-1") for _ in range(3)]
    await turns()
    for task in tasks:
        task.cancel()
        if not together:
            await turns()
    await turns()
    assert ended == ["cancelled"]
    assert all(task.cancelled() for task in tasks)
    _settled_once(surface)
    assert surface.idle()


@pytest.mark.requirement("AS-CONC-012")
@pytest.mark.parametrize("kind", ["unregister", "close"])
async def test_a_call_that_ends_before_its_first_turn_executes_nothing(slow: Slow, kind: str) -> None:
    """Its coroutine was handed to a task that never ran it."""
    surface, _, ended = slow
    interrupt, _ = INTERRUPTIONS[kind]
    handle = surface.mount(TWO, act=lambda: ended.append("plain"))
    surface.mount(ASKING, act=ActionBinding(execute=lambda: ended.append("thread"), thread=True))
    task = surface.start()
    await asyncio.sleep(0)
    interrupt(surface, handle)
    surface.registry.close()
    assert refusal(await task)[0] == "CANCELLED"
    await turns()
    assert ended == []
    _settled_once(surface)
    assert surface.idle()


@pytest.mark.requirement("AS-CONC-012")
@pytest.mark.parametrize("kind", ["unregister", "close"])
async def test_a_call_that_ends_before_its_first_turn_starts_no_policy(kind: str) -> None:
    """Neither a handler nor a policy is left half made; nothing is warned of."""
    surface = Surface()
    interrupt, code = INTERRUPTIONS[kind]
    ran: list[str] = []

    async def on_authorize(_: PolicyContext, call_next: CallNext) -> object:
        ran.append("policy")
        return await call_next()

    policies = [
        _Policy(on_authorize=lambda _, call_next: call_next()),
        _Policy(on_authorize=on_authorize),
        _Policy(on_authorize=on_authorize),
    ]
    handle = surface.mount(act=ActionBinding(execute=lambda: ran.append("handler"), policies=policies))
    task = surface.start()
    await asyncio.sleep(0)
    interrupt(surface, handle)
    assert refusal(await task)[0] == code
    await turns()
    assert ran == []
    _settled_once(surface)
    assert surface.idle()
    surface.registry.close()


async def test_the_end_of_the_loop_ends_its_calls() -> None:
    """Whoever cancels every task of the loop gets every call settled, once."""
    surface = Surface()
    never = asyncio.Event()
    results: list[AgentInvocationResult] = []

    async def act() -> None:
        await never.wait()

    surface.mount(act=act)
    task = surface.start(invocation_id="i-1")
    await turns()
    (owned,) = [t for t in asyncio.all_tasks() if t not in (task, asyncio.current_task())]
    owned.cancel()
    results.append(await task)
    assert refusal(results[0]) == ("CANCELLED", {})
    _settled_once(surface)
    assert surface.idle()
    surface.registry.close()


async def test_a_handler_that_returns_a_task_has_it_cancelled_with_the_call(surface: Surface) -> None:
    """What a plain function hands out to be awaited is part of its call."""
    never = asyncio.Event()
    made: list[asyncio.Task[bool]] = []

    def act() -> Awaitable[bool]:
        made.append(asyncio.ensure_future(never.wait()))
        return made[0]

    surface.mount(act=act)
    call = surface.start(timeout_ms=10)
    await turns()
    surface.clock.advance(10)
    assert refusal(await call)[0] == "TIMEOUT"
    await turns()
    assert made[0].cancelled()
    assert surface.idle()


# --------------------------------------------------------------------------------------------------- navigation


@pytest.mark.requirement("AS-NAV-001")
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
async def test_a_navigation_that_takes_its_owner_away_settles_ok(surface: Surface, plain: bool) -> None:
    """The page it left may be the one that offered it; its token is set and it runs to its end."""
    handles: list[RegistrationHandle] = []
    seen: list[tuple[bool, str | None]] = []

    def go(_: object, context: AgentActionContext) -> None:
        handles[0].unregister()
        seen.append((context.cancel.cancelled, context.cancel.reason))

    async def async_go(_: object, context: AgentActionContext) -> None:
        go(None, context)
        await asyncio.sleep(0)
        seen.append((context.cancel.cancelled, "committed"))

    handles.append(surface.mount(go=go if plain else async_go))
    result = await surface.invoke(GO)
    assert result.status == "ok"
    assert result.surface_changed
    assert seen[0] == (True, "unmounted")
    assert len(seen) == (1 if plain else 2)
    _settled_once(surface)
    assert surface.idle()


@pytest.mark.requirement("AS-NAV-002")
async def test_a_navigation_that_is_refused_settles_a_typed_failure(surface: Surface) -> None:
    """The router said no before anything was committed."""

    async def go() -> None:
        await asyncio.sleep(0)
        raise capability_error(ErrorCode.PRECONDITION_FAILED, message="Save the form first.")

    surface.mount(go=go)
    result = await surface.invoke(GO)
    assert refusal(result)[0] == "PRECONDITION_FAILED"
    assert result.to_json()["error"]["message"] == "Save the form first."
    _settled_once(surface)


@pytest.mark.requirement("AS-NAV-003")
async def test_a_navigation_whose_owner_goes_while_it_is_queued_is_unmounted(surface: Surface) -> None:
    """It has not begun, so it is like any other call."""
    go_on = asyncio.Event()
    ran: list[int] = []

    async def act() -> None:
        await go_on.wait()

    handle = surface.mount(act=act, go=lambda: ran.append(1))
    first = surface.start()
    await turns()
    second = surface.start(GO)
    await turns()
    handle.unregister()
    assert refusal(await second) == ("COMPONENT_UNMOUNTED", {"phase": "queued"})
    assert refusal(await first) == ("COMPONENT_UNMOUNTED", {"phase": "mid-flight"})
    assert ran == []


@pytest.mark.requirement("AS-NAV-004")
async def test_a_time_out_does_not_overwrite_a_settled_navigation(surface: Surface) -> None:
    """Its timer is gone with its settlement."""

    async def go() -> None:
        await asyncio.sleep(0)

    surface.mount(go=go)
    result = await surface.invoke(GO, invocation_id="i-1")
    assert surface.clock.pending_timers == 0
    surface.clock.advance(60_000)
    assert await surface.invoke(GO, invocation_id="i-1") == result
    _settled_once(surface)


@pytest.mark.requirement("AS-NAV-001", "AS-NAV-004")
async def test_a_navigation_whose_owner_went_still_has_its_time_out(surface: Surface) -> None:
    """It does not run for ever because nobody owns it any more."""
    never = asyncio.Event()

    async def go() -> None:
        await never.wait()

    handle = surface.mount(go=go)
    task = surface.start(GO)
    await turns()
    handle.unregister()
    await turns()
    assert not task.done()
    surface.clock.advance(10_000)
    assert refusal(await task)[0] == "TIMEOUT"
    await turns()
    assert surface.idle()


# ------------------------------------------------------------------------------------------------------ misuse


async def test_a_closed_registry_takes_no_calls() -> None:
    """That is a mistake of the program, not an answer for an agent."""
    surface = Surface()
    handle = surface.mount()
    surface.registry.close()
    surface.registry.close()
    for misuse in (surface.registry.snapshot, surface.registry.batch().__enter__, handle.unregister, surface.mount):
        if misuse == handle.unregister:
            misuse()
            continue
        with pytest.raises(RegistryClosedError):
            misuse()
    with pytest.raises(RegistryClosedError):
        await surface.invoke()


async def test_leaving_the_registrys_context_closes_it() -> None:
    """Also when the program fails inside."""
    surface = Surface()

    def use() -> None:
        with surface.registry as registry:
            assert registry is surface.registry
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        use()
    assert surface.registry.closed


@pytest.mark.requirement("AS-OBSV-001")
async def test_times_of_a_call_are_kept_apart(surface: Surface) -> None:
    """How long it waited and how long it ran, also when it did neither to the end."""
    gates = [asyncio.Event() for _ in range(2)]
    started: list[int] = []

    async def act() -> None:
        started.append(1)
        await gates[len(started) - 1].wait()

    surface.mount(act=act)
    tasks = [surface.start(invocation_id=f"i-{index}") for index in range(3)]
    await turns()
    surface.clock.advance(30)
    gates[0].set()
    await tasks[0]
    await turns()
    surface.clock.advance(50)
    tasks[2].cancel()
    await turns()
    surface.clock.advance(20_000)
    assert refusal(await tasks[1])[0] == "TIMEOUT"
    times = {record.invocation_id: (record.queue_wait_ms, record.execution_ms) for record in surface.audited()}
    assert times == {"i-0": (0, 30), "i-1": (30, 10_000), "i-2": (80, 0)}
    durations = [e.duration_ms for e in surface.events if isinstance(e, InvocationSettled)]
    assert durations == [30, 80, 10_030]


async def test_availability_that_breaks_is_no_reason_to_fail_a_settlement(
    expected_logs: list[LogRecord],
) -> None:
    """The hook of a user interface may raise; the call has its value."""

    def before_settlement() -> None:
        raise ValueError("hook")

    surface = Surface(before_settlement=before_settlement)
    surface.mount(act=lambda: {"done": True})
    assert output(await surface.invoke()) == {"done": True}
    assert [record.name for record in expected_logs] == ["agent_surface.pipeline"]
    surface.registry.close()


@pytest.mark.requirement("AS-RESULT-001")
async def test_a_result_says_that_the_surface_changed_while_the_handler_ran(surface: Surface) -> None:
    """The version in the result is the one at its settlement."""
    handle = surface.mount(act=lambda: handle.update(availability={"go": Availability(available=False, reason="no")}))
    before = surface.registry.version
    changed = await surface.invoke()
    assert (changed.surface_changed, changed.surface_version) == (True, surface.registry.version)
    assert changed.surface_version != before
    assert changed.to_json()["surfaceChanged"] is True
    same = await surface.invoke()
    assert (same.surface_changed, same.surface_version) == (False, surface.registry.version)
    assert "surfaceChanged" not in same.to_json()


@pytest.mark.requirement("AS-RESULT-001")
async def test_a_failed_call_says_so_too(surface: Surface) -> None:
    """What a handler did before it failed has happened."""

    def act() -> None:
        handle.invalidate()
        raise capability_error(ErrorCode.PRECONDITION_FAILED)

    handle = surface.mount(act=act)
    result = await surface.invoke()
    assert result.surface_changed
    assert result.to_json()["surfaceChanged"] is True


@pytest.mark.requirement("AS-RESULT-001")
async def test_what_the_hook_before_a_settlement_pushes_is_in_the_result() -> None:
    """A user interface pushes what the handler changed, in the same turn."""
    surface = Surface(before_settlement=lambda: handle.update(enabled=False))
    handle = surface.mount(act=lambda: None)
    result = await surface.invoke()
    assert (result.surface_changed, result.surface_version) == (True, "2")
    surface.registry.close()


@pytest.mark.requirement("AS-CONSUMER-001")
async def test_who_says_nothing_is_the_anonymous_embedded_consumer(surface: Surface) -> None:
    """Without an instance the component is the default one."""
    consumers: list[str] = []
    surface.mount(act=lambda _, context: consumers.append(context.consumer.key))
    await surface.invoke()
    assert consumers == ["embedded:anonymous"]
    assert [record.consumer_key for record in surface.audited()] == ["embedded:anonymous"]
    assert [part.instance_id for part in surface.registry.snapshot().components] == ["default"]


@pytest.mark.requirement("AS-AVAIL-001")
async def test_an_observation_is_read_at_its_call(surface: Surface) -> None:
    """Handlers are looked up live; swapping one changes no version."""
    binding = ObservationBinding(read=lambda: 1)
    surface.mount(read=binding)
    version = surface.registry.version
    assert output(await surface.invoke(READ)) == 1
    binding.read = lambda: 2
    assert output(await surface.invoke(READ)) == 2
    assert surface.registry.version == version
