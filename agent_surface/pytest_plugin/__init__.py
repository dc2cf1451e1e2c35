"""What the fixture ``surface`` of the pytest plugin does; the plugin itself is ``pytest_agent_surface.core``.

Above: ``pytest_agent_surface`` and ``qt_binding.pytest_plugin``. Below: ``agent_surface.testing`` and pytest.
"""

from agent_surface.pytest_plugin._leaks import leaks_to_fail_on
from agent_surface.pytest_plugin._surface import open_surface

__all__ = ["leaks_to_fail_on", "open_surface"]
