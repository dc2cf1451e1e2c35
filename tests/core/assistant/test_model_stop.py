"""Stop while a model answers: idle in one turn of the loop, no request after it, the connection closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

pytest.importorskip("pydantic_ai")

from agent_surface._base._json import JsonValue
from agent_surface.assistant import (
    AssistantMessage,
    MessageCompleted,
    SessionState,
    TextDelta,
    ToolCallStatus,
    TurnEnd,
    TurnFinished,
)
from tests.core.assistant.model_under_test import ModelUnderTest
from tests.core.assistant.openai_server import Call, OpenAIServer, Plain, Stream, end, says, uses, words
from tests.core.toolset.fake_surface import FakeSurface

Ask = Callable[..., ModelUnderTest]


async def _stop_is_idle_in_one_turn(under: ModelUnderTest) -> None:
    assert under.session.stop()
    await under.turns(1)
    assert under.session.state is SessionState.IDLE
    assert under.end.reason is TurnEnd.STOPPED


async def _nothing_follows(under: ModelUnderTest, *, requests: int) -> None:
    """The thread has ended with all it had to do; the loop has seen what came of that."""
    seen = len(under.events)
    await asyncio.to_thread(under.backend.close, wait_ms=10_000)
    await under.turns(5)
    assert (len(under.events), len(under.server.requests)) == (seen, requests)


@pytest.mark.requirement("QT-DOCK-003")
async def test_stop_before_the_server_has_answered_at_all(ask_model: Ask, server: OpenAIServer) -> None:
    """The request is on its way; the server sees its client go."""
    gate = server.gate()
    server.will(Plain(status=200, body=b"", first=gate))
    under = ask_model()
    assert under.session.send("Hi")
    await under.reach(gate.reached)
    await _stop_is_idle_in_one_turn(under)
    await under.reach(gate.left)
    await _nothing_follows(under, requests=1)


@pytest.mark.requirement("QT-DOCK-003")
async def test_stop_in_the_middle_of_a_sentence_keeps_what_was_said(ask_model: Ask, server: OpenAIServer) -> None:
    """And not a letter more, however much the server would still have sent."""
    gate = server.gate()
    server.will(Stream(steps=[*words("Once upon "), gate, *words("a time"), *end()]))
    under = ask_model()
    assert under.session.send("A story")
    await under.reach(gate.reached)
    await under.until_there(lambda: any(isinstance(event, TextDelta) for event in under.events))
    await _stop_is_idle_in_one_turn(under)
    await under.reach(gate.left)
    await _nothing_follows(under, requests=1)
    said = [entry for entry in under.session.transcript if isinstance(entry, AssistantMessage)]
    assert [(message.text, message.streaming) for message in said] == [("Once upon ", False)]
    assert sum(isinstance(event, MessageCompleted) for event in under.events) == 1


@pytest.mark.requirement("QT-DOCK-003")
async def test_stop_while_tools_run_asks_the_model_nothing_more(ask_model: Ask, server: OpenAIServer) -> None:
    """The handler that cooperates ends, the other is outlived, and nobody reports back to the model."""
    surface = FakeSurface()
    cancelled: list[object] = []
    stubborn = asyncio.Event()

    async def handle(value: dict[str, JsonValue]) -> str:
        try:
            await stubborn.wait()
        except asyncio.CancelledError:
            cancelled.append(value["n"])
            if value["n"] == 1:
                raise
            await stubborn.wait()
        return "late"

    surface.action("open", handle)
    name = "view_things__list__open"
    server.will(
        uses(Call(name=name, arguments='{"n":1}', call_id="a"), Call(name=name, arguments='{"n":2}', call_id="b"))
    )
    under = ask_model(surface)
    assert under.session.send("Open")
    await under.until_there(lambda: len(under.calls()) == 2)
    await under.until(lambda: len(surface.calls) == 2)
    await _stop_is_idle_in_one_turn(under)
    assert [call.status for call in under.calls()] == [ToolCallStatus.ABANDONED] * 2
    await _nothing_follows(under, requests=1)
    assert sorted(map(str, cancelled)) == ["1", "2"]
    stubborn.set()
    await under.until(lambda: under.calls()[1].late)


@pytest.mark.requirement("QT-DOCK-003")
async def test_stop_while_the_person_is_asked_withdraws_the_question(ask_model: Ask, server: OpenAIServer) -> None:
    """Nothing is executed, whatever is answered afterwards."""
    surface = FakeSurface()
    ran: list[object] = []
    surface.procedure("things.delete", ran.append)
    server.will(uses(Call(name="domain_things__delete")))
    under = ask_model(surface)
    assert under.session.send("Delete")
    await under.until_there(lambda: under.session.state is SessionState.WAITING_FOR_PERSON)
    (asked,) = surface.pending_ids()
    await _stop_is_idle_in_one_turn(under)
    await under.turns(3)
    assert not surface.confirmations.resolve(asked, approved=True)
    await _nothing_follows(under, requests=1)
    assert ran == []


@pytest.mark.requirement("QT-DOCK-003")
async def test_stop_between_two_requests_of_a_turn_and_the_next_message_is_answered(
    ask_model: Ask, server: OpenAIServer
) -> None:
    """The second request is under way; it is dropped, and the model later hears that it was stopped."""
    surface = FakeSurface()
    surface.observation("read", lambda value: 1)
    gate = server.gate()
    server.will(uses(Call(name="view_things__list__read")), Plain(status=200, body=b"", first=gate), says("I am here."))
    under = ask_model(surface)
    assert under.session.send("Read")
    await under.reach(gate.reached)
    await _stop_is_idle_in_one_turn(under)
    await under.reach(gate.left)
    await under.ask("And now?")
    assert under.end.reason is TurnEnd.COMPLETED
    told = [str(message["content"]) for message in server.requests[2].messages]
    assert any("The person pressed Stop." in text for text in told)
    assert told[-2] == "And now?"
    await _nothing_follows(under, requests=3)


async def test_closing_the_session_ends_what_the_model_was_about(ask_model: Ask, server: OpenAIServer) -> None:
    """A window that goes takes its conversation with it."""
    gate = server.gate()
    server.will(Stream(steps=[*words("Well"), gate, *end()]))
    under = ask_model()
    assert under.session.send("Hi")
    await under.reach(gate.reached)
    under.session.close()
    await under.reach(gate.left)
    assert under.events[-1] == TurnFinished(reason=TurnEnd.CLOSED)
