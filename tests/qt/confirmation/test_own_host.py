"""An application's own host, built on the model and its signals alone."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QListView, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from qt_binding.confirmation import PendingConfirmationsModel, PendingRole
from tests.core.confirmations.store_under_test import StoreUnderTest, binding_of
from tests.qt.confirmation.person import click, turn


class Panel(QWidget):
    """A list of everything that is asked, with two buttons: an inbox instead of dialogs."""

    def __init__(self, model: PendingConfirmationsModel) -> None:
        super().__init__()
        self._model = model
        self.log: list[str] = []
        self.view = QListView()
        self.view.setModel(model)
        self.approve = QPushButton("Approve")
        self.deny = QPushButton("Deny")
        layout = QVBoxLayout(self)
        for widget in (self.view, self.approve, self.deny):
            layout.addWidget(widget)
        self.approve.clicked.connect(self._approve)
        self.deny.clicked.connect(self._deny)
        model.confirmation_requested.connect(self._requested)
        model.confirmation_ended.connect(self._ended)

    def _current(self) -> str:
        return str(self.view.currentIndex().data(PendingRole.CONFIRMATION_ID))

    def _approve(self) -> None:
        self._model.approve(self._current())

    def _deny(self) -> None:
        self._model.deny(self._current(), "from the inbox")

    def _requested(self, confirmation_id: str) -> None:
        self.log.append(f"requested {confirmation_id[-1]}")

    def _ended(self, confirmation_id: str, _resolution: object) -> None:
        self.log.append(f"ended {confirmation_id[-1]}")


@pytest.mark.requirement("QT-CONF-007")
def test_an_inbox_can_replace_the_dialogs(qtbot: QtBot) -> None:
    """Everything is seen, chosen and answered through roles, two methods and two signals."""
    under_test = StoreUnderTest()
    model = PendingConfirmationsModel(under_test.store, clock=under_test.clock)
    panel = Panel(model)
    panel.show()
    qtbot.waitExposed(panel)
    ids = [under_test.request(binding_of({"n": number})).confirmation_id for number in range(3)]
    turn()
    panel.view.setCurrentIndex(model.index(1))
    click(panel.approve)
    panel.view.setCurrentIndex(model.index(0))
    click(panel.deny)
    under_test.store.waiter.withdraw(ids[2])
    outcomes = [under_test.store.resolution(one) for one in ids]
    assert [(one.outcome.value, one.note) for one in outcomes if one is not None] == [
        ("denied", "from the inbox"),
        ("approved", None),
        ("expired", None),
    ]
    assert panel.log == ["requested 1", "requested 2", "requested 3", "ended 2", "ended 1", "ended 3"]
    assert model.rowCount() == 0
    panel.close()
    panel.deleteLater()
    turn()
