"""The main window: puts the parts together and turns their wishes into commands."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from PySide6.QtCore import QByteArray, QSettings, Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence, QPalette
from PySide6.QtWidgets import QLabel, QMainWindow, QMenu, QTabWidget, QVBoxLayout, QWidget
from typing_extensions import override

from demo_app.contracts import (
    APP_NAVIGATION,
    DEVICES_DRAWER,
    DEVICES_FILTERS,
    DEVICES_TABLE,
    GO_TO,
    READ_NAVIGATION,
    GoTo,
    NavigationState,
)
from demo_app.domain import Device, DeviceFilter, FleetError, preview_csv
from demo_app.views._commands import FleetCommands
from demo_app.views._device_drawer import DeviceDrawer
from demo_app.views._devices_model import DevicesModel
from demo_app.views._devices_table import DevicesTable
from demo_app.views._filter_bar import FilterBar
from demo_app.views._import_dialog import ImportDialog
from demo_app.views._menus import build_context_menu, build_menus, build_toolbar
from demo_app.views._questions import NAMED_IN_QUESTION, WindowQuestions
from demo_app.views._record_pages import ActivityPage, NotesPage
from demo_app.views._session import FleetSession
from demo_app.views._status_bar import FleetStatusBar
from qt_binding import AgentComponentMixin, observes, performs

Section = Literal["devices", "notes", "activity"]
"""The pages of the window."""

_SECTIONS: tuple[Section, ...] = ("devices", "notes", "activity")


class MainWindow(AgentComponentMixin, QMainWindow):
    """The fleet console.

    Args:
        session: The fleet; closed with the window.
        settings: Where size and arrangement are kept, or ``None`` to keep nothing.

    Attributes:
        commands: The actions.
        filter_bar: What is listed.
        table: The devices.
        drawer: One device in detail.
        notes_page: Maintenance notes.
        activity_page: The activity log.
        view_menu: For panels that somebody adds to the window.
        help_menu: For what helps those who look inside.
    """

    agent_contract = APP_NAVIGATION

    def __init__(self, session: FleetSession, *, settings: QSettings | None = None) -> None:
        super().__init__()
        self._session = session
        self._settings = settings
        self._is_waiting_to_close = False
        self._total = 0
        self.setObjectName("main-window")
        self.setWindowTitle(self.tr("Fleet Console"))
        self.commands = FleetCommands(self)
        self._questions = WindowQuestions(self)
        self._model = DevicesModel(session.repository, self)
        self.filter_bar = FilterBar()
        self.table = DevicesTable(self._model)
        self.notes_page = NotesPage(session.repository)
        self.activity_page = ActivityPage(session.repository)
        self._tabs = QTabWidget()
        self._tabs.setDocumentMode(True)
        self._empty_text = QLabel(self.tr("No device matches the filter. “Clear filters” lists all of them again."))
        self._build_pages()
        self.drawer = DeviceDrawer(session.repository, (self.commands.disable, self.commands.enable), self)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.drawer)
        self._status = FleetStatusBar()
        self.setStatusBar(self._status)
        self.view_menu, self.help_menu = self._build_menus()
        self._connect_parts()
        self._connect_commands()
        self._read_counts()
        self._update_commands()
        self.resize(self.fontMetrics().averageCharWidth() * 225, self.fontMetrics().height() * 48)
        self.table.setFocus()

    @property
    def session(self) -> FleetSession:
        """The fleet this window shows."""
        return self._session

    def section(self) -> Section:
        """The page in front."""
        return _SECTIONS[self._tabs.currentIndex()]

    def go_to(self, section: Section) -> None:
        """Bring a page to the front."""
        self._tabs.setCurrentIndex(_SECTIONS.index(section))
        # Not by a focus proxy of the page: Qt would pass over what stands before the table when Tab is pressed.
        match section:
            case "devices":
                self.table.setFocus(Qt.FocusReason.OtherFocusReason)
            case "notes":
                self.notes_page.focus_table()
            case "activity":
                self.activity_page.focus_table()

    def listed_count(self) -> int:
        """How many devices match the filter."""
        return self._model.rowCount()

    def show_device(self, device_id: str) -> None:
        """Open a device in the drawer, with the table on it; a filter that hides it is cleared.

        Raises:
            UnknownDevicesError: There is no such device.
        """
        self._session.repository.require_device(device_id)
        self.go_to("devices")
        if self._model.find_row(device_id) is None:
            self.filter_bar.clear()
        self.table.select_ids([device_id])
        self.drawer.show()

    def restore_arrangement(self) -> None:
        """Take the size and the places of docks from the settings, once every dock is there."""
        if self._settings is None:
            return
        for key, restore in (("window/geometry", self.restoreGeometry), ("window/state", self.restoreState)):
            value = self._settings.value(key)
            if isinstance(value, QByteArray):
                restore(value)

    def open_import(self, path: Path) -> ImportDialog | None:
        """Show the import dialog for a file; ``None`` after saying why the file cannot be read."""
        try:
            preview = preview_csv(path)
        except FleetError as error:
            self._questions.show_problem(self.tr("The file cannot be imported"), str(error))
            return None
        dialog = ImportDialog(self._session, path, preview, self)
        dialog.open()
        return dialog

    def reveal(self, component_type: str) -> QWidget:
        """Bring what an agent used to where a person can see it, and return it."""
        match component_type:
            case DEVICES_FILTERS.type:
                self.go_to("devices")
                return self.filter_bar
            case DEVICES_TABLE.type:
                self.go_to("devices")
                return self.table
            case DEVICES_DRAWER.type:
                self.drawer.show()
                self.drawer.raise_()
                return self.drawer
            case _:
                return self._tabs.tabBar()

    # ---------------------------------------------------------------------------------------------------- for agents

    @observes(READ_NAVIGATION)
    def read_state(self) -> NavigationState:
        """The page in front and the pages there are."""
        return NavigationState(page=self.section(), pages=list(_SECTIONS))

    @performs(GO_TO)
    def open_page(self, request: GoTo) -> None:
        """Bring a page to the front."""
        self.go_to(request.page)

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        """Let what is going on come to its end, or stop it, before the window goes."""
        if self._session.busy_with:
            event.ignore()
            self._is_waiting_to_close = True
            self._session.cancel_all()
            return
        if self._settings is not None:
            self._settings.setValue("window/geometry", self.saveGeometry())
            self._settings.setValue("window/state", self.saveState())
        event.accept()
        self._session.close()

    # ------------------------------------------------------------------------------------------------- construction

    def _build_pages(self) -> None:
        self._empty_text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty_text.setWordWrap(True)
        self._empty_text.setForegroundRole(QPalette.ColorRole.Text)
        self._empty_text.hide()
        # Where the rows would be, not beside an empty table.
        in_place_of_rows = QVBoxLayout(self.table.viewport())
        in_place_of_rows.addWidget(self._empty_text)
        devices_page = QWidget()
        layout = QVBoxLayout(devices_page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.filter_bar)
        layout.addWidget(self.table, 1)
        self._tabs.addTab(devices_page, self.tr("Devices"))
        self._tabs.addTab(self.notes_page, self.tr("Maintenance notes"))
        self._tabs.addTab(self.activity_page, self.tr("Activity"))
        self.setCentralWidget(self._tabs)

    def _build_menus(self) -> tuple[QMenu, QMenu]:
        drawer_action = self.drawer.toggleViewAction()
        drawer_action.setShortcut(QKeySequence("F9"))
        pages = [self._section_action(number, section) for number, section in enumerate(_SECTIONS)]
        build_toolbar(self, self.commands)
        build_context_menu(self.table, self.commands)
        return build_menus(self, self.commands, pages=pages, panels=[drawer_action])

    def _section_action(self, number: int, section: Section) -> QAction:
        action = QAction(self._tabs.tabText(number), self)
        action.setShortcut(QKeySequence(f"Ctrl+{number + 1}"))
        action.setData(section)
        action.triggered.connect(self._go_to_triggered)
        return action

    def _connect_parts(self) -> None:
        self.filter_bar.filters_changed.connect(self._apply_filters)
        self.table.selection_changed.connect(self._update_commands)
        self.table.lead_changed.connect(self._show_lead)
        self.table.text_typed.connect(self.filter_bar.type_text)
        self.table.activated.connect(self.drawer.show)
        self.drawer.device_wanted.connect(self.show_device)
        self.drawer.rename_wanted.connect(self._rename)
        self.drawer.device_changed.connect(self._on_device_changed)
        self.notes_page.note_written.connect(self._add_note)
        self.notes_page.resolved_wanted.connect(self._set_note_resolved)
        self.notes_page.device_activated.connect(self.show_device)
        self.activity_page.device_activated.connect(self.show_device)
        self._session.changed.connect(self._reload)
        self._session.busy_changed.connect(self._show_busy)

    def _connect_commands(self) -> None:
        commands = self.commands
        commands.import_csv.triggered.connect(self._ask_import_file)
        commands.export_csv.triggered.connect(self._ask_export_file)
        commands.quit.triggered.connect(self.close)
        commands.find.triggered.connect(self._find)
        commands.select_all.triggered.connect(self._select_all)
        commands.clear_selection.triggered.connect(self.table.clearSelection)
        commands.disable.triggered.connect(self._ask_disable)
        commands.enable.triggered.connect(self._enable)
        commands.rename.triggered.connect(self.drawer.edit_name)
        commands.write_note.triggered.connect(self._write_note)
        commands.refresh.triggered.connect(self._reload)
        commands.about.triggered.connect(self._questions.show_about)

    # ------------------------------------------------------------------------------------------------------ reading

    def _apply_filters(self, filters: DeviceFilter) -> None:
        try:
            self._model.set_filters(filters)
        except FleetError as error:
            self._questions.show_problem(self.tr("The devices cannot be listed"), str(error))
        self._update_commands()

    def _reload(self) -> None:
        try:
            self._model.reload()
            self._read_counts()
            self.drawer.reload()
        except FleetError as error:
            self._questions.show_problem(self.tr("The database cannot be read"), str(error))
        self.notes_page.reload()
        self.activity_page.reload()
        self._update_commands()

    def _read_counts(self) -> None:
        self.filter_bar.set_cities(self._session.repository.cities())
        counts = self._session.repository.counts()
        self.filter_bar.set_counts(counts)
        self._total = counts.total

    def _show_lead(self, device_id: str) -> None:
        try:
            self.drawer.show_device(device_id)
        except FleetError as error:
            self._questions.show_problem(self.tr("The device cannot be read"), str(error))

    def _on_device_changed(self) -> None:
        self.notes_page.show_device(self.drawer.device())
        self._update_commands()

    def _update_commands(self) -> None:
        commands, listed = self.commands, self.listed_count()
        busy = self._session.obstacle()
        nothing_selected = self.table.selection_obstacle()
        nothing_listed = "" if listed else self.tr("No device is listed.")
        no_device = self.drawer.device_obstacle()
        for action, obstacle in (
            (commands.disable, nothing_selected or busy),
            (commands.enable, nothing_selected or busy),
            (commands.clear_selection, nothing_selected),
            (commands.select_all, nothing_listed),
            (commands.rename, no_device),
            (commands.write_note, no_device),
            (commands.import_csv, busy),
            (commands.export_csv, nothing_listed or busy),
        ):
            commands.allow(action, obstacle)
        self.filter_bar.set_listed(listed)
        self._empty_text.setVisible(listed == 0)
        self._status.show_counts(selected=self.table.selected_count(), listed=listed, total=self._total)

    def _show_busy(self, label: str) -> None:
        self._status.show_busy(label)
        self._update_commands()
        if not label and self._is_waiting_to_close:
            # After those who hear of the job's result, who still read the fleet.
            QTimer.singleShot(0, self, self.close)

    # ----------------------------------------------------------------------------------------------------- commands

    def _go_to_triggered(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.go_to(action.data())

    def _find(self) -> None:
        self.go_to("devices")
        self.filter_bar.focus_text()

    def _select_all(self) -> None:
        self.go_to("devices")
        self.table.selectAll()

    def _ask_disable(self) -> None:
        ids = self.table.selected_ids()
        named = self._session.repository.read_devices(ids[:NAMED_IN_QUESTION])
        # What was asked about is what is disabled, whatever is selected by then.
        self._questions.ask_disable(named, len(ids), lambda: self._disable(ids))

    def _disable(self, ids: tuple[str, ...]) -> None:
        self._session.disable(ids).failed.connect(self._on_failed)

    def _enable(self) -> None:
        self._session.enable(self.table.selected_ids()).failed.connect(self._on_failed)

    def _rename(self, device_id: str, name: str) -> None:
        job = self._session.rename(device_id, name)
        job.succeeded.connect(self._on_renamed)
        job.failed.connect(self._on_rename_failed)

    def _on_renamed(self, device: Device) -> None:
        self.drawer.accept_name(device)
        self._status.say(self.tr("Saved."))

    def _on_rename_failed(self, error: FleetError) -> None:
        self.drawer.show_error(str(error))

    def _write_note(self) -> None:
        self.go_to("notes")
        self.notes_page.focus_text()

    def _add_note(self, device_id: str, text: str) -> None:
        job = self._session.add_note(device_id, text)
        job.succeeded.connect(self.notes_page.clear_text)
        job.failed.connect(self._on_failed)

    def _set_note_resolved(self, note_id: int, resolved: bool) -> None:
        self._session.set_note_resolved(note_id, resolved).failed.connect(self._on_failed)

    def _ask_import_file(self) -> None:
        self._questions.ask_import_file(self.open_import)

    def _ask_export_file(self) -> None:
        self._questions.ask_export_file(self._export_file)

    def _export_file(self, path: Path) -> None:
        job = self._session.export_csv(path, self.table.selected_ids() or self._model.ids())
        job.succeeded.connect(self._on_exported)
        job.failed.connect(self._on_failed)

    def _on_exported(self, count: int) -> None:
        self._status.say(self.tr("Exported devices: {count}").format(count=self.locale().toString(count)))

    def _on_failed(self, error: FleetError) -> None:
        self._questions.show_problem(self.tr("That did not work"), str(error))
