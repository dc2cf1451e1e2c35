"""Text of a model as a rich document that can load nothing and hide nothing."""

from __future__ import annotations

import html
import re
from collections.abc import MutableMapping, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextDocumentFragment,
)

from qt_binding._looks import Colors
from qt_binding._text import broken_runs, visible_text
from qt_binding.assistant._code import CodeHighlighter

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

_MAX_RICH_CHARACTERS: Final = 40_000
_MAX_MARKS: Final = 4_000
_MARKS: Final = re.compile(r"[*_~`\[<#>]|^[ \t]*(?:[-+]|\d+[.)])[ \t]", re.MULTILINE)
# What a cell of a table takes in comparison with the other marks, to read and to lay out.
_CELL_MARKS: Final = 3
_TOO_WIDE: Final = re.compile(r"(?:\|[^|\n]*){22}")
"""A row of more than twenty cells, whose columns would end outside the dock."""
_OPENABLE: Final = frozenset({"http", "https"})
_LONGEST_HOST: Final = 253
"""What the domain name system allows; a longer one leads nowhere and only fills the question."""
_COLORS: Final = "colors"


def is_openable(url: str) -> bool:
    """Whether a link may be offered at all: an absolute ``http`` or ``https`` address with a host."""
    address = QUrl(url.strip(), QUrl.ParsingMode.StrictMode)
    host = address.host(QUrl.ComponentFormattingOption.FullyEncoded)
    return address.isValid() and address.scheme().lower() in _OPENABLE and 0 < len(host) <= _LONGEST_HOST


def create_markdown_renderer() -> MarkdownRenderer:
    """The best renderer there is: ``markdown-it-py`` when the ``assistant`` extra is installed, else Qt's own."""
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        return MarkdownRenderer(None)
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True})
    return MarkdownRenderer(_restricted(parser.enable(["table", "strikethrough"])))


class MarkdownRenderer:
    """Fills text documents with Markdown.

    Raw HTML stays text, pictures become their description and address, and only ``http(s)`` links become links; every
    other one stays as it was written.

    Args:
        parser: A restricted parser, or ``None`` for Qt's own Markdown.
    """

    def __init__(self, parser: MarkdownIt | None) -> None:
        self._parser = parser

    def render(self, document: QTextDocument, text: str, colors: Colors) -> None:
        """Replace the contents of ``document``.

        Args:
            document: Must not load resources itself.
            text: Untrusted Markdown. Very long text, and text made of little but marks, is shown as it is, which costs
                a tenth.
            colors: Baked into the document: render again when they change.
        """
        shown = broken_runs(visible_text(text))
        document.setDefaultStyleSheet(_style(colors))
        if not _is_rich(shown):
            document.setPlainText(shown)
        elif self._parser is None:
            document.setMarkdown(shown, QTextDocument.MarkdownFeature.MarkdownNoHTML)
            _disarm(document, colors)
        else:
            document.setHtml(_rendered(self._parser, shown, colors))

    def append(self, document: QTextDocument, text: str, colors: Colors) -> None:
        """Add whole blocks of Markdown at the end of ``document``; the cost depends on ``text`` alone."""
        shown = broken_runs(visible_text(text))
        cursor = QTextCursor(document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not document.isEmpty():
            cursor.insertBlock(QTextBlockFormat(), QTextCharFormat())
        if not _is_rich(shown):
            cursor.insertText(shown, QTextCharFormat())
        elif self._parser is None:
            part = QTextDocument()
            part.setDefaultStyleSheet(_style(colors))
            part.setMarkdown(shown, QTextDocument.MarkdownFeature.MarkdownNoHTML)
            _disarm(part, colors)
            cursor.insertFragment(QTextDocumentFragment(part))
        else:
            cursor.insertHtml(_rendered(self._parser, shown, colors))


def closed_length(text: str) -> int:
    """How much of Markdown that still grows will not be read differently: up to its last blank line outside a fence.

    Args:
        text: Begins outside a fence.
    """
    closed = position = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        position += len(line)
        bare = line.strip()
        mark = bare[:3]
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
        elif mark in {"```", "~~~"}:
            fence = mark
        elif not bare and line.endswith("\n"):
            closed = position
    return closed


def _is_rich(text: str) -> bool:
    """Whether Markdown is worth reading: thousands of marks are no text, and hold up the window for seconds."""
    if len(text) > _MAX_RICH_CHARACTERS or _TOO_WIDE.search(text):
        return False
    return len(_MARKS.findall(text)) + _CELL_MARKS * text.count("|") <= _MAX_MARKS


def _style(colors: Colors) -> str:
    link, muted, code, text = (c.name() for c in (colors.link, colors.muted, colors.code, colors.text))
    return (
        f"a {{ color: {link}; }} code {{ background-color: {code}; }} pre {{ margin: 0; white-space: pre-wrap; }}"
        f"pre code {{ background-color: transparent; }} blockquote {{ color: {muted}; margin-left: 12px; }}"
        f"p {{ margin-top: 0; margin-bottom: 7px; }} body {{ color: {text}; }}"
        "h1, h2, h3, h4, h5, h6 { margin-top: 8px; margin-bottom: 4px; }"
        "h1 { font-size: large; } h2 { font-size: large; } h3 { font-size: medium; }"
        "ul, ol { margin-top: 0; margin-bottom: 7px; } li { margin-bottom: 2px; }"
    )


def _rendered(parser: MarkdownIt, text: str, colors: Colors) -> str:
    env: MutableMapping[str, object] = {_COLORS: colors}
    tokens = parser.parse(text, env)
    if any(token.level >= parser.options.maxNesting - 1 for token in tokens):
        # What lies deeper than the parser reads it leaves out without a word; nothing may be hidden like that.
        return f'<p style="white-space: pre-wrap;">{html.escape(text)}</p>'
    rendered: str = parser.renderer.render(tokens, parser.options, env)
    return rendered.strip()


def _colors_of(env: MutableMapping[str, object]) -> Colors:
    colors = env[_COLORS]
    assert isinstance(colors, Colors)  # noqa: S101 - put there by _rendered, the only caller of the parser
    return colors


def _restricted(parser: MarkdownIt) -> MarkdownIt:
    highlighter = CodeHighlighter()
    parser.validateLink = is_openable  # type: ignore[method-assign]  # the documented way to restrict links

    def fence(
        _renderer: RendererHTML,
        tokens: Sequence[Token],
        index: int,
        _options: OptionsDict,
        env: MutableMapping[str, object],
    ) -> str:
        token, colors = tokens[index], _colors_of(env)
        language, _, _ = token.info.strip().partition(" ")
        code = highlighter.html(token.content.rstrip("\n"), language, colors)
        return (
            '<table width="100%" cellspacing="0" cellpadding="8" style="margin-top: 4px; margin-bottom: 7px;">'
            f'<tr><td bgcolor="{colors.code.name()}"><pre>{code}</pre></td></tr></table>'
        )

    def picture(
        _renderer: RendererHTML,
        tokens: Sequence[Token],
        index: int,
        _options: OptionsDict,
        _env: MutableMapping[str, object],
    ) -> str:
        token = tokens[index]
        return f"<i>[{html.escape(token.content)}: {html.escape(str(token.attrGet('src') or ''))}]</i>"

    def table(
        _renderer: RendererHTML,
        _tokens: Sequence[Token],
        _index: int,
        _options: OptionsDict,
        env: MutableMapping[str, object],
    ) -> str:
        return (
            '<table cellspacing="0" cellpadding="4" border="1" '
            f'style="border-collapse: collapse; border-style: solid; border-color: {_colors_of(env).border.name()}; '
            'margin-top: 3px; margin-bottom: 7px;">'
        )

    parser.add_render_rule("fence", fence)
    parser.add_render_rule("code_block", fence)
    parser.add_render_rule("image", picture)
    parser.add_render_rule("table_open", table)
    return parser


def _disarm(document: QTextDocument, colors: Colors) -> None:
    """Make text of the links and pictures that Qt's Markdown made and that may not be offered."""
    block = document.begin()
    found: list[tuple[int, int, QTextCharFormat]] = []
    while block.isValid():
        found.extend(_links_of(block))
        block = block.next()
    cursor = QTextCursor(document)
    for start, length, old in reversed(found):
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        if old.isImageFormat():
            cursor.insertText(f"[{old.toImageFormat().name()}]", QTextCharFormat())
        elif is_openable(old.anchorHref()):
            cursor.mergeCharFormat(_foreground(colors))
        else:
            cursor.insertText(f"[{cursor.selectedText()}]({old.anchorHref()})", QTextCharFormat())


def _foreground(colors: Colors) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setForeground(colors.link)
    return result


def _links_of(block: QTextBlock) -> list[tuple[int, int, QTextCharFormat]]:
    found: list[tuple[int, int, QTextCharFormat]] = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        old = fragment.charFormat()
        if old.isAnchor() or old.isImageFormat():
            found.append((fragment.position(), fragment.length(), old))
        iterator += 1
    return found
