"""The command language over a fleet of stations: verbs, values, names, the selection, and what it refuses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent_surface._base._json import JsonValue
from agent_surface.assistant import SessionEvent, SessionState, ToolCall, ToolCallStarted
from agent_surface.errors import ErrorCode
from agent_surface.invocation import InvocationError, InvocationOk
from tests.core.assistant.command_under_test import CommandUnderTest
from tests.core.assistant.fleet_app import FleetApp


@pytest.fixture
async def fleet() -> AsyncIterator[tuple[FleetApp, CommandUnderTest]]:
    """A fresh fleet and an assistant for it."""
    app = FleetApp()
    under = CommandUnderTest(app.registry, app.clock)
    yield app, under
    await under.close()


Fleet = tuple[FleetApp, CommandUnderTest]

FILTER, CLEAR = "view:devices.filters.setFilters", "view:devices.filters.clearFilters"
ROWS, ALL, NONE = "view:devices.table.selectRows", "view:devices.table.selectAll", "view:devices.table.clearSelection"
SORT, SHOW, GO = "view:devices.table.sort", "view:devices.drawer.showDevice", "view:app.navigation.goTo"
DISABLE, ENABLE, RENAME = "domain:devices.disable", "domain:devices.enable", "domain:devices.rename"


MEANT: list[tuple[str, list[tuple[str, JsonValue]]]] = [
    ("show offline devices in Milan", [(FILTER, {"statuses": ["offline"], "city": "Milan"})]),
    ("please show me the offline devices in milan!", [(FILTER, {"statuses": ["offline"], "city": "Milan"})]),
    ("show online and disabled devices", [(FILTER, {"statuses": ["online", "disabled"]})]),
    ("show devices in Rome", [(FILTER, {"city": "Rome"})]),
    ("filter by city: Rome", [(FILTER, {"city": "Rome"})]),
    ("find Duomo", [(FILTER, {"text": "Duomo"})]),
    ('search for "Porta Romana"', [(FILTER, {"text": "Porta Romana"})]),
    ("show all devices", [(CLEAR, {})]),
    ("clear filters", [(CLEAR, {})]),
    ("show devices", [(GO, {"page": "devices"})]),
    ("go to notes", [(GO, {"page": "notes"})]),
    ("open the activity page", [(GO, {"page": "activity"})]),
    ("select all shown", [(ALL, {})]),
    ("select everything", [(ALL, {})]),
    ("select Rome Trastevere and Milan Duomo", [(ROWS, {"ids": ["ROM-001", "MIL-001"], "mode": "replace"})]),
    ("also select Milan Navigli", [(ROWS, {"ids": ["MIL-002"], "mode": "add"})]),
    ("select the first 2 devices", [(ROWS, {"ids": ["MIL-001", "MIL-002"], "mode": "replace"})]),
    ("clear the selection", [(NONE, {})]),
    ("deselect all", [(NONE, {})]),
    ("open station Milan Duomo", [(SHOW, {"id": "MIL-001"})]),
    ("show MIL-004", [(SHOW, {"id": "MIL-004"})]),
    ("sort by name", [(SORT, {"column": "name"})]),
    ("sort by last seen descending", [(SORT, {"column": "last_seen", "descending": True})]),
    ("order by city ascending", [(SORT, {"column": "city", "descending": False})]),
]


@pytest.mark.parametrize(("message", "calls"), MEANT)
async def test_a_command_becomes_the_call_it_means(
    fleet: Fleet, message: str, calls: list[tuple[str, JsonValue]]
) -> None:
    """Verbs meet capability names, values meet enumerations and what observations list."""
    _, under = fleet
    said = await under.say(message)
    found = [(capability, _without_default(value)) for capability, value in under.calls()]
    assert found == [(capability, _without_default(value)) for capability, value in calls], said
    assert said.startswith("Done")


def _without_default(value: JsonValue) -> JsonValue:
    """``mode: replace`` is what the schema takes when nothing is said."""
    return {key: item for key, item in value.items() if item != "replace"} if isinstance(value, dict) else value


async def test_several_commands_are_carried_out_in_order_with_one_question(fleet: Fleet) -> None:
    """Filter, select, act: the person is asked once, for exactly what is selected."""
    app, under = fleet
    await under.say("show offline devices in Milan, select all and then disable them")
    assert [capability for capability, _ in under.calls()] == [FILTER, ALL, DISABLE]
    assert under.asked == [DISABLE]
    assert [row.id for row in app.rows.values() if row.status == "disabled"] == ["MIL-002", "MIL-004"]


@pytest.mark.parametrize("pronoun", ["them", "it", "those", "all of them", "the selected devices", "the selection"])
async def test_a_pronoun_means_the_selection_of_the_screen(fleet: Fleet, pronoun: str) -> None:
    """The procedure is bound to the selection; the words only say that it is meant."""
    app, under = fleet
    app.selected = ["ROM-001"]
    await under.say(f"turn off {pronoun}")
    assert under.calls() == [(DISABLE, {})]
    assert [row.id for row in app.rows.values() if row.status == "disabled"] == ["ROM-001"]
    await under.say(f"enable {pronoun}")
    assert [row.id for row in app.rows.values() if row.status == "disabled"] == []


async def test_something_named_is_selected_before_the_selection_is_acted_on(fleet: Fleet) -> None:
    """One thing is named while another is selected."""
    app, under = fleet
    app.selected = ["ROM-001"]
    await under.say("rename Milan Duomo to Milano Duomo Sud")
    assert under.calls() == [(ROWS, {"ids": ["MIL-001"]}), (RENAME, {"name": "Milano Duomo Sud"})]
    assert (app.rows["MIL-001"].name, app.rows["ROM-001"].name) == ("Milano Duomo Sud", "Rome Trastevere")
    await under.say('rename it to "then go to notes"')
    assert app.rows["MIL-001"].name == "then go to notes"


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("disable them except Rome Trastevere", "except"),
        ("don't disable them", "don't"),
        ("disable them if they are offline", "if"),
        ("disable or enable them", "or"),
        ("do not disable them", "not"),
        ("disable all devices", "all"),
        ("disable offline devices", "offline"),
        ("disable the broken ones", "broken"),
        ("disable Nowhere Central", "Nowhere Central"),
        ("rename it to North unless it has a name", "unless"),
        ("not now", "not"),
        ('disable "them all"', "them all"),
        ("show purple devices", "purple"),
        ("open Atlantis", "Atlantis"),
    ],
)
async def test_a_word_that_nothing_explains_stops_the_command(fleet: Fleet, message: str, word: str) -> None:
    """Leaving a word out could turn a command into its opposite, so nothing is done and the word is named."""
    app, under = fleet
    app.selected = ["MIL-001"]
    said = await under.say(message)
    assert under.calls() == []
    assert word in said
    assert under.asked == []


async def test_what_cannot_be_done_is_said_with_what_can(fleet: Fleet) -> None:
    """No guessing."""
    _, under = fleet
    said = await under.say("fly to the moon")
    assert said.startswith("I cannot do “fly to the moon”.")
    assert "go to devices" in said
    assert under.calls() == []


async def test_what_is_unavailable_is_said_with_the_applications_reason(fleet: Fleet) -> None:
    """The person learns what to do first."""
    _, under = fleet
    said = await under.say("disable them")
    assert "cannot be used now: No device is selected." in said
    assert under.calls() == []


async def test_missing_parts_are_asked_for(fleet: Fleet) -> None:
    """A new name is not made up."""
    app, under = fleet
    app.selected = ["MIL-001"]
    assert "I also need: name" in await under.say("rename it")
    assert "column (name, city, last seen)" in (await under.say("sort")).replace("\\_", " ").replace("_", " ")
    assert app.rows["MIL-001"].name == "Milan Duomo"


async def test_all_is_never_taken_for_the_page_that_an_observation_shows(fleet: Fleet) -> None:
    """A table reports some of its rows; "all" goes to the tool that takes all, or nowhere."""
    _, under = fleet
    await under.say("what is shown, then select all")
    assert under.calls() == [(ALL, {})]


async def test_two_things_of_one_name_are_not_guessed_between(fleet: Fleet) -> None:
    """The person says which."""
    app, under = fleet
    app.rows["MIL-002"] = app.rows["MIL-002"].model_copy(update={"name": "Milan Duomo"})
    assert "Several things are called “Milan Duomo”" in await under.say("open Milan Duomo")
    assert app.opened == []


@pytest.mark.requirement("AS-CONFIRM-009")
async def test_after_a_no_the_rest_is_not_begun_and_the_words_are_repeated(fleet: Fleet) -> None:
    """The person is in charge, and sees that they were heard."""
    app, under = fleet
    app.selected = ["MIL-001"]
    said = await under.say("disable them then go to notes", approve=False, note="Not during the storm")
    assert "You said no" in said
    assert "Not during the storm" in said
    assert "I did not go on with: “go to notes”" in said
    assert (app.pages, app.rows["MIL-001"].status) == ([], "online")


async def test_a_question_is_answered_from_an_observation(fleet: Fleet) -> None:
    """Looking changes nothing."""
    app, under = fleet
    app.selected = ["ROM-001"]
    said = await under.say("what is selected?")
    assert "selected ids: ROM-001" in said
    assert "| MIL-001 | Milan Duomo | online | Milan |" in said
    assert "listed: 4" in await under.say("how many devices are shown?")
    assert "I did nothing" not in await under.say("how many devices are offline?")
    assert under.calls() == []


async def test_text_of_the_application_formats_nothing_and_links_nowhere(fleet: Fleet) -> None:
    """A name in a table is data, also for the Markdown of the dock."""
    app, under = fleet
    app.rows["MIL-001"] = app.rows["MIL-001"].model_copy(update={"name": "![x](http://evil) <b>|a"})
    said = await under.say("what is selected?")
    assert r"\!\[x\](http://evil) \<b\>\|a" in said


async def test_only_what_has_to_be_known_is_looked_up(fleet: Fleet) -> None:
    """Each look is a call the person sees."""
    _, under = fleet
    await under.say("show offline devices")
    assert under.looked_up() == []
    await under.say("show devices in Rome")
    assert under.looked_up() == ["view:devices.filters.readCities"]
    await under.say("open Rome Trastevere")
    assert under.looked_up() == ["view:devices.table.readState"]


async def test_help_lists_what_can_be_said_and_what_cannot_be_used_with_the_reason(fleet: Fleet) -> None:
    """The catalogue in the person's words."""
    _, under = fleet
    said = await under.say("help")
    assert "**select all**: Select every listed device" in said
    assert "Give one device another name; its id stays the same: Select exactly one device." in said
    assert said == await under.say("what can you do?")


async def test_every_suggestion_is_understood_and_does_what_its_tool_does(fleet: Fleet) -> None:
    """Nothing is offered that would be refused."""
    app, under = fleet
    app.selected = ["MIL-001"]
    under.toolset.refresh()
    suggestions = under.session.suggestions()
    assert "select all" in suggestions
    for suggestion in suggestions:
        if suggestion == "help":
            continue
        app.selected = ["MIL-001"]
        said = await under.say(suggestion)
        assert said.startswith("Done") or "\n" in said.strip(), (suggestion, said)
        last = [entry for entry in under.session.transcript if isinstance(entry, ToolCall)][-1]
        assert last.status == "done", suggestion


async def test_completion_finishes_commands_steps_and_words(fleet: Fleet) -> None:
    """From the catalogue, and from what was seen before."""
    app, under = fleet
    assert "show offline devices" in under.session.complete("show off")
    assert "select all then go to notes" in under.session.complete("select all then go to n")
    assert under.session.complete("zzz") == ()
    await under.say("show devices in Rome")
    assert "show online devices in Milan" in under.session.complete("show online devices in Mi")
    app.selected = []
    under.toolset.refresh()
    assert not any(text.startswith("disable") for text in under.session.complete("dis"))


@pytest.mark.requirement("QT-DOCK-003", "AS-CONFIRM-011")
async def test_stop_while_the_registry_waits_for_the_person_withdraws_and_goes_no_further(fleet: Fleet) -> None:
    """The same promise over the real registry: no dialog is left, a late yes does nothing, no next step begins."""
    app, under = fleet
    app.selected = ["MIL-001"]
    assert under.session.send("disable them then go to notes")
    for _ in range(100):
        if under.session.state is SessionState.WAITING_FOR_PERSON:
            break
        await asyncio.sleep(0)
    (pending,) = app.registry.confirmations.pending()
    assert under.session.stop()
    await asyncio.sleep(0)
    assert under.session.state is SessionState.IDLE
    for _ in range(5):
        await asyncio.sleep(0)
    assert app.registry.confirmations.pending() == ()
    assert not app.registry.confirmations.resolve(pending.confirmation_id, approved=True)
    assert (app.pages, app.rows["MIL-001"].status) == ([], "online")


async def test_a_window_that_moves_between_look_and_call_is_looked_at_again(fleet: Fleet) -> None:
    """Nothing was begun, and the person has just said so of what they see; they are asked all the same."""
    app, under = fleet
    app.selected = ["ROM-001"]
    moves = 0

    def move_once(event: SessionEvent) -> None:
        nonlocal moves
        if isinstance(event, ToolCallStarted) and not moves:
            moves += 1
            app.registry.policies_changed()

    under.session.subscribe(move_once)
    said = await under.say("disable them")
    assert said.startswith("Done:")
    assert under.asked == [DISABLE]
    assert app.rows["ROM-001"].status == "disabled"
    first, second = (entry for entry in under.session.transcript if isinstance(entry, ToolCall))
    assert isinstance(first.result, InvocationError)
    assert first.result.error.code is ErrorCode.STALE_CAPABILITY
    assert isinstance(second.result, InvocationOk)


async def test_a_window_that_never_rests_ends_in_a_sentence_for_the_person(fleet: Fleet) -> None:
    """Not in what a model would be told; and nothing was done."""
    app, under = fleet
    app.selected = ["ROM-001"]
    moving = asyncio.create_task(_move_without_end(app))
    said = await under.say("disable them")
    moving.cancel()
    assert "The window changed in that moment." in said
    assert (under.asked, app.rows["ROM-001"].status) == ([], "offline")
    assert len([entry for entry in under.session.transcript if isinstance(entry, ToolCall)]) == 2


async def _move_without_end(app: FleetApp) -> None:
    while True:
        app.registry.policies_changed()
        await asyncio.sleep(0)
