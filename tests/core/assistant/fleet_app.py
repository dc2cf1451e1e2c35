"""A fleet of stations without a user interface: what the command language is tried on first."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_surface.contracts import (
    AgentProcedureContract,
    action_contract,
    bind_procedure,
    define_agent_component_contract,
    define_agent_procedure_contract,
    observation_contract,
)
from agent_surface.invocation import Availability
from agent_surface.procedures import ServiceExecutor
from agent_surface.registry import AgentSurfaceRegistry, create_agent_surface_registry
from agent_surface.schemas import from_model
from agent_surface.testing import ManualClock, contract_authority

Status = Literal["online", "offline", "disabled"]
Ids = Annotated[list[str], Field(min_length=1)]


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FiltersState(_Value):
    """What the filters say."""

    text: str
    statuses: list[Status]
    city: str
    listed: int


class Cities(_Value):
    """Cities to filter by."""

    cities: list[str]


class SetFilters(_Value):
    """Filters to change."""

    text: str | None = None
    statuses: list[Status] | None = None
    city: str | None = None


class Row(_Value):
    """One station."""

    id: str
    name: str
    status: Status
    city: str


class TableState(_Value):
    """Rows and selection."""

    rows: list[Row]
    selected_ids: list[str]


class SelectRows(_Value):
    """Rows to select."""

    ids: Ids
    mode: Literal["replace", "add", "remove"] = "replace"


class Sort(_Value):
    """An order."""

    column: Literal["name", "city", "last_seen"]
    descending: bool = False


class ShowDevice(_Value):
    """A device."""

    id: str


class GoTo(_Value):
    """A page."""

    page: Literal["devices", "notes", "activity"]


class DeviceSet(_Value):
    """Devices."""

    ids: Ids


class Rename(_Value):
    """A device and a name."""

    id: str
    name: str = Field(min_length=1)


class Changed(_Value):
    """How many were changed."""

    changed: int


FILTERS = define_agent_component_contract(
    type="devices.filters",
    description="Filters above the table",
    observations={
        "readState": observation_contract(
            description="The filters that are set and how many devices they list", output=from_model(FiltersState)
        ),
        "readCities": observation_contract(description="The cities that devices stand in", output=from_model(Cities)),
    },
    actions={
        "setFilters": action_contract(
            description="Change which devices are listed; filters left out stay as they are",
            input=from_model(SetFilters),
            effect="local-state",
        ),
        "clearFilters": action_contract(description="List every device again", effect="local-state"),
    },
)
TABLE = define_agent_component_contract(
    type="devices.table",
    description="The table of devices",
    observations={
        "readState": observation_contract(
            description="The rows in view, how many devices are listed, and the selection",
            output=from_model(TableState),
        )
    },
    actions={
        "selectRows": action_contract(
            description="Replace, extend or reduce the selection of listed devices, by id",
            input=from_model(SelectRows),
            effect="local-state",
        ),
        "selectAll": action_contract(description="Select every listed device", effect="local-state"),
        "clearSelection": action_contract(description="Select no device", effect="local-state"),
        "sort": action_contract(
            description="Order the table by a column", input=from_model(Sort), effect="local-state"
        ),
    },
)
DRAWER = define_agent_component_contract(
    type="devices.drawer",
    description="One device in detail",
    actions={
        "showDevice": action_contract(
            description="Show a device in the drawer", input=from_model(ShowDevice), effect="local-state"
        )
    },
)
NAVIGATION = define_agent_component_contract(
    type="app.navigation",
    description="Pages",
    actions={
        "goTo": action_contract(description="Bring a page to the front", input=from_model(GoTo), effect="navigation")
    },
)
DISABLE = define_agent_procedure_contract(
    id="domain:devices.disable",
    description="Take devices out of service until they are enabled again",
    input=from_model(DeviceSet),
    output=from_model(Changed),
    effect="destructive",
)
ENABLE = define_agent_procedure_contract(
    id="domain:devices.enable",
    description="Put disabled devices back into service",
    input=from_model(DeviceSet),
    output=from_model(Changed),
    effect="server-mutation",
)
RENAME: AgentProcedureContract[Rename, None] = define_agent_procedure_contract(
    id="domain:devices.rename",
    description="Give one device another name; its id stays the same",
    input=from_model(Rename),
    effect="server-mutation",
)


class FleetApp:
    """Four stations, filters, a selection, and a registry over them."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.rows = {
            "MIL-001": Row(id="MIL-001", name="Milan Duomo", status="online", city="Milan"),
            "MIL-002": Row(id="MIL-002", name="Milan Navigli", status="offline", city="Milan"),
            "MIL-004": Row(id="MIL-004", name="Milan Lambrate", status="offline", city="Milan"),
            "ROM-001": Row(id="ROM-001", name="Rome Trastevere", status="offline", city="Rome"),
        }
        self.filters = SetFilters()
        self.selected: list[str] = []
        self.opened: list[str] = []
        self.pages: list[str] = []
        self.sorted: list[Sort] = []
        self.registry: AgentSurfaceRegistry = create_agent_surface_registry(
            authority=contract_authority(FILTERS, TABLE, DRAWER, NAVIGATION, DISABLE, ENABLE, RENAME),
            environment="development",
            clock=self.clock,
            procedures=ServiceExecutor(
                {"devices.disable": self._disable, "devices.enable": self._enable, "devices.rename": self._rename}
            ),
        )
        self._register()

    def listed(self) -> list[Row]:
        """The rows that match the filters."""
        return [
            row
            for row in self.rows.values()
            if (not self.filters.statuses or row.status in self.filters.statuses)
            and (not self.filters.city or row.city == self.filters.city)
            and (not self.filters.text or self.filters.text.casefold() in row.name.casefold())
        ]

    def _register(self) -> None:
        self.registry.register(
            FILTERS.bind(
                observations={"readState": self._read_filters, "readCities": self._read_cities},
                actions={"setFilters": self._set_filters, "clearFilters": self._clear_filters},
            )
        )
        self.registry.register(
            TABLE.bind(
                observations={"readState": self._read_table},
                actions={
                    "selectRows": self._select_rows,
                    "selectAll": self._select_all,
                    "clearSelection": self._clear_selection,
                    "sort": self._sort,
                },
                procedures=[
                    bind_procedure(
                        contract,
                        bind={"ids": lambda: list(self.selected)},
                        when=lambda: bool(self.selected),
                        unavailable_reason="No device is selected.",
                        describe=lambda: f"{len(self.selected)} selected",
                    )
                    for contract in (DISABLE, ENABLE)
                ]
                + [
                    bind_procedure(
                        RENAME,
                        bind={"id": lambda: self.selected[0]},
                        when=lambda: len(self.selected) == 1,
                        unavailable_reason="Select exactly one device.",
                    )
                ],
                availability=self._available,
            )
        )
        self.registry.register(DRAWER.bind(actions={"showDevice": self._show_device}))
        self.registry.register(NAVIGATION.bind(actions={"goTo": self._go_to}))

    def _show_device(self, value: ShowDevice) -> None:
        self.opened.append(value.id)

    def _go_to(self, value: GoTo) -> None:
        self.pages.append(value.page)

    def _sort(self, value: Sort) -> None:
        self.sorted.append(value)

    def _available(self, capability_id: str) -> Availability:
        if capability_id.endswith("selectAll") and not self.listed():
            return Availability(available=False, reason="No device is listed.")
        return Availability(available=True)

    def _read_filters(self) -> FiltersState:
        return FiltersState(
            text=self.filters.text or "",
            statuses=self.filters.statuses or [],
            city=self.filters.city or "",
            listed=len(self.listed()),
        )

    def _read_cities(self) -> Cities:
        return Cities(cities=sorted({row.city for row in self.rows.values()}))

    def _read_table(self) -> TableState:
        return TableState(rows=self.listed(), selected_ids=self.selected)

    def _set_filters(self, value: SetFilters) -> None:
        self.filters = self.filters.model_copy(update=value.model_dump(exclude_none=True))

    def _clear_filters(self) -> None:
        self.filters = SetFilters()

    def _select_rows(self, value: SelectRows) -> None:
        if value.mode == "replace":
            self.selected = list(value.ids)
        elif value.mode == "add":
            self.selected += [item for item in value.ids if item not in self.selected]
        else:
            self.selected = [item for item in self.selected if item not in value.ids]

    def _select_all(self) -> None:
        self.selected = [row.id for row in self.listed()]

    def _clear_selection(self) -> None:
        self.selected = []

    def _disable(self, ids: list[str]) -> Changed:
        return self._set_status(ids, "disabled")

    def _enable(self, ids: list[str]) -> Changed:
        return self._set_status(ids, "online")

    def _set_status(self, ids: list[str], status: Status) -> Changed:
        for device_id in ids:
            self.rows[device_id] = self.rows[device_id].model_copy(update={"status": status})
        return Changed(changed=len(ids))

    def _rename(self, id: str, name: str) -> None:
        self.rows[id] = self.rows[id].model_copy(update={"name": name})
