"""One open fleet: what the rest of the program holds instead of a database connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from demo_app.domain._csv_export import export_csv
from demo_app.domain._csv_import import ExistingDevices, ImportReport, import_csv
from demo_app.domain._csv_reading import ImportField
from demo_app.domain._database import open_database
from demo_app.domain._ports import FleetClock, OperationMonitor
from demo_app.domain._repository import FleetRepository
from demo_app.domain._sample import fill_with_samples
from demo_app.domain._service import FleetService


class Fleet:
    """A fleet open on one thread.

    Args:
        connection: From :func:`open_database`; closed with the fleet.
        clock: Where the times in notes and log come from.

    Attributes:
        repository: Reads the fleet.
        service: Changes it.
    """

    def __init__(self, connection: sqlite3.Connection, *, clock: FleetClock) -> None:
        self.repository = FleetRepository(connection)
        self.service = FleetService(connection, clock=clock)
        self._connection = connection
        self._clock = clock

    def import_csv(
        self,
        path: Path,
        mapping: Mapping[ImportField, int],
        *,
        actor: str,
        existing: ExistingDevices,
        all_or_nothing: bool,
        monitor: OperationMonitor,
    ) -> ImportReport:
        """Import devices; see :func:`demo_app.domain.import_csv`."""
        return import_csv(
            self._connection,
            path,
            mapping,
            clock=self._clock,
            actor=actor,
            existing=existing,
            all_or_nothing=all_or_nothing,
            monitor=monitor,
        )

    def export_csv(self, path: Path, device_ids: Sequence[str], *, monitor: OperationMonitor) -> int:
        """Export devices; see :func:`demo_app.domain.export_csv`."""
        return export_csv(self.repository, path, device_ids, monitor=monitor)

    def close(self) -> None:
        """Close the file. Nothing else of the fleet may be used afterwards."""
        self._connection.close()


def open_fleet(path: Path, *, clock: FleetClock) -> Fleet:
    """Open the fleet at ``path`` for the calling thread; a new one gets the sample stations.

    Raises:
        FleetDatabaseError: The file cannot be used.
    """
    connection = open_database(path)
    try:
        fill_with_samples(connection, clock=clock)
    except BaseException:
        connection.close()
        raise
    return Fleet(connection, clock=clock)
