"""What an assistant sees of the console and can do in it, through the registry, with the real window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest
from pytestqt.qtbot import QtBot

from agent_surface import (
    AgentInvocation,
    AgentInvocationResult,
    ErrorCode,
    InvocationError,
    InvocationOk,
    JsonValue,
    SnapshotContext,
    thaw_json,
)
from agent_surface.compiler import compile_contract, contract_text, read_configuration
from demo_app.composition import Console
from demo_app.domain import ChangeResult, DeviceFilter, DeviceStatus, FleetRepository, FleetService
from demo_app.views import MainWindow
from tests.demo.conftest import ROBOT, Invoke

ROOT = Path(__file__).parents[2]

DISABLE = "domain:devices.disable"
ENABLE = "domain:devices.enable"
RENAME = "domain:devices.rename"
MILAN_OFFLINE = ("MIL-002", "MIL-004", "MIL-010")


def output(result: AgentInvocationResult) -> JsonValue:
    """What a call returned."""
    assert isinstance(result, InvocationOk), result
    return thaw_json(result.output)


def refusal(result: AgentInvocationResult) -> tuple[ErrorCode, str, dict[str, JsonValue]]:
    """Why a call was refused: code, message, details."""
    assert isinstance(result, InvocationError), result
    details = {key: thaw_json(value) for key, value in result.error.details.items()}
    return result.error.code, result.error.message, details


def reasons(console: Console) -> dict[str, str | None]:
    """Of each capability why it cannot be used; ``None`` for those that can."""
    found: dict[str, str | None] = {}
    snapshot = console.registry.snapshot(SnapshotContext(consumer=ROBOT))
    for component in snapshot.components:
        for observation in component.observations:
            found[observation.capability_id] = None if observation.available else observation.unavailable_reason
        for action in component.actions:
            found[action.capability_id] = None if action.available else action.unavailable_reason
    for procedure in snapshot.procedures:
        found[procedure.procedure_id] = None if procedure.available else procedure.unavailable_reason
    return found


def statuses(window: MainWindow, ids: Sequence[str]) -> set[str]:
    """The states of these devices in the database."""
    return {window.session.repository.require_device(device_id).status.value for device_id in ids}


def test_the_committed_contract_is_what_the_source_declares() -> None:
    """A change of a declaration is reviewed in the file that the program is held to."""
    configuration = read_configuration(ROOT)
    assert contract_text(compile_contract(configuration)) == configuration.contract.read_text(encoding="utf-8")


def test_everything_that_is_declared_is_live_and_says_why_it_is_not_available(console: Console) -> None:
    """The console as it opens: nothing filtered, nothing selected."""
    nothing_selected = "No device is selected."
    assert reasons(console) == {
        "view:app.navigation.readState": None,
        "view:app.navigation.goTo": None,
        "view:devices.filters.readState": None,
        "view:devices.filters.readCities": None,
        "view:devices.filters.setFilters": None,
        "view:devices.filters.clearFilters": "No filter is set: every device is listed already.",
        "view:devices.table.readState": None,
        "view:devices.table.selectRows": None,
        "view:devices.table.selectAll": None,
        "view:devices.table.clearSelection": nothing_selected,
        "view:devices.table.sort": None,
        "view:devices.table.scrollToRow": None,
        "view:devices.drawer.readState": None,
        "view:devices.drawer.showDevice": None,
        DISABLE: nothing_selected,
        ENABLE: nothing_selected,
        RENAME: "No device is shown in the drawer.",
    }


# ------------------------------------------------------------------------------------------------------------ filters


def test_filters_that_are_left_out_stay_as_they_are(invoke: Invoke, window: MainWindow) -> None:
    """Two small wishes add up; clearing takes both back."""
    assert isinstance(invoke("view:devices.filters.setFilters", {"city": "milan"}), InvocationOk)
    assert isinstance(invoke("view:devices.filters.setFilters", {"statuses": ["offline"]}), InvocationOk)
    assert window.filter_bar.filters() == DeviceFilter(city="Milan", statuses=frozenset({DeviceStatus.OFFLINE}))
    state = output(invoke("view:devices.filters.readState"))
    assert isinstance(state, dict)
    assert (state["text"], state["statuses"], state["city"], state["listed"], state["total"]) == (
        "",
        ["offline"],
        "Milan",
        3,
        221,
    )
    counts = window.session.repository.counts().by_status
    assert state["counts"] == [{"status": status.value, "count": counts[status]} for status in DeviceStatus]
    assert isinstance(invoke("view:devices.filters.clearFilters"), InvocationOk)
    assert window.listed_count() == 221


def test_a_city_without_devices_is_named_and_nothing_changes(invoke: Invoke, window: MainWindow) -> None:
    """An empty table would look like an answer."""
    code, message, details = refusal(invoke("view:devices.filters.setFilters", {"city": "Atlantis", "text": "x"}))
    assert (code, message, details) == (
        ErrorCode.PRECONDITION_FAILED,
        "No device stands in Atlantis.",
        {"city": "Atlantis"},
    )
    assert window.filter_bar.filters().is_empty


def test_the_cities_are_those_of_the_fleet(invoke: Invoke, window: MainWindow) -> None:
    """What can be said in place of a city."""
    cities = window.session.repository.cities()
    assert output(invoke("view:devices.filters.readCities")) == {"cities": cities, "total": len(cities)}


# -------------------------------------------------------------------------------------------------------------- table


def test_rows_are_selected_by_id_and_unknown_ones_are_named(invoke: Invoke, window: MainWindow) -> None:
    """Replace, extend, reduce; a call that names a stranger selects nothing."""
    select = "view:devices.table.selectRows"
    assert isinstance(invoke(select, {"ids": ["MIL-001", "MIL-002"]}), InvocationOk)
    assert isinstance(invoke(select, {"ids": ["MIL-003"], "mode": "add"}), InvocationOk)
    assert isinstance(invoke(select, {"ids": ["MIL-001"], "mode": "remove"}), InvocationOk)
    assert set(window.table.selected_ids()) == {"MIL-002", "MIL-003"}
    code, message, details = refusal(invoke(select, {"ids": ["MIL-001", "NO-1", "NO-2"]}))
    assert (code, message, details) == (
        ErrorCode.PRECONDITION_FAILED,
        "The table does not list NO-1, NO-2.",
        {"notListed": ["NO-1", "NO-2"], "count": 2},
    )
    assert set(window.table.selected_ids()) == {"MIL-002", "MIL-003"}


def test_the_table_tells_the_rows_in_view_the_selection_and_the_order(invoke: Invoke, window: MainWindow) -> None:
    """Bounded, with exact numbers."""
    assert isinstance(invoke("view:devices.table.sort", {"column": "id", "descending": True}), InvocationOk)
    assert isinstance(invoke("view:devices.table.selectAll"), InvocationOk)
    assert isinstance(invoke("view:devices.table.scrollToRow", {"row": 100}), InvocationOk)
    state = output(invoke("view:devices.table.readState"))
    assert isinstance(state, dict)
    listed = window.table.listed_ids()
    device = window.session.repository.require_device(listed[100])
    rows = state.pop("rows")
    assert isinstance(rows, list)
    assert len(rows) == 50
    assert rows[0] == {"id": device.id, "name": device.name, "status": device.status.value, "city": device.city}
    assert state == {
        "first_row": 100,
        "listed": 221,
        "selected_ids": list(listed[:200]),
        "selected_count": 221,
        "sorted_by": "id",
        "descending": True,
    }
    assert isinstance(invoke("view:devices.table.clearSelection"), InvocationOk)
    assert window.table.selected_count() == 0


def test_a_row_beyond_the_end_is_refused_with_the_length(invoke: Invoke) -> None:
    """The way back for whoever counted wrong."""
    code, message, details = refusal(invoke("view:devices.table.scrollToRow", {"row": 221}))
    assert (code, message, details) == (
        ErrorCode.PRECONDITION_FAILED,
        "The table lists 221 devices.",
        {"listed": 221},
    )


def test_selecting_all_of_nothing_is_not_available(invoke: Invoke, window: MainWindow, console: Console) -> None:
    """With the way out."""
    window.filter_bar.set_filters(DeviceFilter(text="no such words"))
    assert reasons(console)["view:devices.table.selectAll"] == "No device is listed. Change the filters first."
    assert refusal(invoke("view:devices.table.selectAll"))[0] is ErrorCode.CAPABILITY_NOT_AVAILABLE


# ------------------------------------------------------------------------------------------------ drawer, navigation


def test_a_device_is_shown_selected_and_read(invoke: Invoke, window: MainWindow) -> None:
    """Also one that a filter hides."""
    window.filter_bar.set_filters(DeviceFilter(city="Rome"))
    assert isinstance(invoke("view:devices.drawer.showDevice", {"id": "MIL-002"}), InvocationOk)
    assert (window.table.selected_ids(), window.filter_bar.filters().is_empty) == (("MIL-002",), True)
    state = output(invoke("view:devices.drawer.readState"))
    assert isinstance(state, dict)
    shown = state["device"]
    assert isinstance(shown, dict)
    assert (shown["id"], shown["name"], shown["city"]) == ("MIL-002", "Milan Navigli", "Milan")
    code, message, _ = refusal(invoke("view:devices.drawer.showDevice", {"id": "NO-1"}))
    assert (code, message) == (ErrorCode.PRECONDITION_FAILED, "There is no device NO-1.")


def test_what_a_person_cannot_see_an_assistant_cannot_use(
    qtbot: QtBot, invoke: Invoke, window: MainWindow, console: Console
) -> None:
    """Another page in front, a closed drawer; both come back with the same registration."""
    window.table.select_ids(["MIL-001"])
    before = window.table.agent_handle.registration_id
    assert isinstance(invoke("view:app.navigation.goTo", {"page": "notes"}), InvocationOk)
    assert output(invoke("view:app.navigation.readState")) == {
        "page": "notes",
        "pages": ["devices", "notes", "activity"],
    }
    told = reasons(console)
    for capability in ("view:devices.table.selectAll", "view:devices.filters.setFilters", DISABLE):
        assert "“Devices”" in str(told[capability]), capability
    assert refusal(invoke(DISABLE))[0] is ErrorCode.CAPABILITY_NOT_AVAILABLE
    window.drawer.close()
    assert "Device details" in str(reasons(console)["view:devices.drawer.showDevice"])
    window.drawer.show()
    window.go_to("devices")
    assert reasons(console)["view:devices.table.selectAll"] is None
    assert window.table.agent_handle.registration_id == before


# --------------------------------------------------------------------------------------------------------- procedures


def test_the_selection_is_what_a_procedure_acts_on_and_nobody_may_say_otherwise(
    invoke: Invoke, window: MainWindow
) -> None:
    """The ids come from the screen and are locked."""
    window.session.disable(["MIL-001"], actor="someone")
    window.table.select_ids(["MIL-001", "MIL-003"])
    code, _, details = refusal(invoke(ENABLE, {"ids": ["ROM-001"]}))
    assert (code, details["lockedFields"]) == (ErrorCode.INVALID_INPUT, ["ids"])


def test_enabling_changes_the_database_in_the_name_of_the_assistant(
    qtbot: QtBot, invoke: Invoke, window: MainWindow
) -> None:
    """The result counts, the log says who did it for whom, the window shows it."""
    window.table.select_ids(["MIL-001", "MIL-003"])
    with qtbot.waitSignal(window.session.changed):
        window.session.disable(["MIL-001"], actor="someone")
    assert output(invoke(ENABLE)) == {"changed": 1, "unchanged": 1}
    assert "disabled" not in statuses(window, ["MIL-001", "MIL-003"])
    entry = window.session.repository.list_activity(limit=1)[0]
    assert (entry.actor, entry.verb, entry.device_id) == ("robot for giulia", "enabled", "MIL-001")


def test_the_device_in_the_drawer_is_renamed(invoke: Invoke, window: MainWindow) -> None:
    """And the name field follows; a name the fleet refuses is told in its words."""
    window.show_device("MIL-002")
    assert output(invoke(RENAME, {"name": "  Naviglio Grande "})) == {"id": "MIL-002", "name": "Naviglio Grande"}
    device = window.drawer.device()
    assert device is not None
    assert (device.name, window.session.repository.require_device("MIL-002").name) == ("Naviglio Grande",) * 2
    code, message, _ = refusal(invoke(RENAME, {"name": "abc\u202egnp"}))
    assert code is ErrorCode.INVALID_INPUT
    assert "U+202E" in message
    assert window.session.repository.require_device("MIL-002").name == "Naviglio Grande"


def test_nothing_is_renamed_while_several_devices_are_selected(
    invoke: Invoke, window: MainWindow, console: Console
) -> None:
    """The drawer shows one of them; "rename it" would be a guess."""
    window.table.select_ids(["MIL-001", "MIL-002"])
    assert reasons(console)[RENAME] == "Several devices are selected, and one can be renamed. Select only that one."
    assert refusal(invoke(RENAME, {"name": "X"}))[0] is ErrorCode.CAPABILITY_NOT_AVAILABLE


def test_nothing_new_begins_while_something_is_under_way(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, invoke: Invoke, window: MainWindow, console: Console
) -> None:
    """The reason names what is under way, and goes with it."""
    release = Event()
    rename = FleetService.rename

    def slow(service: FleetService, device_id: str, name: str, *, actor: str) -> object:
        assert release.wait(20)
        return rename(service, device_id, name, actor=actor)

    monkeypatch.setattr(FleetService, "rename", slow)
    window.table.select_ids(["MIL-001"])
    window.session.rename("MIL-001", "Elsewhere")
    try:
        busy = "Renaming a device is under way. Wait until it is done."
        told = reasons(console)
        assert (told[DISABLE], told[ENABLE], told[RENAME]) == (busy, busy, busy)
        assert refusal(invoke(ENABLE))[2] == {"reason": busy}
    finally:
        release.set()
    qtbot.waitUntil(lambda: not window.session.busy_with)
    assert reasons(console)[ENABLE] is None


def test_too_many_selected_devices_are_to_be_fewer(
    monkeypatch: pytest.MonkeyPatch, invoke: Invoke, window: MainWindow, console: Console
) -> None:
    """Before anybody is asked about a list that nobody can read."""
    monkeypatch.setattr("demo_app.procedures.MAX_DEVICES", 2)
    window.table.select_ids(["MIL-001", "MIL-002", "MIL-003"])
    reason = "3 devices are selected, and 2 can be changed at once. Narrow the selection."
    assert reasons(console)[DISABLE] == reason
    assert refusal(invoke(DISABLE))[2] == {"reason": reason}
    assert console.registry.confirmations.pending() == ()


def ask_to_disable(invoke: Invoke) -> str:
    """Begin to disable what is selected; the id of the question."""
    code, _, details = refusal(invoke(DISABLE))
    assert code is ErrorCode.CONFIRMATION_REQUIRED
    return str(details["confirmationId"])


def test_disabling_waits_for_the_person_and_then_changes_the_database(
    qtbot: QtBot, invoke: Invoke, window: MainWindow, console: Console
) -> None:
    """Nothing before the yes, all of it after."""
    window.table.select_ids(MILAN_OFFLINE)
    confirmation_id = ask_to_disable(invoke)
    assert statuses(window, MILAN_OFFLINE) == {"offline"}
    assert console.registry.confirmations.resolve(confirmation_id, approved=True)
    assert output(invoke(DISABLE, confirmation_id=confirmation_id)) == {"changed": 3, "unchanged": 0}
    assert statuses(window, MILAN_OFFLINE) == {"disabled"}
    entries = window.session.repository.list_activity(limit=3)
    assert {(entry.actor, entry.verb) for entry in entries} == {("robot for giulia", "disabled")}
    assert {entry.device_id for entry in entries} == set(MILAN_OFFLINE)


def test_a_no_changes_nothing(invoke: Invoke, window: MainWindow, console: Console) -> None:
    """Neither devices nor log; the person's words come back."""
    repository: FleetRepository = window.session.repository
    ids = repository.list_ids()
    before = (repository.read_devices(ids), repository.list_activity())
    window.table.select_ids(MILAN_OFFLINE)
    confirmation_id = ask_to_disable(invoke)
    assert console.registry.confirmations.resolve(confirmation_id, approved=False, note="Not today")
    code, _, details = refusal(invoke(DISABLE, confirmation_id=confirmation_id))
    assert (code, details) == (ErrorCode.CONFIRMATION_INVALID, {"reason": "denied", "note": "Not today"})
    assert (repository.read_devices(ids), repository.list_activity()) == before


def test_a_yes_to_one_selection_is_no_yes_to_another(invoke: Invoke, window: MainWindow, console: Console) -> None:
    """What was approved is exactly what was shown."""
    window.table.select_ids(MILAN_OFFLINE)
    confirmation_id = ask_to_disable(invoke)
    assert console.registry.confirmations.resolve(confirmation_id, approved=True)
    window.table.select_ids(["ROM-001"])
    code, _, details = refusal(invoke(DISABLE, confirmation_id=confirmation_id))
    assert (code, details["reason"]) == (ErrorCode.CONFIRMATION_INVALID, "mismatch")
    assert "disabled" not in statuses(window, [*MILAN_OFFLINE, "ROM-001"])


def test_a_call_that_is_given_up_leaves_the_fleet_in_order(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, window: MainWindow, console: Console
) -> None:
    """The caller hears at once; the job comes to its end by itself and the window goes on."""
    begun, release = Event(), Event()
    enable = FleetService.enable

    def slow(service: FleetService, device_ids: Sequence[str], *, actor: str) -> ChangeResult:
        begun.set()
        assert release.wait(20)
        return enable(service, device_ids, actor=actor)

    monkeypatch.setattr(FleetService, "enable", slow)
    window.table.select_ids(["MIL-001"])
    future = console.registry.invoke_threadsafe(AgentInvocation(capability_id=ENABLE), consumer=ROBOT)
    qtbot.waitUntil(begun.is_set)
    future.cancel()
    qtbot.waitUntil(lambda: console.registry.statistics().in_flight == 0)
    assert window.session.busy_with == "Enabling devices"
    release.set()
    qtbot.waitUntil(lambda: not window.session.busy_with)
    assert window.commands.enable.isEnabled()
