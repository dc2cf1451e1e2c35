"""Phase 8: how many run at once. Groups with a queue for actions and procedures, a shared pool for observations."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Generator
from typing import TypeAlias

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock
from agent_surface._failures import rate_limited
from agent_surface._pipeline._call import Call
from agent_surface.invocation import CapabilityKind

RETRY_AFTER_MS = 500

GroupKey: TypeAlias = tuple[str, ...]
Waiter: TypeAlias = "asyncio.Future[object]"


class _Group:
    __slots__ = ("running", "waiting")

    def __init__(self) -> None:
        self.running = 0
        self.waiting: deque[Waiter] = deque()


class Admission:
    """Admits calls. A slot is held until the handler really ends (AS-CONC-014), and then goes to the next in line."""

    def __init__(
        self, *, clock: Clock, limits: AgentSurfaceLimits, create_future: Callable[[], asyncio.Future[object]]
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._create_future = create_future
        self._groups: dict[GroupKey, _Group] = {}
        self._observing: dict[str, int] = {}
        self._observing_total = 0
        # Consumers take turns: the one just served goes to the end (AS-OBS-002).
        self._queues: OrderedDict[str, deque[Waiter]] = OrderedDict()

    @property
    def groups(self) -> int:
        """Groups somebody is in; idle ones are dropped."""
        return len(self._groups)

    @property
    def queued(self) -> int:
        """Calls that wait."""
        return sum(len(group.waiting) for group in self._groups.values()) + sum(map(len, self._queues.values()))

    @property
    def observing(self) -> int:
        """Observations that run."""
        return self._observing_total

    def admit(self, call: Call) -> Awaitable[None] | None:
        """Take a slot.

        Returns:
            ``None`` when the call may run now, else what has to be awaited.

        Raises:
            AgentCapabilityError: ``RATE_LIMITED`` with ``queue-full``.
        """
        if call.capability.kind is CapabilityKind.OBSERVATION:
            return self._admit_observation(call)
        return self._admit_to_group(call)

    # Groups of actions and procedures.

    def _admit_to_group(self, call: Call) -> Awaitable[None] | None:
        live = call.capability
        spec = live.concurrency
        registration_id = live.registration.registration_id
        if spec.mode == "instance":
            key: GroupKey = ("instance", registration_id)
        elif spec.mode == "key":
            key = ("key", spec.key or "")
        else:
            key = ("capability", registration_id, live.capability_id)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group()
        most = spec.max if spec.max is not None else 1
        if group.running < most and not group.waiting:
            group.running += 1
            call.slot = lambda: self._leave_group(key, group)
            return None
        depth = spec.queue_depth if spec.queue_depth is not None else self._limits.action_queue_depth
        if len(group.waiting) >= depth:
            raise rate_limited("queue-full", RETRY_AFTER_MS)
        return self._queue_up(call, group.waiting, lambda: self._leave_group(key, group))

    def _leave_group(self, key: GroupKey, group: _Group) -> None:
        if not _serve(group.waiting):
            group.running -= 1
            if not group.running:
                self._groups.pop(key, None)

    # The pool of observations.

    def _admit_observation(self, call: Call) -> Awaitable[None] | None:
        consumer = call.consumer_key
        running = self._observing.get(consumer, 0)
        queue = self._queues.get(consumer)
        if not queue and self._may_observe(running):
            self._start_observing(consumer)
            call.slot = lambda: self._stop_observing(consumer)
            return None
        if queue is None:
            queue = self._queues[consumer] = deque()
        if len(queue) >= self._limits.max_queued_observations_per_consumer:
            raise rate_limited("queue-full", RETRY_AFTER_MS)
        return self._queue_up(call, queue, lambda: self._stop_observing(consumer))

    def _queue_up(self, call: Call, queue: deque[Waiter], leave: Callable[[], None]) -> _Turn:
        waiter = self._create_future()
        queue.append(waiter)
        turn = _Turn(self._clock, call, waiter, queue, leave)
        # A call that ends while it waits makes room at once, before its task has had the turn to notice.
        call.leave_queue = turn.close
        return turn

    def _may_observe(self, running: int) -> bool:
        return (
            running < self._limits.max_concurrent_observations_per_consumer
            and self._observing_total < self._limits.max_concurrent_observations_total
        )

    def _start_observing(self, consumer: str) -> None:
        self._observing[consumer] = self._observing.get(consumer, 0) + 1
        self._observing_total += 1

    def _stop_observing(self, consumer: str) -> None:
        self._observing_total -= 1
        left = self._observing[consumer] - 1
        if left:
            self._observing[consumer] = left
        else:
            del self._observing[consumer]
        if self._queues:
            self._serve_observations()

    def _serve_observations(self) -> None:
        for consumer, queue in list(self._queues.items()):
            while queue and self._may_observe(self._observing.get(consumer, 0)):
                if not _serve(queue):
                    break
                self._start_observing(consumer)
                self._queues.move_to_end(consumer)
            if not queue:
                self._queues.pop(consumer, None)


class _Turn:
    """A place in a queue: awaiting it takes the slot when its turn comes, closing it gives the place up."""

    __slots__ = ("_call", "_clock", "_leave", "_queue", "_queued_ms", "_waiter")

    def __init__(
        self, clock: Clock, call: Call, waiter: Waiter, queue: deque[Waiter], leave: Callable[[], None]
    ) -> None:
        self._clock = clock
        self._call = call
        self._waiter = waiter
        self._queue = queue
        self._leave = leave
        self._queued_ms = clock.monotonic_ms()

    def __await__(self) -> Generator[object, None, None]:
        try:
            yield from self._waiter
        except asyncio.CancelledError:
            self.close()
            raise
        self._call.require_open()
        self._left()
        self._call.slot = self._leave

    def close(self) -> None:
        """Leave the queue; a turn that had come already goes to the next in line."""
        if self._call.leave_queue is None:
            return
        self._left()
        if self._waiter.done() and not self._waiter.cancelled():
            self._leave()
            return
        if self._waiter in self._queue:
            self._queue.remove(self._waiter)
        self._waiter.cancel()

    def _left(self) -> None:
        self._call.leave_queue = None
        self._call.queue_wait_ms = self._clock.monotonic_ms() - self._queued_ms


def _serve(queue: deque[Waiter]) -> bool:
    """Hand a slot to the first in line that still wants it."""
    while queue:
        waiter = queue.popleft()
        if not waiter.done():
            waiter.set_result(None)
            return True
    return False
