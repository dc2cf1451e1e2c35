"""Agent Surface for PySide6.

Above: applications. Below: ``agent_surface`` and PySide6.
"""

# The guard comes before anything that touches Qt.
from qt_binding import _guard as _guard  # isort: split

# The core loads its modules when they are first used, and pydantic with them. Here they are loaded before Qt, whose
# import hook reads the source of each module that comes after it.
import agent_surface.registry as _registry  # noqa: F401  # pyright: ignore[reportUnusedImport]  # isort: split
from qt_binding._runtime import create_qt_registry, provide_surface, run
from qt_binding.actions import bind_action
from qt_binding.errors import (
    ActionSlotError,
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
    contribute_to_component,
    observes,
    observing,
    performing,
    performs,
    use_agent_procedure,
)
from qt_binding.models import ModelObservation, observe_model, select_rows
from qt_binding.navigation import PageNavigation, navigate_docks, navigate_pages
from qt_binding.properties import observe_properties

__all__ = [
    "ActionSlotError",
    "AgentComponentHandle",
    "AgentComponentMixin",
    "ComponentRejectedError",
    "ModelObservation",
    "NoApplicationError",
    "NoSurfaceProviderError",
    "NotAQtRegistryError",
    "PageNavigation",
    "UnsoundPySideError",
    "attach_agent_component",
    "bind_action",
    "contribute_to_component",
    "create_qt_registry",
    "navigate_docks",
    "navigate_pages",
    "observe_model",
    "observe_properties",
    "observes",
    "observing",
    "performing",
    "performs",
    "provide_surface",
    "run",
    "select_rows",
    "use_agent_procedure",
]
