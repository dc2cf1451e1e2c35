"""A session that runs on the event loop and clock of a Qt application."""

from __future__ import annotations

from agent_surface import AgentSurfaceRegistry
from agent_surface.assistant import AssistantBackend, AssistantSession
from agent_surface.toolset import AgentToolset
from qt_binding._runtime import QtClock, QtHostLoop, runtimes_of


def create_assistant_session(
    registry: AgentSurfaceRegistry, toolset: AgentToolset, backend: AssistantBackend, *, max_steps: int = 25
) -> AssistantSession:
    """A conversation on the loop and clock that ``registry`` uses.

    Args:
        registry: Made by ``create_qt_registry``.
        toolset: What the assistant is offered, from ``create_agent_toolset``; stays open when the session closes.
        backend: Who answers.
        max_steps: Most tool calls in one turn, at least 1.

    Raises:
        NotAQtRegistryError: ``registry`` lacks the Qt ports.
        ValueError: The toolset is in ``two-phase`` mode, or ``max_steps`` is less than 1.
    """
    runtimes = runtimes_of(registry, "create_assistant_session")
    return AssistantSession(
        toolset,
        backend,
        clock=QtClock(runtimes.deadlines),
        host_loop=QtHostLoop(runtimes.loop),
        max_steps=max_steps,
    )
