"""A question shows what it is about as it is, whatever that is made of, and stays a question on a screen."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextBlock
from PySide6.QtWidgets import QAbstractButton, QLabel

from agent_surface import AgentConsumer
from agent_surface._base._json import FrozenJson
from qt_binding.confirmation._rows import input_rows, text_of
from tests.qt.confirmation.conftest import MakeAsking
from tests.qt.confirmation.person import Asking
from tests.qt.hostile import NOT_SHOWN, TEXTS, Trap, overflowing

MANY = 290
"""Fields of an input that is still shown field by field."""


@pytest.mark.requirement("QT-CONF-003")
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_question_stays_text(trap: Trap, make_asking: MakeAsking, name: str) -> None:
    """Who asks, what for, keys and values; the dialog is no wider for it, and nothing of it leaves the screen."""
    text = trap.bait(TEXTS[name])
    asking = make_asking(offers=True)
    asking.ask(
        {text[:60]: text, "list": (text[:500],), "in": {"it": text[:500]}},
        description=text[:300],
        summary=text[:299] + ".",
        consumer=AgentConsumer(id=text[:128]),
    )
    dialog, view = asking.dialog, asking.input_view()
    dialog.grab()
    assert list(overflowing(dialog)) == []
    for label in dialog.findChildren(QLabel):
        assert not set(label.text()) & NOT_SHOWN
    assert not set(view.toPlainText()) & NOT_SHOWN
    assert not set(dialog.accessibleName() + dialog.accessibleDescription()) & NOT_SHOWN
    for block in _blocks(asking):
        for part in block.textFormats():
            assert not part.format.isImageFormat()
            assert part.format.anchorHref() == ""
    buttons = [one for one in dialog.findChildren(QAbstractButton) if one.isVisible()]
    assert {one.text().replace("&", "") for one in buttons} >= {"Approve", "Deny", "Deny and stop", "Take over"}
    assert all(dialog.rect().contains(one.geometry()) for one in buttons)
    least, screen = dialog.minimumSizeHint(), dialog.screen().availableSize()
    assert least.width() < 500
    assert dialog.height() <= screen.height()


@pytest.mark.requirement("QT-CONF-003")
@pytest.mark.parametrize(
    "text", ["a\u200b" * 50, "\n" * 100, "a\n" * 50, "\\n\u200b" * 40], ids=["hidden", "lines", "list", "typed"]
)
def test_an_input_made_of_marks_is_drawn_in_few_pieces(make_asking: MakeAsking, text: str) -> None:
    """Each mark and each line by itself would hold up the screen for half a minute; nothing is left out for it."""
    value: dict[str, FrozenJson] = {f"k{number}": text for number in range(MANY)}
    asking = make_asking()
    asking.ask(value)
    pieces = sum(len(block.textFormats()) for block in _blocks(asking))
    assert pieces <= 4 * MANY
    shown = asking.input_view().toPlainText().replace("\n", "")
    said = text.replace("\\", "\\\\") if "\\" in text else text
    assert shown.count(said.replace("\u200b", "\\u200b").replace("\n", "\\n")) == MANY


@pytest.mark.requirement("QT-CONF-002")
def test_inputs_made_of_marks_differ_on_the_screen_when_they_differ() -> None:
    """Although a mark is no longer drawn by itself, a typed code is not taken for a hidden character."""
    hidden: dict[str, FrozenJson] = {f"k{number}": "a\u200b" * 10 for number in range(MANY)}
    typed: dict[str, FrozenJson] = {**hidden, "k7": "a\\u200b" * 9 + "a\u200b"}
    wrong = [(a, b) for a, b in zip(input_rows(hidden, ()), input_rows(typed, ()), strict=True) if a != b]
    assert [(text_of(a.value), text_of(b.value)) for a, b in wrong] == [
        ('"' + "a\\u200b" * 10 + '"', '"' + "a\\\\u200b" * 9 + "a\\u200b" + '"')
    ]


def _blocks(asking: Asking) -> list[QTextBlock]:
    blocks: list[QTextBlock] = []
    block = asking.input_view().document().begin()
    while block.isValid():
        blocks.append(block)
        block = block.next()
    return blocks
