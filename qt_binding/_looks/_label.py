"""A label for text nobody vouches for: plain, wrapped anywhere, in a colour that can be read."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget
from typing_extensions import override

from qt_binding._looks._direction import direction_of
from qt_binding._looks._shortened import shortened
from qt_binding._text import broken_runs, visible_text

_MAX_CHARACTERS: Final = 2_000


class PlainLabel(QLabel):
    """A label whose text can neither be taken for markup nor widen or leave its window, however long a word of it is.

    Of a text of thousands of characters it shows the beginning, and how much more there is. To assistive technology it
    is the label it stands for; how it is drawn is its own.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        # Before Qt's part: it calls the overrides below while it is being made.
        self._text = ""
        self._color = QColor()
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        # Ignored: a label takes the width there is and asks for none.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def shown_text(self) -> str:
        """What is shown, already made visible."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show other text; hidden characters are written out."""
        self._show(visible_text(shortened(text, _MAX_CHARACTERS)))

    def set_lines(self, *lines: str) -> None:
        """Show other text, each argument on a line of its own; a line break inside one is written out."""
        self._show("\n".join(_on_one_line(line) for line in lines))

    def _show(self, shown: str) -> None:
        if shown != self._text:
            self._text = shown
            self.setText(shown)
            self.setAccessibleName(shown)
            self.updateGeometry()
            self.update()

    def set_color(self, color: QColor) -> None:
        """Paint in another colour."""
        if color != self._color:
            self._color = color
            self.update()

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, width: int) -> int:
        return sum(int(layout.boundingRect().height() + 0.999) for layout in self._laid_out(max(1, width)))

    @override
    def sizeHint(self) -> QSize:
        metrics = QFontMetricsF(self.font())
        widest = max((metrics.horizontalAdvance(line) for line in self._text.split("\n")), default=0.0)
        width = int(min(widest, 4000.0)) + 2
        return QSize(width, self.heightForWidth(width))

    @override
    def minimumSizeHint(self) -> QSize:
        metrics = QFontMetricsF(self.font())
        return QSize(int(metrics.averageCharWidth() * 4), int(metrics.height()))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._color if self._color.isValid() else self.palette().windowText().color()
        painter.setPen(color)
        top = 0.0
        for layout in self._laid_out(max(1, self.width())):
            layout.draw(painter, QPointF(0.0, top))
            top += layout.boundingRect().height()
        painter.end()

    def _laid_out(self, width: int) -> list[QTextLayout]:
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        side = Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft
        option.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute)
        result: list[QTextLayout] = []
        for paragraph in broken_runs(self._text).split("\n"):
            option.setTextDirection(direction_of(paragraph))
            layout = QTextLayout(paragraph, self.font())
            layout.setTextOption(option)
            layout.beginLayout()
            height = 0.0
            while (line := layout.createLine()).isValid():
                line.setLineWidth(width)
                line.setPosition(QPointF(0.0, height))
                height += line.height()
            layout.endLayout()
            result.append(layout)
        return result


def _on_one_line(text: str) -> str:
    beginning, more = text[:_MAX_CHARACTERS], shortened(text, _MAX_CHARACTERS)[_MAX_CHARACTERS:]
    return visible_text(beginning, keep_newlines=False) + more
