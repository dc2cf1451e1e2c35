"""A conversation survives as JSON, executes nothing when it comes back, and tells the truth about what was open."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent_surface._base._json import JsonValue
from agent_surface.assistant import (
    AssistantMessage,
    Pause,
    Say,
    ScriptedBackend,
    SessionState,
    ToolCall,
    ToolCallStatus,
    UseTogether,
    render_tool_reply,
    use,
)
from tests.core.assistant.session_under_test import SessionUnderTest, scripted
from tests.core.toolset.fake_surface import FakeSurface


def _copy(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    copied: dict[str, JsonValue] = json.loads(json.dumps(value))
    return copied


async def test_a_conversation_comes_back_as_it_was() -> None:
    """Messages, calls with their results, notices."""
    surface = FakeSurface()
    surface.observation("read", lambda value: {"rows": [1, 2.5, None, "ä"]})
    surface.procedure("things.delete")
    under, _ = scripted(
        surface,
        Say(text="I look."),
        use("view:things.list.read"),
        use("nobody"),
        use("domain:things.delete"),
        Say(text="Done."),
    )
    assert under.session.send("Look")
    await under.until(surface.pending_ids)
    surface.answer(approved=False, note="No.")
    await under.session.wait_idle()
    assert under.calls()[-1].confirmation_id is not None
    saved = _copy(under.session.to_json())
    again = SessionUnderTest(FakeSurface(), ScriptedBackend([]), saved=saved)
    assert again.session.transcript == under.session.transcript
    assert again.session.to_json() == under.session.to_json()
    assert again.session.state is SessionState.IDLE
    await again.close()
    await under.close()


@pytest.mark.requirement("QT-DOCK-006")
async def test_a_conversation_saved_in_the_middle_comes_back_with_abandoned_calls_and_executes_nothing() -> None:
    """Running and waiting calls have an unknown end; the model reads that once, in their place."""
    surface = FakeSurface()
    surface.action("open", lambda value: asyncio.Event().wait())
    surface.procedure("things.delete")
    under, _ = scripted(
        surface,
        Say(text="I begin"),
        UseTogether(calls=(use("view:things.list.open", {"id": 1}), use("domain:things.delete", {"id": 2}))),
    )
    assert under.session.send("Go")
    await under.until(lambda: under.session.state is SessionState.WAITING_FOR_PERSON)
    saved = _copy(under.session.to_json())
    await under.close()

    fresh = FakeSurface()
    fresh.action("open")
    fresh.procedure("things.delete")
    backend = ScriptedBackend([Say(text="I see.")])
    again = SessionUnderTest(fresh, backend, saved=saved)
    calls = again.calls()
    assert [(call.status, call.result, call.input) for call in calls] == [
        (ToolCallStatus.ABANDONED, None, {"id": 1}),
        (ToolCallStatus.ABANDONED, None, {"id": 2}),
    ]
    await again.turns(5)
    assert fresh.calls == []
    await again.ask("What happened?")
    seen = [entry for entry in backend.transcripts[0] if isinstance(entry, ToolCall)]
    assert seen == calls
    assert ["abandoned" in render_tool_reply(call) for call in seen] == [True, True]
    assert fresh.calls == []
    twice = SessionUnderTest(FakeSurface(), ScriptedBackend([]), saved=_copy(again.session.to_json()))
    assert twice.session.transcript == again.session.transcript
    await twice.close()
    await again.close()


async def test_a_late_result_comes_back_as_late() -> None:
    """After a restart, too, the model reads that the call was given up before it ended."""
    release = asyncio.Event()

    async def stubborn(value: object) -> object:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return {"sorted": True}

    surface = FakeSurface()
    surface.action("sort", stubborn)
    under, _ = scripted(surface, use("view:things.list.sort"))
    assert under.session.send("Sort")
    await under.until(lambda: surface.calls)
    assert under.session.stop()
    await under.session.wait_idle()
    release.set()
    await under.until(lambda: under.calls()[0].late)
    again = SessionUnderTest(FakeSurface(), ScriptedBackend([]), saved=_copy(under.session.to_json()))
    assert again.calls() == under.calls()
    assert '"late"' in render_tool_reply(again.calls()[0])
    await again.close()
    await under.close()


async def test_a_message_saved_while_it_streamed_comes_back_complete() -> None:
    """Nobody writes it any more."""
    gate = asyncio.Event()
    under, _ = scripted(FakeSurface(), Say(text="Half a sen"), Pause(until=gate.wait))
    assert under.session.send("Go")
    await under.until(lambda: len(under.session.transcript) == 2 and len(under.events) >= 4)
    saved = _copy(under.session.to_json())
    await under.close()
    again = SessionUnderTest(FakeSurface(), ScriptedBackend([]), saved=saved)
    message = again.session.transcript[-1]
    assert isinstance(message, AssistantMessage)
    assert (message.text, message.streaming) == ("Half a sen", False)
    await again.close()


async def test_new_entries_of_a_restored_conversation_have_ids_of_their_own() -> None:
    """Old and new entries never meet under one id."""
    under, _ = scripted(FakeSurface(), Say(text="One"))
    await under.ask()
    again = SessionUnderTest(FakeSurface(), ScriptedBackend([Say(text="Two")]), saved=_copy(under.session.to_json()))
    await again.ask()
    ids = [entry.message_id for entry in again.session.transcript]
    assert len(ids) == len(set(ids)) == 4
    await again.close()
    await under.close()


@pytest.mark.parametrize(
    ("saved", "complaint"),
    [
        ({}, "no saved conversation"),
        ({"format": "agent-surface-conversation", "version": 99, "entries": []}, "version 99"),
        ({"format": "agent-surface-conversation", "version": 1, "entries": {}}, "list of entries"),
        ({"format": "agent-surface-conversation", "version": 1, "entries": [3]}, "entry 0"),
        ({"format": "agent-surface-conversation", "version": 1, "entries": [{"type": "spell"}]}, "entry 0"),
        (
            {
                "format": "agent-surface-conversation",
                "version": 1,
                "entries": [{"type": "person", "id": "m1", "text": 5, "atMs": 1}],
            },
            "text",
        ),
        (
            {
                "format": "agent-surface-conversation",
                "version": 1,
                "entries": [{"type": "person", "id": "m1", "text": "a", "atMs": 1}] * 2,
            },
            "m1",
        ),
    ],
)
async def test_what_is_no_conversation_is_refused_with_the_place(saved: dict[str, JsonValue], complaint: str) -> None:
    """A damaged file says where."""
    with pytest.raises(ValueError, match=complaint):
        SessionUnderTest(FakeSurface(), ScriptedBackend([]), saved=saved)
