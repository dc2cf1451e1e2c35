"""A dock in a shown window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtWidgets import QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from qt_binding.assistant import AssistantDock
from tests.qt.assistant.fakes import FakeAnnouncer, FakeConversation


@pytest.fixture
def conversation() -> FakeConversation:
    """A conversation nobody has begun."""
    return FakeConversation()


@pytest.fixture
def announcer() -> FakeAnnouncer:
    """What would be spoken."""
    return FakeAnnouncer()


@pytest.fixture
def opened() -> list[QUrl]:
    """Addresses the browser was given."""
    return []


@pytest.fixture
def dock(
    qtbot: QtBot, conversation: FakeConversation, announcer: FakeAnnouncer, opened: list[QUrl]
) -> Iterator[AssistantDock]:
    """The dock in a shown window, showing ``conversation``."""
    window = QMainWindow()
    qtbot.addWidget(window)
    window.resize(900, 640)
    dock = AssistantDock(conversation, announcer=announcer, open_url=opened.append, parent=window)
    window.setCentralWidget(QWidget())
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    window.resizeDocks([dock], [420], Qt.Orientation.Horizontal)
    window.show()
    qtbot.waitExposed(window)
    yield dock
    window.close()
