"""What only a window system with a window manager shows of windows, docks and modality."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDockWidget,
    QLineEdit,
    QMainWindow,
    QPushButton,
    QTabBar,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from agent_surface import AvailabilityChanged
from qt_binding._availability import blocking_dialog
from tests.qt.mixin.parts import READ_ID, Counter, Surface, code_of, turn
from tests.qt.x11.conftest import Desk

pytestmark = pytest.mark.window_manager


def _window(title: str, *contents: QWidget) -> QMainWindow:
    window, deck = QMainWindow(), QWidget()
    window.setWindowTitle(title)
    window.setAnimated(False)
    layout = QVBoxLayout(deck)
    for content in contents:
        layout.addWidget(content)
    window.setCentralWidget(deck)
    window.resize(400, 300)
    return window


def _announced(surface: Surface) -> list[bool]:
    return [
        event.available
        for event in surface.events
        if isinstance(event, AvailabilityChanged) and event.capability_id == READ_ID
    ]


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_window_minimised_by_the_window_manager_comes_and_goes_once(surface: Surface, desk: Desk) -> None:
    """The window manager answers later, in several events; each component hears of it once each way."""
    counter = Counter()
    window = _window("Fleet", counter)
    desk.show(window)
    turn()
    surface.events.clear()
    window.showMinimized()
    desk.until(window.isMinimized)
    desk.until(lambda: surface.reason("read") == "Its window “Fleet” is minimised.")
    turn()
    assert _announced(surface) == [False]
    window.showNormal()
    desk.until(lambda: not window.isMinimized() and window.windowHandle().isExposed())
    desk.until(lambda: surface.reason("read") is None)
    turn()
    assert _announced(surface) == [False, True]


@pytest.mark.requirement("QT-LIFE-002")
def test_a_maximised_and_a_full_screen_window_keep_their_components(surface: Surface, desk: Desk) -> None:
    """The native window may be made anew; the registration is not."""
    counter = Counter()
    window = _window("Fleet", counter)
    desk.show(window)
    turn()
    first = counter.agent_handle.registration_id
    for change, arrived in ((window.showMaximized, window.isMaximized), (window.showFullScreen, window.isFullScreen)):
        change()
        desk.until(arrived)
        turn()
        assert (surface.reason("read"), counter.agent_handle.registration_id) == (None, first)
        assert code_of(surface.invoke(READ_ID)) == "ok"


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_window_moved_off_the_screen_is_out_of_reach_until_it_is_moved_back(surface: Surface, desk: Desk) -> None:
    """The frame that the window manager drew counts, too."""
    counter = Counter()
    window = _window("Fleet", counter)
    desk.show(window)
    screen = QGuiApplication.primaryScreen().geometry()
    window.move(screen.bottomRight() + QPoint(500, 500))
    desk.until(lambda: not screen.intersects(window.frameGeometry()))
    assert surface.reason("read") == "Its window “Fleet” is off the screen."
    assert code_of(surface.invoke(READ_ID)) == "CAPABILITY_NOT_AVAILABLE"
    window.move(100, 100)
    desk.until(lambda: screen.intersects(window.frameGeometry()))
    assert surface.reason("read") is None


@pytest.mark.requirement("QT-AVAIL-006")
def test_a_window_modal_dialog_stops_the_clicks_that_the_surface_says_it_stops(surface: Surface, desk: Desk) -> None:
    """Its own window is out of reach, another one is not; a real press says the same."""
    mine, other = Counter(), Counter()
    mine_button, other_button = QPushButton("Mine"), QPushButton("Other")
    pressed = list[str]()
    mine_button.clicked.connect(lambda: pressed.append("mine"))
    other_button.clicked.connect(lambda: pressed.append("other"))
    window, second = _window("Mine", mine, mine_button), _window("Other", other, other_button)
    desk.show(second)
    desk.show(window)
    dialog = QDialog(window)
    dialog.setWindowTitle("Sure?")
    dialog.setWindowModality(Qt.WindowModality.WindowModal)
    desk.show(dialog)
    desk.click(mine_button)
    desk.click(other_button)
    turn()
    assert pressed == ["other"]
    assert (blocking_dialog(mine), blocking_dialog(other)) == (dialog, None)
    dialog.accept()
    desk.until(lambda: not dialog.isVisible())
    desk.click(mine_button)
    turn()
    assert pressed == ["other", "mine"]
    assert blocking_dialog(mine) is None


@pytest.mark.requirement("QT-AVAIL-006")
def test_an_application_modal_dialog_blocks_also_windows_that_open_after_it(surface: Surface, desk: Desk) -> None:
    """The window manager shows them; nobody can use them."""
    dialog = QDialog()
    dialog.setWindowTitle("Licence")
    dialog.setModal(True)
    desk.show(dialog)
    counter, button = Counter(), QPushButton("Late")
    pressed = list[str]()
    button.clicked.connect(lambda: pressed.append("late"))
    window = _window("Late", counter, button)
    desk.windows.append(window)
    window.show()
    desk.until(lambda: window.windowHandle().isExposed())
    desk.click(button)
    turn()
    assert pressed == []
    assert surface.reason("read") == "The dialog “Licence” is open and has to be answered first."
    dialog.accept()
    desk.until(lambda: surface.reason("read") is None)
    desk.click(button)
    turn()
    assert pressed == ["late"]


@pytest.mark.requirement("QT-AVAIL-006")
def test_a_dialog_over_a_dialog_lets_only_the_upper_one_be_used(surface: Surface, desk: Desk) -> None:
    """Components in dialogs are components like all others."""
    below, above = Counter(), Counter()
    window = _window("Fleet", QWidget())
    desk.show(window)
    dialogs = list[QDialog]()
    for content, parent in ((below, window), (above, None)):
        dialog = QDialog(parent if parent is not None else dialogs[0])
        QVBoxLayout(dialog).addWidget(content)
        dialog.setWindowModality(Qt.WindowModality.WindowModal)
        desk.show(dialog)
        dialogs.append(dialog)
    assert (blocking_dialog(below), blocking_dialog(above)) == (dialogs[1], None)
    dialogs[1].reject()
    desk.until(lambda: not dialogs[1].isVisible())
    assert blocking_dialog(below) is None
    dialogs[0].reject()


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_floating_dock_is_a_window_and_goes_with_its_main_window(surface: Surface, desk: Desk) -> None:
    """It stays where it is on the screen when it is taken out, and is out of reach with the window it belongs to."""
    counter = Counter()
    window = _window("Fleet", QWidget())
    dock = QDockWidget("Log", window)
    dock.setWidget(counter)
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    desk.show(window)
    turn()
    first = counter.agent_handle.registration_id
    dock.setFloating(True)
    desk.until(lambda: dock.isWindow() and dock.isVisible())
    assert (surface.reason("read"), counter.agent_handle.registration_id) == (None, first)
    window.showMinimized()
    desk.until(window.isMinimized)
    desk.until(lambda: surface.reason("read") is not None)
    window.showNormal()
    desk.until(lambda: not window.isMinimized())
    desk.until(lambda: surface.reason("read") is None)
    dock.setFloating(False)
    desk.until(lambda: not dock.isWindow())
    # The window manager still tells of the window's way back, and for a moment Qt says once more that it is minimised.
    desk.until(lambda: surface.reason("read") is None)
    assert counter.agent_handle.registration_id == first


@pytest.mark.requirement("QT-AVAIL-004")
def test_clicking_the_tab_of_a_dock_brings_its_components_within_reach(surface: Surface, desk: Desk) -> None:
    """The bar of tabs is Qt's own; nothing is told to the docks but whether they are visible."""
    counter = Counter()
    window = _window("Fleet", QWidget())
    log, jobs = QDockWidget("Log", window), QDockWidget("Jobs", window)
    log.setWidget(counter)
    jobs.setWidget(QWidget())
    for dock in (log, jobs):
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    window.tabifyDockWidget(log, jobs)
    jobs.raise_()
    desk.show(window)
    desk.until(lambda: surface.reason("read") == "It is in the dock “Log”, which is behind another tab.")
    bar = next(bar for bar in window.findChildren(QTabBar) if bar.isVisible())
    names = [bar.tabText(index) for index in range(bar.count())]
    tab = bar.tabRect(names.index("Log")).center()
    desk.click_at(bar, tab)
    desk.until(lambda: surface.reason("read") is None)
    assert code_of(surface.invoke(READ_ID)) == "ok"


@pytest.mark.requirement("QT-AVAIL-004")
def test_clicking_a_tab_brings_its_page_within_reach_and_the_other_out_of_it(surface: Surface, desk: Desk) -> None:
    """As a person does it."""
    counter, tabs = Counter(), QTabWidget()
    tabs.addTab(QWidget(), "First")
    tabs.addTab(counter, "Second")
    window = _window("Fleet", tabs)
    desk.show(window)
    bar = tabs.tabBar()
    desk.click_at(bar, bar.tabRect(1).center())
    turn()
    assert surface.reason("read") is None
    desk.click_at(bar, bar.tabRect(0).center())
    turn()
    assert surface.reason("read") == "It is on the tab “Second”, which is not selected."


@pytest.mark.requirement("QT-LIFE-006")
def test_a_component_moved_to_another_window_keeps_its_registration(surface: Surface, desk: Desk) -> None:
    """Its native parent is another one afterwards."""
    counter = Counter()
    first, second = _window("First", counter), _window("Second", QWidget())
    desk.show(second)
    desk.show(first)
    registration = counter.agent_handle.registration_id
    second.setCentralWidget(counter)
    counter.show()
    turn()
    assert (surface.reason("read"), counter.agent_handle.registration_id) == (None, registration)
    second.showMinimized()
    desk.until(lambda: surface.reason("read") == "Its window “Second” is minimised.")


@pytest.mark.requirement("QT-LIFE-003")
def test_a_window_closed_by_the_window_manager_takes_its_components_along(surface: Surface, desk: Desk) -> None:
    """The window manager asks the native window to close; the widgets hear of it from there."""
    counter = Counter()
    window = _window("Fleet", counter)
    window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    keep = _window("Other", QLineEdit())
    desk.show(keep)
    desk.show(window)
    registration_id = surface.components()[0].registration_id
    window.windowHandle().close()
    desk.until(lambda: surface.components() == ())
    assert code_of(surface.invoke(READ_ID, registration_id=registration_id)) == "COMPONENT_UNMOUNTED"
