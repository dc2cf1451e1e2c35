"""The statements that change the fleet, shared by the service, the import and the sample data.

Each runs inside the caller's transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from demo_app.domain._text import fold_text, version_key
from demo_app.domain._values import ActivityVerb, Device, DeviceStatus

# One statement for a whole batch: executemany would give up and fetch back the interpreter's lock for every row, and a
# worker that does so beside a busy window takes many times as long.
_WRITE_DEVICES = """
INSERT INTO devices (id, name, name_key, connectivity, enabled, city, city_key, country, model, firmware, firmware_key,
                     last_seen, search_text)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
       value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12
FROM json_each(?) WHERE true
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, name_key = excluded.name_key, enabled = excluded.enabled,
    connectivity = CASE excluded.enabled WHEN 0 THEN connectivity ELSE excluded.connectivity END,
    city = excluded.city, city_key = excluded.city_key, country = excluded.country, model = excluded.model,
    firmware = excluded.firmware, firmware_key = excluded.firmware_key, last_seen = excluded.last_seen,
    search_text = excluded.search_text
"""


def stored_time(moment: datetime) -> str:
    """The text a moment is stored as: UTC to the second, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def write_devices(connection: sqlite3.Connection, devices: Iterable[Device]) -> None:
    """Insert devices, or overwrite those whose id exists. A disabled device keeps what it last reported."""
    connection.execute(_WRITE_DEVICES, (json.dumps([_device_row(device) for device in devices]),))


def write_name(connection: sqlite3.Connection, device: Device, name: str) -> None:
    """Give ``device`` another name."""
    connection.execute(
        "UPDATE devices SET name = ?, name_key = ?, search_text = ? WHERE id = ?",
        (name, fold_text(name), _search_text(device, name), device.id),
    )


def log_fleet(connection: sqlite3.Connection, at: datetime, actor: str, verb: ActivityVerb, details: str) -> None:
    """Add one entry about the whole fleet to the activity log."""
    log_devices(connection, at, actor, verb, [None], details)


def log_devices(
    connection: sqlite3.Connection,
    at: datetime,
    actor: str,
    verb: ActivityVerb,
    device_ids: Sequence[str | None],
    details: str,
) -> None:
    """Add one entry for each of ``device_ids`` to the activity log, in that order."""
    connection.execute(
        "INSERT INTO activity (at, actor, verb, device_id, details)"
        " SELECT ?, ?, ?, value, ? FROM json_each(?) ORDER BY key",
        (stored_time(at), actor, verb, details, json.dumps(list(device_ids))),
    )


def _device_row(device: Device) -> tuple[object, ...]:
    disabled = device.status is DeviceStatus.DISABLED
    return (
        device.id,
        device.name,
        fold_text(device.name),
        DeviceStatus.OFFLINE if disabled else device.status,
        0 if disabled else 1,
        device.city,
        fold_text(device.city),
        device.country,
        device.model,
        device.firmware,
        version_key(device.firmware),
        None if device.last_seen is None else stored_time(device.last_seen),
        _search_text(device, device.name),
    )


def _search_text(device: Device, name: str) -> str:
    return fold_text("\n".join((device.id, name, device.city, device.country, device.model)))
