"""Whether a widget is something a person could use right now, and if not, why."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect
from PySide6.QtGui import QGuiApplication, QMoveEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QGroupBox,
    QMainWindow,
    QMdiSubWindow,
    QScrollArea,
    QStackedWidget,
    QTabWidget,
    QToolBox,
    QWidget,
)

from agent_surface import AVAILABLE, Availability
from qt_binding._availability._modal import ModalStack
from qt_binding._availability._reasons import reason_sentence
from qt_binding._runtime import runtime_of_application


def presented(widget: QWidget) -> Availability:
    """Whether a person could use ``widget`` right now.

    The first that holds, in this order, is the reason: it is not shown; its dock is tabbed behind another; its window
    is minimised or off the screens; it is disabled; a modal dialog blocks it.
    """
    return Presentation(runtime_of_application("presented").part(ModalStack)).of(widget)


class Presentation:
    """Asks a widget, its parents and its window. Nothing is remembered between two questions."""

    def __init__(self, modals: ModalStack) -> None:
        self._modals = modals

    def of(self, widget: QWidget) -> Availability:
        """The presence of ``widget`` right now; see :func:`presented`."""
        reason = why_out_of_sight(widget) or _why_disabled(widget) or self._why_blocked(widget)
        return AVAILABLE if reason is None else Availability(available=False, reason=reason)

    def _why_blocked(self, widget: QWidget) -> str | None:
        dialog = self._modals.blocking_dialog(widget)
        if dialog is None:
            return None
        title = _title(dialog)
        if title:
            return reason_sentence("The dialog “{title}” is open and has to be answered first.", title)
        return reason_sentence("A dialog is open and has to be answered first.")


def why_out_of_sight(widget: QWidget) -> str | None:
    """Why a person does not see ``widget``; ``None`` when it is in sight, be it disabled or blocked by a dialog."""
    return _why_not_shown(widget) or _why_behind(widget) or _why_window_out_of_sight(widget)


def is_off_screen(window: QWidget) -> bool:
    """Whether no part of the window and its frame is on any screen."""
    frame = window.frameGeometry()
    if frame.isEmpty() or window.screen().geometry().intersects(frame):
        return False
    return not _is_on_any_screen(frame)


def crossed_the_edge(watched: QObject, event: QEvent) -> bool:
    """Whether an event is the move with which a window went off the screens or came back."""
    if not isinstance(event, QMoveEvent) or not isinstance(watched, QWidget) or not watched.isWindow():
        return False
    frame = watched.frameGeometry()
    before = frame.translated(event.oldPos() - event.pos())
    return not frame.isEmpty() and _is_on_any_screen(frame) != _is_on_any_screen(before)


def docks_around(widget: QWidget) -> list[QDockWidget]:
    """The docks that contain ``widget``, outermost first."""
    return [ancestor for ancestor in _from_window_to(widget) if isinstance(ancestor, QDockWidget)]


def _is_on_any_screen(frame: QRect) -> bool:
    return any(screen.geometry().intersects(frame) for screen in QGuiApplication.screens())


def _why_not_shown(widget: QWidget) -> str | None:
    if widget.isVisible():
        return None
    path = _from_window_to(widget)
    # What is outermost has to be opened first, so that is what is named.
    hidden = next((ancestor for ancestor in path if ancestor.isHidden()), widget)
    if isinstance(hidden, QDockWidget):
        return reason_sentence("It is in the dock “{title}”, which is closed.", _title(hidden))
    if hidden.isWindow():
        return reason_sentence("Its window “{title}” is not open.", _title(hidden))
    if isinstance(hidden, QMdiSubWindow):
        return reason_sentence("It is in the window “{title}”, which is not shown.", _title(hidden))
    parent = hidden.parentWidget()
    if isinstance(parent, QStackedWidget):
        return _why_other_page(hidden, parent)
    if isinstance(parent, QToolBox) and isinstance(hidden, QScrollArea):
        content = hidden.widget()
        index = -1 if content is None else parent.indexOf(content)
        if index >= 0:
            return reason_sentence("It is in the section “{title}”, which is collapsed.", parent.itemText(index))
    return reason_sentence("It is not shown.")


def _why_other_page(page: QWidget, stack: QStackedWidget) -> str:
    tabs = stack.parentWidget()
    index = tabs.indexOf(page) if isinstance(tabs, QTabWidget) else stack.indexOf(page)
    if index < 0:  # taken out of its container, and still a hidden child of it
        return reason_sentence("It is not shown.")
    if isinstance(tabs, QTabWidget):
        return reason_sentence("It is on the tab “{title}”, which is not selected.", tabs.tabText(index))
    return reason_sentence("It is on a page that is not shown.")


def _why_behind(widget: QWidget) -> str | None:
    """A dock behind another tab stays visible for Qt: it is only moved out of its window."""
    for dock in docks_around(widget):
        window = main_window_of(dock)
        geometry = dock.geometry()
        if window is not None and window.tabifiedDockWidgets(dock) and (geometry.right() < 0 or geometry.bottom() < 0):
            return reason_sentence("It is in the dock “{title}”, which is behind another tab.", _title(dock))
    return None


def _why_window_out_of_sight(widget: QWidget) -> str | None:
    window = widget.window()
    bearer = window
    if isinstance(window, QDockWidget):  # floating: minimised together with its main window
        bearer = main_window_of(window) or window
    if bearer.window().isMinimized():
        return reason_sentence("Its window “{title}” is minimised.", _title(bearer.window()))
    if is_off_screen(window):
        return reason_sentence("Its window “{title}” is off the screen.", _title(window))
    return None


def _why_disabled(widget: QWidget) -> str | None:
    if widget.isEnabled():
        return None
    # isEnabled is inherited, so the outermost disabled one is where a person has to look.
    source = next((ancestor for ancestor in _from_window_to(widget) if not ancestor.isEnabled()), widget)
    if source is widget:
        return reason_sentence("It is disabled.")
    title = _title(source)
    if title:
        return reason_sentence("It is disabled together with “{title}”.", title)
    return reason_sentence("It is disabled together with the part of the window that contains it.")


def _from_window_to(widget: QWidget) -> list[QWidget]:
    path = [widget]
    while not path[-1].isWindow() and (parent := path[-1].parentWidget()) is not None:
        path.append(parent)
    path.reverse()
    return path


def main_window_of(dock: QDockWidget) -> QMainWindow | None:
    """The window a dock belongs to, floating or not."""
    parent = dock.parentWidget()
    while parent is not None and not isinstance(parent, QMainWindow):
        parent = parent.parentWidget()  # docks that float as one group have a window of their own in between
    return parent


def _title(widget: QWidget) -> str:
    return widget.windowTitle() or (widget.title() if isinstance(widget, QGroupBox) else "") or widget.accessibleName()
