"""Where the commands of the main window are found: menu bar, toolbar, context menu."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenu, QToolBar

from demo_app.views._commands import FleetCommands
from demo_app.views._devices_table import DevicesTable


def build_menus(
    window: QMainWindow, commands: FleetCommands, *, pages: Sequence[QAction], panels: Sequence[QAction]
) -> tuple[QMenu, QMenu]:
    """Fill the menu bar.

    Args:
        window: Whose menu bar.
        commands: What can be done.
        pages: Brings a page of the window to the front, each.
        panels: Shows or hides a part of the window, each.

    Returns:
        The View and the Help menu, for what comes later.
    """
    tr, bar = window.tr, window.menuBar()
    file_menu = bar.addMenu(tr("&File"))
    file_menu.addActions([commands.import_csv, commands.export_csv])
    file_menu.addSeparator()
    file_menu.addAction(commands.quit)
    edit_menu = bar.addMenu(tr("&Edit"))
    edit_menu.addActions([commands.find, commands.select_all, commands.clear_selection])
    device_menu = bar.addMenu(tr("&Device"))
    device_menu.addActions([commands.disable, commands.enable])
    device_menu.addSeparator()
    device_menu.addActions([commands.rename, commands.write_note])
    view_menu = bar.addMenu(tr("&View"))
    view_menu.addActions(list(pages))
    view_menu.addSeparator()
    view_menu.addAction(commands.refresh)
    view_menu.addSeparator()
    view_menu.addActions(list(panels))
    help_menu = bar.addMenu(tr("&Help"))
    help_menu.addAction(commands.about)
    for menu in (file_menu, edit_menu, device_menu, view_menu):
        # A command that is off says why.
        menu.setToolTipsVisible(True)
    return view_menu, help_menu


def build_toolbar(window: QMainWindow, commands: FleetCommands) -> None:
    """Add the toolbar."""
    toolbar = QToolBar(window.tr("Commands"), window)
    toolbar.setObjectName("commands")
    toolbar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    toolbar.addActions([commands.import_csv, commands.export_csv])
    toolbar.addSeparator()
    toolbar.addActions([commands.disable, commands.enable])
    toolbar.addSeparator()
    toolbar.addAction(commands.refresh)
    window.addToolBar(toolbar)


def build_context_menu(table: DevicesTable, commands: FleetCommands) -> None:
    """Offer what can be done with devices where they are."""
    table.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
    table.addActions([commands.disable, commands.enable, commands.rename, commands.write_note])
