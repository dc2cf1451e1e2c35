"""A registry belongs to one thread; there is one way in from another."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, func-returns-value, misc"
# pyright: reportArgumentType=false

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine, Iterator
from logging import LogRecord
from typing import TypeVar

import pytest
from typing_extensions import override

from agent_surface import (
    AgentInvocation,
    AgentInvocationResult,
    AgentSurfaceDefectError,
    RegistryClosedError,
    WrongThreadError,
)
from agent_surface._base._system import AsyncioHostLoop
from agent_surface.registry import _threadsafe
from tests.core.surface_fixtures import ACT, ASKING, GO, ONE, READ, Surface, nothing, output, refusal, turns, zero

T = TypeVar("T")
Result = concurrent.futures.Future[AgentInvocationResult]


async def elsewhere(function: Callable[[], object]) -> object:
    """Run a function on another thread and wait for it; what it raises comes back."""
    return await asyncio.wait_for(asyncio.to_thread(function), 30)


def _invoke_there(surface: Surface) -> object:
    return asyncio.run(surface.invoke(READ))


USES: dict[str, Callable[[Surface], object]] = {
    "register": lambda surface: surface.mount(),
    "snapshot": lambda surface: surface.registry.snapshot(),
    "subscribe": lambda surface: surface.registry.subscribe(nothing),
    "statistics": lambda surface: surface.registry.statistics(),
    "batch": lambda surface: surface.registry.batch().__enter__(),
    "set_procedure_executor": lambda surface: surface.registry.set_procedure_executor(None),
    "close": lambda surface: surface.registry.close(),
    "invoke": _invoke_there,
    "confirmations.pending": lambda surface: surface.registry.confirmations.pending(),
    "confirmations.resolve": lambda surface: surface.registry.confirmations.resolve("cnf_1", approved=True),
    "confirmations.subscribe": lambda surface: surface.registry.confirmations.subscribe(nothing),
    "confirmations.resolution": lambda surface: surface.registry.confirmations.resolution("cnf_1"),
    "confirmations.wait_for": lambda surface: asyncio.run(surface.registry.confirmations.wait_for("cnf_1")),
    "confirmations.hold": lambda surface: surface.registry.confirmation_waiter.hold("cnf_1"),
    "confirmations.withdraw": lambda surface: surface.registry.confirmation_waiter.withdraw("cnf_1"),
}


@pytest.mark.requirement("AS-THREAD-001")
@pytest.mark.parametrize("operation", USES)
async def test_another_thread_is_refused_and_told_the_way_in(surface: Surface, operation: str) -> None:
    """Nothing is half done by then."""
    with pytest.raises(WrongThreadError, match=f"^{operation} .*invoke_threadsafe"):
        await elsewhere(lambda: USES[operation](surface))
    assert (surface.registry.version, surface.registry.closed) == ("0", False)


@pytest.mark.requirement("AS-THREAD-001")
@pytest.mark.parametrize("operation", ["update", "invalidate", "unregister"])
@pytest.mark.parametrize("dead", [False, True])
async def test_a_handle_belongs_to_the_owner_thread_too(surface: Surface, operation: str, dead: bool) -> None:
    """Also a dead one."""
    handle = surface.mount()
    if dead:
        handle.unregister()
    with pytest.raises(WrongThreadError, match=f"^{operation} "):
        await elsewhere(getattr(handle, operation))
    assert handle.status == ("unregistered" if dead else "active")


@pytest.mark.requirement("AS-THREAD-001")
async def test_a_person_cannot_be_impersonated_from_another_thread(surface: Surface) -> None:
    """A pending request stays pending."""
    surface.mount(ASKING)
    await surface.invoke("view:t.asking.act")
    confirmation_id = surface.pending().confirmation_id
    with pytest.raises(WrongThreadError):
        await elsewhere(lambda: surface.registry.confirmations.resolve(confirmation_id, approved=True))
    assert surface.pending().confirmation_id == confirmation_id


@pytest.mark.requirement("AS-THREAD-001")
async def test_a_call_from_another_thread_runs_on_the_owner_thread_and_comes_back(surface: Surface) -> None:
    """Plain or async, result or refusal."""
    threads: list[int] = []

    async def act() -> dict[str, int]:
        await asyncio.sleep(0)
        threads.append(threading.get_ident())
        return {"a": 1}

    surface.mount(act=act, read=lambda: threads.append(threading.get_ident()) or 5)
    invoke = surface.registry.invoke_threadsafe
    results = [
        await elsewhere(lambda capability=capability: invoke(AgentInvocation(capability_id=capability)).result(30))
        for capability in (ACT, READ, "view:t.nope.act")
    ]
    assert [output(result) for result in results[:2]] == [{"a": 1}, 5]
    assert refusal(results[2])[0] == "CAPABILITY_NOT_FOUND"
    assert set(threads) == {threading.get_ident()}


@pytest.mark.requirement("AS-THREAD-001")
async def test_twenty_calls_with_one_id_from_four_threads_execute_once(surface: Surface) -> None:
    """They join, and all get the same result."""
    ran: list[int] = []
    go_on = asyncio.Event()

    async def act() -> dict[str, int]:
        ran.append(1)
        await go_on.wait()
        return {"ran": len(ran)}

    surface.mount(act=act)
    request = AgentInvocation(capability_id=ACT, invocation_id="i-1")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        made = [pool.submit(surface.registry.invoke_threadsafe, request) for _ in range(20)]
        calls = [asyncio.wrap_future(future.result(30)) for future in made]
    await turns()
    go_on.set()
    results = await asyncio.gather(*calls)
    assert ran == [1]
    assert all(result is results[0] for result in results)


@pytest.mark.requirement("AS-THREAD-001")
async def test_cancelling_the_future_cancels_the_call(surface: Surface) -> None:
    """Like cancelling an awaiter."""
    ended: list[str] = []

    async def act() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    surface.mount(act=act)
    future = surface.registry.invoke_threadsafe(AgentInvocation(capability_id=ACT, invocation_id="i-1"))
    await turns()
    assert await elsewhere(future.cancel) is True
    await turns()
    assert ended == ["ended"]
    assert future.cancelled()
    assert concurrent.futures.wait([future], timeout=0).done == {future}
    assert refusal(await surface.invoke(invocation_id="i-1")) == ("CANCELLED", {})
    assert surface.idle()


@pytest.mark.requirement("AS-THREAD-001")
async def test_a_future_cancelled_before_its_call_began_starts_nothing(surface: Surface) -> None:
    """Whoever waits for it is told."""
    surface.mount()
    future = surface.registry.invoke_threadsafe(AgentInvocation(capability_id=ACT))
    assert future.cancel()
    await turns()
    assert surface.told("invocation-started") == []
    assert concurrent.futures.wait([future], timeout=0).done == {future}
    assert future.cancel()


@pytest.mark.requirement("AS-THREAD-001")
async def test_a_finished_future_cannot_be_cancelled(surface: Surface) -> None:
    """Its result stays."""
    surface.mount()
    future = surface.registry.invoke_threadsafe(AgentInvocation(capability_id=READ))
    await turns()
    assert future.cancel() is False
    assert output(future.result()) == 0


@pytest.mark.requirement("AS-THREAD-001")
async def test_the_owner_thread_cannot_wait_for_itself(surface: Surface) -> None:
    """That could only dead-lock; a result that is there can be had."""
    surface.mount()
    future = surface.registry.invoke_threadsafe(AgentInvocation(capability_id=READ))
    for wait in (future.result, future.exception):
        with pytest.raises(RuntimeError, match=r"await registry\.invoke"):
            wait()
    await turns()
    assert future.exception() is None
    assert output(future.result()) == 0


@pytest.mark.requirement("AS-THREAD-001")
async def test_an_exception_comes_back_through_the_future() -> None:
    """What ``invoke`` raises, the future raises."""
    surface = Surface(ONE)
    surface.registry.register(ONE.bind(observations={"read": zero}, actions={"act": lambda: {1, 2}, "go": nothing}))
    future = surface.registry.invoke_threadsafe(AgentInvocation(capability_id=ACT))
    with pytest.raises(AgentSurfaceDefectError):
        await asyncio.wrap_future(future)
    surface.registry.close()


@pytest.mark.requirement("AS-THREAD-001", "AS-CONC-013")
async def test_closing_settles_calls_from_other_threads() -> None:
    """Those in flight as cancelled; those that come too late with the reason."""
    surface = Surface()
    never = asyncio.Event()

    async def act() -> None:
        await never.wait()

    surface.mount(act=act)
    invoke = surface.registry.invoke_threadsafe
    running = invoke(AgentInvocation(capability_id=ACT))
    await turns()
    late = invoke(AgentInvocation(capability_id=ACT))
    surface.registry.close()
    await turns()
    assert refusal(running.result()) == ("CANCELLED", {})
    assert isinstance(late.exception(), RegistryClosedError)
    with pytest.raises(RegistryClosedError):
        await elsewhere(lambda: invoke(AgentInvocation(capability_id=ACT)))


@pytest.mark.requirement("AS-THREAD-001")
def test_a_registry_without_a_loop_says_that_it_cannot_be_reached() -> None:
    """Before any loop ran, and after its loop is gone."""
    surface = Surface()
    with pytest.raises(RegistryClosedError, match="does not run; make the registry inside the loop"):
        surface.registry.invoke_threadsafe(AgentInvocation(capability_id=ACT))

    async def use() -> None:
        surface.mount()
        assert output(await surface.invoke(READ)) == 0
        surface.start()
        await turns()

    asyncio.run(use())
    surface.registry.close()


@pytest.mark.requirement("AS-THREAD-001")
def test_a_registry_older_than_its_loop_is_reached_once_it_was_used_there() -> None:
    """However briefly: a call that ended at once is enough, and one of another thread's loop is none."""
    surface = Surface()
    surface.mount()
    with pytest.raises(WrongThreadError), concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(_invoke_there, surface).result(30)

    async def serve() -> AgentInvocationResult:
        await surface.invoke(READ)
        there: list[Result] = []
        await elsewhere(lambda: there.append(surface.registry.invoke_threadsafe(AgentInvocation(capability_id=READ))))
        return await asyncio.wait_for(asyncio.wrap_future(there[0]), 30)

    assert output(asyncio.run(serve())) == 0
    surface.registry.close()


@pytest.mark.requirement("AS-THREAD-001")
def test_a_call_after_the_end_of_its_loop_is_refused() -> None:
    """Nobody waits for ever."""
    made: list[Surface] = []

    async def use() -> None:
        made.append(Surface())

    asyncio.run(use())
    with pytest.raises(RegistryClosedError, match="event loop does not run"):
        made[0].registry.invoke_threadsafe(AgentInvocation(capability_id=ACT))
    made[0].registry.close()


@pytest.fixture
def stopped() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop that is run by the test, a little at a time."""
    loop = asyncio.new_event_loop()
    yield loop
    loop.run_until_complete(turns())
    loop.close()


@pytest.mark.requirement("AS-THREAD-001")
def test_a_loop_that_is_stopped_takes_no_call(stopped: asyncio.AbstractEventLoop) -> None:
    """It would keep the call and never begin it; once it turns again it takes one."""

    async def use() -> Surface:
        surface = Surface()
        surface.mount()
        return surface

    surface = stopped.run_until_complete(use())
    invoke = surface.registry.invoke_threadsafe
    with pytest.raises(RegistryClosedError, match="event loop does not run"):
        invoke(AgentInvocation(capability_id=READ))

    async def use_again() -> object:
        return output(await asyncio.wrap_future(invoke(AgentInvocation(capability_id=READ))))

    assert stopped.run_until_complete(use_again()) == 0
    surface.registry.close()


@pytest.mark.requirement("AS-THREAD-001", "AS-CONC-013")
def test_closing_settles_calls_whose_loop_has_stopped_under_them(stopped: asyncio.AbstractEventLoop) -> None:
    """Whoever waits on another thread learns what became of the call: begun, ended, or never begun."""
    never = asyncio.Event()

    async def act() -> None:
        await never.wait()

    async def use() -> tuple[Surface, list[Result]]:
        surface = Surface()
        surface.mount(act=act)
        begun = surface.registry.invoke_threadsafe(AgentInvocation(capability_id=ACT))
        await turns()
        # The loop stops before the tasks of these have had a turn.
        others = [surface.registry.invoke_threadsafe(AgentInvocation(capability_id=READ)) for _ in range(2)]
        return surface, [begun, *others]

    surface, futures = stopped.run_until_complete(use())
    cancelled = futures.pop()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(future.exception, 30) for future in futures]
        assert cancelled.cancel()
        surface.registry.close()
        raised = [wait.result(30) for wait in asked]
    assert refusal(futures[0].result()) == ("CANCELLED", {})
    assert [type(error) for error in raised] == [type(None), RegistryClosedError]
    assert concurrent.futures.wait([cancelled], timeout=0).done == {cancelled}


@pytest.mark.requirement("AS-THREAD-001")
@pytest.mark.parametrize("ask", ["result", "exception"])
async def test_who_waits_very_long_without_an_end_is_told_so_in_the_log(
    surface: Surface, ask: str, monkeypatch: pytest.MonkeyPatch, expected_logs: list[LogRecord]
) -> None:
    """A loop can stop after it has taken the call; a wait for it must not be a silent one."""
    monkeypatch.setattr(_threadsafe, "PATIENCE_S", 0.001)
    go_on = asyncio.Event()

    async def go() -> None:
        await go_on.wait()

    surface.mount(go=go)
    future = surface.registry.invoke_threadsafe(AgentInvocation(capability_id=GO))
    waiting = asyncio.ensure_future(elsewhere(getattr(future, ask)))
    while not expected_logs:  # noqa: ASYNC110 - a record of the log cannot be awaited
        await asyncio.sleep(0)
    assert "does the event loop still run" in expected_logs[0].getMessage()
    go_on.set()
    await waiting


@pytest.mark.requirement("AS-THREAD-001")
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
async def test_a_call_that_closes_the_registry_while_it_settles_comes_back_with_its_value(plain: bool) -> None:
    """The handler had ended; closing must not say anything else of it."""

    def close() -> None:
        surface.registry.close()

    async def read() -> int:
        await asyncio.sleep(0)
        return 0

    surface = Surface(before_settlement=close)
    surface.mount(read=zero if plain else read)
    future = surface.registry.invoke_threadsafe(AgentInvocation(capability_id=READ))
    assert output(await asyncio.wrap_future(future)) == 0


@pytest.mark.requirement("AS-THREAD-001", "AS-IDENT-001")
async def test_a_repeated_call_from_another_thread_gets_the_remembered_result(surface: Surface) -> None:
    """It runs once, whichever thread asks."""
    ran: list[int] = []
    surface.mount(act=lambda: {"ran": ran.append(1) or len(ran)})
    request = AgentInvocation(capability_id=ACT, invocation_id="i-1")
    results = [await asyncio.wrap_future(surface.registry.invoke_threadsafe(request)) for _ in range(2)]
    assert results[0] is results[1]
    assert output(results[0]) == {"ran": 1}


class _Meanwhile(AsyncioHostLoop):
    """A loop on which something happens in the middle of a hand-over."""

    def __init__(self) -> None:
        super().__init__()
        self.on_hand_over: Callable[[], object] = nothing
        self.on_task: Callable[[], object] = nothing

    @override
    def call_soon_threadsafe(self, callback: Callable[[], None]) -> None:
        super().call_soon_threadsafe(callback)
        self.on_hand_over()

    @override
    def create_task(self, coroutine: Coroutine[object, object, T]) -> asyncio.Task[T]:
        self.on_task()
        return super().create_task(coroutine)


@pytest.mark.requirement("AS-THREAD-001")
async def test_a_registry_that_closes_during_the_hand_over_settles_the_call() -> None:
    """Whichever of the two looks first."""
    loop = _Meanwhile()
    surface = Surface(host_loop=loop)
    surface.mount()
    loop.on_hand_over = surface.registry.close
    future = surface.registry.invoke_threadsafe(AgentInvocation(capability_id=READ))
    assert isinstance(future.exception(), RegistryClosedError)
    await turns()


@pytest.mark.requirement("AS-THREAD-001")
async def test_a_future_cancelled_while_its_task_is_made_cancels_the_task() -> None:
    """Another thread may cancel at any moment."""
    loop, made = _Meanwhile(), list[Result]()
    surface = Surface(host_loop=loop)
    surface.mount()

    def cancel() -> None:
        made[0].cancel()

    loop.on_task = cancel
    made.append(surface.registry.invoke_threadsafe(AgentInvocation(capability_id=READ)))
    await turns()
    assert made[0].cancelled()
    assert surface.told("invocation-started") == []
    surface.registry.close()
