"""How a recorded session is replayed on an application with widgets."""

from __future__ import annotations

from agent_surface.testing import ReplayRunner

QT = ReplayRunner(
    imports={"qt_binding": "from qt_binding.pytest_plugin import AgentQtBot"},
    parameters="agent_qtbot: AgentQtBot, surface: SurfaceHarness",
    run="agent_qtbot.run(replay(surface))",
)
"""Runs a replay on the loop of the application, through the fixture ``agent_qtbot``."""
