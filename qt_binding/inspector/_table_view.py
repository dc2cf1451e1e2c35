"""The views of the inspector: rows of text that others wrote, read one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)
from typing_extensions import override


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
        self.setItemDelegate(_Isolating(self))
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


class _Isolating(QStyledItemDelegate):
    """Draws each text in its own direction; a view from right to left would put the full stop before its sentence."""

    @override
    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        if option.text and option.direction is Qt.LayoutDirection.RightToLeft:
            # The marks are drawn as nothing and are in no model: what is copied or read out has none.
            option.text = f"\u2068{option.text}\u2069"
