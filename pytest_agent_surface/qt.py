"""The binding's plugin: ``agent_qtbot`` and ``scripted_assistant``, for those who have PySide6 and pytest-qt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from agent_surface import AgentSurfaceRegistry, CapabilityAuthority
    from agent_surface.testing import SurfaceHarness
    from qt_binding.pytest_plugin import AgentQtBot, StartAssistant


def pytest_agent_surface_registry(
    request: pytest.FixtureRequest, authority: CapabilityAuthority
) -> AgentSurfaceRegistry | None:
    """A registry with the Qt ports, for a test with an application."""
    if "qapp" not in request.fixturenames:
        return None
    from qt_binding import create_qt_registry

    return create_qt_registry(authority=authority, environment="test")


@pytest.fixture
def agent_qtbot(
    qapp: QApplication,  # noqa: ARG001 - the application is there before the registry
    surface: SurfaceHarness,
    request: pytest.FixtureRequest,
) -> Iterator[AgentQtBot]:
    """pytest-qt's ``qtbot`` that can also mount components, call capabilities and answer the confirmation dialog."""
    from qt_binding.pytest_plugin import open_bot

    yield from open_bot(request, surface)


@pytest.fixture
def scripted_assistant(agent_qtbot: AgentQtBot) -> Iterator[StartAssistant]:
    """Starts assistants that follow a script on the surface of the test; they are closed at its end."""
    from qt_binding.pytest_plugin import start_assistants

    yield from start_assistants(agent_qtbot)
