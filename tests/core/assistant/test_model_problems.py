"""Whatever goes wrong at a model: one sentence with the way out, an idle session, and no key anywhere."""

from __future__ import annotations

import json
import logging
import socket
import sys
from collections.abc import Callable

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import SecretStr

from agent_surface.assistant import (
    AssistantSettings,
    PydanticAIBackend,
    Say,
    ScriptedBackend,
    SessionError,
    TurnEnd,
    backend_from_settings,
)
from agent_surface.testing import MemoryKeys
from tests.core.assistant.model_under_test import KEY, SERVICE, ModelUnderTest
from tests.core.assistant.openai_server import (
    HANGUP,
    Answer,
    OpenAIServer,
    Plain,
    Stream,
    chunk,
    end,
    error,
    event,
    says,
    words,
)
from tests.core.assistant.session_under_test import SessionUnderTest
from tests.core.toolset.fake_surface import FakeSurface

Ask = Callable[..., ModelUnderTest]

NOT_UNDERSTOOD = (
    f"The answer of {SERVICE} could not be understood. Send the message again; if that does not help, check the "
    "server's address in the settings."
)
BROKE_OFF = f"The connection to {SERVICE} broke off in the middle of the answer. Send the message again."
TOO_LONG = (
    "The conversation has become too long for “test-model”. Begin a new one, or choose a model with more room in the "
    "settings."
)

PROBLEMS: dict[str, tuple[Answer, str]] = {
    "wrong key": (
        error(401, f"Incorrect API key provided: {KEY}", code="invalid_api_key"),
        f"{SERVICE} does not accept the key for “test-model”. Check the key in the assistant's settings.",
    ),
    "key without the right": (
        error(403, "no access"),
        f"{SERVICE} does not accept the key for “test-model”. Check the key in the assistant's settings.",
    ),
    "no such model": (
        error(404, "The model `test-model` does not exist", code="model_not_found"),
        f"{SERVICE} has no model “test-model”. Choose another one in the assistant's settings.",
    ),
    "too many requests, with a time": (
        error(429, "slow down", headers={"retry-after": "20"}),
        f"{SERVICE} takes no more requests at the moment. Send the message again in 20 seconds.",
    ),
    "too many requests, without": (
        error(429, "slow down"),
        f"{SERVICE} takes no more requests at the moment. Send the message again in a minute.",
    ),
    "no credit": (
        error(429, "pay", code="insufficient_quota"),
        (
            f"The credit or quota of your account at {SERVICE} is used up. Look after your account there, or choose "
            "another model in the settings."
        ),
    ),
    "too long": (error(400, "too long", code="context_length_exceeded"), TOO_LONG),
    "too long, said in words only": (
        error(400, "This model's maximum context length is 4096 tokens"),
        TOO_LONG,
    ),
    "refused": (
        error(400, f"weird {KEY}", code="unsupported_parameter"),
        (
            f"{SERVICE} did not take the request (400, unsupported_parameter). Choose another model in the settings, "
            "or begin a new conversation."
        ),
    ),
    "broken": (
        error(500, f"boom {KEY}"),
        (
            f"{SERVICE} has a problem of its own (500). Send the message again in a minute, or choose another model in "
            "the settings."
        ),
    ),
    "down": (
        error(503, "down", headers={"retry-after": "300"}),
        (
            f"{SERVICE} has a problem of its own (503). Send the message again in 5 minutes, or choose another model "
            "in the settings."
        ),
    ),
    "a page of HTML": (Plain(status=200, body=b"<html>Hello", headers={"Content-Type": "text/html"}), NOT_UNDERSTOOD),
    "malformed JSON": (Stream(steps=[*words("Well"), b"data: {not json\n\n", *end()]), NOT_UNDERSTOOD),
    "JSON of something else": (Stream(steps=[b"data: 17\n\n", *end()]), NOT_UNDERSTOOD),
    "an error in the stream": (
        Stream(steps=[*words("Well"), event({"error": {"message": KEY, "code": "server_error", "type": "x"}})]),
        (
            f"{SERVICE} has a problem of its own (500, server_error). Send the message again in a minute, or choose "
            "another model in the settings."
        ),
    ),
    "broken off": (Stream(steps=[*words("Well"), HANGUP]), BROKE_OFF),
    "broken off in a call": (
        Stream(
            steps=[
                chunk(
                    {
                        "tool_calls": [
                            {"index": 0, "id": "c", "type": "function", "function": {"name": "x", "arguments": '{"a'}}
                        ]
                    }
                ),
                HANGUP,
            ]
        ),
        BROKE_OFF,
    ),
    "filtered": (
        Stream(steps=end("content_filter")),
        f"{SERVICE} refused to answer this message. Say it another way.",
    ),
}


UNFORESEEN = {"JSON of something else"}
"""What the library itself stumbles over; it is logged, without what was said in it."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.allow_logs("agent_surface.assistant")] if name in UNFORESEEN else [])
        for name in PROBLEMS
    ],
)
async def test_a_problem_ends_in_one_sentence_and_the_next_message_is_answered(
    name: str, ask_model: Ask, server: OpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    """No second attempt behind the person's back, no traceback, and the key in no text and no log."""
    answer, sentence = PROBLEMS[name]
    caplog.set_level(logging.DEBUG)
    server.will(answer)
    under = ask_model()
    await under.ask("Hello?")
    assert under.problem == sentence
    assert [event.message for event in under.events if isinstance(event, SessionError)] == [sentence]
    assert len(server.requests) == 1
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps(under.session.to_json()) + repr(under.events) + repr(vars(under.backend))
    assert KEY not in caplog.text
    assert "Traceback" not in json.dumps(under.session.to_json())

    server.will(says("Here I am."))
    await under.ask("And now?")
    assert under.end.reason is TurnEnd.COMPLETED
    assert KEY not in caplog.text


async def test_a_server_that_is_not_there_is_said_to_be_unreachable(server: OpenAIServer) -> None:
    """The address or the network is wrong."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        settings = AssistantSettings(
            provider="openai-compatible", model="m", base_url=f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"
        )
        sentence = await _sentence(backend_from_settings(settings))
    assert sentence == f"{SERVICE} cannot be reached. Check the network, and the server's address in the settings."


async def test_a_model_that_stays_silent_is_given_up(ask_model: Ask, server: OpenAIServer) -> None:
    """Before its first word, and in the middle of its answer; the connection is closed."""
    for beginning in ([], words("Well")):
        gate = server.gate()
        server.will(Stream(steps=[*beginning, gate, *end()]))
        under = ask_model(timeout_ms=300)
        await under.ask("Hello?")
        assert under.problem == (
            f"{SERVICE} did not answer within 300 milliseconds. Send the message again, or choose another model in "
            "the settings."
        )
        await under.reach(gate.left)


async def test_without_a_key_the_sentence_names_where_to_put_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """For an application that names the model itself."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert await _sentence(PydanticAIBackend("openai:gpt-x")) == (
        "There is no key for OpenAI. Enter one in the assistant's settings, or set OPENAI_API_KEY before the "
        "application starts."
    )


@pytest.mark.parametrize("name", ["nobody:model", "just-a-name"])
async def test_a_model_nobody_knows_is_said_to_be_none(name: str) -> None:
    """A slip in the settings."""
    sentence = await _sentence(PydanticAIBackend(name))
    assert sentence == f"There is no model “{name}”. Choose another one in the assistant's settings."


async def test_a_provider_whose_package_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each provider brings its own."""
    monkeypatch.setitem(sys.modules, "groq", None)
    monkeypatch.delitem(sys.modules, "pydantic_ai.providers.groq", raising=False)
    keys = MemoryKeys()
    keys.save_key("groq", SecretStr("k"))
    settings = AssistantSettings(provider="groq", model="m")
    assert await _sentence(backend_from_settings(settings, [keys])) == (
        "Groq needs a package that is not installed. Install pydantic-ai-slim[groq]."
    )


async def test_without_the_library_of_models_the_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session whose back end cannot work is as usable as before with another."""
    monkeypatch.delitem(sys.modules, "agent_surface.assistant._pydantic_ai._requests", raising=False)
    monkeypatch.setitem(sys.modules, "pydantic_ai.direct", None)
    backend = PydanticAIBackend("openai:gpt-x")
    under = SessionUnderTest(FakeSurface(), backend)
    await under.ask("Hello?")
    assert [e.message for e in under.events if isinstance(e, SessionError)] == [
        "Models need a package that is not installed. Install agent-surface-qt[assistant]."
    ]
    assert under.session.use_backend(ScriptedBackend([Say(text="I am here.")]))
    backend.close(wait_ms=10_000)
    await under.ask("Hello?")
    assert len(under.session.transcript) == 4
    await under.close()


@pytest.mark.allow_logs("agent_surface.assistant")
async def test_what_nobody_foresaw_is_logged_without_what_was_said_in_it(caplog: pytest.LogCaptureFixture) -> None:
    """A library may put the whole request into a message; the places are enough to find the fault."""

    def broken() -> object:
        raise RuntimeError(f"cannot send Authorization: {KEY}")

    sentence = await _sentence(PydanticAIBackend(broken, service="My model"))
    assert sentence.startswith("The answer of My model could not be understood.")
    assert "RuntimeError" in caplog.text
    assert "broken" in caplog.text
    assert KEY not in caplog.text


async def _sentence(backend: object) -> str:
    assert isinstance(backend, PydanticAIBackend)
    under = SessionUnderTest(FakeSurface(), backend)
    await under.ask("Hello?")
    (sentence,) = [event.message for event in under.events if isinstance(event, SessionError)]
    await under.close()
    backend.close(wait_ms=10_000)
    return sentence
