from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtCore import QEventLoop, QPoint, Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from typing_extensions import override

from qt_binding._availability import blocking_dialog, exempt_from_blocking


class Window(QWidget):
    """A window that notices a click."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.presses = 0

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.presses += 1


class Dialog(QDialog):
    """A dialog that notices a click."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.presses = 0

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.presses += 1


def turn() -> None:
    """Let Qt deliver what is posted."""
    loop = QEventLoop()
    QTimer.singleShot(0, loop.quit)
    loop.exec()


@pytest.fixture
def keep(qapp: QApplication) -> Iterator[list[QWidget]]:
    """Windows that are deleted after the test."""
    del qapp
    made = list[QWidget]()
    blocking_dialog(QWidget())
    yield made
    for window in reversed(made):
        if shiboken6.isValid(window):
            shiboken6.delete(window)


def _shown(keep: list[QWidget], window: QWidget) -> None:
    keep.append(window)
    window.resize(100, 100)
    window.show()


@pytest.mark.requirement("QT-AVAIL-006")
@pytest.mark.parametrize("seed", range(6))
def test_the_verdict_agrees_with_what_a_click_through_the_window_system_reaches(keep: list[QWidget], seed: int) -> None:
    """Random windows, parents, modalities and closings; Qt's own verdict is where a press arrives."""
    rng = random.Random(seed)
    for _ in range(8):
        windows: list[Window | Dialog] = [Window(), Window()]
        windows.append(Window(windows[0]))
        for window in windows:
            _shown(keep, window)
        for _ in range(rng.randint(1, 4)):
            dialog = Dialog(rng.choice([*windows, None]))
            dialog.setWindowModality(
                rng.choice(
                    [Qt.WindowModality.NonModal, Qt.WindowModality.WindowModal, Qt.WindowModality.ApplicationModal]
                )
            )
            _shown(keep, dialog)
            windows.append(dialog)
        if rng.random() < 0.5:
            windows[rng.randrange(3, len(windows))].hide()
        turn()
        for window in windows:
            handle = window.windowHandle()
            if window.isVisible():
                before = window.presses
                QTest.mouseClick(handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(50, 50))
                assert (blocking_dialog(window) is not None) == (window.presses == before)
        while keep:
            shiboken6.delete(keep.pop())
        turn()


@pytest.mark.requirement("QT-AVAIL-006")
def test_an_exempt_dialog_blocks_nothing_but_hides_no_other(keep: list[QWidget]) -> None:
    """The confirmation host's own dialog must not make the capability it asks about unavailable."""
    window = Window()
    _shown(keep, window)
    ours, other = Dialog(window), Dialog(window)
    exempt_from_blocking(ours)
    for dialog in (ours, other):
        dialog.setWindowModality(Qt.WindowModality.ApplicationModal)
    _shown(keep, ours)
    assert blocking_dialog(window) is None
    _shown(keep, other)
    assert blocking_dialog(window) is other
    other.hide()
    assert blocking_dialog(window) is None


@pytest.mark.requirement("QT-AVAIL-006")
def test_a_dialog_is_not_kept_alive_and_blocks_no_longer_than_it_lives(keep: list[QWidget]) -> None:
    """Dropping the last reference to an open dialog closes it, watched or not."""
    window, dialog = Window(), Dialog()
    _shown(keep, window)
    dialog.setModal(True)
    dialog.show()
    assert blocking_dialog(window) is dialog
    gone = weakref.ref(dialog)
    del dialog
    gc.collect()
    assert gone() is None
    assert blocking_dialog(window) is None


@pytest.mark.requirement("QT-AVAIL-006")
def test_a_dialog_that_nobody_in_python_holds_still_blocks(keep: list[QWidget]) -> None:
    """A parented dialog lives on in C++ when its wrapper is collected."""
    window = Window()
    _shown(keep, window)

    def open_dialog() -> None:
        dialog = QDialog(window)
        dialog.setObjectName("kept by C++")
        dialog.open()

    open_dialog()
    gc.collect()
    found = blocking_dialog(window)
    assert found is not None
    assert found.objectName() == "kept by C++"
