"""Whether an audit file is what was written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from agent_surface.audit._chain import AuditProblem, ChainEnd, ChainScan, TornLine, scan_chain
from agent_surface.errors import AgentSurfaceError

_HASH = re.compile(r"[0-9a-f]{64}")


class AuditFileError(AgentSurfaceError):
    """An audit file cannot be continued: its chain is broken, its head is not one, or somebody else writes it.

    Raised when a :class:`JsonlAuditSink` is made, and never for what a call does.

    Attributes:
        problem: Where the chain breaks, when that is the reason.
    """

    def __init__(self, path: Path, reason: str, problem: AuditProblem | None = None) -> None:
        super().__init__(f"{path}: {reason}")
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHead:
    """The last entry of a chain, kept beside the file or, better, elsewhere: number and hash."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVerification:
    """What can be said of an audit file.

    Attributes:
        entries: Good entries from the beginning.
        problem: The first place where the file is not what was written; ``None`` when the chain holds.
        last: The last good entry; ``None`` in an empty file.
        end_proven: The head names the last entry, so nothing was cut off. Without a head nobody can tell.
        unproven_entries: Entries that follow the one the head names: written before a crash, or added by somebody.
            All of them when there is no head.
        torn: What a crash left behind the last entry. It is no entry, and no problem.
        repaired: Torn lines inside the file that a later entry accounts for.
    """

    entries: int
    problem: AuditProblem | None
    last: AuditHead | None
    end_proven: bool
    unproven_entries: int
    torn: TornLine | None = None
    repaired: int = 0

    @property
    def intact(self) -> bool:
        """Whether no line was altered, taken out, moved or, as far as a head can tell, cut off."""
        return self.problem is None


def head_path(path: Path) -> Path:
    """Where the head of an audit file is kept: ``FILE.head``."""
    return path.with_name(path.name + ".head")


def verify_audit_file(path: str | Path, head: str | None = None) -> AuditVerification:
    """Read an audit file and say whether it is what was written (AS-OBSV-003). Nothing is changed or locked.

    Args:
        path: Of the file.
        head: The hash of the last entry as somebody wrote it down; what ``FILE.head`` says when absent.

    Raises:
        OSError: The file cannot be read.
        AuditFileError: The head is none.
    """
    file = Path(path)
    wanted = AuditHead(seq=0, hash=head) if head is not None else read_head(file)
    if wanted is not None and _HASH.fullmatch(wanted.hash) is None:
        raise AuditFileError(file, "a head is a hash of 64 hexadecimal digits")
    return judge(scan_file(file, ChainEnd(), wanted.hash if wanted is not None else None), wanted)


def judge(scan: ChainScan, head: AuditHead | None) -> AuditVerification:
    """What the reading of a whole file and its head say together."""
    end = scan.end
    problem = scan.problem
    proven_to = scan.wanted_seq if problem is None else None
    if head is not None and problem is None and proven_to is None:
        problem = AuditProblem(kind="cut", line=end.line + 1, seq=end.seq + 1)
    return AuditVerification(
        entries=end.seq,
        problem=problem,
        last=AuditHead(seq=end.seq, hash=end.hash) if end.seq else None,
        end_proven=proven_to is not None and proven_to == end.seq,
        unproven_entries=end.seq - (proven_to or 0),
        torn=scan.torn if problem is None else None,
        repaired=scan.repaired,
    )


def read_head(path: Path) -> AuditHead | None:
    """The head kept beside a file; ``None`` when there is none.

    Raises:
        AuditFileError: It is not what this library writes.
    """
    try:
        text = head_path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise AuditFileError(path, "the head beside it cannot be read") from error
    try:
        said = cast("object", json.loads(text))
    except (ValueError, RecursionError) as error:
        raise AuditFileError(path, "the head beside it cannot be read") from error
    match said:
        case {"seq": int(seq), "hash": str(digest)} if _HASH.fullmatch(digest):
            return AuditHead(seq=seq, hash=digest)
        case _:
            raise AuditFileError(path, "the head beside it is not one this library wrote")


def scan_file(path: Path, start: ChainEnd, wanted: str | None = None, *, own: bool = False) -> ChainScan:
    """Follow the chain of a file from ``start``; see :func:`scan_chain`."""
    with path.open("rb") as file:
        file.seek(start.offset)
        return scan_chain(file, start=start, wanted=wanted, own=own)
