from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from agent_surface import (
    AgentSurfaceDefinitionError,
    ServiceExecutor,
    define_agent_procedure_contract,
    from_model,
    from_type,
)
from agent_surface.testing import contract_authority
from qt_binding import (
    NoSurfaceProviderError,
    attach_agent_component,
    create_qt_registry,
    observing,
    performing,
    provide_surface,
    use_agent_procedure,
)
from qt_binding._runtime import runtime_of_application
from qt_binding.mixin._watch import ComponentWatch
from tests.qt.mixin.parts import (
    COUNTER,
    PING_ID,
    PINGER,
    READ_ID,
    RESET_ID,
    SET_ID,
    Counter,
    SetValue,
    Surface,
    code_of,
    delete,
    reason_of,
    shown,
    turn,
)


class Store:
    """The state of a counter that is no widget."""

    def __init__(self) -> None:
        self.value = 0

    def read(self) -> int:
        """The value."""
        return self.value

    def set(self, request: SetValue) -> None:
        """Another value."""
        self.value = request.value

    def reset(self) -> None:
        """Back to zero."""
        self.value = 0


def attach_counter(widget: QWidget, store: Store, *, register_on: str = "attach") -> object:
    """Attach the counter to a plain widget."""
    return attach_agent_component(
        widget,
        COUNTER,
        observations={"read": store.read},
        actions={
            "set": store.set,
            "reset": performing(store.reset, when=lambda: store.value != 0, reason=lambda: "It is zero already"),
        },
        register_on="show" if register_on == "show" else "attach",
    )


@pytest.mark.requirement("QT-LIFE-008")
def test_a_plain_widget_has_the_same_life_as_a_component_by_class(surface: Surface) -> None:
    """Attached, hidden, shown, called, deleted."""
    widget, store = QLineEdit(), Store()
    handle = attach_counter(widget, store)
    assert getattr(widget, "agent_handle") is handle  # noqa: B009 - not part of QLineEdit for type checkers
    registration_id = surface.components()[0].registration_id
    assert surface.reason("read") == "Its window is not open."
    shown(widget)
    assert surface.reason("reset") == "It is zero already"
    assert code_of(surface.invoke(SET_ID, {"value": 3})) == "ok"
    assert surface.reason("reset") is None
    assert (store.value, code_of(surface.invoke(RESET_ID)), store.value) == (3, "ok", 0)
    widget.setEnabled(False)
    turn()
    assert reason_of(surface.invoke(READ_ID)) == "It is disabled."
    delete(widget)
    assert code_of(surface.invoke(READ_ID, registration_id=registration_id)) == "COMPONENT_UNMOUNTED"


@pytest.mark.requirement("QT-LIFE-001")
@pytest.mark.requirement("QT-LIFE-008")
def test_attaching_may_wait_for_the_first_show(surface: Surface) -> None:
    """As the mixin does."""
    widget = QWidget()
    attach_counter(widget, Store(), register_on="show")
    turn()
    assert surface.instances() == []
    shown(widget)
    assert surface.instances() == ["default"]
    delete(widget)


@pytest.mark.requirement("QT-LIFE-008")
def test_attaching_again_replaces_the_handlers_and_keeps_the_registration(surface: Surface) -> None:
    """One component, one notice."""
    widget, first, second = QWidget(), Store(), Store()
    shown(widget)
    handle = attach_counter(widget, first)
    registration_id = surface.components()[0].registration_id
    announced = surface.announcements
    assert attach_counter(widget, second) is handle
    turn()
    assert code_of(surface.invoke(SET_ID, {"value": 3})) == "ok"
    assert (first.value, second.value) == (0, 3)
    assert surface.components()[0].registration_id == registration_id
    assert surface.announcements <= announced + 1
    delete(widget)


@pytest.mark.requirement("QT-LIFE-008")
def test_a_wrong_attachment_is_refused_by_name(surface: Surface) -> None:
    """An author's mistake, told where it is made."""
    widget = QPushButton()
    with pytest.raises(AgentSurfaceDefinitionError, match="declares the action 'ping', and nothing handles it"):
        attach_agent_component(widget, PINGER)
    with pytest.raises(AgentSurfaceDefinitionError, match=r"'pong', which test\.pinger does not declare"):
        attach_agent_component(widget, PINGER, actions={"ping": lambda: None, "pong": lambda: None})
    with pytest.raises(AgentSurfaceDefinitionError, match="no property 'nope'"):
        attach_agent_component(widget, PINGER, actions={"ping": performing(lambda: None, follows="property:nope")})
    attach_agent_component(widget, PINGER, actions={"ping": "click"})
    with pytest.raises(AgentSurfaceDefinitionError, match=r"is the component test\.pinger already"):
        attach_agent_component(
            widget, COUNTER, observations={"read": lambda: 0}, actions={"set": print, "reset": print}
        )
    with pytest.raises(AgentSurfaceDefinitionError, match="is a component by its class"):
        attach_agent_component(Counter(), PINGER, actions={"ping": print})
    assert surface.registry.statistics().registrations == 1
    delete(widget)


@pytest.mark.requirement("QT-LIFE-008")
def test_a_method_of_the_widget_can_be_named(surface: Surface) -> None:
    """For what a third-party widget can do by itself."""
    button, clicks = QPushButton(), list[bool]()
    button.clicked.connect(lambda: clicks.append(True))
    attach_agent_component(button, PINGER, actions={"ping": performing("click", when="isEnabled")})
    shown(button)
    assert code_of(surface.invoke(PING_ID)) == "ok"
    assert len(clicks) == 1
    delete(button)


@pytest.mark.requirement("QT-LIFE-005")
@pytest.mark.requirement("QT-LIFE-008")
def test_handlers_that_refer_to_the_window_keep_nothing_alive(surface: Surface) -> None:
    """They are kept by the widget they are attached to, so the cycle can be collected."""

    class Window(QWidget):
        def __init__(self) -> None:
            super().__init__()
            self.box = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok, self)
            self.line = QLineEdit(self)
            attach_agent_component(
                self.line,
                COUNTER,
                observations={"read": observing(self.width, when=self.isVisible)},
                actions={"set": self.set_it, "reset": lambda: self.set_it(None)},
            )
            # Made by C++, and nobody in Python holds it.
            attach_agent_component(
                self.box.button(QDialogButtonBox.StandardButton.Ok), PINGER, actions={"ping": self.close}
            )

        def set_it(self, _: object) -> None: ...

    window = Window()
    shown(window)
    gc.collect()
    assert sorted(component.type for component in surface.components()) == ["test.counter", "test.pinger"]
    assert surface.invoke(READ_ID).status == "ok"
    gone = weakref.ref(window)
    del window
    gc.collect()
    assert gone() is None
    turn()
    assert surface.components() == ()


@pytest.mark.requirement("QT-LIFE-008")
def test_a_widget_made_and_held_by_c_plus_plus_stays_a_component(surface: Surface) -> None:
    """Its Python half would be collected if nobody held it."""
    dialog = QDialog()
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok, dialog)
    clicks = list[bool]()
    box.accepted.connect(lambda: clicks.append(True))
    button = box.button(QDialogButtonBox.StandardButton.Ok)
    assert not shiboken6.createdByPython(button)
    attach_agent_component(button, PINGER, actions={"ping": "click"})
    del button
    shown(dialog)
    gc.collect()
    assert code_of(surface.invoke(PING_ID)) == "ok"
    assert clicks == [True]
    delete(dialog)
    turn()
    assert (surface.components(), surface.watched) == ((), 0)


@pytest.mark.requirement("QT-PROVIDER-001")
def test_attaching_without_a_provider_raises_naming_widget_and_remedy(qapp: QObject) -> None:
    """The caller is there to hear it."""
    del qapp
    widget = QLineEdit()
    widget.setObjectName("search")
    with pytest.raises(NoSurfaceProviderError) as refused:
        attach_counter(widget, Store())
    for named in ("QLineEdit", "search", "test.counter", "provide_surface"):
        assert named in str(refused.value)
    delete(widget)


class Order(SetValue):
    """Input of a procedure, one field of which the screen supplies."""

    customer: str


BUY = define_agent_procedure_contract(
    id="domain:test.buy", description="Buys", input=from_model(Order), output=from_type(int), effect="server-query"
)


@pytest.fixture
def shop_surface(qtbot: QtBot) -> Iterator[Surface]:
    """A registry whose contract has the procedure."""
    surface = Surface(create_qt_registry(authority=contract_authority(COUNTER, BUY), environment="test"), qtbot)
    yield surface
    surface.registry.close()


@pytest.mark.requirement("QT-LIFE-008")
def test_a_procedure_lives_with_its_component_and_reads_the_screen_when_called(shop_surface: Surface) -> None:
    """By class from inside ``__init__`` as well as attached later."""
    surface = shop_surface
    bought = list[tuple[str, int]]()

    def buy(*, customer: str, value: int) -> int:
        bought.append((customer, value))
        return value

    surface.registry.set_procedure_executor(ServiceExecutor({"test.buy": buy}))
    window = QWidget()
    provide_surface(window, surface.registry)

    class Shop(Counter):
        customer = "nobody"

        def __init__(self, parent: QWidget) -> None:
            super().__init__(parent)
            use_agent_procedure(
                self,
                BUY,
                bind={"customer": lambda: self.customer},
                when=lambda: self.value > 0,
                reason="Nothing is chosen",
            )

    shop = Shop(window)
    shown(window)
    registration_id = shop.agent_handle.registration_id
    assert reason_of(surface.invoke("domain:test.buy", {"value": 1})) == "Nothing is chosen"
    shop.value, shop.customer = 5, "Ada"
    assert code_of(surface.invoke("domain:test.buy", {"value": 1})) == "ok"
    assert bought == [("Ada", 1)]
    assert shop.agent_handle.registration_id == registration_id
    with pytest.raises(AgentSurfaceDefinitionError, match="already"):
        use_agent_procedure(shop, BUY)
    with pytest.raises(AgentSurfaceDefinitionError, match="attach_agent_component comes first"):
        use_agent_procedure(window, BUY)
    delete(window)
    turn()
    assert len(runtime_of_application("test").part(ComponentWatch)) == 0
