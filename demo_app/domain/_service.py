"""What people do with the fleet. Every command is one transaction and leaves entries in the activity log."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from demo_app.domain._database import transaction
from demo_app.domain._errors import FleetError, UnknownDevicesError
from demo_app.domain._ports import FleetClock
from demo_app.domain._repository import FleetRepository
from demo_app.domain._text import MAX_NAME_CHARACTERS, clean_line, clean_paragraph
from demo_app.domain._values import ActivityVerb, ChangeResult, Device
from demo_app.domain._writing import log_devices, stored_time, write_name


class FleetService:
    """Commands on one open database.

    Args:
        connection: From :func:`open_database`, used on the thread that opened it.
        clock: Where the times in notes and log come from.
    """

    def __init__(self, connection: sqlite3.Connection, *, clock: FleetClock) -> None:
        self._connection = connection
        self._clock = clock
        self._repository = FleetRepository(connection)

    def disable(self, device_ids: Sequence[str], *, actor: str) -> ChangeResult:
        """Take devices out of service until they are enabled again.

        Args:
            device_ids: Which; the order and repetitions do not matter.
            actor: Who does it, for the log.

        Raises:
            UnknownDevicesError: Some do not exist; nothing has been changed.
        """
        return self._switch(device_ids, enabled=False, verb="disabled", actor=actor)

    def enable(self, device_ids: Sequence[str], *, actor: str) -> ChangeResult:
        """Put disabled devices back into service, with the state they last reported.

        Args and Raises: as for :meth:`disable`.
        """
        return self._switch(device_ids, enabled=True, verb="enabled", actor=actor)

    def rename(self, device_id: str, name: str, *, actor: str) -> Device:
        """Give one device another name and return the device as it is now.

        Raises:
            UnknownDevicesError: There is no such device.
            InvalidFieldError: The name is empty, too long, or holds characters that cannot be seen.
        """
        cleaned = clean_line("name", name, required=True, limit=MAX_NAME_CHARACTERS)
        with transaction(self._connection):
            device = self._repository.require_device(device_id)
            if device.name == cleaned:
                return device
            write_name(self._connection, device, cleaned)
            log_devices(
                self._connection, self._clock.now(), actor, "renamed", [device_id], f"{device.name} → {cleaned}"
            )
            return self._repository.require_device(device_id)

    def add_note(self, device_id: str, text: str, *, actor: str) -> int:
        """Write a maintenance note and return its id.

        Raises:
            UnknownDevicesError: There is no such device.
            InvalidFieldError: The text is empty, too long, or holds control characters.
        """
        cleaned = clean_paragraph("text", text)
        with transaction(self._connection):
            self._repository.require_device(device_id)
            now = self._clock.now()
            cursor = self._connection.execute(
                "INSERT INTO notes (device_id, author, text, created_at) VALUES (?, ?, ?, ?)",
                (device_id, actor, cleaned, stored_time(now)),
            )
            log_devices(self._connection, now, actor, "noted", [device_id], cleaned.partition("\n")[0])
            return int(cursor.lastrowid or 0)

    def resolve_note(self, note_id: int, *, actor: str) -> None:
        """Mark a note as done. Does nothing when it is already.

        Raises:
            FleetError: There is no such note.
        """
        self._set_resolved(note_id, resolved=True, verb="resolved", actor=actor)

    def reopen_note(self, note_id: int, *, actor: str) -> None:
        """Mark a note as not done. Does nothing when it is not.

        Raises:
            FleetError: There is no such note.
        """
        self._set_resolved(note_id, resolved=False, verb="reopened", actor=actor)

    def _switch(self, device_ids: Sequence[str], *, enabled: bool, verb: ActivityVerb, actor: str) -> ChangeResult:
        wanted = list(dict.fromkeys(device_ids))
        with transaction(self._connection):
            if unknown := self._repository.unknown_ids(wanted):
                raise UnknownDevicesError(unknown)
            rows = self._connection.execute(
                "UPDATE devices SET enabled = :on WHERE enabled <> :on AND id IN (SELECT value FROM json_each(:ids))"
                " RETURNING id",
                {"on": enabled, "ids": json.dumps(wanted)},
            )
            changed = {row[0] for row in rows}
            changed_ids = tuple(device_id for device_id in wanted if device_id in changed)
            log_devices(self._connection, self._clock.now(), actor, verb, changed_ids, "")
        return ChangeResult(
            changed_ids=changed_ids,
            unchanged_ids=tuple(device_id for device_id in wanted if device_id not in changed),
        )

    def _set_resolved(self, note_id: int, *, resolved: bool, verb: ActivityVerb, actor: str) -> None:
        with transaction(self._connection):
            row = self._connection.execute(
                "SELECT device_id, text, resolved_at IS NOT NULL FROM notes WHERE id = ?", (note_id,)
            ).fetchone()
            if row is None:
                raise FleetError(f"There is no note {note_id}.")
            device_id, text, is_resolved = row
            if bool(is_resolved) == resolved:
                return
            now = self._clock.now()
            self._connection.execute(
                "UPDATE notes SET resolved_at = ? WHERE id = ?", (stored_time(now) if resolved else None, note_id)
            )
            log_devices(self._connection, now, actor, verb, [device_id], str(text).partition("\n")[0])
