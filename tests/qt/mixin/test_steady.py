"""A component that says nothing of its own about its availability is pushed by a short way.

Whatever could make the short way wrong happens here to a component that has gone it before.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from agent_surface import AvailabilityChanged
from qt_binding import AgentComponentMixin, attach_agent_component, performs, provide_surface
from tests.qt.mixin.parts import PING, PINGER, MakeSurface, Surface, delete, shown, turn


class Plain(AgentComponentMixin, QWidget):
    """Can be pinged whenever a person could reach it."""

    agent_contract = PINGER
    name = "plain"
    switched_on = True

    @performs(PING)
    def ping(self) -> None:
        """Do it."""


class Named(Plain):
    """Says by a method who it is."""

    def agent_instance_id(self) -> str:
        """Its name."""
        return self.name


class Switched(Named):
    """Has a switch of its own."""

    def agent_enabled(self) -> bool:
        """Its switch."""
        return self.switched_on


class Conditional(Plain):
    """Can be pinged on a condition of which nothing tells."""

    @performs(PING, when=lambda self: self.switched_on, reason="It is off")
    @override
    def ping(self) -> None: ...


def turn_page(page: QWidget, times: int = 1) -> None:
    """Away from a page and back to it."""
    for _ in range(times):
        page.hide()
        turn()
        page.show()
        turn()


def announced(surface: Surface, component: Plain) -> str | None:
    """The reason that was announced last; ``None`` when that was that it can be used."""
    told = [
        event.reason
        for event in surface.events
        if isinstance(event, AvailabilityChanged) and event.registration_id == component.agent_handle.registration_id
    ]
    return told[-1] if told else None


@pytest.fixture
def page(surface: Surface) -> Iterator[QWidget]:
    """A page in a window."""
    window = QWidget()
    page = QWidget(window)
    shown(window)
    assert surface.instances() == []
    yield page
    delete(window)


def put(component: Plain, page: QWidget) -> None:
    """On a page that is turned until nothing about the component is new."""
    component.setParent(page)
    shown(component)
    turn_page(page, 2)
    assert component.agent_handle.status == "active"


@pytest.mark.requirement("QT-LIFE-006")
@pytest.mark.parametrize("kind", [Plain, Named])
def test_who_is_given_another_name_registers_again(surface: Surface, page: QWidget, kind: type[Plain]) -> None:
    """Whether it always had a word in that or speaks for the first time."""
    component = kind()
    put(component, page)
    before = component.agent_handle.registration_id
    if isinstance(component, Named):
        component.name = "another"
    else:
        component.agent_instance_id = "another"  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    turn_page(page)
    assert surface.instances() == ["another"]
    assert component.agent_handle.registration_id != before
    turn_page(page)
    assert surface.instances() == ["another"]


@pytest.mark.requirement("QT-LIFE-006")
def test_who_says_nothing_more_of_its_name_has_the_usual_one(surface: Surface, page: QWidget) -> None:
    """What was said once holds no longer than it is said."""
    component = Plain()
    component.agent_instance_id = "mine"  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    put(component, page)
    assert surface.instances() == ["mine"]
    del component.agent_instance_id  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    turn_page(page)
    assert surface.instances() == ["default"]


@pytest.mark.requirement("QT-AVAIL-001")
@pytest.mark.parametrize("kind", [Plain, Switched])
def test_a_switch_of_its_own_is_asked_each_time(surface: Surface, page: QWidget, kind: type[Plain]) -> None:
    """Also the switch of one that had none before."""
    component = kind()
    put(component, page)
    if isinstance(component, Switched):
        component.switched_on = False
    else:
        component.agent_enabled = False  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    turn_page(page)
    assert announced(surface, component) == "component-disabled"


@pytest.mark.requirement("QT-AVAIL-004")
def test_one_that_is_to_work_unseen_from_now_on_is_not_pushed_with_its_page(surface: Surface, page: QWidget) -> None:
    """And follows its page again when it no longer is."""
    component = Plain()
    put(component, page)
    component.agent_presented = True  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    page.hide()
    turn()
    assert announced(surface, component) is None
    del component.agent_presented  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    turn_page(page)
    page.hide()
    turn()
    assert announced(surface, component) == "It is not shown."


@pytest.mark.requirement("QT-AVAIL-001")
def test_each_turn_of_a_page_is_announced(surface: Surface, page: QWidget) -> None:
    """The third as well as the first."""
    component = Plain()
    put(component, page)
    for _ in range(3):
        page.hide()
        turn()
        assert announced(surface, component) == "It is not shown."
        page.show()
        turn()
        assert announced(surface, component) is None


@pytest.mark.requirement("QT-LIFE-006")
def test_a_move_to_another_part_of_the_window_can_be_one_to_another_surface(make_surface: MakeSurface) -> None:
    """Nothing but the registry is different then."""
    window = QWidget()
    left, right = QWidget(window), QWidget(window)
    surfaces = here, there = make_surface(), make_surface()
    withdraw = [provide_surface(part, surface.registry) for part, surface in zip((left, right), surfaces, strict=True)]
    shown(window)
    component = Plain()
    put(component, left)
    component.setParent(right)
    component.show()
    turn()
    assert (here.instances(), there.instances()) == ([], ["default"])
    delete(window)
    for undo in withdraw:
        undo()


@pytest.mark.requirement("QT-AVAIL-004")
def test_after_a_move_the_events_of_the_new_window_count(surface: Surface, page: QWidget) -> None:
    """A window that is moved off the screens tells only itself."""
    component, other = Plain(), QWidget()
    put(component, page)
    shown(other)
    component.setParent(other)
    component.show()
    turn()
    other.move(-5_000, -5_000)
    turn()
    assert "off the screen" in str(announced(surface, component))
    other.move(20, 20)
    turn()
    assert announced(surface, component) is None
    delete(other)


@pytest.mark.requirement("QT-AVAIL-001")
def test_one_with_a_condition_is_asked_for_it_whenever_its_page_comes_back(surface: Surface, page: QWidget) -> None:
    """It is not enough that a person could reach it."""
    component = Conditional()
    put(component, page)
    assert announced(surface, component) is None
    component.switched_on = False
    turn_page(page)
    assert announced(surface, component) == "It is off"


@pytest.mark.requirement("QT-AVAIL-005")
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("hidden", [True, False])
def test_what_holds_for_one_alone_is_not_told_of_its_siblings(
    surface: Surface, page: QWidget, hidden: bool, first: bool
) -> None:
    """Whichever of them is looked at first."""
    alone, sibling = Named(), Named()
    alone.name, sibling.name = "alone", "sibling"
    for component in (alone, sibling) if first else (sibling, alone):
        put(component, page)
    if hidden:
        alone.hide()
    else:
        alone.setEnabled(False)
    turn()
    for enabled in (False, True):  # all of them hear of it, those that are not shown too
        page.setEnabled(enabled)
        turn()
    assert announced(surface, alone) == ("It is not shown." if hidden else "It is disabled.")
    assert announced(surface, sibling) is None


@pytest.mark.requirement("QT-LIFE-008", "QT-AVAIL-001")
@pytest.mark.parametrize("switch", [False, lambda: False], ids=["a value", "a function"])
def test_what_is_attached_anew_is_looked_at_anew(surface: Surface, page: QWidget, switch: object) -> None:
    """A plain widget with the usual options goes the short way too, until something else is attached to it."""
    widget = QWidget(page)
    widget.show()
    handle = attach_agent_component(widget, PINGER, actions={"ping": lambda: None}, instance_id="attached")
    turn_page(page, 2)
    assert surface.reason("ping", "attached") is None
    attach_agent_component(
        widget,
        PINGER,
        actions={"ping": lambda: None},
        instance_id="attached",
        enabled=switch,  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    )
    surface.events.clear()
    turn()
    told = [event.reason for event in surface.events if isinstance(event, AvailabilityChanged)]
    assert told == ["component-disabled"]
    assert handle.status == "active"
    assert surface.reason("ping", "attached") == "component-disabled"


@pytest.mark.requirement("QT-PROVIDER-001", "QT-LIFE-006")
def test_one_whose_registry_was_closed_goes_to_the_next_one_provided(make_surface: MakeSurface) -> None:
    """The short way leads nowhere then; it must not keep the component from its new surface."""
    old, new = make_surface(), make_surface()
    window = QWidget()
    page = QWidget(window)
    withdraw_old = provide_surface(window, old.registry)
    shown(window)
    component = Plain()
    put(component, page)
    assert old.instances() == ["default"]
    old.registry.close()
    withdraw_new = provide_surface(window, new.registry)
    turn()
    assert (component.agent_handle.status, new.instances()) == ("active", ["default"])
    assert new.reason("ping") is None
    withdraw_new()
    withdraw_old()
    delete(window)
