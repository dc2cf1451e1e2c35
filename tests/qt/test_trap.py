"""The trap of the tests with hostile text catches what it is there for."""

from __future__ import annotations

import socket

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QTextBrowser
from pytestqt.qtbot import QtBot

from tests.qt.hostile import Trap


class _Careless(QTextBrowser):
    """A view that loads what a text asks for."""


@pytest.mark.parametrize("scheme", ["http", "https", "file", "javascript", "data"])
def test_an_address_that_is_opened_is_caught(qtbot: QtBot, scheme: str) -> None:
    """Whatever it leads to."""
    trap = Trap()
    QDesktopServices.openUrl(QUrl(f"{scheme}:x"))
    trap.close()
    assert trap.caught == [f"opened {scheme}:x"]


def test_a_connection_and_a_wanted_picture_are_caught(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one at the server, the other at the document."""
    trap = Trap()
    trap.watch(monkeypatch, _Careless)
    host, _, port = trap.bait("evil.example").partition(":")
    socket.create_connection((host, int(port))).close()
    view = _Careless()
    qtbot.addWidget(view)
    view.setHtml("<img src='file:///p.png'>")
    view.grab()
    trap.close()
    assert set(trap.caught) == {"asked for file:///p.png", "connected"}
