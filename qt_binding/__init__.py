"""Agent Surface for PySide6.

Above: applications. Below: ``agent_surface`` and PySide6.
"""

# The guard comes before anything that touches Qt.
from qt_binding import _guard as _guard  # isort: split

from qt_binding._runtime import create_qt_registry, provide_surface, run
from qt_binding.errors import (
    NoApplicationError,
    NoSurfaceProviderError,
    NotAQtRegistryError,
    UnsoundPySideError,
)

__all__ = [
    "NoApplicationError",
    "NoSurfaceProviderError",
    "NotAQtRegistryError",
    "UnsoundPySideError",
    "create_qt_registry",
    "provide_surface",
    "run",
]
