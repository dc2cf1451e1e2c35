"""Exporting devices as CSV that the import reads back and that is harmless in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

from demo_app.domain._csv_import import shield_formula
from demo_app.domain._csv_reading import IMPORT_FIELDS
from demo_app.domain._errors import FleetError, OperationCancelledError
from demo_app.domain._ports import OperationMonitor, UnwatchedOperation
from demo_app.domain._repository import FleetRepository
from demo_app.domain._values import Device

_BATCH_ROWS = 500


def export_csv(
    repository: FleetRepository, path: Path, device_ids: Sequence[str], *, monitor: OperationMonitor | None = None
) -> int:
    """Write the devices with these ids, in this order, and return how many were written.

    The file appears under its name only when it is complete; an older file is replaced then.

    Raises:
        FleetError: The file cannot be written.
        OperationCancelledError: The monitor stopped it; an older file is still there.
    """
    watched = monitor or UnwatchedOperation()
    written = 0
    temporary: Path | None = None
    try:
        # The byte order mark is what makes spreadsheets read UTF-8 as UTF-8.
        with NamedTemporaryFile(
            "w", encoding="utf-8-sig", newline="", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            temporary = Path(file.name)
            writer = csv.writer(file)
            writer.writerow(IMPORT_FIELDS)
            for start in range(0, len(device_ids), _BATCH_ROWS):
                if watched.is_cancelled():
                    raise OperationCancelledError
                devices = repository.read_devices(device_ids[start : start + _BATCH_ROWS])
                writer.writerows(map(_row, devices))
                written += len(devices)
                watched.report(min(start + _BATCH_ROWS, len(device_ids)), len(device_ids))
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise FleetError(f"The file {path.name} cannot be written: {error.strerror or error}.") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
    return written


def _row(device: Device) -> tuple[str, ...]:
    last_seen = "" if device.last_seen is None else device.last_seen.isoformat()
    texts = (device.id, device.name, device.status, device.city, device.country, device.model, device.firmware)
    return (*map(shield_formula, texts), last_seen)
