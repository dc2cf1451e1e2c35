"""Text that nobody vouches for, and a trap for whatever it might reach."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Final, cast

import pytest
from PySide6.QtCore import QObject, QPoint, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractScrollArea, QHeaderView, QTextEdit, QWidget

from qt_binding.assistant._browser import MessageBrowser
from qt_binding.confirmation._form import InputView
from qt_binding.inspector._facts import FactsView

HIDDEN: Final = "\u202e\u2066\u200b\u200d\ufeff\x07\x1b\x00"
"""Bidirectional, zero-width and control characters; none of them may be drawn."""

NOT_SHOWN: Final = frozenset(HIDDEN) | {"\ufffc"}
"""What stands in no shown text: those, and the place of a picture."""

TEXTS: Final = {
    "html": "<b>bold</b><table><tr><td>x</td></tr></table> &lt; &amp;amp; <!-- c -->",
    "script": "<script>alert(1)</script><style>* {display:none}</style><iframe src='http://evil.example'>",
    "hidden": f"pay {HIDDEN} now",
    "links": "[a](javascript:alert(1)) [b](file:///etc/passwd) [c](data:text/html,x) <javascript:x> <file:///x>",
    "images": "![a](http://evil.example/p.png) ![b](file:///etc/hostname) ![c](//evil.example/x) ![d](:/qrc)",
    "reference images": "![a][r]\n\n[r]: http://evil.example/p.png",
    "html images": "<img src='http://evil.example/p.png'><img src='file:///etc/hostname'><object data='x'>",
    "css": "<p style='background-image: url(http://evil.example/x)'>x</p>",
    "long line": "W" * 100_000,
    "line feeds": "\n" * 20_000,
    "quote bomb": "> " * 2_000 + "x",
    "list bomb": "\n".join(" " * (2 * depth) + "- x" for depth in range(150)),
    "emphasis bomb": "*a " * 2_000 + "**" * 2_000,
    "strike bomb": "~~a" * 13_000,
    "bracket bomb": "[" * 3_000 + "]" * 3_000 + "(x)" * 100,
    "table bomb": "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + ("|" + "x|" * 100 + "\n") * 10,
    "wide table": "|" + "a|" * 2_000 + "\n|" + "-|" * 2_000 + "\n|" + "x|" * 2_000,
    "heading bomb": "# x\n" * 300,
    "code fence": "```html\n<img src='http://evil.example/x.png'>\n" + "x" * 5_000,
}

_SCHEMES: Final = ("http", "https", "file", "javascript", "data")


class Trap(QObject):
    """A server nobody should ask, and a browser nobody should open.

    Attributes:
        caught: What was asked for all the same.
    """

    def __init__(self) -> None:
        super().__init__()
        self.caught: list[str] = []
        self._server = socket.socket()
        self._server.bind(("127.0.0.1", 0))
        self._server.listen()
        self._server.setblocking(False)
        # Its stub wants bytes for the name, which the binding itself refuses.
        handle = cast("Callable[[str, QObject, str], None]", QDesktopServices.setUrlHandler)
        for scheme in _SCHEMES:
            handle(scheme, self, "opened")

    def bait(self, text: str) -> str:
        """``text`` with its addresses leading here."""
        host, port = self._server.getsockname()
        return text.replace("evil.example", f"{host}:{port}")

    @Slot(QUrl)
    def opened(self, url: QUrl) -> None:
        """The browser was to open an address."""
        self.caught.append(f"opened {url.toString()}")

    def watch(self, monkeypatch: pytest.MonkeyPatch, view: type[QTextEdit]) -> None:
        """Catch every document of a kind of view that asks for anything."""

        def asked(_of: QTextEdit, _type: int, name: QUrl | str) -> None:
            self.caught.append(f"asked for {QUrl(name).toString()}")

        monkeypatch.setattr(view, "loadResource", asked)

    def close(self) -> None:
        """See whether anybody came."""
        for scheme in _SCHEMES:
            QDesktopServices.unsetUrlHandler(scheme)
        try:
            connection, _ = self._server.accept()
        except BlockingIOError:
            pass
        else:
            connection.close()
            self.caught.append("connected")
        self._server.close()


def trapped(monkeypatch: pytest.MonkeyPatch) -> Iterator[Trap]:
    """A fixture's body: nothing is loaded, no server asked and no browser opened until the end of the test."""
    made = Trap()
    for view in (MessageBrowser, InputView, FactsView):
        made.watch(monkeypatch, view)
    yield made
    made.close()
    assert made.caught == []


def overflowing(window: QWidget) -> Iterator[str]:
    """What reaches beyond the sides of ``window``, or scrolls sideways in it. The columns of a table may."""
    for part in window.findChildren(QWidget):
        if not part.isVisible() or part.window() is not window.window():
            continue
        left = part.mapTo(window, QPoint(0, 0)).x()
        if not isinstance(part, QHeaderView) and not (left >= 0 and left + part.width() <= window.width()):
            yield f"{type(part).__name__} from {left}, {part.width()} wide, in {window.width()}"
        if isinstance(part, QAbstractScrollArea) and part.horizontalScrollBar().maximum() > 0:
            yield f"{type(part).__name__} scrolls sideways by {part.horizontalScrollBar().maximum()}"
