"""The hook between the two plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from agent_surface import AgentSurfaceRegistry, CapabilityAuthority


@pytest.hookspec(firstresult=True)
def pytest_agent_surface_registry(
    request: pytest.FixtureRequest, authority: CapabilityAuthority
) -> AgentSurfaceRegistry | None:
    """A fresh registry with the ports the test needs; ``None`` where the core's own will do."""
