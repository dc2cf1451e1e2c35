"""Which requests there are, in the order in which something becomes due for them."""

from __future__ import annotations

from itertools import islice, takewhile

from agent_surface.confirmations._record import FINAL, ConfirmationRecord, RecordState


class ConfirmationRecords:
    """Open and ended requests, each kind in the order of its time, so that nothing is looked through.

    All requests have one time to live, so they expire in the order in which they were made; all ended ones are
    remembered equally long, so they are forgotten in the order in which they ended. It decides nothing: the store
    changes a record and has it filed anew.
    """

    __slots__ = ("_ended", "_open", "_pending")

    def __init__(self) -> None:
        self._open: dict[str, ConfirmationRecord] = {}
        # Those of the open ones that nobody has decided, by what they would approve.
        self._pending: dict[str, ConfirmationRecord] = {}
        self._ended: dict[str, ConfirmationRecord] = {}

    def __len__(self) -> int:
        return len(self._open) + len(self._ended)

    @property
    def pending(self) -> tuple[ConfirmationRecord, ...]:
        """Requests nobody has decided yet, oldest first."""
        return tuple(self._pending.values())

    @property
    def pending_count(self) -> int:
        """How many of them."""
        return len(self._pending)

    @property
    def resolved(self) -> tuple[ConfirmationRecord, ...]:
        """Decided requests that are still remembered, used or not."""
        return (*self._ended.values(), *(r for r in self._open.values() if r.state is not RecordState.PENDING))

    @property
    def resolved_count(self) -> int:
        """How many of them."""
        return len(self._open) - len(self._pending) + len(self._ended)

    def add(self, record: ConfirmationRecord) -> None:
        """File a new request."""
        self._open[record.pending.confirmation_id] = record
        self._pending[record.binding_text] = record

    def refile(self, record: ConfirmationRecord) -> None:
        """File a record anew after its state has changed. One that was forgotten meanwhile stays so."""
        if record.state is not RecordState.PENDING and self._pending.get(record.binding_text) is record:
            del self._pending[record.binding_text]
        if record.state in FINAL and self._open.pop(record.pending.confirmation_id, None) is not None:
            self._ended[record.pending.confirmation_id] = record

    def forget(self, record: ConfirmationRecord) -> None:
        """Remember a decided request no longer."""
        self._open.pop(record.pending.confirmation_id, None)
        self._ended.pop(record.pending.confirmation_id, None)

    def forget_due(self, now_ms: int) -> None:
        """Forget the ended requests whose time is over."""
        for record in tuple(takewhile(lambda record: record.forget_at_ms <= now_ms, self._ended.values())):
            del self._ended[record.pending.confirmation_id]

    def find(self, confirmation_id: str) -> ConfirmationRecord | None:
        """The request of that id, as long as it is remembered."""
        return self._open.get(confirmation_id) or self._ended.get(confirmation_id)

    def find_pending(self, confirmation_id: str) -> ConfirmationRecord | None:
        """The request of that id, if nobody has decided it yet."""
        record = self._open.get(confirmation_id)
        return record if record is not None and record.state is RecordState.PENDING else None

    def find_equal(self, binding_text: str) -> ConfirmationRecord | None:
        """The pending request that would approve the same call."""
        return self._pending.get(binding_text)

    def expired(self, now_ms: int) -> tuple[ConfirmationRecord, ...]:
        """Open requests whose time is up, claimed ones among them."""
        return tuple(takewhile(lambda record: record.pending.expires_at_monotonic_ms <= now_ms, self._open.values()))

    def oldest_resolved(self) -> ConfirmationRecord:
        """The decided request that is missed least: one that is used up, as long as there is one."""
        return next(iter(self.resolved))

    def next_due_ms(self) -> int | None:
        """When the next of them expires or is to be forgotten; ``None`` when nothing is due ever."""
        due = [record.forget_at_ms for record in islice(self._ended.values(), 1)]
        # A claim taken in time does not expire.
        unclaimed = (record for record in self._open.values() if record.state is not RecordState.CLAIMED)
        due += [record.pending.expires_at_monotonic_ms for record in islice(unclaimed, 1)]
        return min(due, default=None)
