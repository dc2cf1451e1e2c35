from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from demo_app.domain import (
    DeviceFilter,
    DeviceOrder,
    DeviceStatus,
    Fleet,
    FleetClock,
    FleetDatabaseError,
    InvalidFieldError,
    SortColumn,
    UnknownDevicesError,
    open_fleet,
)


def test_a_new_database_holds_about_two_hundred_stations_and_some_in_milan_are_offline(fleet: Fleet) -> None:
    """The console starts with something to look at; the tour asks for the offline devices in Milan."""
    offline_in_milan = DeviceFilter(city="Milan", statuses=frozenset({DeviceStatus.OFFLINE}))
    assert 180 <= fleet.repository.count() <= 250
    assert len(fleet.repository.list_ids(offline_in_milan)) == 3
    assert len(fleet.repository.cities()) > 60
    assert len(fleet.repository.list_notes()) == 12


def test_sample_stations_report_relative_to_the_first_start(fleet: Fleet, clock: FleetClock) -> None:
    """A sample fleet that was last heard of years ago would look broken."""
    last_seen = [device.last_seen for device in fleet.repository.read_devices(fleet.repository.list_ids())]
    assert all(moment is not None and moment <= clock.now() for moment in last_seen)
    assert max(moment for moment in last_seen if moment) > clock.now() - timedelta(hours=1)


def test_opening_again_adds_nothing_and_keeps_changes(database: Path, clock: FleetClock) -> None:
    """The samples are for the first run only."""
    first = open_fleet(database, clock=clock)
    first.service.rename("MIL-001", "Piazza", actor="giulia")
    count = first.repository.count()
    first.close()
    second = open_fleet(database, clock=clock)
    assert second.repository.count() == count
    assert second.repository.require_device("MIL-001").name == "Piazza"
    second.close()


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, clock: FleetClock) -> None:
    """--database may point anywhere; a wrong path must cost nothing."""
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam, this is a letter and no database." * 20)
    before = path.read_bytes()
    with pytest.raises(FleetDatabaseError, match=r"letter\.txt"):
        open_fleet(path, clock=clock)
    assert path.read_bytes() == before


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path, clock: FleetClock) -> None:
    """An SQLite file is not ours because it is an SQLite file."""
    path = tmp_path / "places.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE devices (id TEXT)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(FleetDatabaseError, match="another program"):
        open_fleet(path, clock=clock)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [("zurich", 4), ("ZÜRICH oerl", 1), ("100%", 0), ("mil-00", 9), ("  ", 221), ("' OR 1=1 --", 0)],
)
def test_words_find_devices_whatever_their_case_and_accents(fleet: Fleet, text: str, expected: int) -> None:
    """Every word must occur, and what is a wildcard or a quote in SQL is text here."""
    assert fleet.repository.count(DeviceFilter(text=text)) == expected


def test_a_filter_joins_its_parts_and_counts_agree_with_lists(fleet: Fleet) -> None:
    """Count and list are two queries; they must not differ."""
    device_filter = DeviceFilter(
        text="milan", city="MILAN", statuses=frozenset({DeviceStatus.OFFLINE, DeviceStatus.MAINTENANCE})
    )
    devices = fleet.repository.read_devices(fleet.repository.list_ids(device_filter))
    assert {device.status for device in devices} == {DeviceStatus.OFFLINE, DeviceStatus.MAINTENANCE}
    assert fleet.repository.count(device_filter) == len(devices) == 4


def test_counts_by_status_add_up(fleet: Fleet) -> None:
    """The bar and the status line show these numbers."""
    counts = fleet.repository.counts()
    assert sum(counts.by_status.values()) == counts.total == fleet.repository.count()
    for status, number in counts.by_status.items():
        assert fleet.repository.count(DeviceFilter(statuses=frozenset({status}))) == number


@pytest.mark.parametrize("column", ["id", "name", "status", "city", "country", "model", "firmware", "last_seen"])
def test_an_order_is_total_and_its_reverse_is_the_reverse(fleet: Fleet, column: SortColumn) -> None:
    """Equal values are ordered by id, so rows do not jump between two reads."""
    ascending = fleet.repository.list_ids(order=DeviceOrder(column=column))
    descending = fleet.repository.list_ids(order=DeviceOrder(column=column, descending=True))
    assert ascending == descending[::-1]
    assert len(set(ascending)) == fleet.repository.count()


def test_firmware_is_ordered_by_number(fleet: Fleet) -> None:
    """2.9.8 is older than 2.10.3, whatever the text says."""
    ids = fleet.repository.list_ids(DeviceFilter(text="AirSense 2"), DeviceOrder(column="firmware"))
    versions = [device.firmware for device in fleet.repository.read_devices(ids)]
    assert versions == sorted(versions, key=lambda version: [int(part) for part in version.split(".")])
    assert {"2.9.8", "2.10.3"} <= set(versions)


def test_disabling_and_enabling_brings_back_what_a_station_last_reported(fleet: Fleet) -> None:
    """Disabled is a decision of people; it must not overwrite what the station said."""
    before = fleet.repository.require_device("MIL-005")
    result = fleet.service.disable(["MIL-005", "MIL-007", "MIL-005"], actor="giulia")
    assert (result.changed_ids, result.unchanged_ids) == (("MIL-005",), ("MIL-007",))
    assert fleet.repository.require_device("MIL-005") == replace(before, status=DeviceStatus.DISABLED)
    fleet.service.enable(["MIL-005"], actor="giulia")
    assert fleet.repository.require_device("MIL-005") == before


def test_an_unknown_id_among_many_changes_nothing(fleet: Fleet) -> None:
    """A command on several devices is one transaction."""
    counts, log = fleet.repository.counts(), fleet.repository.list_activity()
    with pytest.raises(UnknownDevicesError) as caught:
        fleet.service.disable(["MIL-001", "NO-1", "NO-2"], actor="giulia")
    assert caught.value.device_ids == ("NO-1", "NO-2")
    assert (fleet.repository.counts(), fleet.repository.list_activity()) == (counts, log)


def test_the_log_names_who_did_what_to_which_device(fleet: Fleet, clock: FleetClock) -> None:
    """The log is how a person finds out what an assistant did."""
    fleet.service.disable(["MIL-001", "MIL-003"], actor="assistant:dock")
    fleet.service.rename("MIL-003", "Milan Brera Est", actor="giulia")
    entries = fleet.repository.list_activity(limit=3)
    assert [(entry.actor, entry.verb, entry.device_id, entry.details) for entry in entries] == [
        ("giulia", "renamed", "MIL-003", "Milan Brera → Milan Brera Est"),
        ("assistant:dock", "disabled", "MIL-003", ""),
        ("assistant:dock", "disabled", "MIL-001", ""),
    ]
    assert {entry.at for entry in entries} == {clock.now()}


def test_a_renamed_device_is_found_and_ordered_by_its_new_name(fleet: Fleet) -> None:
    """Search and order use folded copies of the name, which have to follow it."""
    fleet.service.rename("MIL-001", "  Ägidienplatz ", actor="giulia")
    assert fleet.repository.require_device("MIL-001").name == "Ägidienplatz"
    assert fleet.repository.list_ids(DeviceFilter(text="agidien")) == ["MIL-001"]
    assert fleet.repository.list_ids(DeviceFilter(text="duomo")) == []
    assert fleet.repository.list_ids()[0] == "MIL-001"


@pytest.mark.parametrize("name", ["", "   ", "x" * 121, "a\nb", "a\x00b", "abc\u202egnp.exe", "half \ud800"])
def test_a_name_that_cannot_be_read_on_screen_is_refused(fleet: Fleet, name: str) -> None:
    """Names come from people, files and models; invisible characters can make one pass for another."""
    with pytest.raises(InvalidFieldError) as caught:
        fleet.service.rename("MIL-001", name, actor="giulia")
    assert caught.value.field == "name"
    assert fleet.repository.require_device("MIL-001").name == "Milan Duomo"


def test_a_note_is_written_done_and_opened_again(fleet: Fleet, clock: FleetClock) -> None:
    """The life of a maintenance note, each step logged."""
    note_id = fleet.service.add_note("MIL-001", "Check the fuse.\nBring a ladder.", actor="giulia")
    note = fleet.repository.list_notes(device_id="MIL-001")[0]
    assert (note.id, note.author, note.text, note.resolved_at) == (
        note_id,
        "giulia",
        "Check the fuse.\nBring a ladder.",
        None,
    )
    fleet.service.resolve_note(note_id, actor="marco")
    assert fleet.repository.list_notes(device_id="MIL-001")[0].resolved_at == clock.now()
    assert fleet.repository.list_notes(device_id="MIL-001", include_resolved=False) == []
    fleet.service.reopen_note(note_id, actor="marco")
    assert fleet.repository.list_notes(device_id="MIL-001")[0].resolved_at is None
    assert [entry.verb for entry in fleet.repository.list_activity(limit=3)] == ["reopened", "resolved", "noted"]


def test_pages_of_the_log_follow_each_other_without_gap(fleet: Fleet) -> None:
    """The activity page reads on where the last page ended."""
    fleet.service.disable(fleet.repository.list_ids()[:30], actor="giulia")
    everything = fleet.repository.list_activity(limit=1_000)
    first = fleet.repository.list_activity(limit=10)
    second = fleet.repository.list_activity(limit=1_000, before_id=first[-1].id)
    assert first + second == everything
