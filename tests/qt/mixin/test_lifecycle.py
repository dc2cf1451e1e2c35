from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref
from collections.abc import Callable
from typing import Literal

import pytest
import shiboken6
from PySide6.QtCore import SIGNAL, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QDialog, QStackedWidget, QTabWidget, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from typing_extensions import override

from agent_surface.testing import contract_authority
from qt_binding import AgentComponentMixin, create_qt_registry, performs, provide_surface
from qt_binding._runtime import runtime_of_application
from tests.qt.mixin.parts import (
    COUNTER,
    PING_ID,
    PINGER,
    READ_ID,
    SET_ID,
    Counter,
    CounterHandlers,
    MakeSurface,
    SetValue,
    Surface,
    code_of,
    delete,
    shown,
    turn,
)


@pytest.mark.requirement("QT-LIFE-001")
def test_a_component_registers_once_on_its_first_show(surface: Surface) -> None:
    """Before that it is pending, and showing it again never registers it again."""
    counter = Counter()
    turn()
    assert (counter.agent_handle.status, counter.agent_handle.registration_id) == ("pending", None)
    assert surface.components() == ()
    shown(counter)
    first = counter.agent_handle.registration_id
    assert (counter.agent_handle.status, len(surface.components())) == ("active", 1)
    for _ in range(3):
        counter.hide()
        turn()
        shown(counter)
    assert counter.agent_handle.registration_id == first
    assert surface.announcements == 1 + 6


@pytest.mark.requirement("QT-LIFE-001")
def test_the_first_show_of_its_window_is_not_that_of_a_component_on_another_tab(surface: Surface) -> None:
    """The window is watched as well, for being moved; what happens to it happens to it alone."""
    tabs, counter = QTabWidget(), Counter()
    tabs.addTab(QWidget(), "First")
    tabs.addTab(counter, "Second")
    turn()
    shown(tabs)
    assert (counter.agent_handle.status, surface.instances()) == ("pending", [])
    tabs.setCurrentIndex(1)
    turn()
    assert surface.instances() == ["default"]
    delete(tabs)


@pytest.mark.requirement("QT-LIFE-001")
def test_a_show_inside_init_counts_once_the_object_is_complete(surface: Surface) -> None:
    """Nothing is asked of an object whose attributes are not there yet."""

    class Early(CounterHandlers, QWidget):
        def __init__(self) -> None:
            super().__init__()
            self.setWindowTitle("events arrive before __init__ is done")
            self.show()
            self.complete = True

        def agent_instance_id(self) -> str:
            return "complete" if self.complete else "half"

    early = Early()
    assert surface.instances() == []
    turn()
    assert surface.instances() == ["complete"]
    delete(early)


@pytest.mark.requirement("QT-LIFE-001")
def test_a_widget_that_registers_on_attach_needs_no_show(surface: Surface) -> None:
    """And is unavailable until it is shown."""

    class Eager(Counter):
        agent_register_on = "attach"

    eager = Eager()
    turn()
    assert eager.agent_handle.status == "active"
    assert surface.reason("read") == "Its window is not open."
    delete(eager)


@pytest.mark.requirement("QT-LIFE-002")
def test_hiding_makes_unavailable_and_showing_brings_back_under_the_same_id(surface: Surface) -> None:
    """A registration is one lifetime, not one appearance."""
    counter = Counter()
    shown(counter)
    registration_id = counter.agent_handle.registration_id
    counter.hide()
    turn()
    assert (surface.reason("read"), counter.agent_handle.status) == ("Its window is not open.", "active")
    assert code_of(surface.invoke(READ_ID)) == "CAPABILITY_NOT_AVAILABLE"
    shown(counter)
    assert surface.reason("read") is None
    assert code_of(surface.invoke(READ_ID, registration_id=registration_id)) == "ok"


def _delete_later(counter: Counter, _: QWidget) -> None:
    counter.deleteLater()


def _parent_deleted_later(_: Counter, parent: QWidget) -> None:
    parent.deleteLater()


def _shiboken_delete(counter: Counter, _: QWidget) -> None:
    shiboken6.delete(counter)


def _shiboken_delete_of_parent(_: Counter, parent: QWidget) -> None:
    shiboken6.delete(parent)


def _delete_on_close(counter: Counter, _: QWidget) -> None:
    counter.setParent(None)
    counter.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    counter.show()
    counter.close()


def _parent_delete_on_close(_: Counter, parent: QWidget) -> None:
    parent.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    parent.close()


def _after_every_destroyed_connection_was_cut(counter: Counter, _: QWidget) -> None:
    counter.destroyed.disconnect()
    shiboken6.delete(counter)


def _with_signals_blocked(counter: Counter, _: QWidget) -> None:
    counter.blockSignals(True)
    shiboken6.delete(counter)


ROUTES: list[Callable[[Counter, QWidget], None]] = [
    _delete_later,
    _parent_deleted_later,
    _shiboken_delete,
    _shiboken_delete_of_parent,
    _delete_on_close,
    _parent_delete_on_close,
    _after_every_destroyed_connection_was_cut,
    _with_signals_blocked,
]


@pytest.mark.requirement("QT-LIFE-003")
@pytest.mark.parametrize("destroy", ROUTES)
def test_every_destruction_that_leaves_python_references_unregisters(
    surface: Surface, destroy: Callable[[Counter, QWidget], None]
) -> None:
    """By the next turn; a late call is told that the component went."""
    parent = QWidget()
    counter = Counter(parent)
    shown(parent)
    registration_id = counter.agent_handle.registration_id
    destroy(counter, parent)
    turn()
    assert not shiboken6.isValid(counter)
    assert code_of(surface.invoke(READ_ID, registration_id=registration_id)) == "COMPONENT_UNMOUNTED"
    assert (surface.components(), counter.agent_handle.status) == ((), "unregistered")
    delete(parent)


@pytest.mark.requirement("QT-LIFE-003")
def test_dropping_the_last_reference_unregisters(surface: Surface) -> None:
    """Nothing of the binding keeps a component alive."""
    counter = Counter()
    shown(counter)
    gone = weakref.ref(counter)
    del counter
    assert gone() is None
    turn()
    assert surface.components() == ()


@pytest.mark.requirement("QT-LIFE-003")
def test_a_component_in_a_cycle_is_collected_and_unregistered(surface: Surface) -> None:
    """Components commonly refer to themselves through what they hold."""
    counter = Counter()
    vars(counter)["cycle"] = [counter]
    shown(counter)
    gone = weakref.ref(counter)
    del counter
    gc.collect()
    assert gone() is None
    turn()
    assert surface.components() == ()


@pytest.mark.requirement("QT-LIFE-003")
@pytest.mark.requirement("QT-THREAD-001")
def test_a_component_collected_on_a_worker_thread_is_unregistered_on_this_one(surface: Surface, qtbot: QtBot) -> None:
    """Python's collector runs on whichever thread happens to allocate."""
    counter = Counter()
    vars(counter)["cycle"] = [counter]
    shown(counter)
    counter.hide()
    turn()
    gone = weakref.ref(counter)
    del counter
    worker = threading.Thread(target=gc.collect)
    worker.start()
    qtbot.waitUntil(lambda: not worker.is_alive())
    turn()
    assert gone() is None
    assert surface.components() == ()


@pytest.mark.requirement("QT-LIFE-003")
@pytest.mark.parametrize("container", [QTabWidget, QStackedWidget])
def test_a_page_taken_out_of_its_container_is_unavailable_and_not_gone(
    surface: Surface, container: type[QTabWidget | QStackedWidget]
) -> None:
    """Qt keeps the page as a hidden child."""
    pages, counter = container(), Counter()
    if isinstance(pages, QTabWidget):
        pages.addTab(counter, "Counter")
        shown(pages)
        pages.removeTab(0)
    else:
        pages.addWidget(counter)
        shown(pages)
        pages.removeWidget(counter)
    turn()
    assert counter.agent_handle.status == "active"
    assert surface.reason("read") == "It is not shown."
    delete(pages)
    turn()
    assert surface.components() == ()


@pytest.mark.requirement("QT-LIFE-003")
def test_a_call_in_flight_settles_as_unmounted_when_its_component_goes(surface: Surface) -> None:
    """Its handler is told by cancellation."""
    ended = list[str]()

    class Slow(AgentComponentMixin, QWidget):
        agent_contract = PINGER

        def __init__(self) -> None:
            super().__init__()
            self.begun = surface.loop.create_future()

        @performs("ping")
        async def ping(self) -> None:
            self.begun.set_result(None)
            try:
                await surface.loop.create_future()
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

    slow = Slow()
    shown(slow)
    call = surface.start(PING_ID)
    surface.wait(slow.begun)
    shiboken6.delete(slow)
    assert code_of(surface.wait(call)) == "COMPONENT_UNMOUNTED"
    turn()
    assert ended == ["cancelled"]


@pytest.mark.requirement("QT-LIFE-004")
def test_a_component_deleted_between_the_call_and_its_handler_runs_no_handler(surface: Surface) -> None:
    """A handler starts a turn later than the call, and anything may happen in between."""
    ran = list[int]()

    class Watched(Counter):
        @override
        def set_value(self, request: SetValue) -> None:
            ran.append(request.value)

    counter = Watched()
    shown(counter)
    call = surface.start(SET_ID, {"value": 3})
    surface.loop.call_soon(lambda: shiboken6.delete(counter))
    assert (code_of(surface.wait(call)), ran) == ("COMPONENT_UNMOUNTED", [])
    assert code_of(surface.invoke(SET_ID, {"value": 4})) == "CAPABILITY_NOT_FOUND"


@pytest.mark.requirement("QT-LIFE-004")
def test_signals_of_what_was_followed_reach_nobody_after_the_component_went(surface: Surface) -> None:
    """A followed model outlives the view that followed it."""

    class Model(QObject):
        changed = Signal()

    model = Model()
    asked = list[int]()

    class Following(AgentComponentMixin, QWidget):
        agent_contract = PINGER

        @performs("ping", when="can_ping", follows=lambda _: [model.changed])
        def ping(self) -> None: ...

        def can_ping(self) -> bool:
            asked.append(1)
            return True

    following = Following()
    shown(following)
    delete(following)
    turn()
    assert model.receivers(SIGNAL("changed()")) == 0
    asked.clear()
    model.changed.emit()
    turn()
    assert asked == []


@pytest.mark.requirement("QT-LIFE-005")
def test_a_thousand_cycles_leave_nothing_behind(surface: Surface) -> None:
    """No registration, no connection, no wrapper, no timer and no task."""

    class Model(QObject):
        changed = Signal()

    model = Model()
    alive = weakref.WeakSet[QWidget]()

    class Following(CounterHandlers, QWidget):
        @override
        @performs("reset", follows=lambda self: [model.changed, self.windowTitleChanged])
        def reset(self) -> None: ...

    runtime = runtime_of_application("test")

    def census() -> tuple[int, ...]:
        gc.collect()
        return (
            surface.registry.statistics().registrations,
            surface.watched,
            len(alive),
            model.receivers(SIGNAL("changed()")),
            len(runtime.findChildren(QObject)),
            len(runtime.loop.deadlines),
            len(asyncio.all_tasks(surface.loop)),
            len(QApplication.topLevelWidgets()),
        )

    turn()
    before = census()
    for number in range(1_000):
        window = QWidget()
        following = Following(window)
        alive.add(following)
        window.show()
        if number % 10 == 0:
            turn(1)
        window.close()
        window.deleteLater()
        del window, following
        if number % 50 == 0:
            turn(1)
    turn()
    assert census() == before


@pytest.mark.requirement("QT-LIFE-006")
def test_a_new_instance_id_registers_again_with_a_new_registration_id(surface: Surface) -> None:
    """Another entity in the same widget is another component."""

    class Detail(Counter):
        entity = "a1"

        def agent_instance_id(self) -> str:
            return self.entity

    detail = Detail()
    shown(detail)
    first = detail.agent_handle.registration_id
    detail.entity = "b2"
    detail.setEnabled(False)  # whatever makes it recompute
    detail.setEnabled(True)
    turn()
    assert surface.instances() == ["b2"]
    assert detail.agent_handle.registration_id != first
    assert code_of(surface.invoke(READ_ID, registration_id=first)) == "COMPONENT_UNMOUNTED"


@pytest.mark.requirement("QT-LIFE-006")
def test_a_move_to_another_window_of_the_same_surface_keeps_the_registration(surface: Surface) -> None:
    """The surface is the same, and so is the component."""
    first_window, second_window = QWidget(), QWidget()
    layout = QVBoxLayout(second_window)
    counter = Counter(first_window)
    shown(first_window)
    registration_id = counter.agent_handle.registration_id
    shown(second_window)
    layout.addWidget(counter)
    counter.show()
    turn()
    assert counter.agent_handle.registration_id == registration_id
    assert surface.reason("read") is None


@pytest.mark.requirement("QT-LIFE-006")
@pytest.mark.requirement("QT-PROVIDER-001")
def test_a_move_under_another_provider_registers_there(make_surface: MakeSurface) -> None:
    """Two main windows are two surfaces."""
    first, second = make_surface(), make_surface()
    one, two = QWidget(), QWidget()
    provide_surface(one, first.registry)
    provide_surface(two, second.registry)
    counter = Counter(one)
    shown(one)
    shown(two)
    assert (first.instances(), second.instances()) == (["default"], [])
    before = counter.agent_handle.registration_id
    counter.setParent(two)
    counter.show()
    turn()
    assert (first.instances(), second.instances()) == ([], ["default"])
    assert counter.agent_handle.registration_id != before
    counter.setParent(None)
    turn()
    assert (second.instances(), counter.agent_handle.status) == ([], "unregistered")
    counter.setParent(one)
    counter.show()
    turn()
    assert first.instances() == ["default"]
    delete(one, two)


@pytest.mark.requirement("QT-LIFE-010")
def test_a_duplicate_is_rejected_with_the_reason_and_registers_when_the_holder_goes(surface: Surface) -> None:
    """A page is often replaced by its successor before the old one is really gone."""
    holder, successor = Counter(), Counter()
    shown(holder)
    shown(successor)
    assert successor.agent_handle.status == "rejected"
    assert "test.counter" in str(successor.agent_handle.error)
    for _ in range(3):
        successor.hide()
        shown(successor)
    assert successor.agent_handle.status == "rejected"
    delete(holder)
    turn()
    assert (successor.agent_handle.status, successor.agent_handle.error) == ("active", None)
    assert surface.instances() == ["default"]


@pytest.mark.requirement("QT-LIFE-010")
def test_a_page_replaced_and_a_dialog_in_the_same_slot_still_end_with_the_new_page(surface: Surface) -> None:
    """While the dialog's loop runs, the old page is scheduled for deletion and not deleted yet."""
    stack = QStackedWidget()
    old = Counter()
    stack.addWidget(old)
    shown(stack)
    new = Counter()

    def swap() -> None:
        stack.removeWidget(old)
        old.deleteLater()
        stack.addWidget(new)
        stack.setCurrentWidget(new)
        dialog = QDialog()
        QTimer.singleShot(0, dialog, lambda: QTimer.singleShot(0, dialog.accept))
        dialog.exec()

    QTimer.singleShot(0, stack, swap)
    turn(4)
    assert (new.agent_handle.status, len(surface.components())) == ("active", 1)
    delete(stack)


def test_a_changed_structure_registers_again(surface: Surface) -> None:
    """A registration id must never stand for something it cannot do."""
    guards = list[object]()

    class Guarded(Counter):
        def agent_internal(self) -> dict[str, object]:
            return {"tenant": len(guards)}

    guarded = Guarded()
    shown(guarded)
    first = guarded.agent_handle.registration_id
    guarded.setEnabled(False)
    guarded.setEnabled(True)
    turn()
    assert guarded.agent_handle.registration_id == first
    guards.append(1)
    guarded.setEnabled(False)
    guarded.setEnabled(True)
    turn()
    assert guarded.agent_handle.registration_id != first
    assert surface.instances() == ["default"]


@pytest.mark.parametrize(("environment", "warnings"), [("development", 1), ("test", 0)])
def test_a_changed_structure_is_worth_a_warning_in_development(
    qapp: QObject,
    expected_logs: list[logging.LogRecord],
    environment: Literal["development", "test"],
    warnings: int,
) -> None:
    """It is told once what to change; where people work with the program it registers again in silence."""
    registry = create_qt_registry(authority=contract_authority(COUNTER), environment=environment)

    class Tenanted(Counter):
        tenant = 1

        def agent_internal(self) -> dict[str, object]:
            return {"tenant": self.tenant}

    counter = Tenanted()
    provide_surface(counter, registry)
    shown(counter)
    counter.tenant = 2
    counter.setEnabled(False)
    turn()
    counter.setEnabled(True)
    turn()
    told = [record.getMessage() for record in expected_logs]
    assert ["changed what its registration is made of" in text for text in told] == [True] * warnings
    delete(counter)
    turn()
    registry.close()


def test_a_component_of_a_closed_registry_is_rejected_and_stays_usable_as_a_widget(surface: Surface) -> None:
    """Windows are still there, and new ones may come, while an application ends."""
    counter, late = Counter(), Counter()
    shown(counter)
    surface.registry.close()
    assert counter.agent_handle.status == "unregistered"
    shown(late)
    assert late.agent_handle.status == "rejected"
    counter.hide()
    delete(counter, late)
    turn()
    assert surface.watched == 0
