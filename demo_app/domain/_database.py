"""The SQLite file: its schema, opening it, and transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from demo_app.domain._errors import FleetDatabaseError

_APPLICATION_ID = 0x464C4545  # "FLEE": tells our files from other programs' SQLite files
_SCHEMA_VERSION = 1
_BUSY_TIMEOUT_MS = 5_000

# `status` is computed, so enabling a station brings back what it last reported. The *_key columns hold folded text:
# SQLite's own NOCASE knows only ASCII, and cities do not.
_SCHEMA = """
CREATE TABLE devices (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    connectivity TEXT NOT NULL CHECK (connectivity IN ('online', 'offline', 'maintenance')),
    enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    status TEXT GENERATED ALWAYS AS (CASE enabled WHEN 0 THEN 'disabled' ELSE connectivity END) STORED,
    city TEXT NOT NULL,
    city_key TEXT NOT NULL,
    country TEXT NOT NULL,
    model TEXT NOT NULL,
    firmware TEXT NOT NULL,
    firmware_key TEXT NOT NULL,
    last_seen TEXT,
    search_text TEXT NOT NULL
);
CREATE INDEX devices_by_name ON devices (name_key, id);
CREATE INDEX devices_by_status ON devices (status, id);
CREATE INDEX devices_by_city ON devices (city_key, id);
CREATE INDEX devices_by_last_seen ON devices (last_seen, id);
CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    device_id TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    author TEXT NOT NULL,
    text TEXT NOT NULL,
    created_at TEXT NOT NULL,
    resolved_at TEXT
);
CREATE INDEX notes_by_device ON notes (device_id, id);
CREATE TABLE activity (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    verb TEXT NOT NULL,
    device_id TEXT REFERENCES devices (id) ON DELETE SET NULL,
    details TEXT NOT NULL
);
CREATE INDEX activity_by_device ON activity (device_id, id);
"""


def open_database(path: Path) -> sqlite3.Connection:
    """Open the fleet database at ``path``, making the file and its folder if they are missing.

    The connection belongs to the calling thread and is in autocommit mode; changes go through
    :func:`transaction`. Several connections, one for each thread, may be open on one file.

    Raises:
        FleetDatabaseError: The path cannot be written, or holds something else than a fleet database.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_TIMEOUT_MS / 1_000)
    except (OSError, sqlite3.Error) as error:
        raise FleetDatabaseError(f"The database {path} cannot be opened: {error}.") from error
    try:
        _prepare(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise FleetDatabaseError(f"The file {path} cannot be used as a database: {error}.") from error
    except FleetDatabaseError:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None, None, None]:
    """Everything inside happens, or nothing of it.

    Raises:
        FleetDatabaseError: SQLite refused, for example because the disk is full or another program holds the file.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise FleetDatabaseError(f"The change could not be saved: {error}.") from error


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    application_id = _pragma(connection, "application_id")
    version = _pragma(connection, "user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and application_id != _APPLICATION_ID:
        raise FleetDatabaseError(f"The file {path} is a database of another program.")
    if version > _SCHEMA_VERSION:
        raise FleetDatabaseError(f"The file {path} was written by a newer version of this program.")
    # Readers go on while an import writes; a lost power supply may lose the last change, never the file.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    if not tables:
        connection.executescript(
            f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA application_id = {_APPLICATION_ID};"
            f"PRAGMA user_version = {_SCHEMA_VERSION}; COMMIT;"
        )


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
