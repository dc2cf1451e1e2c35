"""Provider-neutral tools over one consumer's surface.

Above: ``assistant``, ``mcp`` and any loop of an application's own. Below: the registry, seen only through
``InvokableSurface``, which has no handlers and no way to decide a confirmation.
"""

from agent_surface.toolset._create import create_agent_toolset
from agent_surface.toolset._state_block import render_state_block
from agent_surface.toolset._surface import InvokableSurface
from agent_surface.toolset._toolset import AgentToolset
from agent_surface.toolset._values import (
    AgentTool,
    ConfirmationMode,
    ConfirmationWait,
    ToolCallCancelledError,
    ToolDefinition,
    ToolState,
    WaitListener,
)

__all__ = [
    "AgentTool",
    "AgentToolset",
    "ConfirmationMode",
    "ConfirmationWait",
    "InvokableSurface",
    "ToolCallCancelledError",
    "ToolDefinition",
    "ToolState",
    "WaitListener",
    "create_agent_toolset",
    "render_state_block",
]
