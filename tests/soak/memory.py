"""A million calls in one process: what they leave behind."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from typing_extensions import override

from agent_surface import RegistryStatistics
from agent_surface.audit import MemoryAuditSink
from tests.soak.mixture import LIMITS, Mixture

STATM = Path("/proc/self/statm")
ALLOWED_GROWTH = 0.02
# With a component, and the procedure it refers to, alone on the surface and every call ended.
AT_REST = RegistryStatistics(
    registrations=1,
    tombstones=LIMITS.tombstone_size,
    remembered_results=LIMITS.dedupe_cache_size,
    in_flight=0,
    running_tasks=0,
    queued_calls=0,
    admission_groups=0,
    observing=0,
    pending_confirmations=0,
    resolved_confirmations=LIMITS.max_resolved_confirmations,
    queued_events=0,
    lost_events=0,
    audit_failures=0,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a process held at one point.

    Attributes:
        invocations: How many calls it had made.
        resident_bytes: What it held in memory; 0 where the system does not tell.
    """

    invocations: int
    resident_bytes: int

    @override
    def __str__(self) -> str:
        return f"{self.invocations:>9,} invocations: {self.resident_bytes / 2**20:.2f} MiB resident"


def soak(invocations: int, *, trace: bool) -> bool:
    """Make the calls, and judge what they left: resident size, and every bounded thing of the registry.

    Args:
        invocations: How many calls at least; a tenth of them warms up what is to stay.
        trace: Print where memory was allocated that was not given back. Several times slower.

    Returns:
        Whether nothing was found.
    """
    logger = logging.getLogger("agent_surface")
    # Handlers fail on purpose, a hundred thousand times.
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return asyncio.run(_soak(invocations, trace=trace))


async def _soak(invocations: int, *, trace: bool) -> bool:
    mixture = Mixture()
    marks: list[Mark] = []
    begun = time.perf_counter()
    before: tracemalloc.Snapshot | None = None
    for step in range(1, 11):
        while mixture.invocations < invocations * step // 10:
            await mixture.round()
        gc.collect()
        marks.append(Mark(invocations=mixture.invocations, resident_bytes=_resident_bytes()))
        _tell(str(marks[-1]))
        if trace and before is None:
            tracemalloc.start(8)
            before = tracemalloc.take_snapshot()
    seconds = time.perf_counter() - begun
    if before is not None:
        for difference in tracemalloc.take_snapshot().compare_to(before, "lineno")[:15]:
            _tell(f"  {difference}")
    for outcome, times in mixture.outcomes.most_common():
        _tell(f"  {times:>9,}  {outcome}")
    _tell(f"  {1e6 * seconds / mixture.invocations:.0f} us per invocation, everything around it included")
    first, last = marks[0], marks[-1]
    findings = [*_out_of_bounds(mixture), *_grown(first, last)]
    mixture.registry.close()
    if not await mixture.registry.wait_closed():
        findings.append("a task runs after the end")
    for finding in findings:
        _tell(f"FOUND: {finding}")
    _tell(_verdict(first, last, len(findings)))
    return not findings


def _tell(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - its output


def _resident_bytes() -> int:
    return int(STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") if STATM.exists() else 0


def _growth(first: Mark, last: Mark) -> float | None:
    return last.resident_bytes / first.resident_bytes - 1 if first.resident_bytes else None


def _grown(first: Mark, last: Mark) -> Iterator[str]:
    growth = _growth(first, last)
    if growth is not None and growth >= ALLOWED_GROWTH:
        yield f"the resident size grew by {growth:.2%} from the first tenth to the end"


def _verdict(first: Mark, last: Mark, findings: int) -> str:
    """One line that can be read alone: passed or failed, and by which figures."""
    growth = _growth(first, last)
    resident = (
        "this system does not tell the resident size"
        if growth is None
        else f"{first.resident_bytes / 2**20:.2f} MiB resident at {first.invocations:,} invocations and "
        f"{last.resident_bytes / 2**20:.2f} MiB at {last.invocations:,} ({growth:+.2%}; less than "
        f"{ALLOWED_GROWTH:.0%} is allowed)"
    )
    judged = len(fields(AT_REST))
    bounds = f"all {judged} statistics within their bounds" if not findings else f"{findings} findings, see above"
    return f"VERDICT: {'failed' if findings else 'passed'}: {resident}; {bounds}"


def _out_of_bounds(mixture: Mixture) -> Iterator[str]:
    now = mixture.registry.statistics()
    for field in fields(now):
        value, bound = getattr(now, field.name), getattr(AT_REST, field.name)
        if value > bound:
            yield f"{field.name} is {value}, above its bound {bound}"
    _tell(f"  {now}")
    audit = mixture.registry.audit
    if isinstance(audit, MemoryAuditSink) and len(audit.records) > LIMITS.audit_buffer_size:
        yield f"{len(audit.records)} audit records are kept"
