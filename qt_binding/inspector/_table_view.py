"""The views of the inspector: rows of text that others wrote, read one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QSize
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)
from typing_extensions import override

from qt_binding._looks import in_own_direction

_ROOM = 4


class TableView(QTreeView):
    """A tree or table that is looked at and not edited.

    Args:
        model: What is shown.
        columns: Widths of the columns but the last, in characters.
        name: What it is called to a person who does not see it.
        parent: Qt owner.
    """

    def __init__(
        self, model: QAbstractItemModel, *, columns: Sequence[int], name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setItemDelegate(_Rows(self))
        self.setUniformRowHeights(True)
        self.setAlternatingRowColors(True)
        self.setAllColumnsShowFocus(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAccessibleName(name)
        header = self.header()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        for column, characters in enumerate(columns):
            header.resizeSection(column, self.fontMetrics().averageCharWidth() * characters)


class _Rows(QStyledItemDelegate):
    """Draws each text in its own direction, in rows of one height, whether a sign stands in them or not."""

    @override
    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        # The marks are in no model: what is copied or read out has none.
        option.text = in_own_direction(option.text, option.direction)

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        hint = super().sizeHint(option, index)
        highest = max(option.fontMetrics.height(), option.decorationSize.height())
        return QSize(hint.width(), max(hint.height(), highest + _ROOM))
