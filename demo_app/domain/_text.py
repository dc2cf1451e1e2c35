"""Text rules: what a field accepts, and the folded form that searching and ordering use."""

from __future__ import annotations

import re
import unicodedata

from demo_app.domain._errors import InvalidFieldError

MAX_NAME_CHARACTERS = 120
MAX_ID_CHARACTERS = 64
MAX_FIELD_CHARACTERS = 120
MAX_NOTE_CHARACTERS = 2_000

_ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NUMBER = re.compile(r"\d+")
_NUMBER_WIDTH = 8
# Characters that reorder the text around them: a name holding one could pass for another name on the screen.
_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def fold_text(text: str) -> str:
    """Lower case without accents, so that ``zurich`` finds ``Zürich``."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def version_key(version: str) -> str:
    """A form of a version text that orders ``2.9`` before ``2.10``."""
    return _NUMBER.sub(lambda match: match.group().zfill(_NUMBER_WIDTH), version.casefold())


def clean_id(value: str) -> str:
    """The id without surrounding space.

    Raises:
        InvalidFieldError: It is empty, too long, or has characters other than letters, digits, ``.``, ``_``, ``-``.
    """
    text = value.strip()
    if not text:
        raise InvalidFieldError("id", "must not be empty")
    if len(text) > MAX_ID_CHARACTERS:
        raise InvalidFieldError("id", f"is longer than {MAX_ID_CHARACTERS} characters")
    if not _ID_PATTERN.fullmatch(text):
        raise InvalidFieldError(
            "id", "may hold only letters, digits, '.', '_' and '-', and starts with one of the first two"
        )
    return text


def clean_line(field: str, value: str, *, required: bool = False, limit: int = MAX_FIELD_CHARACTERS) -> str:
    """One line of text without surrounding space, in composed form.

    Args:
        field: Name of the field, for the message.
        value: What was typed or read.
        required: Whether an empty text is refused.
        limit: Longest accepted text in characters.

    Raises:
        InvalidFieldError: The text is missing, too long, or holds control or reordering characters.
    """
    text = value.strip() if value.isascii() else unicodedata.normalize("NFC", value).strip()
    if required and not text:
        raise InvalidFieldError(field, "must not be empty")
    if len(text) > limit:
        raise InvalidFieldError(field, f"is longer than {limit} characters")
    _refuse_unprintable(field, text, allowed="")
    return text


def clean_paragraph(field: str, value: str) -> str:
    """A note's text: like :func:`clean_line` but required, longer, and with line breaks and tabs.

    Raises:
        InvalidFieldError: The text is missing, too long, or holds control or reordering characters.
    """
    text = unicodedata.normalize("NFC", value.replace("\r\n", "\n")).strip()
    if not text:
        raise InvalidFieldError(field, "must not be empty")
    if len(text) > MAX_NOTE_CHARACTERS:
        raise InvalidFieldError(field, f"is longer than {MAX_NOTE_CHARACTERS} characters")
    _refuse_unprintable(field, text, allowed="\n\t")
    return text


def _refuse_unprintable(field: str, text: str, *, allowed: str) -> None:
    if text.isascii() and text.isprintable():
        return
    for character in text:
        if character in allowed:
            continue
        category = unicodedata.category(character)
        if category == "Cs":
            raise InvalidFieldError(field, "is not valid UTF-8 text")
        if category in ("Cc", "Zl", "Zp") or character in _REORDERING:
            raise InvalidFieldError(field, f"holds the invisible character U+{ord(character):04X}")
