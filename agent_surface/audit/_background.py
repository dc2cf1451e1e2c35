"""A sink that may block, behind a bounded queue and a thread of its own."""

from __future__ import annotations

import atexit
import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import Self

from agent_surface.audit._redaction import AuditRedaction, redacted
from agent_surface.audit._values import AuditRecord, AuditSink

logger = logging.getLogger("agent_surface.audit")

FLUSH_TIMEOUT_MS = 5_000
"""How long is waited for what is queued, unless the caller says otherwise."""
_EXIT_TIMEOUT_MS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSinkStatistics:
    """How a background sink is doing.

    Attributes:
        queued: Records that wait for the writer.
        capacity: How many may wait.
        written: Records the sink behind it took, those about losses included.
        lost: Records it took and could not keep, because the queue was full or the sink behind it failed.
        failing: Whether the sink behind it failed last time.
    """

    queued: int
    capacity: int
    written: int
    lost: int
    failing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """A record, or somebody who waits until everything before was written; and the losses between it and the last."""

    lost_before: int
    record: AuditRecord | None = None
    reached: threading.Event | None = None


class BackgroundAuditSink:
    """Takes records at once and lets one writer thread hand them to a sink that may block.

    A slow sink fills the queue, and what does not fit is lost; a failing sink loses what it fails on. Neither is seen
    by a call (AS-OBSV-004). What was lost is counted, told in the log once for each stretch of trouble, and written as
    a record of kind ``records-lost`` in the place of what is missing as soon as that is possible.

    The thread starts with the first record. It does not keep a program from ending: what is queued then gets two
    seconds. Close the sink to be sure, or use it as a context manager.

    Args:
        sink: Called on the writer thread only, one record after the other.
        capacity: How many records may wait.
        redact: What must not be kept is taken out first, on the thread of the caller.
        after_batch: Called on the writer thread when nothing waits any more, to make what was written last.
        on_close: Called once, after the last record, when the sink is closed.
    """

    def __init__(
        self,
        sink: AuditSink,
        *,
        capacity: int = 10_000,
        redact: AuditRedaction | None = None,
        after_batch: Callable[[], None] | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        if capacity < 1:
            raise ValueError("capacity must be at least 1")
        self._sink = sink
        self._capacity = capacity
        self._redact = redact
        self._after_batch = after_batch
        self._on_close = on_close
        self._changed = threading.Condition()
        self._queue: deque[_Item] = deque()
        self._waiting = 0
        self._not_queued = 0  # lost since the last record that was queued
        self._owed = 0  # lost and not yet told by a record; the writer's own
        self._written = 0
        self._lost = 0
        self._failing = False
        self._latest_ms = 0
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def lost(self) -> int:
        """How many records it took and could not keep."""
        return self._lost

    def statistics(self) -> AuditSinkStatistics:
        """How it is doing now."""
        with self._changed:
            return AuditSinkStatistics(
                queued=self._waiting,
                capacity=self._capacity,
                written=self._written,
                lost=self._lost,
                failing=self._failing,
            )

    def record(self, record: AuditRecord) -> None:
        """Queue one record, or lose it; never waits."""
        kept = redacted(record, self._redact)
        with self._changed:
            if not self._closed and self._waiting < self._capacity:
                self._waiting += 1
                self._put(record=kept)
                return
            self._lost += 1
            self._not_queued += 1
            first = self._not_queued == 1
        if first:
            logger.warning("the audit cannot keep up (or was closed): records are being lost")

    def flush(self, timeout_ms: int = FLUSH_TIMEOUT_MS) -> bool:
        """Wait until everything recorded so far was written, or failed to be.

        Args:
            timeout_ms: How long at most.

        Returns:
            Whether the writer got that far in time. What it lost on the way is in :meth:`statistics`.
        """
        with self._changed:
            if self._thread is None or not self._thread.is_alive():
                return not self._queue
            reached = threading.Event()
            self._put(reached=reached)
        return reached.wait(timeout_ms / 1_000)

    def close(self, timeout_ms: int = FLUSH_TIMEOUT_MS) -> bool:
        """Write what is queued and end the writer thread. Records that come later are lost and counted.

        Args:
            timeout_ms: How long to wait for that at most; the writer goes on by itself afterwards.

        Returns:
            Whether everything was over in time.
        """
        with self._changed:
            first, self._closed = not self._closed, True
            if first and self._thread is not None:
                self._put()  # carries what was lost and not told yet
            self._changed.notify_all()
        atexit.unregister(self.close)
        if self._thread is None:
            if first:
                self._end()
            return True
        self._thread.join(timeout_ms / 1_000)
        return not self._thread.is_alive()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _put(self, *, record: AuditRecord | None = None, reached: threading.Event | None = None) -> None:
        self._queue.append(_Item(lost_before=self._not_queued, record=record, reached=reached))
        self._not_queued = 0
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="agent-surface-audit", daemon=True)
            self._thread.start()
            atexit.register(self.close, _EXIT_TIMEOUT_MS)
        self._changed.notify_all()

    # On the writer thread.

    def _run(self) -> None:
        unfinished = False
        while True:
            item = self._next(wait=not unfinished)
            if item is not None:
                self._handle(item)
                unfinished = True
            elif unfinished:
                self._finish_batch()
                unfinished = False
            else:
                break
        self._end()

    def _next(self, *, wait: bool) -> _Item | None:
        with self._changed:
            while wait and not self._queue and not self._closed:
                self._changed.wait()
            if not self._queue:
                return None
            item = self._queue.popleft()
            if item.record is not None:
                self._waiting -= 1
            return item

    def _handle(self, item: _Item) -> None:
        self._owed += item.lost_before
        if item.record is not None:
            self._latest_ms = item.record.at_ms
        if self._owed and self._try(_loss(self._owed, self._latest_ms)):
            self._owed = 0
        if item.record is not None and not self._try(item.record):
            self._owed += 1
            with self._changed:
                self._lost += 1
        if item.reached is not None:
            self._finish_batch()
            item.reached.set()

    def _try(self, record: AuditRecord) -> bool:
        try:
            self._sink.record(record)
        except Exception:
            if not self._failing:
                logger.exception("%s did not take a record; until it does again, losses are only counted", self._name())
            with self._changed:
                self._failing = True
            return False
        with self._changed:
            self._failing = False
            self._written += 1
        return True

    def _finish_batch(self) -> None:
        if self._after_batch is not None:
            self._contained(self._after_batch)

    def _end(self) -> None:
        if self._on_close is not None:
            self._contained(self._on_close)

    def _contained(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception:
            logger.exception("%s could not finish what it wrote", self._name())

    def _name(self) -> str:
        return type(self._sink).__name__


def _loss(count: int, at_ms: int) -> AuditRecord:
    return AuditRecord(
        kind="records-lost",
        at_ms=at_ms,
        capability_id="",
        consumer_key="",
        status="lost",
        facts=MappingProxyType({"lost": count}),
    )
