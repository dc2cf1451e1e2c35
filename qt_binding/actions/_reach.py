"""Whether a person could use a ``QAction`` right now, and if not, why."""

from __future__ import annotations

from collections.abc import Iterator

import shiboken6
from PySide6.QtCore import SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar, QToolBar, QWidget

from qt_binding._availability import docks_around, presented, reason_sentence


def why_out_of_reach(action: QAction, reason: str | None) -> str | None:
    """Why a person could not use ``action``; ``None`` when it can be used.

    Qt itself is no judge: it triggers a hidden action, one in a disabled menu, and one behind a modal dialog.

    Args:
        action: Any action, also one that Qt has deleted.
        reason: What is told when the action itself is off, in place of its status tip.
    """
    if not shiboken6.isValid(action):
        return reason_sentence("It is gone.")
    if not action.isVisible():
        return reason or action.statusTip() or reason_sentence("It is not shown.")
    if not action.isEnabled():
        return reason or action.statusTip() or reason_sentence("It is disabled.")
    if action.signalsBlocked():  # it would change its state, and nobody would hear of it
        return reason or reason_sentence("It is switched off for the moment.")
    return _why_no_way_to(action, set())


def signals_of_reach(action: QAction) -> Iterator[SignalInstance]:
    """What tells that the reach of ``action`` may have changed."""
    if not shiboken6.isValid(action):
        return
    for link in _chain(action, set()):
        yield link.changed
        for place in _places(link):
            if isinstance(place, QToolBar):
                yield place.visibilityChanged
            for dock in docks_around(place):
                yield dock.visibilityChanged


def _why_no_way_to(action: QAction, seen: set[QAction]) -> str | None:
    """The reason of the first place it cannot be used from, unless there is one from which it can."""
    seen.add(action)
    places = _places(action)
    if not places:
        parent = _parent_widget(action)
        return reason_sentence("It is in no window.") if parent is None else presented(parent.window()).reason
    first: str | None = None
    for place in places:
        reason = _why_not_from(place, seen)
        if reason is None:
            return None
        first = first or reason
    return first


def _why_not_from(place: QWidget, seen: set[QAction]) -> str | None:
    if isinstance(place, QMenuBar) and place.isNativeMenuBar():
        return presented(place.window()).reason  # it is drawn by the desktop, and for Qt it is never shown
    if not isinstance(place, QMenu):
        return presented(place).reason
    entry = place.menuAction()
    if entry in seen:
        return reason_sentence("It is in no window.")
    if not entry.isVisible():
        return reason_sentence("It is in the menu “{title}”, which is not shown.", place.title())
    if not entry.isEnabled() or not place.isEnabled():
        return reason_sentence("It is in the menu “{title}”, which is disabled.", place.title())
    if _places(entry):
        return _why_no_way_to(entry, seen)
    # A context menu: it belongs to the widget that a person opens it on.
    owner = place.parentWidget()
    if owner is None:
        return reason_sentence("It is in no window.")
    return _why_not_from(owner, {*seen, entry})


def _chain(action: QAction, seen: set[QAction]) -> Iterator[QAction]:
    """The action, and the entries of the menus that lead to it."""
    seen.add(action)
    yield action
    for place in _places(action):
        if isinstance(place, QMenu) and place.menuAction() not in seen:
            yield from _chain(place.menuAction(), seen)


def _places(action: QAction) -> list[QWidget]:
    return [place for place in action.associatedObjects() if isinstance(place, QWidget)]


def _parent_widget(action: QAction) -> QWidget | None:
    parent = action.parent()
    while parent is not None and not isinstance(parent, QWidget):
        parent = parent.parent()
    return parent
