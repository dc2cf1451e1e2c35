"""Everything the assistant can be asked for now, found by a few letters."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from agent_surface.assistant import OfferedTool
from qt_binding._looks import Colors, PlainLabel
from qt_binding._text import visible_text
from qt_binding.assistant._fuzzy import fuzzy_score
from qt_binding.assistant._wording import tr

_TOOL: Final = Qt.ItemDataRole.UserRole
_MOVES: Final = frozenset({Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown})
_MAX_CHARACTERS: Final = 200


class CommandPalette(QDialog):
    """A field and a list. Writing narrows the list, the arrow keys move in it, Enter chooses, Esc closes.

    What cannot be used now stands at the end with its reason and cannot be chosen.

    Signals:
        chosen: With the summary of what was chosen.
    """

    chosen = Signal(str)

    def __init__(self, tools: Sequence[OfferedTool], parent: QWidget | None = None) -> None:
        # Before Qt's part: it calls the overrides below while it is being made.
        self._tools = tuple(sorted(tools, key=lambda tool: not tool.state.available))
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("What the assistant can do"))
        self.list = QListWidget()
        self.query = _Query(self.list)
        self.query.setPlaceholderText(tr("Find something to do\u2026"))
        self.query.setAccessibleName(tr("Find something to do"))
        self.query.setClearButtonEnabled(True)
        self.list.setItemDelegate(_TwoLines(self.list))
        self.list.setAccessibleName(tr("What can be done"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.empty = PlainLabel()
        self.empty.setContentsMargins(8, 8, 8, 8)
        layout = QVBoxLayout(self)
        layout.addWidget(self.query)
        layout.addWidget(self.empty)
        layout.addWidget(self.list, 1)
        self.query.textChanged.connect(self._narrow)
        self.query.returnPressed.connect(self._choose_current)
        self.list.itemClicked.connect(self._choose)
        self._narrow("")

    @override
    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.averageCharWidth() * 84, metrics.lineSpacing() * 24)

    def _narrow(self, query: str) -> None:
        scored = [(fuzzy_score(query, _searched(tool)), tool) for tool in self._tools]
        found = [(score, tool) for score, tool in scored if score is not None]
        # The order of equals stays: usable ones first, as they were offered.
        found.sort(key=lambda pair: (not pair[1].state.available, -pair[0]))
        self.list.clear()
        for _, tool in found:
            self.list.addItem(_item(tool))
        self.list.setVisible(bool(found))
        self.empty.set_text(
            tr("Nothing like that can be done here.") if self._tools else tr("Nothing can be done here.")
        )
        self.empty.setVisible(not found)
        if found and found[0][1].state.available:
            self.list.setCurrentRow(0)

    def _choose_current(self) -> None:
        row = self.list.currentRow()
        if row >= 0:
            self._choose(self.list.item(row))

    def _choose(self, item: QListWidgetItem) -> None:
        tool = item.data(_TOOL)
        if isinstance(tool, OfferedTool) and tool.state.available:
            self.accept()
            self.chosen.emit(tool.definition.summary)


class _Query(QLineEdit):
    """The field keeps the keyboard; what moves in a list goes on to the list."""

    def __init__(self, moved: QWidget) -> None:
        super().__init__()
        self._moved = moved

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _MOVES:
            QApplication.sendEvent(self._moved, event)
        else:
            super().keyPressEvent(event)


class _TwoLines(QStyledItemDelegate):
    """A title, and below it in a quieter colour where it belongs or why it cannot be used."""

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, option.fontMetrics.lineSpacing() * 2 + 12)

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        self.initStyleOption(option, index)
        tool = index.data(_TOOL)
        if not isinstance(tool, OfferedTool):
            return
        option.text = ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        colors = Colors.of(option.palette)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        ink = option.palette.color(QPalette.ColorRole.HighlightedText) if selected else colors.text
        quiet = ink if selected else colors.muted
        inner: QRect = option.rect.adjusted(10, 6, -10, -6)
        line = option.fontMetrics.lineSpacing()
        align = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
        painter.save()
        # Each text in its own direction, at the side that the window reads from.
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        for row, (text, color) in enumerate(
            ((_title(tool), ink if tool.state.available else quiet), (_subtitle(tool), quiet))
        ):
            place = QRect(inner.left(), inner.top() + row * line, inner.width(), line)
            shown = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, place.width())
            painter.setPen(color)
            painter.drawText(place, int(style.visualAlignment(option.direction, align)), shown)
        painter.restore()


def _item(tool: OfferedTool) -> QListWidgetItem:
    item = QListWidgetItem()
    item.setData(_TOOL, tool)
    item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{_title(tool)}. {_subtitle(tool)}")
    # Qt guesses the format of a tool tip, so the guess is made for it.
    item.setToolTip(f"<qt>{html.escape(_title(tool))}<br>{html.escape(_subtitle(tool))}</qt>")
    if not tool.state.available:
        item.setFlags(Qt.ItemFlag.NoItemFlags)
    return item


def _searched(tool: OfferedTool) -> str:
    return f"{tool.definition.summary} {tool.definition.capability_id}"


def _title(tool: OfferedTool) -> str:
    return visible_text(tool.definition.summary[:_MAX_CHARACTERS], keep_newlines=False)


def _subtitle(tool: OfferedTool) -> str:
    component = tool.definition.component
    where = component.type if component.instance_id == "default" else f"{component.type} \u203a {component.instance_id}"
    if not tool.state.available:
        where = tr("Not now: %1").replace("%1", tool.state.unavailable_reason or where)
    return visible_text(where[:_MAX_CHARACTERS], keep_newlines=False)
