"""Components made, moved, hidden, blocked and destroyed at random, called from four threads, and counted."""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import random
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType

import shiboken6
from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QEventLoop,
    QMessageLogContext,
    QObject,
    QSignalBlocker,
    Qt,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from typing_extensions import override

from agent_surface import (
    AgentSurfaceEvent,
    AgentSurfaceLimits,
    AgentSurfaceRegistry,
    AvailabilityChanged,
    InvocationSettled,
    InvocationStarted,
)
from agent_surface.testing import contract_authority
from qt_binding import create_qt_registry, provide_surface
from qt_binding._runtime import runtime_of_application
from qt_binding.mixin._watch import ComponentWatch
from tests.qt.storm.agents import (
    AGENT,
    CAPABILITIES,
    FORMS,
    GroupAgent,
    ObjectAgent,
    Weather,
    capability_id,
)
from tests.qt.storm.callers import MANNERS, Callers, Job
from tests.qt.storm.checkpoint import Checkpoint, unusable
from tests.qt.storm.entry import Entry, StormError
from tests.qt.storm.oracle import obstacle
from tests.qt.storm.world import Ship, Skiff, move_window

POPULATION = 200
SHIPS = 3
SKIFFS = 4
DEEPEST = 3
"""Event loops that handlers may nest at a time."""

STEPS_A_ROUND = 25
PATIENCE_S = 30.0
"""After this time a call is given up as one that never settles."""

LIMITS = AgentSurfaceLimits(slow_handler_ms=60_000)
"""A handler that runs a dialog holds its turn for as long as the storm likes."""

QUIET = ("This plugin does not support",)


class Storm:
    """One run. ``weather`` is followed by every component.

    Attributes:
        done: Steps made.
        checks: Comparisons of one capability with the oracle.
        modal: The modal dialogs in the order in which they were shown.
    """

    def __init__(
        self, application: QApplication, seed: int, *, population: int = POPULATION, round_of: int = STEPS_A_ROUND
    ) -> None:
        self.weather = Weather()
        self.rng = random.Random(seed)
        self.done = 0
        self.checks = 0
        self.modal: list[QDialog] = []
        self._seed = seed
        self._population = population
        self._round_of = round_of
        self._application = application
        self._names = itertools.count()
        self.entries: list[Entry] = []
        self.born: list[weakref.ref[QObject]] = []
        self._skiffs: list[Skiff] = []
        self._collectors: list[threading.Thread] = []
        self._depth = 0
        self.complaints: list[str] = []
        self.runs: Counter[str] = Counter()
        self.started: Counter[str] = Counter()
        self.settled: Counter[str] = Counter()
        self.announced: dict[tuple[str, str], tuple[bool, str | None]] = {}
        self._checkpoint = Checkpoint(self)
        self._history: list[str] = []
        self.callers = Callers()
        self.registries = [
            create_qt_registry(authority=contract_authority(AGENT), environment="test", limits=LIMITS) for _ in range(2)
        ]
        for registry in self.registries:
            registry.subscribe(self._on_event)
        self.ships = [Ship(f"Ship {number}") for number in range(SHIPS)]
        self._withdraw = [
            provide_surface(application, self.registries[0]),
            provide_surface(self.ships[-1], self.registries[1]),
        ]
        for ship in self.ships:
            ship.show()
        self.runtime = runtime_of_application("storm")
        self.watch = self.runtime.part(ComponentWatch)
        self._turn()
        for _ in range(population):
            self._create()
        self.timers = len(self.runtime.findChildren(QTimer))
        self.threads = threading.active_count()

    # -- running -------------------------------------------------------------------------------------------------

    def run(self, steps: int) -> None:
        """Make that many steps, with a checkpoint every so often.

        Raises:
            StormError: An invariant does not hold.
        """
        with self._complaining():
            while self.done < steps:
                self._round(min(self._round_of, steps - self.done))
                self.check()

    def close(self) -> None:
        """Destroy the world and hold what is left against nothing.

        Raises:
            StormError: Something is left.
        """
        with self._complaining():
            self.entries.clear()
            for window in (*self._skiffs, *self.ships):
                if shiboken6.isValid(window):
                    shiboken6.delete(window)
            self._settle()
            self.check()
            self.callers.close()
            for withdraw in self._withdraw:
                withdraw()
            for registry in self.registries:
                registry.close()
            self._turn()

    def _round(self, steps: int) -> None:
        loop, timer = QEventLoop(), QTimer()
        failure = list[BaseException]()
        left = itertools.count(1)

        def step() -> None:
            try:
                self._step()
            except BaseException as error:  # noqa: BLE001 - raised again outside of the slot
                failure.append(error)
            if failure or next(left) >= steps:
                timer.stop()
                loop.quit()

        timer.timeout.connect(step)
        timer.start(0)
        loop.exec()
        # The slot holds the timer that holds the slot, which no collector sees.
        timer.timeout.disconnect(step)
        if failure:
            raise failure[0]

    def _step(self) -> None:
        self.done += 1
        deed = self.rng.choices(_DEEDS, _WEIGHTS)[0]
        self._history.append(deed.__name__.lstrip("_"))
        del self._history[:-200]
        deed(self)
        if self.rng.random() < 0.4:
            self._call()

    def _turn(self, times: int = 2) -> None:
        for _ in range(times):
            loop = QEventLoop()
            QTimer.singleShot(0, loop.quit)
            loop.exec()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def _settle(self) -> None:
        """Let everything that was begun end."""
        give_up = time.monotonic() + PATIENCE_S
        while True:
            self._turn()
            busy = any(thread.is_alive() for thread in self._collectors)
            if self.callers.idle and not busy and not any(self._in_flight(registry) for registry in self.registries):
                break
            if self.callers.faults or time.monotonic() > give_up:
                raise self.error(f"not everything settles: {self.callers}, {self.registries[0].statistics()}")
        self._collectors.clear()
        self._turn(3)

    def _in_flight(self, registry: AgentSurfaceRegistry) -> int:
        statistics = registry.statistics()
        return statistics.in_flight + statistics.running_tasks

    # -- what components do (see ``Witness``) -----------------------------------------------------------------------

    def handler_starts(self, agent: QObject, capability: str, invocation_id: str | None) -> None:
        """Judge the start of a handler: the object lives, and a person could do the same at this moment."""
        if invocation_id is not None:
            self.runs[invocation_id] += 1
        if threading.current_thread() is not threading.main_thread():
            self.complaints.append(f"{capability} started on another thread")
        if not shiboken6.isValid(agent):
            self.complaints.append(f"{capability} started on a dead object")
            return
        if capability != "linger" and self._task_is_current():
            self.complaints.append(f"{capability} started inside a task")
        entry = Entry(agent)
        widget = entry.widget
        found = None if widget is None else obstacle(widget, self.modal, settled=False)
        expected = unusable(entry, capability, found)
        if expected is not None:
            self.complaints.append(f"{capability} started, although: {expected}")

    def may_nest(self) -> bool:
        """Whether one more event loop may be nested."""
        return self._depth < DEEPEST

    def dialog_opens(self, dialog: QDialog) -> None:
        """A handler is about to run a dialog."""
        self.modal = [known for known in self.modal if shiboken6.isValid(known) and not known.isHidden()]
        self.modal.append(dialog)
        self._depth += 1
        dialog.finished.connect(self._on_finished)

    def _on_finished(self) -> None:
        self._depth -= 1

    def _task_is_current(self) -> bool:
        return asyncio.current_task(self.runtime.loop) is not None

    # -- deeds ---------------------------------------------------------------------------------------------------

    def _pick(self) -> Entry | None:
        self.entries = [entry for entry in self.entries if entry.alive]
        return self.rng.choice(self.entries) if self.entries else None

    def _pick_widget(self) -> tuple[Entry, QWidget] | None:
        entry = self._pick()
        return (entry, entry.target) if entry is not None and isinstance(entry.target, QWidget) else None

    def _place(self) -> QWidget:
        places = [place for ship in self.ships for place in ship.places()]
        places += [skiff.body for skiff in self.live_skiffs()]
        groups = [entry.target for entry in self.entries if entry.alive and isinstance(entry.target, GroupAgent)]
        return self.rng.choice([*places, *groups[:10]])

    def live_skiffs(self) -> list[Skiff]:
        """The dialogs that were not destroyed."""
        self._skiffs = [skiff for skiff in self._skiffs if shiboken6.isValid(skiff)]
        return self._skiffs

    def surface_of(self, target: QObject) -> int:
        """Which of the two registries an object belongs to."""
        owner: QObject | None = target
        while owner is not None:
            if owner is self.ships[-1]:
                return 1
            owner = owner.parent()
        return 0

    def _create(self) -> None:
        if sum(entry.alive for entry in self.entries) >= self._population:
            return self._destroy()
        target: QObject = self.rng.choice(FORMS)(self, f"n{next(self._names)}", self._place())
        if isinstance(target, QWidget) and self.rng.random() < 0.9:
            target.show()
        self.entries.append(Entry(target))
        self.born.append(weakref.ref(target))
        return None

    def _create_many(self) -> None:
        for _ in range(10):
            if len(self.entries) < self._population:
                self._create()

    def _move(self) -> None:
        entry, place = self._pick(), self._place()
        if entry is None or place is entry.target:
            return
        target = entry.target
        if isinstance(target, QWidget) and target.isAncestorOf(place):
            return
        for moved in self.entries:
            owner: QObject | None = moved.target if moved.alive else None
            while owner is not None and owner is not target:
                owner = owner.parent()
            if owner is target:
                moved.moves += 1
                moved.late = moved.late or moved.target is not target  # those inside of what moves hear nothing of it
        target.setParent(place)
        if isinstance(target, QWidget) and self.rng.random() < 0.8:
            target.show()

    def _hide_or_show(self) -> None:
        if (found := self._pick_widget()) is not None:
            found[1].setVisible(self.rng.random() < 0.8)

    def _disable_or_enable(self) -> None:
        if (found := self._pick_widget()) is not None:
            found[1].setEnabled(self.rng.random() < 0.85)

    def _switch(self) -> None:
        """``agent_enabled`` has no signal of its own; whoever changes it says so by another."""
        if (entry := self._pick()) is not None:
            entry.deeds.switched_on = self.rng.random() < 0.85
            self.weather.changed.emit()

    def _ready(self) -> None:
        if (entry := self._pick()) is not None:
            entry.deeds.set_ready(self.rng.random() < 0.7)

    def _ready_unheard(self) -> None:
        if (entry := self._pick()) is not None:
            blocker = QSignalBlocker(entry.target)
            entry.deeds.set_ready(self.rng.random() < 0.7)
            blocker.unblock()
            entry.late = True

    def _rename(self) -> None:
        """To a name of its own, or to one that is taken."""
        entry, other = self._pick(), self._pick()
        if entry is not None and other is not None:
            taken = self.rng.random() < 0.3
            entry.deeds.identity = other.deeds.identity if taken else f"n{next(self._names)}"
            entry.moves += 1
            self.weather.changed.emit()

    def _turn_page(self) -> None:
        ship = self.rng.choice(self.ships)
        ship.tabs.setCurrentIndex(self.rng.randrange(ship.tabs.count()))
        ship.stack.setCurrentIndex(self.rng.randrange(ship.stack.count()))

    def _enable_part(self) -> None:
        ship = self.rng.choice(self.ships)
        on = self.rng.random() < 0.85
        if self.rng.random() < 0.5:
            self.rng.choice([ship, ship.group, *ship.docks, *ship.places()]).setEnabled(on)
        else:
            ship.tabs.setTabEnabled(self.rng.randrange(ship.tabs.count()), on)

    def _dock(self) -> None:
        ship = self.rng.choice(self.ships)
        dock, other = self.rng.sample(ship.docks, 2)
        match self.rng.randrange(6):
            case 0:
                dock.close()
            case 1:
                dock.setFloating(not dock.isFloating())
            case 2 if not dock.isFloating() and not other.isFloating():
                ship.tabifyDockWidget(dock, other)
            case 3:
                ship.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
            case 4:
                dock.raise_()
            case _:
                dock.show()

    def _window(self) -> None:
        window = self.rng.choice([*self.ships, *self.live_skiffs()])
        match self.rng.randrange(12):
            case 0:
                window.hide() if isinstance(window, Ship) else None
            case 1:
                window.showMinimized() if isinstance(window, Ship) else None
            case 2:
                move_window(window, self.rng)
                for entry in self.entries:
                    entry.late = True  # nothing tells a widget that its window was moved
            case _:
                if isinstance(window, Ship):
                    window.showNormal()

    def _open(self) -> None:
        if len(self.live_skiffs()) >= SKIFFS:
            return self._shut()
        parent = self.rng.choice([None, *self.ships, *self.live_skiffs()])
        skiff = Skiff(f"Skiff {next(self._names)}", parent)
        skiff.setWindowModality(
            self.rng.choice(
                [Qt.WindowModality.NonModal, Qt.WindowModality.WindowModal, Qt.WindowModality.ApplicationModal]
            )
        )
        skiff.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, self.rng.random() < 0.5)
        self._skiffs.append(skiff)
        self._raise(skiff)
        return None

    def _raise(self, skiff: Skiff) -> None:
        self.modal = [known for known in self.modal if known is not skiff]
        skiff.show()
        if skiff.isModal():
            self.modal.append(skiff)

    def _shut(self) -> None:
        if not self.live_skiffs():
            return
        skiff = self.rng.choice(self._skiffs)
        match self.rng.randrange(6):
            case 0:
                skiff.reject()
            case 1:
                skiff.close()
            case 2:
                shiboken6.delete(skiff)
            case 3:
                skiff.deleteLater()
            case 4:
                self._skiffs.remove(skiff)
                self.modal = [known for known in self.modal if known is not skiff]
                skiff.setParent(None)  # and the last reference goes
            case _:
                if skiff.isHidden():
                    self._raise(skiff)
                else:
                    skiff.hide()

    def _destroy(self) -> None:
        entry = self._pick()
        if entry is None:
            return
        target = entry.target
        match self.rng.randrange(3):
            case 0:
                target.deleteLater()
            case 1:
                shiboken6.delete(target)
            case _:
                self.entries.remove(entry)
                entry.target = QObject()
                target.setParent(None)  # and the last reference goes

    def _wreck(self) -> None:
        """A page goes with everything on it."""
        ship = self.rng.choice(self.ships)
        place = self.rng.choice(list(ship.places()))
        if place is not ship.group:
            ship.rebuild(place, self.rng)

    def _collect_elsewhere(self) -> None:
        """Whatever thread the collector happens to run on."""
        entry = self._pick()
        if entry is None or not isinstance(entry.target, ObjectAgent):
            return
        self.entries.remove(entry)
        entry.target.setParent(None)
        vars(entry.target)["itself"] = entry.target
        del entry
        thread = threading.Thread(target=gc.collect, daemon=True)
        self._collectors.append(thread)
        thread.start()

    def _call(self) -> None:
        if (entry := self._pick()) is None:
            return
        for _ in range(5):  # most are on some page that is not shown; calls of those are soon told
            if entry.widget is not None and entry.widget.isVisible():
                break
            entry = self._pick() or entry
        name = self.rng.choice(CAPABILITIES)
        self.callers.give(
            Job(
                registry=self.registries[self.surface_of(entry.target) ^ (self.rng.random() < 0.1)],
                invocation_id=f"call-{self._seed}-{next(self._names)}",
                capability_id=capability_id(name),
                instance_id=entry.deeds.identity,
                input={} if name == "read" else {"value": self.rng.randrange(1_000)},
                manner=self.rng.choice(MANNERS),
            )
        )

    # -- checkpoints ---------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Let everything settle and hold every invariant against the world.

        Raises:
            StormError: One does not hold.
        """
        self._settle()
        self.entries = [entry for entry in self.entries if entry.alive]
        gc.collect()  # a component that is attached with functions of its own is a cycle
        self._turn(3)
        self._checkpoint.check_nothing_is_kept()
        self._checkpoint.check_modality()
        self._checkpoint.check_surfaces()
        self.weather.changed.emit()
        self._turn(3)
        for entry in self.entries:
            entry.late = False
        self._checkpoint.check_surfaces()
        self._checkpoint.check_calls()
        if self.complaints:
            raise self.error("\n".join(self.complaints[:20]))

    # -- what is heard ---------------------------------------------------------------------------------------------

    def _on_event(self, event: AgentSurfaceEvent) -> None:
        if isinstance(event, AvailabilityChanged):
            self.announced[event.registration_id, event.capability_id] = (event.available, event.reason)
        elif isinstance(event, InvocationStarted):
            self.started[event.invocation_id] += 1
        elif isinstance(event, InvocationSettled):
            self.settled[event.invocation_id] += 1

    @contextmanager
    def _complaining(self) -> Generator[None]:
        """Hear every exception, warning and log record that nobody else would."""

        def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            del trace
            self.complaints.append(f"{kind.__name__}: {error}")

        def qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
            del kind, context
            if not message.startswith(QUIET):
                self.complaints.append(f"Qt: {message}")

        handler = _Hears(self.complaints)
        before = sys.excepthook, threading.excepthook, sys.unraisablehook
        sys.excepthook = hook
        threading.excepthook = lambda given: self.complaints.append(f"in a thread: {given.exc_value!r}")
        sys.unraisablehook = lambda given: self.complaints.append(f"unraisable: {given.exc_value!r}")
        qt_before = qInstallMessageHandler(qt_message)
        logging.getLogger().addHandler(handler)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(handler)
            qInstallMessageHandler(qt_before)
            sys.excepthook, threading.excepthook, sys.unraisablehook = before

    def error(self, message: str) -> StormError:
        """What did not hold, with what was done before."""
        deeds = ", ".join(self._history[-2 * STEPS_A_ROUND :])
        return StormError(
            f"seed {self._seed}, step {self.done}: {message}\nbefore that: {deeds}\n" + "\n".join(self.complaints[:10])
        )


class _Hears(logging.Handler):
    def __init__(self, complaints: list[str]) -> None:
        super().__init__(level=logging.WARNING)
        self.complaints = complaints

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.complaints.append(f"{record.name}: {record.getMessage()}")


_TABLE: list[tuple[int, Callable[[Storm], None]]] = [
    (20, Storm._create),
    (3, Storm._create_many),
    (12, Storm._move),
    (10, Storm._hide_or_show),
    (8, Storm._disable_or_enable),
    (4, Storm._switch),
    (8, Storm._ready),
    (4, Storm._ready_unheard),
    (3, Storm._rename),
    (10, Storm._turn_page),
    (5, Storm._enable_part),
    (10, Storm._dock),
    (6, Storm._window),
    (2, Storm._open),
    (5, Storm._shut),
    (8, Storm._destroy),
    (2, Storm._wreck),
    (1, Storm._collect_elsewhere),
]
_DEEDS = [deed for _, deed in _TABLE]
_WEIGHTS = [weight for weight, _ in _TABLE]
