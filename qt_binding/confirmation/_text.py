"""The words of the confirmation host, and text of others made honest: what is invisible is written out and marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QCoreApplication

from agent_surface.confirmations import ConfirmationOutcome, ConfirmationResolution
from qt_binding._text import visible_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    r"""A run of shown text.

    Attributes:
        text: What is drawn; nothing in it is invisible.
        escaped: It stands for characters that cannot be seen, like ``\u202e``, and is drawn marked, so that it is not
            taken for the same letters typed out.
    """

    text: str
    escaped: bool = False


def one_line(text: str) -> str:
    """``text`` for a place that has one line: everything invisible, line breaks included, is written out."""
    return visible_text(text, keep_newlines=False)


def segments(text: str) -> tuple[Segment, ...]:
    """``text`` cut into runs that are drawn as they are and runs that stand for invisible characters.

    A text of very many runs is marked as a whole instead, with its own backslashes doubled: it stays unambiguous, and a
    model cannot hold up the person's screen with it.
    """
    shown = one_line(text)
    if shown == text:
        return (Segment(text=text),) if text else ()
    runs: list[tuple[list[str], bool]] = []
    position = 0
    for character in text:
        # Only an escape can begin with a backslash where the original has another character.
        escaped = character != "\\" and shown[position] == "\\"
        length = _ESCAPE_LENGTHS[shown[position + 1]] if escaped else 1
        if not runs or runs[-1][1] is not escaped:
            if len(runs) == MAX_RUNS:
                return (Segment(text=one_line(text.replace("\\", "\\\\")), escaped=True),)
            runs.append(([], escaped))
        runs[-1][0].append(shown[position : position + length])
        position += length
    return tuple(Segment(text="".join(parts), escaped=escaped) for parts, escaped in runs)


MAX_RUNS: Final = 2_000
_ESCAPE_LENGTHS: Final = {"n": 2, "t": 2, "r": 2, "x": 4, "u": 6, "U": 10}


def time_left_text(left_ms: int) -> str:
    """A span as minutes and seconds. A part of a second counts as a whole one, so that 0:00 means over."""
    seconds = -(-max(0, left_ms) // 1_000)
    return f"{seconds // 60}:{seconds % 60:02d}"


def ended_text(resolution: ConfirmationResolution | None) -> str:
    """Why a question is closed that the person has not answered in this dialog."""
    if resolution is not None and resolution.outcome is not ConfirmationOutcome.EXPIRED:
        return _tr("This was answered elsewhere.")
    actor = "" if resolution is None else resolution.actor
    if actor == "clock":
        return _tr("Time is up. Nothing was done.")
    if actor == "withdrawn":
        return _tr("The question was withdrawn. Nothing was done.")
    if actor == "unmounted":
        return _tr("The part of the application this was about is gone. Nothing was done.")
    return _tr("The question is closed. Nothing was done.")


def _tr(text: str) -> str:
    return QCoreApplication.translate("ConfirmationDialog", text)
