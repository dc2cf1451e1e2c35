"""A link opens only after the person saw where it really leads."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QMessageBox

from qt_binding.assistant import AssistantDock
from qt_binding.assistant._links import real_address
from qt_binding.assistant._rows import MessageRow
from tests.qt.assistant.fakes import FakeConversation, focused


def _box(dock: AssistantDock) -> QMessageBox | None:
    boxes = [box for box in dock.findChildren(QMessageBox) if box.isVisible()]
    return boxes[0] if boxes else None


def _click_link(dock: AssistantDock, conversation: FakeConversation, address: str) -> None:
    message = conversation.says(f"[read this]({address})")
    row = dock.transcript.row_of(message.message_id)
    assert isinstance(row, MessageRow)
    row.browser.anchorClicked.emit(QUrl(address))


@pytest.mark.requirement("QT-DOCK-005")
def test_a_link_opens_after_the_person_said_so(
    dock: AssistantDock, conversation: FakeConversation, opened: list[QUrl]
) -> None:
    """And not before."""
    _click_link(dock, conversation, "https://example.com/handbook")
    box = _box(dock)
    assert box is not None
    assert opened == []
    assert box.informativeText() == "https://example.com/handbook"
    button = box.findChild(QAbstractButton, "openLink")
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert opened == [QUrl("https://example.com/handbook")]


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_a_hasty_key_opens_nothing(
    dock: AssistantDock, conversation: FakeConversation, opened: list[QUrl], key: Qt.Key
) -> None:
    """The default button is the harmless one."""
    _click_link(dock, conversation, "https://example.com/")
    box = _box(dock)
    assert box is not None
    QTest.keyClick(box, key)
    assert (opened, _box(dock)) == ([], None)


def test_the_question_names_the_host_a_deceptive_address_leads_to(
    dock: AssistantDock, conversation: FakeConversation
) -> None:
    """What stands before an @ is a user name, and letters that look alike are spelled out."""
    _click_link(dock, conversation, "https://bank.example@evil.example/")
    box = _box(dock)
    assert box is not None
    assert "of evil.example in" in box.text()
    assert box.textFormat() is Qt.TextFormat.PlainText
    box.close()
    assert real_address(QUrl("https://\u0430pple.com/\u202e")) == "https://xn--pple-43d.com/%E2%80%AE"


@pytest.mark.requirement("QT-DOCK-005")
@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:alert(1)", "mailto:a@example.com"])
def test_other_schemes_ask_and_open_nothing(
    dock: AssistantDock, conversation: FakeConversation, opened: list[QUrl], address: str
) -> None:
    """They are no links in the first place; this is what happens if one were."""
    _click_link(dock, conversation, address)
    assert (_box(dock), opened) == (None, [])


def test_one_question_stands_at_a_time(dock: AssistantDock, conversation: FakeConversation) -> None:
    """A second click does not stack dialogs; after the answer the next link asks again."""
    _click_link(dock, conversation, "https://one.example/")
    _click_link(dock, conversation, "https://two.example/")
    box = _box(dock)
    assert box is not None
    assert box.informativeText() == "https://one.example/"
    box.close()
    _click_link(dock, conversation, "https://two.example/")
    again = _box(dock)
    assert again is not None
    assert again.informativeText() == "https://two.example/"
    again.close()


def test_a_link_is_reached_and_chosen_with_the_keyboard(
    dock: AssistantDock, conversation: FakeConversation, opened: list[QUrl]
) -> None:
    """Tab goes to the link inside the message, Enter asks."""
    message = conversation.says("Please [read this](https://example.com/) today.")
    row = dock.transcript.row_of(message.message_id)
    assert isinstance(row, MessageRow)
    row.browser.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(row.browser, Qt.Key.Key_Tab)
    QTest.keyClick(focused(), Qt.Key.Key_Return)
    box = _box(dock)
    assert box is not None
    assert (box.informativeText(), opened) == ("https://example.com/", [])
    box.close()
