"""Answers of one moment about many widgets."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDockWidget, QWidget

from agent_surface import AgentSurfaceRegistry, Availability
from qt_binding._availability._modal import window_chain
from qt_binding._availability._presented import Presentation, docks_around


class Glance:
    """Looks once at what the children of one parent have in common, for the length of one push.

    A page that is turned shows or hides all its components, and nearly all that is to be known of one of them (the
    window, the docks around it, what a person has to open first, what blocks the window) is true of its siblings. A
    glance must not outlive the turn of the event loop it was made in.

    Attributes:
        known: The registries that the children of each parent belong to.
    """

    def __init__(self, presentation: Presentation, found_window: Callable[[QWidget], object]) -> None:
        """Make a glance for this moment.

        Args:
            presentation: Judges what is in the way of a person.
            found_window: Called with each window that is found above a widget, at least once.
        """
        self._found_window = found_window
        self.known: dict[QObject, AgentSurfaceRegistry | None] = {}
        self._presentation = presentation
        self._parents: dict[QWidget, _Parent] = {}
        self._last: tuple[QWidget, _Parent | None] | None = None

    def presence(self, widget: QWidget) -> Availability:
        """Whether a person could use ``widget``; see :func:`presented`."""
        parent = self._parent(widget)
        # Of one that is hidden or disabled by itself, its siblings know nothing. In a parent that is hidden all are.
        if parent is None or (parent.visible and not (widget.isVisible() and widget.isEnabled() == parent.enabled)):
            return self._presentation.of(widget)
        if parent.presence is None:
            parent.presence = self._presentation.of(widget)
        return parent.presence

    def docks(self, widget: QWidget) -> Sequence[QDockWidget]:
        """The docks that contain ``widget``, outermost first."""
        parent = self._parent(widget)
        return docks_around(widget) if parent is None else parent.docks

    def windows(self, widget: QWidget) -> Mapping[int, QWidget]:
        """The window of ``widget`` and those it belongs to, by their addresses."""
        parent = self._parent(widget)
        return self._windows(widget) if parent is None else parent.windows

    def surroundings(self, widget: QWidget) -> Hashable:
        """Differs when a widget is in another window or another dock than before, and when it may be."""
        parent = self._parent(widget)
        return object() if parent is None else parent.surroundings

    def _windows(self, widget: QWidget) -> dict[int, QWidget]:
        windows = {_address(window): window for window in window_chain(widget.window())}
        for window in windows.values():
            self._found_window(window)
        return windows

    def _parent(self, widget: QWidget) -> _Parent | None:
        """What ``widget`` shares with its siblings; ``None`` for a window or a dock, which stands for itself."""
        if self._last is not None and self._last[0] is widget:
            return self._last[1]  # three questions are asked of each
        parent = widget.parentWidget()
        known: _Parent | None = None
        if parent is not None and not widget.isWindow() and not isinstance(widget, QDockWidget):
            known = self._parents.get(parent)
            if known is None:
                known = self._parents[parent] = _Parent(parent, self._windows(parent))
        self._last = (widget, known)
        return known


class _Parent:
    """What is true of all children of a widget that are neither windows nor docks."""

    __slots__ = ("docks", "enabled", "presence", "surroundings", "visible", "windows")

    def __init__(self, widget: QWidget, windows: dict[int, QWidget]) -> None:
        self.visible = widget.isVisible()
        self.enabled = widget.isEnabled()
        self.docks = docks_around(widget)
        self.windows = windows
        self.surroundings = (*windows, *(_address(dock) for dock in self.docks))
        self.presence: Availability | None = None


def _address(widget: QWidget) -> int:
    address: int = shiboken6.getCppPointer(widget)[0]
    return address
