"""Chips with what could be asked now."""

from __future__ import annotations

import html
from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from qt_binding._text import visible_text
from qt_binding.assistant._pill import PillButton, PillStyle
from qt_binding.assistant._wording import tr

_MAX_CHIPS = 3
_SPACING = 6


class SuggestionRow(QWidget):
    """A few texts as buttons, in as many lines as they need; takes no room without any.

    Signals:
        chosen: With the whole text of a chip.
        renewed: There are other chips, which have no place in the order of Tab yet.
    """

    chosen = Signal(str)
    renewed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._texts: tuple[str, ...] = ()
        self.chips: list[PillButton] = []
        self.setAccessibleName(tr("Suggestions"))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.hide()

    @property
    def texts(self) -> tuple[str, ...]:
        """What is suggested."""
        return self._texts

    def set_texts(self, texts: Sequence[str]) -> None:
        """Suggest other texts; only the first few are shown."""
        kept = tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))[:_MAX_CHIPS]
        if kept == self._texts:
            return
        self._texts = kept
        for chip in self.chips:
            chip.hide()
            chip.deleteLater()
        self.chips = []
        for text in kept:
            chip = PillButton(text, style=PillStyle.OUTLINED, parent=self)
            chip.setToolTip(f"<qt>{html.escape(visible_text(text))}</qt>")
            chip.setAccessibleDescription(tr("Puts this text into the message field."))
            chip.clicked.connect(self._on_clicked)
            chip.show()
            self.chips.append(chip)
        self.setVisible(bool(kept))
        self._arrange(self.width())
        self.updateGeometry()
        self.renewed.emit()

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, width: int) -> int:
        return self._arrange(width, move=False)

    @override
    def sizeHint(self) -> QSize:
        width = max(self.width(), 200)
        return QSize(width, self.heightForWidth(width))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.chips[0].sizeHint().height() if self.chips else 0)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(self.width())

    def _arrange(self, width: int, *, move: bool = True) -> int:
        x = y = height = 0
        for chip in self.chips:
            size = chip.sizeHint()
            taken = min(size.width(), width)
            if x and x + taken > width:
                x, y = 0, y + height + _SPACING
            if move:
                place = QRect(x, y, taken, size.height())
                if self.isRightToLeft():
                    place.moveLeft(width - x - taken)
                chip.setGeometry(place)
            x += taken + _SPACING
            height = size.height()
        return y + height

    def _on_clicked(self) -> None:
        sender = self.sender()
        for chip, text in zip(self.chips, self._texts, strict=True):
            if chip is sender:
                self.chosen.emit(text)
