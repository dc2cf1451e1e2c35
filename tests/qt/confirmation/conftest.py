"""Fixtures: a window, and a host that asks over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from agent_surface.confirmations import PendingConfirmation
from qt_binding.confirmation import ConfirmationHost
from qt_binding.confirmation._dialog import ConfirmationDialog
from tests.core.confirmations.store_under_test import StoreUnderTest
from tests.qt.confirmation.person import Announced, Asking, WindowOf, turn


class MakeAsking(Protocol):
    """Makes a host on a store of its own."""

    def __call__(self, window_for: WindowOf | None = ..., *, offers: bool = ...) -> Asking:
        """Ask over what ``window_for`` finds, offering stop and take-over or not."""
        ...


@pytest.fixture
def make_window(qtbot: QtBot) -> Iterator[Callable[[str], QMainWindow]]:
    """Makes shown windows with a field and a button, and takes them away at the end."""
    windows: list[QMainWindow] = []

    def make(title: str) -> QMainWindow:
        window = QMainWindow()
        window.setWindowTitle(title)
        inside = QWidget()
        layout = QVBoxLayout(inside)
        layout.addWidget(QLineEdit())
        layout.addWidget(QPushButton("Refresh"))
        window.setCentralWidget(inside)
        window.resize(700, 500)
        windows.append(window)
        window.show()
        qtbot.waitExposed(window)
        turn()
        return window

    yield make
    for window in windows:
        if shiboken6.isValid(window):
            window.close()
            window.deleteLater()
    turn()


@pytest.fixture
def window(make_window: Callable[[str], QMainWindow]) -> QMainWindow:
    """The window requests are about."""
    return make_window("Devices")


@pytest.fixture
def make_asking(qtbot: QtBot) -> Iterator[MakeAsking]:
    """Makes hosts, and closes them at the end."""
    made: list[Asking] = []

    def make(window_for: WindowOf | None = None, *, offers: bool = False) -> Asking:
        under_test = StoreUnderTest()
        announced = Announced()

        def offered(_pending: PendingConfirmation) -> bool:
            return offers

        host = ConfirmationHost(
            under_test.store,
            window_for=window_for,
            can_stop=offered,
            can_take_over=offered,
            clock=under_test.clock,
            announcer=announced,
        )
        made.append(Asking(under_test=under_test, host=host, announced=announced))
        return made[-1]

    yield make
    for asking in made:
        if shiboken6.isValid(asking.host):
            asking.host.close()
            asking.host.deleteLater()
    turn()
    left = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, ConfirmationDialog)]
    assert left == []


@pytest.fixture
def asking(make_asking: MakeAsking, window: QMainWindow) -> Asking:
    """A host that asks over the window."""
    return make_asking(lambda _pending: window)
