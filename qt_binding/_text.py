"""How text that a person did not write is made honest before a widget shows it."""

import re
import unicodedata
from typing import Final

__all__ = ["LONGEST_RUN", "broken_runs", "run_at_end", "visible_text"]

LONGEST_RUN: Final = 1_000
"""Characters without a space that are drawn in a row, see :func:`broken_runs`."""

# Letters and signs that are always themselves. Everything else is looked at one by one, so an alphabet missing here
# costs time and never a wrong answer.
_SUSPECT: Final = re.compile(
    "[^\\x20-\\x7e\\xa1-\\xac\\xae-\\u02ff\\u0370-\\u058f\\u0905-\\u0939\\u1e00-\\u1fff\\u3041-\\u3096\\u30a1-\\u30fa"
    "\\u4e00-\\u9fff\\uac00-\\ud7a3]"
)

# Drawn as nothing although Unicode does not call them controls: fillers, joiners, selectors, the empty Braille cell.
_INVISIBLE: Final = frozenset(
    (
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x2800, 0x3164, 0xFFA0),
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE10),
        *range(0xFFF0, 0xFFF9),
    )
)
_PRESENTATION_SELECTORS: Final = frozenset("\ufe0e\ufe0f")
_UNBROKEN: Final = re.compile(rf"\S{{{LONGEST_RUN}}}(?=\S)")
_LAST_RUN: Final = re.compile(r"\S*\Z")
_SHORT_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def visible_text(text: str, *, keep_newlines: bool = True) -> str:
    r"""Return the text with every character that hides or reorders others written out.

    Control, zero-width, bidirectional and other invisible characters become Python-style escapes (``\u202e``), which
    are plain ASCII and mean nothing to Markdown or HTML. Visible characters of every script stay as they are. The
    result is still plain text: a widget must not guess its format.

    Args:
        text: Text from a model, a tool, a contract or a person.
        keep_newlines: Keep line feeds and tabs (``\r\n`` counts as one line feed); otherwise they are escaped too, for
            places that have one line.

    Returns:
        Text in which nothing is invisible. Applying the function again changes nothing.
    """
    if keep_newlines:
        text = text.replace("\r\n", "\n")

    def shown(match: re.Match[str]) -> str:
        character = match.group()
        if character in "\n\t" and keep_newlines:
            return character
        before = text[match.start() - 1 : match.start()]
        return character if _is_visible(character, before) else _escaped(character)

    return _SUSPECT.sub(shown, text)


def broken_runs(text: str, before: int = 0) -> str:
    """Return the text with a line feed wherever it runs on for too long without a space.

    Qt looks for a place to break a line from every line's start to the end of the run, so a paragraph of a hundred
    thousand letters without a space takes it half a minute to lay out.

    Args:
        text: Text for a document that wraps.
        before: How long the run is that the text continues, for text that comes in pieces.
    """
    if before:
        head = text[: max(0, LONGEST_RUN - before)]
        if len(head) < len(text) and not any(character.isspace() for character in head):
            text = f"{head}\n{text[len(head) :]}"
    return _UNBROKEN.sub(_followed_by_line_feed, text)


def run_at_end(text: str, before: int = 0) -> int:
    """How long the run is that ends a text which :func:`broken_runs` was given, for the piece that comes next."""
    found = _LAST_RUN.search(text)
    length = len(found.group()) if found is not None else 0
    if length == len(text):
        length += before
    return (length - 1) % LONGEST_RUN + 1 if length else 0


def _followed_by_line_feed(run: re.Match[str]) -> str:
    return f"{run.group()}\n"


def _is_visible(character: str, before: str) -> bool:
    if character in _PRESENTATION_SELECTORS:
        # An emoji commonly carries one selector; anywhere else, or repeated, selectors can carry hidden text.
        return bool(before) and unicodedata.category(before) in {"So", "Sm"}
    code = ord(character)
    if code in _INVISIBLE:
        return False
    category = unicodedata.category(character)
    if category == "Cn":
        # Signs newer than this Python's table are drawn by newer fonts; planes of noncharacters and ignorables are not.
        return code < 0xE0000 and code & 0xFFFE != 0xFFFE and not 0xFDD0 <= code <= 0xFDEF
    if 0xE0100 <= code <= 0xE01EF:
        return False
    return category not in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def _escaped(character: str) -> str:
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
