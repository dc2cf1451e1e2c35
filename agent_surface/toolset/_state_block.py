"""The trailing block that tells a model what it can use right now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agent_surface.toolset._values import ToolDefinition, ToolState


class StatefulTool(Protocol):
    """What the block needs of a tool."""

    @property
    def definition(self) -> ToolDefinition:
        """The constant part."""
        ...

    @property
    def state(self) -> ToolState:
        """The live part."""
        ...


def render_state_block(tools: Sequence[StatefulTool]) -> str:
    """Live state of the tools as text, to be sent after everything that can be cached and stored nowhere.

    Reasons and notes are one line each, whatever they contain, so that none can pass for another line.
    """
    lines: list[str] = []
    for tool in tools:
        name, state = tool.definition.name, tool.state
        if not state.available:
            lines.append(f"- {name}: not available now. {_one_line(state.unavailable_reason or '')}".rstrip())
        if state.note:
            lines.append(f"- {name}: note: {_one_line(state.note)}")
    if not tools:
        return "Live state of the application: no tool is offered now."
    if not lines:
        return "Live state of the application: every tool is available now."
    return "\n".join(["Live state of the application (every other tool is available now):", *lines])


def _one_line(text: str) -> str:
    return " ".join(text.split())
