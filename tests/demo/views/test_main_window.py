from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QTableView,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from demo_app.domain import (
    Device,
    DeviceFilter,
    DeviceOrder,
    DeviceStatus,
    FleetRepository,
    InvalidFieldError,
    UnknownDevicesError,
)
from demo_app.views import DevicesModel, DevicesNotListedError, ImportDialog, MainWindow

OFFLINE = frozenset({DeviceStatus.OFFLINE})


def find_button(parent: QWidget, text: str) -> QPushButton:
    """The button a person would look for by its text."""
    return next(button for button in parent.findChildren(QPushButton) if button.text().replace("&", "") == text)


def find_named(parent: QWidget, name: str) -> QLineEdit:
    """The field a screen reader would announce by this name."""
    return next(field for field in parent.findChildren(QLineEdit) if field.accessibleName() == name)


def table_texts(view: QTableView, column: int) -> list[str]:
    """What a column shows, top to bottom."""
    model = view.model()
    return [str(model.index(row, column).data()) for row in range(model.rowCount(QModelIndex()))]


def shown_table(parent: QWidget) -> QTableView:
    """The table of a page or dialog that is not hidden by itself."""
    return next(view for view in parent.findChildren(QTableView) if view.isVisibleTo(parent))


def wait_idle(qtbot: QtBot, window: MainWindow) -> None:
    """Until no job is running."""
    qtbot.waitUntil(lambda: not window.session.busy_with, timeout=20_000)


def status_of(window: MainWindow, device_id: str) -> DeviceStatus:
    """The state of a device as stored."""
    return window.session.repository.require_device(device_id).status


def test_typing_and_clicking_in_the_filter_bar_narrows_the_table(qtbot: QtBot, window: MainWindow) -> None:
    """The way a person asks for the offline devices in Milan."""
    QTest.keyClicks(find_named(window, "Search devices"), "milan")
    button = next(chip for chip in window.filter_bar.findChildren(QToolButton) if chip.text().startswith("Offline"))
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.listed_count() == 3)
    assert window.filter_bar.filters() == DeviceFilter(text="milan", statuses=OFFLINE)
    assert table_texts(window.table, 0) == ["Milan Bovisa", "Milan Lambrate", "Milan Navigli"]
    QTest.mouseClick(find_button(window, "Clear filters"), Qt.MouseButton.LeftButton)
    assert window.listed_count() == window.session.repository.count()
    assert window.filter_bar.filters().is_empty


def test_a_table_without_rows_says_so_where_they_would_be(window: MainWindow) -> None:
    """An empty table alone looks broken."""
    window.filter_bar.set_filters(DeviceFilter(text="nothing is called so"))
    said = next(label for label in window.table.findChildren(QLabel) if label.isVisible())
    assert said.text().startswith("No device matches the filter.")
    assert window.table.viewport().rect().contains(said.geometry())
    window.filter_bar.clear()
    assert not said.isVisible()


def test_a_city_without_devices_is_refused_and_the_bar_stays(window: MainWindow) -> None:
    """A filter set by program must not silently list nothing."""
    window.filter_bar.set_filters(DeviceFilter(city="milan", statuses=OFFLINE))
    with pytest.raises(InvalidFieldError):
        window.filter_bar.set_filters(DeviceFilter(city="Atlantis"))
    assert window.filter_bar.filters() == DeviceFilter(city="Milan", statuses=OFFLINE)
    assert window.listed_count() == 3


def test_typing_into_the_table_goes_on_in_the_search_field(qtbot: QtBot, window: MainWindow) -> None:
    """With 50,000 rows, searching is filtering."""
    QTest.keyClick(window.table, Qt.Key.Key_O)
    QTest.keyClicks(find_named(window, "Search devices"), "saka")
    qtbot.waitUntil(lambda: window.filter_bar.filters().text == "osaka" and window.listed_count() == 1)


def test_the_selection_follows_its_devices_through_sorting(qtbot: QtBot, window: MainWindow) -> None:
    """Rows move; devices stay selected."""
    window.table.select_ids(["MIL-002", "BER-001", "TYO-002"])
    header = window.table.horizontalHeader()
    place = QPoint(header.sectionViewportPosition(7) + 10, 5)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert window.table.order().column == "id"
    assert window.table.selected_ids() == ("BER-001", "MIL-002", "TYO-002")
    window.table.sort_by(DeviceOrder(column="id", descending=True))
    assert window.table.selected_ids() == ("TYO-002", "MIL-002", "BER-001")


def test_the_selection_survives_a_change_of_values(qtbot: QtBot, window: MainWindow) -> None:
    """A refresh after each command would be useless if it dropped what people work on."""
    window.table.select_ids(["MIL-001", "MIL-003"])
    window.commands.enable.trigger()
    wait_idle(qtbot, window)
    window.session.rename("MIL-001", "Zebra crossing", actor="someone")
    wait_idle(qtbot, window)
    assert window.table.selected_ids() == ("MIL-003", "MIL-001")


def test_what_is_filtered_away_is_no_longer_selected(window: MainWindow) -> None:
    """A command acts on what a person can see."""
    window.table.select_ids(["MIL-001", "MIL-002"])
    window.filter_bar.set_filters(DeviceFilter(statuses=OFFLINE))
    assert window.table.selected_ids() == ("MIL-002",)
    window.filter_bar.clear()
    assert window.table.selected_ids() == ("MIL-002",)
    window.filter_bar.set_filters(DeviceFilter(city="Rome"))
    assert (window.table.selected_ids(), window.drawer.device()) == ((), None)
    assert not window.commands.disable.isEnabled()


def test_selecting_by_id_replaces_extends_and_reduces_and_names_what_is_not_listed(window: MainWindow) -> None:
    """The contract of the table, for whoever selects by program."""
    window.table.select_ids(["MIL-001", "MIL-002"])
    window.table.select_ids(["MIL-003", "MIL-002"], "add")
    assert set(window.table.selected_ids()) == {"MIL-001", "MIL-002", "MIL-003"}
    window.table.select_ids(["MIL-001", "ROM-001"], "remove")
    assert set(window.table.selected_ids()) == {"MIL-002", "MIL-003"}
    window.filter_bar.set_filters(DeviceFilter(city="Milan"))
    with pytest.raises(DevicesNotListedError) as caught:
        window.table.select_ids(["MIL-001", "ROM-001", "NO-1"])
    assert caught.value.device_ids == ("ROM-001", "NO-1")
    assert set(window.table.selected_ids()) == {"MIL-002", "MIL-003"}


def test_one_change_of_the_selection_is_announced_once(qtbot: QtBot, window: MainWindow) -> None:
    """Observers recount on each signal."""
    window.table.select_ids(["MIL-001"])
    announced: list[tuple[str, ...]] = []
    window.table.selection_changed.connect(lambda: announced.append(window.table.selected_ids()))
    window.table.select_ids(["BER-001", "BER-002"])
    assert announced == [("BER-001", "BER-002")] or announced == [("BER-002", "BER-001")]


def test_select_all_selects_every_listed_device(qtbot: QtBot, window: MainWindow) -> None:
    """Through the keyboard, as people do."""
    window.filter_bar.set_filters(DeviceFilter(city="Milan"))
    window.table.setFocus()
    QTest.keyClick(window.table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert window.table.selected_count() == window.listed_count() == 10
    labels = [label.text() for label in window.statusBar().findChildren(QLabel)]
    assert "Selected: 10" in labels
    assert "Listed: 10 of 221" in labels


def open_question(window: MainWindow) -> QMessageBox:
    """The question that is on the screen."""
    return next(box for box in window.findChildren(QMessageBox) if box.isVisible())


def test_disabling_asks_and_disables_what_was_asked_about(qtbot: QtBot, window: MainWindow) -> None:
    """Whatever is selected by the time of the answer."""
    window.table.select_ids(["MIL-001", "MIL-003"])
    window.commands.disable.trigger()
    box = open_question(window)
    assert box.informativeText().splitlines() == ["Milan Brera", "Milan Duomo"]
    window.table.select_ids(["ROM-001"])
    QTest.mouseClick(find_button(box, "Disable"), Qt.MouseButton.LeftButton)
    wait_idle(qtbot, window)
    assert [status_of(window, device_id) for device_id in ("MIL-001", "MIL-003")] == [DeviceStatus.DISABLED] * 2
    assert status_of(window, "ROM-001") is not DeviceStatus.DISABLED


def test_a_hasty_return_does_not_disable(qtbot: QtBot, window: MainWindow) -> None:
    """The harmless answer is the default one."""
    window.table.select_ids(["MIL-001"])
    window.commands.disable.trigger()
    QTest.keyClick(open_question(window), Qt.Key.Key_Return)
    wait_idle(qtbot, window)
    assert status_of(window, "MIL-001") is DeviceStatus.ONLINE


def test_a_device_is_renamed_in_the_drawer(qtbot: QtBot, window: MainWindow) -> None:
    """Table, drawer and log show the new name."""
    window.show_device("MIL-002")
    name = find_named(window.drawer, "Name of the device")
    window.commands.rename.trigger()
    assert name.hasSelectedText()
    QTest.keyClicks(name, "Naviglio Grande")
    QTest.keyClick(name, Qt.Key.Key_Return)
    wait_idle(qtbot, window)
    assert window.session.repository.require_device("MIL-002").name == "Naviglio Grande"
    assert window.table.selected_ids() == ("MIL-002",)
    assert "Naviglio Grande" in table_texts(window.table, 0)
    assert table_texts(shown_table(window.activity_page), 2)[0] == "renamed"


def test_a_refused_name_stays_in_the_field_with_the_reason(qtbot: QtBot, window: MainWindow) -> None:
    """Nobody should have to type it again."""
    window.show_device("MIL-002")
    name = find_named(window.drawer, "Name of the device")
    name.selectAll()
    name.insert("abc\u202egnp")
    name.textEdited.emit(name.text())
    QTest.keyClick(name, Qt.Key.Key_Return)
    wait_idle(qtbot, window)
    assert any("invisible character U+202E" in label.text() for label in window.drawer.findChildren(QLabel))
    assert name.text() == "abc\u202egnp"
    window.show_device("MIL-001")
    assert not any("U+202E" in label.text() and label.isVisible() for label in window.drawer.findChildren(QLabel))


def test_a_name_being_edited_survives_a_refresh(qtbot: QtBot, window: MainWindow) -> None:
    """Somebody else's change must not eat what a person types."""
    window.show_device("MIL-002")
    name = find_named(window.drawer, "Name of the device")
    name.setFocus()
    name.selectAll()
    QTest.keyClicks(name, "Half a na")
    window.session.disable(["MIL-003"], actor="someone")
    wait_idle(qtbot, window)
    assert name.text() == "Half a na"


def test_the_drawer_shows_database_text_as_text(qtbot: QtBot, window: MainWindow) -> None:
    """Markup in a name or a note is not rendered."""
    window.session.add_note("MIL-002", "<img src=x> <b>bold</b>")
    wait_idle(qtbot, window)
    window.show_device("MIL-002")
    labels = [label for label in window.drawer.findChildren(QLabel) if "<b>bold</b>" in label.text()]
    assert [label.textFormat() for label in labels] == [Qt.TextFormat.PlainText]


def test_showing_a_device_clears_a_filter_that_hides_it(window: MainWindow) -> None:
    """From a note, people want the device and not an empty table."""
    window.filter_bar.set_filters(DeviceFilter(city="Rome"))
    window.go_to("notes")
    window.show_device("MIL-002")
    assert (window.section(), window.table.selected_ids()) == ("devices", ("MIL-002",))
    device = window.drawer.device()
    assert device is not None
    assert device.id == "MIL-002"
    with pytest.raises(UnknownDevicesError):
        window.show_device("NO-1")


def test_pages_are_reached_by_shortcut(qtbot: QtBot, window: MainWindow) -> None:
    """The window can be used without a mouse."""
    QTest.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert window.section() == "notes"
    QTest.keyClick(window, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert window.section() == "activity"
    QTest.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert window.section() == "devices"
    assert find_named(window, "Search devices").hasFocus()


def test_a_note_is_written_and_marked_as_done(qtbot: QtBot, window: MainWindow) -> None:
    """The notes page, through its widgets."""
    window.show_device("MIL-001")
    window.commands.write_note.trigger()
    text = find_named(window, "Text of the new note")
    QTest.keyClicks(text, "Bring a ladder")
    QTest.mouseClick(find_button(window, "Add note"), Qt.MouseButton.LeftButton)
    wait_idle(qtbot, window)
    assert text.text() == ""
    table = shown_table(window.notes_page)
    assert (table_texts(table, 1)[0], table_texts(table, 4)[0]) == ("Milan Duomo", "Bring a ladder")
    table.selectRow(0)
    QTest.mouseClick(find_button(window, "Mark as done"), Qt.MouseButton.LeftButton)
    wait_idle(qtbot, window)
    assert table_texts(table, 3)[0] == "Done"
    assert find_button(window, "Mark as open").isEnabled()


def test_an_import_with_a_mistake_shows_the_line_and_a_second_try_succeeds(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    """File, mapping, result: the whole way through the dialog."""
    path = tmp_path / "new.csv"
    path.write_text("code,label,state\nA-1,One,online\nA-2,Two,broken\n", encoding="utf-8")
    dialog = window.open_import(path)
    assert dialog is not None
    assert dialog.mapping() == {"id": 0, "name": 1, "status": 2}
    QTest.mouseClick(find_button(dialog, "Import"), Qt.MouseButton.LeftButton)
    wait_idle(qtbot, window)
    errors = shown_table(dialog)
    assert [table_texts(errors, column)[0] for column in (0, 1)] == ["3", "status"]
    assert window.session.repository.find_device("A-1") is None
    dialog.close()
    again = window.open_import(path)
    assert again is not None
    again.choose_column("status", None)
    QTest.mouseClick(find_button(again, "Import"), Qt.MouseButton.LeftButton)
    wait_idle(qtbot, window)
    assert any(label.text().startswith("Created: 2.") for label in again.findChildren(QLabel))
    assert window.listed_count() == 223
    again.close()


def test_the_dialog_asks_for_the_required_columns(window: MainWindow, tmp_path: Path) -> None:
    """Import stays off, with the reason, until ID and name have a column each."""
    path = tmp_path / "odd.csv"
    path.write_text("x,y\n1,2\n", encoding="utf-8")
    dialog = window.open_import(path)
    assert dialog is not None
    start = find_button(dialog, "Import")
    assert not start.isEnabled()
    dialog.choose_column("id", 0)
    dialog.choose_column("name", 0)
    assert not start.isEnabled()
    dialog.choose_column("name", 1)
    assert start.isEnabled()
    dialog.close()


def write_many(path: Path, number: int) -> Path:
    """A file that takes a while to import."""
    path.write_text("id,name\n" + "".join(f"X-{i:05},Station {i}\n" for i in range(number)), encoding="utf-8")
    return path


def test_a_running_import_is_cancelled_and_undone_by_closing_the_dialog(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    """Esc means stop; the dialog goes when everything is as it was."""
    dialog = window.open_import(write_many(tmp_path / "big.csv", 6_000))
    assert dialog is not None
    QTest.mouseClick(find_button(dialog, "Import"), Qt.MouseButton.LeftButton)
    assert not window.commands.import_csv.isEnabled()
    with qtbot.waitSignal(dialog.finished, timeout=20_000):
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
    wait_idle(qtbot, window)
    assert window.session.repository.count() == 221
    assert window.commands.import_csv.isEnabled()


def test_closing_the_window_during_an_import_undoes_it_and_then_closes(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    """Quitting must neither hang nor leave half a file behind."""
    dialog = window.open_import(write_many(tmp_path / "big.csv", 6_000))
    assert isinstance(dialog, ImportDialog)
    QTest.mouseClick(find_button(dialog, "Import"), Qt.MouseButton.LeftButton)
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)


def test_the_table_reads_only_the_rows_that_are_looked_at(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six thousand devices cost a list of ids and a screenful of rows."""
    dialog = window.open_import(write_many(tmp_path / "big.csv", 6_000))
    assert dialog is not None
    QTest.mouseClick(find_button(dialog, "Import"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.listed_count() == 6_221, timeout=30_000)
    dialog.close()
    read: list[int] = []
    original = FleetRepository.read_devices

    def counting(repository: FleetRepository, device_ids: Sequence[str]) -> list[Device]:
        read.append(len(device_ids))
        return original(repository, device_ids)

    monkeypatch.setattr(FleetRepository, "read_devices", counting)
    window.table.sort_by(DeviceOrder(column="id", descending=True))
    window.table.selectAll()
    window.grab()
    assert window.table.selected_count() == 6_221
    assert sum(read) < 1_000


def test_colours_follow_the_palette_while_the_program_runs(qtbot: QtBot, window: MainWindow) -> None:
    """No colour stays behind when light turns dark."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    before = QPalette(application.palette())
    light = window.table.model().index(0, 1).data(Qt.ItemDataRole.DecorationRole).pixmap(16).toImage()
    dark = QPalette(QColor("#31363b"), QColor("#232629"))
    application.setPalette(dark)
    try:
        qtbot.waitUntil(lambda: window.table.palette().window().color() == QColor("#232629"))
        sign = window.table.model().index(0, 1).data(Qt.ItemDataRole.DecorationRole).pixmap(16).toImage()
        assert sign != light
        assert window.grab().toImage().pixelColor(2, window.menuBar().height() + 2).lightness() < 100
    finally:
        application.setPalette(before)


def test_the_model_survives_the_tester_of_qt(qtbot: QtBot, window: MainWindow) -> None:
    """Qt's own consistency checks, through resets and reloads."""
    model = window.table.model()
    assert isinstance(model, DevicesModel)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    model.set_filters(DeviceFilter(city="Milan"))
    model.set_order(DeviceOrder(column="city", descending=True))
    model.reload()
    model.set_filters(DeviceFilter(text="nothing like this"))
    tester.deleteLater()


def test_a_command_that_is_off_says_why(qtbot: QtBot, window: MainWindow) -> None:
    """In its tool tip and in the status bar, until it is possible."""
    disable = window.commands.disable
    assert (disable.isEnabled(), disable.toolTip()) == (
        False,
        "Take the selected devices out of service. Not now: No device is selected.",
    )
    window.table.select_ids(["MIL-001"])
    assert (disable.isEnabled(), disable.toolTip()) == (True, "Take the selected devices out of service")
    window.session.rename("MIL-001", "Elsewhere")
    assert disable.statusTip().endswith("Not now: Renaming a device is under way. Wait until it is done.")
    wait_idle(qtbot, window)
    assert disable.statusTip() == "Take the selected devices out of service"
