"""The two pages beside the table: maintenance notes and the activity log."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from demo_app.domain import MAX_NOTE_CHARACTERS, ActivityEntry, ActivityVerb, Device, FleetRepository, MaintenanceNote
from demo_app.views._appearance import time_text
from demo_app.views._records_model import PAGE_RECORDS, RecordsModel


class NotesPage(QWidget):
    """All maintenance notes, and a line to add one for the current device.

    Signals:
        note_written: ``(device id, text)``: somebody wants to keep this note.
        resolved_wanted: ``(note id, whether it is done)``.
        device_activated: The device of a note somebody opened.
    """

    note_written = Signal(str, str)
    resolved_wanted = Signal(object, bool)
    device_activated = Signal(str)

    def __init__(self, repository: FleetRepository, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._repository = repository
        self._device_id = ""
        self._model: RecordsModel[MaintenanceNote] = RecordsModel(
            (
                (self.tr("Written"), lambda note: time_text(note.created_at)),
                (self.tr("Device"), lambda note: note.device_name),
                (self.tr("Author"), lambda note: note.author),
                (self.tr("State"), lambda note: self.tr("Open") if note.resolved_at is None else self.tr("Done")),
                (self.tr("Note"), lambda note: note.text),
            ),
            self._read_page,
            self,
        )
        self._table = _records_table(self._model, self.tr("Maintenance notes"))
        self._open_only = QCheckBox(self.tr("Only &open notes"))
        self._resolve = QPushButton(self.tr("Mark as &done"))
        self._resolve.setEnabled(False)
        self._for_whom = QLabel()
        self._for_whom.setTextFormat(Qt.TextFormat.PlainText)
        self._text = QLineEdit()
        self._text.setMaxLength(MAX_NOTE_CHARACTERS)
        self._text.setAccessibleName(self.tr("Text of the new note"))
        self._text.setPlaceholderText(self.tr("What has to be done there?"))
        self._add = QPushButton(self.tr("&Add note"))
        above = QHBoxLayout()
        above.addWidget(self._open_only)
        above.addStretch(1)
        above.addWidget(self._resolve)
        below = QHBoxLayout()
        below.addWidget(self._for_whom)
        below.addWidget(self._text, 1)
        below.addWidget(self._add)
        layout = QVBoxLayout(self)
        layout.addLayout(above)
        layout.addWidget(self._table, 1)
        layout.addLayout(below)
        self.show_device(None)
        self.reload()
        self._open_only.toggled.connect(self.reload)
        self._resolve.clicked.connect(self._want_resolved)
        self._add.clicked.connect(self._write)
        self._text.returnPressed.connect(self._write)
        self._text.textChanged.connect(self._update_buttons)
        self._table.selectionModel().selectionChanged.connect(self._update_buttons)
        self._table.activated.connect(self._activate)

    def reload(self) -> None:
        """Read the notes again."""
        chosen = self._chosen()
        self._model.reload()
        if chosen is not None:
            for row in range(self._model.rowCount()):
                record = self._model.find_record(row)
                if record is not None and record.id == chosen.id:
                    self._table.selectRow(row)
                    break
        self._update_buttons()

    def show_device(self, device: Device | None) -> None:
        """New notes are about this device; ``None`` when there is no current one."""
        self._device_id = device.id if device is not None else ""
        self._for_whom.setText(
            self.tr("New note for {device}:").format(device=device.name)
            if device is not None
            else self.tr("Select a device to write a note.")
        )
        self._text.setEnabled(device is not None)
        self._update_buttons()

    def focus_table(self) -> None:
        """Go to the notes."""
        self._table.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_text(self) -> None:
        """Go to the line for a new note."""
        self._text.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def clear_text(self) -> None:
        """Empty the line for a new note, once it is saved."""
        self._text.clear()

    def _read_page(self, after: MaintenanceNote | None) -> list[MaintenanceNote]:
        return self._repository.list_notes(
            include_resolved=not self._open_only.isChecked(),
            limit=PAGE_RECORDS,
            before_id=None if after is None else after.id,
        )

    def _chosen(self) -> MaintenanceNote | None:
        return self._model.find_record(self._table.currentIndex().row())

    def _want_resolved(self) -> None:
        if (note := self._chosen()) is not None:
            self.resolved_wanted.emit(note.id, note.resolved_at is None)

    def _write(self) -> None:
        if self._device_id and self._text.text().strip():
            self.note_written.emit(self._device_id, self._text.text())

    def _activate(self, index: QModelIndex | QPersistentModelIndex) -> None:
        if (note := self._model.find_record(index.row())) is not None:
            self.device_activated.emit(note.device_id)

    def _update_buttons(self) -> None:
        note = self._chosen()
        self._resolve.setEnabled(note is not None)
        is_done = note is not None and note.resolved_at is not None
        self._resolve.setText(self.tr("Mark as &open") if is_done else self.tr("Mark as &done"))
        self._add.setEnabled(bool(self._device_id and self._text.text().strip()))


class ActivityPage(QWidget):
    """What was done, by whom, newest first.

    Signals:
        device_activated: The device of an entry somebody opened.
    """

    device_activated = Signal(str)

    def __init__(self, repository: FleetRepository, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._repository = repository
        verbs: dict[ActivityVerb, str] = {
            "created": self.tr("created"),
            "imported": self.tr("imported"),
            "disabled": self.tr("disabled"),
            "enabled": self.tr("enabled"),
            "renamed": self.tr("renamed"),
            "noted": self.tr("wrote a note"),
            "resolved": self.tr("marked a note as done"),
            "reopened": self.tr("marked a note as open"),
        }
        self._model: RecordsModel[ActivityEntry] = RecordsModel(
            (
                (self.tr("When"), lambda entry: time_text(entry.at)),
                (self.tr("Who"), lambda entry: entry.actor),
                (self.tr("What"), lambda entry: verbs[entry.verb]),
                (self.tr("Device"), lambda entry: entry.device_name or ""),
                (self.tr("Details"), lambda entry: entry.details),
            ),
            self._read_page,
            self,
        )
        self._table = _records_table(self._model, self.tr("Activity log"))
        layout = QVBoxLayout(self)
        layout.addWidget(self._table)
        self.reload()
        self._table.activated.connect(self._activate)

    def reload(self) -> None:
        """Read the log again."""
        self._model.reload()

    def focus_table(self) -> None:
        """Go to the log."""
        self._table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _read_page(self, after: ActivityEntry | None) -> list[ActivityEntry]:
        return self._repository.list_activity(limit=PAGE_RECORDS, before_id=None if after is None else after.id)

    def _activate(self, index: QModelIndex | QPersistentModelIndex) -> None:
        entry = self._model.find_record(index.row())
        if entry is not None and entry.device_id is not None:
            self.device_activated.emit(entry.device_id)


def _records_table(model: RecordsModel[MaintenanceNote] | RecordsModel[ActivityEntry], name: str) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName(name)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setAlternatingRowColors(True)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + table.fontMetrics().height() // 2)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setStretchLastSection(True)
    width = table.fontMetrics().averageCharWidth()
    for section, characters in enumerate((22, 26, 18, 20)):
        header.resizeSection(section, characters * width)
    return table
