"""Text that nobody vouches for is shown as what it is, loads nothing, and breaks no layout."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QLabel, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from agent_surface import AgentConsumer
from agent_surface.assistant import NoticeKind, ToolCall, ToolCallStatus
from qt_binding.assistant import AssistantDock
from qt_binding.assistant._browser import MessageBrowser
from qt_binding.assistant._card import ToolCard
from qt_binding.assistant._rows import MessageRow, NoticeRow
from qt_binding.confirmation import ConfirmationHost
from qt_binding.inspector._facts import Fact, FactsView
from tests.core.confirmations.store_under_test import StoreUnderTest, binding_of
from tests.qt.assistant.fakes import FakeConversation

HIDDEN = "\u202e\u2066\u200b\u200d\ufeff\x07\x1b\x00"

TEXTS = {
    "html": "<b>bold</b><table><tr><td>x</td></tr></table> &lt; &amp;amp; <!-- c -->",
    "script": "<script>alert(1)</script><style>* {display:none}</style><iframe src='http://evil.example'>",
    "hidden": f"pay {HIDDEN} now",
    "links": "[a](javascript:alert(1)) [b](file:///etc/passwd) [c](data:text/html,x) <javascript:x> <file:///x>",
    "images": "![a](http://evil.example/p.png) ![b](file:///etc/hostname) ![c](//evil.example/x) ![d](:/qrc)",
    "reference images": "![a][r]\n\n[r]: http://evil.example/p.png",
    "html images": "<img src='http://evil.example/p.png'><img src='file:///etc/hostname'><object data='x'>",
    "css": "<p style='background-image: url(http://evil.example/x)'>x</p>",
    "long line": "W" * 100_000,
    "quote bomb": "> " * 2_000 + "x",
    "list bomb": "\n".join(" " * (2 * depth) + "- x" for depth in range(150)),
    "emphasis bomb": "*a " * 2_000 + "**" * 2_000,
    "bracket bomb": "[" * 3_000 + "]" * 3_000 + "(x)" * 100,
    "table bomb": "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + ("|" + "x|" * 100 + "\n") * 10,
    "heading bomb": "# x\n" * 300,
    "code fence": "```html\n<img src='http://evil.example/x.png'>\n" + "x" * 5_000,
}

MARKUP = ("html", "script", "html images", "css")


@pytest.fixture
def asked_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every resource that a document of ours would have loaded; at the end of the test there is none."""
    asked: list[str] = []
    load = MessageBrowser.loadResource

    def spied(browser: MessageBrowser, type: int, name: QUrl | str) -> object:
        result = load(browser, type, name)
        if result is not None:
            asked.append(str(name))
        return result

    monkeypatch.setattr(MessageBrowser, "loadResource", spied)
    yield asked
    assert asked == []


def _within(part: QWidget, whole: QWidget) -> bool:
    """Whether nothing of ``part`` is wider than ``whole``."""
    return part.width() <= whole.width()


def _shown(text: str) -> str:
    """Without what layout adds."""
    return "".join(text.split())


@pytest.mark.requirement("QT-DOCK-005")
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_message_of_a_model_stays_text(
    qtbot: QtBot, dock: AssistantDock, conversation: FakeConversation, asked_for: list[str], name: str
) -> None:
    """While it streams and when it is done; no link but http(s), no picture, nothing wider than the dock."""
    text = TEXTS[name]
    message = conversation.begins("")
    for start in range(0, min(len(text), 20_000), 5_000):
        conversation.streams(message, text[start : start + 5_000])
        dock.transcript.flush()
    conversation.streams(message, text[20_000:])
    done = conversation.completes(message)
    row = dock.transcript.row_of(done.message_id)
    assert isinstance(row, MessageRow)
    document = row.browser.document()
    shown = document.toPlainText()
    assert not set(shown) & (set(HIDDEN) | {"\ufffc"})
    if name in MARKUP:
        assert _shown(text) == _shown(shown) or "&amp;" in text
    if name == "hidden":
        assert "\\u202e\\u2066\\u200b" in shown
    block = document.begin()
    while block.isValid():
        for part in block.textFormats():
            assert not part.format.isImageFormat()
            assert part.format.anchorHref() == "" or part.format.anchorHref().startswith("http")
        block = block.next()
    assert _within(row.browser, dock.transcript)
    assert dock.transcript.horizontalScrollBar().maximum() == 0
    assert dock.width() <= 900
    assert row.browser.horizontalScrollBar().maximum() == 0 or name == "table bomb"


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_tools_notices_and_the_person_stay_text(
    dock: AssistantDock, conversation: FakeConversation, asked_for: list[str], name: str
) -> None:
    """Titles, targets, reasons, inputs and what was pasted by the person."""
    text = TEXTS[name][:10_000]
    person = conversation.person(text)
    call = ToolCall(
        call_id="c1",
        tool_name=text[:50],
        capability_id=None,
        title=text,
        component_type=text[:200],
        instance_id=text[:200],
        input={text[:100]: text},
        status=ToolCallStatus.RUNNING,
        started_ms=0,
    )
    conversation.calls(call)
    notice = conversation.notice(text, NoticeKind.ERROR)
    card, remark = dock.transcript.row_of("c1"), dock.transcript.row_of(notice.message_id)
    row = dock.transcript.row_of(person.message_id)
    for part in (card, remark, row):
        if part is not None:
            assert _within(part, dock.transcript)
    if isinstance(card, ToolCard):
        card.details_button.setChecked(True)
        assert not set(card.title.shown_text + card.arguments.toPlainText()) & set(HIDDEN)
    if isinstance(remark, NoticeRow):
        assert not set(remark.accessibleName()) & set(HIDDEN)
    assert dock.transcript.horizontalScrollBar().maximum() == 0


@pytest.mark.requirement("QT-CONF-003")
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_question_stays_text(qtbot: QtBot, name: str) -> None:
    """Description, summary, keys and values; the dialog is no wider for it, and asks for no resource."""
    text = TEXTS[name]
    under_test = StoreUnderTest()
    host = ConfirmationHost(under_test.store, clock=under_test.clock)
    consumer = AgentConsumer(id="assistant")
    under_test.store.request(
        binding_of({text[:60]: text, "list": (text[:500],)}, consumer=consumer),
        description=text[:300],
        component_type="devices.table",
        instance_id="main",
        consumer=consumer,
        summary=text[:300],
        bound_fields=(),
    )
    qtbot.waitUntil(lambda: host.dialog is not None)
    dialog = host.dialog
    assert dialog is not None
    view = dialog.findChild(QTextEdit)
    assert isinstance(view, QTextEdit)
    for label in dialog.findChildren(QLabel):
        assert not set(label.text()) & set(HIDDEN)
        assert label.width() <= dialog.width()
    assert not set(view.toPlainText()) & (set(HIDDEN) | {"\ufffc"})
    assert view.horizontalScrollBar().maximum() == 0
    assert dialog.width() <= 900
    host.close()
    host.deleteLater()


def test_the_inspector_shows_text_as_text(qtbot: QtBot) -> None:
    """In a document that is filled by insertion alone."""
    view = FactsView()
    qtbot.addWidget(view)
    view.resize(400, 300)
    view.show()
    for text in TEXTS.values():
        view.show_facts([Fact(name="Reason", value=text)])
        assert not set(view.toPlainText()) & (set(HIDDEN) | {"\ufffc"})
        assert view.horizontalScrollBar().maximum() == 0
