"""Wires the program: the one module that knows every part."""

from __future__ import annotations

import getpass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QLocale, QSettings, QStandardPaths, QTranslator
from PySide6.QtWidgets import QApplication

from demo_app.domain import FleetClock, SystemFleetClock, open_fleet
from demo_app.views import FleetSession, MainWindow

ORGANISATION = "agent-surface-qt"
APPLICATION = "fleet-console"


def create_application(arguments: list[str]) -> QApplication:
    """The application object, named, and with Qt's own texts in the person's language."""
    application = QApplication(arguments)
    application.setOrganizationName(ORGANISATION)
    application.setApplicationName(APPLICATION)
    application.setApplicationDisplayName(application.tr("Fleet Console"))
    translator = QTranslator(application)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(QLocale(), "qtbase", "_", folder):
        application.installTranslator(translator)
    return application


def default_database() -> Path:
    """Where the fleet is kept unless the command line says otherwise; needs the application object."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation)
    return Path(folder) / "fleet.sqlite"


def create_main_window(
    database: Path, *, clock: FleetClock | None = None, actor: str | None = None, settings: QSettings | None = None
) -> MainWindow:
    """The main window on a database, which is made and filled with sample stations if it is not there.

    Args:
        database: The SQLite file.
        clock: Where times come from; the computer's clock if not given.
        actor: Who the person is, for the activity log; the login name if not given.
        settings: Where the arrangement of the window is kept; nowhere if not given.

    Raises:
        FleetDatabaseError: The file cannot be used.
    """
    session = FleetSession(
        open_fleet=partial(open_fleet, database, clock=clock or SystemFleetClock()), actor=actor or _login_name()
    )
    window = MainWindow(session, settings=settings)
    session.setParent(window)
    return window


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such account in the user database, as in some containers
        return "person"
