"""How text that a person did not write is made honest before a widget shows it."""

import re
import unicodedata
from typing import Final

__all__ = ["visible_text"]

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
