"""Who the surface is looked at as."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from agent_surface import AgentConsumer
from qt_binding.inspector._reading import consumer_text, parse_consumer
from qt_binding.inspector._wording import cell, tr


class ConsumerBox(QComboBox):
    """A list of consumers to which any other can be written: ``kind:id``, then what it was granted.

    Signals:
        consumer_changed: Another one was chosen; with the consumer.
        refused: What was written is none; with the reason.
    """

    consumer_changed = Signal(object)
    refused = Signal(str)

    def __init__(self, consumers: Sequence[AgentConsumer], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._consumer = consumers[0]
        self._listed = list(dict.fromkeys(consumers))
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(18)
        self.setAccessibleName(tr("Seen by"))
        self.setToolTip(tr("A consumer: kind:id, then what it was granted, for example embedded:alice users.edit"))
        # What is shown of one need not be what it is called: hidden characters are written out.
        self.addItems([cell(consumer_text(one)) for one in self._listed])
        self.activated.connect(self._choose)
        line = self.lineEdit()
        if line is not None:
            line.setAccessibleName(tr("Seen by"))
            line.editingFinished.connect(self._choose)

    @property
    def consumer(self) -> AgentConsumer:
        """Who is looked as."""
        return self._consumer

    def _choose(self) -> None:
        row = self.currentIndex()
        listed = 0 <= row < len(self._listed) and self.itemText(row) == self.currentText()
        consumer = self._listed[row] if listed else parse_consumer(self.currentText())
        if consumer is None:
            self.refused.emit(tr("A consumer is written kind:id, for example embedded:assistant."))
        elif consumer != self._consumer:
            self._consumer = consumer
            if consumer not in self._listed:
                self._listed.append(consumer)
                self.addItem(cell(consumer_text(consumer)))
            self.consumer_changed.emit(consumer)
