"""The person takes control while the assistant works: the conversation says so, and the model hears of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

pytest.importorskip("pydantic_ai")

from agent_surface import TakeOver
from agent_surface.assistant import Notice, NoticeKind, SessionState, ToolCallStatus, TurnEnd
from agent_surface.invocation import InvocationError
from tests.core.assistant.model_under_test import ModelUnderTest
from tests.core.assistant.openai_server import Call, OpenAIServer, says, uses
from tests.core.surface_fixtures import ASKING, Surface

Ask = Callable[..., ModelUnderTest]

ACT = "view_t__one__act"


def _told(server: OpenAIServer, request: int) -> str:
    """Everything a request tells the model, its last message first."""
    return "\n".join(str(message["content"]) for message in reversed(server.requests[request].messages))


@pytest.mark.requirement("QT-DOCK-004")
async def test_the_model_is_told_at_its_next_step_of_a_take_over_and_of_the_hand_back(
    ask_model: Ask, server: OpenAIServer
) -> None:
    """The running call ends with the reason, the next one is refused with it, and later everything works again."""
    take_over = TakeOver()
    surface = Surface(policies=(take_over,))
    begun: list[object] = []

    async def act(value: dict[str, object]) -> int:
        begun.append(value)
        if len(begun) == 1:
            await asyncio.Event().wait()
        return 5

    surface.mount(act=act)
    server.will(
        uses(Call(name=ACT, arguments='{"n": 1}', call_id="a")),
        uses(Call(name=ACT, arguments='{"n": 2}', call_id="b")),
        says("You have control."),
        uses(Call(name=ACT, arguments='{"n": 3}', call_id="c")),
        says("Done."),
    )
    under = ask_model(registry=surface.registry, take_over=take_over)
    assert under.session.send("Act")
    await under.until_there(lambda: under.session.state is SessionState.ACTING)
    await under.until(lambda: begun)
    take_over.engage()
    await asyncio.wait_for(under.session.wait_idle(), 10)
    cancelled, refused = under.calls()
    assert isinstance(cancelled.result, InvocationError)
    assert isinstance(refused.result, InvocationError)
    assert cancelled.result.error.message.startswith("A person has taken control of the application.")
    assert (refused.status, refused.result.error.code) == (ToolCallStatus.REFUSED, "CAPABILITY_NOT_AVAILABLE")
    assert [e.kind for e in under.session.transcript if isinstance(e, Notice)] == [NoticeKind.TAKEN_OVER]
    assert "The person has taken control of the application." in str(server.requests[1].messages[-1]["content"])
    assert "not available now. A person has taken control" in _told(server, 1)

    take_over.hand_back()
    await under.ask("Go on")
    assert "The person has handed control back." in _told(server, 3)
    assert "not available now" not in _told(server, 3)
    assert under.calls()[2].status is ToolCallStatus.DONE
    assert under.end.reason is TurnEnd.COMPLETED
    assert len(begun) == 2
    assert [e.kind for e in under.session.transcript if isinstance(e, Notice)] == [
        NoticeKind.TAKEN_OVER,
        NoticeKind.HANDED_BACK,
    ]
    under.session.close()
    take_over.engage()
    assert len([e for e in under.session.transcript if isinstance(e, Notice)]) == 2
    surface.registry.close()


@pytest.mark.requirement("QT-DOCK-004")
async def test_a_question_to_the_person_goes_when_they_take_control(ask_model: Ask, server: OpenAIServer) -> None:
    """Nobody is asked about what is no longer going to happen, and no answer of before counts."""
    take_over = TakeOver()
    surface = Surface(policies=(take_over,))
    ran: list[object] = []
    surface.mount(ASKING, act=ran.append)
    server.will(uses(Call(name="view_t__asking__act")), says("You have control."))
    under = ask_model(registry=surface.registry, take_over=take_over)
    assert under.session.send("Act")
    await under.until_there(lambda: under.session.state is SessionState.WAITING_FOR_PERSON)
    take_over.engage()
    assert surface.registry.confirmations.pending() == ()
    await asyncio.wait_for(under.session.wait_idle(), 10)
    (call,) = under.calls()
    assert isinstance(call.result, InvocationError)
    assert (call.status, call.result.error.code) == (ToolCallStatus.REFUSED, "CAPABILITY_NOT_AVAILABLE")
    assert ran == []
    surface.registry.close()


async def test_a_session_without_a_model_tells_its_back_end_too(ask_model: Ask, server: OpenAIServer) -> None:
    """Between turns the notice stands in the transcript that the next turn is given."""
    take_over = TakeOver()
    surface = Surface(policies=(take_over,))
    surface.mount()
    server.will(says("I see."))
    under = ask_model(registry=surface.registry, take_over=take_over)
    take_over.engage()
    take_over.hand_back()
    await under.ask("Well?")
    told = [str(message["content"]) for message in server.requests[0].messages]
    assert ["taken control" in told[1], "handed control back" in told[2], told[3]] == [True, True, "Well?"]
    surface.registry.close()
