"""The dialogs of the main window: questions, file choices, problems. All open without blocking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from demo_app.domain import Device

NAMED_IN_QUESTION = 8
"""Devices a question names; of the rest it says the number."""


class WindowQuestions:
    """Opens dialogs over a window and hands the answers to functions.

    Args:
        window: What the dialogs belong to.
    """

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._tr = window.tr

    def ask_disable(self, named: Sequence[Device], count: int, on_accepted: Callable[[], None]) -> None:
        """Ask whether to take devices out of service.

        Args:
            named: Those the question names.
            count: How many there are in all.
            on_accepted: Called once if the person says yes.
        """
        number = self._window.locale().toString
        names = [device.name for device in named]
        if count > len(names):
            names.append(self._tr("and {count} more").format(count=number(count - len(names))))
        question = self._box(self._tr("Disable devices"))
        question.setIcon(QMessageBox.Icon.Warning)
        question.setText(self._tr("Take these devices out of service? ({count})").format(count=number(count)))
        question.setInformativeText("\n".join(names))
        question.addButton(self._tr("&Disable"), QMessageBox.ButtonRole.AcceptRole)
        question.setDefaultButton(question.addButton(QMessageBox.StandardButton.Cancel))
        question.setEscapeButton(QMessageBox.StandardButton.Cancel)
        question.accepted.connect(on_accepted)
        question.open()

    def ask_import_file(self, on_chosen: Callable[[Path], object]) -> None:
        """Let the person choose a file to read."""
        dialog = self._file_dialog(self._tr("Import CSV"), on_chosen)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self._tr("CSV files (*.csv *.txt *.tsv)"), self._tr("All files (*)")])
        dialog.open()

    def ask_export_file(self, on_chosen: Callable[[Path], object]) -> None:
        """Let the person choose a file to write."""
        dialog = self._file_dialog(self._tr("Export CSV"), on_chosen)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([self._tr("CSV files (*.csv)")])
        dialog.setDefaultSuffix("csv")
        dialog.selectFile("devices.csv")
        dialog.open()

    def show_problem(self, title: str, text: str) -> None:
        """Say what went wrong."""
        box = self._box(title)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setText(title)
        box.setStandardButtons(QMessageBox.StandardButton.Close)
        box.setInformativeText(text)
        box.open()

    def show_about(self) -> None:
        """Say what this program is."""
        box = self._box(self._tr("About Fleet Console"))
        box.setText(self._tr("Fleet Console"))
        box.setInformativeText(
            self._tr("A console for measuring stations, and the example application of Agent Surface for Qt.")
        )
        box.open()

    def _box(self, title: str) -> QMessageBox:
        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(title)
        return box

    def _file_dialog(self, title: str, on_chosen: Callable[[Path], object]) -> QFileDialog:
        dialog = QFileDialog(self._window, title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def chosen(path: str) -> None:
            on_chosen(Path(path))

        dialog.fileSelected.connect(chosen)
        return dialog
