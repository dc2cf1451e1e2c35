"""What an application has as properties of its Qt objects, offered as observations.

Above: applications. Below: ``qt_binding.mixin`` and ``agent_surface``.
"""

from qt_binding.properties._observe import observe_properties

__all__ = ["observe_properties"]
