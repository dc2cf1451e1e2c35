"""A language model operates the console: a whole task, every way in which a model fails, and Stop in every state.

The model is a real server on this machine that speaks OpenAI's protocol; the settings that lead to it are the person's.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai")

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QMessageBox, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from agent_surface.assistant import (
    AssistantMessage,
    AssistantSettings,
    Notice,
    NoticeKind,
    PersonMessage,
    PydanticAIBackend,
    SessionState,
    ToolCall,
    ToolCallStatus,
    save_settings,
)
from demo_app.assistant import MAY_CHANGE
from demo_app.composition import Console, create_console
from demo_app.domain import ChangeResult, DeviceStatus, FleetService
from demo_app.views import FleetSession, MainWindow
from qt_binding.assistant._card import ToolCard
from qt_binding.assistant._rows import MAX_SHOWN_CHARACTERS, MessageRow, NoticeRow
from tests.core.assistant.openai_server import (
    HANGUP,
    Answer,
    Call,
    Gate,
    OpenAIServer,
    Plain,
    Stream,
    end,
    error,
    says,
    serving,
    uses,
    wants,
    words,
)
from tests.demo.conftest import FixedClock, end_console
from tests.qt.hostile import NOT_SHOWN, TEXTS, Trap, overflowing, trapped

KEY = "-".join(("sk", "test", "0123456789", "very", "secret"))
SERVICE = "OpenAI-compatible server"

READ_FILTERS = "view_devices__filters__readState"
SET_FILTERS = "view_devices__filters__setFilters"
READ_TABLE = "view_devices__table__readState"
SELECT_ALL = "view_devices__table__selectAll"
SHOW_DEVICE = "view_devices__drawer__showDevice"
DISABLE = "domain_devices__disable"
RENAME = "domain_devices__rename"

OFFLINE_IN_MILAN = ("MIL-002", "MIL-004", "MIL-010")


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """The model."""
    yield from serving()


@pytest.fixture
def trap(monkeypatch: pytest.MonkeyPatch) -> Iterator[Trap]:
    """Fails a test in which a text reached out of its widget."""
    yield from trapped(monkeypatch)


@pytest.fixture
def console(
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    database: Path,
    clock: FixedClock,
    server: OpenAIServer,
) -> Iterator[Console]:
    """The program of a person who has chosen that model and put the key into the environment."""
    folder = tmp_path / "assistant"
    folder.mkdir()
    chosen = AssistantSettings(
        provider="openai-compatible", model="test-model", base_url=server.url, timeout_ms=20_000, grants=(MAY_CHANGE,)
    )
    save_settings(chosen, folder / "assistant.json")
    monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", KEY)
    opened = create_console(database, clock=clock, person="giulia", assistant_folder=folder)
    opened.window.show()
    qtbot.waitExposed(opened.window)
    backend = opened.assistant.backend
    assert isinstance(backend, PydanticAIBackend)
    yield opened
    end_console(qtbot, opened)
    backend.close(wait_ms=10_000)


# What a person does and sees.


def send(console: Console, text: str) -> None:
    """Type a message into the dock and send it with the keyboard."""
    edit = console.dock.composer.edit
    edit.setFocus()
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.toPlainText() == ""


def wait_idle(qtbot: QtBot, console: Console) -> None:
    """Until the dock takes the next message."""
    qtbot.waitUntil(lambda: console.assistant.state is SessionState.IDLE)


def assert_idle(console: Console) -> None:
    """The dock says so: a message can be sent, nothing is asked, and nothing is called running."""
    dock = console.dock
    assert console.assistant.state is SessionState.IDLE
    assert (dock.composer.button.stops, dock.composer.edit.isReadOnly()) == (False, False)
    assert dock.status.label.shown_text.startswith("Ready")
    assert not dock.status.answer_button.isVisible()
    assert console.registry.confirmations.pending() == ()
    assert not any(isinstance(e, ToolCall) and e.status.open for e in console.assistant.transcript)


def shown(console: Console) -> list[str]:
    """The conversation as it stands in the dock, a text for each row."""
    console.dock.transcript.flush()
    texts: list[str] = []
    for row in console.dock.transcript.rows():
        if isinstance(row, MessageRow):
            texts.append(row.browser.toPlainText())
        elif isinstance(row, ToolCard):
            texts.append(f"{row.title.shown_text} | {row.facts.shown_text.split('  ·  ')[1]}")
        elif isinstance(row, NoticeRow):
            texts.append(row.accessibleName())
    return texts


def calls(console: Console) -> list[ToolCall]:
    """The calls of the conversation."""
    return [entry for entry in console.assistant.transcript if isinstance(entry, ToolCall)]


def button(widget: QWidget, text: str) -> QAbstractButton:
    """The button a person would look for by its text."""
    return next(one for one in widget.findChildren(QAbstractButton) if one.text().replace("&", "") == text)


def click(widget: QWidget) -> None:
    """Click through the window system."""
    place = widget.mapTo(widget.window(), widget.rect().center())
    handle = widget.window().windowHandle()
    QTest.mouseClick(handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)


# The task.


@pytest.mark.requirement("QT-DOCK-001", "QT-DOCK-002", "QT-CONF-002")
def test_a_model_does_a_whole_task_in_the_window(
    qtbot: QtBot, server: OpenAIServer, console: Console, window: MainWindow
) -> None:
    """It looks, filters, selects, asks the person, acts and reports; what it says and does is seen while it comes."""
    slow, slower = server.gate(), server.gate()
    looks = [Call(name=READ_FILTERS, call_id="filters"), Call(name=READ_TABLE, call_id="table")]
    milan = json.dumps({"statuses": ["offline"], "city": "Milan"})
    server.will(
        Stream(steps=[*words("I look ", "first."), slow, *wants(looks), *end("tool_calls")]),
        uses(Call(name=SET_FILTERS, arguments=milan, call_id="filter"), saying="Now I narrow the table."),
        uses(Call(name=SELECT_ALL, call_id="select")),
        uses(Call(name=DISABLE, call_id="disable")),
        Stream(steps=[*words("I took **three** "), slower, *words("devices out of service."), *end()]),
    )
    send(console, "Disable what is offline in Milan")
    qtbot.waitUntil(lambda: shown(console)[-1:] == ["I look first."])
    assert console.dock.composer.button.stops
    slow.open()

    qtbot.waitUntil(lambda: console.confirmations.dialog is not None)
    assert sorted(window.table.listed_ids()) == list(OFFLINE_IN_MILAN)
    assert window.table.selected_ids() == window.table.listed_ids()
    assert [call.status for call in calls(console)] == [ToolCallStatus.DONE] * 4 + [ToolCallStatus.WAITING]
    dialog = console.confirmations.dialog
    assert dialog is not None
    asked = dialog.findChildren(QTextEdit)[0].toPlainText()
    assert tuple(json.loads(asked[asked.index("[") : asked.rindex("]") + 1])) == window.table.selected_ids()
    qtbot.waitUntil(button(dialog, "Approve").isEnabled)
    click(button(dialog, "Approve"))

    qtbot.waitUntil(lambda: shown(console)[-1:] == ["I took three"])
    slower.open()
    wait_idle(qtbot, console)
    assert shown(console) == [
        "Disable what is offline in Milan",
        "I look first.",
        "The filters that are set, how many devices they list, and how many there are by status | Done",
        ("The rows in view (id, name, status, city), how many devices are listed, the selection and the order | Done"),
        "Now I narrow the table.",
        "Change which devices are listed; filters left out stay as they are | Done",
        "Select every listed device, also those that are scrolled out of view | Done",
        "Take devices out of service until they are enabled again | Done",
        "I took three devices out of service.",
    ]
    assert_idle(console)
    assert console.dock.status.label.shown_text == "Ready · 90 tokens used"
    assert window.table.listed_ids() == ()
    states = window.session.repository.read_devices(OFFLINE_IN_MILAN)
    assert [device.status for device in states] == [DeviceStatus.DISABLED] * 3

    told = [m for m in server.requests[1].messages if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in told] == ["filters", "table"]
    (last,) = [m for m in server.requests[4].messages if m.get("tool_call_id") == "disable"]
    assert json.loads(str(last["content"]))["output"] == {"changed": 3, "unchanged": 0}


# What goes wrong.

FAULTS: dict[str, tuple[Answer, str]] = {
    "the connection breaks": (
        Stream(steps=[*words("Well, "), HANGUP]),
        f"The connection to {SERVICE} broke off in the middle of the answer. Send the message again.",
    ),
    "401": (
        error(401, f"Incorrect API key provided: {KEY}", code="invalid_api_key"),
        f"{SERVICE} does not accept the key for “test-model”. Check the key in the assistant's settings.",
    ),
    "429": (
        error(429, f"Rate limit reached for {KEY}", headers={"Retry-After": "20"}),
        f"{SERVICE} takes no more requests at the moment. Send the message again in 20 seconds.",
    ),
    "500": (
        error(500, f"Traceback (most recent call last): KeyError: '{KEY}'"),
        (
            f"{SERVICE} has a problem of its own (500). Send the message again in a minute, or choose another model "
            "in the settings."
        ),
    ),
    "malformed JSON": (
        Stream(steps=[*words("Well, "), b'data: {"choices": [{"delta": \n\n', *end()]),
        (
            f"The answer of {SERVICE} could not be understood. Send the message again; if that does not help, check "
            "the server's address in the settings."
        ),
    ),
}

SECRETS = re.compile(rf"{KEY}|Traceback|127\.0\.0\.1|localhost|https?:|\w(?:Error|Exception)\b|<class|0x[0-9a-f]")


@pytest.mark.requirement("QT-DOCK-006")
def test_every_failure_is_one_sentence_and_the_next_message_is_answered(
    qtbot: QtBot, server: OpenAIServer, console: Console, caplog: pytest.LogCaptureFixture
) -> None:
    """One after the other in one conversation: no box, no traceback, no key, and each time the dock is as before."""
    caplog.set_level("DEBUG")
    for number, (fault, (answer, sentence)) in enumerate(FAULTS.items()):
        server.will(answer)
        send(console, f"Try {number}")
        wait_idle(qtbot, console)
        newest = console.assistant.transcript[-1]
        assert isinstance(newest, Notice)
        assert (newest.kind, newest.text) == (NoticeKind.ERROR, sentence), fault
        assert shown(console)[-1] == sentence
        assert not SECRETS.search(" ".join(shown(console))), fault
        errors = [e for e in console.assistant.transcript if isinstance(e, Notice) and e.kind is NoticeKind.ERROR]
        assert len(errors) == number + 1
        assert not [one for one in QApplication.topLevelWidgets() if isinstance(one, QMessageBox) and one.isVisible()]
        assert_idle(console)

        server.will(says(f"Here I am again, {number}."))
        send(console, "And now?")
        wait_idle(qtbot, console)
        assert shown(console)[-1] == f"Here I am again, {number}."
        assert_idle(console)
    assert len(server.requests) == 2 * len(FAULTS)
    assert KEY not in caplog.text
    assert KEY not in json.dumps(console.assistant.to_json())


@pytest.mark.requirement("QT-DOCK-002")
def test_an_answer_of_200_000_tokens_leaves_the_dock_usable(
    qtbot: QtBot, server: OpenAIServer, console: Console
) -> None:
    """The person types while it comes; its beginning is shown, and a sentence says how much more there is."""
    text = "".join(f"word{number} " for number in range(200_000))
    pieces = [text[start : start + 8_000] for start in range(0, len(text), 8_000)]
    middle = server.gate()
    half = len(pieces) // 2
    server.will(Stream(steps=[*words(*pieces[:half]), middle, *words(*pieces[half:]), *end()]), says("Gladly."))
    send(console, "Tell me everything")
    qtbot.waitUntil(lambda: _said(console) == "".join(pieces[:half]))
    QTest.keyClicks(console.dock.composer.edit, "In short, please")
    assert console.dock.composer.edit.toPlainText() == "In short, please"
    middle.open()
    wait_idle(qtbot, console)
    assert _said(console) == text
    row = console.dock.transcript.rows()[-1]
    assert isinstance(row, MessageRow)
    # A paragraph of 40,000 characters ends in a space here and there, which the document does not keep.
    assert row.browser.toPlainText().split() == text[:MAX_SHOWN_CHARACTERS].split()
    assert row.rest.isVisibleTo(row)
    left_out = console.dock.locale().toString(len(text) - MAX_SHOWN_CHARACTERS)
    assert row.rest.shown_text == f"… {left_out} more characters. Export the conversation to read all of it."
    assert_idle(console)
    QTest.keyClick(console.dock.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: shown(console)[-1:] == ["Gladly."])


def _said(console: Console) -> str:
    newest = console.assistant.transcript[-1]
    return newest.text if isinstance(newest, AssistantMessage) else ""


@pytest.mark.requirement("QT-DOCK-005")
def test_whatever_a_model_says_reaches_nothing_but_the_model_and_moves_no_edge_of_the_window(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, trap: Trap, server: OpenAIServer, console: Console
) -> None:
    """In its answer, in the names of the tools it wants and in what it passes to them."""
    reached = _watch_connections(monkeypatch)
    window, texts = console.window, [trap.bait(text)[:1_500] for text in TEXTS.values()]
    before = (window.size(), console.dock.width())
    wanted = [
        Call(name=text[:60].replace("\n", " "), arguments=json.dumps({text[:60]: text}), call_id=f"call_{number}")
        for number, text in enumerate(texts)
    ]
    server.will(uses(*wanted), Stream(steps=[*words(*(f"{text}\n\n" for text in texts)), *end()]))
    send(console, "Surprise me")
    wait_idle(qtbot, console)
    assert len(calls(console)) == len(texts)
    bar = console.dock.transcript.verticalScrollBar()
    for part in range(5):
        bar.setValue(bar.maximum() * part // 4)
        console.dock.grab()
        assert not NOT_SHOWN & set("".join(shown(console)))
        assert list(overflowing(console.dock)) == []
    assert (window.size(), console.dock.width()) == before
    assert_idle(console)
    assert reached == {server.url.removeprefix("http://").removesuffix("/v1")}


def _watch_connections(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    reached: set[str] = set()
    connect = socket.socket.connect

    def watched(of: socket.socket, address: tuple[str, int]) -> None:
        reached.add(f"{address[0]}:{address[1]}")
        connect(of, address)

    monkeypatch.setattr(socket.socket, "connect", watched)
    return reached


# Stop. The server or the handler stands still until the dock has been seen idle.


def press_stop(qtbot: QtBot, console: Console) -> None:
    """Esc in the message field; the dock is idle, and nobody has moved meanwhile."""
    QTest.keyClick(console.dock.composer.edit, Qt.Key.Key_Escape)
    wait_idle(qtbot, console)
    assert_idle(console)
    assert shown(console)[-1] == "Stopped."


def reach(qtbot: QtBot, event: threading.Event) -> None:
    """Until ``event`` is set on another thread."""
    qtbot.waitUntil(event.is_set)


def nothing_follows(qtbot: QtBot, console: Console, server: OpenAIServer, *, requests: int) -> None:
    """The next message is the next thing the model is asked."""
    assert len(server.requests) == requests
    server.will(says("I am here."))
    send(console, "And now?")
    wait_idle(qtbot, console)
    assert shown(console)[-1] == "I am here."
    assert len(server.requests) == requests + 1
    asked = [e.text for e in console.assistant.transcript if isinstance(e, PersonMessage)]
    assert [m["content"] for m in server.requests[-1].messages if m["content"] == asked[-1]] == ["And now?"]


@pytest.mark.requirement("QT-DOCK-003")
@pytest.mark.parametrize("begun", [False, True], ids=["before the first byte", "in a sentence"])
def test_stop_does_not_wait_for_the_server(qtbot: QtBot, server: OpenAIServer, console: Console, begun: bool) -> None:
    """It stands still before and after; what was said stays, and the connection is closed."""
    gate: Gate = server.gate()
    answer: Answer = Plain(status=200, body=b"", first=gate)
    if begun:
        answer = Stream(steps=[*words("Once upon "), gate, *words("a time"), *end()])
    server.will(answer)
    send(console, "A story")
    reach(qtbot, gate.reached)
    if begun:
        qtbot.waitUntil(lambda: shown(console)[-1:] == ["Once upon"])
    assert console.assistant.state is SessionState.THINKING
    press_stop(qtbot, console)
    reach(qtbot, gate.left)
    assert shown(console) == ["A story", *(["Once upon"] if begun else []), "Stopped."]
    nothing_follows(qtbot, console, server, requests=1)


@pytest.mark.requirement("QT-DOCK-003", "QT-CONF-004")
def test_stop_while_the_person_is_asked_takes_the_question_away(
    qtbot: QtBot, server: OpenAIServer, console: Console, window: MainWindow
) -> None:
    """It says that it was withdrawn, takes no answer any more and closes; nothing was done."""
    ask_to_disable(qtbot, server, console)
    assert console.assistant.state is SessionState.WAITING_FOR_PERSON
    dialog = console.confirmations.dialog
    assert dialog is not None
    asked = dialog.confirmation_id
    press_stop(qtbot, console)
    qtbot.waitUntil(lambda: not button(dialog, "Approve").isVisible())
    assert not console.registry.confirmations.resolve(asked, approved=True)
    click(button(dialog, "Close"))
    qtbot.waitUntil(lambda: console.confirmations.dialog is None)
    assert [call.status for call in calls(console)][-1] is ToolCallStatus.ABANDONED
    assert window.session.repository.require_device(OFFLINE_IN_MILAN[0]).status is DeviceStatus.OFFLINE
    nothing_follows(qtbot, console, server, requests=1)


@pytest.mark.requirement("QT-DOCK-003")
def test_stop_does_not_wait_for_a_handler_on_a_thread(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, server: OpenAIServer, console: Console, window: MainWindow
) -> None:
    """What it had begun it ends; the card says that it may remain, and the model is not asked."""
    begun, go_on = threading.Event(), threading.Event()
    disable = FleetService.disable

    def slow(service: FleetService, device_ids: Sequence[str], *, actor: str) -> ChangeResult:
        begun.set()
        go_on.wait(20)
        return disable(service, device_ids, actor=actor)

    monkeypatch.setattr(FleetService, "disable", slow)
    ask_to_disable(qtbot, server, console)
    approve(console)
    reach(qtbot, begun)
    assert console.assistant.state is SessionState.ACTING
    press_stop(qtbot, console)
    assert "Stopped" in shown(console)[-2]
    assert not go_on.is_set()
    go_on.set()
    qtbot.waitUntil(lambda: not window.session.busy_with)
    assert_idle(console)
    nothing_follows(qtbot, console, server, requests=1)


class EndlessJob:
    """A job of the fleet that ends when the test says so."""

    def __init__(self) -> None:
        self.label = "Renaming"
        self.future = Future[object]()
        self.begun = threading.Event()
        self.cancelled = threading.Event()

    def cancel(self) -> None:
        """Asked to stop."""
        self.cancelled.set()


@pytest.mark.requirement("QT-DOCK-003")
def test_stop_does_not_wait_for_an_async_handler(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, server: OpenAIServer, console: Console
) -> None:
    """It awaits what never comes, and is cancelled."""
    job = EndlessJob()

    def never(session: FleetSession, device_id: str, name: str, *, actor: str | None = None) -> EndlessJob:
        job.begun.set()
        return job

    monkeypatch.setattr(FleetSession, "rename", never)
    show = Call(name=SHOW_DEVICE, arguments='{"id": "MIL-002"}', call_id="show")
    server.will(uses(show), uses(Call(name=RENAME, arguments='{"name": "Duomo"}', call_id="rename")))
    send(console, "Rename it")
    reach(qtbot, job.begun)
    assert console.assistant.state is SessionState.ACTING
    press_stop(qtbot, console)
    assert not job.future.done()
    reach(qtbot, job.cancelled)
    assert not job.future.cancelled()
    job.future.set_result(None)
    nothing_follows(qtbot, console, server, requests=2)


def ask_to_disable(qtbot: QtBot, server: OpenAIServer, console: Console) -> None:
    """The model wants to disable three devices, and the person is asked."""
    version = console.registry.version
    console.window.table.select_ids(list(OFFLINE_IN_MILAN))
    qtbot.waitUntil(lambda: console.registry.version != version)
    server.will(uses(Call(name=DISABLE, call_id="disable")))
    send(console, "Disable them")
    qtbot.waitUntil(lambda: console.confirmations.dialog is not None)


def approve(console: Console) -> None:
    """Say yes without the time that the question takes to be read."""
    (pending,) = console.confirmations.model.pending()
    assert console.confirmations.model.approve(pending.confirmation_id)
