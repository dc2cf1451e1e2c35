"""The fleet: stations, notes and the activity log in an SQLite file. Knows neither Qt nor agents.

Above: ``demo_app.views`` and ``demo_app.composition``. Below: the standard library.
"""

from demo_app.domain._csv_export import export_csv
from demo_app.domain._csv_import import ExistingDevices, ImportReport, LineError, import_csv
from demo_app.domain._csv_reading import (
    IMPORT_FIELDS,
    REQUIRED_FIELDS,
    CsvLine,
    CsvPreview,
    ImportField,
    preview_csv,
    suggest_mapping,
)
from demo_app.domain._database import open_database
from demo_app.domain._errors import (
    CsvFormatError,
    FleetDatabaseError,
    FleetError,
    InvalidFieldError,
    OperationCancelledError,
    UnknownDevicesError,
)
from demo_app.domain._fleet import Fleet, open_fleet
from demo_app.domain._ports import FleetClock, OperationMonitor, SystemFleetClock, UnwatchedOperation
from demo_app.domain._repository import FleetRepository
from demo_app.domain._sample import fill_with_samples, find_resource
from demo_app.domain._service import FleetService
from demo_app.domain._text import MAX_NAME_CHARACTERS, MAX_NOTE_CHARACTERS
from demo_app.domain._values import (
    ActivityEntry,
    ActivityVerb,
    ChangeResult,
    Device,
    DeviceFilter,
    DeviceOrder,
    DeviceStatus,
    FleetCounts,
    MaintenanceNote,
    SortColumn,
)

__all__ = [
    "IMPORT_FIELDS",
    "MAX_NAME_CHARACTERS",
    "MAX_NOTE_CHARACTERS",
    "REQUIRED_FIELDS",
    "ActivityEntry",
    "ActivityVerb",
    "ChangeResult",
    "CsvFormatError",
    "CsvLine",
    "CsvPreview",
    "Device",
    "DeviceFilter",
    "DeviceOrder",
    "DeviceStatus",
    "ExistingDevices",
    "Fleet",
    "FleetClock",
    "FleetCounts",
    "FleetDatabaseError",
    "FleetError",
    "FleetRepository",
    "FleetService",
    "ImportField",
    "ImportReport",
    "InvalidFieldError",
    "LineError",
    "MaintenanceNote",
    "OperationCancelledError",
    "OperationMonitor",
    "SortColumn",
    "SystemFleetClock",
    "UnknownDevicesError",
    "UnwatchedOperation",
    "export_csv",
    "fill_with_samples",
    "find_resource",
    "import_csv",
    "open_database",
    "open_fleet",
    "preview_csv",
    "suggest_mapping",
]
