from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from typing_extensions import override

from agent_surface import DiscoveryOutcome, PolicyContext
from agent_surface.testing import contract_authority
from qt_binding import AgentComponentMixin, create_qt_registry, performs, provide_surface
from tests.qt.mixin.parts import COUNTER, PING, PING_ID, PINGER, Surface, code_of, delete, reason_of, shown, turn


class Noisy(AgentComponentMixin, QWidget):
    """Everything an author can write raises, and the widget has overrides of its own."""

    agent_contract = PINGER
    fails = True
    moved = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.seen = list[QEvent.Type]()

    @performs(PING, when="is_ready", reason="why", follows=lambda self: self.what_to_follow())
    def ping(self) -> None:
        """Do it."""
        self._fail()

    def is_ready(self) -> bool:
        """Raises."""
        self._fail()
        return True

    def what_to_follow(self) -> list[object]:
        """Raises."""
        self._fail()
        return [self.moved]

    def agent_enabled(self) -> bool:
        """Raises."""
        self._fail()
        return True

    def _fail(self) -> None:
        if self.fails:
            raise ZeroDivisionError("an author's mistake")

    @override
    def changeEvent(self, event: QEvent) -> None:
        self.seen.append(event.type())
        super().changeEvent(event)


@pytest.mark.requirement("QT-LIFE-009")
def test_what_an_author_wrote_may_raise_and_qt_never_hears_of_it(
    surface: Surface, expected_logs: list[logging.LogRecord]
) -> None:
    """Qt's calls return normally, the widget's own overrides go on, and the log says what happened."""
    noisy = Noisy()
    shown(noisy)
    assert surface.reason("ping") == "when-error"
    for enabled in (False, True, False, True):
        noisy.setEnabled(enabled)
        turn()
    assert noisy.seen.count(QEvent.Type.EnabledChange) == 4
    assert code_of(surface.invoke(PING_ID)) == "CAPABILITY_NOT_AVAILABLE"
    assert {record.exc_info[0] for record in expected_logs if record.exc_info} == {ZeroDivisionError}
    noisy.fails = False
    assert code_of(surface.invoke(PING_ID)) == "ok"
    delete(noisy)


@pytest.mark.requirement("QT-LIFE-009")
def test_a_component_that_cannot_say_who_it_is_does_not_hold_up_the_others(
    surface: Surface, expected_logs: list[logging.LogRecord]
) -> None:
    """They are pushed in one batch and still each for itself."""

    class Nameless(Noisy):
        fails = False

        def agent_instance_id(self) -> str:
            """Raises."""
            raise LookupError("nothing is loaded yet")

    class Fine(Noisy):
        fails = False

    window = QWidget()
    layout = QVBoxLayout(window)
    for widget in (Nameless(), Fine()):
        layout.addWidget(widget)
    shown(window)
    assert surface.instances() == ["default"]
    assert [record.exc_info[0] for record in expected_logs if record.exc_info] == [LookupError]
    delete(window)


class Refusing:
    """A policy that raises where it can."""

    @property
    def name(self) -> str:
        """The policy's name."""
        return "refusing"

    def on_discovery(self, ctx: PolicyContext) -> DiscoveryOutcome:
        """Raises."""
        raise ZeroDivisionError("a policy's mistake")


@pytest.fixture
def guarded(qapp: QApplication) -> Iterator[object]:
    """An application whose registry has a policy that raises."""
    registry = create_qt_registry(
        authority=contract_authority(COUNTER, PINGER), environment="test", policies=[Refusing()]
    )
    withdraw = provide_surface(qapp, registry)
    yield registry
    withdraw()
    registry.close()


@pytest.mark.requirement("QT-LIFE-009")
def test_a_policy_that_raises_reaches_no_qt_event(guarded: object, expected_logs: list[logging.LogRecord]) -> None:
    """It hides, and the widget lives as ever."""
    noisy = Noisy()
    noisy.fails = False
    shown(noisy)
    noisy.setEnabled(False)
    turn()
    assert noisy.seen.count(QEvent.Type.EnabledChange) == 1
    assert guarded
    assert noisy.agent_handle.status == "active"
    expected_logs.clear()
    delete(noisy)


@pytest.mark.requirement("QT-LIFE-009")
def test_a_reason_that_raises_is_no_reason_to_call(surface: Surface, expected_logs: list[logging.LogRecord]) -> None:
    """The capability is unavailable, and the agent is not told why the author failed."""

    class Reasonless(AgentComponentMixin, QWidget):
        agent_contract = PINGER

        @performs(PING, when=lambda _: False, reason=lambda self: self.nothing)
        def ping(self) -> None: ...

    widget = Reasonless()
    shown(widget)
    assert reason_of(surface.invoke(PING_ID)) == "when-error"
    assert {record.exc_info[0] for record in expected_logs if record.exc_info} == {AttributeError}
    delete(widget)
