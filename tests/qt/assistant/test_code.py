"""Code is coloured from the palette, and nothing in it takes effect."""

from __future__ import annotations

import re

import pytest
from PySide6.QtGui import QColor, QPalette, QTextDocument

from qt_binding._looks import Colors, contrast
from qt_binding.assistant._code import CodeHighlighter
from qt_binding.assistant._markdown import create_markdown_renderer

pytestmark = pytest.mark.usefixtures("qapp")

PYTHON = 'def f(x):  # note\n    return "a<b>" + str(1)\n'


def _colors(*, dark: bool) -> Colors:
    palette = QPalette()
    for role, light_value, dark_value in (
        (QPalette.ColorRole.Window, "#efefef", "#202124"),
        (QPalette.ColorRole.WindowText, "#000000", "#e8eaed"),
        (QPalette.ColorRole.Base, "#ffffff", "#17181a"),
    ):
        palette.setColor(role, QColor(dark_value if dark else light_value))
    return Colors.of(palette)


def _text_of(rendered: str) -> str:
    document = QTextDocument()
    document.setHtml(f"<pre>{rendered}</pre>")
    return document.toPlainText()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_tokens_have_colours_that_can_be_read_on_the_ground_of_code(dark: bool) -> None:
    """At least 4.5 to 1, in light and in dark; the text itself is unchanged."""
    colors = _colors(dark=dark)
    rendered = CodeHighlighter().html(PYTHON, "Python", colors)
    tones = set(re.findall(r"color: (#\w{6});", rendered))
    assert len(tones) >= 4
    assert all(contrast(QColor(tone), colors.code) >= 4.5 for tone in tones)
    assert _text_of(rendered).rstrip("\n") == PYTHON.rstrip("\n")


@pytest.mark.parametrize("language", ["", "no-such-language", "python3 --evil", "\x01"])
def test_an_unknown_language_stays_plain(language: str) -> None:
    """Nothing is guessed."""
    assert CodeHighlighter().html("a < b", language, _colors(dark=False)) == "a &lt; b"


def test_long_code_and_long_lines_stay_plain() -> None:
    """Colouring must not hold up the window."""
    for code in ("x = 1\n" * 2_000, "x" * 2_000):
        assert "<span" not in CodeHighlighter().html(code, "python", _colors(dark=False))


def test_markup_in_code_stays_text() -> None:
    """Whatever the lexer makes of it."""
    document = QTextDocument()
    create_markdown_renderer().render(
        document, "```html\n<img src='http://evil.example/x'><a href='file:///x'>\n```", _colors(dark=False)
    )
    assert document.toPlainText().strip() == "<img src='http://evil.example/x'><a href='file:///x'>"
