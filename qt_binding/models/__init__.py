"""What an application has in item models: pages of rows to read, and rows to select.

Above: applications. Below: ``qt_binding.mixin`` and ``agent_surface``.
"""

from qt_binding.models._observe import ModelObservation, observe_model
from qt_binding.models._select import select_rows

__all__ = ["ModelObservation", "observe_model", "select_rows"]
