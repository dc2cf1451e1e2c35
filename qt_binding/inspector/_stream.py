"""What happened, newest last: events of the registry and records of its audit, in a bounded model."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from enum import StrEnum

from PySide6.QtCore import QAbstractTableModel, QDateTime, QLocale, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from agent_surface import AuditRecord, CombinedAuditSink, MemoryAuditSink
from agent_surface.audit import AuditSink
from agent_surface.events import (
    AgentSurfaceEvent,
    AvailabilityChanged,
    CollisionSuspected,
    ComponentRegistered,
    ComponentRejected,
    ComponentUnregistered,
    ConfirmationRequested,
    ConfirmationResolved,
    InvocationSettled,
    InvocationStarted,
    SurfaceChanged,
)
from qt_binding.inspector._wording import cell, tool_tip, tr

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class Topic(StrEnum):
    """What an entry is about."""

    SURFACE = "surface"
    CALLS = "calls"
    CONFIRMATIONS = "confirmations"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEntry:
    """One line of the stream.

    Attributes:
        at_ms: Milliseconds since the Unix epoch.
        topic: What it is about.
        kind: The event's or record's own name.
        subject: The component, capability or confirmation.
        outcome: How it ended, or what changed.
        details: Everything that is known, for :func:`json.dumps`.
    """

    at_ms: int
    topic: Topic
    kind: str
    subject: str
    outcome: str
    details: object


def event_entry(event: AgentSurfaceEvent, at_ms: int) -> StreamEntry:
    """An event of the registry as a line."""
    topic, subject, outcome = _said(event)
    return StreamEntry(
        at_ms=at_ms, topic=topic, kind=event.type, subject=subject, outcome=outcome, details=asdict(event)
    )


def audit_entry(record: AuditRecord) -> StreamEntry:
    """A record of the audit as a line."""
    outcome = record.status if record.code is None else f"{record.status}: {record.code.value}"
    return StreamEntry(
        at_ms=record.at_ms,
        topic=Topic.AUDIT,
        kind=f"audit: {record.kind}",
        subject=f"{record.capability_id} \u2190 {record.consumer_key}",
        outcome=outcome,
        details=record.to_json(),
    )


class AuditTail:
    """The records that a registry's audit has kept since the last look.

    Args:
        sink: The registry's. Only a sink in memory can be read back; what any other keeps is not shown.
    """

    def __init__(self, sink: AuditSink) -> None:
        self._sink = _in_memory(sink)
        self._seen = self._written()

    @property
    def readable(self) -> bool:
        """Whether there is a sink that can be read back."""
        return self._sink is not None

    def take(self) -> tuple[AuditRecord, ...]:
        """What is new, oldest first; what the sink has already let go is not among it."""
        if self._sink is None:
            return ()
        written = self._written()
        new, self._seen = written - self._seen, written
        records = self._sink.records
        return records[-new:] if new else ()

    def _written(self) -> int:
        return 0 if self._sink is None else self._sink.dropped + len(self._sink.records)


class StreamModel(QAbstractTableModel):
    """The latest entries; older ones make room and are counted.

    Args:
        capacity: How many are kept, at least 1.
        parent: Qt owner.
    """

    def __init__(self, capacity: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: deque[StreamEntry] = deque()
        self.capacity = capacity
        self.dropped = 0

    def entry(self, row: int) -> StreamEntry:
        """The entry of a row."""
        return self._entries[row]

    def extend(self, entries: list[StreamEntry]) -> None:
        """Add entries at the end, as one change."""
        kept = entries[-self.capacity :]
        self.dropped += len(entries) - len(kept)
        surplus = len(self._entries) + len(kept) - self.capacity
        if surplus > 0:
            self.beginRemoveRows(_ROOT, 0, surplus - 1)
            for _ in range(surplus):
                self._entries.popleft()
            self.dropped += surplus
            self.endRemoveRows()
        if kept:
            first = len(self._entries)
            self.beginInsertRows(_ROOT, first, first + len(kept) - 1)
            self._entries.extend(kept)
            self.endInsertRows()

    def clear(self) -> None:
        """Forget everything."""
        self.beginResetModel()
        self._entries.clear()
        self.dropped = 0
        self.endResetModel()

    @override
    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._entries)

    @override
    def columnCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else 4

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role != Qt.ItemDataRole.DisplayRole or orientation is not Qt.Orientation.Horizontal:
            return None
        return (tr("Time"), tr("What"), tr("Of"), tr("Outcome"))[section]

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self._entries):
            return None
        entry = self._entries[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return entry.topic.value
        texts = (_time_text(entry.at_ms) if index.column() == 0 else "", entry.kind, entry.subject, entry.outcome)
        if role == Qt.ItemDataRole.DisplayRole:
            return cell(texts[index.column()])
        return tool_tip(texts[index.column()]) if role == Qt.ItemDataRole.ToolTipRole else None


def _time_text(at_ms: int) -> str:
    return QLocale().toString(QDateTime.fromMSecsSinceEpoch(at_ms).time(), "HH:mm:ss.zzz")


def _in_memory(sink: AuditSink) -> MemoryAuditSink | None:
    if isinstance(sink, MemoryAuditSink):
        return sink
    inner = sink.sinks if isinstance(sink, CombinedAuditSink) else ()
    return next((found for one in inner if (found := _in_memory(one)) is not None), None)


def _said(event: AgentSurfaceEvent) -> tuple[Topic, str, str]:
    match event:
        case SurfaceChanged():
            return Topic.SURFACE, "", tr("version %1").replace("%1", event.surface_version)
        case ComponentRegistered() | ComponentUnregistered():
            return Topic.SURFACE, f"{event.component_type} \u203a {event.instance_id}", event.registration_id
        case ComponentRejected():
            return Topic.SURFACE, f"{event.component_type} \u203a {event.instance_id}", event.reason
        case AvailabilityChanged():
            state = tr("available") if event.available else tr("not available")
            return Topic.SURFACE, event.capability_id, f"{state}: {event.reason}" if event.reason else state
        case CollisionSuspected():
            return Topic.SURFACE, event.view_capability_id, event.domain_procedure_id
        case InvocationStarted():
            return Topic.CALLS, event.capability_id, tr("by %1").replace("%1", event.consumer_id)
        case InvocationSettled():
            duration = tr("%1 ms").replace("%1", QLocale().toString(event.duration_ms))
            return Topic.CALLS, event.capability_id, f"{event.code.value if event.code else event.status}, {duration}"
        case ConfirmationRequested():
            return Topic.CONFIRMATIONS, event.capability_id, event.confirmation_id
        case ConfirmationResolved():
            return Topic.CONFIRMATIONS, event.confirmation_id, event.outcome
