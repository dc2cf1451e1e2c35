"""Markdown of a model loads nothing, opens nothing by itself and hides nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QUrl
from PySide6.QtGui import QPalette, QTextDocument, QTextList
from pytestqt.qtbot import QtBot
from typing_extensions import override

from qt_binding._looks import Colors
from qt_binding.assistant._browser import MessageBrowser
from qt_binding.assistant._markdown import MarkdownRenderer, closed_length, create_markdown_renderer, is_openable

# Documents need the fonts of an application.
pytestmark = pytest.mark.usefixtures("qapp")

HOSTILE = """![a](http://evil.example/a.png) ![b](file:///etc/hostname)

<img src="http://evil.example/b.png"> <script>x</script> <b>bold</b>

[js](javascript:alert(1)) [file](file:///etc/passwd) [data](data:text/html,x) [path](/etc/shadow)
[settings](ms-settings:privacy) [mail](mailto:a@b.example) <ftp://c.example/d> [ok](https://ok.example/x)

invoice\u202efdp.exe and after
"""


@pytest.fixture(params=["markdown-it-py", "Qt"])
def renderer(request: pytest.FixtureRequest) -> MarkdownRenderer:
    """Both ways to render; the second is for installations without the extra."""
    return create_markdown_renderer() if request.param == "markdown-it-py" else MarkdownRenderer(None)


class _Watched(QTextDocument):
    """Writes down what it is asked to load."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    @override
    def loadResource(self, type: int, name: QUrl | str) -> object:
        self.asked.append(str(name))
        return None


def _links(document: QTextDocument) -> list[str]:
    found: list[str] = []
    block = document.begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            form = iterator.fragment().charFormat()
            if form.isAnchor() or form.isImageFormat():
                found.append(form.anchorHref() or "image")
            iterator += 1
        block = block.next()
    return found


@pytest.mark.requirement("QT-DOCK-005")
def test_hostile_markdown_asks_for_nothing_and_offers_only_web_links(renderer: MarkdownRenderer) -> None:
    """Pictures, local files, scripts and other schemes are text; nothing after them is swallowed."""
    document = _Watched()
    renderer.render(document, HOSTILE, Colors.of(QPalette()))
    document.setTextWidth(300)
    text = document.toPlainText()
    assert document.asked == []
    assert set(_links(document)) <= {"https://ok.example/x", "http://evil.example/a.png", "file:///etc/passwd"}
    assert [link for link in _links(document) if is_openable(link)] == ["https://ok.example/x"]
    assert not [link for link in _links(document) if not is_openable(link)]
    for part in (
        "javascript:alert(1)",
        "file:///etc/passwd",
        "/etc/shadow",
        "ms-settings:privacy",
        "mailto:a@b.example",
        "ftp://c.example/d",
        "<script>x</script>",
        "<b>bold</b>",
        "\\u202efdp.exe",
        "after",
    ):
        assert part in text


@pytest.mark.parametrize("levels", [3, 9, 12, 30])
@pytest.mark.parametrize("mark", ["- ", "> "])
def test_text_in_nested_lists_and_quotes_is_never_left_out(renderer: MarkdownRenderer, mark: str, levels: int) -> None:
    """The parser drops what lies deeper than it reads, and a model could hide a sentence there."""
    document = QTextDocument()
    step = "  " if mark == "- " else mark
    text = "".join(f"{step * level}{mark}level {level}\n" for level in range(levels))
    renderer.render(document, f"Before\n\n{text}\nAfter", Colors.of(QPalette()))
    shown = document.toPlainText()
    assert [
        part for part in ("Before", "After", *(f"level {level}" for level in range(levels))) if part not in shown
    ] == []


def test_a_list_inside_a_list_is_indented_further(renderer: MarkdownRenderer) -> None:
    """Otherwise what belongs to a point looks like the next one."""
    document = QTextDocument()
    renderer.render(document, "- one\n  - two\n    - three\n- four", Colors.of(QPalette()))
    indents: dict[str, int] = {}
    block = document.begin()
    while block.isValid():
        part: object = block.textList()
        if isinstance(part, QTextList):
            indents[block.text().strip()] = part.format().indent()
        block = block.next()
    assert indents == {"one": 1, "two": 2, "three": 3, "four": 1}


@pytest.mark.requirement("QT-DOCK-005")
def test_the_view_of_a_message_loads_nothing_even_when_told_to(qtbot: QtBot) -> None:
    """The last line of defence: whatever reaches the document, the view answers no request and goes nowhere."""
    browser = MessageBrowser()
    qtbot.addWidget(browser)
    browser.setHtml('<img src="file:///etc/hostname"><p>text</p>')
    browser.setSource(QUrl("file:///etc/hostname"))
    browser.show()
    assert browser.loadResource(2, QUrl("file:///etc/hostname")) is None
    assert "text" in browser.toPlainText()


@pytest.mark.parametrize(
    ("address", "openable"),
    [
        ("https://a.example/x?y=1", True),
        ("HTTP://a.example", True),
        ("http://", False),
        ("file:///etc/passwd", False),
        ("javascript:alert(1)", False),
        ("//a.example", False),
        ("mailto:a@example.com", False),
        ("https:a.example", False),
        ("", False),
    ],
)
def test_only_absolute_web_addresses_are_links(address: str, openable: bool) -> None:
    """Every other scheme is shown as text."""
    assert is_openable(address) is openable


def test_formatting_reaches_the_document() -> None:
    """Safe does not mean plain: tables, code and emphasis are there."""
    document = QTextDocument()
    text = "**bold** and `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx < 1\n```\n"
    create_markdown_renderer().render(document, text, Colors.of(QPalette()))
    assert "font-weight" in document.toHtml()
    assert len(document.rootFrame().childFrames()) == 2
    assert "x < 1" in document.toPlainText()


def test_very_long_text_is_shown_as_it_is(renderer: MarkdownRenderer) -> None:
    """Rendering it would hold up the window."""
    document = QTextDocument()
    renderer.render(document, "**x** " * 20_000, Colors.of(QPalette()))
    assert document.toPlainText().startswith("**x** **x**")


def test_blocks_added_one_by_one_make_the_text_of_the_whole(renderer: MarkdownRenderer) -> None:
    """A long answer is rendered that way while it streams, as safely."""
    document = QTextDocument()
    colors = Colors.of(QPalette())
    renderer.append(document, "# Title\n\nfirst\n\n", colors)
    renderer.append(document, "second [f](file:///x) ![p](http://e.example/p.png)\n\n", colors)
    words = document.toPlainText().split()
    assert words[:3] == ["Title", "first", "second"]
    assert "file:///x" in document.toPlainText()
    assert [link for link in _links(document) if not link.startswith("https:")] == []


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("one", ""),
        ("one\n", ""),
        ("one\n\n", "one\n\n"),
        ("one\n\ntwo", "one\n\n"),
        ("```\na\n\nb", ""),
        ("```\na\n\nb\n```\n\nc", "```\na\n\nb\n```\n\n"),
        ("~~~\n```\n\n", ""),
    ],
)
def test_what_is_closed_ends_at_a_blank_line_outside_a_fence(text: str, closed: str) -> None:
    """Only that part of a growing text is not read differently later."""
    assert text[: closed_length(text)] == closed


@given(st.lists(st.sampled_from(["a", "\n", "\n\n", "```", "~~~", " ", "- x"]), max_size=30).map("".join))
def test_what_was_closed_stays_closed_when_text_is_added(text: str) -> None:
    """Whatever prefix of a text has arrived, its closed part is closed in the whole text too."""
    for end in range(len(text)):
        assert closed_length(text[:end]) <= closed_length(text)
