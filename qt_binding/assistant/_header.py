"""The top of the dock: who has control, and what can be done with the conversation."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QWidget
from typing_extensions import override

from qt_binding._looks import Colors, Glyph, GlyphView, PlainLabel
from qt_binding.assistant._pill import PillButton, PillStyle
from qt_binding.assistant._wording import tr


class DockHeader(QWidget):
    """A line of commands.

    Attributes:
        palette_action: Opens what the assistant can do.
        clear_action: Begins a new conversation.
        markdown_action: Writes the conversation as Markdown.
        json_action: Writes the conversation as JSON.
        settings_action: Opens the settings; hidden unless the application has some.

    Signals:
        take_over_requested: The person wants control.
    """

    take_over_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.take_over = PillButton(tr("Take over"), style=PillStyle.OUTLINED)
        self.take_over.setToolTip(tr("Stop every assistant and keep control until you hand it back"))
        self.take_over.setAccessibleDescription(self.take_over.toolTip())
        self.palette_action = QAction(tr("&What can be done\u2026"), self)
        self.palette_action.setShortcut(QKeySequence("Ctrl+Shift+P"))
        self.palette_action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        self.clear_action = QAction(tr("&New conversation"), self)
        self.markdown_action = QAction(tr("Export as &Markdown\u2026"), self)
        self.json_action = QAction(tr("Export as &JSON\u2026"), self)
        self.settings_action = QAction(tr("&Settings\u2026"), self)
        self.settings_action.setVisible(False)
        menu = QMenu(self)
        menu.addAction(self.palette_action)
        menu.addSeparator()
        menu.addActions([self.clear_action, self.markdown_action, self.json_action])
        menu.addSeparator()
        menu.addAction(self.settings_action)
        self.menu = menu
        self.more = PillButton("\u22ef")
        self.more.setAccessibleName(tr("Conversation menu"))
        self.more.setToolTip(tr("Conversation menu"))
        self.more.clicked.connect(self._open_menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 0)
        row.addWidget(self.take_over)
        row.addStretch(1)
        row.addWidget(self.more)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.take_over.clicked.connect(self.take_over_requested)

    def _open_menu(self) -> None:
        corner = self.more.rect().bottomLeft() if self.isRightToLeft() else self.more.rect().bottomRight()
        place = self.more.mapToGlobal(corner)
        if not self.isRightToLeft():
            place.setX(place.x() - self.menu.sizeHint().width())
        self.menu.popup(place)


class ControlBanner(QWidget):
    """Says that the person has control, and gives it back.

    Signals:
        hand_back_requested: The person wants the assistant to go on.
    """

    hand_back_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._glyph = GlyphView()
        self.label = PlainLabel()
        self.label.set_text(tr("You have control. Assistants can do nothing until you hand it back."))
        self.hand_back = PillButton(tr("Hand back"), style=PillStyle.FILLED)
        self.hand_back.setAccessibleDescription(self.label.shown_text)
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 8, 24, 8)
        row.addWidget(self._glyph)
        row.addWidget(self.label, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.hand_back)
        # Not Minimum: Qt would demand the height of the text in its narrowest shape, and the window would grow by that.
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.hand_back.clicked.connect(self.hand_back_requested)
        self._apply_colors()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._apply_colors()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        colors = Colors.of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(colors.waiting_panel)
        painter.setPen(QPen(colors.waiting, 1.0))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(12.5, 0.5, -12.5, -0.5), 10, 10)
        painter.end()

    def _apply_colors(self) -> None:
        colors = Colors.of(self.palette())
        self._glyph.set_glyph(Glyph.WAITING, colors.waiting)
        self.label.set_color(colors.text)
