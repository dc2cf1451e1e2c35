"""A command language over a live registry, and a person who says yes or no."""

from __future__ import annotations

import asyncio

import pytest

from agent_surface._base._json import JsonValue, thaw_json
from agent_surface._base._ports import Clock
from agent_surface.assistant import (
    AssistantMessage,
    AssistantSession,
    CommandBackend,
    PersonMessage,
    SessionState,
    ToolCall,
)
from agent_surface.invocation import AgentConsumer, CapabilityKind, ConsumerKind
from agent_surface.registry import AgentSurfaceRegistry
from agent_surface.toolset import create_agent_toolset
from tests.core.toolset.fake_surface import RunningLoop


class CommandUnderTest:
    """A session with the command language over one application."""

    def __init__(self, registry: AgentSurfaceRegistry, clock: Clock) -> None:
        self.registry = registry
        self.toolset = create_agent_toolset(
            registry, consumer=AgentConsumer(id="assistant", kind=ConsumerKind.TEST), topology="embedded"
        )
        self.session = AssistantSession(self.toolset, CommandBackend(), clock=clock, host_loop=RunningLoop())
        self.asked: list[str] = []

    async def say(self, text: str, *, approve: bool = True, note: str | None = None) -> str:
        """Send ``text``, answer what the person is asked, and return what the assistant said."""
        before = len(self.session.transcript)
        assert self.session.send(text)
        for _ in range(500):
            for pending in self.registry.confirmations.pending():
                self.asked.append(pending.capability_id)
                self.registry.confirmations.resolve(pending.confirmation_id, approved=approve, note=note)
            if self.session.state is SessionState.IDLE:
                break
            await asyncio.sleep(0)
        else:
            pytest.fail("the turn did not end")
        new = self.session.transcript[before:]
        assert isinstance(new[0], PersonMessage)
        return "".join(entry.text for entry in new if isinstance(entry, AssistantMessage))

    def calls(self) -> list[tuple[str, JsonValue]]:
        """What the last message led to, without what was only looked up: capability id and input."""
        last = max(i for i, entry in enumerate(self.session.transcript) if isinstance(entry, PersonMessage))
        return [
            (str(entry.capability_id), thaw_json(entry.input))
            for entry in self.session.transcript[last:]
            if isinstance(entry, ToolCall) and entry.kind is not CapabilityKind.OBSERVATION
        ]

    def looked_up(self) -> list[str]:
        """The observations that the last message led to."""
        last = max(i for i, entry in enumerate(self.session.transcript) if isinstance(entry, PersonMessage))
        return [
            str(entry.capability_id)
            for entry in self.session.transcript[last:]
            if isinstance(entry, ToolCall) and entry.kind is CapabilityKind.OBSERVATION
        ]

    async def close(self) -> None:
        """Close everything."""
        self.session.close()
        self.toolset.close()
        self.registry.close()
        await asyncio.sleep(0)
