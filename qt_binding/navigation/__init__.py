"""What a person turns to in an application: tabs, stacked pages, sections of a tool box, docks.

Above: applications. Below: ``qt_binding.mixin``, ``qt_binding._availability`` and ``agent_surface``.
"""

from qt_binding.navigation._navigate import PageNavigation, navigate_docks, navigate_pages

__all__ = ["PageNavigation", "navigate_docks", "navigate_pages"]
