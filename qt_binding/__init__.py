"""Agent Surface for PySide6.

Above: applications. Below: ``agent_surface`` and PySide6.
"""

from qt_binding import _guard as _guard
