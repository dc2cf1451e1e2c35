"""A real window system: these tests run under ``make test-x11`` and are skipped where windows are only drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.qt.mixin.conftest import make_surface, surface
from tests.qt.mixin.parts import delete

__all__ = ["Desk", "desk", "make_surface", "surface"]


class Desk:
    """Windows as a window manager keeps them, and a person in front of them."""

    def __init__(self, qtbot: QtBot) -> None:
        self.windows: list[QWidget] = []
        self._qtbot = qtbot

    def show(self, window: QWidget) -> None:
        """Show a window and wait until it is on the screen and has the focus."""
        if window not in self.windows:
            self.windows.append(window)
        with self._qtbot.waitExposed(window):
            window.show()
        self.until(lambda: QApplication.activeWindow() is window)

    def until(self, condition: Callable[[], object]) -> None:
        """Wait until the window manager has done its part."""
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=10_000)

    def click(self, widget: QWidget) -> None:
        """Click the middle of a widget, by way of its native window."""
        self.click_at(widget, widget.rect().center())

    def click_at(self, widget: QWidget, place: QPoint) -> None:
        """Click a place of a widget, by way of its native window."""
        window = widget.window()
        QTest.mouseClick(
            window.windowHandle(),
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
            widget.mapTo(window, place),
        )


@pytest.fixture(autouse=True)
def _window_system(request: pytest.FixtureRequest, qapp: QApplication) -> None:
    del qapp
    if request.node.get_closest_marker("window_manager") and QGuiApplication.platformName() != "xcb":
        pytest.skip("needs an X11 screen with a window manager: make test-x11")


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    """Windows that are deleted after the test."""
    made = Desk(qtbot)
    yield made
    delete(*made.windows)
