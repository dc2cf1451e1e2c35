"""A conversation is in its file whatever happens to the program, and costs little on the way there."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from logging import LogRecord
from pathlib import Path

import pytest

from agent_surface._base._json import JsonValue
from agent_surface.assistant import (
    AssistantMessage,
    Autosave,
    NoticeKind,
    Pause,
    PersonMessage,
    Say,
    ScriptedBackend,
    ToolCall,
    ToolCallStatus,
    _autosave,
    find_saved,
    render_tool_reply,
    use,
)
from agent_surface.assistant._files import replace_file
from tests.core.assistant.session_under_test import SessionUnderTest, scripted
from tests.core.toolset.fake_surface import FakeSurface


def _saved(path: Path) -> dict[str, JsonValue]:
    saved = find_saved(path)
    assert saved is not None
    return saved


def _names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def _kill_in_the_middle_of_a_call(folder: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.core.assistant.autosave_child", str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "under way\n"
        child.kill()


@pytest.mark.requirement("QT-DOCK-006")
async def test_a_program_killed_in_the_middle_of_a_call_comes_back_with_it_abandoned_and_nothing_runs_twice(
    tmp_path: Path,
) -> None:
    """SIGKILL leaves no time to save anything: what counts had been saved before."""
    await asyncio.to_thread(_kill_in_the_middle_of_a_call, tmp_path)
    surface = FakeSurface()
    surface.action("open")
    backend = ScriptedBackend([Say(text="I look first.")])
    again = SessionUnderTest(surface, backend, saved=_saved(tmp_path / "conversation.json"))
    person, assistant, call = again.session.transcript
    assert isinstance(person, PersonMessage)
    assert isinstance(assistant, AssistantMessage)
    assert isinstance(call, ToolCall)
    assert (person.text, assistant.text) == ("Pay", "I pay.")
    assert (call.status, call.input, call.result) == (ToolCallStatus.ABANDONED, {"n": 1}, None)
    await again.turns(5)
    await again.ask("Did you pay?")
    shown = [render_tool_reply(entry) for entry in backend.transcripts[0] if isinstance(entry, ToolCall)]
    assert [("abandoned" in text, "may have had an effect" in text) for text in shown] == [(True, True)]
    assert surface.calls == []
    assert (tmp_path / "effects").read_text() == "paid\n"
    await again.close()


async def test_the_file_is_what_the_session_would_save(tmp_path: Path) -> None:
    """Entry by entry it is joined to one object that restoring takes."""
    path = tmp_path / "conversation.json"
    surface = FakeSurface()
    surface.observation("read", lambda value: {"rows": ["ä", 1.5, None]})
    under, _ = scripted(surface, Say(text="I look."), use("view:things.list.read"), Say(text="Done.\n```"))
    autosave = Autosave(under.session, path)
    await under.ask("Look")
    assert autosave.flush()
    assert _saved(path) == under.session.to_json()
    under.session.clear()
    assert autosave.flush()
    assert _saved(path) == under.session.to_json()
    assert autosave.close()
    assert autosave.close()
    assert _names(tmp_path) == ["conversation.json"]
    await under.close()


async def test_a_streaming_answer_is_written_now_and_then_and_not_with_each_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand pieces, no write before the time is up, one when it is."""
    written: list[str] = []

    def write(path: Path, text: str) -> None:
        written.append(text)

    monkeypatch.setattr(_autosave, "replace_file", write)
    gate = asyncio.Event()
    under, backend = scripted(FakeSurface(), Say(text="x" * 1_000, piece=1), Pause(until=gate.wait))
    autosave = Autosave(under.session, tmp_path / "conversation.json", delay_ms=1_000)
    assert under.session.send("Write")
    for _ in range(20):
        await under.turns(100)
    assert backend.remaining == 0
    await asyncio.to_thread(autosave._writer.wait, 5_000)
    before = len(written)
    assert before <= 4
    assert not any("x" * 100 in text for text in written)
    under.surface.clock.advance(1_000)
    await asyncio.to_thread(autosave._writer.wait, 5_000)
    assert len(written) == before + 1
    assert "x" * 1_000 in written[-1]
    under.surface.clock.advance(10_000)
    assert len(written) == before + 1
    gate.set()
    await under.session.wait_idle()
    assert autosave.close()
    await under.close()


async def test_a_disk_that_is_full_is_told_and_the_next_change_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_logs: list[LogRecord]
) -> None:
    """The old file stays whole, and nothing is left beside it."""
    path = tmp_path / "conversation.json"
    told: list[str] = []
    under, _ = scripted(FakeSurface(), Say(text="One"))
    autosave = Autosave(under.session, path, failed=told.append)
    assert autosave.flush()
    before = path.read_text()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        await under.ask()
        assert not autosave.flush()
        assert path.read_text() == before
        assert _names(tmp_path) == ["conversation.json"]
    assert set(told) == {
        "The conversation could not be saved. Check that there is room and that the folder may be written to."
    }
    assert {record.getMessage() for record in expected_logs} == {"the conversation could not be saved"}
    assert autosave.close()
    assert _saved(path) == under.session.to_json()
    await under.close()


def test_a_file_that_is_no_conversation_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    """Absent is another thing than damaged."""
    path = tmp_path / "conversation.json"
    assert find_saved(path) is None
    for text in ("{", "[1]", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")):
        replace_file(path, text)
        with pytest.raises(ValueError, match=r"the saved conversation conversation\.json"):
            find_saved(path)
        assert path.read_text(encoding="utf-8") == text


async def test_half_a_character_keeps_no_conversation_from_being_saved(tmp_path: Path) -> None:
    """Whoever sent it: from then on nothing could be written."""
    path = tmp_path / "conversation.json"
    under, _ = scripted(FakeSurface(), Say(text="b\ud800"), use("c\ud800"), Say(text="d\udc00"))
    autosave = Autosave(under.session, path)
    await under.ask("a\ud800")
    under.session.announce(NoticeKind.INFO, "e\ud800")
    assert await asyncio.to_thread(autosave.close)
    assert _saved(path) == under.session.to_json()
    texts = [entry.tool_name if isinstance(entry, ToolCall) else entry.text for entry in under.session.transcript]
    assert texts == ["a?", "b?", "c?", "d?", "e?"]
    await under.close()
