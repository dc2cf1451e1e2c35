"""Text that is not in the direction of its window keeps its own."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from qt_binding._looks import in_own_direction

LTR, RTL = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
HEBREW = "שאל את העוזר…"


@pytest.mark.parametrize(
    ("text", "around", "shown"),
    [
        ("Choose an event.", LTR, "Choose an event."),
        ("Choose an event.", RTL, "\u200eChoose an event.\u200e"),
        (HEBREW, RTL, HEBREW),
        (HEBREW, LTR, f"\u200f{HEBREW}\u200f"),
        ("12 %", RTL, "\u200e12 %\u200e"),
        ("", RTL, ""),
    ],
)
def test_marks_stand_around_a_text_of_the_other_direction_alone(
    text: str, around: Qt.LayoutDirection, shown: str
) -> None:
    """Without them Qt draws the full stop of a placeholder before its sentence."""
    assert in_own_direction(text, around) == shown
