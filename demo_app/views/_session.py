"""The fleet as the window sees it: reading at once, changing through jobs, one signal for every change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from demo_app.domain import ExistingDevices, Fleet, FleetRepository, ImportField
from demo_app.views._jobs import Job, JobRunner


class FleetSession(QObject):
    """Everything the widgets know of the fleet.

    Args:
        open_fleet: Opens the fleet for the thread it is called on.
        actor: Who the person at the window is, for the activity log.
        parent: Owner.

    Signals:
        changed: Something in the database is different; read again. Comes before the job's own signal.
        busy_changed: What is going on, empty when nothing is.
    """

    changed = Signal()
    busy_changed = Signal(str)

    def __init__(self, *, open_fleet: Callable[[], Fleet], actor: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._fleet = open_fleet()
        self._actor = actor
        self._runner = JobRunner(open_fleet=open_fleet, parent=self)
        self._runner.label_changed.connect(self.busy_changed)

    @property
    def repository(self) -> FleetRepository:
        """Reads the fleet, on the GUI thread."""
        return self._fleet.repository

    @property
    def busy_with(self) -> str:
        """What is going on, empty when nothing is."""
        return self._runner.label

    def obstacle(self) -> str:
        """Why nothing new can be begun at the moment, as a sentence; empty when it can."""
        task = self._runner.label
        return self.tr("{task} is under way. Wait until it is done.").format(task=task) if task else ""

    def disable(self, device_ids: Sequence[str], *, actor: str | None = None) -> Job:
        """Take devices out of service; the job's result is a :class:`ChangeResult`."""
        ids, who = tuple(device_ids), actor or self._actor
        return self._change(self.tr("Disabling devices"), lambda fleet: fleet.service.disable(ids, actor=who))

    def enable(self, device_ids: Sequence[str], *, actor: str | None = None) -> Job:
        """Put devices back into service; the job's result is a :class:`ChangeResult`."""
        ids, who = tuple(device_ids), actor or self._actor
        return self._change(self.tr("Enabling devices"), lambda fleet: fleet.service.enable(ids, actor=who))

    def rename(self, device_id: str, name: str, *, actor: str | None = None) -> Job:
        """Give a device another name; the job's result is the :class:`Device`."""
        who = actor or self._actor
        return self._change(
            self.tr("Renaming a device"), lambda fleet: fleet.service.rename(device_id, name, actor=who)
        )

    def add_note(self, device_id: str, text: str) -> Job:
        """Write a maintenance note; the job's result is its id."""
        return self._change(
            self.tr("Saving a note"), lambda fleet: fleet.service.add_note(device_id, text, actor=self._actor)
        )

    def set_note_resolved(self, note_id: int, resolved: bool) -> Job:
        """Mark a note as done or as still to do."""

        def operation(fleet: Fleet) -> None:
            if resolved:
                fleet.service.resolve_note(note_id, actor=self._actor)
            else:
                fleet.service.reopen_note(note_id, actor=self._actor)

        return self._change(self.tr("Saving a note"), operation)

    def import_csv(
        self, path: Path, mapping: Mapping[ImportField, int], *, existing: ExistingDevices, all_or_nothing: bool
    ) -> Job:
        """Import devices; the job's result is an :class:`ImportReport`."""
        job = self._runner.start(
            self.tr("Importing {file}").format(file=path.name),
            lambda fleet, monitor: fleet.import_csv(
                path,
                mapping,
                actor=self._actor,
                existing=existing,
                all_or_nothing=all_or_nothing,
                monitor=monitor,
            ),
        )
        job.succeeded.connect(self._announce_change)
        return job

    def export_csv(self, path: Path, device_ids: Sequence[str]) -> Job:
        """Export devices; the job's result is their number."""
        ids = tuple(device_ids)
        return self._runner.start(
            self.tr("Exporting {file}").format(file=path.name),
            lambda fleet, monitor: fleet.export_csv(path, ids, monitor=monitor),
        )

    def cancel_all(self) -> None:
        """Ask everything that is going on to stop."""
        self._runner.cancel_all()

    def close(self) -> None:
        """Close both connections. Call it when nothing is going on."""
        self._runner.close()
        self._fleet.close()

    def _change(self, label: str, operation: Callable[[Fleet], object]) -> Job:
        job = self._runner.start(label, lambda fleet, _monitor: operation(fleet))
        job.succeeded.connect(self._announce_change)
        return job

    def _announce_change(self) -> None:
        self.changed.emit()
