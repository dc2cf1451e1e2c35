"""The tour as people start it: a program of its own."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from demo_app.domain import DeviceStatus, open_fleet
from tests.demo.conftest import FixedClock
from tests.demo.programs import complaints, run_python


@pytest.mark.requirement("QT-DOCK-001", "QT-CONF-002")
@pytest.mark.timeout(90)
def test_the_assistant_completes_a_task_with_one_confirmation_clicked_by_mouse(tmp_path: Path) -> None:
    """Filter, select, disable: typed into the dock, approved in the dialog, done in the database, told line by line."""
    database, pictures = tmp_path / "fleet.sqlite", tmp_path / "pictures"
    ended = run_python(["-m", "demo_app", "--tour", "--database", str(database), "--tour-dir", str(pictures)])
    assert (ended.returncode, complaints(ended)) == (0, [])
    lines = [re.sub(r" \(\d+ ms\)$", "", line) for line in ended.stdout.splitlines()]
    assert lines[:8] == [
        f"Tour on {database}: 221 devices.",
        "> show offline devices in Milan",
        "  call view:devices.filters.readCities {} -> ok",
        '  call view:devices.filters.setFilters {"statuses": ["offline"], "city": "Milan"} -> ok',
        "> select all shown",
        "  call view:devices.table.selectAll {} -> ok",
        "> disable them",
        "  call domain:devices.disable {} -> ok",
    ]
    assert "  call domain:devices.disable {} -> CONFIRMATION_INVALID" in lines[8:]
    assert lines[-1].startswith("The tour is over; everything was as it should be")
    assert [path.name for path in sorted(pictures.iterdir())] == [
        "01-start.png",
        "02-filtered.png",
        "03-selected.png",
        "04-question.png",
        "05-disabled.png",
        "06-filtered.png",
        "07-selected.png",
        "08-note.png",
        "09-denied.png",
    ]
    connection = sqlite3.connect(database)
    logged = connection.execute("SELECT actor, verb, device_id FROM activity WHERE verb = 'disabled'").fetchall()
    disabled = connection.execute(
        "SELECT id FROM devices WHERE status = 'disabled' AND city = 'Milan' AND connectivity = 'offline'"
    ).fetchall()
    connection.close()
    assert {device_id for _, _, device_id in logged} == {"MIL-002", "MIL-004", "MIL-010"}
    assert {actor.partition(" for ")[0] for actor, _, _ in logged} == {"assistant"}
    assert {device_id for (device_id,) in disabled} >= {"MIL-002", "MIL-004", "MIL-010"}


def test_a_tour_that_cannot_be_played_fails_with_a_sentence(tmp_path: Path) -> None:
    """Not a traceback, and no success."""
    database = tmp_path / "fleet.sqlite"
    fleet = open_fleet(database, clock=FixedClock())
    fleet.service.disable(fleet.repository.list_ids(), actor="someone")
    assert fleet.repository.counts().by_status[DeviceStatus.OFFLINE] == 0
    fleet.close()
    ended = run_python(["-m", "demo_app", "--tour", "--database", str(database), "--tour-dir", str(tmp_path / "p")])
    assert ended.returncode == 1
    assert complaints(ended) == [
        "The tour failed. The fleet has no city with offline devices, 5000 at most, to show the tour on."
    ]
