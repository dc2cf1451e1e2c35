"""Invoices and customers: an application with other words, to show that the language knows none by heart."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_surface.contracts import (
    AgentProcedureContract,
    action_contract,
    bind_procedure,
    define_agent_component_contract,
    define_agent_procedure_contract,
    observation_contract,
)
from agent_surface.procedures import ServiceExecutor
from agent_surface.registry import AgentSurfaceRegistry, create_agent_surface_registry
from agent_surface.schemas import from_model
from agent_surface.testing import ManualClock, contract_authority


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Invoice(_Value):
    """One invoice."""

    id: str
    number: str
    customer: str
    state: Literal["draft", "sent", "overdue", "paid"]
    amount: float


class Ledger(_Value):
    """What is listed."""

    invoices: list[Invoice]


class Search(_Value):
    """What to look for."""

    query: str | None = None
    state: Literal["draft", "sent", "overdue", "paid"] | None = None
    customer: str | None = None
    minimum: int | None = Field(default=None, description="Smallest amount")
    archived: bool | None = None


class OneInvoice(_Value):
    """An invoice."""

    invoiceId: str  # noqa: N815  JSON of another house


class Reminder(_Value):
    """A reminder."""

    invoiceId: str  # noqa: N815  JSON of another house
    tone: Literal["friendly", "firm"]


LEDGER = define_agent_component_contract(
    type="invoices.ledger",
    description="The ledger",
    observations={"readInvoices": observation_contract(description="The listed invoices", output=from_model(Ledger))},
    actions={
        "search": action_contract(description="Search the ledger", input=from_model(Search), effect="local-state"),
        "openInvoice": action_contract(
            description="Open an invoice", input=from_model(OneInvoice), effect="navigation"
        ),
    },
)
ARCHIVE: AgentProcedureContract[OneInvoice, None] = define_agent_procedure_contract(
    id="domain:invoices.archive",
    description="Archive an invoice",
    input=from_model(OneInvoice),
    effect="server-mutation",
)
REMIND: AgentProcedureContract[Reminder, None] = define_agent_procedure_contract(
    id="domain:invoices.sendReminder",
    description="Send the customer of an invoice a reminder",
    input=from_model(Reminder),
    effect="external-side-effect",
)


class InvoiceApp:
    """Three invoices and a registry over them."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.searches: list[dict[str, object]] = []
        self.opened: list[str] = []
        self.archived: list[str] = []
        self.reminded: list[tuple[str, str]] = []
        self.invoices = [
            Invoice(id="i1", number="2025-17", customer="Rossi", state="overdue", amount=120.5),
            Invoice(id="i2", number="2025-18", customer="De Luca", state="paid", amount=80),
            Invoice(id="i3", number="2025-19", customer="Rossi", state="draft", amount=10),
        ]
        self.registry: AgentSurfaceRegistry = create_agent_surface_registry(
            authority=contract_authority(LEDGER, ARCHIVE, REMIND),
            environment="development",
            clock=self.clock,
            procedures=ServiceExecutor({"invoices.archive": self._archive, "invoices.sendReminder": self._remind}),
        )
        self.registry.register(
            LEDGER.bind(
                observations={"readInvoices": self._read},
                actions={"search": self._search, "openInvoice": self._open},
                procedures=[bind_procedure(ARCHIVE), bind_procedure(REMIND)],
            )
        )

    def _read(self) -> Ledger:
        return Ledger(invoices=self.invoices)

    def _search(self, value: Search) -> None:
        self.searches.append(value.model_dump(exclude_none=True))

    def _open(self, value: OneInvoice) -> None:
        self.opened.append(value.invoiceId)

    def _archive(self, invoiceId: str) -> None:  # noqa: N803  the field of the input has this name
        self.archived.append(invoiceId)

    def _remind(self, invoiceId: str, tone: str) -> None:  # noqa: N803  the same
        self.reminded.append((invoiceId, tone))
