"""Tools over the real registry: what the small one of the other tests stands for holds here too."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import pytest

from agent_surface._base._json import JsonValue
from agent_surface._failures import capability_error
from agent_surface.confirmations import ConfirmationOutcome
from agent_surface.contracts import (
    AgentProcedureContract,
    action_contract,
    bind_procedure,
    define_agent_component_contract,
    define_agent_procedure_contract,
    observation_contract,
)
from agent_surface.errors import ErrorCode
from agent_surface.invocation import AgentConsumer, ConsumerKind, InvocationError, InvocationOk
from agent_surface.procedures import ServiceExecutor
from agent_surface.registry import AgentSurfaceRegistry, create_agent_surface_registry
from agent_surface.schemas import from_json_schema
from agent_surface.testing import ManualClock, contract_authority
from agent_surface.toolset import AgentTool, AgentToolset, InvokableSurface, create_agent_toolset

CONSUMER = AgentConsumer(id="assistant", kind=ConsumerKind.TEST)

_OBJECT: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"n": {"type": "number"}},
    "additionalProperties": False,
}
_SCHEMA = from_json_schema(_OBJECT)

COUNTER = define_agent_component_contract(
    type="app.counter",
    description="A counter",
    observations={"read": observation_contract(description="The count", output=_SCHEMA)},
    actions={"add": action_contract(description="Add to the count", input=_SCHEMA, effect="local-state")},
)
RESET: AgentProcedureContract[JsonValue, None] = define_agent_procedure_contract(
    id="domain:counter.reset", description="Set the count", input=_SCHEMA, effect="destructive"
)

READ, ADD, SET = "view_app__counter__read", "view_app__counter__add", "domain_counter__reset"


class _Counter:
    """A counter behind a real registry."""

    def __init__(self) -> None:
        self.count = 0.0
        self.locked = False
        self.clock = ManualClock()
        self.registry: AgentSurfaceRegistry = create_agent_surface_registry(
            authority=contract_authority(COUNTER, RESET),
            environment="development",
            clock=self.clock,
            procedures=ServiceExecutor({"counter.reset": self._reset}),
        )
        self.handle = self.registry.register(
            COUNTER.bind(
                observations={"read": lambda: {"n": self.count}},
                actions={"add": self._add},
                procedures=[
                    bind_procedure(
                        RESET,
                        when=lambda: not self.locked,
                        unavailable_reason="The counter is locked.",
                        describe=lambda: f"It stands at {self.count:g}.",
                    )
                ],
            )
        )

    def toolset(self, topology: str = "embedded") -> AgentToolset:
        surface: InvokableSurface = self.registry
        return create_agent_toolset(
            surface, consumer=CONSUMER, confirmations="wait" if topology == "embedded" else "two-phase"
        )

    def pending(self) -> list[str]:
        return [pending.confirmation_id for pending in self.registry.confirmations.pending()]

    def _add(self, value: dict[str, float]) -> None:
        self.count += value["n"]

    def _reset(self, n: float) -> None:
        self.count = n


@pytest.fixture
async def counter() -> AsyncIterator[_Counter]:
    """A counter whose registry is closed in the end."""
    made = _Counter()
    yield made
    made.registry.close()
    await asyncio.sleep(0)


def _tool(toolset: AgentToolset, name: str) -> AgentTool:
    found = toolset.find_tool(name)
    assert found is not None
    return found


async def _until(condition: Callable[[], object]) -> None:
    for _ in range(100):
        if condition():
            return
        await asyncio.sleep(0)
    pytest.fail("what the test waits for did not happen")


@pytest.mark.requirement("AS-ADAPTER-001", "AS-ADAPTER-002")
async def test_tools_of_a_registry_read_act_and_keep_their_identity(counter: _Counter) -> None:
    """Ids of the provider are the idempotency keys: a repetition replays and does not run twice."""
    with counter.toolset() as toolset:
        assert dict(toolset.wire_name_map()) == {}
        assert [tool.name for tool in toolset.tools()] == [READ, ADD, SET]
        assert toolset.wire_name_map()[ADD] == "view:app.counter.add"
        first = await _tool(toolset, ADD).execute({"n": 2}, tool_call_id="toolu_1")
        again = await _tool(toolset, ADD).execute({"n": 2}, tool_call_id="toolu_1")
        other = await _tool(toolset, ADD).execute({"n": 3}, tool_call_id="toolu_1")
        assert first == again
        assert (first.status, first.invocation_id, counter.count) == ("ok", "toolu_1", 2)
        assert isinstance(other, InvocationError)
        assert other.error.code is ErrorCode.INVOCATION_CONFLICT
        read = await _tool(toolset, READ).execute({})
        assert read.to_json()["output"] == {"n": 2}


@pytest.mark.requirement("AS-CACHE-001", "AS-CACHE-002", "AS-CACHE-003", "AS-CACHE-004")
async def test_live_state_of_a_registry_stays_out_of_the_definitions(counter: _Counter) -> None:
    """``when`` and ``describe`` show in the state; the block of tools keeps its bytes."""
    with counter.toolset() as toolset:
        before = json.dumps([tool.definition.to_json() for tool in toolset.tools()])
        assert _tool(toolset, SET).state.note == "It stands at 0."
        counter.locked, counter.count = True, 5
        tool = next(tool for tool in toolset.refresh() if tool.name == SET)
        assert (tool.state.available, tool.state.unavailable_reason) == (False, "The counter is locked.")
        assert tool.state.note == "It stands at 5."
        assert json.dumps([tool.definition.to_json() for tool in toolset.tools()]) == before


async def test_a_call_for_a_component_that_went_gets_the_registrys_reason(counter: _Counter) -> None:
    """The tool has left the catalogue and can still be asked what became of it."""
    with counter.toolset() as toolset:
        toolset.tools()
        counter.handle.unregister()
        assert list(toolset.tools()) == []
        result = await _tool(toolset, ADD).execute({"n": 1})
        assert isinstance(result, InvocationError)
        assert result.error.code is ErrorCode.COMPONENT_UNMOUNTED


@pytest.mark.requirement("AS-CONFIRM-009")
@pytest.mark.parametrize("approved", [True, False])
async def test_a_waiting_call_ends_with_the_persons_decision(counter: _Counter, approved: bool) -> None:
    """One call, one result."""
    with counter.toolset() as toolset:
        task = asyncio.create_task(_tool(toolset, SET).execute({"n": 7}))
        await _until(counter.pending)
        (confirmation_id,) = counter.pending()
        counter.registry.confirmations.resolve(confirmation_id, approved=approved, note="Why?")
        result = await task
        if approved:
            assert isinstance(result, InvocationOk)
            assert counter.count == 7
        else:
            assert isinstance(result, InvocationError)
            assert dict(result.error.details) == {"reason": "denied", "note": "Why?"}
            assert counter.count == 0


@pytest.mark.requirement("AS-CONFIRM-011")
async def test_a_cancelled_call_leaves_no_request_whenever_it_is_cancelled(counter: _Counter) -> None:
    """Turn after turn of the loop: nothing is left that a person could still approve."""
    with counter.toolset() as toolset:
        tool = _tool(toolset, SET)
        for turns in range(8):
            task = asyncio.create_task(tool.execute({"n": turns}))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            await asyncio.sleep(0)
            assert counter.pending() == [], f"cancelled after {turns} turns"
    assert counter.count == 0


@pytest.mark.requirement("AS-TOPO-003", "AS-CONFIRM-011")
async def test_closing_withdraws_from_the_registry(counter: _Counter) -> None:
    """The record ends as withdrawn, and a late yes does nothing."""
    toolset = counter.toolset()
    task = asyncio.create_task(_tool(toolset, SET).execute({"n": 7}))
    await _until(counter.pending)
    (confirmation_id,) = counter.pending()
    await asyncio.sleep(0)
    toolset.close()
    result = await task
    assert isinstance(result, InvocationError)
    assert result.error.code is ErrorCode.CANCELLED
    resolution = counter.registry.confirmations.resolution(confirmation_id)
    assert resolution is not None
    assert (resolution.outcome, resolution.actor) == (ConfirmationOutcome.EXPIRED, "withdrawn")
    assert not counter.registry.confirmations.resolve(confirmation_id, approved=True)
    assert counter.count == 0


@pytest.mark.requirement("AS-TOPO-004", "AS-CONFIRM-006")
async def test_two_phase_over_a_registry_retries_by_repetition(counter: _Counter) -> None:
    """Equal input in any spelling, and no other."""
    with counter.toolset("remote") as toolset:
        tool = _tool(toolset, SET)
        first = await tool.execute({"n": 7})
        assert isinstance(first, InvocationError)
        confirmation_id = first.error.details["confirmationId"]
        assert isinstance(confirmation_id, str)
        pending = await tool.execute({"n": 7.0})
        assert isinstance(pending, InvocationError)
        assert pending.error.details["confirmationId"] == confirmation_id
        counter.registry.confirmations.resolve(confirmation_id, approved=True)
        other = await tool.execute({"n": 8})
        assert isinstance(other, InvocationError)
        assert other.error.details["confirmationId"] != confirmation_id
        assert (await tool.execute({"n": 7})).status == "ok"
        assert counter.count == 7


@pytest.mark.requirement("AS-CONFIRM-007")
async def test_nothing_a_toolset_gives_or_is_given_can_approve(counter: _Counter) -> None:
    """An adapter can wait and withdraw; the word ``resolve`` is not in its world."""
    with counter.toolset() as toolset:
        offered = {name for owner in (toolset, toolset.tools()[0]) for name in dir(owner) if not name.startswith("_")}
        assert not {name for name in offered if "resolve" in name or "approve" in name}
    assert not hasattr(InvokableSurface, "confirmations")
    waiter = counter.registry.confirmation_waiter
    assert {name for name in dir(waiter) if not name.startswith("_")} == {"hold", "wait_for", "withdraw"}


async def test_a_closed_registry_answers_and_offers_nothing(counter: _Counter) -> None:
    """The application is going; nothing is raised into the loop of a model."""
    toolset = counter.toolset()
    tool = _tool(toolset, ADD)
    counter.registry.close()
    result = await tool.execute({"n": 1})
    assert isinstance(result, InvocationError)
    assert (result.error.code, result.error.retry.value) == (ErrorCode.CANCELLED, "no")
    assert list(toolset.refresh()) == []
    toolset.close()


@pytest.mark.requirement("AS-CONFIRM-011")
@pytest.mark.parametrize("enough", [True, False])
async def test_a_back_end_may_have_a_person_asked_a_few_times_and_no_more(enough: bool) -> None:
    """One that has enough in the last round is served; else the request nobody waits for any more is withdrawn."""
    counter, executed = _Counter(), list[float]()

    def demand(n: float) -> None:
        executed.append(n)
        if enough and len(executed) == 4:
            return
        raise capability_error(ErrorCode.CONFIRMATION_REQUIRED, details={"origin": "server"})

    counter.registry.set_procedure_executor(ServiceExecutor({"counter.reset": demand}))
    confirmations = counter.registry.confirmations
    with create_agent_toolset(counter.registry, consumer=CONSUMER, topology="embedded") as toolset:
        tool = toolset.find_tool(SET)
        assert tool is not None
        task = asyncio.create_task(tool.execute({"n": 1}))
        while not task.done():
            await asyncio.sleep(0)
            if counter.registry.statistics().in_flight == 0:
                for pending in confirmations.pending():
                    confirmations.resolve(pending.confirmation_id, approved=len(executed) < 4)
        result = task.result()
    if enough:
        assert isinstance(result, InvocationOk)
    else:
        assert isinstance(result, InvocationError)
        assert result.error.code is ErrorCode.CONFIRMATION_REQUIRED
    assert executed == [1.0] * 4
    assert confirmations.pending() == ()
    counter.registry.close()
