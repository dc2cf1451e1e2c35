"""Code in colours that follow the palette."""

from __future__ import annotations

import html
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Final, Protocol, cast

from PySide6.QtGui import QColor

from qt_binding._looks import Colors, readable

# Named ones alone: looking a language up in all of Pygments would load plug-ins, and guessing one runs every lexer.
_LANGUAGES: Final = frozenset(
    (
        *("bash", "c", "console", "cpp", "css", "diff", "go", "html", "ini", "java", "javascript", "js", "json"),
        *("kotlin", "lua", "make", "python", "py", "ruby", "rust", "sh", "shell", "sql", "swift", "toml", "ts"),
        *("typescript", "xml", "yaml", "yml"),
    )
)
_MAX_CHARACTERS: Final = 8_000
_MAX_LINE: Final = 1_000
_REMEMBERED: Final = 200


class _Lexer(Protocol):
    """The part of a Pygments lexer used here."""

    def get_tokens(self, text: str) -> Iterator[tuple[object, str]]:
        """The text cut into tokens of a kind each."""
        ...


class _Lexers(Protocol):
    """The part of ``pygments.lexers`` used here."""

    def get_lexer_by_name(self, name: str, *, stripnl: bool, ensurenl: bool) -> _Lexer:
        """The lexer of a language."""
        ...


class CodeHighlighter:
    """Makes HTML of code: coloured when Pygments is installed and knows the language, else plain.

    Cutting code into tokens costs most, and a message that streams is rendered again and again, so the tokens of the
    latest pieces are remembered.
    """

    def __init__(self) -> None:
        self._lexers = _find_lexers()
        self._tokens = lru_cache(maxsize=_REMEMBERED)(self._cut)
        # Pygments takes a blink to load its first language; now nobody waits for it.
        self._tokens("", "python")

    def html(self, code: str, language: str, colors: Colors) -> str:
        """Code for a ``pre`` element.

        Args:
            code: Untrusted; everything in it is escaped.
            language: What the author of the text called it. Long code and long lines stay plain.
            colors: Where the colours come from.
        """
        language = language.strip().lower()
        long = len(code) > _MAX_CHARACTERS or any(len(line) > _MAX_LINE for line in code.split("\n"))
        tokens = None if long or language not in _LANGUAGES else self._tokens(code, language)
        if tokens is None:
            return html.escape(code)
        tones = _tones(colors)
        parts: list[str] = []
        for kind, text in tokens:
            escaped = html.escape(text)
            tone = _tone_of(kind, tones)
            parts.append(escaped if tone is None else f'<span style="color: {tone.name()};">{escaped}</span>')
        return "".join(parts)

    def _cut(self, code: str, language: str) -> tuple[tuple[str, str], ...] | None:
        if self._lexers is None:
            return None
        lexer = self._lexers.get_lexer_by_name(language, stripnl=False, ensurenl=False)
        return tuple((str(kind), text) for kind, text in lexer.get_tokens(code))


def _find_lexers() -> _Lexers | None:
    try:
        return cast("_Lexers", import_module("pygments.lexers"))
    except ImportError:
        return None


def _tones(colors: Colors) -> dict[str, QColor]:
    """Colours of kinds of token, the more special kind first; each can be read on the ground of code."""
    return {
        kind: readable(color, colors.code)
        for kind, color in (
            ("Token.Comment", colors.muted),
            ("Token.Literal.String", colors.done),
            ("Token.Literal.Number", colors.waiting),
            ("Token.Keyword", colors.accent),
            ("Token.Operator.Word", colors.accent),
            ("Token.Name.Tag", colors.accent),
            ("Token.Name.Function", colors.link),
            ("Token.Name.Class", colors.link),
            ("Token.Name.Attribute", colors.link),
            ("Token.Name.Decorator", colors.link),
            ("Token.Generic.Deleted", colors.failed),
            ("Token.Generic.Inserted", colors.done),
        )
    }


def _tone_of(kind: str, tones: dict[str, QColor]) -> QColor | None:
    return next((color for known, color in tones.items() if kind.startswith(known)), None)
