from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QItemSelectionModel, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDockWidget,
    QGroupBox,
    QMainWindow,
    QTableView,
    QTabWidget,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot
from typing_extensions import override

from agent_surface import AgentReadContext, AvailabilityChanged
from qt_binding import AgentComponentMixin, attach_agent_component, performing, performs
from qt_binding._availability import exempt_from_blocking
from tests.qt.mixin.parts import (
    PING,
    PING_ID,
    PINGER,
    READ_ID,
    RESET_ID,
    SET_ID,
    Counter,
    Surface,
    code_of,
    delete,
    reason_of,
    shown,
    turn,
)


class Table(AgentComponentMixin, QTableView):
    """Can be pinged while something is selected."""

    agent_contract = PINGER

    @performs(
        PING,
        when=lambda self: self.selectionModel().hasSelection(),
        reason="No rows are selected",
        follows=lambda self: [self.selectionModel().selectionChanged],
    )
    def ping(self) -> None:
        """Clear the selection."""
        self.clearSelection()


@pytest.fixture
def table(surface: Surface) -> Iterator[Table]:
    """A registered table with a model."""
    made = Table()
    made.setModel(QStandardItemModel(4, 1))
    shown(made)
    assert surface.instances() == ["default"]
    yield made
    delete(made)


@pytest.mark.requirement("QT-AVAIL-001")
def test_a_followed_signal_pushes_availability(surface: Surface, table: Table) -> None:
    """The surface moves without being asked."""
    version, announced = surface.registry.version, surface.announcements
    table.selectRow(1)
    turn()
    assert surface.registry.version != version
    assert surface.announcements == announced + 1
    assert surface.reason("ping") is None
    last = [event for event in surface.events if isinstance(event, AvailabilityChanged)][-1]
    assert (last.capability_id, last.available) == (PING_ID, True)


@pytest.mark.requirement("QT-AVAIL-001")
@pytest.mark.requirement("AS-VER-002")
def test_any_number_of_signals_of_any_number_of_components_in_one_turn_are_one_bump(surface: Surface) -> None:
    """Ten tables whose selections change back and forth."""
    window = QWidget()
    tables = list[Table]()
    for number in range(10):
        table = Table(window)
        table.agent_instance_id = f"t{number}"  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
        table.setModel(QStandardItemModel(4, 1))
        tables.append(table)
    shown(window)
    version, announced = int(surface.registry.version), surface.announcements
    for table in tables:
        for row in (0, 1, 2):
            table.selectRow(row)
        table.clearSelection()
        table.selectRow(3)
    turn()
    assert (int(surface.registry.version), surface.announcements) == (version + 1, announced + 1)
    for table in tables:
        table.clearSelection()
        table.selectRow(1)
    turn()
    assert (int(surface.registry.version), surface.announcements) == (version + 1, announced + 1)
    delete(window)


@pytest.mark.requirement("QT-AVAIL-001")
def test_what_a_handler_changes_is_pushed_before_its_call_settles(surface: Surface, table: Table) -> None:
    """So its result says that the surface changed."""
    table.selectRow(1)
    turn()
    version = surface.registry.version
    result = surface.invoke(PING_ID)
    assert (result.status, result.surface_changed) == ("ok", True)
    assert result.surface_version != version
    assert result.surface_version == surface.registry.version


@pytest.mark.requirement("QT-AVAIL-002")
def test_a_blocked_signal_makes_a_catalogue_late_but_no_call_wrong(surface: Surface, table: Table) -> None:
    """``QSignalBlocker`` is ordinary application code."""
    blocker = QSignalBlocker(table.selectionModel())
    table.selectRow(2)
    turn()
    assert code_of(surface.invoke(PING_ID)) == "ok"
    assert reason_of(surface.invoke(PING_ID)) == "No rows are selected"
    blocker.unblock()


@pytest.mark.requirement("QT-AVAIL-003")
def test_a_new_model_is_followed_without_being_told(surface: Surface, table: Table) -> None:
    """``setModel`` swaps the selection model and says nothing."""
    table.setModel(QStandardItemModel(9, 1))
    assert reason_of(surface.invoke(PING_ID)) == "No rows are selected"
    announced = surface.announcements
    table.selectRow(5)
    turn()
    assert surface.announcements == announced + 1
    own = QItemSelectionModel(table.model())
    table.setSelectionModel(own)
    assert surface.reason("ping") == "No rows are selected"
    turn()
    announced = surface.announcements
    table.selectRow(6)
    turn()
    assert surface.announcements == announced + 1


@pytest.mark.requirement("QT-AVAIL-001")
def test_a_property_is_followed_by_its_name(surface: Surface) -> None:
    """For widgets whose signal one would have to look up."""
    box = QCheckBox()
    attach_agent_component(
        box,
        PINGER,
        actions={"ping": performing("toggle", when="isChecked", reason="Unchecked", follows="property:checked")},
    )
    shown(box)
    announced = surface.announcements
    assert surface.reason("ping") == "Unchecked"
    box.setChecked(True)
    turn()
    assert (surface.reason("ping"), surface.announcements) == (None, announced + 1)
    delete(box)


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_tab_that_is_not_selected_makes_its_components_unavailable(surface: Surface) -> None:
    """One announcement for the switch."""
    tabs, front, back = QTabWidget(), Counter(), Counter()
    front.agent_instance_id, back.agent_instance_id = "front", "back"  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    tabs.addTab(front, "Map")
    tabs.addTab(back, "List")
    shown(tabs)
    assert surface.instances() == ["front"]  # the other was never shown
    tabs.setCurrentIndex(1)
    turn()
    assert sorted(surface.instances()) == ["back", "front"]
    assert surface.reason("read", "front") == "It is on the tab “Map”, which is not selected."
    announced = surface.announcements
    tabs.setCurrentIndex(0)
    turn()
    assert (surface.reason("read", "front"), surface.reason("read", "back"), surface.announcements) == (
        None,
        "It is on the tab “List”, which is not selected.",
        announced + 1,
    )
    delete(tabs)


def wait_for_reason(qtbot: QtBot, surface: Surface, instance_id: str, reason: str | None) -> None:
    """Docks are laid out in a later turn."""
    qtbot.waitUntil(lambda: surface.reason("read", instance_id) == reason)


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_dock_that_goes_behind_another_makes_its_components_unavailable(surface: Surface, qtbot: QtBot) -> None:
    """Qt sends no event for it and calls the component visible."""
    window = QMainWindow()
    window.setCentralWidget(QTextEdit())
    window.resize(600, 400)
    counters = list[Counter]()
    docks = list[QDockWidget]()
    for title in ("Log", "Jobs"):
        dock, counter = QDockWidget(title, window), Counter()
        counter.agent_instance_id = title.lower()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
        dock.setObjectName(title)
        dock.setWidget(counter)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        docks.append(dock)
        counters.append(counter)
    shown(window)
    ids = [counter.agent_handle.registration_id for counter in counters]
    window.tabifyDockWidget(docks[0], docks[1])
    for number in (0, 1):
        docks[number].raise_()
        behind = ("log", "jobs")[1 - number]

        def pushed(behind: str = behind) -> bool:
            last = {
                event.registration_id: event.available
                for event in surface.events
                if isinstance(event, AvailabilityChanged) and event.capability_id == READ_ID
            }
            return last.get(str(ids[("log", "jobs").index(behind)])) is False

        qtbot.waitUntil(pushed)
        wait_for_reason(qtbot, surface, ("log", "jobs")[number], None)
        assert str(surface.reason("read", behind)).endswith("which is behind another tab.")
    assert [counter.agent_handle.registration_id for counter in counters] == ids
    delete(window)


class Pane(AgentComponentMixin, QDockWidget):
    """A dock that is a component itself."""

    agent_contract = PINGER

    def agent_instance_id(self) -> str:
        """Its title."""
        return self.windowTitle()

    @performs(PING)
    def ping(self) -> None:
        """Do it."""


@pytest.mark.requirement("QT-AVAIL-004")
@pytest.mark.parametrize("last", ["Log", "Jobs"])
def test_docks_that_are_components_are_judged_one_by_one(surface: Surface, qtbot: QtBot, last: str) -> None:
    """All of them are visible to Qt; only one of them is to a person."""
    window = QMainWindow()
    window.setCentralWidget(QTextEdit())
    panes = {title: Pane(title, window) for title in ("Log", "Jobs")}
    for pane in panes.values():
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, pane)
    shown(window)
    window.tabifyDockWidget(*panes.values())

    def announced() -> dict[str, str | None]:
        titles = {pane.agent_handle.registration_id: title for title, pane in panes.items()}
        return {
            titles[event.registration_id]: event.reason
            for event in surface.events
            if isinstance(event, AvailabilityChanged)
        }

    panes[last].raise_()
    behind = {title: f"It is in the dock “{title}”, which is behind another tab." for title in panes}
    expected = behind | {last: None}
    qtbot.waitUntil(lambda: {**dict.fromkeys(panes), **announced()} == expected)
    for enabled in (False, True):  # of which all hear at once
        window.setEnabled(enabled)
        turn()
    assert announced() == expected
    delete(window)


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_window_moved_off_the_screens_by_code_is_noticed(surface: Surface) -> None:
    """And when it comes back; a move on the screen announces nothing."""
    window = QWidget()
    window.setWindowTitle("Far away")
    Counter(window)
    shown(window)
    version = surface.registry.version
    window.move(window.x() + 10, window.y() + 10)
    turn()
    assert surface.registry.version == version
    window.move(-5_000, -5_000)
    turn()
    assert surface.registry.version != version
    assert surface.reason("read") == "Its window “Far away” is off the screen."
    version = surface.registry.version
    window.move(20, 20)
    turn()
    assert (surface.registry.version != version, surface.reason("read")) == (True, None)
    delete(window)


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_minimised_window_makes_its_components_unavailable(surface: Surface) -> None:
    """And the restored one available again, without a new registration."""
    counter = Counter()
    shown(counter)
    registration_id = counter.agent_handle.registration_id
    announced = surface.announcements
    counter.showMinimized()
    turn()
    assert (surface.reason("read"), surface.announcements) == ("Its window is minimised.", announced + 1)
    counter.showNormal()
    turn()
    assert (surface.reason("read"), surface.announcements) == (None, announced + 2)
    assert counter.agent_handle.registration_id == registration_id
    delete(counter)


@pytest.mark.requirement("QT-AVAIL-004")
def test_a_component_meant_to_work_unseen_says_so(surface: Surface) -> None:
    """Its own predicates still count."""

    class Unseen(Counter):
        agent_presented = True

    unseen = Unseen()
    shown(unseen)
    unseen.hide()
    turn()
    assert (surface.reason("read"), surface.reason("reset")) == (None, "It is zero already")
    delete(unseen)


@pytest.mark.requirement("QT-AVAIL-005")
def test_a_disabled_component_is_unavailable_also_by_an_ancestor(surface: Surface) -> None:
    """Pushed by the change itself."""
    group = QGroupBox("Engine")
    layout = QVBoxLayout(group)
    counter = Counter()
    layout.addWidget(counter)
    shown(group)
    announced = surface.announcements
    group.setEnabled(False)
    turn()
    assert surface.reason("read") == "It is disabled together with “Engine”."
    assert surface.announcements == announced + 1
    assert code_of(surface.invoke(SET_ID, {"value": 1})) == "CAPABILITY_NOT_AVAILABLE"
    group.setEnabled(True)
    counter.setEnabled(False)
    turn()
    assert surface.reason("read") == "It is disabled."
    delete(group)


@pytest.mark.requirement("QT-AVAIL-006")
def test_another_modal_dialog_blocks_and_the_surfaces_own_does_not(surface: Surface) -> None:
    """Programmatic calls would go through, as clicks of a person would not."""
    window, counter = QWidget(), Counter()
    counter.setParent(window)
    shown(window)
    dialog, ours = QDialog(window), QDialog(window)
    dialog.setWindowTitle("Save?")
    announced = surface.announcements
    dialog.open()
    turn()
    assert surface.reason("read") == "The dialog “Save?” is open and has to be answered first."
    assert surface.announcements == announced + 1
    assert code_of(surface.invoke(SET_ID, {"value": 1})) == "CAPABILITY_NOT_AVAILABLE"
    dialog.accept()
    turn()
    assert surface.reason("read") is None
    exempt_from_blocking(ours)
    ours.open()
    turn()
    assert code_of(surface.invoke(SET_ID, {"value": 1})) == "ok"
    delete(window)


@pytest.mark.requirement("QT-AVAIL-002")
def test_a_component_that_changes_in_the_turn_of_the_handler_is_not_called(surface: Surface) -> None:
    """The check that counts is the one in the turn in which the handler starts."""
    counter = Counter()
    shown(counter)
    call = surface.start(SET_ID, {"value": 5})
    surface.loop.call_soon(counter.hide)
    assert code_of(surface.wait(call)) == "CAPABILITY_NOT_AVAILABLE"
    assert counter.value == 0
    delete(counter)


@pytest.mark.requirement("QT-FRESH-001")
def test_handlers_predicates_and_reasons_are_looked_up_when_they_run(surface: Surface) -> None:
    """Swapping them changes no version and registers nothing again."""

    class Swapped(Counter):
        ready = True
        why = "not ready"

        @override
        @performs("reset", when="is_ready", reason=lambda self: self.why)
        def reset(self) -> None:
            """Back to zero."""
            self.value = 0

        def is_ready(self) -> bool:
            """Whether it may be reset."""
            return self.ready

    swapped = Swapped()
    shown(swapped)
    version, registration_id = surface.registry.version, swapped.agent_handle.registration_id
    vars(swapped)["read_value"] = lambda: 11
    assert surface.invoke(READ_ID).to_json()["output"] == 11

    def read_for(context: AgentReadContext) -> int:
        return len(context.consumer.id)

    vars(swapped)["read_value"] = read_for
    assert surface.invoke(READ_ID).to_json()["output"] == len("anonymous")
    swapped.ready = False
    assert reason_of(surface.invoke(RESET_ID)) == "not ready"
    swapped.why = "still not ready"
    assert reason_of(surface.invoke(RESET_ID)) == "still not ready"
    vars(swapped)["is_ready"] = lambda: True
    assert code_of(surface.invoke(RESET_ID)) == "ok"
    assert (surface.registry.version, swapped.agent_handle.registration_id) == (version, registration_id)
    delete(swapped)


@pytest.mark.requirement("QT-AVAIL-001")
def test_a_disabled_component_switch_is_read_when_it_counts(surface: Surface) -> None:
    """``agent_enabled`` needs no signal to be right."""

    class Switched(Counter):
        on = True
        moved = Signal()

        def agent_enabled(self) -> bool:
            """The master switch."""
            return self.on

    switched = Switched()
    shown(switched)
    switched.on = False
    assert reason_of(surface.invoke(READ_ID)) == "component-disabled"
    switched.on = True
    assert code_of(surface.invoke(READ_ID)) == "ok"
    delete(switched)
