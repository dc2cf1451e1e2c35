"""Agent Surface for PySide6.

Above: applications. Below: ``agent_surface`` and PySide6.
"""

# The guard comes before anything that touches Qt.
from qt_binding import _guard as _guard  # isort: split

from qt_binding._runtime import create_qt_registry, provide_surface, run
from qt_binding.errors import (
    ComponentRejectedError,
    NoApplicationError,
    NoSurfaceProviderError,
    NotAQtRegistryError,
    UnsoundPySideError,
)
from qt_binding.mixin import (
    AgentComponentHandle,
    AgentComponentMixin,
    attach_agent_component,
    observes,
    observing,
    performing,
    performs,
    use_agent_procedure,
)

__all__ = [
    "AgentComponentHandle",
    "AgentComponentMixin",
    "ComponentRejectedError",
    "NoApplicationError",
    "NoSurfaceProviderError",
    "NotAQtRegistryError",
    "UnsoundPySideError",
    "attach_agent_component",
    "create_qt_registry",
    "observes",
    "observing",
    "performing",
    "performs",
    "provide_surface",
    "run",
    "use_agent_procedure",
]
