"""Worker threads that never hold the process back from ending."""

from __future__ import annotations

import functools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar, cast

from typing_extensions import override

P = ParamSpec("P")
T = TypeVar("T")

MAX_WORKERS = 8


class DaemonThreadPool(Executor):
    """A bounded executor on daemon threads.

    ``concurrent.futures.ThreadPoolExecutor`` joins its threads when the interpreter ends, so one handler that never
    returns keeps a closed application alive; qasync's executor also loses the future of a worker that raises a
    ``BaseException``. Here every outcome reaches the future and quitting waits for nobody (QT-LOOP-002).
    """

    def __init__(self, *, max_workers: int = MAX_WORKERS, name: str = "agent-surface") -> None:
        """Make a pool; threads start when they are first needed.

        Args:
            max_workers: Most threads at a time, at least 1.
            name: Prefix of the threads' names.
        """
        if max_workers < 1:
            raise ValueError(f"max_workers must be at least 1, not {max_workers}")
        self._max_workers = max_workers
        self._name = name
        self._jobs: queue.SimpleQueue[tuple[Future[object], Callable[[], object]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._workers = 0
        self._idle = 0
        self._closed = False

    @override
    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``fn`` on a worker.

        Raises:
            RuntimeError: The pool was shut down.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the thread pool was shut down")
            self._jobs.put((cast("Future[object]", future), functools.partial(fn, *args, **kwargs)))
            if self._idle:
                self._idle -= 1
            elif self._workers < self._max_workers:
                self._workers += 1
                threading.Thread(target=self._work, name=f"{self._name}-{self._workers}", daemon=True).start()
        return future

    @override
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more jobs and let idle threads end.

        Args:
            wait: Accepted and ignored: this pool exists so that nothing waits for a busy worker.
            cancel_futures: Forget jobs that have not begun.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
            workers = self._workers
        if cancel_futures:
            while True:
                try:
                    job = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if job is not None:
                    job[0].cancel()
        for _ in range(workers):
            self._jobs.put(None)

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            _settle(*job)
            del job
            with self._lock:
                self._idle += 1


def _settle(future: Future[object], function: Callable[[], object]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001 - a future carries whatever the function raised
        future.set_exception(error)
    else:
        future.set_result(result)
