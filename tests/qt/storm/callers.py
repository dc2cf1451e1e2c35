"""Threads that call capabilities while the storm goes on."""

from __future__ import annotations

import concurrent.futures
import queue
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypeAlias

from typing_extensions import override

from agent_surface import AgentInvocation, AgentInvocationResult, AgentSurfaceRegistry, InvocationError, JsonValue

THREADS = 4

Manner: TypeAlias = Literal["wait", "cancel", "impatient", "deadline"]
"""Wait for the result; cancel at once; wait a moment and then cancel; give the call itself too little time."""

MANNERS: tuple[Manner, ...] = ("wait",) * 6 + ("cancel", "impatient", "deadline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One call for a thread to make."""

    registry: AgentSurfaceRegistry
    invocation_id: str
    capability_id: str
    instance_id: str
    input: JsonValue
    manner: Manner


class Callers:
    """Four threads that take jobs. The order of the jobs is the storm's, so a seed repeats them.

    Attributes:
        given: Jobs that were handed out.
        settled: How often the future of each call was done.
        outcomes: How often each came of a call: ``ok``, an error's code, ``cancelled``.
        faults: What a call raised and must not.
    """

    def __init__(self) -> None:
        self.given = 0
        self.settled: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.faults: list[str] = []
        self._lock = threading.Lock()
        self._finished = 0
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work, name=f"caller-{n}", daemon=True) for n in range(THREADS)]
        for thread in self._threads:
            thread.start()

    @override
    def __repr__(self) -> str:
        return (
            f"{self.given} calls given, {self._finished} made, {sum(self.settled.values())} settled, {self.faults[:5]}"
        )

    @property
    def idle(self) -> bool:
        """Whether every job was done and its future settled."""
        with self._lock:
            return self._finished == self.given == sum(self.settled.values())

    def give(self, job: Job) -> None:
        """Let a thread make a call."""
        self.given += 1
        self._jobs.put(job)

    def close(self) -> None:
        """End the threads; nothing is under way."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(10)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                outcome = self._call(job)
            except BaseException as error:  # noqa: BLE001 - told to the test, which fails for it
                outcome = "fault"
                with self._lock:
                    self.faults.append(f"{job.invocation_id} {job.capability_id} ({job.manner}): {error!r}")
            with self._lock:
                self.outcomes[outcome] += 1
                self._finished += 1

    def _call(self, job: Job) -> str:
        future = job.registry.invoke_threadsafe(
            AgentInvocation(
                capability_id=job.capability_id,
                input=job.input,
                invocation_id=job.invocation_id,
                instance_id=job.instance_id,
            ),
            timeout_ms=2 if job.manner == "deadline" else None,
        )
        future.add_done_callback(lambda _: self._count(job.invocation_id))
        if job.manner == "cancel":
            future.cancel()
        elif job.manner == "impatient":
            try:
                return _name(future.result(0.01))
            except concurrent.futures.TimeoutError:
                future.cancel()
        try:
            return _name(future.result(60))
        except concurrent.futures.CancelledError:
            return "cancelled"

    def _count(self, invocation_id: str) -> None:
        with self._lock:
            self.settled[invocation_id] += 1


def _name(result: AgentInvocationResult) -> str:
    return result.error.code.value if isinstance(result, InvocationError) else "ok"
