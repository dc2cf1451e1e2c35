"""What can be done is found by a few letters and chosen with the keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from agent_surface.assistant import OfferedTool
from agent_surface.invocation import CapabilityKind, ComponentRef, Confirmation, Effect, Plane
from agent_surface.toolset import ToolDefinition, ToolState
from qt_binding.assistant import AssistantDock
from qt_binding.assistant._fuzzy import fuzzy_score
from tests.qt.assistant.fakes import FakeConversation


def _tool(name: str, summary: str, *, reason: str | None = None) -> OfferedTool:
    return OfferedTool(
        definition=ToolDefinition(
            name=name,
            description=summary,
            input_schema={"type": "object"},
            capability_id=f"view:test.{name}",
            summary=summary,
            kind=CapabilityKind.ACTION,
            plane=Plane.VIEW,
            effect=Effect.LOCAL_STATE,
            confirmation=Confirmation.NEVER,
            idempotent=False,
            reversible=None,
            component=ComponentRef(type="test.parts"),
        ),
        state=ToolState(available=reason is None, unavailable_reason=reason),
    )


TOOLS = (
    _tool("drop", "Drop the part", reason="Nothing is selected"),
    _tool("select", "Select every listed part"),
    _tool("list", "The filters that are set, and the list"),
    _tool("mark", "<b>Mark</b> \u202ea part"),
)


def _shown(dock: AssistantDock) -> list[str]:
    assert dock.command_palette is not None
    items = dock.command_palette.list
    return [items.item(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(items.count())]


def test_the_palette_is_opened_narrowed_and_chosen_from_with_the_keyboard(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """From anywhere in the window; the choice is put into the message field and not sent."""
    conversation.offered = TOOLS
    QTest.keyClick(dock.window(), Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert dock.command_palette is not None
    assert _shown(dock) == [
        "Select every listed part. test.parts",
        "The filters that are set, and the list. test.parts",
        "<b>Mark</b> \\u202ea part. test.parts",
        "Drop the part. Not now: Nothing is selected",
    ]
    query = dock.command_palette.query
    qtbot.waitUntil(query.hasFocus)
    QTest.keyClicks(query, "sel")
    assert _shown(dock)[0].startswith("Select every")
    QTest.keyClick(query, Qt.Key.Key_Down)
    QTest.keyClick(query, Qt.Key.Key_Up)
    QTest.keyClick(query, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dock.command_palette is None)
    assert dock.composer.edit.toPlainText() == "Select every listed part"
    assert conversation.sent == []


def test_what_cannot_be_done_now_cannot_be_chosen(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation
) -> None:
    """It says why; what nothing is like is said, too, and Esc closes."""
    conversation.offered = TOOLS
    dock.open_palette()
    palette = dock.command_palette
    assert palette is not None
    QTest.keyClicks(palette.query, "drop")
    assert _shown(dock) == ["Drop the part. Not now: Nothing is selected"]
    QTest.keyClick(palette.query, Qt.Key.Key_Return)
    assert dock.command_palette is palette
    QTest.keyClicks(palette.query, "qqq")
    assert palette.empty.isVisible()
    QTest.keyClick(palette.query, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: dock.command_palette is None)
    assert dock.composer.edit.toPlainText() == ""


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("sel", "Select every listed part", "The filters that are set, and the list"),
        ("ep", "every part", "sleep"),
        ("list sel", "Select every listed part", "The list"),
    ],
)
def test_letters_in_a_row_and_at_the_beginning_of_words_count_more(query: str, better: str, worse: str) -> None:
    """So that the first guess is mostly the right one."""
    high, low = fuzzy_score(query, better), fuzzy_score(query, worse)
    assert high is not None
    assert low is None or high > low


def test_every_word_of_a_query_must_be_found() -> None:
    """In any order, whatever the case."""
    assert fuzzy_score("PART drop", "Drop the part") is not None
    assert fuzzy_score("part x", "Drop the part") is None
    assert fuzzy_score("", "Drop") == 0
