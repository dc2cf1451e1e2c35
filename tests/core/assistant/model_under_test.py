"""A session that asks a model at the test's own server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from pydantic import SecretStr

from agent_surface import AgentSurfaceRegistry, TakeOver
from agent_surface.assistant import (
    AssistantSettings,
    Notice,
    NoticeKind,
    PydanticAIBackend,
    SessionState,
    TurnEnd,
    TurnFinished,
    backend_from_settings,
)
from agent_surface.testing import MemoryKeys
from tests.core.assistant.openai_server import OpenAIServer
from tests.core.assistant.session_under_test import SessionUnderTest
from tests.core.toolset.fake_surface import FakeSurface

T = TypeVar("T")

KEY = "-".join(("sk", "test", "0123456789", "very", "secret"))
SERVICE = "OpenAI-compatible server"


class ModelUnderTest(SessionUnderTest):
    """A session, its surface, and the server that plays the model."""

    def __init__(
        self,
        server: OpenAIServer,
        surface: FakeSurface,
        *,
        max_steps: int = 25,
        timeout_ms: int = 20_000,
        registry: AgentSurfaceRegistry | None = None,
        take_over: TakeOver | None = None,
    ) -> None:
        keys = MemoryKeys()
        keys.save_key("openai-compatible", SecretStr(KEY))
        settings = AssistantSettings(
            provider="openai-compatible", model="test-model", base_url=server.url, timeout_ms=timeout_ms
        )
        backend = backend_from_settings(settings, [keys])
        assert isinstance(backend, PydanticAIBackend)
        super().__init__(surface, backend, max_steps=max_steps, registry=registry, take_over=take_over)
        self.backend = backend
        self.server = server

    @property
    def end(self) -> TurnFinished:
        """How the last turn ended; the session is idle."""
        assert self.session.state is SessionState.IDLE
        last = self.events[-1]
        assert isinstance(last, TurnFinished)
        return last

    @property
    def problem(self) -> str:
        """The one sentence with which the last turn failed."""
        assert self.end.reason is TurnEnd.ERROR
        (sentence,) = [e.text for e in self.session.transcript if isinstance(e, Notice) and e.kind is NoticeKind.ERROR]
        return sentence

    async def reach(self, event: threading.Event) -> None:
        """Wait, with the loop running, until the server has set ``event``."""
        assert await asyncio.to_thread(event.wait, 10)

    async def until_there(self, condition: Callable[[], object]) -> None:
        """Wait, with the loop running, for what comes from another thread; each event of the session looks again."""
        met = asyncio.get_running_loop().create_future()

        def look(_: object = None) -> None:
            if condition() and not met.done():
                met.set_result(None)

        forget = self.session.subscribe(look)
        look()
        await asyncio.wait_for(met, 10)
        forget()

    async def done(self) -> None:
        """Close everything and wait for the thread."""
        await super().close()
        await asyncio.to_thread(self.backend.close, wait_ms=10_000)
