"""The witness of the tour: reads the database file by itself, past everything the program may have in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from demo_app.tour._errors import TourError

PREFERRED = ("offline", "Milan")
"""The devices the tour is about where the fleet has some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Devices of one status in one city."""

    status: str
    city: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the activity log."""

    actor: str
    verb: str
    device_id: str | None


class Witness:
    """Reads the fleet's file and never writes.

    Args:
        database: The file.
    """

    def __init__(self, database: Path) -> None:
        self._connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def count(self) -> int:
        """How many devices there are."""
        return int(str(self._rows("SELECT count(*) FROM devices")[0][0]))

    def find_target(self, status: str, *, most: int, but_not: str = "") -> Target:
        """Devices to act on: of the preferred city, else of the city with the fewest.

        Args:
            status: Of the devices.
            most: Devices at most.
            but_not: A city to leave out.

        Raises:
            TourError: No city has a fitting number.
        """
        rows = self._rows(
            "SELECT city FROM devices WHERE status = ? AND city <> '' AND city <> ? GROUP BY city_key"
            " HAVING count(*) <= ? ORDER BY city = ? DESC, count(*) = 1, count(*), city LIMIT 1",
            (status, but_not, most, PREFERRED[1]),
        )
        if not rows:
            raise TourError(f"The fleet has no city with {status} devices, {most} at most, to show the tour on.")
        city = str(rows[0][0])
        ids = self._rows(
            "SELECT id FROM devices WHERE status = ? AND city_key = (SELECT city_key FROM devices WHERE city = ?)"
            " ORDER BY id",
            (status, city),
        )
        return Target(status=status, city=city, ids=tuple(str(row[0]) for row in ids))

    def statuses(self, ids: Sequence[str]) -> dict[str, str]:
        """The status of each of these devices."""
        found = {str(row[0]): str(row[1]) for row in self._rows("SELECT id, status FROM devices")}
        return {device_id: found.get(device_id, "gone") for device_id in ids}

    def everything(self) -> list[tuple[object, ...]]:
        """Every column of every device, and of every entry of the log."""
        return [
            *self._rows("SELECT * FROM devices ORDER BY id"),
            *self._rows("SELECT * FROM activity ORDER BY id"),
        ]

    def last_entry(self) -> int:
        """The number of the newest entry of the log."""
        return int(str(self._rows("SELECT coalesce(max(id), 0) FROM activity")[0][0]))

    def entries_after(self, number: int) -> list[Entry]:
        """What was logged since, oldest first."""
        rows = self._rows("SELECT actor, verb, device_id FROM activity WHERE id > ? ORDER BY id", (number,))
        return [
            Entry(actor=str(actor), verb=str(verb), device_id=None if device_id is None else str(device_id))
            for actor, verb, device_id in rows
        ]

    def _rows(self, statement: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        return self._connection.execute(statement, parameters).fetchall()
