"""The dock: hears the registry, and lets its pages show what changed a few times a second at most."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QStackedWidget, QTabWidget, QWidget
from typing_extensions import override

from agent_surface import (
    ANONYMOUS,
    AgentConsumer,
    AgentSurfaceEvent,
    AgentSurfaceRegistry,
    ConsumerKind,
    PendingConfirmation,
    RegistryClosedError,
)
from qt_binding._alive import while_alive
from qt_binding._looks import PlainLabel
from qt_binding._runtime import QtClock, QtHostLoop, runtimes_of
from qt_binding.inspector._pending_page import PendingPage
from qt_binding.inspector._stream import AuditTail, StreamEntry, StreamModel, audit_entry, event_entry
from qt_binding.inspector._stream_page import StreamPage
from qt_binding.inspector._surface_page import SurfacePage
from qt_binding.inspector._wording import tr

if TYPE_CHECKING:
    from agent_surface.testing import ReplayRunner

DEVELOPER = AgentConsumer(id="developer", kind=ConsumerKind.OTHER)
"""Who calls by hand, unless the inspector is told otherwise."""

ENVIRONMENT_VARIABLE = "AGENT_SURFACE_INSPECT"

_STREAM_MS = 100
_SURFACE_MS = 200
# A big surface is read as seldom as it takes to leave nine tenths of the time to everybody else.
_REST_FACTOR = 9
_AUDIT_LOOK_MS = 1_000
_CAPACITY = 2_000


def inspector_wanted(environment: Mapping[str, str] | None = None) -> bool:
    """Whether the program was started with ``AGENT_SURFACE_INSPECT=1``.

    Args:
        environment: Where to look; the environment of the process if not given.
    """
    found = os.environ if environment is None else environment
    return found.get(ENVIRONMENT_VARIABLE, "") not in {"", "0"}


class SurfaceInspector(QDockWidget):
    """Shows developers what a registry holds, who sees what of it and why, and what happens; and lets them invoke.

    It is for developers and never reaches an agent: it is no component, declares no capability, and calls with an
    identity of its own. Everything is shown in batches, so that a storm of events costs no more than a breeze.

    Args:
        registry: Made by ``create_qt_registry``.
        consumers: Who the surface can be looked at as, beside the developer and the anonymous consumer; any other can
            be typed.
        developer: Who calls by hand; the application's policies decide what that consumer may.
        test_runner: How a copied test gets its surface; ``qt_binding.testing.QT`` for an application with widgets.
            On an event loop of its own when absent.
        parent: Usually the main window.

    Raises:
        NotAQtRegistryError: ``registry`` lacks the Qt ports.
    """

    def __init__(
        self,
        registry: AgentSurfaceRegistry,
        *,
        consumers: Sequence[AgentConsumer] = (),
        developer: AgentConsumer = DEVELOPER,
        test_runner: ReplayRunner | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Surface inspector"), parent)
        self.setObjectName("agentSurfaceInspector")
        runtimes = runtimes_of(registry, "SurfaceInspector")
        self._registry = registry
        self._clock = QtClock(runtimes.deadlines)
        self._arrived: list[StreamEntry] = []
        self._audit = AuditTail(registry.audit)
        self._surface_moved = True
        self._pending: tuple[PendingConfirmation, ...] = ()
        self.surface = SurfacePage(
            registry,
            consumers=tuple(dict.fromkeys((*consumers, developer, ANONYMOUS))),
            developer=developer,
            host_loop=QtHostLoop(runtimes.loop),
            test_runner=test_runner,
        )
        self.stream = StreamPage(StreamModel(_CAPACITY, self), audit_readable=self._audit.readable)
        self.pending = PendingPage()
        self.tabs = QTabWidget()
        self._closed_text = PlainLabel()
        self._pages = QStackedWidget()
        self._surface_timer = self._timer(_SURFACE_MS, self._show_surface)
        self._stream_timer = self._timer(_STREAM_MS, self._show_stream)
        self._audit_timer = QTimer(self)
        self._audit_timer.setInterval(_AUDIT_LOOK_MS)
        self._audit_timer.timeout.connect(self._look_at_audit)
        self._build()
        self._subscribe()

    @override
    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.averageCharWidth() * 90, metrics.lineSpacing() * 36)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_surface()
        self._show_stream()
        self._audit_timer.start()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._audit_timer.stop()

    # Hearing.

    def _subscribe(self) -> None:
        disposers = [
            self._registry.subscribe(while_alive(self, self._hear)),
            self._registry.confirmations.subscribe(while_alive(self, self._hear_pending)),
        ]
        self._pending = self._registry.confirmations.pending()

        def leave() -> None:
            for dispose in disposers:
                dispose()

        self.destroyed.connect(leave)
        # Nobody will see the result of what still runs by hand.
        self.destroyed.connect(self.surface.invoke.canceller())

    def _hear(self, event: AgentSurfaceEvent) -> None:
        self._arrived.append(event_entry(event, self._clock.now_ms()))
        if len(self._arrived) > 2 * _CAPACITY:
            # Hidden for long: the stream counts what it lets go.
            self._show_stream()
        self._start(self._stream_timer)
        if event.type in {"surface-changed", "availability-changed"}:
            self._surface_moved = True
            self._start(self._surface_timer)

    def _hear_pending(self, pending: Sequence[PendingConfirmation]) -> None:
        self._pending = tuple(pending)
        self._start(self._stream_timer)

    def _start(self, timer: QTimer) -> None:
        if self.isVisible() and not timer.isActive():
            timer.start()

    # Showing.

    def _show_surface(self) -> None:
        if not self._surface_moved or not self.isVisible():
            return
        spent = QElapsedTimer()
        spent.start()
        try:
            self.surface.refresh()
        except RegistryClosedError:
            self._pages.setCurrentIndex(1)
            return
        self._surface_moved = False
        self._surface_timer.setInterval(max(_SURFACE_MS, spent.elapsed() * _REST_FACTOR))

    def _show_stream(self) -> None:
        arrived, self._arrived = self._arrived, []
        arrived.extend(audit_entry(record) for record in self._audit.take())
        if arrived:
            self.stream.extend(arrived)
        self.pending.show_pending(self._pending)
        count = len(self._pending)
        title = tr("Confirmations (%1)").replace("%1", str(count)) if count else tr("Confirmations")
        self.tabs.setTabText(2, title)

    def _look_at_audit(self) -> None:
        if self._registry.closed:
            self._pages.setCurrentIndex(1)
        self._show_stream()

    def _timer(self, interval_ms: int, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        timer.timeout.connect(slot)
        return timer

    def _build(self) -> None:
        self.tabs.addTab(self.surface, tr("Surface"))
        self.tabs.addTab(self.stream, tr("Events"))
        self.tabs.addTab(self.pending, tr("Confirmations"))
        self.tabs.setDocumentMode(True)
        self._closed_text.set_text(tr("The registry is closed. There is nothing to look at any more."))
        self._closed_text.setContentsMargins(12, 12, 12, 12)
        self._pages.addWidget(self.tabs)
        self._pages.addWidget(self._closed_text)
        self.setWidget(self._pages)
        self.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)
