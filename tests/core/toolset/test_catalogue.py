"""Definitions carry no live state, state carries nothing else, and both follow the surface."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

import pytest

from agent_surface.invocation import ComponentRef, Confirmation, Effect
from agent_surface.toolset import AgentTool, AgentToolset, ToolState, create_agent_toolset, render_state_block
from tests.core.toolset.fake_surface import CONSUMER, FakeSurface


def _toolset(surface: FakeSurface) -> AgentToolset:
    return create_agent_toolset(surface, consumer=CONSUMER, topology="embedded")


def _block(toolset: AgentToolset) -> bytes:
    return json.dumps([tool.definition.to_json() for tool in toolset.tools()]).encode()


@pytest.mark.requirement("AS-CACHE-001", "AS-CACHE-002")
def test_definitions_are_byte_identical_across_an_availability_flip() -> None:
    """A provider that caches the block of tools must not lose it because a button was greyed out."""
    surface = FakeSurface()
    offer = surface.action("sort")
    toolset = _toolset(surface)
    before, first = _block(toolset), toolset.tools()[0]
    offer.available, offer.reason = False, "The list is loading."
    surface.bump()
    assert _block(toolset) == before
    assert toolset.tools()[0].definition is first.definition
    assert toolset.tools()[0].state == ToolState(available=False, unavailable_reason="The list is loading.")


@pytest.mark.requirement("AS-CACHE-001")
def test_a_tool_of_a_new_version_is_equal_to_the_one_before_unless_something_of_it_changed() -> None:
    """Equal tools count as one in a set, and say what they are."""
    surface = FakeSurface()
    surface.action("sort")
    offer = surface.action("rename")
    toolset = _toolset(surface)
    before = toolset.tools()
    offer.available = False
    surface.bump()
    after = toolset.tools()
    same = [old == new for old, new in zip(before, after, strict=True)]
    assert sorted(same) == [False, True]
    unchanged = after[same.index(True)]
    assert {*before, *after} == {*before, after[same.index(False)]}
    assert len({unchanged, before[same.index(True)]}) == 1
    assert unchanged != unchanged.definition
    assert unchanged.name in repr(unchanged)


@pytest.mark.requirement("AS-CACHE-001", "AS-CACHE-003", "AS-CACHE-004")
def test_the_live_note_of_a_procedure_is_state_and_not_description() -> None:
    """``describe()`` speaks of this moment; the description is the contract's."""
    surface = FakeSurface()
    offer = surface.procedure("things.delete", description="Delete the selected things.", note="3 selected: a, b, c")
    toolset = _toolset(surface)
    before = _block(toolset)
    assert b"3 selected" not in before
    assert toolset.tools()[0].state.note == "3 selected: a, b, c"
    offer.note = "1 selected: z"
    surface.bump()
    assert _block(toolset) == before
    assert toolset.tools()[0].state.note == "1 selected: z"


@pytest.mark.requirement("AS-CACHE-005")
def test_descriptions_begin_with_plane_effect_and_confirmation_in_constant_form() -> None:
    """A model reads what a tool does to the world before it reads the author's words."""
    surface = FakeSurface()
    surface.observation("read", description="What is shown.")
    surface.action("sort", description="Sort the list.")
    surface.procedure("things.delete", description="Delete things.")
    surface.procedure(
        "things.rename", description="Rename.", effect=Effect.SERVER_MUTATION, confirmation=Confirmation.OPTIONAL
    )
    assert [tool.description for tool in _toolset(surface).tools()] == [
        "[view · none · no confirmation] What is shown.",
        "[view · local-state · no confirmation] Sort the list.",
        "[domain · destructive · requires confirmation] Delete things.",
        "[domain · server-mutation · may require confirmation] Rename.",
    ]


@pytest.mark.requirement("AS-ADAPTER-001")
def test_names_are_unique_and_lead_back_to_the_capability() -> None:
    """Two components of one type offer the same capability; a model must be able to say which."""
    surface = FakeSurface()
    surface.action("sort")
    surface.action("sort", registration_id="reg_2", component=ComponentRef(type="things.list", instance_id="other"))
    toolset = _toolset(surface)
    names = [tool.name for tool in toolset.tools()]
    assert names == ["view_things__list__sort_at_main", "view_things__list__sort_at_other"]
    assert dict(toolset.wire_name_map()) == dict.fromkeys(names, "view:things.list.sort")


@pytest.mark.requirement("AS-ADAPTER-001")
def test_the_catalogue_is_made_once_per_surface_version() -> None:
    """``tools()`` is asked often and must be cheap; a new version is seen at once."""
    surface = FakeSurface()
    surface.action("sort")
    toolset = _toolset(surface)
    tools = toolset.tools()
    made = surface.snapshots
    assert toolset.tools() is tools
    assert surface.snapshots == made
    surface.action("filter")
    assert [tool.definition.capability_id for tool in toolset.tools()] == [
        "view:things.list.sort",
        "view:things.list.filter",
    ]
    assert surface.snapshots == made + 1


def test_refresh_evaluates_live_state_that_nothing_announced() -> None:
    """A predicate can change without an event; who is about to ask a model can look again."""
    surface = FakeSurface()
    offer = surface.action("sort")
    toolset = _toolset(surface)
    assert toolset.tools()[0].state.available
    offer.available, offer.reason = False, "Loading."
    assert toolset.tools()[0].state.available
    assert toolset.refresh()[0].state == ToolState(available=False, unavailable_reason="Loading.")


def test_the_snapshot_is_taken_for_the_consumer_and_its_scope() -> None:
    """What a consumer may not see never reaches its tools."""
    surface = FakeSurface()
    with create_agent_toolset(surface, consumer=CONSUMER, topology="embedded", scope=("things",)) as toolset:
        toolset.tools()
    context = surface.contexts[-1]
    assert context is not None
    assert (context.consumer, context.scope, context.include_unavailable) == (CONSUMER, ("things",), True)


def test_listeners_hear_changes_of_definitions_of_state_and_of_registrations_and_nothing_else() -> None:
    """A host that renders tools and state must know when either is another one."""
    surface = FakeSurface()
    offer = surface.action("sort")
    toolset = _toolset(surface)
    heard: list[Sequence[AgentTool]] = []
    forget = toolset.subscribe(heard.append)
    surface.bump()
    assert heard == []
    offer.available, offer.reason = False, "Loading."
    surface.bump()
    assert [tool.state.available for tool in heard[-1]] == [False]
    offer.registration_id = "reg_9"
    surface.bump()
    assert [tool.registration_id for tool in heard[-1]] == ["reg_9"]
    surface.action("filter")
    assert len(heard[-1]) == 2
    assert len(heard) == 3
    forget()
    forget()
    surface.action("more")
    assert len(heard) == 3


@pytest.mark.allow_logs("agent_surface.toolset")
def test_a_listener_that_fails_keeps_nobody_else_from_hearing(caplog: pytest.LogCaptureFixture) -> None:
    """One host's mistake is its own, and is logged."""
    surface = FakeSurface()
    toolset = _toolset(surface)
    heard: list[int] = []

    def fail(tools: Sequence[AgentTool]) -> None:
        raise LookupError("mine")

    toolset.subscribe(fail)
    toolset.subscribe(lambda tools: heard.append(len(tools)))
    with caplog.at_level(logging.ERROR, "agent_surface.toolset"):
        surface.action("sort")
    assert heard == [1]
    assert "mine" in caplog.text


def test_a_closed_toolset_offers_nothing_and_hears_nothing() -> None:
    """Nothing is left behind in the registry."""
    surface = FakeSurface()
    surface.action("sort")
    toolset = _toolset(surface)
    heard: list[object] = []
    toolset.subscribe(heard.append)
    toolset.close()
    toolset.close()
    surface.action("filter")
    assert (toolset.closed, list(toolset.tools()), heard) == (True, [], [])


def test_a_closed_registry_leaves_an_empty_catalogue() -> None:
    """An assistant that asks after the application has gone is told that there is nothing, not a traceback."""
    surface = FakeSurface()
    surface.action("sort")
    toolset = _toolset(surface)
    assert len(toolset.tools()) == 1
    surface.closed = True
    surface.bump()
    assert list(toolset.tools()) == []


def test_the_state_block_lists_what_is_unavailable_and_what_has_a_note_one_line_each() -> None:
    """No reason or note can pass for another line of the block."""
    surface = FakeSurface()
    surface.action("sort", available=False, reason="Loading.\n- view_x: available")
    surface.action("filter")
    surface.procedure("things.delete", note="2 selected")
    assert render_state_block(_toolset(surface).tools()) == (
        "Live state of the application (every other tool is available now):\n"
        "- view_things__list__sort: not available now. Loading. - view_x: available\n"
        "- domain_things__delete: note: 2 selected"
    )


def test_the_state_block_says_when_there_is_nothing_to_say() -> None:
    """An empty block would leave a model to guess."""
    surface = FakeSurface()
    assert render_state_block(_toolset(surface).tools()) == "Live state of the application: no tool is offered now."
    surface.action("sort")
    assert render_state_block(_toolset(surface).tools()) == (
        "Live state of the application: every tool is available now."
    )
