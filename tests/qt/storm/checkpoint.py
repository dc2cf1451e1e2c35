"""What has to hold whenever the storm pauses."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections import Counter
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from tests.qt.storm.agents import CAPABILITIES, NOT_READY, capability_id
from tests.qt.storm.entry import Entry
from tests.qt.storm.oracle import Obstacle, a_click_arrives, blocker, obstacle

if TYPE_CHECKING:
    from tests.qt.storm.storm import Storm


def unusable(entry: Entry, capability: str, found: Obstacle | None) -> Obstacle | str | None:
    """Why a capability cannot be used, ``None`` if it can.

    Args:
        entry: The component.
        capability: Its name.
        found: What keeps a person from the component.
    """
    if not entry.deeds.switched_on:
        return "component-disabled"
    if found is not None:
        return found
    return NOT_READY if capability == "set" and not entry.deeds.is_ready() else None


class Checkpoint:
    """Holds the surface against the world; whatever does not agree is a :class:`StormError`."""

    def __init__(self, storm: Storm) -> None:
        self._storm = storm
        self._obstacles: dict[int, Obstacle | None] = {}

    def check_surfaces(self) -> None:
        """Registrations, announcements and catalogues are what the world makes of them."""
        self._obstacles = {
            id(entry): None if entry.widget is None else obstacle(entry.widget, self._storm.modal, settled=True)
            for entry in self._live()
        }
        self._check_registrations()
        self._check_announcements()
        self._check_catalogue()

    def _live(self) -> list[Entry]:
        return [entry for entry in self._storm.entries if entry.alive]

    def _active(self) -> list[Entry]:
        return [entry for entry in self._live() if entry.handle.status == "active"]

    def check_modality(self) -> None:
        """The storm knows what a click through the window system reaches."""
        for window in (*self._storm.ships, *self._storm.live_skiffs()):
            if not shiboken6.isValid(window) or not window.isVisible() or window.isMinimized():
                continue
            if a_click_arrives(window) != (blocker(window, self._storm.modal) is None):
                raise self._storm.error(f"the storm itself is wrong about what blocks {window.windowTitle()}")

    def _check_registrations(self) -> None:
        holders: Counter[tuple[int, str]] = Counter()
        wanted: set[tuple[int, str]] = set()
        active = 0
        for entry in self._live():
            place = (self._storm.surface_of(entry.target), entry.deeds.identity)
            status = entry.handle.status
            active += status == "active"
            if entry.late:
                continue
            if status == "active":
                holders[place] += 1
                registration = entry.handle.registration_id or ""
                known = entry.registered
                if known is not None and known[0] == entry.moves and known[1] != registration:
                    raise self._storm.error(f"{place} was registered again for no reason")
                entry.registered = (entry.moves, registration)
            elif status == "rejected":
                wanted.add(place)
            elif status == "unregistered" or (isinstance(entry.target, QWidget) and entry.target.isVisible()):
                raise self._storm.error(f"{place} is shown and {status}")
        alone = not any(entry.late for entry in self._storm.entries)
        if any(count > 1 for count in holders.values()) or (alone and wanted - set(holders)):
            raise self._storm.error(
                f"one of each identity is registered: {holders.most_common(3)}, {wanted - set(holders)}"
            )
        registered = sum(registry.statistics().registrations for registry in self._storm.registries)
        if registered != active:
            raise self._storm.error(f"{registered} registrations for {active} components")

    def _check_announcements(self) -> None:
        for entry in self._active():
            if entry.late:
                continue
            for name in CAPABILITIES:
                key = (entry.handle.registration_id or "", capability_id(name))
                available, reason = self._storm.announced.get(key, (True, None))
                self._compare(entry, name, None if available else str(reason), "announced")

    def _check_catalogue(self) -> None:
        for number, registry in enumerate(self._storm.registries):
            shown = {item.registration_id: item for item in registry.snapshot().components}
            for entry in self._active():
                if entry.late:
                    shown.pop(entry.handle.registration_id or "", None)
                    continue
                if self._storm.surface_of(entry.target) != number:
                    continue
                component = shown.pop(entry.handle.registration_id or "", None)
                if component is None or component.instance_id != entry.deeds.identity:
                    raise self._storm.error(f"{entry.deeds.identity} is not in the catalogue as itself")
                reasons = {item.name: item.unavailable_reason for item in component.observations}
                reasons |= {item.name: item.unavailable_reason for item in component.actions}
                for name, reason in reasons.items():
                    self._compare(entry, name, reason, "catalogued")
            if shown:
                raise self._storm.error(
                    f"the catalogue has what is not there: {[item.instance_id for item in shown.values()]}"
                )

    def _compare(self, entry: Entry, name: str, reason: str | None, where: str) -> None:
        self._storm.checks += 1
        expected = unusable(entry, name, self._obstacles[id(entry)])
        if where == "announced":  # of what cannot be used anyway, nothing tells that now the reason is another
            same = (expected is None) == (reason is None)
        else:
            same = expected.agrees_with(reason) if isinstance(expected, Obstacle) else expected == reason
        if not same:
            raise self._storm.error(
                f"{where}: {name} of {entry.deeds.identity} ({type(entry.target).__name__}) should be {expected}, "
                f"and is {reason!r}"
            )

    def check_calls(self) -> None:
        """Every call started, ran and settled once at most, and none was lost."""
        if self._storm.callers.faults:
            raise self._storm.error("\n".join(self._storm.callers.faults[:5]))
        for counts in (self._storm.callers.settled, self._storm.started, self._storm.settled, self._storm.runs):
            twice = [name for name, count in counts.items() if count != 1]
            if twice:
                raise self._storm.error(f"not once: {twice[:5]}")
        if self._storm.started.keys() != self._storm.settled.keys():
            raise self._storm.error("a call started and did not settle")
        for counts in (self._storm.started, self._storm.settled, self._storm.runs):
            counts.clear()

    def check_nothing_is_kept(self) -> None:
        """What is gone has left nothing behind, and what is at rest holds nothing."""
        alive = [entry.target for entry in self._storm.entries]
        kept = [target for reference in self._storm.born if (target := reference()) is not None]
        self._storm.born = [reference for reference in self._storm.born if reference() is not None]
        if len(kept) != len(alive):
            strays = [target for target in kept if not any(target is known for known in alive)]
            raise self._storm.error(f"{len(strays)} dead components are kept: {_holders(strays)}")
        following = sum(entry.handle.status in {"active", "rejected"} for entry in self._live())
        counted: dict[str, tuple[int, int]] = {
            "components watched": (len(self._storm.watch), len(alive)),
            "receivers of the weather": (self._storm.weather.receivers("2changed()"), following),
            "timers": (len(self._storm.runtime.findChildren(QTimer)), self._storm.timers),
            "deadlines": (len(self._storm.runtime.loop.deadlines), 0),
            "tasks": (len(asyncio.all_tasks(self._storm.runtime.loop)), 0),
        }
        for what, (found, expected) in counted.items():
            if found != expected:
                raise self._storm.error(f"{what}: {found} in place of {expected}")
        if threading.active_count() > self._storm.threads + 8:
            raise self._storm.error(f"threads: {[thread.name for thread in threading.enumerate()]}")
        for registry in self._storm.registries:
            statistics = registry.statistics()
            busy = {
                name: getattr(statistics, name)
                for name in ("in_flight", "running_tasks", "queued_calls", "admission_groups", "observing")
            }
            busy |= {name: getattr(statistics, name) for name in ("queued_events", "lost_events", "audit_failures")}
            if any(busy.values()):
                raise self._storm.error(f"at rest, and {busy}")


def _holders(strays: list[QObject]) -> list[str]:
    """What keeps objects that are gone, for whoever looks for the reason."""
    return [
        f"{type(stray).__name__} by {[type(holder).__name__ for holder in gc.get_referrers(stray)]}"
        for stray in strays[:3]
    ]
