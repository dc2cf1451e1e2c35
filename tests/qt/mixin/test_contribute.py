from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import SIGNAL, QObject, Signal
from PySide6.QtWidgets import QApplication, QDialog, QDialogButtonBox, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

from agent_surface import (
    AgentEnvironment,
    AgentSurfaceDefinitionError,
    ComponentRegistered,
    action_contract,
    define_agent_component_contract,
    from_type,
    observation_contract,
)
from agent_surface.testing import contract_authority
from qt_binding import (
    AgentComponentMixin,
    NoSurfaceProviderError,
    attach_agent_component,
    contribute_to_component,
    create_qt_registry,
    observes,
    performing,
    provide_surface,
)
from tests.qt.mixin.parts import COUNTER, Surface, code_of, delete, shown, turn

READ = observation_contract(description="The text", output=from_type(str))
PRINT = action_contract(description="Print it", effect="local-state")
SEND = action_contract(description="Send it", effect="local-state")
PAGE = define_agent_component_contract(
    type="test.page",
    description="A page of parts",
    observations={"read": READ},
    actions={"print": PRINT, "send": SEND},
    partial=True,
)
PRINT_ID, SEND_ID = "view:test.page.print", "view:test.page.send"


class Part(QWidget):
    """A part of the page that can do something."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.done = list[str]()

    def do(self) -> None:
        """Do it."""
        self.done.append("do")


@pytest.fixture
def surface(qapp: QApplication, qtbot: QtBot) -> Iterator[Surface]:
    """A registry that the application provides; the test leaves nothing in it."""
    made = make_surface(qtbot, "test")
    withdraw = provide_surface(qapp, made.registry)
    yield made
    withdraw()
    for window in qapp.topLevelWidgets():
        delete(window)
    turn()
    assert (made.watched, made.registry.statistics().registrations) == (0, 0)
    made.registry.close()


def make_surface(qtbot: QtBot, environment: AgentEnvironment) -> Surface:
    """A registry of the page."""
    return Surface(create_qt_registry(authority=contract_authority(PAGE, COUNTER), environment=environment), qtbot)


def names(surface: Surface) -> list[str]:
    """What the page offers."""
    (page,) = surface.components()
    return [*(item.name for item in page.observations), *(item.name for item in page.actions)]


def registrations(surface: Surface) -> int:
    """How often something was registered so far."""
    return sum(isinstance(event, ComponentRegistered) for event in surface.events)


def test_everything_contributed_in_one_turn_makes_one_registration(surface: Surface) -> None:
    """And a part that comes later makes one more, with a new id; what nobody contributes is absent."""
    page = shown(QWidget())
    first, second = Part(page), Part(page)
    handle = attach_agent_component(page, PAGE)
    contribute_to_component(page, first, observations={"read": lambda: "text"})
    contribute_to_component(page, second, actions={"print": "do"})
    first.show()
    second.show()
    turn()
    assert (names(surface), registrations(surface)) == (["read", "print"], 1)
    before = handle.registration_id
    assert code_of(surface.invoke(PRINT_ID)) == "ok"
    assert code_of(surface.invoke(SEND_ID)) == "CAPABILITY_NOT_FOUND"
    assert second.done == ["do"]
    third = Part(page)
    third.show()
    contribute_to_component(page, third, actions={"send": performing(third.do)})
    turn()
    assert (names(surface), registrations(surface)) == (["read", "print", "send"], 2)
    assert handle.registration_id != before
    assert code_of(surface.invoke(SEND_ID)) == "ok"


def test_a_contribution_ends_with_its_contributor_or_when_it_is_taken_back(surface: Surface) -> None:
    """By the next turn of the loop; until then its capabilities are gone for a call all the same."""
    page = shown(QWidget())
    first, second = Part(page), Part(page)
    attach_agent_component(page, PAGE)
    contribute_to_component(page, first, actions={"print": "do"})
    withdraw = contribute_to_component(page, second, actions={"send": "do"})
    first.show()
    second.show()
    turn()
    assert names(surface) == ["print", "send"]
    delete(first)
    assert surface.reason("print") == "component-gone"
    turn()
    assert names(surface) == ["send"]
    withdraw()
    withdraw()
    turn()
    assert names(surface) == []
    contribute_to_component(page, second, actions={"print": "do"})
    turn()
    assert names(surface) == ["print"]


def test_what_is_contributed_and_taken_back_again_and_again_leaves_nothing(surface: Surface) -> None:
    """Neither connections on the part nor entries at the page."""
    page = shown(QWidget())
    part = Part(page)
    part.show()
    attach_agent_component(page, PAGE)
    turn()
    before = part.receivers(SIGNAL("destroyed()"))
    for _ in range(100):
        contribute_to_component(page, part, actions={"print": "do"})()
    assert part.receivers(SIGNAL("destroyed()")) == before
    turn()
    assert (names(surface), registrations(surface)) == ([], 1)
    for _ in range(10):
        contribute_to_component(page, Part(page), actions={"print": "do"})
        turn()
        delete(page.findChildren(Part)[-1])
        turn()
    assert names(surface) == []
    contribute_to_component(page, part, actions={"print": "do"})
    turn()
    assert names(surface) == ["print"]


def test_a_contributor_is_not_kept_alive(surface: Surface) -> None:
    """Neither by the page nor by its own handlers' names."""
    page = shown(QWidget())
    attach_agent_component(page, PAGE)
    part = Part()
    contribute_to_component(page, part, actions={"print": "do"})
    turn()
    gone = weakref.ref(part)
    gc.disable()
    try:
        del part
        assert gone() is None
    finally:
        gc.enable()
    turn()
    assert names(surface) == []


def test_a_capability_is_as_present_as_its_contributor(surface: Surface) -> None:
    """The rest of the page stays usable; the signals push it, and the reason names the tab."""
    tabs = QTabWidget()
    general, network = Part(), Part()
    tabs.addTab(general, "General")
    tabs.addTab(network, "Network")
    shown(tabs)
    attach_agent_component(tabs, PAGE)
    contribute_to_component(tabs, general, actions={"print": "do"})
    contribute_to_component(tabs, network, actions={"send": "do"})
    turn()
    assert surface.reason("print") is None
    assert surface.reason("send") == "It is on the tab “Network”, which is not selected."
    announced = surface.announcements
    tabs.setCurrentIndex(1)
    turn()
    assert surface.announcements == announced + 1
    assert surface.reason("send") is None
    assert surface.reason("print") == "It is on the tab “General”, which is not selected."


def test_a_class_takes_contributions_from_inside_its_init(surface: Surface) -> None:
    """The page handles some itself, and its parts the rest."""

    class Page(AgentComponentMixin, QWidget):
        agent_contract = PAGE

        def __init__(self) -> None:
            super().__init__()
            self.part = Part(self)
            contribute_to_component(self, self.part, actions={"print": "do"})

        @observes(READ)
        def read_text(self) -> str:
            """The text."""
            return "text"

    page = shown(Page())
    assert (names(surface), registrations(surface)) == (["read", "print"], 1)
    assert code_of(surface.invoke(PRINT_ID)) == "ok"
    delete(page)


def test_a_page_that_has_been_there_for_long_takes_a_contribution(surface: Surface) -> None:
    """Also one of which nothing but its presence was pushed before."""

    class Page(AgentComponentMixin, QWidget):
        agent_contract = PAGE

        @observes(READ)
        def read_text(self) -> str:
            """The text."""
            return "text"

    window = QWidget()
    page = Page(window)
    shown(window)
    for _ in range(2):
        page.hide()
        shown(page)
    assert (names(surface), registrations(surface)) == (["read"], 1)
    part = Part(page)
    part.show()
    contribute_to_component(page, part, actions={"print": "do"})
    turn()
    assert (names(surface), registrations(surface)) == (["read", "print"], 2)
    assert code_of(surface.invoke(PRINT_ID)) == "ok"
    delete(window)


def test_a_page_that_is_attached_anew_offers_what_it_then_has(surface: Surface) -> None:
    """By the next turn, since more may be contributed in this one."""
    window = QWidget()
    page = QWidget(window)
    shown(window)
    attach_agent_component(page, PAGE, observations={"read": lambda: "text"})
    for _ in range(2):
        page.hide()
        shown(page)
    assert (names(surface), registrations(surface)) == (["read"], 1)
    attach_agent_component(page, PAGE, observations={"read": lambda: "text"}, actions={"print": lambda: None})
    turn()
    assert (names(surface), registrations(surface)) == (["read", "print"], 2)
    delete(window)


@pytest.mark.parametrize("moment", ["in its init", "later"])
def test_a_part_that_c_plus_plus_made_stays_a_contributor(surface: Surface, moment: str) -> None:
    """As the widgets of a ``.ui`` file are; nobody in Python need hold them."""

    class Page(AgentComponentMixin, QDialog):
        agent_contract = PAGE

        def __init__(self) -> None:
            super().__init__()
            self.box = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok, self)
            self.pressed = list[str]()
            self.box.accepted.connect(self.press)
            if moment == "in its init":
                self.offer()

        def offer(self) -> None:
            """Offer the button, which is held by nobody afterwards."""
            button = self.box.button(QDialogButtonBox.StandardButton.Ok)
            contribute_to_component(self, button, actions={"print": "click"})

        def press(self) -> None:
            """Hear the button."""
            self.pressed.append("ok")

    page = Page()
    shown(page)
    if moment == "later":
        page.offer()
    gc.collect()
    turn()
    assert (names(surface), code_of(surface.invoke(PRINT_ID)), page.pressed) == (["print"], "ok", ["ok"])
    delete(page)
    turn()
    gone = weakref.ref(page)
    del page
    gc.collect()
    assert gone() is None


def test_a_wrong_contribution_is_refused_by_name(surface: Surface, qapp: QObject) -> None:
    """What the contract does not say, or somebody else does already."""
    page, part = QWidget(), Part()
    with pytest.raises(AgentSurfaceDefinitionError, match="attach_agent_component comes first"):
        contribute_to_component(page, part)
    attach_agent_component(page, PAGE, actions={"print": part.do})
    with pytest.raises(AgentSurfaceDefinitionError, match=r"'print' of test\.page is handled already"):
        contribute_to_component(page, part, actions={"print": "do"})
    with pytest.raises(AgentSurfaceDefinitionError, match="does not declare the observation 'print'"):
        contribute_to_component(page, part, observations={"print": "do"})
    whole = QWidget()
    attach_agent_component(whole, COUNTER, observations={"read": lambda: 0}, actions={"set": part.do, "reset": part.do})
    with pytest.raises(AgentSurfaceDefinitionError, match="not declared partial"):
        contribute_to_component(whole, part)
    delete(page, whole)


def test_attaching_a_partial_contract_without_a_provider_raises_at_once(qapp: QObject) -> None:
    """Although it would only be registered at the end of the turn."""
    page = QWidget()
    with pytest.raises(NoSurfaceProviderError):
        attach_agent_component(page, PAGE)
    delete(page)


def test_a_scope_that_changes_its_parts_is_no_mistake(qapp: QApplication, qtbot: QtBot) -> None:
    """In development a changed structure is worth a warning, unless the contract says that it will change.

    A test fails by itself when something warns that was not expected to.
    """
    surface = make_surface(qtbot, "development")
    withdraw = provide_surface(qapp, surface.registry)
    page = shown(QWidget())
    part = Part(page)
    attach_agent_component(page, PAGE, actions={"send": part.do})
    turn()
    contribute_to_component(page, part, actions={"print": "do"})
    turn()
    assert (names(surface), registrations(surface)) == (["print", "send"], 2)
    withdraw()
    delete(page)
    surface.registry.close()
