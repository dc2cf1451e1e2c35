"""The values of the fleet: stations, queries over them, notes and the activity log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

SortColumn = Literal["id", "name", "status", "city", "country", "model", "firmware", "last_seen"]
"""The columns a list of devices can be ordered by."""

ActivityVerb = Literal["created", "imported", "disabled", "enabled", "renamed", "noted", "resolved", "reopened"]
"""What an entry of the activity log says was done."""


class DeviceStatus(StrEnum):
    """The state of a station as a person reads it. ``DISABLED`` hides the other three until it is enabled again."""

    ONLINE = "online"
    OFFLINE = "offline"
    MAINTENANCE = "maintenance"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One station.

    Attributes:
        id: Stable identity; never changes, not even when the station is renamed.
        name: What people call it, 1 to 120 characters; two stations may share a name.
        status: Its state; ``DISABLED`` is set and lifted by people, the rest by the station.
        city: Where it stands.
        country: Country of the city.
        model: Product name of the hardware.
        firmware: Version of its software, such as ``2.10.1``.
        last_seen: When it last reported, aware, or ``None`` if it never did.
    """

    id: str
    name: str
    status: DeviceStatus
    city: str
    country: str
    model: str
    firmware: str
    last_seen: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFilter:
    """Which devices to list; the empty filter lists all.

    Attributes:
        text: Words that must all occur in id, name, city, country or model; case and accents do not matter.
        statuses: Any of these; empty means every status.
        city: Exactly this city (case and accents do not matter); empty means every city.
    """

    text: str = ""
    statuses: frozenset[DeviceStatus] = frozenset()
    city: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the filter lets every device through."""
        return not self.text.strip() and not self.statuses and not self.city.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceOrder:
    """How to order a list of devices; ties are ordered by id, so the order is total."""

    column: SortColumn = "name"
    descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCounts:
    """How many devices there are, in all and by status."""

    total: int
    by_status: dict[DeviceStatus, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceNote:
    """A remark about one station. ``resolved_at`` is ``None`` while there is still something to do."""

    id: int
    device_id: str
    device_name: str
    author: str
    text: str
    created_at: datetime
    resolved_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityEntry:
    """One thing somebody did. ``device_id`` is ``None`` for what concerns the whole fleet, such as an import."""

    id: int
    at: datetime
    actor: str
    verb: ActivityVerb
    device_id: str | None
    device_name: str | None
    details: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeResult:
    """What a command on several devices did.

    Attributes:
        changed_ids: Devices whose state is different now.
        unchanged_ids: Devices that already were as wanted.
    """

    changed_ids: tuple[str, ...]
    unchanged_ids: tuple[str, ...]
