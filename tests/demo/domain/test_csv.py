from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from demo_app.domain import (
    CsvFormatError,
    DeviceStatus,
    ExistingDevices,
    Fleet,
    ImportField,
    ImportReport,
    LineError,
    OperationCancelledError,
    UnwatchedOperation,
    preview_csv,
    suggest_mapping,
)

WriteCsv = Callable[[str], Path]


def run_import(
    fleet: Fleet, path: Path, *, all_or_nothing: bool = True, existing: ExistingDevices = "update"
) -> ImportReport:
    """Import with the suggested mapping, as a person who changes nothing in the dialog."""
    return fleet.import_csv(
        path,
        preview_csv(path).mapping,
        actor="giulia",
        existing=existing,
        all_or_nothing=all_or_nothing,
        monitor=UnwatchedOperation(),
    )


BAD_LINES = """id,name,status,last seen
A-1,One,online,2026-01-01T10:00:00Z
A 2,Two,online,
A-3,,offline,
A-4,Four,broken,
A-1,Again,online,
A-6,Six
A-7,Seven,online,yesterday
"quoted, and
over two lines",Eight,online,
A-9,"Nine" nine,online,
A-10,Ten,maintenance,
"""
BAD_LINE_ERRORS = (
    LineError(
        line=3,
        field="id",
        problem="may hold only letters, digits, '.', '_' and '-', and starts with one of the first two",
    ),
    LineError(line=4, field="name", problem="must not be empty"),
    LineError(line=5, field="status", problem="must be one of online, offline, maintenance, disabled"),
    LineError(line=6, field="id", problem="repeats the id of line 2"),
    LineError(line=7, field=None, problem="has 2 cells where the header has 4"),
    LineError(line=8, field="last_seen", problem="must be a time such as 2026-03-01T12:30:00Z"),
    LineError(
        line=9,
        field="id",
        problem="may hold only letters, digits, '.', '_' and '-', and starts with one of the first two",
    ),
    LineError(line=11, field=None, problem="is not well-formed CSV (',' expected after '\"')"),
)


def test_mistakes_are_reported_by_line_and_an_all_or_nothing_import_leaves_no_trace(
    fleet: Fleet, write_csv: WriteCsv
) -> None:
    """One mistake keeps the whole file out, the log entry included."""
    counts, log = fleet.repository.counts(), fleet.repository.list_activity()
    report = run_import(fleet, write_csv(BAD_LINES))
    assert report.errors == BAD_LINE_ERRORS
    assert (report.error_count, report.created, report.committed) == (8, 0, False)
    assert (fleet.repository.counts(), fleet.repository.list_activity()) == (counts, log)


def test_otherwise_the_good_lines_are_imported(fleet: Fleet, write_csv: WriteCsv) -> None:
    """The same file, with the box unchecked."""
    report = run_import(fleet, write_csv(BAD_LINES), all_or_nothing=False)
    assert (report.created, report.error_count, report.committed) == (2, 8, True)
    assert [fleet.repository.require_device(id_).name for id_ in ("A-1", "A-10")] == ["One", "Ten"]
    entry = fleet.repository.list_activity(limit=1)[0]
    assert (entry.verb, entry.details) == ("imported", "stations.csv: created 2, updated 0, skipped 0, refused 8")


def test_columns_are_found_by_their_usual_names_in_any_order(fleet: Fleet, write_csv: WriteCsv) -> None:
    """Spreadsheets differ in delimiter, order and wording of the header."""
    path = write_csv("\ufeffOrt;City;STATE;Station_Name;Serial Number\nx;Köln;Offline;Dom;K-1\n")
    assert preview_csv(path).mapping == {"id": 4, "name": 3, "status": 2, "city": 1}
    run_import(fleet, path)
    device = fleet.repository.require_device("K-1")
    assert (device.name, device.city, device.status) == ("Dom", "Köln", DeviceStatus.OFFLINE)


def test_no_column_is_suggested_for_two_fields() -> None:
    """A header with one fitting word must not fill two fields with the same values."""
    assert suggest_mapping(["station", "device", "station"]) == {"id": 0, "name": 1}


def test_fields_without_a_column_keep_their_value(fleet: Fleet, write_csv: WriteCsv) -> None:
    """Updating names from a list must not empty the cities."""
    before = fleet.repository.require_device("MIL-007")
    report = run_import(fleet, write_csv("id,name\nMIL-007,Stadium\n"))
    after = fleet.repository.require_device("MIL-007")
    assert report.updated == 1
    assert (after.name, after.city, after.status, after.last_seen) == (
        "Stadium",
        before.city,
        DeviceStatus.DISABLED,
        before.last_seen,
    )


@pytest.mark.parametrize(
    ("existing", "name", "numbers"),
    [("update", "New", (1, 1, 0, 0)), ("skip", "Milan Duomo", (1, 0, 1, 0)), ("reject", "Milan Duomo", (1, 0, 0, 1))],
)
def test_devices_that_exist_are_updated_skipped_or_refused(
    fleet: Fleet, write_csv: WriteCsv, existing: ExistingDevices, name: str, numbers: tuple[int, int, int, int]
) -> None:
    """The choice the dialog offers."""
    path = write_csv("id,name\nMIL-001,New\nN-1,Another\n")
    report = run_import(fleet, path, existing=existing, all_or_nothing=False)
    assert (report.created, report.updated, report.skipped, report.error_count) == numbers
    assert fleet.repository.require_device("MIL-001").name == name


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\x00\x01\x02PNG", "not a text file"),
        ("a" * 200_000 + ",b\n", "header"),
        (",".join(map(str, range(300))) + "\n", "more than 200 columns"),
    ],
)
def test_a_file_that_is_no_csv_is_refused_as_a_whole(write_csv: WriteCsv, content: str, message: str) -> None:
    """There are no lines to report about."""
    with pytest.raises(CsvFormatError, match=message):
        preview_csv(write_csv(content))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    """The file may be gone between choosing and reading."""
    for path in (tmp_path / "gone.csv", tmp_path):
        with pytest.raises(CsvFormatError, match="cannot be read"):
            preview_csv(path)


def test_hostile_cells_are_mistakes_of_their_lines_or_plain_text(fleet: Fleet, write_csv: WriteCsv) -> None:
    """A file may try SQL, markup, broken UTF-8, direction overrides, huge and endless cells."""
    path = write_csv(
        "id,name,city\n"
        "H-1,'); DROP TABLE devices; --,<b>x</b>\n"
        "H-2,bad \udcff byte,Rome\n"
        "H-3,abc\u202ecod.exe,Rome\n"
        f"H-4,{'x' * 500},Rome\n"
        "H-5,zero\x00byte,Rome\n"
        f"H-6,{'y' * 140_000},Rome\n"
        "H-7,fine,Rome\n"
        'H-8,"never closed,Rome\nH-9,swallowed,Rome\n'
    )
    report = run_import(fleet, path, all_or_nothing=False)
    assert [error.line for error in report.errors] == [3, 4, 5, 6, 7, 9]
    assert report.created == 2
    assert fleet.repository.require_device("H-1").name == "'); DROP TABLE devices; --"
    assert fleet.repository.require_device("H-1").city == "<b>x</b>"


def test_listed_mistakes_are_bounded_and_all_are_counted(fleet: Fleet, write_csv: WriteCsv) -> None:
    """A wrong mapping makes every line a mistake."""
    report = run_import(fleet, write_csv("id,name\n" + "bad id,x\n" * 3_000))
    assert (len(report.errors), report.error_count) == (1_000, 3_000)


class StopAfter:
    """A monitor that stops the operation after some reports."""

    def __init__(self, reports: int) -> None:
        self.steps: list[tuple[int, int]] = []
        self._reports = reports

    def report(self, done: int, total: int) -> None:
        """Remember it."""
        self.steps.append((done, total))

    def is_cancelled(self) -> bool:
        """True after enough reports."""
        return len(self.steps) >= self._reports


def test_a_cancelled_import_is_undone(fleet: Fleet, write_csv: WriteCsv) -> None:
    """Two batches are in the transaction already when the person stops it."""
    path = write_csv("id,name\n" + "".join(f"C-{number},Station\n" for number in range(5_000)))
    counts = fleet.repository.counts()
    monitor = StopAfter(2)
    with pytest.raises(OperationCancelledError):
        fleet.import_csv(
            path, {"id": 0, "name": 1}, actor="giulia", existing="update", all_or_nothing=True, monitor=monitor
        )
    assert len(monitor.steps) == 2
    assert fleet.repository.counts() == counts


def test_progress_grows_to_the_size_of_the_file(fleet: Fleet, write_csv: WriteCsv) -> None:
    """The bar must neither stand still nor jump back."""
    path = write_csv("id,name\n" + "".join(f"C-{number},Station\n" for number in range(5_000)))
    monitor = StopAfter(10_000)
    fleet.import_csv(
        path, {"id": 0, "name": 1}, actor="giulia", existing="update", all_or_nothing=True, monitor=monitor
    )
    done = [step for step, _ in monitor.steps]
    assert done == sorted(done)
    assert len(set(done)) > 5
    assert monitor.steps[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_mapping_without_the_id_or_beyond_the_header_is_refused(fleet: Fleet, write_csv: WriteCsv) -> None:
    """The file may have changed since its header was shown."""
    path = write_csv("id,name\nA,B\n")
    mappings: tuple[dict[ImportField, int], ...] = ({"name": 1}, {"id": 0, "name": 7})
    for mapping in mappings:
        with pytest.raises(CsvFormatError):
            fleet.import_csv(
                path,
                mapping,
                actor="giulia",
                existing="update",
                all_or_nothing=True,
                monitor=UnwatchedOperation(),
            )


def test_an_export_read_back_changes_nothing(fleet: Fleet, tmp_path: Path) -> None:
    """Export and import are each other's inverse, also for names a spreadsheet would run."""
    for number, name in enumerate(("=1+1", "+39 02", "-5", "@here", "'quoted", 'say "hi", ok', "Ōsaka")):
        fleet.service.rename(f"MIL-{number + 1:03}", name, actor="giulia")
    ids = fleet.repository.list_ids()
    before = fleet.repository.read_devices(ids)
    path = tmp_path / "export.csv"
    assert fleet.export_csv(path, ids, monitor=UnwatchedOperation()) == len(ids)
    report = run_import(fleet, path)
    assert (report.updated, report.error_count) == (len(ids), 0)
    assert fleet.repository.read_devices(ids) == before


def test_no_exported_cell_starts_like_a_formula(fleet: Fleet, tmp_path: Path) -> None:
    """A device named by a stranger must not run in somebody's spreadsheet."""
    fleet.service.rename("MIL-001", "=HYPERLINK(1)", actor="giulia")
    path = tmp_path / "export.csv"
    fleet.export_csv(path, ["MIL-001"], monitor=UnwatchedOperation())
    assert path.read_text("utf-8-sig").splitlines()[1].startswith("MIL-001,'=HYPERLINK(1),online,Milan")


def test_a_cancelled_export_leaves_the_older_file(fleet: Fleet, tmp_path: Path) -> None:
    """The file is replaced when the new one is complete, and no half one stays behind."""
    path = tmp_path / "export.csv"
    path.write_text("older")
    with pytest.raises(OperationCancelledError):
        fleet.export_csv(path, fleet.repository.list_ids(), monitor=StopAfter(0))
    assert path.read_text() == "older"
    assert [entry.name for entry in tmp_path.glob("*.csv*")] == ["export.csv"]
    assert not list(tmp_path.glob(".export*"))
