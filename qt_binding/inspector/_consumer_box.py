"""Who the surface is looked at as."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from agent_surface import AgentConsumer
from qt_binding.inspector._reading import consumer_text, parse_consumer
from qt_binding.inspector._wording import tr


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
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(18)
        self.setAccessibleName(tr("Seen by"))
        self.setToolTip(tr("A consumer: kind:id, then what it was granted, for example embedded:alice users.edit"))
        self.addItems(list(dict.fromkeys(consumer_text(one) for one in consumers)))
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
        consumer = parse_consumer(self.currentText())
        if consumer is None:
            self.refused.emit(tr("A consumer is written kind:id, for example embedded:assistant."))
        elif consumer != self._consumer:
            self._consumer = consumer
            if self.findText(consumer_text(consumer)) < 0:
                self.addItem(consumer_text(consumer))
            self.consumer_changed.emit(consumer)
