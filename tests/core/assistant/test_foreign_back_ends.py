"""A session keeps its word whatever a back end, a listener or the application's loop does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import NoReturn, TypeVar

import pytest
from typing_extensions import override

from agent_surface.assistant import (
    AssistantMessage,
    AssistantSession,
    BackendEvent,
    BackendText,
    CallTool,
    Notice,
    NoticeKind,
    OfferedTool,
    Say,
    ScriptedBackend,
    SessionError,
    SessionEvent,
    SessionState,
    TranscriptEntry,
    TurnEnd,
    TurnFinished,
)
from agent_surface.toolset import create_agent_toolset
from tests.core.assistant.session_under_test import SessionUnderTest, scripted
from tests.core.toolset.fake_surface import CONSUMER, FakeSurface, RunningLoop

T = TypeVar("T")


class _Foreign:
    """Answers with what ``events`` yields."""

    def __init__(self, events: Callable[[], AsyncIterator[BackendEvent]]) -> None:
        self._events = events

    def turn(
        self,
        transcript: Sequence[TranscriptEntry],
        *,
        tools: Callable[[], Sequence[OfferedTool]],
        state: Callable[[], str],
        call_tool: CallTool,
    ) -> AsyncIterator[BackendEvent]:
        """Answer."""
        return self._events()


def _ends(under: SessionUnderTest) -> list[TurnEnd]:
    return [event.reason for event in under.events if isinstance(event, TurnFinished)]


async def test_the_back_end_is_exchanged_only_between_turns() -> None:
    """An application changes the model while nobody waits for an answer of the old one."""
    under, first = scripted(FakeSurface(), Say(text="Old"))
    second = ScriptedBackend([Say(text="New")])
    assert under.session.send("Hi")
    assert not under.session.use_backend(second)
    assert under.session.backend is first
    await under.session.wait_idle()
    assert under.session.use_backend(second)
    assert under.session.backend is second
    await under.ask("Again")
    answers = [entry.text for entry in under.session.transcript if isinstance(entry, AssistantMessage)]
    assert answers == ["Old", "New"]
    await under.close()
    assert under.session.closed


async def test_an_iterator_that_cannot_be_closed_answers_as_well() -> None:
    """A back end owes no more than the two methods of an iterator."""

    class Bare:
        def __init__(self) -> None:
            self._left = ["Hello"]

        def __aiter__(self) -> Bare:
            return self

        async def __anext__(self) -> BackendEvent:
            if not self._left:
                raise StopAsyncIteration
            return BackendText(text=self._left.pop())

    under = SessionUnderTest(FakeSurface(), _Foreign(Bare))
    await under.ask()
    answer = under.session.transcript[-1]
    assert isinstance(answer, AssistantMessage)
    assert answer.text == "Hello"
    assert _ends(under) == [TurnEnd.COMPLETED]
    await under.close()


async def test_a_back_end_that_gives_itself_up_leaves_the_session_idle() -> None:
    """A cancellation from inside is told as a stop: nobody waits for an answer that never comes."""

    async def cancelled() -> AsyncIterator[BackendEvent]:
        yield BackendText(text="Half")
        raise asyncio.CancelledError

    under = SessionUnderTest(FakeSurface(), _Foreign(cancelled))
    await under.ask()
    assert under.session.state is SessionState.IDLE
    assert _ends(under) == [TurnEnd.STOPPED]
    notice = under.session.transcript[-1]
    assert isinstance(notice, Notice)
    assert notice.kind is NoticeKind.STOPPED
    await under.close()


async def test_a_back_end_that_fails_because_it_was_stopped_shows_no_error(
    expected_logs: list[logging.LogRecord],
) -> None:
    """The person stopped it; that it broke on the way is for the log."""

    async def broken() -> AsyncIterator[BackendEvent]:
        yield BackendText(text="Half")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise RuntimeError("broken") from None

    under = SessionUnderTest(FakeSurface(), _Foreign(broken))
    assert under.session.send("Hi")
    await under.until(lambda: len(under.session.transcript) == 2)
    assert under.session.stop()
    await under.session.wait_idle()
    await under.turns(4)
    assert [record.getMessage() for record in expected_logs] == ["the back end failed"]
    assert not [event for event in under.events if isinstance(event, SessionError)]
    assert _ends(under) == [TurnEnd.STOPPED]
    await under.close()


async def test_a_completion_that_fails_offers_nothing_and_is_logged(expected_logs: list[logging.LogRecord]) -> None:
    """Typing goes on without suggestions."""

    class Failing(_Foreign):
        def complete(self, text: str, tools: Sequence[OfferedTool]) -> NoReturn:
            raise RuntimeError("no index")

    async def nothing() -> AsyncIterator[BackendEvent]:
        return
        yield

    under = SessionUnderTest(FakeSurface(), Failing(nothing))
    assert under.session.complete("sh") == ()
    assert [record.getMessage() for record in expected_logs] == ["the back end failed to complete a message"]
    await under.close()


async def test_a_listener_that_was_taken_away_by_another_hears_no_more() -> None:
    """Not even the event that is being delivered."""
    under, _ = scripted(FakeSurface(), Say(text="Hi"))
    heard: list[SessionEvent] = []

    def first(event: SessionEvent) -> None:
        forget_second()

    under.session.subscribe(first)
    forget_second = under.session.subscribe(heard.append)
    await under.ask()
    assert heard == []
    await under.close()


async def test_a_loop_that_takes_no_more_tasks_leaves_no_message_behind() -> None:
    """``send`` fails, and the conversation is as if nobody had sent anything."""

    class Closed(RunningLoop):
        @override
        def create_task(self, coroutine: Coroutine[object, object, T]) -> NoReturn:
            raise RuntimeError("the loop is closed")

    surface = FakeSurface()
    toolset = create_agent_toolset(surface, consumer=CONSUMER, topology="embedded")
    session = AssistantSession(toolset, ScriptedBackend([]), clock=surface.clock, host_loop=Closed())
    with pytest.raises(RuntimeError, match="closed"):
        session.send("Hi")
    assert session.transcript == ()
    assert session.state is SessionState.IDLE
    session.close()
    toolset.close()
