"""The import of a CSV file: choose columns, watch it run, read what was refused."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from demo_app.domain import (
    IMPORT_FIELDS,
    REQUIRED_FIELDS,
    CsvPreview,
    ExistingDevices,
    FleetError,
    ImportField,
    ImportReport,
    OperationCancelledError,
)
from demo_app.views._jobs import Job
from demo_app.views._session import FleetSession

_PERMILLE = 1_000
_FIELDS_IN_FIRST_COLUMN = 4


class ImportDialog(QDialog):
    """Leads through the import of one file. Never blocks: shown with ``open()``, the work runs as a job.

    Args:
        session: The fleet.
        path: The file.
        preview: Its header and first lines.
        parent: The window it belongs to.
    """

    def __init__(self, session: FleetSession, path: Path, preview: CsvPreview, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._path = path
        self._preview = preview
        self._job: Job | None = None
        self._is_closing = False
        self.setWindowTitle(self.tr("Import {file}").format(file=path.name))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._columns: dict[ImportField, QComboBox] = {field: self._column_box(field) for field in IMPORT_FIELDS}
        self._existing = QComboBox()
        self._existing.addItem(self.tr("Take the values of the file"), "update")
        self._existing.addItem(self.tr("Leave them as they are"), "skip")
        self._existing.addItem(self.tr("Count the line as a mistake"), "reject")
        self._all_or_nothing = QCheckBox(self.tr("Import &nothing if a line has a mistake"))
        self._all_or_nothing.setChecked(True)
        self._problem = QLabel()
        self._start = QPushButton(self.tr("&Import"))
        self._progress = QProgressBar()
        self._progress.setRange(0, _PERMILLE)
        self._progress.setAccessibleName(self.tr("Progress of the import"))
        self._progress_text = QLabel()
        self._progress_text.setTextFormat(Qt.TextFormat.PlainText)
        self._stop = QPushButton(self.tr("&Cancel import"))
        self._result = QLabel()
        self._result.setWordWrap(True)
        self._result.setTextFormat(Qt.TextFormat.PlainText)
        self._errors = QStandardItemModel(0, 3, self)
        self._errors.setHorizontalHeaderLabels([self.tr("Line"), self.tr("Field"), self.tr("Problem")])
        self._error_view = _plain_table(self._errors, self.tr("Lines that were not imported"))
        self._pages = QStackedWidget()
        for page in (self._mapping_page(), self._progress_page(), self._result_page()):
            self._pages.addWidget(page)
        layout = QVBoxLayout(self)
        layout.addWidget(self._pages)
        self.resize(self.fontMetrics().averageCharWidth() * 110, self.fontMetrics().height() * 34)
        for box in self._columns.values():
            box.currentIndexChanged.connect(self._check_mapping)
        self._start.clicked.connect(self._begin)
        self._stop.clicked.connect(self._cancel)
        self._check_mapping()
        self._start.setFocus()

    def mapping(self) -> dict[ImportField, int]:
        """The chosen column of each field."""
        return {field: int(box.currentData()) for field, box in self._columns.items() if box.currentData() is not None}

    def choose_column(self, field: ImportField, column: int | None) -> None:
        """Take a field from a column, or from none."""
        box = self._columns[field]
        box.setCurrentIndex(0 if column is None else box.findData(column))

    @override
    def reject(self) -> None:
        """Esc and the close button stop a running import first; the dialog goes when it has."""
        if self._job is not None:
            self._is_closing = True
            self._cancel()
            return
        super().reject()

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        """As :meth:`reject`."""
        if self._job is not None:
            event.ignore()
            self.reject()
            return
        super().closeEvent(event)

    def _column_box(self, field: ImportField) -> QComboBox:
        box = QComboBox()
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(20)
        box.addItem(self.tr("(choose a column)") if field in REQUIRED_FIELDS else self.tr("(not in the file)"), None)
        for column, title in enumerate(self._preview.header):
            box.addItem(title or self.tr("Column {number}").format(number=column + 1), column)
        suggested = self._preview.mapping.get(field)
        box.setCurrentIndex(0 if suggested is None else box.findData(suggested))
        return box

    def _mapping_page(self) -> QWidget:
        titles: dict[ImportField, str] = {
            "id": self.tr("I&D (required):"),
            "name": self.tr("&Name (required):"),
            "status": self.tr("&Status:"),
            "city": self.tr("Cit&y:"),
            "country": self.tr("C&ountry:"),
            "model": self.tr("&Model:"),
            "firmware": self.tr("&Firmware:"),
            "last_seen": self.tr("&Last seen:"),
        }
        forms = (QFormLayout(), QFormLayout())
        for number, (field, box) in enumerate(self._columns.items()):
            forms[number // _FIELDS_IN_FIRST_COLUMN].addRow(titles[field], box)
        group = QGroupBox(self.tr("Columns of the file"))
        columns = QHBoxLayout(group)
        for form in forms:
            columns.addLayout(form)
        preview = _plain_table(self._preview_model(), self.tr("First lines of the file"))
        options = QFormLayout()
        options.addRow(self.tr("Devices that &exist already:"), self._existing)
        options.addRow("", self._all_or_nothing)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(self._start, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        self._start.setDefault(True)
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.addWidget(group)
        layout.addWidget(QLabel(self.tr("First lines:")), 0, Qt.AlignmentFlag.AlignLeading)
        layout.addWidget(preview, 1)
        layout.addLayout(options)
        layout.addWidget(self._problem)
        layout.addWidget(buttons)
        return page

    def _progress_page(self) -> QWidget:
        page = QWidget()
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self._stop)
        layout = QVBoxLayout(page)
        layout.addStretch(1)
        layout.addWidget(self._progress_text)
        layout.addWidget(self._progress)
        layout.addLayout(row)
        layout.addStretch(1)
        return page

    def _result_page(self) -> QWidget:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.addWidget(self._result)
        layout.addWidget(self._error_view, 1)
        layout.addWidget(buttons)
        return page

    def _preview_model(self) -> QStandardItemModel:
        header = list(self._preview.header)
        model = QStandardItemModel(0, len(header), self)
        model.setHorizontalHeaderLabels(header)
        for line in self._preview.lines:
            cells = line.cells if line.problem is None else (line.problem,)
            # Half a character (bad UTF-8) cannot be shown; the import will name the line.
            model.appendRow([QStandardItem(cell.encode("utf-8", "replace").decode()) for cell in cells[: len(header)]])
        return model

    def _check_mapping(self) -> None:
        mapping = self.mapping()
        problem = ""
        if any(field not in mapping for field in REQUIRED_FIELDS):
            problem = self.tr("Choose the columns with the ID and the name.")
        elif len(set(mapping.values())) < len(mapping):
            problem = self.tr("One column is chosen for two fields.")
        self._problem.setText(problem)
        self._start.setEnabled(not problem)

    def _begin(self) -> None:
        existing: ExistingDevices = self._existing.currentData()
        job = self._session.import_csv(
            self._path, self.mapping(), existing=existing, all_or_nothing=self._all_or_nothing.isChecked()
        )
        self._job = job
        self._progress_text.setText(job.label)
        self._pages.setCurrentIndex(1)
        self._stop.setFocus()
        job.progressed.connect(self._on_progressed)
        job.succeeded.connect(self._on_succeeded)
        job.failed.connect(self._on_failed)

    def _cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()
            self._stop.setEnabled(False)
            self._progress_text.setText(self.tr("Stopping, and undoing what was imported so far"))

    def _on_progressed(self, done: int, total: int) -> None:
        self._progress.setValue(done * _PERMILLE // total if total else _PERMILLE)

    def _on_succeeded(self, report: ImportReport) -> None:
        self._job = None
        self._result.setText(self._summary(report))
        for error in report.errors:
            row = [QStandardItem(text) for text in (str(error.line), error.field or "", error.problem)]
            self._errors.appendRow(row)
        self._error_view.resizeColumnsToContents()
        self._error_view.setVisible(bool(report.errors))
        self._finish()

    def _on_failed(self, error: FleetError) -> None:
        self._job = None
        self._is_closing = self._is_closing or isinstance(error, OperationCancelledError)
        self._result.setText(str(error))
        self._error_view.hide()
        self._finish()

    def _finish(self) -> None:
        self._pages.setCurrentIndex(2)
        if self._is_closing:
            self.reject()

    def _summary(self, report: ImportReport) -> str:
        number = self.locale().toString
        counts = self.tr("Created: {created}. Updated: {updated}. Left alone: {skipped}.").format(
            created=number(report.created), updated=number(report.updated), skipped=number(report.skipped)
        )
        mistakes = self.tr("Lines with mistakes: {count}.").format(count=number(report.error_count))
        if not report.committed:
            return self.tr("Nothing was imported.") + " " + mistakes
        return counts if not report.error_count else f"{counts} {mistakes}"


def _plain_table(model: QStandardItemModel, name: str) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName(name)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + table.fontMetrics().height() // 2)
    table.horizontalHeader().setStretchLastSection(True)
    table.resizeColumnsToContents()
    return table
