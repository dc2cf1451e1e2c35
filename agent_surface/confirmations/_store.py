"""Records of requests: made by the pipeline, decided by the host, presented as evidence, and bounded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface._base._ports import Clock, IdSource
from agent_surface.confirmations._alarm import Alarm
from agent_surface.confirmations._evidence import (
    ClaimedEvidence,
    ConfirmationAudit,
    ConfirmationAuditKind,
    ConfirmationBinding,
    ConfirmationsFull,
    EvidencePending,
    EvidenceRefused,
)
from agent_surface.confirmations._observers import PendingObservers
from agent_surface.confirmations._record import FINAL, ConfirmationRecord, RecordState, iso_utc
from agent_surface.confirmations._records import ConfirmationRecords
from agent_surface.confirmations._statistics import ConfirmationStatistics
from agent_surface.confirmations._values import (
    ConfirmationOutcome,
    ConfirmationResolution,
    ConfirmationWaiter,
    PendingConfirmation,
)
from agent_surface.confirmations._waiter import StoreWaiter
from agent_surface.confirmations._words import kept_note, kept_summary
from agent_surface.errors import RegistryClosedError
from agent_surface.events._values import AgentSurfaceEvent, ConfirmationRequested, ConfirmationResolved
from agent_surface.invocation import AgentConsumer

_ID_LENGTH = 22


class ConfirmationStore:
    """All requests of one registry; a :class:`~agent_surface.confirmations.ConfirmationController`.

    :meth:`resolve` is the only way to an approval. Adapters are given :attr:`waiter`, which does not lead to it.
    A change is complete before anybody hears of it: first the audit, then the event, then the listeners, then those
    who wait.

    Args:
        clock: Times to live run on its monotonic time; the timestamps shown are its wall-clock time.
        ids: Makes the confirmation ids.
        limits: ``confirmation_ttl_ms``, ``max_pending_confirmations``, ``max_resolved_confirmations``, and
            ``dedupe_cache_ttl_ms``: an ended request is remembered as long as results that name it are replayed.
        emit: Takes the events.
        create_future: Makes a future of the owner's loop.
        record: Takes the audit.
        require_owner: Refuses a call from a thread that does not own the registry; given the operation's name.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        ids: IdSource,
        limits: AgentSurfaceLimits,
        emit: Callable[[AgentSurfaceEvent], None],
        create_future: Callable[[], asyncio.Future[object]],
        record: Callable[[ConfirmationAudit], None],
        require_owner: Callable[[str], None] = lambda _operation: None,
    ) -> None:
        self._require_owner = require_owner
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._emit = emit
        self._create_future = create_future
        self._record_audit = record
        self._records = ConfirmationRecords()
        self._observers = PendingObservers(snapshot=self._snapshot)
        self._alarm = Alarm(clock=clock, ring=self._ring)
        self._refused_total = 0
        self._closed = False

        async def wait_for(confirmation_id: str) -> ConfirmationResolution:
            return await self.wait_for(confirmation_id)

        def hold(confirmation_id: str) -> Callable[[], None] | None:
            return self._hold(confirmation_id)

        def withdraw(confirmation_id: str) -> None:
            self._withdraw(confirmation_id)

        self.waiter: ConfirmationWaiter = StoreWaiter(wait_for=wait_for, hold=hold, withdraw=withdraw)

    # The host's side.

    def pending(self) -> tuple[PendingConfirmation, ...]:
        """Pending requests, oldest first."""
        self._require_owner("confirmations.pending")
        self._sweep()
        return self._snapshot()

    def resolve(self, confirmation_id: str, *, approved: bool, note: str | None = None) -> bool:
        """Decide a pending request; ``False`` when it is no longer pending.

        Args:
            confirmation_id: The record.
            approved: ``True`` mints single-use evidence for exactly the shown input. Anything that is not the value
                ``True`` denies.
            note: The person's words; the first 500 characters are kept, blank ones are none.
        """
        self._require_owner("confirmations.resolve")
        self._sweep()
        record = self._records.find_pending(confirmation_id)
        if record is None:
            return False
        outcome = ConfirmationOutcome.APPROVED if approved is True else ConfirmationOutcome.DENIED
        self._end((record,), outcome, actor="person", note=kept_note(note))
        return True

    async def wait_for(self, confirmation_id: str) -> ConfirmationResolution:
        """Wait until the request ended; at once when it already has. An unknown id has expired.

        Any number of coroutines of the owner's loop may wait; cancelling one leaves the others waiting.
        """
        self._require_owner("confirmations.wait_for")
        self._sweep()
        record = self._records.find(confirmation_id)
        if record is not None and record.state is RecordState.PENDING:
            future = self._create_future()
            record.waiters.append(future)
            try:
                await future
            finally:
                record.waiters = [other for other in record.waiters if other is not future]
        if record is not None and record.resolution is not None:
            return record.resolution
        return ConfirmationResolution(
            confirmation_id=confirmation_id, outcome=ConfirmationOutcome.EXPIRED, actor="clock"
        )

    def subscribe(self, listener: Callable[[Sequence[PendingConfirmation]], None]) -> Callable[[], None]:
        """Call ``listener`` with all pending requests after each change; returns a disposer.

        A listener may answer from inside its call; that change is delivered when the current delivery is done, so
        that every listener sees all changes in their order.
        """
        self._require_owner("confirmations.subscribe")
        return self._observers.subscribe(listener)

    def resolution(self, confirmation_id: str) -> ConfirmationResolution | None:
        """How a request ended, while that is remembered; ``None`` while it is pending or when forgotten."""
        self._require_owner("confirmations.resolution")
        self._sweep()
        record = self._records.find(confirmation_id)
        return None if record is None else record.resolution

    # The pipeline's side.

    def request(
        self,
        binding: ConfirmationBinding,
        *,
        description: str,
        component_type: str,
        instance_id: str,
        consumer: AgentConsumer,
        summary: str,
        bound_fields: Sequence[str],
        origin: str = "client",
    ) -> PendingConfirmation:
        """Ask a person, or return the request that is already pending for an equal binding.

        Args:
            binding: The one call that an approval will be good for.
            description: The contract's words for it.
            component_type: Type of the component it is to be done on.
            instance_id: Instance of that component.
            consumer: Who asks.
            summary: Plain text; cut to 300 characters.
            bound_fields: Root keys of the input whose value came from the screen.
            origin: ``client``, or ``server`` when the back end demands it.

        Raises:
            ConfirmationsFull: Too many requests are pending; no record was made.
            RegistryClosedError: The store was closed.
        """
        # What the sweep ends is audited, and the sink may close the registry.
        self._sweep()
        if self._closed:
            raise RegistryClosedError("the registry was closed; nobody is asked any more")
        binding_text = binding.canonical_text()
        known = self._records.find_equal(binding_text)
        if known is not None:
            return self._shown(known)
        if self._records.pending_count >= self._limits.max_pending_confirmations:
            self._refused_total += 1
            raise ConfirmationsFull
        ttl_ms = self._limits.confirmation_ttl_ms
        now_ms = self._clock.now_ms()
        pending = PendingConfirmation(
            confirmation_id=f"cnf_{self._ids.token(_ID_LENGTH)}",
            capability_id=binding.capability_id,
            description=description,
            registration_id=binding.registration_id,
            component_type=component_type,
            instance_id=instance_id,
            consumer=consumer,
            consumer_key=binding.consumer_key,
            effect=binding.effect,
            summary=kept_summary(summary),
            input=binding.effective_input,
            bound_fields=tuple(bound_fields),
            requested_at=iso_utc(now_ms),
            expires_at=iso_utc(now_ms + ttl_ms),
            expires_in_ms=ttl_ms,
            expires_at_monotonic_ms=self._clock.monotonic_ms() + ttl_ms,
            origin=origin,
        )
        record = ConfirmationRecord(pending=pending, binding_text=binding_text)
        self._records.add(record)
        self._arm()
        self._audit(record, ConfirmationAuditKind.REQUESTED, actor="consumer")
        self._emit(
            ConfirmationRequested(
                confirmation_id=pending.confirmation_id,
                capability_id=pending.capability_id,
                expires_at=pending.expires_at,
            )
        )
        self._observers.notify()
        return pending

    def claim(self, confirmation_id: str, binding: ConfirmationBinding) -> ClaimedEvidence:
        """Hold an approval for one call.

        The binding is compared before anything else is said: an unknown or forgotten id, another consumer's id and a
        changed input are all ``mismatch``, so that nothing can be learned about a record by guessing. A claim is
        exclusive. Who comes second is told ``consumed`` and does not execute; a new call may present the evidence
        again once the first has released it.

        Raises:
            EvidenceRefused: The id approves nothing.
            EvidencePending: The person has not decided yet.
        """
        self._sweep()
        record = self._records.find(confirmation_id)
        if record is None or record.binding_text != binding.canonical_text():
            raise EvidenceRefused("mismatch")
        match record.state:
            case RecordState.APPROVED:
                self._move(record, RecordState.CLAIMED)
            case RecordState.PENDING:
                raise EvidencePending(self._shown(record))
            case RecordState.DENIED:
                raise EvidenceRefused("denied", None if record.resolution is None else record.resolution.note)
            case RecordState.EXPIRED:
                raise EvidenceRefused("expired")
            case _:  # Claimed or consumed; what is not an approval refuses, whatever it is.
                raise EvidenceRefused("consumed")
        self._arm()
        return ClaimedEvidence(
            confirmation_id=confirmation_id,
            approved_at=record.approved_at,
            consume=lambda: self._consume(record),
            release=lambda: self._release(record),
        )

    def expire_registration(self, registration_id: str) -> None:
        """A component is gone: its pending requests expire at once and its unused approvals are void."""
        if not len(self._records):
            return
        self._sweep()
        self._void(lambda record: record.pending.registration_id == registration_id, actor="unmounted")

    def withdraw_all(self) -> None:
        """A person has taken control: all requests expire and unused approvals are void."""
        self._sweep()
        self._void(lambda _record: True, actor="withdrawn")

    def close(self) -> None:
        """The registry is closed: all requests expire, unused approvals are void, listeners are told and dropped."""
        if self._closed:
            return
        self._sweep()
        self._closed = True
        self._void(lambda _record: True, actor="closed")
        self._observers.clear()
        self._alarm.set(None)

    def statistics(self) -> ConfirmationStatistics:
        """How full the store is now."""
        self._sweep()
        return ConfirmationStatistics(
            pending=self._records.pending_count,
            max_pending=self._limits.max_pending_confirmations,
            resolved=self._records.resolved_count,
            max_resolved=self._limits.max_resolved_confirmations,
            waiters=sum(len(record.waiters) for record in self._records.pending),
            refused_total=self._refused_total,
        )

    # Changes.

    def _hold(self, confirmation_id: str) -> Callable[[], None] | None:
        self._require_owner("confirmations.hold")
        self._sweep()
        held = self._records.find_pending(confirmation_id)
        if held is None:
            return None
        held.holders += 1

        def release() -> None:
            nonlocal held
            record, held = held, None
            if record is not None:
                record.holders -= 1
                self._withdraw(confirmation_id)

        return release

    def _withdraw(self, confirmation_id: str) -> None:
        self._require_owner("confirmations.withdraw")
        self._sweep()
        record = self._records.find_pending(confirmation_id)
        if record is not None and not record.holders:
            self._end((record,), ConfirmationOutcome.EXPIRED, actor="withdrawn")

    def _end(
        self,
        records: Sequence[ConfirmationRecord],
        outcome: ConfirmationOutcome,
        *,
        actor: str,
        note: str | None = None,
    ) -> None:
        """End pending requests: one change, however many they are."""
        for record in records:
            self._move(record, RecordState(outcome.value))
            record.resolution = ConfirmationResolution(
                confirmation_id=record.pending.confirmation_id, outcome=outcome, note=note, actor=actor
            )
            if outcome is ConfirmationOutcome.APPROVED:
                record.approved_at = iso_utc(self._clock.now_ms())
        self._evict()
        self._arm()
        for record in records:
            self._audit(record, ConfirmationAuditKind(outcome.value), actor=actor, note=note)
            self._emit(ConfirmationResolved(confirmation_id=record.pending.confirmation_id, outcome=outcome.value))
        self._observers.notify()
        for record in records:
            _wake(record)

    def _void(self, concerns: Callable[[ConfirmationRecord], bool], *, actor: str) -> None:
        for record in self._records.resolved:
            if concerns(record):
                record.void = True
                if record.state is RecordState.APPROVED:
                    self._expire_unused(record, actor=actor)
        records = tuple(record for record in self._records.pending if concerns(record))
        if records:
            self._end(records, ConfirmationOutcome.EXPIRED, actor=actor)
        self._arm()

    def _consume(self, record: ConfirmationRecord) -> None:
        self._move(record, RecordState.CONSUMED)
        self._arm()
        self._audit(record, ConfirmationAuditKind.CONSUMED, actor="consumer")

    def _release(self, record: ConfirmationRecord) -> None:
        if record.void:
            self._expire_unused(record, actor="closed" if self._closed else "unmounted")
        elif record.pending.expires_at_monotonic_ms <= self._clock.monotonic_ms():
            self._expire_unused(record, actor="clock")
        else:
            self._move(record, RecordState.APPROVED)
        self._arm()

    def _expire_unused(self, record: ConfirmationRecord, *, actor: str) -> None:
        self._move(record, RecordState.EXPIRED)
        self._audit(record, ConfirmationAuditKind.EXPIRED, actor=actor, unused=True)

    def _move(self, record: ConfirmationRecord, state: RecordState) -> None:
        record.move_to(state)
        if state in FINAL:
            record.forget_at_ms = self._clock.monotonic_ms() + self._limits.dedupe_cache_ttl_ms
        self._records.refile(record)

    # Time and bounds.

    def _sweep(self) -> None:
        """Do what is due, also when the timer comes late because the loop was busy."""
        now_ms = self._clock.monotonic_ms()
        self._records.forget_due(now_ms)
        due = self._records.expired(now_ms)
        if not due:
            return
        for record in due:
            if record.state is RecordState.APPROVED:
                self._expire_unused(record, actor="clock")
        undecided = tuple(record for record in due if record.state is RecordState.PENDING)
        if undecided:
            self._end(undecided, ConfirmationOutcome.EXPIRED, actor="clock")

    def _evict(self) -> None:
        """Forget the oldest decided requests beyond the bound, approvals that can still be used last."""
        while self._records.resolved_count > self._limits.max_resolved_confirmations:
            record = self._records.oldest_resolved()
            if record.state is RecordState.APPROVED:
                self._expire_unused(record, actor="clock")
            record.void = True
            self._records.forget(record)

    def _arm(self) -> None:
        if not self._closed:
            self._alarm.set(self._records.next_due_ms())

    def _ring(self) -> None:
        self._sweep()
        self._arm()

    # Values for others.

    def _snapshot(self) -> tuple[PendingConfirmation, ...]:
        return tuple(self._shown(record) for record in self._records.pending)

    def _shown(self, record: ConfirmationRecord) -> PendingConfirmation:
        left_ms = record.pending.expires_at_monotonic_ms - self._clock.monotonic_ms()
        return replace(record.pending, expires_in_ms=max(0, left_ms))

    def _audit(
        self,
        record: ConfirmationRecord,
        kind: ConfirmationAuditKind,
        *,
        actor: str,
        note: str | None = None,
        unused: bool = False,
    ) -> None:
        at = iso_utc(self._clock.now_ms())
        self._record_audit(record.step(kind, actor=actor, at=at, note=note, unused=unused))


def _wake(record: ConfirmationRecord) -> None:
    for future in tuple(record.waiters):
        # A loop that was closed before its registry takes no callbacks, and nobody waits on it any more.
        if not future.done() and not future.get_loop().is_closed():
            future.set_result(None)
