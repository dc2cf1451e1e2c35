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
    """

    def __init__(
        self,
        presentation: Presentation,
        *,
        found_window: Callable[[QWidget], object],
        find_registry: Callable[[QObject], AgentSurfaceRegistry | None],
        provides: Callable[[int], bool],
    ) -> None:
        """Make a glance for this moment.

        Args:
            presentation: Judges what is in the way of a person.
            found_window: Called with each window that is found above a widget, at least once.
            find_registry: Finds the registry an object belongs to.
            provides: Whether the object at an address provides a registry itself.
        """
        self._presentation = presentation
        self._found_window = found_window
        self._find_registry = find_registry
        self._provides = provides
        self._places: dict[QWidget, Place] = {}
        self._last: tuple[QWidget, Place | None] | None = None

    def place(self, widget: QWidget) -> Place | None:
        """What ``widget`` shares with its siblings; ``None`` for a window or a dock, which stands for itself."""
        if self._last is not None and self._last[0] is widget:
            return self._last[1]  # several questions are asked of each
        parent = widget.parentWidget()
        known: Place | None = None
        if parent is not None and not widget.isWindow() and not isinstance(widget, QDockWidget):
            known = self._places.get(parent)
            if known is None:
                known = self._places[parent] = Place(parent, self._windows(parent), self._find_registry(parent))
        self._last = (widget, known)
        return known

    def presence(self, widget: QWidget) -> Availability:
        """Whether a person could use ``widget``; see :func:`presented`."""
        place = self.place(widget)
        return self._presentation.of(widget) if place is None else self.presence_at(place, widget)

    def presence_at(self, place: Place, widget: QWidget) -> Availability:
        """The same of one whose place is known."""
        # Of one that is hidden or disabled by itself, its siblings know nothing. In a parent that is hidden all are.
        if place.visible and not (widget.isVisible() and widget.isEnabled() == place.enabled):
            return self._presentation.of(widget)
        if place.presence is None:
            place.presence = self._presentation.of(widget)
        return place.presence

    def registry(self, target: QObject, address: int) -> AgentSurfaceRegistry | None:
        """The registry that the object at ``address`` belongs to."""
        place = self.place(target) if isinstance(target, QWidget) else None
        return self._find_registry(target) if place is None else self.registry_at(place, target, address)

    def registry_at(self, place: Place, widget: QObject, address: int) -> AgentSurfaceRegistry | None:
        """The same of a widget whose place is known."""
        return self._find_registry(widget) if self._provides(address) else place.registry

    def docks(self, widget: QWidget) -> Sequence[QDockWidget]:
        """The docks that contain ``widget``, outermost first."""
        place = self.place(widget)
        return docks_around(widget) if place is None else place.docks

    def windows(self, widget: QWidget) -> Mapping[int, QWidget]:
        """The window of ``widget`` and those it belongs to, by their addresses."""
        place = self.place(widget)
        return self._windows(widget) if place is None else place.windows

    def surroundings(self, widget: QWidget) -> Hashable:
        """Differs when a widget is in another window or another dock than before, and when it may be."""
        place = self.place(widget)
        return object() if place is None else place.surroundings

    def _windows(self, widget: QWidget) -> dict[int, QWidget]:
        windows = {_address(window): window for window in window_chain(widget.window())}
        for window in windows.values():
            self._found_window(window)
        return windows


class Place:
    """What is true of all children of a widget that are neither windows nor docks.

    Attributes:
        visible: Whether the widget is.
        enabled: Whether the widget is.
        docks: Those around them, outermost first.
        windows: Their window and those it belongs to, by address.
        surroundings: The addresses of windows and docks; differs when they are elsewhere.
        registry: What they belong to, unless one provides a registry itself.
        presence: Of those that are neither hidden nor disabled by themselves, once that was asked.
    """

    __slots__ = ("docks", "enabled", "presence", "registry", "surroundings", "visible", "windows")

    def __init__(self, widget: QWidget, windows: dict[int, QWidget], registry: AgentSurfaceRegistry | None) -> None:
        self.visible = widget.isVisible()
        self.enabled = widget.isEnabled()
        self.docks = docks_around(widget)
        self.windows = windows
        self.surroundings = (*windows, *(_address(dock) for dock in self.docks))
        self.registry = registry
        self.presence: Availability | None = None


def _address(widget: QWidget) -> int:
    address: int = shiboken6.getCppPointer(widget)[0]
    return address
