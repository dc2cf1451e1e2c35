"""The windows of the fleet console.

Above: ``demo_app.composition``. Below: ``demo_app.domain`` and PySide6.
"""

from demo_app.views._device_drawer import DeviceDrawer
from demo_app.views._devices_model import DevicesModel
from demo_app.views._devices_table import DevicesNotListedError, DevicesTable, SelectionMode
from demo_app.views._filter_bar import FilterBar
from demo_app.views._import_dialog import ImportDialog
from demo_app.views._jobs import Job
from demo_app.views._main_window import MainWindow, Section
from demo_app.views._outline import Outline
from demo_app.views._record_pages import ActivityPage, NotesPage
from demo_app.views._session import FleetSession

__all__ = [
    "ActivityPage",
    "DeviceDrawer",
    "DevicesModel",
    "DevicesNotListedError",
    "DevicesTable",
    "FilterBar",
    "FleetSession",
    "ImportDialog",
    "Job",
    "MainWindow",
    "NotesPage",
    "Outline",
    "Section",
    "SelectionMode",
]
