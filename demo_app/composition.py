"""Wires the program: the one module that knows every part."""

from __future__ import annotations

import getpass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QSettings, QStandardPaths, Qt, QTranslator
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication

from agent_surface import AgentConsumer, RouteInfo, TakeOver, load_capability_authority, rate_limit
from agent_surface.assistant import CommandBackend
from agent_surface.toolset import create_agent_toolset
from demo_app.assistant import AssistantCare, AssistantChoices, key_stores, saved_conversation
from demo_app.domain import FleetClock, SystemFleetClock, open_fleet
from demo_app.procedures import create_fleet_services, offer_procedures
from demo_app.views import FleetSession, MainWindow, Outline
from qt_binding import create_qt_registry, provide_surface
from qt_binding.assistant import AssistantDock, create_assistant_session
from qt_binding.confirmation import ConfirmationHost
from qt_binding.inspector import SurfaceInspector, inspector_wanted

ORGANISATION = "agent-surface-qt"
APPLICATION = "fleet-console"

ASSISTANT = "assistant"
"""Who the assistant is, for the surface, in the confirmation dialog and in the activity log."""

CALLS_AT_ONCE = 60
CALLS_PER_SECOND = 10.0
"""What an assistant may call of one capability; far above what a person would want, far below a loop gone wild."""


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


def assistant_folder() -> Path:
    """Where the assistant's settings and conversation are kept; needs the application object."""
    return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation)) / "assistant"


class Console:
    """The program, put together: the fleet, its window, the surface an assistant sees of it, and the assistant.

    Made by :func:`create_console`, run by ``qt_binding.run``.

    Attributes:
        person: Who is at the window.
        window: The main window.
        registry: What is live of the window, and the one way in for an assistant.
        assistant: The conversation.
        dock: Shows the conversation.
        confirmations: Asks the person.
        take_over: With it the person takes control from every assistant.
        care: Settings and the saving of the conversation.
        inspector: Shows developers the surface, once it was opened.
    """

    def __init__(
        self, session: FleetSession, *, person: str, settings: QSettings | None, assistant_folder: Path | None
    ) -> None:
        self.person = person
        self.take_over = TakeOver()
        self.inspector: SurfaceInspector | None = None
        choices = AssistantChoices(assistant_folder, consumer_id=ASSISTANT)
        self.registry = create_qt_registry(
            authority=load_capability_authority("demo_app"),
            # Production takes no other than a proven contract; `agent-surface check` keeps it one.
            environment="production",
            policies=[self.take_over, choices, rate_limit(capacity=CALLS_AT_ONCE, refill_per_second=CALLS_PER_SECOND)],
            context=lambda: {"user": person},
            route=self._route,
            procedures=create_fleet_services(session, person=person),
        )
        self.window = MainWindow(session, settings=settings)
        session.setParent(self.window)
        provide_surface(self.window, self.registry)
        offer_procedures(self.window)
        self._toolset = create_agent_toolset(self.registry, consumer=AgentConsumer(id=ASSISTANT), topology="embedded")
        self.assistant = create_assistant_session(
            self.registry,
            self._toolset,
            CommandBackend(),
            take_over=self.take_over,
            saved=saved_conversation(assistant_folder),
        )
        self.care = AssistantCare(
            self.assistant,
            choices,
            registry=self.registry,
            folder=assistant_folder,
            keys=key_stores(APPLICATION),
            window=self.window,
        )
        self.dock = AssistantDock(
            self.assistant,
            registry=self.registry,
            take_over=self.take_over,
            has_settings=True,
            parent=self.window,
        )
        self.confirmations = ConfirmationHost(
            self.registry.confirmations,
            window_for=lambda _pending: self.window,
            can_stop=lambda pending: pending.consumer.id == ASSISTANT,
            can_take_over=lambda _pending: True,
            parent=self.window,
        )
        self._arrange_dock()
        self._offer_inspector()
        self.window.restore_arrangement()
        self.dock.show_requested.connect(self._show_component)
        self.dock.confirmation_requested_focus.connect(self._show_question)
        self.dock.settings_requested.connect(self.care.open_settings)
        self.confirmations.stop_requested.connect(self._stop)
        self.confirmations.take_over_requested.connect(self._take_control)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.close_assistant)

    def close_assistant(self) -> None:
        """End the conversation and what it waits for. Safe to repeat."""
        self.assistant.close()
        self.care.close()
        self._toolset.close()

    def close(self) -> None:
        """End everything but the window, which closes by itself. ``run`` does the same on its way out."""
        self.close_assistant()
        self.confirmations.close()
        self.registry.close()

    def _arrange_dock(self) -> None:
        self.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        self.window.splitDockWidget(self.window.drawer, self.dock, Qt.Orientation.Horizontal)
        width = self.window.fontMetrics().averageCharWidth()
        self.window.resizeDocks([self.window.drawer, self.dock], [45 * width, 60 * width], Qt.Orientation.Horizontal)
        # Its own shortcut is "clear selection" here.
        self.dock.toggleViewAction().setShortcut(QKeySequence("F8"))
        self.window.view_menu.addAction(self.dock.toggleViewAction())

    def open_inspector(self) -> SurfaceInspector:
        """Show the inspector; nothing of it exists before."""
        if self.inspector is None:
            # Only who inspects has support for tests in the program.
            from qt_binding.testing import QT

            self.inspector = SurfaceInspector(
                self.registry, consumers=(AgentConsumer(id=ASSISTANT),), test_runner=QT, parent=self.window
            )
            self.window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.inspector)
            self.window.restoreDockWidget(self.inspector)
            self.window.view_menu.addAction(self.inspector.toggleViewAction())
        self.inspector.show()
        self.inspector.raise_()
        self.inspector.surface.tree.setFocus(Qt.FocusReason.OtherFocusReason)
        return self.inspector

    def _offer_inspector(self) -> None:
        action = QAction(self.window.tr("&Inspect the agent surface"), self.window)
        action.setShortcut(QKeySequence("Ctrl+Shift+I"))
        action.triggered.connect(self.open_inspector)
        self.window.help_menu.insertAction(self.window.help_menu.actions()[0], action)
        if inspector_wanted():
            self.open_inspector()

    def _route(self) -> RouteInfo:
        return RouteInfo(path=f"/{self.window.section()}")

    def _show_component(self, component_type: str, _instance_id: str) -> None:
        Outline(self.window.reveal(component_type))

    def _show_question(self, _confirmation_id: str) -> None:
        dialog = self.confirmations.dialog
        if dialog is not None:
            dialog.raise_()
            dialog.activateWindow()

    def _stop(self, _confirmation_id: str) -> None:
        self.assistant.stop()

    def _take_control(self, _confirmation_id: str) -> None:
        self.take_over.engage()


def create_console(
    database: Path,
    *,
    clock: FleetClock | None = None,
    person: str | None = None,
    settings: QSettings | None = None,
    assistant_folder: Path | None = None,
) -> Console:
    """The whole program on a database, which is made and filled with sample stations if it is not there.

    Args:
        database: The SQLite file.
        clock: Where times come from; the computer's clock if not given.
        person: Who is at the window, for the activity log; the login name if not given.
        settings: Where the arrangement of the window is kept; nowhere if not given.
        assistant_folder: Where the assistant's settings and conversation are kept; nowhere if not given.

    Raises:
        FleetDatabaseError: The file cannot be used.
    """
    who = person or _login_name()
    session = FleetSession(open_fleet=partial(open_fleet, database, clock=clock or SystemFleetClock()), actor=who)
    return Console(session, person=who, settings=settings, assistant_folder=assistant_folder)


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such account in the user database, as in some containers
        return "person"
