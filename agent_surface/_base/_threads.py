"""Worker threads that never hold the process back from ending."""

from __future__ import annotations

import functools
import threading
from collections import deque
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
    returns keeps a closed application alive. Here every outcome reaches the future, a ``BaseException`` too, and
    quitting waits for nobody (QT-LOOP-002).
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
        self._jobs: deque[tuple[Future[object], Callable[[], object]]] = deque()
        self._changed = threading.Condition()
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
        with self._changed:
            if self._closed:
                raise RuntimeError("the thread pool was shut down")
            self._drop_cancelled()
            self._jobs.append((cast("Future[object]", future), functools.partial(fn, *args, **kwargs)))
            if len(self._jobs) > self._idle and self._workers < self._max_workers:
                self._workers += 1
                threading.Thread(target=self._work, name=f"{self._name}-{self._workers}", daemon=True).start()
            self._changed.notify()
        return future

    @override
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more jobs and let idle threads end.

        Args:
            wait: Accepted and ignored: this pool exists so that nothing waits for a busy worker.
            cancel_futures: Forget jobs that have not begun.
        """
        with self._changed:
            self._closed = True
            forgotten = list(self._jobs) if cancel_futures else []
            if cancel_futures:
                self._jobs.clear()
            self._changed.notify_all()
        for future, _ in forgotten:
            future.cancel()

    def _drop_cancelled(self) -> None:
        """Workers that never come back must not leave a queue that only grows."""
        for job in [job for job in self._jobs if job[0].cancelled()]:
            self._jobs.remove(job)
            job[0].set_running_or_notify_cancel()

    def _work(self) -> None:
        while (job := self._next_job()) is not None:
            _settle(*job)
            del job

    def _next_job(self) -> tuple[Future[object], Callable[[], object]] | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._jobs or self._closed)
            self._idle -= 1
            return self._jobs.popleft() if self._jobs else None


def _settle(future: Future[object], function: Callable[[], object]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001 - a future carries whatever the function raised
        future.set_exception(error)
    else:
        future.set_result(result)
