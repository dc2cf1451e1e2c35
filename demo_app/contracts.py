"""What an assistant may see and do in the console: declarations only, no behaviour.

Above: the components that implement them. Below: ``agent_surface``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_surface import (
    action_contract,
    define_agent_component_contract,
    define_agent_procedure_contract,
    from_model,
    observation_contract,
)

MAX_REPORTED_ROWS = 50
"""Rows of the table in one observation."""

MAX_REPORTED_IDS = 200
"""Selected ids in one observation; the count is always exact."""

MAX_REPORTED_CITIES = 500
"""Cities in one observation; the total is always exact."""

MAX_DEVICES = 5_000
"""Devices one call may name: their ids fit the size of an input with room to spare."""

Status = Literal["online", "offline", "maintenance", "disabled"]
Column = Literal["id", "name", "status", "city", "country", "model", "firmware", "last_seen"]
PageName = Literal["devices", "notes", "activity"]
DeviceId = Annotated[str, Field(min_length=1, max_length=64)]
DeviceIds = Annotated[list[DeviceId], Field(min_length=1, max_length=MAX_DEVICES)]


class _Value(BaseModel):
    """A value of the surface: nothing in it but what is declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StatusCount(_Value):
    """How many devices of the whole fleet are in one state."""

    status: Status
    count: int


class FiltersState(_Value):
    """What the filter bar says, and what it leads to."""

    text: str
    statuses: list[Status]
    city: str
    listed: int
    total: int
    counts: list[StatusCount]


class Cities(_Value):
    """The cities that can be filtered by."""

    cities: list[str]
    total: int


class SetFilters(_Value):
    """The filters to change; what is left out stays as it is."""

    text: str | None = Field(
        default=None, max_length=120, description="Words that must all occur in id, name, city, country or model"
    )
    statuses: list[Status] | None = Field(
        default=None, max_length=4, description="Any of these; an empty list means every status"
    )
    city: str | None = Field(default=None, max_length=120, description="Exactly this city; empty means every city")


class DeviceRow(_Value):
    """One row of the table."""

    id: str
    name: str
    status: Status
    city: str


class TableState(_Value):
    """The listed rows from ``first_row`` on, the selection, and the order."""

    rows: list[DeviceRow]
    first_row: int
    listed: int
    selected_ids: list[str]
    selected_count: int
    sorted_by: Column
    descending: bool


class SelectRows(_Value):
    """Devices to select."""

    ids: DeviceIds
    mode: Literal["replace", "add", "remove"] = "replace"


class SortRows(_Value):
    """How to order the table."""

    column: Column
    descending: bool = False


class ScrollToRow(_Value):
    """The row to bring to the top of the table, counting from 0."""

    row: int = Field(ge=0)


class NoteText(_Value):
    """A maintenance note of the device."""

    author: str
    text: str
    is_done: bool


class DeviceDetails(_Value):
    """Everything about one device. ``last_seen`` is a time in UTC, or empty if it never reported."""

    id: str
    name: str
    status: Status
    city: str
    country: str
    model: str
    firmware: str
    last_seen: str
    notes: list[NoteText]


class DrawerState(_Value):
    """The device in the drawer, or nothing."""

    device: DeviceDetails | None


class ShowDevice(_Value):
    """The device to show."""

    id: DeviceId


class NavigationState(_Value):
    """The page in front and the pages there are."""

    page: PageName
    pages: list[PageName]


class GoTo(_Value):
    """The page to bring to the front."""

    page: PageName


class DeviceSet(_Value):
    """The devices a command is about."""

    ids: DeviceIds


class ChangeCount(_Value):
    """What a command did: how many devices are different now, and how many already were as wanted."""

    changed: int
    unchanged: int


class RenameDevice(_Value):
    """A device and its new name."""

    id: DeviceId
    name: str = Field(min_length=1, max_length=120)


class RenamedDevice(_Value):
    """The device under its new name."""

    id: str
    name: str


READ_FILTERS = observation_contract(
    description="The filters that are set, how many devices they list, and how many there are by status",
    output=from_model(FiltersState),
)
READ_CITIES = observation_contract(description="The cities that devices stand in", output=from_model(Cities))
SET_FILTERS = action_contract(
    description="Change which devices are listed; filters left out stay as they are",
    input=from_model(SetFilters),
    effect="local-state",
    idempotent=True,
)
CLEAR_FILTERS = action_contract(description="List every device again", effect="local-state", idempotent=True)
DEVICES_FILTERS = define_agent_component_contract(
    type="devices.filters",
    description="The filters above the table of devices: words, statuses and a city",
    observations={"readState": READ_FILTERS, "readCities": READ_CITIES},
    actions={"setFilters": SET_FILTERS, "clearFilters": CLEAR_FILTERS},
)

READ_TABLE = observation_contract(
    description="The rows in view (id, name, status, city), how many devices are listed, the selection and the order",
    output=from_model(TableState),
)
SELECT_ROWS = action_contract(
    description="Replace, extend or reduce the selection of listed devices, by id",
    input=from_model(SelectRows),
    effect="local-state",
)
SELECT_ALL = action_contract(
    description="Select every listed device, also those that are scrolled out of view",
    effect="local-state",
    idempotent=True,
)
CLEAR_SELECTION = action_contract(description="Select no device", effect="local-state", idempotent=True)
SORT_ROWS = action_contract(
    description="Order the table by a column", input=from_model(SortRows), effect="local-state", idempotent=True
)
SCROLL_TO_ROW = action_contract(
    description="Scroll the table so that other rows are in view",
    input=from_model(ScrollToRow),
    effect="local-state",
    idempotent=True,
)
DEVICES_TABLE = define_agent_component_contract(
    type="devices.table",
    description="The table of the devices that match the filters, with the selection that commands act on",
    observations={"readState": READ_TABLE},
    actions={
        "selectRows": SELECT_ROWS,
        "selectAll": SELECT_ALL,
        "clearSelection": CLEAR_SELECTION,
        "sort": SORT_ROWS,
        "scrollToRow": SCROLL_TO_ROW,
    },
)

READ_DRAWER = observation_contract(
    description="Everything about the device in the drawer, with its latest maintenance notes",
    output=from_model(DrawerState),
)
SHOW_DEVICE = action_contract(
    description="Show a device in the drawer and select it in the table; a filter that hides it is cleared",
    input=from_model(ShowDevice),
    effect="local-state",
    idempotent=True,
)
DEVICES_DRAWER = define_agent_component_contract(
    type="devices.drawer",
    description="The drawer beside the table: one device in detail",
    observations={"readState": READ_DRAWER},
    actions={"showDevice": SHOW_DEVICE},
)

READ_NAVIGATION = observation_contract(
    description="The page in front and the pages there are", output=from_model(NavigationState)
)
GO_TO = action_contract(
    description="Bring a page to the front: the devices, the maintenance notes or the activity log",
    input=from_model(GoTo),
    effect="navigation",
    idempotent=True,
)
APP_NAVIGATION = define_agent_component_contract(
    type="app.navigation",
    description="The pages of the console",
    observations={"readState": READ_NAVIGATION},
    actions={"goTo": GO_TO},
    priority=1,
)

DISABLE_DEVICES = define_agent_procedure_contract(
    id="domain:devices.disable",
    description="Take devices out of service until they are enabled again",
    input=from_model(DeviceSet),
    output=from_model(ChangeCount),
    effect="destructive",
    idempotent=True,
    reversible=True,
)
ENABLE_DEVICES = define_agent_procedure_contract(
    id="domain:devices.enable",
    description="Put disabled devices back into service",
    input=from_model(DeviceSet),
    output=from_model(ChangeCount),
    effect="server-mutation",
    idempotent=True,
    reversible=True,
)
RENAME_DEVICE = define_agent_procedure_contract(
    id="domain:devices.rename",
    description="Give one device another name; its id stays the same",
    input=from_model(RenameDevice),
    output=from_model(RenamedDevice),
    effect="server-mutation",
    idempotent=True,
    reversible=True,
)
