from __future__ import annotations

import sys

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from agent_surface import create_agent_surface_registry
from agent_surface.testing import contract_authority
from qt_binding import NoSurfaceProviderError, NotAQtRegistryError, provide_surface, run
from tests.qt.mixin.parts import COUNTER, READ_ID, Counter, MakeSurface, delete, shown, turn


@pytest.mark.requirement("QT-PROVIDER-001")
def test_the_nearest_provider_wins_and_several_surfaces_live_side_by_side(
    qapp: QApplication, make_surface: MakeSurface
) -> None:
    """Going up the parents, then the application's."""
    of_application, of_window, of_panel = make_surface(), make_surface(), make_surface()
    window, other = QWidget(), QWidget()
    panel = QWidget(window)
    withdraw = provide_surface(qapp, of_application.registry)
    provide_surface(window, of_window.registry)
    provide_surface(panel, of_panel.registry)
    in_panel, in_window, elsewhere = Counter(panel), Counter(window), Counter(other)
    in_panel.value, in_window.value, elsewhere.value = 1, 2, 3
    shown(window)
    shown(other)
    for surface, value in ((of_panel, 1), (of_window, 2), (of_application, 3)):
        result = surface.invoke(READ_ID)
        assert (result.status, len(surface.components())) == ("ok", 1)
        assert result.to_json()["output"] == value
    withdraw()
    withdraw()
    turn()
    assert (of_application.instances(), elsewhere.agent_handle.status) == ([], "unregistered")
    delete(window, other)


@pytest.mark.requirement("QT-PROVIDER-001")
def test_a_provider_withdrawn_hands_its_components_to_the_next(qapp: QApplication, make_surface: MakeSurface) -> None:
    """The undo of ``provide_surface``."""
    outer, inner = make_surface(), make_surface()
    window = QWidget()
    withdraw_outer = provide_surface(qapp, outer.registry)
    withdraw_inner = provide_surface(window, inner.registry)
    counter = Counter(window)
    shown(window)
    assert (outer.instances(), inner.instances()) == ([], ["default"])
    withdraw_inner()
    turn()
    assert (outer.instances(), inner.instances()) == (["default"], [])
    withdraw_outer()
    delete(counter, window)


@pytest.mark.requirement("QT-PROVIDER-001")
def test_a_component_that_provides_a_surface_is_on_it_and_its_siblings_are_not(make_surface: MakeSurface) -> None:
    """The nearest provider may be the component itself."""
    outer, inner = make_surface(), make_surface()
    window = QWidget()
    provide_surface(window, outer.registry)
    own, sibling = Counter(window), Counter(window)
    sibling.agent_instance_id = "sibling"  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    withdraw = provide_surface(own, inner.registry)
    shown(window)
    assert (outer.instances(), inner.instances()) == (["sibling"], ["default"])
    withdraw()
    turn()
    assert (sorted(outer.instances()), inner.instances()) == (["default", "sibling"], [])
    delete(window)


@pytest.mark.requirement("QT-PROVIDER-001")
@pytest.mark.requirement("QT-LIFE-006")
def test_a_hidden_component_that_is_moved_changes_its_surface_without_being_shown(make_surface: MakeSurface) -> None:
    """What is visible hears that it is hidden first; of this one nothing but its new parent tells."""
    here, there = make_surface(), make_surface()
    one, two = QWidget(), QWidget()
    provide_surface(one, here.registry)
    provide_surface(two, there.registry)
    counter = Counter(QWidget(one))
    shown(one)
    shown(two)
    counter.hide()
    turn()
    assert (here.instances(), there.instances()) == (["default"], [])
    counter.setParent(two)
    turn()
    assert (here.instances(), there.instances()) == ([], ["default"])
    delete(one, two)


@pytest.mark.requirement("QT-PROVIDER-001")
def test_a_component_shown_without_a_provider_reports_once_and_registers_when_one_comes(
    make_surface: MakeSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot raise from inside a Qt event."""
    reported = list[BaseException]()

    def report(_kind: type[BaseException], error: BaseException, _trace: object) -> None:
        reported.append(error)

    monkeypatch.setattr(sys, "excepthook", report)
    window = QWidget()
    counter = Counter(window)
    counter.setObjectName("fleet")
    for _ in range(3):
        shown(window)
        window.hide()
        turn()
    assert len(reported) == 1
    assert isinstance(reported[0], NoSurfaceProviderError)
    for named in ("Counter", "fleet", "provide_surface"):
        assert named in str(reported[0])
    assert (counter.agent_handle.status, counter.agent_handle.error) == ("rejected", reported[0])
    surface = make_surface()
    withdraw = provide_surface(window, surface.registry)
    turn()
    assert (counter.agent_handle.status, surface.instances()) == ("active", ["default"])
    withdraw()
    delete(window)


@pytest.mark.requirement("QT-PROVIDER-001")
def test_a_registry_without_qt_ports_is_refused(qapp: QApplication) -> None:
    """Its time-outs and handlers would not run."""
    registry = create_agent_surface_registry(authority=contract_authority(COUNTER), environment="test")
    with pytest.raises(NotAQtRegistryError, match="provide_surface takes a registry made by create_qt_registry"):
        provide_surface(qapp, registry)
    with pytest.raises(NotAQtRegistryError, match="run takes a registry made by create_qt_registry"):
        run(QWidget, registry=registry)
    registry.close()


@pytest.mark.requirement("QT-PROVIDER-001")
def test_a_provider_ends_with_its_window(qapp: QApplication, make_surface: MakeSurface) -> None:
    """An address is soon another window's."""
    of_application, of_window = make_surface(), make_surface()
    withdraw = provide_surface(qapp, of_application.registry)
    for _ in range(20):
        window = QWidget()
        provide_surface(window, of_window.registry)
        delete(window)
        other = QWidget()
        Counter(other)
        shown(other)
        assert (of_application.instances(), of_window.instances()) == (["default"], [])
        delete(other)
        turn()
    withdraw()
