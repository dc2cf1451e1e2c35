"""Importing devices from CSV: one transaction, mistakes reported by line."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from demo_app.domain._csv_reading import IMPORT_FIELDS, REQUIRED_FIELDS, CsvLine, ImportField, read_csv
from demo_app.domain._database import transaction
from demo_app.domain._errors import CsvFormatError, InvalidFieldError, OperationCancelledError
from demo_app.domain._ports import FleetClock, OperationMonitor, UnwatchedOperation
from demo_app.domain._repository import FleetRepository
from demo_app.domain._text import MAX_NAME_CHARACTERS, clean_id, clean_line
from demo_app.domain._values import Device, DeviceStatus
from demo_app.domain._writing import log_fleet, write_devices

ExistingDevices = Literal["update", "skip", "reject"]
"""What to do with a line whose id is in the fleet: take its values, leave the device, or count it as a mistake."""

_BATCH_LINES = 500
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineError:
    """A line that was not imported, and why. ``field`` is ``None`` when the line as a whole is wrong."""

    line: int
    field: ImportField | None
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did.

    Attributes:
        created: New devices.
        updated: Devices whose values were taken from the file.
        skipped: Lines left aside because their device exists.
        errors: The first mistakes, in the order of the lines.
        error_count: All mistakes, also those not listed.
        committed: Whether the fleet was changed; ``False`` after a mistake in an all-or-nothing import.
    """

    created: int
    updated: int
    skipped: int
    errors: tuple[LineError, ...]
    error_count: int
    committed: bool


class _NotKeptError(Exception):
    """Ends the transaction of an import that must not be kept; never leaves this module."""


def import_csv(
    connection: sqlite3.Connection,
    path: Path,
    mapping: Mapping[ImportField, int],
    *,
    clock: FleetClock,
    actor: str,
    existing: ExistingDevices = "update",
    all_or_nothing: bool = True,
    max_errors: int = 1_000,
    monitor: OperationMonitor | None = None,
) -> ImportReport:
    """Import the devices of a file in one transaction.

    Fields without a column keep their value in existing devices and are empty in new ones (status: offline).

    Args:
        connection: From ``open_database``, of the calling thread.
        path: The file; its first line is the header.
        mapping: Position of the column for each field; ``id`` and ``name`` are needed.
        clock: Where the time in the log comes from.
        actor: Who does it, for the log.
        existing: What to do with a line whose id is in the fleet.
        all_or_nothing: Whether one mistake keeps the whole file out; otherwise the good lines are imported.
        max_errors: How many mistakes to list; the rest are counted.
        monitor: Told about progress in bytes, and asked whether to stop.

    Raises:
        CsvFormatError: The file cannot be read, or the mapping does not fit its header.
        OperationCancelledError: The monitor stopped it; nothing was changed.
        FleetDatabaseError: The database refused; nothing was changed.
    """
    run = _Import(
        connection,
        existing=existing,
        max_errors=max_errors,
        mapping=mapping,
        monitor=monitor or UnwatchedOperation(),
        total_bytes=_size(path),
    )
    committed = True
    try:
        with transaction(connection):
            run.read(path)
            if all_or_nothing and run.error_count:
                raise _NotKeptError
            details = f"{path.name}: created {run.created}, updated {run.updated}, skipped {run.skipped}"
            log_fleet(connection, clock.now(), actor, "imported", f"{details}, refused {run.error_count}")
    except _NotKeptError:
        committed = False
    return ImportReport(
        created=run.created if committed else 0,
        updated=run.updated if committed else 0,
        skipped=run.skipped if committed else 0,
        # A batch finds what is wrong with the form of its lines before what is wrong with their values.
        errors=tuple(sorted(run.errors, key=lambda error: error.line)),
        error_count=run.error_count,
        committed=committed,
    )


class _Import:
    """The state of one running import."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        existing: ExistingDevices,
        max_errors: int,
        mapping: Mapping[ImportField, int],
        monitor: OperationMonitor,
        total_bytes: int,
    ) -> None:
        if missing := [field for field in REQUIRED_FIELDS if field not in mapping]:
            raise CsvFormatError(f"No column was chosen for {' and '.join(missing)}.")
        self.created = 0
        self.updated = 0
        self.skipped = 0
        self.error_count = 0
        self.errors: list[LineError] = []
        self._connection = connection
        self._repository = FleetRepository(connection)
        self._existing = existing
        self._max_errors = max_errors
        self._mapping = dict(mapping)
        self._monitor = monitor
        self._total_bytes = total_bytes
        self._columns = 0
        self._line_by_id: dict[str, int] = {}

    def read(self, path: Path) -> None:
        records = read_csv(path)
        try:
            header = next(records, None)
            if header is None or header.problem is not None:
                raise CsvFormatError(f"The file {path.name} has no readable header.")
            self._columns = len(header.cells)
            if any(not 0 <= column < self._columns for column in self._mapping.values()):
                raise CsvFormatError(f"The file {path.name} has fewer columns than were chosen.")
            batch: list[CsvLine] = []
            for record in records:
                batch.append(record)
                if len(batch) >= _BATCH_LINES:
                    self._take(batch)
                    batch = []
            self._take(batch)
            self._monitor.report(self._total_bytes, self._total_bytes)
        finally:
            records.close()

    def _take(self, batch: list[CsvLine]) -> None:
        if self._monitor.is_cancelled():
            raise OperationCancelledError
        parsed: list[tuple[CsvLine, dict[ImportField, str]]] = []
        for record in batch:
            values = self._values(record)
            if values is not None:
                parsed.append((record, values))
        present = {
            device.id: device for device in self._repository.read_devices([values["id"] for _, values in parsed])
        }
        devices: list[Device] = []
        for record, values in parsed:
            device = self._merge(record, values, present.get(values["id"]))
            if device is not None:
                devices.append(device)
        write_devices(self._connection, devices)
        if batch:
            self._monitor.report(min(batch[-1].read_bytes, self._total_bytes), self._total_bytes)

    def _values(self, record: CsvLine) -> dict[ImportField, str] | None:
        """The mapped cells of a record with a good, new id; ``None`` after noting what is wrong."""
        if record.problem is not None:
            self._refuse(record, None, record.problem)
            return None
        if len(record.cells) != self._columns:
            self._refuse(record, None, f"has {len(record.cells)} cells where the header has {self._columns}")
            return None
        values: dict[ImportField, str] = {
            field: _without_shield(record.cells[column]) for field, column in self._mapping.items()
        }
        try:
            values["id"] = clean_id(values["id"])
        except InvalidFieldError as error:
            self._refuse(record, "id", error.problem)
            return None
        first_line = self._line_by_id.setdefault(values["id"], record.number)
        if first_line != record.number:
            self._refuse(record, "id", f"repeats the id of line {first_line}")
            return None
        return values

    def _merge(self, record: CsvLine, values: dict[ImportField, str], present: Device | None) -> Device | None:
        if present is not None and self._existing == "skip":
            self.skipped += 1
            return None
        if present is not None and self._existing == "reject":
            self._refuse(record, "id", "is in the fleet already")
            return None
        base = present or Device(
            id=values["id"],
            name="",
            status=DeviceStatus.OFFLINE,
            city="",
            country="",
            model="",
            firmware="",
            last_seen=None,
        )
        device = base
        for field in IMPORT_FIELDS:
            if field != "id" and field in values:
                try:
                    device = _with_field(device, field, values[field])
                except InvalidFieldError as error:
                    self._refuse(record, field, error.problem)
                    return None
        if present is None:
            self.created += 1
        else:
            self.updated += 1
        return device

    def _refuse(self, record: CsvLine, field: ImportField | None, problem: str) -> None:
        self.error_count += 1
        if len(self.errors) < self._max_errors:
            self.errors.append(LineError(line=record.number, field=field, problem=problem))


def _with_field(device: Device, field: ImportField, value: str) -> Device:
    match field:
        case "id":
            return device
        case "name":
            return replace(device, name=clean_line("name", value, required=True, limit=MAX_NAME_CHARACTERS))
        case "status":
            return replace(device, status=_status(value)) if value.strip() else device
        case "city":
            return replace(device, city=clean_line("city", value))
        case "country":
            return replace(device, country=clean_line("country", value))
        case "model":
            return replace(device, model=clean_line("model", value))
        case "firmware":
            return replace(device, firmware=clean_line("firmware", value))
        case "last_seen":
            return replace(device, last_seen=_moment(value))


def _status(value: str) -> DeviceStatus:
    try:
        return DeviceStatus(value.strip().casefold())
    except ValueError:
        raise InvalidFieldError("status", f"must be one of {', '.join(DeviceStatus)}") from None


def _moment(value: str) -> datetime | None:
    text = value.strip()
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        # A time without a zone is taken as UTC: the file may come from anywhere.
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidFieldError("last_seen", "must be a time such as 2026-03-01T12:30:00Z") from None


def _without_shield(cell: str) -> str:
    """Undo what the export does to cells a spreadsheet would take for a formula."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA_STARTS) else cell


def shield_formula(text: str) -> str:
    """The text with an apostrophe before it if a spreadsheet would run it as a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise CsvFormatError(f"The file {path.name} cannot be read: {error.strerror or error}.") from error
