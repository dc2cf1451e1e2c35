"""The host: one question at a time over the right window, and no way to leave one hanging."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Callable, Sequence

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMainWindow, QPushButton, QWidget

from agent_surface.confirmations import PendingConfirmation
from qt_binding._availability import blocking_dialog
from qt_binding._looks import PlainLabel
from qt_binding.confirmation import ConfirmationHost
from qt_binding.confirmation._dialog import ConfirmationDialog
from qt_binding.confirmation._host import ARMING_MS, NOTICE_MS
from tests.core.confirmations.store_under_test import StoreUnderTest, binding_of
from tests.qt.confirmation.conftest import MakeAsking
from tests.qt.confirmation.person import ASSISTANT, Asking, WindowOf, buttons, click, turn

TTL_MS = 120_000
MakeWindow = Callable[[str], QMainWindow]


def _over(windows: dict[str, QMainWindow]) -> WindowOf:
    """Finds a window by the registration, handing out a widget inside it."""
    return lambda pending: windows[pending.registration_id].centralWidget()


def _dialogs() -> list[QWidget]:
    return [one for one in QApplication.topLevelWidgets() if isinstance(one, ConfirmationDialog) and one.isVisible()]


# ------------------------------------------------------------------------------------------------- order, windows


@pytest.mark.requirement("QT-CONF-001")
def test_one_dialog_at_a_time_oldest_first_over_the_right_window(
    make_asking: MakeAsking, make_window: MakeWindow
) -> None:
    """The next question comes when the one before is answered, over the window it is about."""
    windows = {"reg_1": make_window("First"), "reg_2": make_window("Second")}
    asking = make_asking(_over(windows))
    ids = [asking.ask({"n": number}, registration_id=f"reg_{1 + number % 2}") for number in range(3)]
    seen: list[tuple[str, object]] = []
    for _ in ids:
        assert _dialogs() == [asking.dialog]
        seen.append((asking.dialog.confirmation_id, asking.dialog.parentWidget()))
        asking.press(Qt.Key.Key_Escape)
    assert seen == [(ids[0], windows["reg_1"]), (ids[1], windows["reg_2"]), (ids[2], windows["reg_1"])]
    assert _dialogs() == []


@pytest.mark.requirement("QT-CONF-001")
def test_two_windows_that_ask_at_once_never_cross_answers(make_asking: MakeAsking, make_window: MakeWindow) -> None:
    """Two registries, two hosts, two dialogs: each click answers its own question."""
    first_window, second_window = make_window("First"), make_window("Second")
    first, second = make_asking(lambda _pending: first_window), make_asking(lambda _pending: second_window)
    first_id, second_id = first.asked(), second.asked()
    # The two stores count alike, so that a mixed-up id would be a valid one.
    assert first_id == second_id
    second.click("Approve")
    assert (first.outcome(first_id), second.outcome(second_id)) == ("pending", "approved by person")
    first.click("Deny")
    assert (first.outcome(first_id), second.outcome(second_id)) == ("denied by person", "approved by person")


@pytest.mark.requirement("QT-CONF-001")
def test_the_dialog_blocks_its_own_window_and_no_other(
    asking: Asking, window: QMainWindow, make_window: MakeWindow
) -> None:
    """A real click reaches the other window and not the one that asks."""
    other = make_window("Other")
    hits: list[str] = []
    for name, one in (("own", window), ("other", other)):
        refresh = one.findChild(QPushButton)
        assert isinstance(refresh, QPushButton)
        refresh.clicked.connect(lambda _checked=False, name=name: hits.append(name))
    asking.ask()
    for one in (window, other):
        refresh = one.findChild(QPushButton)
        assert isinstance(refresh, QPushButton)
        click(refresh)
    assert hits == ["other"]
    assert asking.dialog.windowModality() is Qt.WindowModality.WindowModal


@pytest.mark.parametrize("with_window", [True, False], ids=["over the window", "alone"])
def test_the_question_does_not_make_its_own_target_unavailable(
    make_asking: MakeAsking, window: QMainWindow, with_window: bool
) -> None:
    """An approved call finds the component usable although the dialog was in front of it."""
    asking = make_asking(lambda _pending: window if with_window else None)
    asking.ask()
    assert asking.dialog.isModal()
    assert blocking_dialog(window) is None


def test_without_a_window_the_dialog_stands_alone(make_asking: MakeAsking, window: QMainWindow) -> None:
    """No window, a hidden one, or a dead one: the question blocks the application instead."""

    def none(_pending: PendingConfirmation) -> QWidget | None:
        return None

    def never_shown(_pending: PendingConfirmation) -> QWidget | None:
        return QMainWindow()

    for window_for in (None, none, never_shown):
        asking = make_asking(window_for)
        asking.ask()
        assert asking.dialog.parentWidget() is None
        assert asking.dialog.windowModality() is Qt.WindowModality.ApplicationModal
        asking.press(Qt.Key.Key_Escape)
    window.hide()
    asking = make_asking(lambda _pending: window)
    asking.ask()
    assert asking.dialog.parentWidget() is None
    asking.press(Qt.Key.Key_Escape)


def test_an_application_that_cannot_find_the_window_still_asks(
    make_asking: MakeAsking, expected_logs: list[logging.LogRecord]
) -> None:
    """A broken port costs the place of the dialog, and is logged with its traceback."""

    def broken(_pending: PendingConfirmation) -> QWidget:
        raise LookupError("window")

    asking = make_asking(broken)
    confirmation_id = asking.asked()
    asking.click("Approve")
    assert asking.outcome(confirmation_id) == "approved by person"
    assert [record.exc_info is not None for record in expected_logs] == [True]


def test_a_minimised_window_is_not_hidden(asking: Asking, window: QMainWindow) -> None:
    """The question stays, for the window comes back."""
    confirmation_id = asking.ask()
    window.showMinimized()
    turn()
    assert asking.outcome(confirmation_id) == "pending"
    window.showNormal()
    turn()
    assert asking.dialog.isVisible()


def test_what_waits_is_shown_with_its_clock(asking: Asking) -> None:
    """How many, which, and how long each has; it counts down while it waits."""
    for number in range(5):
        asking.ask({"n": number}, description=f"Delete report {number}")
        asking.wait(1_000)

    def waiting() -> list[str]:
        texts = [label.shown_text for label in asking.dialog.findChildren(PlainLabel) if label.isVisible()]
        return next(text for text in texts if "waiting" in text).split("\n")

    assert waiting() == [
        "4 more waiting for an answer:",
        "“Delete report 1”: 1:56 left",
        "“Delete report 2”: 1:57 left",
        "“Delete report 3”: 1:58 left",
        "… and 1 more",
    ]
    asking.wait(56_000)
    assert waiting()[1] == "“Delete report 1”: 1:00 left"


def test_what_is_answered_before_its_turn_is_never_shown(asking: Asking) -> None:
    """A listener that answers by itself makes no dialog flash."""
    opened: list[str] = []
    asking.host.dialog_opened.connect(opened.append)
    store = asking.under_test.store

    def answer(pending: Sequence[PendingConfirmation]) -> None:
        for one in pending:
            store.resolve(one.confirmation_id, approved=True)

    dispose = store.subscribe(answer)
    asking.ask()
    dispose()
    assert (opened, asking.host.dialog) == ([], None)


# ------------------------------------------------------------------------------------------------- ways to leave


def _close(asking: Asking, _window: QMainWindow) -> None:
    asking.dialog.close()


def _hide_dialog(asking: Asking, _window: QMainWindow) -> None:
    asking.dialog.hide()


def _close_through_window_system(asking: Asking, _window: QMainWindow) -> None:
    asking.dialog.windowHandle().close()


def _delete_dialog(asking: Asking, _window: QMainWindow) -> None:
    asking.dialog.deleteLater()


def _close_window(_asking: Asking, window: QMainWindow) -> None:
    window.close()


def _hide_window(_asking: Asking, window: QMainWindow) -> None:
    window.hide()


def _delete_window_later(_asking: Asking, window: QMainWindow) -> None:
    window.deleteLater()


def _delete_window_now(_asking: Asking, window: QMainWindow) -> None:
    shiboken6.delete(window)


def _close_all(_asking: Asking, _window: QMainWindow) -> None:
    QApplication.closeAllWindows()


def _close_host(asking: Asking, _window: QMainWindow) -> None:
    asking.host.close()


@pytest.mark.parametrize("armed", [False, True], ids=["at once", "armed"])
@pytest.mark.parametrize(
    "leave",
    [
        _close,
        _hide_dialog,
        _close_through_window_system,
        _delete_dialog,
        _close_window,
        _hide_window,
        _delete_window_later,
        _delete_window_now,
        _close_all,
        _close_host,
    ],
)
def test_every_way_to_leave_a_question_denies_it(
    asking: Asking, window: QMainWindow, leave: Callable[[Asking, QMainWindow], None], armed: bool
) -> None:
    """Nobody waits for an answer that cannot come any more."""
    confirmation_id = asking.ask()
    if armed:
        asking.wait(ARMING_MS)
    leave(asking, window)
    turn()
    assert asking.outcome(confirmation_id) == "denied by person"
    assert asking.host.dialog is None
    assert _dialogs() == []


def test_hiding_a_window_denies_what_would_be_asked_over_it_next(
    make_asking: MakeAsking, make_window: MakeWindow
) -> None:
    """The rest of its queue does not pop up over nothing; another window's question comes."""
    windows = {"reg_1": make_window("First"), "reg_2": make_window("Second")}
    asking = make_asking(_over(windows))
    first, second, other = (
        asking.ask({"n": number}, registration_id=registration)
        for number, registration in enumerate(("reg_1", "reg_1", "reg_2"))
    )
    windows["reg_1"].hide()
    turn()
    assert [asking.outcome(one) for one in (first, second)] == ["denied by person"] * 2
    assert asking.dialog.confirmation_id == other


def test_a_window_that_hides_and_shows_in_one_go_has_not_left(asking: Asking, window: QMainWindow) -> None:
    """Changing a window's flags hides it for a moment."""
    confirmation_id = asking.ask()
    window.hide()
    window.show()
    turn()
    assert asking.outcome(confirmation_id) == "pending"


def test_an_answer_given_twice_is_the_first(asking: Asking) -> None:
    """Approve, and the dialog is closed before the answer was handed over."""
    confirmation_id = asking.asked()
    dialog = asking.dialog
    next(one for text, one in buttons(dialog).items() if text == "Approve").click()
    dialog.close()
    dialog.reject()
    turn()
    assert asking.outcome(confirmation_id) == "approved by person"


def test_the_end_of_the_host_takes_its_dialog_away(asking: Asking) -> None:
    """A dialog nobody listens to must not stay and look as if it asked."""
    asking.ask()
    dialog = asking.dialog
    shiboken6.delete(asking.host)
    turn()
    assert not shiboken6.isValid(dialog)


def test_closing_the_host_leaves_what_waits_to_others(asking: Asking) -> None:
    """Only what a person was asked is denied; a second host goes on with the rest."""
    first, second = asking.ask({"n": 1}), asking.ask({"n": 2})
    asking.host.close()
    asking.host.close()
    assert [asking.outcome(one) for one in (first, second)] == ["denied by person", "pending"]
    other = ConfirmationHost(asking.under_test.store, clock=asking.under_test.clock)
    turn()
    assert other.dialog is not None
    assert other.dialog.confirmation_id == second
    other.close()
    turn()


# ------------------------------------------------------------------------------------------------- ends by itself


def _expire(asking: Asking, _confirmation_id: str) -> None:
    asking.wait(TTL_MS)


def _withdraw(asking: Asking, confirmation_id: str) -> None:
    asking.under_test.store.waiter.withdraw(confirmation_id)


def _unmount(asking: Asking, _confirmation_id: str) -> None:
    asking.under_test.store.expire_registration("reg_1")


def _answer_elsewhere(asking: Asking, confirmation_id: str) -> None:
    asking.under_test.store.resolve(confirmation_id, approved=True)


@pytest.mark.requirement("QT-CONF-005")
@pytest.mark.parametrize(
    ("end", "text"),
    [
        (_expire, "Time is up. Nothing was done."),
        (_withdraw, "The question was withdrawn. Nothing was done."),
        (_unmount, "The part of the application this was about is gone. Nothing was done."),
        (_answer_elsewhere, "This was answered elsewhere."),
    ],
    ids=["expiry", "withdrawal", "unmount", "elsewhere"],
)
def test_a_request_that_ends_closes_its_dialog_and_says_so(
    asking: Asking, end: Callable[[Asking, str], None], text: str
) -> None:
    """Seen and heard for a moment, without buttons that would answer; then the next question comes."""
    confirmation_id = asking.asked()
    following = asking.ask({"n": 2}, registration_id="reg_2")
    dialog = asking.dialog
    end(asking, confirmation_id)
    turn()
    outcome = asking.outcome(confirmation_id)
    assert outcome != "pending"
    assert list(buttons(dialog)) == ["Close"]
    assert text in [label.shown_text for label in dialog.findChildren(PlainLabel) if label.isVisible()]
    assert asking.announced.said == [text]
    assert asking.dialog is dialog
    asking.wait(NOTICE_MS)
    assert asking.outcome(confirmation_id) == outcome
    if asking.outcome(following) == "pending":
        assert asking.dialog.confirmation_id == following
    else:
        # It had waited for as long, and its time was up too.
        assert asking.host.dialog is None


@pytest.mark.requirement("QT-CONF-005")
@pytest.mark.parametrize("leave", ["Close", "Esc", "Return", "window"])
def test_a_notice_can_be_closed_at_once(asking: Asking, window: QMainWindow, leave: str) -> None:
    """It answers nothing any more, whatever is pressed."""
    confirmation_id = asking.ask()
    asking.under_test.store.waiter.withdraw(confirmation_id)
    turn()
    if leave == "window":
        window.hide()
        turn()
    elif leave == "Close":
        asking.click("Close")
    else:
        asking.press(Qt.Key.Key_Escape if leave == "Esc" else Qt.Key.Key_Return)
    assert asking.host.dialog is None
    assert asking.outcome(confirmation_id) == "expired by withdrawn"
    asking.wait(NOTICE_MS)


@pytest.mark.requirement("QT-CONF-005")
def test_the_end_of_the_registry_closes_the_dialog_without_a_word(asking: Asking) -> None:
    """Nobody reads a notice of a program that is closing."""
    asking.ask()
    asking.under_test.store.close()
    turn()
    assert asking.host.dialog is None
    assert asking.announced.said == []


@pytest.mark.requirement("QT-CONF-005")
def test_a_click_that_comes_too_late_decides_nothing(asking: Asking) -> None:
    """The record's own end stands, also when the dialog has not noticed yet."""
    confirmation_id = asking.asked()
    approve = buttons(asking.dialog)["Approve"]
    asking.under_test.store.waiter.withdraw(confirmation_id)
    approve.click()
    turn()
    assert asking.outcome(confirmation_id) == "expired by withdrawn"


# ------------------------------------------------------------------------------------------------- nothing stays


def test_many_questions_leave_nothing_behind(asking: Asking, window: QMainWindow) -> None:
    """No dialog, no timer, no wrapper, no event filter that still hears."""
    timers = asking.under_test.clock.pending_timers
    dialogs: list[weakref.ref[ConfirmationDialog]] = []
    for number in range(30):
        asking.asked({"n": number})
        dialogs.append(weakref.ref(asking.dialog))
        asking.press(Qt.Key.Key_Escape)
    # What the test itself remembers does not count.
    asking.announced.alerts.clear()
    gc.collect()
    assert [one for one in dialogs if one() is not None] == []
    assert window.findChildren(ConfirmationDialog) == []
    # The store remembers what was denied, with one timer for all of it.
    assert asking.under_test.clock.pending_timers <= timers + 1


def test_a_controller_needs_no_more_than_the_protocol(make_asking: MakeAsking) -> None:
    """The host goes through the model, and the model through four methods."""
    store = StoreUnderTest().store

    class Controller:
        pending = store.pending
        resolve = store.resolve
        wait_for = store.wait_for
        subscribe = store.subscribe
        resolution = store.resolution

    host = ConfirmationHost(Controller())
    pending = store.request(
        binding_of(consumer=ASSISTANT),
        description="d",
        component_type="t",
        instance_id="i",
        consumer=ASSISTANT,
        summary="s",
        bound_fields=(),
    )
    turn()
    assert host.dialog is not None
    host.dialog.reject()
    turn()
    resolution = store.resolution(pending.confirmation_id)
    assert resolution is not None
    assert resolution.outcome.value == "denied"
    host.close()
    turn()


# ------------------------------------------------------------------------------------------------- whole programs

# Each step follows from the one before; nothing depends on how fast the machine is.
_PROGRAM = """
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QMainWindow
    from qt_binding.confirmation import ConfirmationHost
    from tests.core.confirmations.store_under_test import StoreUnderTest
    app = QApplication([])
    under_test = StoreUnderTest()
    window = QMainWindow()
    host = ConfirmationHost(under_test.store, window_for=lambda pending: window, clock=under_test.clock)
    ids = []
    QTimer.singleShot(0, lambda: ids.append(under_test.request().confirmation_id))
    def then(signal, step):
        signal.connect(lambda *_: QTimer.singleShot(0, step))
    def outcome():
        resolution = under_test.store.resolution(ids[0])
        return f"{resolution.outcome.value} by {resolution.actor}"
"""


def _run(steps: str) -> list[str]:
    program = textwrap.dedent(_PROGRAM) + textwrap.dedent(steps)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=False)
    noise = [line for line in done.stderr.splitlines() if "This plugin does not support" not in line]
    assert (done.returncode, noise) == (0, [])
    return done.stdout.splitlines()


def test_quitting_with_an_open_question_denies_it_and_ends() -> None:
    """The program's end waits for nobody, and crashes on nothing."""
    steps = """
        window.show()
        then(host.dialog_opened, app.quit)
        print(app.exec(), outcome())
    """
    assert _run(steps) == ["0 denied by person"]


def test_answering_where_the_dialog_is_the_only_window_does_not_quit() -> None:
    """A program in the tray goes on after the answer."""
    steps = """
        app.lastWindowClosed.connect(lambda: print("last window closed"))
        then(host.dialog_opened, lambda: QTest.keyClick(host.dialog, Qt.Key.Key_Escape))
        def go_on():
            # A quit on the last window's account would have been posted by now.
            for _ in range(10):
                app.processEvents()
            print("still here")
            app.quit()
        then(host.dialog_closed, go_on)
        print(app.exec(), outcome())
    """
    assert _run(steps) == ["still here", "0 denied by person"]


def test_closing_the_main_window_ends_a_program_with_an_open_question() -> None:
    """The dialog does not keep the program alive without its window."""
    steps = """
        window.show()
        then(host.dialog_opened, window.close)
        print(app.exec(), outcome())
    """
    assert _run(steps) == ["0 denied by person"]
