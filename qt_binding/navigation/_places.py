"""Where pages are: which one is shown, which can be turned to, and how."""

from __future__ import annotations

from typing import Protocol, TypeVar

import shiboken6
from PySide6.QtWidgets import QDockWidget, QStackedWidget, QTabWidget, QToolBox, QWidget

from qt_binding._availability import reason_sentence, why_out_of_sight

PageT_contra = TypeVar("PageT_contra", bound=QWidget, contravariant=True)


class Place(Protocol[PageT_contra]):
    """Shows pages. Asked anew at each use; nothing is remembered."""

    def why_not(self, page: PageT_contra) -> str | None:
        """Why a person could not turn to ``page`` now; ``None`` when it can be turned to."""
        ...

    def turn_to(self, page: PageT_contra) -> None:
        """Turn to ``page``, as a click would; the application's slots run meanwhile and may turn elsewhere."""
        ...

    def is_current(self, page: PageT_contra) -> bool:
        """Whether ``page`` is the one that is turned to, be it in sight yet or not."""
        ...


class Container:
    """Tabs, stacked pages or a tool box: one page at a time."""

    def __init__(self, container: QTabWidget | QStackedWidget | QToolBox) -> None:
        self._container = container

    def why_not(self, page: QWidget) -> str | None:
        """Why a person could not turn to ``page`` now."""
        container = self._container
        index = container.indexOf(page) if shiboken6.isValid(page) else -1
        if index < 0:
            return reason_sentence("It is gone.")
        if isinstance(container, QTabWidget):
            if not container.isTabVisible(index):
                return reason_sentence("The tab “{title}” is not shown.", container.tabText(index))
            if not container.isTabEnabled(index):
                return reason_sentence("The tab “{title}” is disabled.", container.tabText(index))
        if isinstance(container, QToolBox) and not container.isItemEnabled(index):
            return reason_sentence("The section “{title}” is disabled.", container.itemText(index))
        return None

    def turn_to(self, page: QWidget) -> None:
        """Turn to ``page``."""
        self._container.setCurrentWidget(page)

    def is_current(self, page: QWidget) -> bool:
        """Whether ``page`` is the current one."""
        return shiboken6.isValid(self._container) and self._container.currentWidget() is page


class Docks:
    """Docks of one window: any number at a time, apart from those that are tabbed behind each other."""

    def why_not(self, page: QDockWidget) -> str | None:
        """Why a person could not open or raise the dock now."""
        if not shiboken6.isValid(page):
            return reason_sentence("It is gone.")
        # A closed dock is opened with its entry in a menu; one that is open is raised with its tab.
        if page.isHidden() and not (page.toggleViewAction().isEnabled() and page.toggleViewAction().isVisible()):
            return reason_sentence("The dock “{title}” cannot be opened now.", page.windowTitle())
        return None

    def turn_to(self, page: QDockWidget) -> None:
        """Open the dock and raise it."""
        page.show()
        page.raise_()

    def is_current(self, page: QDockWidget) -> bool:
        """Whether the dock is open."""
        return shiboken6.isValid(page) and not page.isHidden()


def is_in_sight(page: QWidget) -> bool:
    """Whether a person sees ``page``."""
    return shiboken6.isValid(page) and why_out_of_sight(page) is None
