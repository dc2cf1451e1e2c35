"""What the person chose is kept, the conversation goes on where it ended, and developers can look inside."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QDialogButtonBox
from pytestqt.qtbot import QtBot

from agent_surface.assistant import AssistantMessage, Notice, NoticeKind, PersonMessage, SessionState
from demo_app.assistant import MAY_CHANGE
from demo_app.composition import Console, create_console
from tests.demo.conftest import FixedClock

Start = Callable[[], Console]


@pytest.fixture
def start(qtbot: QtBot, database: Path, clock: FixedClock, tmp_path: Path) -> Iterator[Start]:
    """Starts the program with a folder of its own; a second start ends the first."""
    running: list[Console] = []

    def stop() -> None:
        while running:
            _end(qtbot, running.pop())
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def started() -> Console:
        stop()
        console = create_console(database, clock=clock, person="giulia", assistant_folder=tmp_path / "assistant")
        running.append(console)
        console.window.show()
        qtbot.waitExposed(console.window)
        return console

    yield started
    stop()


def _end(qtbot: QtBot, console: Console) -> None:
    console.close()
    qtbot.waitUntil(lambda: not console.window.session.busy_with)
    console.window.close()
    console.window.deleteLater()


def _say(qtbot: QtBot, console: Console, text: str) -> None:
    console.dock.compose(text)
    QTest.keyClick(console.dock.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(
        lambda: console.assistant.state in (SessionState.IDLE, SessionState.WAITING_FOR_PERSON), timeout=20_000
    )


def _offered(console: Console) -> set[str]:
    return {tool.definition.capability_id for tool in console.assistant.tools()}


def _notices(console: Console) -> list[NoticeKind]:
    return [entry.kind for entry in console.assistant.transcript if isinstance(entry, Notice)]


def test_the_conversation_goes_on_where_it_ended(qtbot: QtBot, start: Start) -> None:
    """After a restart it is there to be read, and nothing of it is done again."""
    console = start()
    _say(qtbot, console, "show offline devices in Milan")
    said = [e.text for e in console.assistant.transcript if isinstance(e, PersonMessage | AssistantMessage)]
    listed = console.window.listed_count()
    again = start()
    assert [e.text for e in again.assistant.transcript if isinstance(e, PersonMessage | AssistantMessage)] == said
    assert again.dock.transcript.count == len(again.assistant.transcript)
    assert again.window.listed_count() != listed


def test_a_conversation_that_cannot_be_read_is_left_aside(
    tmp_path: Path, start: Start, expected_logs: list[logging.LogRecord]
) -> None:
    """The program starts all the same."""
    (tmp_path / "assistant").mkdir()
    (tmp_path / "assistant" / "conversation.json").write_text("{", encoding="utf-8")
    assert start().assistant.transcript == ()
    assert [record.name for record in expected_logs] == ["demo_app.assistant"]


def test_what_the_person_does_not_allow_does_not_exist_for_the_assistant(qtbot: QtBot, start: Start) -> None:
    """At once, and after a restart, too."""
    console = start()
    qtbot.waitUntil(lambda: "domain:devices.disable" in _offered(console))
    console.dock.header.settings_action.trigger()
    dialog = console.care.settings_dialog
    assert dialog is not None
    dialog.permissions[MAY_CHANGE].setChecked(False)
    dialog.buttons.button(QDialogButtonBox.StandardButton.Save).click()
    qtbot.waitUntil(lambda: "domain:devices.disable" not in _offered(console))
    qtbot.waitUntil(lambda: console.care.settings_dialog is None)
    again = start()
    qtbot.waitUntil(lambda: bool(_offered(again)))
    assert not {one for one in _offered(again) if one.startswith("domain:")}


@pytest.mark.requirement("QT-CONF-008", "QT-DOCK-004")
@pytest.mark.allow_logs("agent_surface.pipeline")  # a slow machine is told of slow handlers
def test_taking_over_in_the_question_denies_it_and_stops_everything(qtbot: QtBot, start: Start) -> None:
    """Until the person hands control back in the dock."""
    console = start()
    _say(qtbot, console, "show offline devices in Milan, select all shown")
    _say(qtbot, console, "disable them")
    qtbot.waitUntil(lambda: console.confirmations.dialog is not None)
    dialog = console.confirmations.dialog
    assert dialog is not None
    take_over = next(one for one in dialog.findChildren(QAbstractButton) if one.text() == "&Take over")
    qtbot.waitUntil(take_over.isEnabled, timeout=10_000)
    place = take_over.mapTo(dialog, take_over.rect().center())
    QTest.mouseClick(dialog.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    qtbot.waitUntil(lambda: console.take_over.engaged)
    assert console.dock.banner.isVisible()
    qtbot.waitUntil(lambda: console.assistant.state is SessionState.IDLE)
    assert not any(tool.state.available for tool in console.assistant.tools())
    console.dock.banner.hand_back.click()
    assert _notices(console)[-1] is NoticeKind.HANDED_BACK


def test_the_inspector_opens_from_the_help_menu(qtbot: QtBot, start: Start) -> None:
    """It shows the window's own surface, and is made when it is first wanted."""
    console = start()
    assert console.inspector is None
    action = next(one for one in console.window.help_menu.actions() if "Inspect" in one.text())
    action.trigger()
    inspector = console.open_inspector()
    model = inspector.surface.model
    qtbot.waitUntil(lambda: "devices.table" in {one.type for one in model.components})
    action.trigger()
    assert console.inspector is inspector


def test_the_environment_opens_the_inspector(monkeypatch: pytest.MonkeyPatch, start: Start) -> None:
    """For a program that somebody else has built."""
    monkeypatch.setenv("AGENT_SURFACE_INSPECT", "1")
    console = start()
    assert console.inspector is not None
    assert console.inspector.isVisible()
