"""The audit as a file: JSON lines, each chained to the one before."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from agent_surface._base._canonical import canonical_json
from agent_surface._base._json import JsonValue
from agent_surface.audit._background import FLUSH_TIMEOUT_MS, AuditSinkStatistics, BackgroundAuditSink
from agent_surface.audit._chain import TORN_LINE, ChainEnd, TornLine, chained_line
from agent_surface.audit._lock import try_lock
from agent_surface.audit._redaction import AuditRedaction
from agent_surface.audit._values import AuditRecord
from agent_surface.audit._verification import AuditFileError, AuditHead, head_path, judge, read_head, scan_file

logger = logging.getLogger("agent_surface.audit")


class JsonlAuditSink:
    """Appends records to a file, one JSON line each, and chains every line to the one before (AS-OBSV-003).

    ``FILE.head`` beside it holds number and hash of the last entry; :func:`verify_audit_file` compares the two. Keep a
    copy of the head where whoever can write the file cannot: with both in hand, anybody can make a new chain.

    An existing file is read and checked before anything is added. What a crash left of its last line is reported in
    the log, stays where it is, and is accounted for by the next entry.

    Records are written by one thread of the sink (see :class:`BackgroundAuditSink`). Each time nothing waits any more,
    the file is synced to disk, then the head is replaced, so a head is never ahead of its file. A crash of the program
    loses what was queued; with ``fsync=False`` a crash of the machine may also lose what was written.

    Close the sink, or use it as a context manager.

    Args:
        path: The file; made, for its owner's eyes only, when it is not there.
        redact: What must not be stored is taken out first.
        capacity: How many records may wait to be written.
        fsync: Whether the disk is waited for.

    Raises:
        AuditFileError: The chain of an existing file is broken, or another sink writes it.
        OSError: The file cannot be opened.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        redact: AuditRedaction | None = None,
        capacity: int = 10_000,
        fsync: bool = True,
    ) -> None:
        self._file = _ChainFile(Path(path), fsync=fsync)
        self._background = BackgroundAuditSink(
            self._file, capacity=capacity, redact=redact, after_batch=self._file.sync, on_close=self._file.close
        )

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    @property
    def head(self) -> AuditHead | None:
        """The last entry that was written; ``None`` while there is none."""
        return self._file.head

    @property
    def torn(self) -> TornLine | None:
        """What a crash had left of the last line when the file was opened."""
        return self._file.torn

    @property
    def lost(self) -> int:
        """How many records it took and could not keep."""
        return self._background.lost

    def statistics(self) -> AuditSinkStatistics:
        """How it is doing now."""
        return self._background.statistics()

    def record(self, record: AuditRecord) -> None:
        """Queue one record, or lose it; never waits."""
        self._background.record(record)

    def flush(self, timeout_ms: int = FLUSH_TIMEOUT_MS) -> bool:
        """Wait until everything recorded so far is in the file, or failed to get there.

        Args:
            timeout_ms: How long at most.

        Returns:
            Whether the writer got that far in time.
        """
        return self._background.flush(timeout_ms)

    def close(self, timeout_ms: int = FLUSH_TIMEOUT_MS) -> bool:
        """Write what is queued and close the file.

        Args:
            timeout_ms: How long to wait for that at most; the writer goes on by itself afterwards.

        Returns:
            Whether everything was over in time.
        """
        return self._background.close(timeout_ms)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class _ChainFile:
    """The file itself; used by the writer thread alone once it is open."""

    def __init__(self, path: Path, *, fsync: bool) -> None:
        self.path = path
        self._fsync = fsync
        self._damaged = False
        head = read_head(path)
        self._file = _open(path)
        try:
            if not try_lock(self._file.fileno()):
                raise AuditFileError(path, "another sink writes it")
            scan = scan_file(path, ChainEnd(), head.hash if head is not None else None)
            verdict = judge(scan, head)
            if verdict.problem is not None:
                raise AuditFileError(
                    path,
                    f"line {verdict.problem.line} is {verdict.problem.kind}; keep the file and begin another",
                    verdict.problem,
                )
        except BaseException:
            self._file.close()
            raise
        self._end = scan.end
        self.torn = scan.torn
        self._unaccounted = scan.torn
        if scan.torn is not None:
            logger.warning(
                "%s ends in a torn line of %d bytes, the mark of a crash; it is kept", path, scan.torn.size_bytes
            )
        if verdict.last is not None and head is None:
            logger.warning("%s has no head beside it: that nothing was cut off cannot be proven", path)

    @property
    def head(self) -> AuditHead | None:
        end = self._end
        return AuditHead(seq=end.seq, hash=end.hash) if end.seq else None

    def record(self, record: AuditRecord) -> None:
        if self._damaged:
            self._look_again()
        if self._unaccounted is not None:
            torn = self._unaccounted
            self._append(
                {"atMs": record.at_ms, "bytes": torn.size_bytes, "kind": TORN_LINE, "sha256": torn.sha256}, torn
            )
            self._unaccounted = None
        self._append(record.to_json())

    def sync(self) -> None:
        """Make what was written last, then say so in the head: in this order, so that the head is never ahead."""
        if self._fsync:
            os.fsync(self._file.fileno())
        head = self.head
        if head is None:
            return
        beside = head_path(self.path)
        fresh = beside.with_name(beside.name + ".new")
        with fresh.open("wb") as file:
            file.write(canonical_json({"hash": head.hash, "seq": head.seq}).encode() + b"\n")
            if self._fsync:
                file.flush()
                os.fsync(file.fileno())
        fresh.replace(beside)

    def close(self) -> None:
        self._file.close()

    def _append(self, said: JsonValue, torn: TornLine | None = None) -> None:
        end = self._end
        text, digest = chained_line(end.seq + 1, end.hash, said)
        broken_off = torn is not None or end.open
        line = (b"\n" if broken_off else b"") + text + b"\n"
        self._damaged = True  # until all of it is there
        written = self._file.write(line)
        if written != len(line):
            raise OSError(f"{written} of {len(line)} bytes were written")
        self._damaged = False
        before = torn.size_bytes if torn is not None else 0
        self._end = ChainEnd(seq=end.seq + 1, hash=digest, offset=end.offset + before + len(line), line=end.line + 1)

    def _look_again(self) -> None:
        """Find out what a failed write left: nothing, all of a line, or a part of it."""
        scan = scan_file(self.path, self._end, own=True)
        if scan.problem is not None:
            raise AuditFileError(self.path, f"somebody else wrote line {scan.problem.line}", scan.problem)
        self._end = scan.end
        self._unaccounted = scan.torn
        self._damaged = False


def _open(path: Path) -> BinaryIO:
    def private(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    return open(path, "a+b", buffering=0, opener=private)
