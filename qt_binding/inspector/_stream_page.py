"""What happens, as it happens."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from qt_binding._looks import PlainLabel, in_own_direction
from qt_binding.inspector._editors import text_field
from qt_binding.inspector._facts import bounded, json_text
from qt_binding.inspector._stream import StreamEntry, StreamModel, Topic
from qt_binding.inspector._table_view import TableView
from qt_binding.inspector._wording import tr


class StreamPage(QWidget):
    """The latest entries, filtered by topic and text; it follows the newest unless the person is elsewhere.

    Args:
        model: What is shown.
        audit_readable: Whether the audit is among it.
        parent: Qt owner.
    """

    def __init__(self, model: StreamModel, *, audit_readable: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._audit_readable = audit_readable
        self._filtered = _ByTopic(self)
        self._filtered.setSourceModel(model)
        self.topics = QComboBox()
        self.filter = QLineEdit()
        self.pause = QPushButton(tr("&Pause"))
        self.clear = QPushButton(tr("C&lear"))
        self.view = TableView(self._filtered, columns=(15, 24, 36), name=tr("Events"))
        self.details = text_field(lines=4, fixed=True)
        self.summary = PlainLabel()
        self._held: list[StreamEntry] = []
        self._build()
        self.topics.currentIndexChanged.connect(self._choose_topic)
        self.filter.textChanged.connect(self._filtered.setFilterFixedString)
        self.filter.textChanged.connect(self._count)
        self.pause.toggled.connect(self._release)
        self.clear.clicked.connect(self._forget)
        self.view.selectionModel().currentChanged.connect(self._show_current)
        self._count()

    def extend(self, entries: list[StreamEntry]) -> None:
        """Show more entries, or hold them back while the person has paused."""
        if self.pause.isChecked():
            self._held.extend(entries)
            # What will not fit any more need not be held.
            surplus = len(self._held) - self._model.capacity
            if surplus > 0:
                del self._held[:surplus]
                self._model.dropped += surplus
        else:
            bar = self.view.verticalScrollBar()
            at_end = bar.value() >= bar.maximum() - 2
            self._model.extend(entries)
            if at_end:
                self.view.scrollToBottom()
        self._count()

    def _release(self, paused: bool) -> None:
        if not paused:
            held, self._held = self._held, []
            self.extend(held)
        self._count()

    def _forget(self) -> None:
        self._held.clear()
        self._model.clear()
        self._count()

    def _choose_topic(self) -> None:
        self._filtered.show_topic(self.topics.currentData())
        self._count()

    def _show_current(self, *_indexes: QModelIndex) -> None:
        index = self._filtered.mapToSource(self.view.currentIndex())
        entry = self._model.entry(index.row()) if index.isValid() else None
        self.details.setPlainText("" if entry is None else bounded(json_text(entry.details)))

    def _count(self) -> None:
        number = self.locale().toString
        said = tr("%1 of %2 shown").replace("%2", number(self._model.rowCount()))
        parts = [said.replace("%1", number(self._filtered.rowCount()))]
        if self._model.dropped:
            parts.append(tr("%1 older ones let go").replace("%1", number(self._model.dropped)))
        if self.pause.isChecked():
            parts.append(tr("paused, %1 held back").replace("%1", number(len(self._held))))
        if not self._audit_readable:
            parts.append(tr("this registry's audit is not kept in memory"))
        self.summary.set_text(" \u00b7 ".join(parts))
        begun = self._model.rowCount() > 0
        hint = tr("Choose an event.") if begun else tr("What happens from now on will be listed here.")
        self.details.setPlaceholderText(in_own_direction(hint))

    def _build(self) -> None:
        for text, topic in (
            (tr("Everything"), ""),
            (tr("Calls"), Topic.CALLS),
            (tr("Surface"), Topic.SURFACE),
            (tr("Confirmations"), Topic.CONFIRMATIONS),
            (tr("Audit"), Topic.AUDIT),
        ):
            self.topics.addItem(text, str(topic))
        self.topics.setAccessibleName(tr("Topic"))
        self.filter.setPlaceholderText(tr("Filter by any word"))
        self.filter.setAccessibleName(tr("Filter the events"))
        self.filter.setClearButtonEnabled(True)
        self.pause.setCheckable(True)
        self.view.setRootIsDecorated(False)
        self.details.setReadOnly(True)
        self.details.setMinimumHeight(self.fontMetrics().lineSpacing() * 3)
        self.details.setMaximumHeight(16_777_215)
        self.details.setAccessibleName(tr("Details"))
        head = QHBoxLayout()
        head.addWidget(self.topics)
        head.addWidget(self.filter, 1)
        head.addWidget(self.pause)
        head.addWidget(self.clear)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(self.view)
        splitter.addWidget(self.details)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 1)
        splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.addLayout(head)
        layout.addWidget(splitter, 1)
        layout.addWidget(self.summary)


class _ByTopic(QSortFilterProxyModel):
    """Text in any column, and one topic or all."""

    def __init__(self, parent: QWidget) -> None:
        # Before Qt's part: it calls the override below while it is being made.
        self._topic = ""
        super().__init__(parent)
        self.setFilterKeyColumn(-1)
        self.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)

    def show_topic(self, topic: str) -> None:
        """Show one topic; the empty one is all."""
        self._topic = topic
        self.invalidate()

    @override
    def filterAcceptsRow(self, source_row: int, source_parent: QModelIndex | QPersistentModelIndex) -> bool:
        if self._topic:
            index = self.sourceModel().index(source_row, 0, source_parent)
            if index.data(Qt.ItemDataRole.UserRole) != self._topic:
                return False
        return super().filterAcceptsRow(source_row, source_parent)
