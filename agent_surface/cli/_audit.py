"""What is known of an audit file, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agent_surface.audit import AuditProblem, AuditVerification
from agent_surface.cli._lines import Line, Word, line

_PROBLEMS: Final = {
    "altered": "this line is not the one that was written here",
    "missing": "lines before this one were taken out",
    "reordered": "this line belongs elsewhere in the file",
    "cut": "the entry that the head names is not here, so the end was taken away or replaced",
}


def audit_lines(verification: AuditVerification) -> Iterator[Line]:
    """The verdict, where the chain breaks, and what cannot be proven."""
    count = verification.entries
    if verification.problem is not None:
        yield line("audit: ", Word(verification.problem.kind, "bad"), f" in line {verification.problem.line}")
        yield line(f"  {_explained(verification.problem)}; {_before(count)}")
        yield line("  to do: keep the file as it is and compare it with a copy kept elsewhere")
    else:
        yield line("audit: ", Word("intact", "good"), f", {count} {'entry' if count == 1 else 'entries'}")
        if not verification.end_proven and verification.entries:
            yield line(f"  {_unproven(verification)}")
    if verification.last is not None:
        yield line(f"  last entry {verification.last.seq}, hash {verification.last.hash}")
    if verification.torn is not None:
        torn = verification.torn
        yield line(f"  line {torn.line} is torn: a crash left {torn.size_bytes} bytes of an entry that never was")
    if verification.repaired:
        yield line(f"  torn lines inside the file that a later entry accounts for: {verification.repaired}")


def _explained(problem: AuditProblem) -> str:
    return f"entry {problem.seq} should be there: {_PROBLEMS[problem.kind]}"


def _before(count: int) -> str:
    match count:
        case 0:
            return "there is none before it"
        case 1:
            return "the one before it is as it was written"
        case _:
            return f"the {count} before it are as they were written"


def _unproven(verification: AuditVerification) -> str:
    if verification.unproven_entries == verification.entries:
        return "without a head nobody can tell whether the end was cut off; name it with --head"
    count = verification.unproven_entries
    return f"the head does not prove the last {count}: written before a crash, or added by somebody"
