"""Stop brings the session to idle from every state, whatever runs, and nothing new starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing

import pytest

from agent_surface.assistant import (
    BackendEvent,
    BackendText,
    CallTool,
    NoticeKind,
    OfferedTool,
    Pause,
    Say,
    SessionState,
    TextDelta,
    ToolCallSettled,
    ToolCallStatus,
    TranscriptEntry,
    TurnEnd,
    TurnFinished,
    UseTogether,
    use,
)
from agent_surface.assistant._values import Notice
from tests.core.assistant.session_under_test import SessionUnderTest, scripted
from tests.core.toolset.fake_surface import FakeSurface

IDLE, STOPPING = SessionState.IDLE, SessionState.STOPPING


async def _idle_in_one_turn(under: SessionUnderTest) -> None:
    """Stop, see that it is stopping, and that one turn of the loop later it is idle."""
    assert under.session.stop()
    assert under.session.state is STOPPING
    assert not under.session.stop()
    await under.turns(1)
    assert under.session.state is IDLE
    assert under.events[-1] == TurnFinished(reason=TurnEnd.STOPPED)


@pytest.mark.requirement("QT-DOCK-003")
async def test_stop_while_thinking_ends_the_back_end_and_asks_it_nothing_more() -> None:
    """No further model call."""
    gate = asyncio.Event()
    under, backend = scripted(FakeSurface(), Say(text="Let me see"), Pause(until=gate.wait), Say(text="never said"))
    assert under.session.send("Think")
    await under.until(lambda: backend.remaining == 1)
    await _idle_in_one_turn(under)
    gate.set()
    await under.turns(5)
    assert (backend.remaining, len(backend.requests)) == (1, 2)
    last = under.session.transcript[-1]
    assert isinstance(last, Notice)
    assert last.kind is NoticeKind.STOPPED
    await under.close()


async def test_stop_before_the_back_end_has_even_begun() -> None:
    """Send and Stop in one turn of the loop."""
    under, backend = scripted(FakeSurface(), Say(text="never said"))
    assert under.session.send("Go")
    await _idle_in_one_turn(under)
    assert backend.remaining == 1
    await under.close()


@pytest.mark.requirement("QT-DOCK-003")
async def test_stop_while_acting_cancels_the_handler_and_abandons_the_call() -> None:
    """A handler that cooperates ends at once."""
    surface = FakeSurface()
    cancelled: list[bool] = []

    async def cooperative(value: object) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    surface.action("open", cooperative)
    under, backend = scripted(surface, use("view:things.list.open"), Say(text="never said"))
    assert under.session.send("Open")
    await under.until(lambda: under.session.state is SessionState.ACTING and surface.calls)
    await _idle_in_one_turn(under)
    await under.turns(5)
    assert cancelled == [True]
    (call,) = under.calls()
    assert (call.status, call.result, call.late) == (ToolCallStatus.ABANDONED, None, False)
    assert backend.remaining == 1
    await under.close()


@pytest.mark.requirement("QT-DOCK-003")
async def test_stop_is_idle_at_once_with_a_handler_that_does_not_cooperate_and_its_result_is_recorded_late() -> None:
    """The person is not held up, and what happened all the same is not lost."""
    surface = FakeSurface()
    gate = asyncio.Event()

    async def stubborn(value: object) -> object:
        while not gate.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                continue
        return {"applied": 3}

    surface.action("open", stubborn)
    under, _ = scripted(surface, use("view:things.list.open"))
    assert under.session.send("Open")
    await under.until(lambda: surface.calls)
    await _idle_in_one_turn(under)
    assert under.calls()[0].status is ToolCallStatus.ABANDONED
    assert under.session.send("And now?")
    await under.session.wait_idle()
    gate.set()
    await under.until(lambda: under.calls()[0].late)
    (call,) = under.calls()
    assert call.result is not None
    assert (call.status, call.result.to_json()["output"]) == (ToolCallStatus.ABANDONED, {"applied": 3})
    assert [event.call.late for event in under.events if isinstance(event, ToolCallSettled)] == [False, True]
    await under.close()


@pytest.mark.requirement("QT-DOCK-003")
async def test_stop_right_after_a_synchronous_handler_has_held_the_thread_records_what_it_did() -> None:
    """The click on Stop is seen only when the handler returns; its result is late, not lost."""
    surface = FakeSurface()
    surface.action("open", lambda value: {"opened": True})
    under, _ = scripted(surface, use("view:things.list.open"))
    assert under.session.send("Open")
    await under.until(lambda: surface.calls)
    await _idle_in_one_turn(under)
    await under.until(lambda: under.calls()[0].late)
    (call,) = under.calls()
    assert call.result is not None
    assert call.result.status == "ok"
    await under.close()


@pytest.mark.requirement("QT-DOCK-003", "AS-CONFIRM-011")
async def test_stop_while_waiting_for_the_person_withdraws_the_request() -> None:
    """The dialog goes with the wish behind it."""
    surface = FakeSurface()
    ran: list[object] = []
    surface.procedure("things.delete", ran.append)
    under, _ = scripted(surface, use("domain:things.delete"), Say(text="never said"))
    assert under.session.send("Delete")
    await under.until(lambda: under.session.state is SessionState.WAITING_FOR_PERSON)
    (confirmation_id,) = surface.pending_ids()
    await _idle_in_one_turn(under)
    await under.turns(3)
    assert surface.pending_ids() == []
    assert not surface.confirmations.resolve(confirmation_id, approved=True)
    assert ran == []
    assert under.calls()[0].status is ToolCallStatus.ABANDONED
    await under.close()


async def test_stop_while_several_calls_run_ends_all_of_them() -> None:
    """Nothing of the turn is left."""
    surface = FakeSurface()
    surface.action("open", lambda value: asyncio.Event().wait())
    surface.procedure("things.delete")
    under, _ = scripted(
        surface, UseTogether(calls=(use("view:things.list.open"), use("domain:things.delete"), use("nobody")))
    )
    assert under.session.send("All")
    await under.until(lambda: under.session.state is SessionState.WAITING_FOR_PERSON)
    await _idle_in_one_turn(under)
    await under.turns(3)
    assert [call.status for call in under.calls()] == [
        ToolCallStatus.ABANDONED,
        ToolCallStatus.ABANDONED,
        ToolCallStatus.REFUSED,
    ]
    assert surface.pending_ids() == []
    await under.close()


async def test_stop_while_a_delay_is_waited_for_forgets_the_delay() -> None:
    """A call that was to be repeated is not."""
    surface = FakeSurface()

    def busy(value: object) -> object:
        raise _rate_limited()

    surface.action("open", busy)
    under, _ = scripted(surface, use("view:things.list.open"))
    assert under.session.send("Open")
    await under.until(lambda: surface.clock.pending_timers)
    await _idle_in_one_turn(under)
    await under.turns(3)
    assert surface.clock.pending_timers == 0
    surface.clock.advance(10_000)
    await under.turns(3)
    assert len(surface.calls) == 1
    await under.close()


def _rate_limited() -> Exception:
    from agent_surface import _failures

    return _failures.rate_limited("rate", 1_000)


class _Stubborn:
    """A back end that swallows cancellation and goes on."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.refused: list[str] = []
        self.ended = False

    async def turn(
        self,
        transcript: Sequence[TranscriptEntry],
        *,
        tools: Callable[[], Sequence[OfferedTool]],
        state: Callable[[], str],
        call_tool: CallTool,
    ) -> AsyncIterator[BackendEvent]:
        while not self.gate.is_set():
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                continue
        for name, attempt in (("tools", tools), ("state", state)):
            try:
                attempt()
            except asyncio.CancelledError:
                self.refused.append(name)
        try:
            await call_tool("view_things__list__sort")
        except asyncio.CancelledError:
            self.refused.append("call_tool")
        self.ended = True
        yield BackendText(text="never shown")


@pytest.mark.requirement("QT-DOCK-003")
async def test_a_back_end_that_goes_on_after_stop_gets_no_tools_no_state_no_call_and_no_word_in() -> None:
    """Stop does not depend on the good manners of a library underneath."""
    surface = FakeSurface()
    surface.action("sort")
    backend = _Stubborn()
    under = SessionUnderTest(surface, backend)
    assert under.session.send("Go")
    await under.turns(3)
    await _idle_in_one_turn(under)
    written = len(under.session.transcript)
    backend.gate.set()
    await under.until(lambda: backend.ended)
    await under.turns(3)
    assert backend.refused == ["tools", "state", "call_tool"]
    assert (len(under.session.transcript), surface.calls) == (written, [])
    await under.close()


async def test_a_listener_may_stop_the_turn_it_hears_of() -> None:
    """Deny and stop, from inside an event."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    under, backend = scripted(surface, use("domain:things.delete"), Say(text="never said"))
    under.session.subscribe(
        lambda event: None if under.session.state is not SessionState.WAITING_FOR_PERSON else _stop(under)
    )
    assert under.session.send("Delete")
    await under.until(lambda: under.session.state is IDLE)
    await under.turns(3)
    assert (surface.pending_ids(), backend.remaining) == ([], 1)
    await under.close()


def _stop(under: SessionUnderTest) -> None:
    under.session.stop()


async def test_stop_when_nothing_runs_is_nothing() -> None:
    """Also after the end of a turn and after closing."""
    under, _ = scripted(FakeSurface(), Say(text="Hi"))
    assert not under.session.stop()
    await under.ask()
    assert not under.session.stop()
    await under.close()
    assert not under.session.stop()


async def test_after_a_stop_the_next_message_is_answered() -> None:
    """The session is as usable as before."""
    gate = asyncio.Event()
    under, _ = scripted(FakeSurface(), Pause(until=gate.wait), Say(text="Hello again"))
    assert under.session.send("One")
    await under.turns(2)
    await _idle_in_one_turn(under)
    await under.ask("Two")
    assert under.events[-1] == TurnFinished(reason=TurnEnd.COMPLETED)
    assert [getattr(entry, "text", "") for entry in under.session.transcript][-2:] == ["Two", "Hello again"]
    await under.close()


async def test_closing_ends_a_turn_at_once_and_says_so() -> None:
    """No turn outlives its session, and the toolset is left to its owner."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    under, _ = scripted(surface, use("domain:things.delete"))
    assert under.session.send("Delete")
    await under.until(lambda: under.session.state is SessionState.WAITING_FOR_PERSON)
    under.session.close()
    assert under.session.state is IDLE
    assert under.events[-1] == TurnFinished(reason=TurnEnd.CLOSED)
    under.session.close()
    await under.turns(3)
    assert surface.pending_ids() == []
    assert not under.toolset.closed
    await under.close()


class _Plain:
    """A back end in the hands of the test: its answer is ``answer``."""

    def __init__(self, answer: Callable[[CallTool], AsyncGenerator[BackendEvent]]) -> None:
        self._answer = answer

    async def turn(
        self,
        transcript: Sequence[TranscriptEntry],
        *,
        tools: Callable[[], Sequence[OfferedTool]],
        state: Callable[[], str],
        call_tool: CallTool,
    ) -> AsyncIterator[BackendEvent]:
        tools()
        async with aclosing(self._answer(call_tool)) as events:
            async for event in events:
                yield event


async def test_a_back_end_stopped_between_two_words_cleans_up() -> None:
    """Its connection is closed with the turn and not when the garbage is collected."""
    closed: list[bool] = []

    async def answer(call_tool: CallTool) -> AsyncGenerator[BackendEvent]:
        try:
            yield BackendText(text="one")
            yield BackendText(text="two")
        finally:
            closed.append(True)

    under = SessionUnderTest(FakeSurface(), _Plain(answer))
    under.session.subscribe(lambda event: _stop(under) if isinstance(event, TextDelta) else None)
    assert under.session.send("Go")
    await under.until(lambda: under.session.state is IDLE)
    await under.turns(3)
    assert closed == [True]
    assert "two" not in str(under.session.to_json())
    await under.close()


async def test_closing_asks_a_back_end_that_ignored_stop_once_more() -> None:
    """A task that outlives its session would be left pending in the application's loop."""
    cancelled: list[int] = []

    async def answer(call_tool: CallTool) -> AsyncGenerator[BackendEvent]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(1)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(2)
        yield BackendText(text="never shown")

    under = SessionUnderTest(FakeSurface(), _Plain(answer))
    assert under.session.send("Go")
    await under.turns(3)
    await _idle_in_one_turn(under)
    await under.turns(3)
    assert cancelled == [1]
    under.session.close()
    await under.turns(3)
    assert cancelled == [1, 2]
    await under.close()


async def test_a_call_that_its_back_end_gives_up_is_cancelled_and_the_turn_goes_on() -> None:
    """A back end may have a time-out of its own; nothing it started is left running."""
    surface = FakeSurface()
    begun = asyncio.Event()
    ended: list[str] = []

    async def slow(value: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("handler")

    surface.action("open", slow)

    async def answer(call_tool: CallTool) -> AsyncGenerator[BackendEvent]:
        call = asyncio.ensure_future(call_tool("view_things__list__open"))
        await begun.wait()
        call.cancel()
        await asyncio.wait({call})
        yield BackendText(text="It took too long.")

    under = SessionUnderTest(surface, _Plain(answer))
    await under.ask()
    await under.turns(2)
    assert ended == ["handler"]
    assert under.calls()[0].status is ToolCallStatus.ABANDONED
    assert under.events[-1] == TurnFinished(reason=TurnEnd.COMPLETED)
    assert under.states() == [SessionState.THINKING, SessionState.ACTING, SessionState.THINKING, IDLE]
    await under.close()
