"""Formats and patterns, checked as strictly for an agent's value as anything that reads it afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Final


def is_date_time(text: str) -> bool:
    """RFC 3339 with a zone, and a moment that exists; ``23:59:60`` is refused because ``datetime`` has no such."""
    if _DATE_TIME.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text.upper().replace("Z", "+00:00"))
    except ValueError:
        return False
    return True


def is_date(text: str) -> bool:
    """``YYYY-MM-DD``, and a day that exists."""
    if _DATE.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_uuid(text: str) -> bool:
    """Five groups of hexadecimal digits; no braces, no ``urn:`` in front."""
    return _UUID.fullmatch(text) is not None


def is_email(text: str) -> bool:
    """One ``@``, no space, something before it and a dotted domain behind it."""
    return _EMAIL.fullmatch(text) is not None


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A regular expression to search with.

    ``$`` means the end of the text as in ECMAScript, where Python would also take the place before a last line break.
    """
    compiled = re.compile(pattern)
    if "$" not in pattern or compiled.flags & (re.MULTILINE | re.VERBOSE):
        return compiled
    return re.compile(_DOLLAR.sub(lambda match: r"\Z" if match[0] == "$" else match[0], pattern))


_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+")
# An escape, a character class, or a dollar sign: only the last is replaced.
_DOLLAR: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$", re.DOTALL)

STRICT_FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "date": is_date,
    "date-time": is_date_time,
    "email": is_email,
    "uuid": is_uuid,
}
"""Our own checks by the name of the format; each accepts less than the ``jsonschema`` library's."""
