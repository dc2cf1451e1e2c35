"""A component in the turn in which it is shown: its own events are not listened to until it is pushed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from agent_surface import AvailabilityChanged, ComponentRegistered
from agent_surface.testing import contract_authority
from qt_binding import attach_agent_component, create_qt_registry, provide_surface
from tests.qt.mixin.parts import COUNTER, PING_ID, PINGER, Counter, Surface, delete, shown, turn

READ = "read"


class Told(QObject):
    """Counts the events of a widget that are handed to Python by way of the binding's filter."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = list[QEvent.Type]()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.seen.append(event.type())
        return False


@pytest.fixture
def page(surface: Surface) -> Iterator[QWidget]:
    """A page of a window, with one component that was pushed as shown and as hidden."""
    window = QWidget()
    page = QWidget(window)
    Counter(page)
    shown(window)
    page.hide()
    turn()
    assert surface.reason(READ) == "It is not shown."
    yield page
    delete(window)


def _counter(page: QWidget) -> Counter:
    return next(child for child in page.children() if isinstance(child, Counter))


def _hide(counter: Counter) -> None:
    counter.hide()


def _disable(counter: Counter) -> None:
    counter.setEnabled(False)


def _hide_and_show(counter: Counter) -> None:
    counter.hide()
    counter.show()


@pytest.mark.requirement("QT-AVAIL-001")
@pytest.mark.parametrize(
    ("change", "reason"),
    [(_hide, "It is not shown."), (_disable, "It is disabled."), (_hide_and_show, None)],
    ids=["hidden", "disabled", "hidden and shown"],
)
def test_a_change_in_the_turn_of_the_show_counts(
    surface: Surface, page: QWidget, change: Callable[[Counter], None], reason: str | None
) -> None:
    """What is announced is what holds at the end of the turn."""
    page.show()
    change(_counter(page))
    turn()
    assert surface.reason(READ) == reason


@pytest.mark.requirement("QT-AVAIL-001")
@pytest.mark.parametrize("pushes", [1, 3])
def test_after_the_show_every_change_is_heard_again(surface: Surface, page: QWidget, pushes: int) -> None:
    """However often the page was turned before."""
    for _ in range(pushes):
        page.show()
        turn()
        page.hide()
        turn()
    page.show()
    turn()
    version = int(surface.registry.version)
    counter = _counter(page)
    for change, reason in ((counter.hide, "It is not shown."), (counter.show, None)):
        change()
        turn()
        version += 1
        assert (int(surface.registry.version), surface.reason(READ)) == (version, reason)
    counter.setEnabled(False)
    turn()
    assert (int(surface.registry.version), surface.reason(READ)) == (version + 1, "It is disabled.")


@pytest.mark.requirement("QT-LIFE-001")
def test_one_that_is_shown_and_hidden_again_in_one_turn_was_shown(surface: Surface) -> None:
    """It registers, is not shown, and is heard when it is."""
    window = shown(QWidget())
    counter = Counter(window)
    counter.show()
    counter.hide()
    turn()
    assert surface.reason(READ) == "It is not shown."
    counter.show()
    turn()
    assert surface.reason(READ) is None
    delete(window)


@pytest.mark.requirement("QT-LIFE-006")
def test_one_that_is_moved_in_the_turn_of_its_show_is_heard_where_it_is(surface: Surface, page: QWidget) -> None:
    """In a window that has a surface of its own."""
    other = QWidget()
    registry = create_qt_registry(authority=contract_authority(COUNTER), environment="test")
    withdraw = provide_surface(other, registry)
    shown(other)
    page.show()
    counter = _counter(page)
    counter.setParent(other)
    counter.show()
    turn()
    assert surface.instances() == []
    for visible in (False, True, False):
        counter.setVisible(visible)
        turn()
        (component,) = registry.snapshot().components
        assert all(item.available == visible for item in component.observations)
    withdraw()
    delete(other)
    registry.close()


@pytest.mark.requirement("QT-LIFE-003")
def test_one_that_is_deleted_in_the_turn_of_its_show_is_gone(surface: Surface, page: QWidget) -> None:
    """And nothing of it is looked for."""
    page.show()
    delete(_counter(page))
    assert surface.instances() == []
    turn()
    assert surface.instances() == []


@pytest.mark.requirement("QT-AVAIL-001")
def test_an_object_that_is_registered_in_the_turn_of_the_show_still_hears_of_its_widget(
    surface: Surface, page: QWidget
) -> None:
    """It was looked at already, so what happens to the widget after that has to be told."""
    counter = _counter(page)
    part = QObject(counter)
    page.show()
    attach_agent_component(part, PINGER, actions={"ping": lambda: None})
    counter.hide()
    surface.events.clear()
    turn()
    told = [event for event in surface.events if isinstance(event, AvailabilityChanged)]
    assert [event.reason for event in told if event.capability_id == PING_ID] == ["It is not shown."]


@pytest.mark.requirement("QT-AVAIL-001")
def test_one_that_is_shown_by_whoever_hears_of_its_registration_can_be_used(surface: Surface, page: QWidget) -> None:
    """What happens while it is registered is looked at as well, and so is what happens afterwards."""
    widget = QWidget(page)
    page.show()
    turn()
    widget.hide()
    stop = surface.registry.subscribe(lambda event: widget.show() if isinstance(event, ComponentRegistered) else None)
    attach_agent_component(widget, PINGER, actions={"ping": lambda: None})
    stop()
    for shown_then in (True, False, True):
        widget.setVisible(shown_then)
        turn()
        told = [event for event in surface.events if isinstance(event, AvailabilityChanged)]
        assert [event.available for event in told if event.capability_id == PING_ID][-1:] == [shown_then]


@pytest.mark.requirement("QT-AVAIL-001")
def test_other_filters_of_the_widget_hear_all_its_events(surface: Surface, page: QWidget) -> None:
    """The application's own are none of the binding's business."""
    told = Told()
    counter = _counter(page)
    counter.installEventFilter(told)
    page.show()
    turn()
    assert QEvent.Type.Show in told.seen
    assert QEvent.Type.ShowToParent in told.seen
    counter.removeEventFilter(told)
    assert surface.reason(READ) is None
