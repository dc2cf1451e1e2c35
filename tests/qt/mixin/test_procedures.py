"""A reference to a back-end procedure lives as its component does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest
from pydantic import BaseModel
from PySide6.QtWidgets import QTabWidget, QWidget
from pytestqt.qtbot import QtBot
from typing_extensions import override

from agent_surface import (
    AgentSurfaceDefinitionError,
    ServiceExecutor,
    define_agent_procedure_contract,
    from_model,
    from_type,
)
from agent_surface.testing import contract_authority
from qt_binding import create_qt_registry, performs, provide_surface, use_agent_procedure
from tests.qt.mixin.parts import COUNTER, Counter, Surface, code_of, delete, reason_of, shown, turn


class Stamp(BaseModel):
    """Input of the procedure; who asks is bound by the screen."""

    who: str
    times: int


STAMP = define_agent_procedure_contract(
    id="domain:test.stamp", description="Stamps", input=from_model(Stamp), output=from_type(str), effect="server-query"
)
STAMP_ID = "domain:test.stamp"

MakeStamping = Callable[[], Surface]


class Desk(Counter):
    """A component whose name goes along with every call."""

    who = "nobody"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        use_agent_procedure(
            self,
            STAMP,
            bind={"who": lambda: self.who},
            when=lambda: self.value > 0,
            reason="Nothing is counted",
            follows=self.changed,
        )

    def agent_instance_id(self) -> str:
        """The desk's name."""
        return self.who


@pytest.fixture
def make_stamping(qtbot: QtBot) -> Iterator[MakeStamping]:
    """Make surfaces with a back end each; a test leaves no component in them."""
    made = list[Surface]()

    def make() -> Surface:
        surface = Surface(create_qt_registry(authority=contract_authority(COUNTER, STAMP), environment="test"), qtbot)
        name = f"office {len(made)}"

        def stamp(*, who: str, times: int) -> str:
            return f"{name}: {who} {times}"

        surface.registry.set_procedure_executor(ServiceExecutor({"test.stamp": stamp}))
        made.append(surface)
        return surface

    yield make
    for surface in made:
        assert surface.registry.statistics().registrations == 0
        surface.registry.close()


def unavailable(surface: Surface) -> list[str | None]:
    """Why the procedure cannot be used, for each component that refers to it."""
    return [item.unavailable_reason for item in surface.registry.snapshot().procedures]


@pytest.mark.requirement("QT-LIFE-002", "QT-AVAIL-001")
def test_a_reference_is_as_available_as_its_component_and_its_predicate(make_stamping: MakeStamping) -> None:
    """Behind another tab it says which; a followed signal pushes it; the registration stays the same."""
    surface = make_stamping()
    tabs = QTabWidget()
    provide_surface(tabs, surface.registry)
    desk = Desk()
    tabs.addTab(desk, "Desk")
    tabs.addTab(QWidget(), "Other")
    shown(tabs)
    registration_id = desk.agent_handle.registration_id
    assert unavailable(surface) == ["Nothing is counted"]
    announced = surface.announcements
    desk.value = 1
    desk.changed.emit()
    turn()
    assert (surface.announcements, unavailable(surface)) == (announced + 1, [None])
    tabs.setCurrentIndex(1)
    turn()
    assert (surface.announcements, unavailable(surface)) == (
        announced + 2,
        ["It is on the tab “Desk”, which is not selected."],
    )
    result = surface.invoke(STAMP_ID, {"times": 1})
    assert (code_of(result), reason_of(result)) == ("CAPABILITY_NOT_AVAILABLE", unavailable(surface)[0])
    assert desk.agent_handle.registration_id == registration_id
    delete(tabs)
    turn()
    late = surface.invoke(STAMP_ID, {"times": 1}, registration_id=registration_id)
    assert code_of(late) == "COMPONENT_UNMOUNTED"


def test_each_window_calls_with_the_values_of_its_own_screen(make_stamping: MakeStamping) -> None:
    """Two windows of one surface are told apart by instance; those of two surfaces never meet."""
    surface, other = make_stamping(), make_stamping()
    ada, ben, eve = Desk(), Desk(), Desk()
    for desk, who, home in ((ada, "ada", surface), (ben, "ben", surface), (eve, "eve", other)):
        desk.who, desk.value = who, 1
        provide_surface(desk, home.registry)
        desk.show()
    turn()
    assert code_of(surface.invoke(STAMP_ID, {"times": 1})) == "AMBIGUOUS_INSTANCE"
    outputs = [surface.invoke(STAMP_ID, {"times": 2}, instance_id=who).to_json()["output"] for who in ("ada", "ben")]
    assert [*outputs, other.invoke(STAMP_ID, {"times": 3}).to_json()["output"]] == [
        "office 0: ada 2",
        "office 0: ben 2",
        "office 1: eve 3",
    ]
    delete(ben)
    turn()
    assert surface.invoke(STAMP_ID, {"times": 4}).to_json()["output"] == "office 0: ada 4"
    delete(ada, eve)
    turn()


@pytest.mark.requirement("QT-LIFE-003")
def test_a_call_in_flight_ends_with_its_component(make_stamping: MakeStamping) -> None:
    """The back end is told to stop, and the agent what happened."""
    surface = make_stamping()
    told = list[str]()

    async def stamp(*, who: str, times: int) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append(who)
            raise
        return ""

    surface.registry.set_procedure_executor(ServiceExecutor({"test.stamp": stamp}))
    desk = Desk()
    desk.value = 1
    provide_surface(desk, surface.registry)
    shown(desk)
    call = surface.start(STAMP_ID, {"times": 1})
    turn()
    delete(desk)
    assert code_of(surface.wait(call)) == "COMPONENT_UNMOUNTED"
    turn()
    assert told == ["nobody"]


class Unconditional(Counter):
    """A counter that can be reset at any time, so that only its presence is ever pushed."""

    @performs("reset")
    @override
    def reset(self) -> None: ...


@pytest.mark.requirement("QT-LIFE-006")
@pytest.mark.parametrize("kind", [Counter, Unconditional])
def test_a_reference_that_comes_later_registers_its_component_again(
    make_stamping: MakeStamping, kind: type[Counter]
) -> None:
    """A registration never changes what it offers; one that cannot be made changes nothing."""
    surface = make_stamping()
    window = QWidget()
    counter = kind(window)
    provide_surface(window, surface.registry)
    shown(window)
    for _ in range(2):  # by the second time all of it is known
        counter.hide()
        shown(counter)
    before = counter.agent_handle.registration_id
    with pytest.raises(AgentSurfaceDefinitionError, match="has no property 'velue' to follow"):
        use_agent_procedure(counter, STAMP, bind={"who": lambda: "later"}, follows="property:velue")
    turn()
    assert (counter.agent_handle.registration_id, unavailable(surface)) == (before, [])
    handle = use_agent_procedure(counter, STAMP, bind={"who": lambda: "later"})
    turn()
    assert handle is counter.agent_handle
    assert handle.registration_id != before
    assert surface.invoke(STAMP_ID, {"times": 1}).to_json()["output"] == "office 0: later 1"
    assert counter.agent_handle.registration_id == handle.registration_id
    delete(window)
    turn()
