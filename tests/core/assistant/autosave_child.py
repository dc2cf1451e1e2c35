"""A program that is killed in the middle of a tool call: ``python -m tests.core.assistant.autosave_child FOLDER``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from agent_surface.assistant import Autosave, Say, ScriptedBackend, use
from tests.core.assistant.session_under_test import SessionUnderTest
from tests.core.toolset.fake_surface import FakeSurface


async def run(folder: Path) -> None:
    """Begin a call, say so once it is under way, and never end it."""
    surface = FakeSurface()

    async def pay(value: object) -> None:
        with (folder / "effects").open("a") as effects:
            effects.write("paid\n")
        await asyncio.to_thread(saved.flush)
        sys.stdout.write("under way\n")
        sys.stdout.flush()
        await asyncio.Event().wait()

    surface.action("open", pay)
    under = SessionUnderTest(surface, ScriptedBackend([Say(text="I pay."), use("view:things.list.open", {"n": 1})]))
    saved = Autosave(under.session, folder / "conversation.json")
    under.session.send("Pay")
    await under.session.wait_idle()


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1])))
