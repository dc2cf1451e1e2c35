"""The script of the tour."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TextIO, TypeVar, cast

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer
from PySide6.QtWidgets import QAbstractButton, QDialog, QPlainTextEdit, QTextEdit, QWidget

from agent_surface import thaw_json
from agent_surface.assistant import (
    SessionEvent,
    SessionState,
    ToolCall,
    ToolCallSettled,
    ToolCallStatus,
)
from demo_app.composition import ASSISTANT, Console
from demo_app.contracts import DISABLE_DEVICES, MAX_DEVICES
from demo_app.tour._errors import TourError
from demo_app.tour._person import Person
from demo_app.tour._report import Report
from demo_app.tour._witness import Entry, Target, Witness

T = TypeVar("T", bound=QWidget)

NOTE = "Not these: they are being repaired."
"""What the person writes when saying no."""


class Tour(QObject):
    """Plays the tour in a console that is being run, and then closes its window.

    Args:
        console: The program.
        database: Its file, which the tour reads by itself.
        folder: For the pictures.
        stream: For one line on each call.

    Attributes:
        problem: Why the tour failed; ``None`` while it runs and when it succeeded.
    """

    def __init__(self, console: Console, *, database: Path, folder: Path, stream: TextIO = sys.stdout) -> None:
        super().__init__(console.window)
        self.problem: str | None = "The tour was cut short."
        self._console = console
        self._window = console.window
        self._report = Report(stream, folder)
        self._database = database
        self._person = Person(self)
        self._calls: list[ToolCall] = []
        self._task: asyncio.Task[None] | None = None
        console.assistant.subscribe(self._hear)

    def start(self) -> None:
        """Begin as soon as the event loop turns."""
        QTimer.singleShot(0, self, self._begin)

    def _begin(self) -> None:
        self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        clock = QElapsedTimer()
        clock.start()
        witness = Witness(self._database)
        try:
            await self._play(witness)
            self.problem = None
            self._report.say(f"The tour is over; everything was as it should be ({clock.elapsed() / 1_000:.1f} s).")
        except TourError as error:
            self.problem = str(error)
        except Exception as error:
            self.problem = f"The tour has a defect: {type(error).__name__}: {error}"
            raise
        finally:
            witness.close()
            await self._leave()

    async def _leave(self) -> None:
        """Close the window as a person would; a question that is still open is denied by that."""
        await self._person.do(self._window.close)

    # -------------------------------------------------------------------------------------------------- the script

    async def _play(self, witness: Witness) -> None:
        window = self._window
        self._report.say(f"Tour on {self._database}: {witness.count()} devices.")
        await self._person.turn_to(window, "the window")
        self._report.picture("start", window)
        offline = witness.find_target("offline", most=MAX_DEVICES)
        await self._choose(offline, send_by_mouse=True)
        await self._disable_with_approval(witness, offline)
        online = witness.find_target("online", most=MAX_DEVICES, but_not=offline.city)
        await self._choose(online, send_by_mouse=False)
        await self._disable_with_denial(witness, online)

    async def _choose(self, target: Target, *, send_by_mouse: bool) -> None:
        calls = await self._ask(f"show {target.status} devices in {target.city}", send_by_mouse=send_by_mouse)
        _expect_done(calls)
        _expect(
            set(self._window.table.listed_ids()) == set(target.ids),
            f"The table lists {self._window.listed_count()} devices and not the {len(target.ids)} {target.status} "
            f"ones in {target.city}.",
        )
        self._report.picture("filtered", self._window)
        _expect_done(await self._ask("select all shown"))
        _expect(set(self._window.table.selected_ids()) == set(target.ids), "Not all listed devices are selected.")
        self._report.picture("selected", self._window)

    async def _disable_with_approval(self, witness: Witness, target: Target) -> None:
        last = witness.last_entry()
        dialog = await self._ask_and_wait_for_question("disable them")
        _expect_shown(dialog, target)
        approve, view = _button(dialog, "Approve"), _only(dialog, QTextEdit)
        _expect(not approve.isEnabled(), "The question could be approved the moment it appeared.")
        self._report.picture("question", self._window, dialog)
        await self._person.wait_until(_button(dialog, "Deny").hasFocus, "the question was armed")
        await self._person.scroll_to_end(view, approve.isEnabled, "what will be passed along")
        await self._person.click(approve, "Approve")
        calls = await self._finish()
        _expect_done(calls)
        _expect(
            witness.statuses(target.ids) == dict.fromkeys(target.ids, "disabled"),
            "Not every approved device is disabled in the database.",
        )
        who = f"{ASSISTANT} for {self._console.person}"
        logged = witness.entries_after(last)
        wanted = [Entry(actor=who, verb="disabled", device_id=device_id) for device_id in target.ids]
        _expect(sorted(logged, key=str) == sorted(wanted, key=str), "The activity log does not say who disabled which.")
        self._report.say(f"  database: {len(target.ids)} devices disabled by “{who}”, each in the activity log")
        self._report.picture("disabled", self._window)

    async def _disable_with_denial(self, witness: Witness, target: Target) -> None:
        before = witness.everything()
        dialog = await self._ask_and_wait_for_question("disable them")
        _expect_shown(dialog, target)
        await self._person.wait_until(_button(dialog, "Deny").hasFocus, "the question was armed")
        await self._person.type_text(_only(dialog, QPlainTextEdit), NOTE, "the note")
        self._report.picture("note", self._window, dialog)
        await self._person.click(_button(dialog, "Deny"), "Deny")
        calls = await self._finish()
        denied = calls[-1]
        _expect(denied.status is ToolCallStatus.REFUSED, f"The denied call is {denied.status.value}, not refused.")
        _expect(NOTE in str(denied.result), "The person's note did not reach the assistant.")
        _expect(witness.everything() == before, "A denied call changed the database.")
        self._report.say("  database: nothing changed by the denied call")
        self._report.picture("denied", self._window)

    # ------------------------------------------------------------------------------------------------ conversation

    async def _ask(self, text: str, *, send_by_mouse: bool = False) -> list[ToolCall]:
        """Type a message, send it, and wait until the assistant has finished."""
        await self._send(text, send_by_mouse=send_by_mouse)
        return await self._finish()

    async def _ask_and_wait_for_question(self, text: str) -> QDialog:
        await self._send(text, send_by_mouse=False)
        confirmations = self._console.confirmations
        await self._person.wait_until(
            lambda: confirmations.dialog is not None or self._is_idle(), f"a question came up after “{text}”"
        )
        dialog = confirmations.dialog
        if dialog is None:
            raise TourError(f"No question came up after “{text}”.")
        await self._person.turn_to(dialog, "the question")
        return dialog

    async def _send(self, text: str, *, send_by_mouse: bool) -> None:
        composer = self._console.dock.composer
        self._calls.clear()
        self._report.say(f"> {text}")
        await self._person.type_text(composer.edit, text, "the message field")
        _expect(composer.edit.toPlainText() == text, "What was typed did not arrive in the message field.")
        if send_by_mouse:
            await self._person.click(composer.button, "Send")
        else:
            await self._person.press(self._window, Qt.Key.Key_Return)
        _expect(not composer.edit.toPlainText(), f"“{text}” was not sent.")

    async def _finish(self) -> list[ToolCall]:
        await self._person.wait_until(self._is_idle, "the assistant had finished")
        _expect(bool(self._calls), "The assistant called nothing.")
        return list(self._calls)

    def _is_idle(self) -> bool:
        return self._console.assistant.state is SessionState.IDLE

    def _hear(self, event: SessionEvent) -> None:
        if isinstance(event, ToolCallSettled):
            self._calls.append(event.call)
            self._report.call(event.call, thaw_json(event.call.input))


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise TourError(otherwise)


def _expect_done(calls: list[ToolCall]) -> None:
    for call in calls:
        _expect(call.status is ToolCallStatus.DONE, f"{call.title} ended as {call.status.value}: {call.result}")


def _expect_shown(dialog: QWidget, target: Target) -> None:
    """The question names exactly the devices that are selected."""
    shown = _only(dialog, QTextEdit).toPlainText()
    start, end = shown.find("["), shown.rfind("]")
    try:
        ids: object = json.loads(shown[start : end + 1].replace("\u2029", "").replace("\n", ""))
    except ValueError:
        ids = None
    _expect(
        isinstance(ids, list) and sorted(map(str, cast("list[object]", ids))) == sorted(target.ids),
        f"The question about {DISABLE_DEVICES.id} does not show exactly the {len(target.ids)} selected devices.",
    )


def _button(dialog: QWidget, text: str) -> QAbstractButton:
    for button in dialog.findChildren(QAbstractButton):
        if button.text().replace("&", "") == text:
            return button
    raise TourError(f"The question has no button “{text}”.")


def _only(dialog: QWidget, kind: type[T]) -> T:
    found = dialog.findChildren(kind)
    if len(found) != 1:
        raise TourError(f"The question has {len(found)} fields of the kind {kind.__name__}, not one.")
    return found[0]
