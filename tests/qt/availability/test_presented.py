from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import shiboken6
from PySide6.QtCore import QEventLoop, QPoint, Qt, QTimer
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDockWidget,
    QGroupBox,
    QLabel,
    QMainWindow,
    QStackedWidget,
    QTabWidget,
    QTextEdit,
    QToolBox,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from agent_surface import AVAILABLE, Availability
from qt_binding._availability import presented

Show = Callable[[QWidget], None]


@pytest.fixture
def show(qapp: QApplication) -> Iterator[Show]:
    """Show a window and let it settle; it is deleted after the test."""
    shown = list[QWidget]()

    def show_window(window: QWidget) -> None:
        shown.append(window)
        window.show()
        turn()

    presented(QWidget())  # the watch over modal windows begins with the first question
    yield show_window
    for window in shown:
        if shiboken6.isValid(window):
            shiboken6.delete(window)
    del qapp


def turn() -> None:
    """Let Qt lay out and deliver what is posted."""
    loop = QEventLoop()
    QTimer.singleShot(0, lambda: QTimer.singleShot(0, loop.quit))
    loop.exec()


def unavailable(reason: str) -> Availability:
    """What a person cannot use."""
    return Availability(available=False, reason=reason)


def window_with(widget: QWidget, title: str = "Fleet") -> QWidget:
    """A window that holds ``widget``."""
    window = QWidget()
    window.setWindowTitle(title)
    QVBoxLayout(window).addWidget(widget)
    return window


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_shown_widget_is_available_and_a_hidden_one_or_one_of_a_closed_window_is_not(show: Show) -> None:
    """The first row of the table, without a container."""
    label = QLabel("x")
    window = window_with(label)
    assert presented(label) == unavailable("Its window “Fleet” is not open.")
    show(window)
    assert presented(label) == AVAILABLE
    label.hide()
    assert presented(label) == unavailable("It is not shown.")
    label.show()
    window.close()
    assert presented(label) == unavailable("Its window “Fleet” is not open.")


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_widget_on_another_tab_is_told_by_the_tab_that_shows_it(show: Show) -> None:
    """An agent can plan with the name of the tab; the outermost obstacle comes first."""
    inner, label, outer = QTabWidget(), QLabel("x"), QTabWidget()
    inner.addTab(QWidget(), "Map")
    inner.addTab(label, "&Details")
    outer.addTab(QWidget(), "Overview")
    outer.addTab(inner, "R&&D")
    show(outer)
    assert presented(label) == unavailable("It is on the tab “R&D”, which is not selected.")
    outer.setCurrentIndex(1)
    assert presented(label) == unavailable("It is on the tab “Details”, which is not selected.")
    inner.setCurrentIndex(1)
    assert presented(label) == AVAILABLE


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_page_taken_out_of_its_container_is_not_shown(show: Show) -> None:
    """Qt keeps it as a hidden child, so it is alive and on no tab."""
    tabs, label = QTabWidget(), QLabel("x")
    tabs.addTab(label, "Details")
    tabs.addTab(QWidget(), "Other")
    show(tabs)
    tabs.removeTab(0)
    assert presented(label) == unavailable("It is not shown.")


@pytest.mark.requirement("QT-AVAIL-004")
def test_another_page_of_a_stack_and_a_collapsed_section_are_not_shown(show: Show) -> None:
    """Stacked pages have no title, sections of a tool box have."""
    stack, page, box, section = QStackedWidget(), QLabel("x"), QToolBox(), QLabel("y")
    stack.addWidget(QWidget())
    stack.addWidget(page)
    box.addItem(QWidget(), "First")
    box.addItem(section, "Second")
    window = QWidget()
    layout = QVBoxLayout(window)
    layout.addWidget(stack)
    layout.addWidget(box)
    show(window)
    assert presented(page) == unavailable("It is on a page that is not shown.")
    assert presented(section) == unavailable("It is in the section “Second”, which is collapsed.")
    stack.setCurrentIndex(1)
    box.setCurrentIndex(1)
    turn()
    assert (presented(page), presented(section)) == (AVAILABLE, AVAILABLE)


def wait_for_presence(qtbot: QtBot, widget: QWidget, *, available: bool) -> None:
    """Docks are laid out in a later turn."""
    qtbot.waitUntil(lambda: presented(widget).available == available)


def two_docks(window: QMainWindow) -> tuple[tuple[QDockWidget, QLabel], tuple[QDockWidget, QLabel]]:
    """Two docks with a label each, in one area of ``window``."""
    window.setCentralWidget(QTextEdit())
    window.resize(600, 400)
    made = list[tuple[QDockWidget, QLabel]]()
    for title in ("Log", "Jobs"):
        dock, label = QDockWidget(title, window), QLabel(title)
        dock.setObjectName(title)
        dock.setWidget(label)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        made.append((dock, label))
    return made[0], made[1]


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_dock_behind_another_is_not_presented_although_qt_calls_it_visible(show: Show, qtbot: QtBot) -> None:
    """Qt only moves the dock in the back out of its window."""
    window = QMainWindow()
    (log, log_label), (jobs, jobs_label) = two_docks(window)
    show(window)
    assert (presented(log_label), presented(jobs_label)) == (AVAILABLE, AVAILABLE)
    window.tabifyDockWidget(log, jobs)
    for front, back, label in ((log, jobs, jobs_label), (jobs, log, log_label)):
        front.raise_()
        wait_for_presence(qtbot, label, available=False)
        assert label.isVisible()
        assert presented(label) == unavailable(
            f"It is in the dock “{back.windowTitle()}”, which is behind another tab."
        )
        front_label = front.widget()
        assert front_label is not None
        wait_for_presence(qtbot, front_label, available=True)


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_closed_dock_is_named_and_a_floating_one_shares_its_windows_state(show: Show) -> None:
    """Closing and floating a dock are ordinary things to do."""
    window = QMainWindow()
    window.setWindowTitle("Fleet")
    (log, log_label), _ = two_docks(window)
    show(window)
    log.close()
    assert presented(log_label) == unavailable("It is in the dock “Log”, which is closed.")
    log.show()
    log.setFloating(True)
    turn()
    assert presented(log_label) == AVAILABLE
    window.showMinimized()
    log.show()
    turn()
    assert presented(log_label) == unavailable("Its window “Fleet” is minimised.")


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_minimised_window_and_one_beyond_every_screen_are_out_of_sight(show: Show) -> None:
    """``isVisible`` stays true for both."""
    label = QLabel("x")
    window = window_with(label)
    show(window)
    window.showMinimized()
    turn()
    assert label.isVisible()
    assert presented(label) == unavailable("Its window “Fleet” is minimised.")
    window.showNormal()
    turn()
    assert presented(label) == AVAILABLE
    window.move(QPoint(90_000, 90_000))
    turn()
    assert presented(label) == unavailable("Its window “Fleet” is off the screen.")


@pytest.mark.requirement("QT-AVAIL-005")
def test_a_disabled_widget_says_whether_it_is_itself_or_what_contains_it(show: Show) -> None:
    """``isEnabled`` is inherited and does not say from where."""
    label, group = QLabel("x"), QGroupBox("Engine")
    QVBoxLayout(group).addWidget(label)
    window = window_with(group, "")
    show(window)
    label.setEnabled(False)
    assert presented(label) == unavailable("It is disabled.")
    label.setEnabled(True)
    group.setEnabled(False)
    assert presented(label) == unavailable("It is disabled together with “Engine”.")
    group.setEnabled(True)
    window.setEnabled(False)
    assert presented(label) == unavailable("It is disabled together with the part of the window that contains it.")


@pytest.mark.requirement("QT-AVAIL-006")
def test_a_modal_dialog_is_named_and_its_own_contents_stay_usable(show: Show) -> None:
    """A dialog blocks what is behind it, not itself."""
    label, inside = QLabel("x"), QLabel("y")
    window = window_with(label)
    show(window)
    dialog = QDialog(window)
    dialog.setWindowTitle("Delete 3 vehicles?")
    QVBoxLayout(dialog).addWidget(inside)
    dialog.setWindowModality(Qt.WindowModality.WindowModal)
    show(dialog)
    assert presented(label) == unavailable("The dialog “Delete 3 vehicles?” is open and has to be answered first.")
    assert presented(inside) == AVAILABLE
    dialog.setWindowTitle("")
    assert presented(label) == unavailable("A dialog is open and has to be answered first.")
    dialog.hide()
    assert presented(label) == AVAILABLE


def test_a_long_title_is_cut_and_a_missing_one_left_out(show: Show) -> None:
    """A reason is a sentence and stays one."""
    label = QLabel("x")
    window = window_with(label, "n" * 500 + "[*]")
    show(window)
    window.hide()
    reason = presented(label).reason
    assert reason is not None
    assert len(reason) < 120
    window.setWindowTitle("")
    assert presented(label) == unavailable("Its window is not open.")
