"""A session over the fake surface, with everything it says written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from agent_surface import AgentSurfaceRegistry, TakeOver
from agent_surface._base._json import JsonValue
from agent_surface.assistant import (
    AssistantBackend,
    AssistantSession,
    ScriptedBackend,
    ScriptStep,
    SessionEvent,
    SessionState,
    StateChanged,
    ToolCall,
)
from agent_surface.toolset import AgentToolset, create_agent_toolset
from tests.core.toolset.fake_surface import CONSUMER, FakeSurface, RunningLoop


class SessionUnderTest:
    """A session, its toolset and surface, and the events so far.

    Args:
        surface: What it acts on, and the clock.
        backend: Who answers.
        max_steps: Most calls in a turn.
        saved: What it is restored with.
        registry: In place of ``surface``, for a test that needs inputs checked or policies asked.
        take_over: That registry's switch.
    """

    def __init__(
        self,
        surface: FakeSurface,
        backend: AssistantBackend,
        *,
        max_steps: int = 25,
        saved: Mapping[str, JsonValue] | None = None,
        registry: AgentSurfaceRegistry | None = None,
        take_over: TakeOver | None = None,
    ) -> None:
        self.surface = surface
        self.toolset: AgentToolset = create_agent_toolset(
            surface if registry is None else registry, consumer=CONSUMER, topology="embedded"
        )
        if saved is None:
            self.session = AssistantSession(
                self.toolset,
                backend,
                clock=surface.clock,
                host_loop=RunningLoop(),
                max_steps=max_steps,
                take_over=take_over,
            )
        else:
            self.session = AssistantSession.restore(
                saved, self.toolset, backend, clock=surface.clock, host_loop=RunningLoop(), max_steps=max_steps
            )
        self.events: list[SessionEvent] = []
        self.session.subscribe(self.events.append)

    async def ask(self, text: str = "Go on.") -> None:
        """Send ``text`` and wait for the end of the turn."""
        assert self.session.send(text)
        await asyncio.wait_for(self.session.wait_idle(), 10)

    def calls(self) -> list[ToolCall]:
        """The tool calls of the transcript."""
        return [entry for entry in self.session.transcript if isinstance(entry, ToolCall)]

    def states(self) -> list[SessionState]:
        """The states it went through, after the first."""
        return [event.state for event in self.events if isinstance(event, StateChanged)]

    async def until(self, condition: Callable[[], object]) -> None:
        """Let the loop turn until ``condition`` holds."""
        for _ in range(100):
            if condition():
                return
            await asyncio.sleep(0)
        pytest.fail("what the test waits for did not happen")

    async def turns(self, count: int) -> None:
        """Let the loop turn ``count`` times."""
        for _ in range(count):
            await asyncio.sleep(0)

    async def close(self) -> None:
        """Close both and let what was cancelled end."""
        self.session.close()
        self.toolset.close()
        await self.turns(4)


def scripted(surface: FakeSurface, *steps: ScriptStep, max_steps: int = 25) -> tuple[SessionUnderTest, ScriptedBackend]:
    """A session with a script."""
    backend = ScriptedBackend(steps)
    return SessionUnderTest(surface, backend, max_steps=max_steps), backend
