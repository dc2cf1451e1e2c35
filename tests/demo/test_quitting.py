"""Quitting in the middle of things: exit code 0, nothing on standard error, nothing half done."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.demo.programs import complaints, run_python

PROGRAM = """
import sys
from pathlib import Path
from threading import Event

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from demo_app.composition import create_application, create_console
from demo_app.domain import FleetService
from qt_binding import run

application = create_application(["demo"])
console = create_console(Path(sys.argv[1]), person="giulia")
quit_by = {"close": console.window.close, "quit": QApplication.quit}[sys.argv[3]]

begun, release = Event(), Event()
enable = FleetService.enable


def slow(service, device_ids, *, actor):
    begun.set()
    release.wait(20)
    return enable(service, device_ids, actor=actor)


FleetService.enable = slow


def begin():
    console.window.table.select_ids(["MIL-002", "MIL-004"])
    if sys.argv[2] == "dialog":
        console.confirmations.dialog_opened.connect(lambda _: QTimer.singleShot(0, quit_by))
        console.assistant.send("disable them")
    else:
        console.assistant.send("enable them")
        watch.start()


def look():
    if begun.is_set():
        watch.stop()
        quit_by()
        release.set()


watch = QTimer(interval=5)
watch.timeout.connect(look)
QTimer.singleShot(0, begin)
QTimer.singleShot(40_000, lambda: application.exit(9))
code = run(lambda: console.window, registry=console.registry, application=application)
print("console ended", code)
sys.exit(code)
"""


@pytest.mark.parametrize("way", ["close", "quit"])
@pytest.mark.parametrize("moment", ["dialog", "call"])
@pytest.mark.timeout(90)
def test_quitting_with_a_question_open_or_a_call_running_ends_cleanly(tmp_path: Path, moment: str, way: str) -> None:
    """The question is denied by it; the call is let go and its job ends by itself."""
    database = tmp_path / "fleet.sqlite"
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    ended = run_python([str(program), str(database), moment, way])
    assert (ended.returncode, complaints(ended), ended.stdout) == (0, [], "console ended 0\n")
    connection = sqlite3.connect(database)
    assert connection.execute("SELECT count(*) FROM activity WHERE verb = 'disabled'").fetchone() == (0,)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
