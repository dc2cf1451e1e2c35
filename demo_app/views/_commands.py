"""The commands of the main window: one QAction each, for menus, toolbar and drawer."""

from __future__ import annotations

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QStyle

from demo_app.views._appearance import command_icon

_Pixmap = QStyle.StandardPixmap


class FleetCommands:
    """Makes the actions; the window connects them and says when they are possible.

    Args:
        window: Owner of the actions.

    """

    def __init__(self, window: QMainWindow) -> None:
        self._window = window
        self._tips: dict[QAction, str] = {}
        tr = window.tr
        self.import_csv = self._action(
            tr("&Import CSV…"), tr("Add or update devices from a file"), "document-open", _Pixmap.SP_DialogOpenButton
        )
        self.import_csv.setShortcut(QKeySequence.StandardKey.Open)
        self.export_csv = self._action(
            tr("&Export CSV…"),
            tr("Write the selected devices, or all listed ones, to a file"),
            "document-save-as",
            _Pixmap.SP_DialogSaveButton,
        )
        self.export_csv.setShortcut(QKeySequence.StandardKey.Save)
        self.quit = self._action(tr("&Quit"), tr("Close the program"), "application-exit", None)
        self.quit.setShortcut(QKeySequence.StandardKey.Quit)
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)
        self.find = self._action(tr("&Find"), tr("Go to the search field"), "edit-find", None)
        self.find.setShortcut(QKeySequence.StandardKey.Find)
        self.select_all = self._action(tr("Select &all"), tr("Select every listed device"), "edit-select-all", None)
        self.select_all.setShortcut(QKeySequence.StandardKey.SelectAll)
        self.clear_selection = self._action(
            tr("&Clear selection"), tr("Select no device"), "edit-clear", _Pixmap.SP_DialogResetButton
        )
        self.clear_selection.setShortcut(QKeySequence("Ctrl+Shift+A"))
        self.disable = self._action(
            tr("&Disable…"),
            tr("Take the selected devices out of service"),
            "process-stop",
            _Pixmap.SP_DialogCancelButton,
        )
        self.disable.setShortcut(QKeySequence("Ctrl+D"))
        self.enable = self._action(
            tr("&Enable"),
            tr("Put the selected devices back into service"),
            "dialog-ok-apply",
            _Pixmap.SP_DialogApplyButton,
        )
        self.enable.setShortcut(QKeySequence("Ctrl+E"))
        self.rename = self._action(tr("&Rename"), tr("Edit the name of the current device"), "edit-rename", None)
        self.rename.setShortcut(QKeySequence("F2"))
        self.write_note = self._action(tr("Write a &note"), tr("Note what has to be done there"), "document-new", None)
        self.write_note.setShortcut(QKeySequence("Ctrl+N"))
        self.refresh = self._action(
            tr("&Refresh"), tr("Read the database again"), "view-refresh", _Pixmap.SP_BrowserReload
        )
        self.refresh.setShortcut(QKeySequence.StandardKey.Refresh)
        self.about = self._action(tr("&About Fleet Console"), tr("What this program is"), "help-about", None)
        self.about.setMenuRole(QAction.MenuRole.AboutRole)

    def allow(self, action: QAction, obstacle: str = "") -> None:
        """Switch a command on, or off with the reason where people look for it: tool tip and status bar.

        Args:
            action: One of these commands.
            obstacle: A sentence; empty when nothing is in the way.
        """
        tip = self._tips[action]
        if obstacle:
            tip = self._window.tr("{command}. Not now: {obstacle}").format(command=tip, obstacle=obstacle)
        action.setEnabled(not obstacle)
        action.setStatusTip(tip)
        action.setToolTip(tip)

    def _action(self, text: str, tip: str, theme_name: str, fallback: QStyle.StandardPixmap | None) -> QAction:
        action = QAction(text, self._window)
        action.setStatusTip(tip)
        action.setToolTip(tip)
        self._tips[action] = tip
        if fallback is not None:
            action.setIcon(command_icon(self._window, theme_name, fallback))
        return action
