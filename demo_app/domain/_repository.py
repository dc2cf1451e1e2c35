"""Reading the fleet. Filtering, ordering and paging are SQL; nothing here changes anything."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from demo_app.domain._errors import FleetDatabaseError, UnknownDevicesError
from demo_app.domain._text import fold_text
from demo_app.domain._values import (
    ActivityEntry,
    ActivityVerb,
    Device,
    DeviceFilter,
    DeviceOrder,
    DeviceStatus,
    FleetCounts,
    MaintenanceNote,
    SortColumn,
)

_READ_DEVICES = """
SELECT id, name, status, city, country, model, firmware, last_seen FROM devices
WHERE id IN (SELECT value FROM json_each(?))
"""
# From each city to the next through the index; GROUP BY would read every device.
_LIST_CITIES = """
WITH RECURSIVE keys (key) AS (
    SELECT min(city_key) FROM devices
    UNION ALL
    SELECT (SELECT min(city_key) FROM devices WHERE city_key > keys.key) FROM keys WHERE keys.key IS NOT NULL
)
SELECT (SELECT city FROM devices WHERE city_key = keys.key ORDER BY id LIMIT 1) FROM keys WHERE keys.key IS NOT NULL
"""
_LIST_NOTES = """
SELECT notes.id, notes.device_id, devices.name, author, text, created_at, resolved_at
FROM notes JOIN devices ON devices.id = notes.device_id
WHERE (:device IS NULL OR notes.device_id = :device) AND (:all OR resolved_at IS NULL)
  AND (:before IS NULL OR notes.id < :before)
ORDER BY notes.id DESC LIMIT :limit
"""
_LIST_ACTIVITY = """
SELECT activity.id, at, actor, verb, activity.device_id, devices.name, details
FROM activity LEFT JOIN devices ON devices.id = activity.device_id
WHERE (:device IS NULL OR activity.device_id = :device) AND (:before IS NULL OR activity.id < :before)
ORDER BY activity.id DESC LIMIT :limit
"""

_ORDER_COLUMNS: dict[SortColumn, str] = {
    "id": "id",
    "name": "name_key",
    "status": "status",
    "city": "city_key",
    "country": "country",
    "model": "model",
    "firmware": "firmware_key",
    "last_seen": "last_seen",
}

_NO_FILTER = DeviceFilter()
_BY_NAME = DeviceOrder()


class FleetRepository:
    """Queries over one open database.

    A list of devices is read in two steps: :meth:`list_ids` for the whole order, which costs a few milliseconds
    for fifty thousand devices, and :meth:`read_devices` for the few that are looked at.

    Every method raises :class:`FleetDatabaseError` when the file cannot be read.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def list_ids(self, device_filter: DeviceFilter = _NO_FILTER, order: DeviceOrder = _BY_NAME) -> list[str]:
        """Ids of all matching devices, in order."""
        where, parameters = _where(device_filter)
        column = _ORDER_COLUMNS[order.column]
        direction = "DESC" if order.descending else "ASC"
        by = f"{column} {direction}" if column == "id" else f"{column} {direction}, id {direction}"
        statement = f"SELECT id FROM devices{where} ORDER BY {by}"  # noqa: S608 - made of this module's constants
        rows = self._rows(statement, parameters)
        return [row[0] for row in rows]

    def count(self, device_filter: DeviceFilter = _NO_FILTER) -> int:
        """How many devices match."""
        where, parameters = _where(device_filter)
        statement = f"SELECT count(*) FROM devices{where}"  # noqa: S608 - made of this module's constants
        return int(self._rows(statement, parameters)[0][0])

    def counts(self) -> FleetCounts:
        """How many devices there are, in all and by status."""
        by_status = dict.fromkeys(DeviceStatus, 0)
        for status, number in self._rows("SELECT status, count(*) FROM devices GROUP BY status"):
            by_status[DeviceStatus(status)] = number
        return FleetCounts(total=sum(by_status.values()), by_status=by_status)

    def read_devices(self, device_ids: Sequence[str]) -> list[Device]:
        """The devices with these ids, in this order; ids that no longer exist are left out."""
        rows = self._rows(_READ_DEVICES, (json.dumps(list(device_ids)),))
        found = {row[0]: _device(row) for row in rows}
        return [found[device_id] for device_id in device_ids if device_id in found]

    def find_device(self, device_id: str) -> Device | None:
        """The device with this id, or ``None``."""
        devices = self.read_devices([device_id])
        return devices[0] if devices else None

    def require_device(self, device_id: str) -> Device:
        """The device with this id.

        Raises:
            UnknownDevicesError: There is none.
        """
        device = self.find_device(device_id)
        if device is None:
            raise UnknownDevicesError([device_id])
        return device

    def unknown_ids(self, device_ids: Iterable[str]) -> list[str]:
        """Those of ``device_ids`` that are not in the fleet, in the given order."""
        rows = self._rows(
            "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM devices) ORDER BY key",
            (json.dumps(list(device_ids)),),
        )
        return [row[0] for row in rows]

    def cities(self) -> list[str]:
        """Every city with a device, in alphabetical order."""
        return [row[0] for row in self._rows(_LIST_CITIES) if row[0]]

    def list_notes(
        self,
        *,
        device_id: str | None = None,
        include_resolved: bool = True,
        limit: int = 500,
        before_id: int | None = None,
    ) -> list[MaintenanceNote]:
        """Notes, newest first.

        Args:
            device_id: Only of this device, or ``None`` for all.
            include_resolved: Whether notes with nothing left to do are listed.
            limit: At most so many.
            before_id: Only notes older than this one; for the next page.
        """
        rows = self._rows(
            _LIST_NOTES, {"device": device_id, "all": include_resolved, "before": before_id, "limit": limit}
        )
        return [_note(row) for row in rows]

    def list_activity(
        self, *, device_id: str | None = None, limit: int = 200, before_id: int | None = None
    ) -> list[ActivityEntry]:
        """Entries of the activity log, newest first; parameters as in :meth:`list_notes`."""
        rows = self._rows(_LIST_ACTIVITY, {"device": device_id, "before": before_id, "limit": limit})
        return [_activity(row) for row in rows]

    def _rows(self, statement: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(statement, parameters).fetchall()
        except sqlite3.Error as error:
            raise FleetDatabaseError(f"The database cannot be read: {error}.") from error


def _where(device_filter: DeviceFilter) -> tuple[str, list[str]]:
    clauses: list[str] = []
    parameters: list[str] = []
    if device_filter.statuses:
        clauses.append(f"status IN ({', '.join('?' * len(device_filter.statuses))})")
        parameters.extend(sorted(device_filter.statuses))
    if city := fold_text(device_filter.city).strip():
        clauses.append("city_key = ?")
        parameters.append(city)
    for word in fold_text(device_filter.text).split():
        # instr, not LIKE: a percent sign somebody types is a percent sign.
        clauses.append("instr(search_text, ?) > 0")
        parameters.append(word)
    return (f" WHERE {' AND '.join(clauses)}" if clauses else ""), parameters


def _device(row: tuple[str, ...]) -> Device:
    device_id, name, status, city, country, model, firmware, last_seen = row
    return Device(
        id=device_id,
        name=name,
        status=DeviceStatus(status),
        city=city,
        country=country,
        model=model,
        firmware=firmware,
        last_seen=datetime.fromisoformat(last_seen) if last_seen else None,
    )


def _note(row: tuple[object, ...]) -> MaintenanceNote:
    note_id, device_id, device_name, author, text, created_at, resolved_at = row
    return MaintenanceNote(
        id=cast("int", note_id),
        device_id=cast("str", device_id),
        device_name=cast("str", device_name),
        author=cast("str", author),
        text=cast("str", text),
        created_at=datetime.fromisoformat(cast("str", created_at)),
        resolved_at=datetime.fromisoformat(cast("str", resolved_at)) if resolved_at else None,
    )


def _activity(row: tuple[object, ...]) -> ActivityEntry:
    entry_id, at, actor, verb, device_id, device_name, details = row
    return ActivityEntry(
        id=cast("int", entry_id),
        at=datetime.fromisoformat(cast("str", at)),
        actor=cast("str", actor),
        verb=cast("ActivityVerb", verb),
        device_id=cast("str | None", device_id),
        device_name=cast("str | None", device_name),
        details=cast("str", details),
    )
