"""A session that runs on the event loop and clock of a Qt application."""

from __future__ import annotations

from collections.abc import Mapping

from agent_surface import AgentSurfaceRegistry, JsonValue, TakeOver
from agent_surface.assistant import AssistantBackend, AssistantSession
from agent_surface.toolset import AgentToolset
from qt_binding._runtime import QtClock, QtHostLoop, runtimes_of


def create_assistant_session(
    registry: AgentSurfaceRegistry,
    toolset: AgentToolset,
    backend: AssistantBackend,
    *,
    max_steps: int = 25,
    take_over: TakeOver | None = None,
    saved: Mapping[str, JsonValue] | None = None,
) -> AssistantSession:
    """A conversation on the loop and clock that ``registry`` uses.

    Args:
        registry: Made by ``create_qt_registry``.
        toolset: What the assistant is offered, from ``create_agent_toolset``; stays open when the session closes.
        backend: Who answers.
        max_steps: Most tool calls in one turn, at least 1.
        take_over: The switch that guards ``registry``; the conversation tells of it.
        saved: A conversation to go on with, from ``AssistantSession.to_json``; nothing of it is executed.

    Raises:
        NotAQtRegistryError: ``registry`` lacks the Qt ports.
        ValueError: The toolset is in ``two-phase`` mode, ``max_steps`` is less than 1, or ``saved`` cannot be read.
    """
    runtimes = runtimes_of(registry, "create_assistant_session")
    clock, host_loop = QtClock(runtimes.deadlines), QtHostLoop(runtimes.loop)
    if saved is None:
        return AssistantSession(
            toolset, backend, clock=clock, host_loop=host_loop, max_steps=max_steps, take_over=take_over
        )
    return AssistantSession.restore(
        saved, toolset, backend, clock=clock, host_loop=host_loop, max_steps=max_steps, take_over=take_over
    )
