"""What an application has as ``QAction``, offered as actions of a component.

Above: applications. Below: ``qt_binding.mixin``, ``qt_binding._availability`` and ``agent_surface``.
"""

from qt_binding.actions._bind import bind_action

__all__ = ["bind_action"]
