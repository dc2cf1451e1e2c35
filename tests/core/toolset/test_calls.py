"""A tool's call: what is sent, who waits for the person, and that nothing is ever raised."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import pytest

from agent_surface import _failures
from agent_surface._base._json import JsonValue
from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface.confirmations import ConfirmationOutcome
from agent_surface.errors import AgentSurfaceDefectError, ErrorCode
from agent_surface.invocation import AgentInvocationResult, InvocationError, InvocationOk
from agent_surface.toolset import (
    AgentTool,
    AgentToolset,
    ConfirmationWait,
    ToolCallCancelledError,
    create_agent_toolset,
)
from tests.core.toolset.fake_surface import CONSUMER, FakeSurface


def _waiting_toolset(surface: FakeSurface) -> AgentToolset:
    return create_agent_toolset(surface, consumer=CONSUMER, topology="embedded")


def _two_phase_toolset(surface: FakeSurface) -> AgentToolset:
    return create_agent_toolset(surface, consumer=CONSUMER, topology="remote")


def _code(result: AgentInvocationResult) -> tuple[ErrorCode, object]:
    assert isinstance(result, InvocationError), result
    return result.error.code, result.error.details.get("reason")


def _confirmation_id(result: AgentInvocationResult) -> str:
    assert isinstance(result, InvocationError), result
    found = result.error.details["confirmationId"]
    assert isinstance(found, str)
    return found


async def _until(condition: Callable[[], object]) -> None:
    for _ in range(50):
        if condition():
            return
        await asyncio.sleep(0)
    pytest.fail("what the test waits for did not happen")


def _only(toolset: AgentToolset) -> AgentTool:
    (tool,) = toolset.tools()
    return tool


@pytest.mark.requirement("AS-ADAPTER-001")
async def test_a_call_names_registration_version_and_the_providers_call_id() -> None:
    """So the registry notices what moved, and a repetition by the transport joins instead of running twice."""
    surface = FakeSurface()
    surface.action("sort")
    await _only(_waiting_toolset(surface)).execute({"by": "name"}, tool_call_id="toolu_1")
    (call,) = surface.calls
    assert (call.capability_id, call.input, call.invocation_id) == ("view:things.list.sort", {"by": "name"}, "toolu_1")
    assert (call.registration_id, call.surface_version) == ("reg_1", surface.version)
    assert surface.consumers == [CONSUMER]


@pytest.mark.requirement("AS-ADAPTER-001", "AS-STALE-002")
async def test_a_tool_of_an_earlier_catalogue_names_the_version_it_was_shown_with() -> None:
    """Also when it did not change itself: the model that calls it has not seen what did."""
    surface = FakeSurface()
    surface.action("sort")
    toolset = _waiting_toolset(surface)
    earlier, shown = _only(toolset), surface.version
    surface.action("filter")
    later = toolset.tools()[0]
    assert later.definition is earlier.definition
    await earlier.execute({})
    await later.execute({})
    assert [call.surface_version for call in surface.calls] == [shown, surface.version]
    assert shown != surface.version


@pytest.mark.requirement("AS-ADAPTER-001")
async def test_a_call_id_longer_than_a_registry_takes_becomes_a_digest_that_is_always_the_same() -> None:
    """Idempotency survives providers with very long ids."""
    surface = FakeSurface()
    surface.action("sort")
    tool = _only(_waiting_toolset(surface))
    for _ in range(2):
        await tool.execute({}, tool_call_id="x" * 500)
    await tool.execute({}, tool_call_id="x" * 501)
    ids = [call.invocation_id for call in surface.calls]
    assert ids[0] == ids[1] != ids[2]
    assert all(found is not None and len(found) <= 128 for found in ids)


@pytest.mark.requirement("AS-ADAPTER-002")
async def test_results_are_relayed_as_they_are() -> None:
    """Output, error details and hints reach the host without loss."""
    surface = FakeSurface()
    output: JsonValue = {"rows": [{"id": 1, "name": "ä"}], "total": 2.5, "more": None}
    surface.observation("read", lambda value: output)
    toolset = _waiting_toolset(surface)
    result = await _only(toolset).execute()
    assert result.to_json()["output"] == output

    def refuse(value: dict[str, JsonValue]) -> object:
        raise _failures.precondition_failed("Select something first.", {"selected": 0})

    surface.offers[0].handler = refuse
    result = await _only(toolset).execute()
    assert result.to_json()["error"] == {
        "code": "PRECONDITION_FAILED",
        "message": "Select something first.",
        "retry": "with-changes",
        "details": {"selected": 0},
    }


async def test_a_tool_whose_component_is_gone_can_still_be_found_and_answers_with_the_registrys_reason() -> None:
    """A model that plans with an older catalogue learns what happened instead of "no such tool"."""
    surface = FakeSurface()
    offer = surface.action("sort")
    toolset = _waiting_toolset(surface)
    name = _only(toolset).name
    surface.remove(offer)
    assert list(toolset.tools()) == []
    gone = toolset.find_tool(name)
    assert gone is not None
    result = await gone.execute({})
    assert isinstance(result, InvocationError)
    assert (result.error.code, result.error.details["phase"]) == (ErrorCode.COMPONENT_UNMOUNTED, "resolve")
    assert toolset.find_tool("view_nobody__knows") is None


# Waiting for the person.


async def test_a_wait_call_goes_on_by_itself_once_the_person_has_approved() -> None:
    """The model sees one call and one result."""
    surface = FakeSurface()
    surface.procedure("things.delete", lambda value: {"deleted": value["id"]})
    waits: list[ConfirmationWait] = []
    task = asyncio.create_task(
        _only(_waiting_toolset(surface)).execute({"id": "a"}, tool_call_id="c1", on_wait=waits.append)
    )
    await _until(lambda: waits)
    (confirmation_id,) = surface.pending_ids()
    assert waits == [ConfirmationWait(confirmation_id=confirmation_id)]
    surface.answer(approved=True)
    result = await task
    assert isinstance(result, InvocationOk)
    assert result.output == {"deleted": "a"}
    assert waits[1:] == [ConfirmationWait(confirmation_id=confirmation_id, outcome=ConfirmationOutcome.APPROVED)]
    assert [(call.invocation_id, call.confirmation_id) for call in surface.calls] == [
        ("c1", None),
        ("c1", confirmation_id),
    ]


async def test_a_call_without_an_id_of_its_own_keeps_the_one_the_registry_gave_it() -> None:
    """One call has one identity, also over the person's answer."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    task = asyncio.create_task(_only(_waiting_toolset(surface)).execute({}))
    await _until(surface.pending_ids)
    surface.answer(approved=True)
    await task
    assert [call.invocation_id for call in surface.calls] == [None, "inv_1"]


@pytest.mark.requirement("AS-CONFIRM-006", "AS-CONFIRM-009")
async def test_a_denial_comes_back_with_the_persons_words_and_is_not_tried_again() -> None:
    """No means no: the adapter opens no second request."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    task = asyncio.create_task(_only(_waiting_toolset(surface)).execute({}))
    await _until(surface.pending_ids)
    surface.answer(approved=False, note="Only the broken ones.")
    result = await task
    assert isinstance(result, InvocationError)
    assert dict(result.error.details) == {"reason": "denied", "note": "Only the broken ones."}
    assert surface.pending_ids() == []
    assert len(surface.calls) == 2


@pytest.mark.requirement("AS-CONFIRM-009")
async def test_a_denial_reaches_the_model_even_when_the_component_went_meanwhile() -> None:
    """Otherwise the model would be told to look again, and would ask a second time."""
    surface = FakeSurface()
    offer = surface.procedure("things.delete")
    task = asyncio.create_task(_only(_waiting_toolset(surface)).execute({}))
    await _until(surface.pending_ids)
    surface.answer(approved=False, note="Stop.")
    surface.remove(offer)
    result = await task
    assert isinstance(result, InvocationError)
    assert dict(result.error.details) == {"reason": "denied", "note": "Stop."}


@pytest.mark.requirement("AS-CONFIRM-006")
async def test_an_expired_request_ends_the_call_and_the_next_equal_call_starts_a_new_cycle() -> None:
    """Nobody said no, so asking again is allowed; it is a new request."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    tool = _only(_waiting_toolset(surface))
    task = asyncio.create_task(tool.execute({}))
    await _until(surface.pending_ids)
    (first,) = surface.pending_ids()
    surface.clock.advance(120_000)
    assert _code(await task) == (ErrorCode.CONFIRMATION_INVALID, "expired")
    task = asyncio.create_task(tool.execute({}))
    await _until(surface.pending_ids)
    assert surface.pending_ids() != [first]
    surface.answer(approved=True)
    assert (await task).status == "ok"


@pytest.mark.requirement("AS-CONFIRM-006")
async def test_an_approval_that_was_not_used_is_presented_by_the_next_equal_call() -> None:
    """The person is not asked twice because a queue was full."""
    surface = FakeSurface()
    surface.procedure("things.delete", lambda value: {"done": True})

    def full() -> None:
        raise _failures.rate_limited("queue-full", 100)

    surface.admit = full
    tool = _only(_waiting_toolset(surface))
    task = asyncio.create_task(tool.execute({"id": 1}))
    await _until(surface.pending_ids)
    surface.answer(approved=True)
    assert _code(await task) == (ErrorCode.RATE_LIMITED, "queue-full")
    surface.admit = lambda: None
    assert (await tool.execute({"id": 1.0})).status == "ok"
    assert surface.pending_ids() == []


@pytest.mark.requirement("AS-CONFIRM-011")
async def test_the_last_waiter_that_goes_withdraws_the_request() -> None:
    """A dialog nobody waits for must not stay open, and a late yes must do nothing."""
    surface = FakeSurface()
    runs: list[object] = []
    surface.procedure("things.delete", runs.append)
    tool = _only(_waiting_toolset(surface))
    first, second = asyncio.create_task(tool.execute({})), asyncio.create_task(tool.execute({}))
    await _until(lambda: len(surface.calls) == 2)
    await asyncio.sleep(0)
    (confirmation_id,) = surface.pending_ids()
    first.cancel()
    await asyncio.wait({first})
    assert surface.pending_ids() == [confirmation_id]
    second.cancel()
    await asyncio.wait({second})
    assert surface.pending_ids() == []
    assert not surface.confirmations.resolve(confirmation_id, approved=True)
    resolution = surface.confirmations.resolution(confirmation_id)
    assert resolution is not None
    assert (resolution.outcome, resolution.actor, runs) == (ConfirmationOutcome.EXPIRED, "withdrawn", [])


@pytest.mark.requirement("AS-CONFIRM-011")
@pytest.mark.parametrize("leave", ["stop", "close"])
async def test_a_request_that_two_toolsets_share_lives_as_long_as_one_of_them_waits(leave: str) -> None:
    """Equal calls of one consumer are one question; the window that closes does not speak for the other one."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    going, staying = _waiting_toolset(surface), _waiting_toolset(surface)
    first, second = asyncio.create_task(_only(going).execute({})), asyncio.create_task(_only(staying).execute({}))
    await _until(lambda: len(surface.calls) == 2)
    await asyncio.sleep(0)
    (confirmation_id,) = surface.pending_ids()
    if leave == "stop":
        first.cancel()
    else:
        going.close()
    await asyncio.wait({first})
    assert surface.pending_ids() == [confirmation_id]
    surface.answer(approved=True)
    assert (await second).status == "ok"


@pytest.mark.requirement("AS-CONFIRM-011")
async def test_a_request_that_is_remembered_and_waited_for_ends_with_the_last_of_the_two() -> None:
    """A model that will repeat itself counts on the person as much as one that waits."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    remembering, waiting = _two_phase_toolset(surface), _waiting_toolset(surface)
    confirmation_id = _confirmation_id(await _only(remembering).execute({}))
    task = asyncio.create_task(_only(waiting).execute({}))
    await _until(lambda: len(surface.calls) == 2)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert surface.pending_ids() == [confirmation_id]
    assert _confirmation_id(await _only(remembering).execute({})) == confirmation_id
    remembering.close()
    assert surface.pending_ids() == []


@pytest.mark.requirement("AS-CONFIRM-011")
async def test_a_call_that_comes_to_a_request_while_it_is_given_up_asks_anew() -> None:
    """Between the registry's answer and the wait for it there is a turn; nobody has said no in it."""
    for turns in range(6):
        surface = FakeSurface()
        surface.procedure("things.delete")
        leaver = asyncio.create_task(_only(_waiting_toolset(surface)).execute({}))
        await _until(surface.pending_ids)
        await asyncio.sleep(0)
        comer = asyncio.create_task(_only(_waiting_toolset(surface)).execute({}))
        for _ in range(turns):
            await asyncio.sleep(0)
        leaver.cancel()
        await asyncio.wait({leaver})
        await _until(surface.pending_ids)
        await asyncio.sleep(0)
        surface.answer(approved=True)
        result = await comer
        assert result.status == "ok", f"given up after {turns} turns: {result}"


@pytest.mark.requirement("AS-CONFIRM-011")
async def test_a_call_cancelled_in_the_turn_in_which_its_request_was_made_withdraws_it_too() -> None:
    """There is no moment in which a request can be left without anybody who waits."""
    for turns in range(6):
        surface = FakeSurface()
        surface.procedure("things.delete")
        task = asyncio.create_task(_only(_waiting_toolset(surface)).execute({}))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        await asyncio.sleep(0)
        assert task.cancelled()
        assert surface.pending_ids() == [], f"cancelled after {turns} turns"


@pytest.mark.requirement("AS-TOPO-003", "AS-CONFIRM-011")
async def test_closing_settles_waits_at_once_and_withdraws_what_was_asked() -> None:
    """A host that shuts the assistant down does not wait two minutes for a dialog."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    toolset = _waiting_toolset(surface)
    task = asyncio.create_task(_only(toolset).execute({}))
    await _until(surface.pending_ids)
    toolset.close()
    result = await task
    assert isinstance(result, InvocationError)
    assert (result.error.code, result.error.retry.value) == (ErrorCode.CANCELLED, "no")
    assert surface.pending_ids() == []


@pytest.mark.requirement("AS-TOPO-003")
async def test_a_call_that_reaches_the_person_only_after_closing_does_not_wait() -> None:
    """Closing is final, also for what was on its way."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    toolset = _waiting_toolset(surface)
    tool = _only(toolset)
    task = asyncio.create_task(tool.execute({}))
    await asyncio.sleep(0)
    toolset.close()
    assert _code(await task)[0] is ErrorCode.CANCELLED
    assert surface.pending_ids() == []
    assert _code(await tool.execute({}))[0] is ErrorCode.CANCELLED


# Two-phase.


@pytest.mark.requirement("AS-TOPO-004", "AS-CONFIRM-006")
async def test_two_phase_attaches_the_remembered_request_to_an_equal_call_and_to_no_other() -> None:
    """A model retries by repeating itself; what it says differently is another question."""
    surface = FakeSurface()
    surface.procedure("things.delete", lambda value: {"deleted": value["id"]})
    surface.procedure("things.purge")
    toolset = _two_phase_toolset(surface)
    delete, purge = toolset.tools()
    first = _confirmation_id(await delete.execute({"id": 1, "hard": False}))
    assert _confirmation_id(await delete.execute({"hard": False, "id": 1.0})) == first
    other = _confirmation_id(await delete.execute({"id": 2, "hard": False}))
    purged = _confirmation_id(await purge.execute({"id": 1, "hard": False}))
    assert len({first, other, purged}) == 3
    surface.confirmations.resolve(first, approved=True)
    result = await delete.execute({"id": 1, "hard": False})
    assert isinstance(result, InvocationOk)
    assert result.output == {"deleted": 1}
    assert [call.confirmation_id for call in surface.calls] == [None, first, None, None, first]


@pytest.mark.requirement("AS-TOPO-004")
async def test_two_phase_uses_an_approval_once() -> None:
    """The call after that is a new question."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    tool = _only(_two_phase_toolset(surface))
    first = _confirmation_id(await tool.execute({}))
    surface.answer(approved=True)
    assert (await tool.execute({})).status == "ok"
    assert _confirmation_id(await tool.execute({})) != first


@pytest.mark.requirement("AS-CONFIRM-006", "AS-CONFIRM-009")
async def test_two_phase_tells_a_denial_with_its_note_and_then_forgets_it() -> None:
    """The model is told no once; the registry decides about a later question."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    tool = _only(_two_phase_toolset(surface))
    first = _confirmation_id(await tool.execute({}))
    surface.answer(approved=False, note="Not today.")
    result = await tool.execute({})
    assert isinstance(result, InvocationError)
    assert dict(result.error.details) == {"reason": "denied", "note": "Not today."}
    assert first not in surface.pending_ids()


@pytest.mark.requirement("AS-CONFIRM-011")
async def test_closing_a_two_phase_toolset_withdraws_what_it_remembers() -> None:
    """Nobody is left who could present an answer."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    toolset = _two_phase_toolset(surface)
    await _only(toolset).execute({})
    assert len(surface.pending_ids()) == 1
    toolset.close()
    assert surface.pending_ids() == []


# Nothing is raised.


async def test_a_closed_registry_is_a_typed_result() -> None:
    """``execute`` never raises, whatever the moment."""
    surface = FakeSurface()
    surface.action("sort")
    tool = _only(_waiting_toolset(surface))
    surface.closed = True
    result = await tool.execute({}, tool_call_id="c9")
    assert isinstance(result, InvocationError)
    assert (result.error.code, result.error.retry.value, result.invocation_id) == (ErrorCode.CANCELLED, "no", "c9")


@pytest.mark.allow_logs("agent_surface.toolset")
@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (AgentSurfaceDefectError("no JSON"), (ErrorCode.EXECUTION_FAILED, "output-invalid")),
        (LookupError("secret path"), (ErrorCode.EXECUTION_FAILED, "handler-error")),
    ],
)
async def test_what_the_registry_raises_becomes_a_result_without_its_text(
    raised: Exception, expected: tuple[ErrorCode, str], caplog: pytest.LogCaptureFixture
) -> None:
    """A defect is its author's to read in the log, never the model's."""
    surface = FakeSurface()

    def fail(value: dict[str, JsonValue]) -> object:
        raise raised

    surface.action("sort", fail)
    with caplog.at_level(logging.ERROR, "agent_surface.toolset"):
        result = await _only(_waiting_toolset(surface)).execute({})
    assert _code(result) == expected
    assert str(raised) not in str(result.to_json())


async def test_cancelling_after_the_call_has_settled_hands_the_result_on_with_the_cancellation() -> None:
    """A handler that holds the thread ends before its Stop is seen; what it did is not lost."""
    surface = FakeSurface()
    surface.action("sort", lambda value: {"sorted": True})
    seen: list[AgentInvocationResult] = []

    async def watch() -> None:
        try:
            await _only(_waiting_toolset(surface)).execute({})
        except ToolCallCancelledError as cancelled:
            seen.append(cancelled.result)
            raise

    task = asyncio.create_task(watch())
    await _until(lambda: surface.calls)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert [result.status for result in seen] == ["ok"]


async def test_cancelling_after_a_request_was_made_leaves_it_pending_in_two_phase_mode() -> None:
    """Nobody waits for it there, and the next equal call goes on with it."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    tool = _only(_two_phase_toolset(surface))
    task = asyncio.create_task(tool.execute({}))
    await _until(lambda: surface.calls)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    (confirmation_id,) = surface.pending_ids()
    assert _confirmation_id(await tool.execute({})) == confirmation_id


@pytest.mark.requirement("AS-TOPO-003")
async def test_closing_in_the_turn_of_the_answer_does_not_take_the_answer_back() -> None:
    """The person has spoken; what they allowed is done."""
    surface = FakeSurface()
    surface.procedure("things.delete", lambda value: {"done": True})
    toolset = _waiting_toolset(surface)
    task = asyncio.create_task(_only(toolset).execute({}))
    await _until(surface.pending_ids)
    await asyncio.sleep(0)
    surface.answer(approved=True)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    toolset.close()
    assert (await task).status == "ok"


@pytest.mark.requirement("AS-TOPO-003", "AS-CONFIRM-011")
async def test_a_request_that_comes_back_to_a_closed_two_phase_toolset_is_withdrawn() -> None:
    """It was on its way when the toolset was closed, and nobody can present an answer any more."""
    surface = FakeSurface()
    surface.procedure("things.delete")
    toolset = _two_phase_toolset(surface)
    task = asyncio.create_task(_only(toolset).execute({}))
    await _until(lambda: surface.calls)
    toolset.close()
    await task
    assert surface.pending_ids() == []


async def test_a_listener_of_a_wait_that_fails_does_not_end_the_wait(expected_logs: list[logging.LogRecord]) -> None:
    """It is the host's own; the call goes on."""
    surface = FakeSurface()
    surface.procedure("things.delete")

    def fail(wait: ConfirmationWait) -> None:
        raise LookupError(wait.confirmation_id)

    task = asyncio.create_task(_only(_waiting_toolset(surface)).execute({}, on_wait=fail))
    await _until(surface.pending_ids)
    surface.answer(approved=True)
    assert (await task).status == "ok"
    assert len(expected_logs) == 2


async def test_a_defect_with_its_settled_result_comes_back_as_that_result() -> None:
    """The model gets what the registry has settled the call with, whatever the environment."""
    surface = FakeSurface()
    settled = InvocationError(
        invocation_id="i-1",
        capability_id="view:things.list.sort",
        surface_version="1",
        error=_failures.execution_failed("output-invalid").payload,
    )

    def fail(value: dict[str, JsonValue]) -> object:
        defect = AgentSurfaceDefectError("no JSON")
        defect.result = settled
        raise defect

    surface.action("sort", fail)
    assert await _only(_waiting_toolset(surface)).execute({}) is settled


def test_a_tool_and_its_toolset_say_whose_they_are_and_what_they_take() -> None:
    """What an adapter shows a model comes from the definition."""
    surface = FakeSurface()
    surface.action("sort", input_schema={"type": "object", "properties": {}})
    toolset = _waiting_toolset(surface)
    tool = _only(toolset)
    assert toolset.consumer == CONSUMER
    assert tool.input_schema == tool.definition.input_schema == {"type": "object", "properties": {}}


@pytest.mark.requirement("AS-CONFIRM-006")
async def test_a_remembered_approval_that_has_expired_begins_a_new_question_in_the_same_call() -> None:
    """Nobody said no, so the model is not sent away with an evidence it never saw."""
    surface = FakeSurface()
    surface.procedure("things.delete", lambda value: {"done": True})

    def full() -> None:
        raise _failures.rate_limited("queue-full", 100)

    surface.admit = full
    tool = _only(_waiting_toolset(surface))
    task = asyncio.create_task(tool.execute({}))
    await _until(surface.pending_ids)
    surface.answer(approved=True)
    assert _code(await task) == (ErrorCode.RATE_LIMITED, "queue-full")
    surface.admit = lambda: None
    surface.clock.advance(120_000)
    task = asyncio.create_task(tool.execute({}))
    await _until(surface.pending_ids)
    surface.answer(approved=True)
    assert (await task).status == "ok"


@pytest.mark.requirement("AS-CONFIRM-011")
async def test_requests_are_remembered_within_a_bound_and_the_forgotten_one_is_withdrawn() -> None:
    """What nobody can present any more must not wait for the person."""
    surface = FakeSurface(limits=AgentSurfaceLimits(max_pending_confirmations=1_000))
    surface.procedure("things.delete")
    tool = _only(_two_phase_toolset(surface))
    first = _confirmation_id(await tool.execute({"n": 0}))
    for number in range(1, 100):
        await tool.execute({"n": number})
    assert first not in surface.pending_ids()
    assert len(surface.pending_ids()) < 100


async def test_tools_that_left_are_kept_within_a_bound() -> None:
    """A surface that comes and goes for a week leaves a toolset of the same size."""
    surface = FakeSurface()
    toolset = _waiting_toolset(surface)
    for number in range(400):
        surface.offers.clear()
        surface.action(f"sort{number}")
        toolset.tools()
    found = [toolset.find_tool(f"view_things__list__sort{number}") is not None for number in range(400)]
    assert not found[0]
    assert all(found[-100:])
    assert sum(found) < 300
