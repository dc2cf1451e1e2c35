"""The sample fleet a new database starts with: stations in real cities, read from a resource file."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from demo_app.domain._database import transaction
from demo_app.domain._ports import FleetClock
from demo_app.domain._repository import FleetRepository
from demo_app.domain._values import Device, DeviceStatus
from demo_app.domain._writing import log_fleet, stored_time, write_devices

SAMPLE_ACTOR = "sample data"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleNote:
    """A maintenance note of the sample fleet; its age is relative to the first start of the program."""

    device_id: str
    author: str
    text: str
    age_minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFleet:
    """The content of the sample file, with times made absolute; the oldest note first."""

    devices: tuple[Device, ...]
    notes: tuple[SampleNote, ...]


def find_resource(name: str) -> Traversable:
    """A resource file of the program: inside the installed package, or beside it in a source tree."""
    packaged = files("demo_app") / "_resources" / name
    if packaged.is_file():
        return packaged
    return Path(__file__).resolve().parents[2] / "resources" / "demo_app" / name


def load_sample_fleet(*, clock: FleetClock) -> SampleFleet:
    """Read the sample fleet; what was last seen "five minutes ago" is five minutes before ``clock``'s now."""
    now = clock.now()
    # Our own file: its shape is proven by a test, not checked at each start.
    content: dict[str, list[dict[str, Any]]] = json.loads(find_resource("sample_stations.json").read_text("utf-8"))
    devices = tuple(
        Device(
            id=station["id"],
            name=station["name"],
            status=DeviceStatus(station["status"]),
            city=station["city"],
            country=station["country"],
            model=station["model"],
            firmware=station["firmware"],
            last_seen=now - timedelta(minutes=station["lastSeenMinutesAgo"]),
        )
        for station in content["stations"]
    )
    notes = tuple(
        SampleNote(device_id=note["station"], author=note["author"], text=note["text"], age_minutes=note["minutesAgo"])
        for note in sorted(content["notes"], key=lambda note: note["minutesAgo"], reverse=True)
    )
    return SampleFleet(devices=devices, notes=notes)


def fill_with_samples(connection: sqlite3.Connection, *, clock: FleetClock) -> bool:
    """Fill a database that never held anything; returns whether it did.

    A fleet from which everything was removed by hand stays empty: its activity log is not.
    """
    repository = FleetRepository(connection)
    if repository.count() or repository.list_activity(limit=1):
        return False
    fleet = load_sample_fleet(clock=clock)
    now = clock.now()
    with transaction(connection):
        write_devices(connection, fleet.devices)
        connection.executemany(
            "INSERT INTO notes (device_id, author, text, created_at) VALUES (?, ?, ?, ?)",
            [
                (note.device_id, note.author, note.text, stored_time(now - timedelta(minutes=note.age_minutes)))
                for note in fleet.notes
            ],
        )
        log_fleet(connection, now, SAMPLE_ACTOR, "created", f"{len(fleet.devices)} stations")
    return True
