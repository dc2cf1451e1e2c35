"""What the fixtures ``agent_qtbot`` and ``scripted_assistant`` do; the plugin itself is ``pytest_agent_surface.qt``.

Above: ``pytest_agent_surface``. Below: ``qt_binding.testing``, ``agent_surface.pytest_plugin`` and pytest-qt.
"""

from qt_binding.pytest_plugin._assistant import ScriptedAssistant, StartAssistant, start_assistants
from qt_binding.pytest_plugin._bot import AgentQtBot, open_bot

__all__ = ["AgentQtBot", "ScriptedAssistant", "StartAssistant", "open_bot", "start_assistants"]
