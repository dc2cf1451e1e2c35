"""The menu of the conversation: begin anew, export, settings; and what the conversation took."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtTest import QSignalSpy
from pytestqt.qtbot import QtBot

from agent_surface.assistant import TokenUsage
from qt_binding.assistant import AssistantDock
from tests.qt.assistant.fakes import FakeAnnouncer, FakeConversation


def test_a_new_conversation_begins_when_nothing_runs(dock: AssistantDock, conversation: FakeConversation) -> None:
    """The menu says so by what can be chosen in it."""
    header = dock.header
    header.menu.aboutToShow.emit()
    assert [action.isEnabled() for action in (header.clear_action, header.markdown_action)] == [False, False]
    conversation.send("hello")
    header.menu.aboutToShow.emit()
    assert [action.isEnabled() for action in (header.clear_action, header.markdown_action)] == [False, True]
    conversation.finishes()
    header.menu.aboutToShow.emit()
    header.clear_action.trigger()
    assert dock.welcome.isVisible()


def test_the_conversation_is_exported_where_the_person_wants_it(
    qtbot: QtBot, tmp_path: Path, dock: AssistantDock, conversation: FakeConversation, announcer: FakeAnnouncer
) -> None:
    """As Markdown and as JSON; what went wrong is one sentence."""
    conversation.person("hello")
    for action, name in ((dock.header.markdown_action, "talk.md"), (dock.header.json_action, "talk.json")):
        action.trigger()
        dialog = dock.export.dialog
        assert dialog is not None
        dialog.fileSelected.emit(str(tmp_path / name))
        dialog.reject()
        qtbot.waitUntil(lambda: dock.export.dialog is None)
        assert dock.status.label.shown_text == f"Exported to {name}."
    assert "hello" in (tmp_path / "talk.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "talk.json").read_text(encoding="utf-8")) == {"entries": 1}
    dock.header.json_action.trigger()
    dialog = dock.export.dialog
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "missing" / "talk.json"))
    assert announcer.said[-1][0] == "talk.json was not written: No such file or directory."
    dialog.reject()


def test_settings_are_offered_where_an_application_has_some(qtbot: QtBot, conversation: FakeConversation) -> None:
    """The dock only passes the wish on."""
    for has_settings in (False, True):
        dock = AssistantDock(conversation, has_settings=has_settings)
        qtbot.addWidget(dock)
        assert dock.header.settings_action.isVisible() is has_settings
        wanted = QSignalSpy(dock.settings_requested)
        dock.header.settings_action.trigger()
        assert wanted.count() == 1


def test_what_a_conversation_took_is_shown(dock: AssistantDock, conversation: FakeConversation) -> None:
    """When a turn is over, in tokens as the provider counts them."""
    conversation.send("hello")
    conversation.usage = TokenUsage(input_tokens=900, output_tokens=37)
    conversation.finishes()
    assert dock.status.label.shown_text == "Ready \u00b7 937 tokens used"
