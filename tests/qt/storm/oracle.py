"""Whether a person could use a widget, found out a second time and in another way than the product does.

The product asks Qt for its conclusions (``isVisible``, ``isEnabled``, geometry). Here they are drawn anew from what
was done to each widget: hidden or not, page chosen or not, tab in front or not. Which dialog blocks is told by whoever
opened the dialogs, and checked with clicks that go through the window system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import shiboken6
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QDockWidget, QMainWindow, QStackedWidget, QTabBar, QTabWidget, QWidget
from typing_extensions import override

PHRASES = {
    "behind": "is behind another tab.",
    "minimised": "is minimised.",
    "off screen": "is off the screen.",
    "disabled": "It is disabled",
    "blocked": "has to be answered first.",
}
"""Words of the product's reasons that tell the kinds apart; any other reason says that it is not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """What keeps a person from using a widget, and the title that the reason has to name, if it has to name one."""

    kind: str
    title: str = ""

    def agrees_with(self, reason: str | None) -> bool:
        """Whether a reason of the product says the same."""
        if reason is None:
            return False
        kind = next((name for name, phrase in PHRASES.items() if phrase in reason), "not shown")
        return kind == self.kind and self.title in reason


def obstacle(widget: QWidget, modal: Sequence[QDialog], *, settled: bool) -> Obstacle | None:
    """The first thing in the way of a person, or ``None``.

    Args:
        widget: What the person wants to use.
        modal: The modal dialogs in the order in which they were opened.
        settled: Whether the layouts of the windows are up to date, so that docks are where they belong.
    """
    path = _up_to_window(widget)
    found = (
        _not_shown(path)
        or (_behind(path) if settled else None)
        or _out_of_sight(path[-1])
        or (Obstacle(kind="disabled") if _disabled(path) else None)
    )
    if found is not None:
        return found
    dialog = blocker(path[-1], modal)
    return None if dialog is None else Obstacle(kind="blocked", title=dialog.windowTitle())


def blocker(window: QWidget, modal: Sequence[QDialog]) -> QDialog | None:
    """The dialog that keeps a person from using ``window``, by the rules in Qt's documentation of modality."""
    above = _windows_above(window)
    for dialog in reversed(modal):
        if not shiboken6.isValid(dialog) or dialog.isHidden():
            continue
        if dialog in above:
            return None
        if dialog.windowModality() == Qt.WindowModality.ApplicationModal:
            return dialog
        if set(above) & set(_windows_above(dialog)[1:]):
            return dialog
    return None


class _Probe(QObject):
    """Notices that a press came through the window system, and lets it do nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.pressed = False

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease, QEvent.Type.MouseMove}:
            self.pressed |= event.type() == QEvent.Type.MouseButtonPress
            return True
        return False


def a_click_arrives(window: QWidget) -> bool:
    """Whether Qt lets a press through to a window that is shown. Events are processed."""
    handle, probe = window.windowHandle(), _Probe()
    handle.installEventFilter(probe)
    QTest.mouseClick(handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(2, 2))
    if shiboken6.isValid(handle):
        handle.removeEventFilter(probe)
    return probe.pressed


def _up_to_window(widget: QWidget) -> list[QWidget]:
    path = [widget]
    while not path[-1].windowFlags() & Qt.WindowType.Window and (parent := path[-1].parentWidget()) is not None:
        path.append(parent)
    return path


def _not_shown(path: Sequence[QWidget]) -> Obstacle | None:
    """Hidden itself or by any of its parents; a page is hidden by the choice of another."""
    for child in reversed(path):  # what is outermost is what a person has to open first
        container = child.parentWidget()
        tabs = container.parentWidget() if isinstance(container, QStackedWidget) else None
        if isinstance(tabs, QTabWidget) and child is not path[-1]:
            index = tabs.indexOf(child)
            if index != tabs.currentIndex():
                return Obstacle(kind="not shown", title=tabs.tabText(index) if index >= 0 else "")
        elif (
            isinstance(container, QStackedWidget)
            and child is not path[-1]
            and container.indexOf(child) != container.currentIndex()
        ):
            return Obstacle(kind="not shown")
        if child.isHidden():
            return Obstacle(kind="not shown", title=child.windowTitle())
    return None


def _behind(path: Sequence[QWidget]) -> Obstacle | None:
    """A bar of tabs of the main window names the docks it stands for, and which of them is in front."""
    window = path[-1]
    if not isinstance(window, QMainWindow):
        return None
    for dock in path:
        if not isinstance(dock, QDockWidget):
            continue
        for bar in window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            titles = [bar.tabText(index) for index in range(bar.count())]
            if not bar.isHidden() and dock.windowTitle() in titles and titles[bar.currentIndex()] != dock.windowTitle():
                return Obstacle(kind="behind", title=dock.windowTitle())
    return None


def _out_of_sight(window: QWidget) -> Obstacle | None:
    bearer = window
    if isinstance(window, QDockWidget):
        bearer = next((item for item in _windows_above(window) if isinstance(item, QMainWindow)), window)
    if bearer.windowState() & Qt.WindowState.WindowMinimized:
        return Obstacle(kind="minimised", title=bearer.windowTitle())
    frame = window.frameGeometry()
    for screen in QGuiApplication.screens():
        area = screen.geometry()
        apart = frame.right() < area.left() or area.right() < frame.left()
        if not apart and not frame.bottom() < area.top() and not area.bottom() < frame.top():
            return None
    return Obstacle(kind="off screen", title=window.windowTitle())


def _disabled(path: Sequence[QWidget]) -> bool:
    """As Qt says, which has been seen to call one enabled below one that was disabled.

    A disabled one has a reason: it was switched off itself, or one of its parents was, or its window together with one
    that was its parent then.
    """
    if path[0].isEnabled():
        return False
    switched_off = any(widget.testAttribute(Qt.WidgetAttribute.WA_ForceDisabled) for widget in path)
    return switched_off or path[-1].testAttribute(Qt.WidgetAttribute.WA_Disabled)


def _windows_above(window: QWidget) -> list[QWidget]:
    above = [window]
    while (parent := above[-1].parentWidget()) is not None:
        above.append(_up_to_window(parent)[-1])
    return above
