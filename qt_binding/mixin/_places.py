"""Where on the screen a component is: the widgets whose presence counts for it."""

from __future__ import annotations

from collections.abc import Hashable

import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from qt_binding._availability import Glance
from qt_binding.mixin._behaviour import Behaviour, is_alive


def watched_widget(target: QObject) -> QWidget | None:
    """The widget whose presence counts: the component itself, or the widget an object or action belongs to."""
    ancestor: QObject | None = target
    while ancestor is not None and not isinstance(ancestor, QWidget):
        ancestor = ancestor.parent()
    return ancestor


def place_of(target: QObject) -> int:
    """The address of the widget whose presence counts; 0 without one."""
    widget = watched_widget(target)
    return 0 if widget is None else int(shiboken6.getCppPointer(widget)[0])


def watched_widgets(target: QObject, behaviour: Behaviour) -> list[QWidget]:
    """Every widget whose presence counts: the component's, and those of the owners of its capabilities."""
    definition = behaviour.definition(target)
    places = [watched_widget(target)]
    if not definition.owned:
        return [place for place in places if place is not None]
    for role in (*definition.observations.values(), *definition.actions.values()):
        owner = None if role.owner is None else role.owner()
        if owner is not None and is_alive(owner):
            places.append(watched_widget(owner))
    return [place for place in dict.fromkeys(places) if place is not None]


def find_surroundings(target: QObject, behaviour: Behaviour, glance: Glance) -> Hashable:
    """Differs from before when there may be other events or docks to follow."""
    if not behaviour.definition(target).owned and isinstance(target, QWidget):
        return glance.surroundings(target)
    return object()
