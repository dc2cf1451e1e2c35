"""The signs of the tree, painted in the colours of the moment."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap

from qt_binding._looks import Colors, Glyph, paint_glyph
from qt_binding.inspector._reading import Sight

_SIDE = 16
_SCALES = (1, 2, 3)


def sight_icons(palette: QPalette) -> dict[Sight, QIcon]:
    """A sign for each way a consumer sees a capability, by shape as well as by colour."""
    colors = Colors.of(palette)
    selected = palette.color(QPalette.ColorRole.HighlightedText)
    return {
        Sight.AVAILABLE: _icon(Glyph.DONE, colors.done, selected),
        Sight.UNAVAILABLE: _icon(Glyph.WAITING, colors.waiting, selected),
        Sight.DISABLED: _icon(Glyph.REFUSED, colors.refused, selected),
        Sight.HIDDEN: _icon(Glyph.FAILED, colors.failed, selected),
    }


def _icon(glyph: Glyph, color: QColor, selected: QColor) -> QIcon:
    icon = QIcon()
    for mode, ink in ((QIcon.Mode.Normal, color), (QIcon.Mode.Selected, selected)):
        for scale in _SCALES:
            pixmap = QPixmap(_SIDE * scale, _SIDE * scale)
            pixmap.setDevicePixelRatio(scale)
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_glyph(painter, QRectF(1, 1, _SIDE - 2, _SIDE - 2), glyph, ink)
            painter.end()
            icon.addPixmap(pixmap, mode)
    return icon
