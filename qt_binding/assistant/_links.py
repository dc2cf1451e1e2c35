"""A link of a model opens only after the person has seen where it really leads."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtWidgets import QAbstractButton, QMessageBox, QWidget

from qt_binding._looks import shortened
from qt_binding._text import visible_text
from qt_binding.assistant._markdown import is_openable
from qt_binding.assistant._wording import tr

_MAX_CHARACTERS: Final = 2_000
_LINE: Final = re.compile(r".{60}(?=.)")

OpenUrl = Callable[[QUrl], object]
"""Opens an address outside the application."""


def real_address(url: QUrl) -> str:
    """The address as it is requested: international host names in their ASCII form, nothing decoded."""
    return visible_text(url.toString(QUrl.ComponentFormattingOption.FullyEncoded), keep_newlines=False)


class LinkQuestion(QObject):
    """Asks before an address is opened, one question at a time.

    Args:
        window: The widget the question stands over.
        open_url: What opens an address once the person said so.
    """

    def __init__(self, window: QWidget, *, open_url: OpenUrl) -> None:
        super().__init__(window)
        self._window = window
        self._open_url = open_url
        self._url = QUrl()
        self.box: QMessageBox | None = None

    def ask(self, url: QUrl) -> None:
        """Show where ``url`` leads and open it if the person wants; any other scheme than http(s) is ignored."""
        if not is_openable(url.toString(QUrl.ComponentFormattingOption.FullyEncoded)) or self.box is not None:
            return
        self._url = url
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle(tr("Open a link"))
        box.setTextFormat(Qt.TextFormat.PlainText)
        host = url.host(QUrl.ComponentFormattingOption.FullyEncoded)
        box.setText(tr("Open this address of %1 in your browser?").replace("%1", _in_lines(visible_text(host))))
        box.setInformativeText(_in_lines(shortened(real_address(url), _MAX_CHARACTERS)))
        opens = box.addButton(tr("Open in browser"), QMessageBox.ButtonRole.AcceptRole)
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(cancel)
        box.setEscapeButton(cancel)
        opens.setObjectName("openLink")
        box.buttonClicked.connect(self._on_clicked)
        box.finished.connect(self._forget)
        self.box = box
        box.open()

    def _on_clicked(self, button: QAbstractButton) -> None:
        if button.objectName() == "openLink":
            self._open_url(self._url)

    def _forget(self) -> None:
        if self.box is not None:
            self.box.deleteLater()
        self.box = None


def _in_lines(text: str) -> str:
    """A message box breaks lines at spaces alone, and would cut off, or grow for, an address that has none."""
    return _LINE.sub(lambda line: f"{line.group()}\n", text)
