"""How states, times and commands look. Colours follow the palette; nothing here is a style sheet."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPalette, QPen, QPixmap
from PySide6.QtWidgets import QStyle, QWidget

from demo_app.domain import DeviceStatus

_ICON_SIZE = 16
_SCALES = (1, 2, 3)
# On light and on dark backgrounds; each at least 3:1 against the window and view colours of either kind.
_COLOURS: dict[DeviceStatus, tuple[str, str]] = {
    DeviceStatus.ONLINE: ("#1b7f3b", "#57d98a"),
    DeviceStatus.OFFLINE: ("#c1272d", "#ff8a80"),
    DeviceStatus.MAINTENANCE: ("#9a6700", "#f2c14e"),
    DeviceStatus.DISABLED: ("#5f6368", "#b0b4ba"),
}


def is_dark(palette: QPalette) -> bool:
    """Whether the palette is a dark one, judged by what is seen: text lighter than its background."""
    return (
        palette.color(QPalette.ColorRole.WindowText).lightness() > palette.color(QPalette.ColorRole.Window).lightness()
    )


def status_label(status: DeviceStatus) -> str:
    """The state's name for people."""
    match status:
        case DeviceStatus.ONLINE:
            return QCoreApplication.translate("DeviceStatus", "Online")
        case DeviceStatus.OFFLINE:
            return QCoreApplication.translate("DeviceStatus", "Offline")
        case DeviceStatus.MAINTENANCE:
            return QCoreApplication.translate("DeviceStatus", "Maintenance")
        case DeviceStatus.DISABLED:
            return QCoreApplication.translate("DeviceStatus", "Disabled")


def status_icon(status: DeviceStatus, palette: QPalette) -> QIcon:
    """A sign for the state: shape and colour, so that colour is never the only difference."""
    icon = QIcon()
    colours = {
        QIcon.Mode.Normal: QColor(_COLOURS[status][is_dark(palette)]),
        # On a selected row nothing but the colour made for it can be relied on.
        QIcon.Mode.Selected: palette.color(QPalette.ColorRole.HighlightedText),
    }
    for mode, colour in colours.items():
        for scale in _SCALES:
            icon.addPixmap(_status_pixmap(status, colour, scale), mode)
    return icon


def time_text(moment: datetime | None, *, long: bool = False) -> str:
    """A moment in local time and the locale's form; a hyphen for never."""
    if moment is None:
        return "-"
    local = QDateTime.fromSecsSinceEpoch(int(moment.timestamp()))
    locale, short = QLocale(), QLocale.FormatType.ShortFormat
    if not long:
        return locale.toString(local, short)
    # The long form of a time of day names its zone in full, which is the reader's own.
    return QCoreApplication.translate("Moment", "{date}, {time}").format(
        date=locale.toString(local.date(), QLocale.FormatType.LongFormat), time=locale.toString(local.time(), short)
    )


def leading_side() -> Qt.AlignmentFlag:
    """The side windows are read from; by itself a label wider than its text begins where the text is read from."""
    side = Qt.AlignmentFlag.AlignRight if QGuiApplication.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignAbsolute


def command_icon(widget: QWidget, theme_name: str, fallback: QStyle.StandardPixmap) -> QIcon:
    """The desktop's icon of that name, or the style's own."""
    return QIcon.fromTheme(theme_name, widget.style().standardIcon(fallback, None, widget))


def _status_pixmap(status: DeviceStatus, colour: QColor, scale: int) -> QPixmap:
    pixmap = QPixmap(_ICON_SIZE * scale, _ICON_SIZE * scale)
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _paint_status(painter, status, colour)
    painter.end()
    return pixmap


def _paint_status(painter: QPainter, status: DeviceStatus, colour: QColor) -> None:
    box = QRectF(3, 3, 10, 10)
    painter.setPen(QPen(colour, 2))
    match status:
        case DeviceStatus.ONLINE:
            painter.setBrush(colour)
            painter.drawEllipse(box)
        case DeviceStatus.OFFLINE:
            painter.drawLine(QPointF(4, 4), QPointF(12, 12))
            painter.drawLine(QPointF(12, 4), QPointF(4, 12))
        case DeviceStatus.MAINTENANCE:
            painter.setPen(QPen(colour, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
            painter.drawPolygon([QPointF(8, 3), QPointF(14, 13), QPointF(2, 13)])
        case DeviceStatus.DISABLED:
            painter.drawEllipse(box)
            painter.drawLine(QPointF(4.5, 11.5), QPointF(11.5, 4.5))
