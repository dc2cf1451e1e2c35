"""Changes that reach a component by no event of its own."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget, QWidget
from typing_extensions import override

from agent_surface import AvailabilityChanged
from qt_binding import AgentComponentMixin, performs, provide_surface
from tests.qt.mixin.parts import PING, PINGER, Counter, MakeSurface, Surface, delete, shown, turn


class Thing(AgentComponentMixin, QObject):
    """Not a widget; what counts is the widget it belongs to."""

    agent_contract = PINGER

    @performs(PING)
    def ping(self) -> None:
        """Do it."""


def _announced(surface: Surface) -> list[bool]:
    return [event.available for event in surface.events if isinstance(event, AvailabilityChanged)]


@pytest.mark.requirement("QT-AVAIL-004")
def test_an_object_moved_to_another_widget_follows_that_one(surface: Surface) -> None:
    """Qt tells the parent that loses it, and not the object."""
    tabs, front, back = QTabWidget(), QWidget(), QWidget()
    tabs.addTab(front, "Front")
    tabs.addTab(back, "Back")
    thing = Thing(front)
    shown(tabs)
    surface.events.clear()
    thing.setParent(back)
    turn()
    assert _announced(surface) == [False]
    tabs.setCurrentIndex(1)
    turn()
    assert _announced(surface) == [False, True]
    delete(tabs)


@pytest.mark.requirement("QT-LIFE-006")
def test_an_object_that_had_no_parent_changes_its_surface_by_the_next_look(make_surface: MakeSurface) -> None:
    """Nothing at all tells that it was given one."""
    here, there = make_surface(), make_surface()
    one, other = QWidget(), QWidget()
    withdraw = [provide_surface(one, here.registry), provide_surface(other, there.registry)]
    holder = QObject(one)
    thing = Thing(holder)
    shown(one)
    shown(other)
    assert (here.instances(), there.instances()) == (["default"], [])
    thing.setParent(other)  # taken from a parent that nobody watches
    here.components()
    turn()
    assert (here.instances(), there.instances()) == ([], ["default"])
    delete(one, other)
    for undo in withdraw:
        undo()


@pytest.mark.requirement("QT-AVAIL-004")
def test_what_is_in_a_floating_dock_hears_of_its_main_window(surface: Surface) -> None:
    """A floating dock is a window of its own, and minimised together with another."""
    window = QMainWindow()
    dock, counter = QDockWidget("Log", window), Counter()
    dock.setWidget(counter)
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    shown(window)
    dock.setFloating(True)
    turn()
    surface.events.clear()
    window.showMinimized()
    dock.show()
    turn()
    assert surface.reason("read") is not None
    assert not any(_announced(surface))
    surface.events.clear()
    window.showNormal()
    turn()
    assert surface.reason("read") is None
    assert any(_announced(surface))
    delete(window)


@pytest.mark.requirement("QT-LIFE-010")
def test_a_duplicate_that_is_given_a_name_of_its_own_registers(surface: Surface) -> None:
    """The signals it follows are heard before it is registered, too: its data may come late."""

    class Named(Counter):
        name = "same"

        def agent_instance_id(self) -> str:
            return self.name

        @performs("reset", follows=lambda self: [self.changed])
        @override
        def reset(self) -> None: ...

    first, second = Named(), Named()
    shown(first)
    shown(second)
    assert (first.agent_handle.status, second.agent_handle.status) == ("active", "rejected")
    second.name = "another"
    second.changed.emit()
    turn()
    assert surface.instances() == ["another", "same"]
    delete(first, second)
