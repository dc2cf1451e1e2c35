"""What waits for a person's decision. It shows; answers are given in the confirmation dialog."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from agent_surface import PendingConfirmation
from qt_binding._looks import PlainLabel, effect_word, in_own_direction
from qt_binding.inspector._facts import Fact, FactsView, json_text
from qt_binding.inspector._steps import Insert, Move, Remove, steps
from qt_binding.inspector._table_view import TableView
from qt_binding.inspector._wording import cell, tool_tip, tr


class PendingPage(QWidget):
    """The pending requests, oldest first, with everything that is known of the chosen one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pending: tuple[PendingConfirmation, ...] = ()
        self.model = QStandardItemModel(0, 4, self)
        self.model.setHorizontalHeaderLabels([tr("Capability"), tr("Asked by"), tr("Effect"), tr("Asked at (UTC)")])
        self.view = TableView(self.model, columns=(36, 24, 18), name=tr("Pending confirmations"))
        self.facts = FactsView()
        self.summary = PlainLabel()
        self._build()
        self.view.selectionModel().currentChanged.connect(self._show_current)
        self.show_pending(())

    def show_pending(self, pending: Sequence[PendingConfirmation]) -> None:
        """Show what is pending now; what stays keeps its row and its selection."""
        before = [one.confirmation_id for one in self._pending]
        self._pending = tuple(pending)
        for step in steps(before, [one.confirmation_id for one in pending]):
            match step:
                case Remove(first=first, last=last):
                    self.model.removeRows(first, last - first + 1)
                case Insert(first=first, last=last):
                    for row in range(first, last + 1):
                        self.model.insertRow(row, _items(pending[row]))
                case Move(source=source, target=target):
                    self.model.insertRow(target, self.model.takeRow(source))
        self.summary.set_text(
            tr("Waiting for a decision in the confirmation dialog: %1").replace(
                "%1", self.locale().toString(len(pending))
            )
            if pending
            else tr("Nothing waits for a decision.")
        )
        self.facts.setPlaceholderText(
            in_own_direction(tr("Choose a request.") if pending else tr("What is known of a request will be here."))
        )
        self._show_current()

    def _show_current(self, *_indexes: QModelIndex) -> None:
        row = self.view.currentIndex().row()
        self.facts.show_facts(_facts(self._pending[row]) if 0 <= row < len(self._pending) else ())

    def _build(self) -> None:
        self.view.setRootIsDecorated(False)
        self.facts.setAccessibleName(tr("Details"))
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(self.view)
        splitter.addWidget(self.facts)
        splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.addWidget(splitter, 1)
        layout.addWidget(self.summary)


def _items(pending: PendingConfirmation) -> list[QStandardItem]:
    texts = (pending.capability_id, pending.consumer_key, effect_word(pending.effect), pending.requested_at)
    items = [QStandardItem(cell(text)) for text in texts]
    for item, text in zip(items, texts, strict=True):
        item.setToolTip(tool_tip(text))
    return items


def _facts(pending: PendingConfirmation) -> list[Fact]:
    return [
        Fact(name=tr("Confirmation"), value=pending.confirmation_id, code=True),
        Fact(name=tr("Description"), value=pending.description),
        Fact(name=tr("Summary"), value=pending.summary),
        Fact(name=tr("Component"), value=f"{pending.component_type} \u203a {pending.instance_id}"),
        Fact(name=tr("Asked by"), value=pending.consumer_key),
        Fact(name=tr("Expires"), value=pending.expires_at),
        Fact(name=tr("From the screen"), value=", ".join(pending.bound_fields) or "-"),
        Fact(name=tr("Input"), value=json_text(pending.input), code=True),
    ]
