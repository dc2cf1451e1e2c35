"""The registry: what is live, who sees it, and the one way to use it.

Above: toolset, assistant and other adapters, through a protocol without handlers. Below: the pipeline, the snapshot,
registrations, the authority.
"""

from agent_surface.registry._create import create_agent_surface_registry
from agent_surface.registry._registry import AgentSurfaceRegistry
from agent_surface.registry._statistics import RegistryStatistics

__all__ = ["AgentSurfaceRegistry", "RegistryStatistics", "create_agent_surface_registry"]
