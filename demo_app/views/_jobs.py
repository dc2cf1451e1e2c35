"""Long operations on a worker thread with its own connection to the database, one after another."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, local

from PySide6.QtCore import QObject, Qt, Signal

from demo_app.domain import Fleet, FleetError, OperationCancelledError

_LOGGER = logging.getLogger(__name__)


class Job(QObject):
    """One operation that was handed to the worker.

    Attributes:
        label: What is going on, for people: "Importing stations.csv".
        future: The result, set on the GUI thread after everybody else was told; for code that awaits it.

    Signals (all on the GUI thread):
        progressed: ``(done, total)`` as objects, some times a second at most.
        succeeded: The result, once.
        failed: The :class:`FleetError`, once, instead of ``succeeded``.
    """

    progressed = Signal(object, object)
    succeeded = Signal(object)
    failed = Signal(object)

    def __init__(self, label: str, parent: QObject) -> None:
        super().__init__(parent)
        self.label = label
        self.future: Future[object] = Future()
        self._cancelled = Event()

    def cancel(self) -> None:
        """Ask the operation to stop; it ends with :class:`OperationCancelledError`, or was done already."""
        self._cancelled.set()

    def is_cancelled(self) -> bool:
        """Whether somebody asked for it to stop. Safe from any thread."""
        return self._cancelled.is_set()


class _Monitor:
    """The domain's view of a job, on the worker thread."""

    def __init__(self, job: Job, report: Callable[[int, int], None]) -> None:
        self._job = job
        self._report = report
        self._last_step = -1

    def report(self, done: int, total: int) -> None:
        step = done * 100 // total if total else 100
        if step != self._last_step:  # a hundred signals, not one for each batch
            self._last_step = step
            self._report(done, total)

    def is_cancelled(self) -> bool:
        return self._job.is_cancelled()


class JobRunner(QObject):
    """Runs jobs in the order they come, never two at once: SQLite has one writer.

    Args:
        open_fleet: Opens the fleet for the thread it is called on.
        parent: Owner.

    Signals:
        label_changed: The label of the running job, empty when the worker is idle.
    """

    label_changed = Signal(str)
    _settled = Signal(object, object)
    _progressed = Signal(object, object, object)

    def __init__(self, *, open_fleet: Callable[[], Fleet], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open_fleet = open_fleet
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fleet")
        self._on_worker = local()
        self._jobs: list[Job] = []
        self._is_closed = False
        # Queued by name: both are emitted on the worker.
        self._settled.connect(self._settle, Qt.ConnectionType.QueuedConnection)
        self._progressed.connect(self._pass_on_progress, Qt.ConnectionType.QueuedConnection)

    @property
    def label(self) -> str:
        """The label of the running job, empty when the worker is idle."""
        return self._jobs[0].label if self._jobs else ""

    def start(self, label: str, operation: Callable[[Fleet, _Monitor], object]) -> Job:
        """Run ``operation`` on the worker after those started before.

        Args:
            label: What is going on, for people.
            operation: Gets the worker's fleet and a monitor; what it returns is the job's result.
        """
        job = Job(label, self)
        self._jobs.append(job)
        if len(self._jobs) == 1:
            self.label_changed.emit(label)
        self._worker.submit(self._run, job, operation)
        return job

    def cancel_all(self) -> None:
        """Ask the running and the waiting jobs to stop."""
        for job in self._jobs:
            job.cancel()

    def close(self) -> None:
        """End the worker and close its connection. Call it when no job is running; safe to repeat."""
        if self._is_closed:
            return
        self._is_closed = True
        self.cancel_all()
        self._worker.submit(self._close_fleet)
        self._worker.shutdown(wait=True)

    def _run(self, job: Job, operation: Callable[[Fleet, _Monitor], object]) -> None:
        outcome: object
        try:
            if job.is_cancelled():
                raise OperationCancelledError
            monitor = _Monitor(job, lambda done, total: self._progressed.emit(job, done, total))
            outcome = operation(self._worker_fleet(), monitor)
        except FleetError as error:
            outcome = error
        except Exception:
            # A defect of ours must not leave the window waiting for ever.
            _LOGGER.exception("The job %r ended with an unexpected error", job.label)
            outcome = FleetError("The operation failed because of a defect in the program; the log has the details.")
        self._settled.emit(job, outcome)

    def _worker_fleet(self) -> Fleet:
        fleet: Fleet | None = getattr(self._on_worker, "fleet", None)
        if fleet is None:
            fleet = self._on_worker.fleet = self._open_fleet()
        return fleet

    def _close_fleet(self) -> None:
        fleet: Fleet | None = getattr(self._on_worker, "fleet", None)
        if fleet is not None:
            fleet.close()

    def _pass_on_progress(self, job: Job, done: int, total: int) -> None:
        job.progressed.emit(done, total)

    def _settle(self, job: Job, outcome: object) -> None:
        self._jobs.remove(job)
        self.label_changed.emit(self.label)
        if isinstance(outcome, FleetError):
            job.failed.emit(outcome)
            job.future.set_exception(outcome)
        else:
            job.succeeded.emit(outcome)
            job.future.set_result(outcome)
        job.deleteLater()
