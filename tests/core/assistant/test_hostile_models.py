"""Whatever a model sends, each piece of nonsense has one clear outcome, and the session is as usable as before."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import cast

import pytest

pytest.importorskip("pydantic_ai")

from agent_surface._base._json import JsonValue
from agent_surface.assistant import AssistantMessage, Notice, NoticeKind, ToolCall, ToolCallStatus, TurnEnd
from agent_surface.assistant._pydantic_ai import _requests
from agent_surface.assistant._pydantic_ai._messages import MAX_ARGUMENT_CHARACTERS, NOT_JSON, TOO_LONG
from agent_surface.invocation import InvocationError
from tests.core.assistant.model_under_test import ModelUnderTest
from tests.core.assistant.openai_server import (
    Call,
    OpenAIServer,
    Received,
    Stream,
    chunk,
    end,
    says,
    uses,
    wants,
    words,
)
from tests.core.surface_fixtures import Surface
from tests.core.toolset.fake_surface import FakeSurface

Ask = Callable[..., ModelUnderTest]

ACT = "view_t__one__act"
OPEN = "view_things__list__open"


def _code(call: ToolCall) -> str:
    assert isinstance(call.result, InvocationError)
    return call.result.error.code.value


def _answers(request: Received) -> list[str]:
    return [str(message["content"]) for message in request.messages if message["role"] == "tool"]


def _sent_back(request: Received) -> list[dict[str, JsonValue]]:
    """The calls as the provider gets them back: each has to be one it accepts."""
    calls = [call for m in request.messages for call in cast("list[dict[str, JsonValue]]", m.get("tool_calls") or [])]
    return [cast("dict[str, JsonValue]", call["function"]) for call in calls]


@pytest.mark.parametrize(
    ("name", "shown", "sent"),
    [
        ("delete_everything", "delete_everything", "delete_everything"),
        ("rm -rf / ; \u202eevil", "rm -rf / ; \u202eevil", "rm_-rf______evil"),
        ("a\u0000b\nc\u001b[31m", "ab\nc[31m", "a_b_c__31m"),
        ("x" * 5_000, "x" * 200, "x" * 64),
        ("", "", "unnamed"),
    ],
    ids=["invented", "a command", "control characters", "endless", "empty"],
)
async def test_a_tool_nobody_offered_is_refused_and_named_so_that_it_can_be_told(
    name: str, shown: str, sent: str, ask_model: Ask, server: OpenAIServer
) -> None:
    """It has a card like any other, and the provider gets back a name it accepts."""
    server.will(uses(Call(name=name)), says("Sorry."))
    under = ask_model()
    await under.ask("Go")
    (call,) = under.calls()
    assert (call.tool_name, call.status, _code(call)) == (shown, ToolCallStatus.REFUSED, "CAPABILITY_NOT_FOUND")
    assert [function["name"] for function in _sent_back(server.requests[1])] == [sent]
    assert under.end.reason is TurnEnd.COMPLETED


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ('{"n": 1', NOT_JSON),
        ("{'n': 1}", NOT_JSON),
        ('{"n": NaN}', NOT_JSON),
        ("[" * 100_000, NOT_JSON),
        ('{"a":' * 200 + "1" + "}" * 200, None),
        ('{"n": "' + "x" * MAX_ARGUMENT_CHARACTERS + '"}', TOO_LONG),
        ('{"n": "' + "x" * 300_000 + '"}', None),
        ("[1, 2]", None),
        ('"text"', None),
        ('{"n": "\\ud800"}', None),
    ],
    ids=[
        "cut off",
        "Python",
        "no number",
        "endless nesting",
        "deep nesting",
        "giant",
        "too big for the registry",
        "a list",
        "a text",
        "half a character",
    ],
)
async def test_arguments_that_are_none_are_refused_and_nothing_runs(
    arguments: str, problem: str | None, ask_model: Ask, server: OpenAIServer, surface: Surface
) -> None:
    """The model is told what is wrong; what goes back to the provider, and into the file, is JSON in every case."""
    ran: list[object] = []
    surface.mount(act=ran.append)
    server.will(uses(Call(name=ACT, arguments=arguments)), says("Sorry."))
    under = ask_model(registry=surface.registry)
    await under.ask("Go")
    (call,) = under.calls()
    assert (call.status, _code(call)) == (ToolCallStatus.FAILED, "INVALID_INPUT")
    assert ran == []
    (answer,) = _answers(server.requests[1])
    assert answer.startswith("{" if problem is None else problem)
    (function,) = _sent_back(server.requests[1])
    assert isinstance(json.loads(str(function["arguments"])), dict)
    json.dumps(under.session.to_json()).encode()
    assert under.end.reason is TurnEnd.COMPLETED


async def test_a_thousand_calls_at_once_are_not_begun(ask_model: Ask, server: OpenAIServer) -> None:
    """Nobody could look at them; the answer is not even read to its end."""
    surface = FakeSurface()
    surface.action("open")
    gate = server.gate()
    calls = [Call(name=OPEN, arguments=f'{{"n": {n}}}', call_id=f"call_{n}") for n in range(1_000)]
    server.will(Stream(steps=[*wants(calls[:101]), gate, *wants(calls[101:]), *end("tool_calls")]))
    under = ask_model(surface)
    await under.ask("Go")
    assert under.problem == (
        "“test-model” wanted to do too many things at once. Nothing of it was done; ask for less, or choose another "
        "model in the settings."
    )
    assert (surface.calls, under.calls()) == ([], [])
    await under.reach(gate.left)


async def test_more_calls_at_once_than_a_turn_may_have_end_it_with_none_left_open(
    ask_model: Ask, server: OpenAIServer
) -> None:
    """Those within the limit are made, some are refused with the reason, and then the model is not asked again."""
    surface = FakeSurface()
    surface.action("open")
    server.will(uses(*(Call(name=OPEN, arguments=f'{{"n": {n}}}', call_id=f"call_{n}") for n in range(60))))
    under = ask_model(surface)
    await under.ask("Go")
    assert under.end.reason is TurnEnd.STEP_LIMIT
    assert len(surface.calls) <= 25
    statuses = [call.status for call in under.calls()]
    assert statuses[:17] == [ToolCallStatus.DONE] * 17
    assert len(statuses) < 50
    assert not any(status.open for status in statuses)
    assert len(server.requests) == 1


async def test_a_model_that_calls_for_ever_is_ended_at_the_limit(ask_model: Ask, server: OpenAIServer) -> None:
    """Whatever it is told: one answer after the other with one more call."""
    surface = FakeSurface()
    surface.action("open")
    for n in range(40):
        server.will(uses(Call(name=OPEN, arguments=f'{{"n": {n}}}', call_id=f"call_{n}")))
    under = ask_model(surface, max_steps=3)
    await under.ask("Go")
    ends = [under.end.reason]
    assert len(surface.calls) == 3
    assert len(server.requests) < 15
    server.answers.clear()
    server.will(says("I stopped."))
    await under.ask("Well?")
    assert [*ends, under.end.reason] == [TurnEnd.STEP_LIMIT, TurnEnd.COMPLETED]


async def test_calls_with_one_id_are_told_apart(ask_model: Ask, server: OpenAIServer) -> None:
    """Some servers number anew in each answer, and some give each call the same id."""
    surface = FakeSurface()
    surface.action("open", lambda value: value["n"])
    calls = [Call(name=OPEN, arguments=f'{{"n": {n}}}', call_id="call_0") for n in range(3)]
    server.will(uses(*calls[:2]), uses(calls[2]), says("Done."))
    under = ask_model(surface)
    await under.ask("Go")
    assert len({call.call_id for call in under.calls()}) == 3
    answered = [m["tool_call_id"] for m in server.requests[1].messages if m["role"] == "tool"]
    assert len(set(answered)) == 2
    assert [json.loads(answer)["output"] for answer in _answers(server.requests[2])] == [0, 1, 2]


@pytest.mark.parametrize(
    "said", [[], [""], [" ", "\n\n", "\t"], ["\u0000\u0007"]], ids=["nothing", "empty", "blank", "noise"]
)
async def test_an_answer_that_says_nothing_is_an_answer_nobody_has_to_look_for(
    said: list[str], ask_model: Ask, server: OpenAIServer
) -> None:
    """No empty message stands in the conversation; one sentence says what happened."""
    server.will(says(*said))
    under = ask_model()
    await under.ask("Hello?")
    assert under.problem == (
        "“test-model” gave no answer. Say it another way, or choose another model in the settings."
    )
    assert not any(isinstance(entry, AssistantMessage) for entry in under.session.transcript)


async def test_silence_after_the_tools_were_used_is_no_failure(ask_model: Ask, server: OpenAIServer) -> None:
    """What was done is done; the person is told that nothing more was said."""
    surface = FakeSurface()
    surface.action("open")
    server.will(uses(Call(name=OPEN)), says())
    under = ask_model(surface)
    await under.ask("Open it")
    last = under.session.transcript[-1]
    assert isinstance(last, Notice)
    assert (last.kind, last.text) == (NoticeKind.INFO, "The assistant used its tools and said nothing more.")
    assert under.end.reason is TurnEnd.COMPLETED


async def test_control_characters_and_halves_of_characters_reach_neither_the_window_nor_the_file(
    ask_model: Ask, server: OpenAIServer
) -> None:
    """Lines and tabs do."""
    server.will(says("\n a\u0000b\u001b[31m\r\nc\td\u0085", "\ud800!"))
    under = ask_model()
    await under.ask("Hello?")
    message = under.session.transcript[-1]
    assert isinstance(message, AssistantMessage)
    assert message.text == "ab[31m\nc\td?!"


async def test_a_very_long_answer_arrives_whole(ask_model: Ask, server: OpenAIServer) -> None:
    """200,000 tokens, faster than anybody shows them: they are joined on the way, not queued one by one."""
    tokens = [f"w{n} " for n in range(200_000)]
    pieces = ["".join(tokens[start : start + 1_000]) for start in range(0, len(tokens), 1_000)]
    server.will(Stream(steps=[b"".join(words(*pieces)), *end()]))
    under = ask_model()
    await under.ask("Tell me everything")
    message = under.session.transcript[-1]
    assert isinstance(message, AssistantMessage)
    assert message.text == "".join(tokens)


async def test_an_answer_without_end_is_cut_off(
    ask_model: Ask, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is closed in the middle of it."""
    monkeypatch.setattr(_requests, "MAX_ANSWER_CHARACTERS", 1_000)
    gate = server.gate()
    server.will(Stream(steps=[*words("x" * 999, "yy"), gate, *end()]))
    under = ask_model()
    await under.ask("Hello?")
    assert under.problem == (
        "The answer of “test-model” did not end and was cut off. Ask for less, or choose another model."
    )
    await under.reach(gate.left)


async def test_an_answer_that_reached_its_length_says_so(ask_model: Ask, server: OpenAIServer) -> None:
    """Half a sentence is kept, and nobody takes it for the whole."""
    server.will(Stream(steps=[*words("And then he"), *end("length")]))
    under = ask_model()
    await under.ask("A story")
    last = under.session.transcript[-1]
    assert isinstance(last, Notice)
    assert last.text == "The answer was cut off: it reached the length the model may write."


async def test_text_after_a_call_in_one_answer_is_kept(ask_model: Ask, server: OpenAIServer) -> None:
    """Models should not, and some do."""
    surface = FakeSurface()
    surface.action("open")
    opening = {"index": 0, "id": "c", "type": "function", "function": {"name": OPEN, "arguments": "{}"}}
    server.will(
        Stream(steps=[chunk({"tool_calls": [opening]}), *words("I opened it."), *end("tool_calls")]), says("Done.")
    )
    under = ask_model(surface)
    await under.ask("Open it")
    said = [entry.text for entry in under.session.transcript if isinstance(entry, AssistantMessage)]
    assert said == ["I opened it.", "Done."]
    assert [call.status for call in under.calls()] == [ToolCallStatus.DONE]
