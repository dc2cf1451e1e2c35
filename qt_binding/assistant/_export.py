"""Writing the conversation into a file the person chose."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from agent_surface.assistant import conversation_to_markdown
from qt_binding.assistant._conversation import Conversation
from qt_binding.assistant._wording import tr


class ConversationExport(QObject):
    """Asks where to, and writes. What is written is the conversation at that moment.

    Args:
        session: The conversation.
        window: What the file dialog stands over.
        say: Hears how it went, in one sentence.
    """

    def __init__(self, session: Conversation, *, window: QWidget, say: Callable[[str], None]) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self._say = say
        self.dialog: QFileDialog | None = None

    def ask_markdown(self) -> None:
        """Export as Markdown."""
        self._ask(tr("Markdown (*.md)"), "md", lambda: conversation_to_markdown(self._session.transcript))

    def ask_json(self) -> None:
        """Export as JSON."""
        self._ask(
            tr("JSON (*.json)"),
            "json",
            lambda: json.dumps(self._session.to_json(), indent=2, ensure_ascii=False) + "\n",
        )

    def _ask(self, filter_text: str, suffix: str, text: Callable[[], str]) -> None:
        if self.dialog is not None:
            return
        dialog = QFileDialog(self._window, tr("Export the conversation"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([filter_text])
        dialog.setDefaultSuffix(suffix)
        dialog.selectFile(f"conversation.{suffix}")

        def chosen(path: str) -> None:
            self._write(Path(path), text())

        dialog.fileSelected.connect(chosen)
        dialog.finished.connect(self._forget)
        self.dialog = dialog
        dialog.open()

    def _write(self, path: Path, text: str) -> None:
        try:
            path.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            reason = error.strerror or tr("it cannot be written")
            self._say(tr("%1 was not written: %2.").replace("%1", path.name).replace("%2", reason))
        else:
            self._say(tr("Exported to %1.").replace("%1", path.name))

    def _forget(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
        self.dialog = None
