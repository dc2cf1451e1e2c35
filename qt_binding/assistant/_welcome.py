"""What an empty conversation shows in place of nothing."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from qt_binding._looks import Colors
from qt_binding.assistant._wording import tr


class Welcome(QWidget):
    """Says what the assistant is for and what it may do, in the middle of the empty space."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._heading = tr("What shall I do for you?")
        self._body = tr(
            "Ask in your own words. The assistant works in this window with what the application offers it, "
            "and you decide whenever a step needs your confirmation."
        )
        self.setAccessibleName(f"{self._heading} {self._body}")

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = Colors.of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        strong = QFont(self.font())
        strong.setPointSizeF(max(1.0, self.font().pointSizeF()) * 1.35)
        strong.setWeight(QFont.Weight.DemiBold)
        flags = int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop) | int(Qt.TextFlag.TextWordWrap)
        width = min(self.width() - 48, self.fontMetrics().averageCharWidth() * 46)
        left = (self.width() - width) / 2
        line = self.fontMetrics().lineSpacing()
        painter.setFont(strong)
        heading = painter.boundingRect(QRectF(left, 0, width, 4000), flags, self._heading)
        painter.setFont(self.font())
        body = painter.boundingRect(QRectF(left, 0, width, 4000), flags, self._body)
        sign = line * 2.6
        top = max(8.0, (self.height() - sign - heading.height() - body.height() - line * 1.6) / 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.person)
        badge = QRectF((self.width() - sign) / 2, top, sign, sign)
        painter.drawEllipse(badge)
        painter.setBrush(colors.accent)
        painter.drawPath(_spark(badge.adjusted(sign * 0.22, sign * 0.22, -sign * 0.22, -sign * 0.22)))
        top += sign + line
        painter.setPen(colors.text)
        painter.setFont(strong)
        painter.drawText(QRectF(left, top, width, heading.height() + 2), flags, self._heading)
        top += heading.height() + line * 0.6
        painter.setPen(colors.muted)
        painter.setFont(self.font())
        painter.drawText(QRectF(left, top, width, body.height() + 2), flags, self._body)
        painter.end()


def _spark(rect: QRectF) -> QPainterPath:
    """A four-pointed star with hollow sides."""
    center = rect.center()
    points = (
        (rect.center().x(), rect.top()),
        (rect.right(), center.y()),
        (center.x(), rect.bottom()),
        (rect.left(), center.y()),
    )
    path = QPainterPath()
    path.moveTo(*points[0])
    for x, y in (*points[1:], points[0]):
        path.quadTo(center.x(), center.y(), x, y)
    path.closeSubpath()
    return path
