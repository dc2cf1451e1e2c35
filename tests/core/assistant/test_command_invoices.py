"""The same language over an application with other words: it knows none by heart."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agent_surface._base._json import JsonValue
from tests.core.assistant.command_under_test import CommandUnderTest
from tests.core.assistant.invoice_app import InvoiceApp


@pytest.fixture
async def invoices() -> AsyncIterator[tuple[InvoiceApp, CommandUnderTest]]:
    """A fresh ledger and an assistant for it."""
    app = InvoiceApp()
    under = CommandUnderTest(app.registry, app.clock)
    yield app, under
    await under.close()


Invoices = tuple[InvoiceApp, CommandUnderTest]

SEARCH, OPEN = "view:invoices.ledger.search", "view:invoices.ledger.openInvoice"
ARCHIVE, REMIND = "domain:invoices.archive", "domain:invoices.sendReminder"


@pytest.mark.parametrize(
    ("message", "calls"),
    [
        ("show overdue invoices", [(SEARCH, {"state": "overdue"})]),
        ("find Rossi", [(SEARCH, {"query": "Rossi"})]),
        ("show invoices from De Luca", [(SEARCH, {"customer": "De Luca"})]),
        ("show paid invoices of customer Rossi", [(SEARCH, {"state": "paid", "customer": "Rossi"})]),
        ("show invoices minimum 50", [(SEARCH, {"minimum": 50})]),
        ("show archived invoices", [(SEARCH, {"archived": True})]),
        ("show not archived invoices", [(SEARCH, {"archived": False})]),
        ("open 2025-18", [(OPEN, {"invoiceId": "i2"})]),
        ("view invoice 2025-18", [(OPEN, {"invoiceId": "i2"})]),
        ("archive invoice 2025-17", [(ARCHIVE, {"invoiceId": "i1"})]),
        ("send a friendly reminder for 2025-17", [(REMIND, {"tone": "friendly", "invoiceId": "i1"})]),
        ("archive 2025-17 and open 2025-18", [(ARCHIVE, {"invoiceId": "i1"}), (OPEN, {"invoiceId": "i2"})]),
    ],
)
async def test_a_command_becomes_the_call_it_means(
    invoices: Invoices, message: str, calls: list[tuple[str, JsonValue]]
) -> None:
    """Verbs, nouns and values are read out of this catalogue as out of any other."""
    _, under = invoices
    said = await under.say(message)
    assert under.calls() == calls, said


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("archive it", "it"),
        ("archive 2025-17 and 2025-18", "one at a time"),
        ("archive everything", "everything"),
        ("archive overdue invoices", "overdue"),
        ("send reminder for 2025-17", "tone"),
        ("show invoices over 100", "over"),
    ],
)
async def test_what_is_not_certain_is_not_done(invoices: Invoices, message: str, word: str) -> None:
    """An effect on the back end needs every word explained."""
    app, under = invoices
    said = await under.say(message)
    assert under.calls() == [], said
    assert word in said
    assert (app.archived, app.reminded) == ([], [])


async def test_the_person_is_asked_before_something_leaves_the_house(invoices: Invoices) -> None:
    """Confirmation is the registry's affair, whatever the words were."""
    app, under = invoices
    await under.say("send a firm reminder for 2025-17")
    assert under.asked == [REMIND]
    assert app.reminded == [("i1", "firm")]
