"""The windows of the storm, and the places in them that components are put into."""

from __future__ import annotations

import random
from collections.abc import Iterator

import shiboken6
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDockWidget,
    QGroupBox,
    QMainWindow,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

PAGES = 3
DOCKS = 4


class Ship(QMainWindow):
    """A main window with tabs, a stack, a group, and docks of which two begin behind each other."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setWindowTitle(name)
        self.setAnimated(False)
        self.tabs, self.stack, self.group = QTabWidget(), QStackedWidget(), QGroupBox()
        self.docks = [QDockWidget(f"{name} dock {number}", self) for number in range(DOCKS)]
        deck = QWidget()
        layout = QVBoxLayout(deck)
        for part in (self.tabs, self.stack, self.group):
            layout.addWidget(part)
        self.setCentralWidget(deck)
        for number in range(PAGES):
            self.tabs.addTab(QWidget(), f"{name} tab {number}")
            self.stack.addWidget(QWidget())
        for number, dock in enumerate(self.docks):
            dock.setObjectName(dock.windowTitle())
            dock.setWidget(QWidget())
            area = Qt.DockWidgetArea.LeftDockWidgetArea if number % 2 else Qt.DockWidgetArea.RightDockWidgetArea
            self.addDockWidget(area, dock)
        self.tabifyDockWidget(self.docks[0], self.docks[2])
        self.resize(500, 400)

    def places(self) -> Iterator[QWidget]:
        """Where a component can be put."""
        yield self.group
        pages = [self.tabs.widget(number) for number in range(self.tabs.count())]
        pages += [self.stack.widget(number) for number in range(self.stack.count())]
        for place in (*pages, *(dock.widget() for dock in self.docks)):
            if place is not None:
                yield place

    def rebuild(self, place: QWidget, rng: random.Random) -> None:
        """Delete a place with all that is in it, and put an empty one there."""
        tab, page = self.tabs.indexOf(place), self.stack.indexOf(place)
        dock = next((dock for dock in self.docks if dock.widget() is place), None)
        if rng.random() < 0.5:
            shiboken6.delete(place)
        else:
            place.deleteLater()
            if tab >= 0:
                self.tabs.removeTab(tab)  # alive and on no tab, until the deletion takes effect
            elif page >= 0:
                self.stack.removeWidget(place)
        if tab >= 0:
            self.tabs.insertTab(tab, QWidget(), f"{self.windowTitle()} tab {tab}")
        elif page >= 0:
            self.stack.insertWidget(page, QWidget())
        elif dock is not None:
            dock.setWidget(QWidget())


class Skiff(QDialog):
    """A dialog; components are put into it too."""

    def __init__(self, name: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(name)
        self.body = QWidget(self)
        self.resize(200, 100)


def move_window(window: QWidget, rng: random.Random) -> None:
    """To where no screen is, or back."""
    window.move(QPoint(90_000, 90_000) if window.x() < 50_000 and rng.random() < 0.4 else QPoint(20, 20))
