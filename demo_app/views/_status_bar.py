"""The status bar: what is going on, how much is selected, how much is listed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar, QWidget

_MESSAGE_MS = 6_000
_BUSY_CHARACTERS = 20


class FleetStatusBar(QStatusBar):
    """Says in numbers and a word how things stand."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._busy_text = QLabel()
        self._busy_text.setTextFormat(Qt.TextFormat.PlainText)
        self._busy_bar = QProgressBar()
        self._busy_bar.setRange(0, 0)
        self._busy_bar.setMaximumWidth(self.fontMetrics().averageCharWidth() * _BUSY_CHARACTERS)
        self._busy_bar.setAccessibleName(self.tr("Work in progress"))
        self._busy_bar.hide()
        self._selected = QLabel()
        self._listed = QLabel()
        for widget in (self._busy_text, self._busy_bar, self._selected, self._listed):
            self.addPermanentWidget(widget)

    def show_busy(self, label: str) -> None:
        """Show what is going on; nothing when ``label`` is empty."""
        self._busy_text.setText(label)
        self._busy_bar.setVisible(bool(label))

    def show_counts(self, *, selected: int, listed: int, total: int) -> None:
        """Show how many devices are selected, how many are listed, and how many there are."""
        number = self.locale().toString
        self._selected.setText(self.tr("Selected: {count}").format(count=number(selected)))
        self._listed.setText(self.tr("Listed: {shown} of {total}").format(shown=number(listed), total=number(total)))

    def say(self, text: str) -> None:
        """Show a message for a while."""
        self.showMessage(text, _MESSAGE_MS)
