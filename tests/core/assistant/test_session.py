"""A turn from the person's message to idle: states, transcript and events."""

from __future__ import annotations

import asyncio
import logging

import pytest

from agent_surface._base._json import JsonValue
from agent_surface.assistant import (
    AssistantMessage,
    AssistantSession,
    ConfirmationSettled,
    ConfirmationWaiting,
    EndTurn,
    Fail,
    MessageAdded,
    MessageCompleted,
    Notice,
    NoticeKind,
    Pause,
    PersonMessage,
    Remark,
    Say,
    ScriptedBackend,
    SessionError,
    SessionEvent,
    SessionState,
    StateChanged,
    TextDelta,
    ToolCallSettled,
    ToolCallStarted,
    ToolCallStatus,
    ToolsChanged,
    TranscriptReset,
    TurnEnd,
    TurnFinished,
    UseTogether,
    use,
)
from agent_surface.confirmations import ConfirmationOutcome
from agent_surface.invocation import CapabilityKind, Effect
from agent_surface.toolset import create_agent_toolset
from tests.core.assistant.session_under_test import SessionUnderTest, scripted
from tests.core.toolset.fake_surface import CONSUMER, FakeSurface, RunningLoop

IDLE, THINKING, ACTING = SessionState.IDLE, SessionState.THINKING, SessionState.ACTING
WAITING, STOPPING = SessionState.WAITING_FOR_PERSON, SessionState.STOPPING


async def test_an_answer_streams_into_one_message() -> None:
    """A dock appends deltas; who asks for the transcript sees the whole text."""
    under, _ = scripted(FakeSurface(), Say(text="Hello you", piece=4))
    await under.ask("Hi")
    at_ms = under.surface.clock.now_ms()
    person = PersonMessage(message_id="m1", text="Hi", at_ms=at_ms)
    empty = AssistantMessage(message_id="m2", text="", at_ms=at_ms, streaming=True)
    whole = AssistantMessage(message_id="m2", text="Hello you", at_ms=at_ms)
    assert under.session.transcript == (person, whole)
    assert under.events == [
        MessageAdded(message=person),
        StateChanged(state=THINKING, previous=IDLE),
        MessageAdded(message=empty),
        TextDelta(message_id="m2", text="Hell"),
        TextDelta(message_id="m2", text="o yo"),
        TextDelta(message_id="m2", text="u"),
        MessageCompleted(message=whole),
        StateChanged(state=IDLE, previous=THINKING),
        TurnFinished(reason=TurnEnd.COMPLETED),
    ]
    await under.close()


async def test_the_transcript_shows_a_message_while_it_streams() -> None:
    """A view that opens in the middle of an answer misses nothing."""
    gate = asyncio.Event()
    under, _ = scripted(FakeSurface(), Say(text="Half", piece=2), Pause(until=gate.wait), Say(text=" done"))
    assert under.session.send("Hi")
    await under.until(lambda: len(under.events) >= 5)
    message = under.session.transcript[-1]
    assert isinstance(message, AssistantMessage)
    assert (message.text, message.streaming) == ("Half", True)
    gate.set()
    await under.session.wait_idle()
    message = under.session.transcript[-1]
    assert isinstance(message, AssistantMessage)
    assert (message.text, message.streaming) == ("Half done", False)
    await under.close()


async def test_a_tool_call_is_written_down_with_what_it_does_and_how_long_it_took() -> None:
    """A card needs words, target, input, status and duration."""
    surface = FakeSurface()

    async def slow(value: object) -> object:
        surface.clock.advance(40)
        return {"sorted": True}

    surface.action("sort", slow, description="Sort the list.")
    under, backend = scripted(
        surface, Say(text="I sort."), use("view:things.list.sort", {"by": "name"}), Say(text="Ok.")
    )
    await under.ask()
    (call,) = under.calls()
    assert (call.tool_name, call.title) == ("view_things__list__sort", "Sort the list.")
    assert (call.kind, call.effect) == (CapabilityKind.ACTION, Effect.LOCAL_STATE)
    assert (call.component_type, call.instance_id) == ("things.list", "main")
    assert (call.input, call.status, call.duration_ms) == ({"by": "name"}, ToolCallStatus.DONE, 40)
    assert call.result == backend.replies[0].result
    assert [type(entry).__name__ for entry in under.session.transcript] == [
        "PersonMessage",
        "AssistantMessage",
        "ToolCall",
        "AssistantMessage",
    ]
    assert [type(event) for event in under.events if isinstance(event, ToolCallStarted | ToolCallSettled)] == [
        ToolCallStarted,
        ToolCallSettled,
    ]
    assert under.states() == [THINKING, ACTING, THINKING, IDLE]
    await under.close()


async def test_waiting_for_the_person_is_a_state_and_ends_with_the_answer() -> None:
    """The dock shows that it is the person's turn, and leads to the dialog by the id."""
    surface = FakeSurface()
    surface.procedure("things.delete", lambda value: {"deleted": 1})
    under, _ = scripted(surface, use("domain:things.delete"))
    assert under.session.send("Delete it")
    await under.until(lambda: under.session.state is WAITING)
    (confirmation_id,) = surface.pending_ids()
    (call,) = under.calls()
    assert (call.status, call.confirmation_id) == (ToolCallStatus.WAITING, confirmation_id)
    surface.answer(approved=True)
    await under.session.wait_idle()
    assert under.states() == [THINKING, ACTING, WAITING, ACTING, THINKING, IDLE]
    assert [event for event in under.events if isinstance(event, ConfirmationWaiting | ConfirmationSettled)] == [
        ConfirmationWaiting(call_id=call.call_id, confirmation_id=confirmation_id),
        ConfirmationSettled(
            call_id=call.call_id, confirmation_id=confirmation_id, outcome=ConfirmationOutcome.APPROVED
        ),
    ]
    assert under.calls()[0].status is ToolCallStatus.DONE
    await under.close()


async def test_calls_of_one_response_run_side_by_side() -> None:
    """The capabilities' own concurrency decides, not the session."""
    surface = FakeSurface()
    inside: list[str] = []
    gate = asyncio.Event()

    async def wait(value: dict[str, JsonValue]) -> None:
        inside.append(str(value["id"]))
        await gate.wait()

    surface.action("open", wait)
    under, _ = scripted(
        surface,
        UseTogether(calls=(use("view:things.list.open", {"id": "a"}), use("view:things.list.open", {"id": "b"}))),
    )
    assert under.session.send("Both")
    await under.until(lambda: len(inside) == 2)
    assert under.session.state is ACTING
    gate.set()
    await under.session.wait_idle()
    assert [call.status for call in under.calls()] == [ToolCallStatus.DONE, ToolCallStatus.DONE]
    assert under.states() == [THINKING, ACTING, THINKING, IDLE]
    await under.close()


async def test_one_of_two_calls_that_waits_for_the_person_makes_the_session_wait() -> None:
    """Whoever looks at the dock must see that something needs them."""
    surface = FakeSurface()
    gate = asyncio.Event()
    surface.action("open", lambda value: gate.wait())
    surface.procedure("things.delete")
    under, _ = scripted(surface, UseTogether(calls=(use("view:things.list.open", {}), use("domain:things.delete", {}))))
    surface.offers[0].handler = lambda value: _none_after(gate)
    assert under.session.send("Both")
    await under.until(lambda: under.session.state is WAITING)
    surface.answer(approved=True)
    await under.until(lambda: under.session.state is ACTING)
    gate.set()
    await under.session.wait_idle()
    await under.close()


async def _none_after(gate: asyncio.Event) -> None:
    await gate.wait()


async def test_a_message_is_taken_only_when_the_session_is_idle_and_the_text_is_not_blank() -> None:
    """Nothing is queued behind the person's back."""
    gate = asyncio.Event()
    under, _ = scripted(FakeSurface(), Pause(until=gate.wait))
    assert not under.session.send("  \n")
    assert under.session.send("One")
    assert not under.session.send("Two")
    assert not under.session.clear()
    assert not under.session.use_backend(ScriptedBackend([]))
    gate.set()
    await under.session.wait_idle()
    assert [entry.text for entry in under.session.transcript if isinstance(entry, PersonMessage)] == ["One"]
    await under.close()
    assert not under.session.send("Three")


async def test_a_back_end_gets_the_conversation_up_to_the_persons_message_and_the_state_beside_it() -> None:
    """Live state is never stored in the transcript, so it never goes stale in a prompt cache."""
    surface = FakeSurface()
    surface.action("sort", available=False, reason="Loading.")
    under, backend = scripted(surface, Say(text="One"), EndTurn(), Say(text="Two"))
    await under.ask("First")
    await under.ask("Second")
    assert [len(seen) for seen in backend.transcripts] == [1, 3]
    assert "not available now. Loading." in backend.requests[0].state
    assert "Loading" not in str(under.session.to_json())
    assert "Loading" not in str(backend.transcripts)
    await under.close()


@pytest.mark.requirement("AS-CACHE-002")
async def test_definitions_offered_to_the_back_end_are_the_same_between_steps_while_state_follows() -> None:
    """The tool block of a turn can be cached; the trailing block tells the truth of each moment."""
    surface = FakeSurface()
    offer = surface.action("sort")

    def flip(value: object) -> None:
        offer.available, offer.reason = False, "Sorted already."

    offer.handler = flip
    under, backend = scripted(surface, use("view:things.list.sort"), Say(text="Done."))
    await under.ask()
    before, after = backend.requests
    assert [tool.definition for tool in before.tools] == [tool.definition for tool in after.tools]
    assert after.tools[0].definition is before.tools[0].definition
    assert (before.tools[0].state.available, after.tools[0].state.available) == (True, False)
    assert "Sorted already." in after.state
    await under.close()


async def test_news_reach_the_model_at_its_next_step_and_the_next_turn_by_the_transcript() -> None:
    """A take-over in the middle of a turn is told once, where it happened."""
    surface = FakeSurface()
    holder: list[AssistantSession] = []

    def take_over(value: object) -> None:
        holder[0].announce(NoticeKind.TAKEN_OVER, "A person has taken control.")

    surface.action("sort", take_over)
    under, backend = scripted(surface, use("view:things.list.sort"), Say(text="I see."), EndTurn(), Say(text="Hm."))
    holder.append(under.session)
    await under.ask()
    assert "taken control" not in backend.requests[0].state
    assert backend.requests[1].state.endswith("News from the application:\n- A person has taken control.")
    await under.ask()
    assert "taken control" not in backend.requests[2].state
    assert [entry.text for entry in backend.transcripts[1] if isinstance(entry, Notice)] == [
        "A person has taken control."
    ]
    await under.close()


async def test_a_back_end_that_gives_up_says_one_sentence_and_the_session_is_idle_again() -> None:
    """No key, no network: the person reads what to do, and can go on."""
    under, _ = scripted(FakeSurface(), Fail(sentence="No key is set. Add one in Settings."), EndTurn(), Say(text="Ok"))
    await under.ask()
    assert SessionError(message="No key is set. Add one in Settings.") in under.events
    assert under.events[-1] == TurnFinished(reason=TurnEnd.ERROR)
    last = under.session.transcript[-1]
    assert isinstance(last, Notice)
    assert (last.kind, last.text) == (NoticeKind.ERROR, "No key is set. Add one in Settings.")
    assert under.session.state is IDLE
    await under.close()


@pytest.mark.allow_logs("agent_surface.assistant")
async def test_a_back_end_with_a_defect_shows_no_traceback_to_the_person(caplog: pytest.LogCaptureFixture) -> None:
    """The log has it; the transcript has a sentence."""

    async def broken() -> object:
        raise LookupError("/home/secret")

    under, _ = scripted(FakeSurface(), Pause(until=broken))
    with caplog.at_level(logging.ERROR, "agent_surface.assistant"):
        await under.ask()
    assert "/home/secret" in caplog.text
    assert "secret" not in str(under.session.to_json())
    assert under.events[-1] == TurnFinished(reason=TurnEnd.ERROR)
    await under.close()


async def test_a_remark_of_the_back_end_stands_between_messages() -> None:
    """It belongs to neither of them."""
    under, _ = scripted(FakeSurface(), Say(text="a"), Remark(text="The model was changed."), Say(text="b"))
    await under.ask()
    assert [type(entry).__name__ for entry in under.session.transcript[1:]] == [
        "AssistantMessage",
        "Notice",
        "AssistantMessage",
    ]
    await under.close()


async def test_a_tool_that_was_never_offered_is_a_typed_refusal() -> None:
    """A model that invents a name is told so, and the person sees what it tried."""
    under, backend = scripted(FakeSurface(), use("view_made__up"))
    await under.ask()
    (call,) = under.calls()
    assert (call.status, call.capability_id, call.title) == (ToolCallStatus.REFUSED, None, "view_made__up")
    assert '"CAPABILITY_NOT_FOUND"' in backend.replies[0].text
    assert under.surface.calls == []
    await under.close()


async def test_a_call_is_addressed_to_the_catalogue_the_model_has_seen() -> None:
    """The registry can only notice a moved surface when it is told what the caller knew."""
    surface = FakeSurface()
    surface.action("sort")
    seen: list[str] = []

    async def move() -> None:
        seen.append(surface.version)
        surface.bump()

    under, _ = scripted(surface, Pause(until=move), use("view:things.list.sort"))
    await under.ask()
    assert surface.calls[0].surface_version == surface.version != seen[0]
    surface.calls.clear()
    backend = ScriptedBackend(
        [UseTogether(calls=(use("view:things.list.sort"), use("view:things.list.sort", {"n": 1})))]
    )
    under.session.use_backend(backend)
    known = surface.version
    surface.offers[0].handler = lambda value: surface.bump()
    await under.ask()
    assert [call.surface_version for call in surface.calls] == [known, known]
    await under.close()


async def test_listeners_are_called_in_order_and_what_one_causes_comes_after() -> None:
    """A(1), B(1), A(2), B(2), also when A causes 2 while it hears 1."""
    under, _ = scripted(FakeSurface())
    heard: list[tuple[str, SessionEvent]] = []

    def first(event: SessionEvent) -> None:
        heard.append(("A", event))
        if isinstance(event, MessageAdded) and event.message.text == "one":
            under.session.announce(NoticeKind.INFO, "two")

    under.session.subscribe(first)
    under.session.subscribe(lambda event: heard.append(("B", event)))
    under.session.announce(NoticeKind.INFO, "one")
    assert [(who, event.message.text) for who, event in heard if isinstance(event, MessageAdded)] == [
        ("A", "one"),
        ("B", "one"),
        ("A", "two"),
        ("B", "two"),
    ]
    await under.close()


@pytest.mark.allow_logs("agent_surface.assistant")
async def test_a_listener_that_fails_stops_neither_the_turn_nor_the_others() -> None:
    """A view's defect must not lose the conversation."""
    under, _ = scripted(FakeSurface(), Say(text="Hello"))

    def fail(event: SessionEvent) -> None:
        raise LookupError(str(event))

    under.session.subscribe(fail)
    after: list[SessionEvent] = []
    under.session.subscribe(after.append)
    await under.ask()
    assert after == under.events
    await under.close()


async def test_changes_of_the_tools_are_told() -> None:
    """Suggestions and the palette are drawn from what is available now."""
    surface = FakeSurface()
    under, _ = scripted(surface)
    offer = surface.action("sort")
    offer.available, offer.reason = False, "Loading."
    surface.bump()
    heard = [event for event in under.events if isinstance(event, ToolsChanged)]
    assert [[tool.state.available for tool in event.tools] for event in heard] == [[True], [False]]
    assert under.session.tools() == heard[-1].tools
    await under.close()


async def test_clearing_begins_a_new_conversation() -> None:
    """Everything said before is gone from what a back end gets."""
    under, backend = scripted(FakeSurface(), Say(text="One"), EndTurn(), Say(text="Two"))
    await under.ask("First")
    assert under.session.clear()
    assert under.session.transcript == ()
    assert under.events[-1] == TranscriptReset()
    await under.ask("Second")
    assert [entry.text for entry in backend.transcripts[1] if isinstance(entry, PersonMessage)] == ["Second"]
    await under.close()


async def test_a_back_end_that_cannot_complete_suggests_nothing() -> None:
    """Completion is optional."""
    under, _ = scripted(FakeSurface())
    assert under.session.suggestions() == ()
    assert under.session.complete("sh") == ()
    await under.close()


async def test_a_session_needs_a_toolset_that_waits() -> None:
    """With ``two-phase`` the model would be asked to repeat itself inside its own turn."""
    with (
        create_agent_toolset(FakeSurface(), consumer=CONSUMER, topology="remote") as toolset,
        pytest.raises(ValueError, match="wait"),
    ):
        AssistantSession(toolset, ScriptedBackend([]), clock=FakeSurface().clock, host_loop=RunningLoop())


async def test_at_least_one_step_is_allowed() -> None:
    """A limit of nothing is a mistake."""
    with pytest.raises(ValueError, match="max_steps"):
        SessionUnderTest(FakeSurface(), ScriptedBackend([]), max_steps=0)
