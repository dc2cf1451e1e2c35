"""Tools without a component: admitted by proof, and sent through the pipeline like everything else."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, misc"
# pyright: reportArgumentType=false

from __future__ import annotations

import asyncio
import copy
import dataclasses
import pickle
from collections.abc import Awaitable, Callable
from typing import Literal

import pytest

from agent_surface import (
    ActionBinding,
    AgentActionContext,
    AgentExposureGateway,
    AgentExternalToolContract,
    AgentSurfaceDefinitionError,
    AgentSurfaceLimits,
    AuthorityError,
    BoundExternalTool,
    CallNext,
    CapabilityAuthority,
    DefinitionErrorCode,
    ExposedTool,
    InvocationError,
    InvocationOk,
    JsonValue,
    MemoryAuditSink,
    PolicyAttachment,
    PolicyContext,
    RegistryClosedError,
    create_agent_exposure_gateway,
    define_external_agent_tool_contract,
    from_json_schema,
    from_type,
)
from agent_surface._manifest import make_manifest
from agent_surface.authority import create_capability_authority
from agent_surface.contracts._records import find_declaration
from agent_surface.errors import ErrorCode
from agent_surface.invocation import Confirmation, Effect
from agent_surface.testing import ManualClock, SequentialIds, contract_authority
from tests.core.surface_fixtures import ALICE, ONE, nothing, output, refusal, turns, zero

NAME_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
NAME = from_json_schema(NAME_SCHEMA)


def tool_contract(
    tool_id: str = "external:reports.export",
    *,
    description: str = "Export the report",
    effect: Literal["server-query", "server-mutation", "external-side-effect", "destructive"] = "external-side-effect",
    confirmation: Literal["never", "optional", "required"] | None = None,
    policies: tuple[PolicyAttachment, ...] = (),
    timeout_ms: int | None = None,
) -> AgentExternalToolContract[JsonValue, str]:
    """A tool that takes a name and gives a text."""
    return define_external_agent_tool_contract(
        id=tool_id,
        description=description,
        input=NAME,
        output=from_type(str),
        effect=effect,
        confirmation=confirmation,
        policies=policies,
        timeout_ms=timeout_ms,
    )


EXPORT = tool_contract()
LOOKUP = tool_contract("external:reports.lookup", description="Look a report up", effect="server-query")


class Desk:
    """A gateway with everything around it in the hands of the test."""

    def __init__(self, *contracts: object, limits: AgentSurfaceLimits | None = None) -> None:
        self.clock = ManualClock()
        self.sink = MemoryAuditSink()
        self.ran: list[object] = []
        self.gateway: AgentExposureGateway = create_agent_exposure_gateway(
            contract_authority(*(contracts or (EXPORT, LOOKUP))),
            environment="test",
            audit=self.sink,
            limits=limits,
            clock=self.clock,
            ids=SequentialIds(),
        )

    def execute(self, value: JsonValue) -> str:
        """A handler that is noticed."""
        self.ran.append(value)
        return "done"

    def expose(self, contract: AgentExternalToolContract[JsonValue, str] = EXPORT) -> ExposedTool:
        """Admit one tool."""
        (tool,) = self.gateway.expose([contract.bind(execute=self.execute)], consumer=ALICE)
        return tool

    def pending(self) -> list[str]:
        """Requests that are open."""
        return [pending.confirmation_id for pending in self.gateway.confirmations.pending()]


@pytest.fixture
def desk() -> Desk:
    """A gateway whose manifest lists two tools."""
    return Desk()


# What is admitted.


@pytest.mark.requirement("AS-EXPOSURE-001")
def test_an_admitted_tool_is_what_the_manifest_says_it_is(desk: Desk) -> None:
    """Nothing of it comes from anywhere else."""
    tool = desk.expose()
    assert dataclasses.replace(tool, executor=None) == ExposedTool(
        id="external:reports.export",
        name="external_reports__export",
        description="Export the report",
        input_schema=NAME.json_schema,
        output_schema=from_type(str).json_schema,
        effect=Effect.EXTERNAL_SIDE_EFFECT,
        confirmation=Confirmation.REQUIRED,
        idempotent=False,
        reversible=False,
        executor=None,
    )
    assert tool.to_json() == {
        "name": "external_reports__export",
        "description": "Export the report",
        "inputSchema": NAME_SCHEMA,
    }


def _forged_tool() -> BoundExternalTool:
    genuine = EXPORT.bind(execute=nothing)
    forged = object.__new__(BoundExternalTool)
    object.__setattr__(forged, "seal", genuine.seal)
    object.__setattr__(forged, "binding", genuine.binding)
    return forged


class _Lookalike:
    """Everything a tool has, and no proof."""

    id = "external:reports.export"
    name = "external_reports__export"
    description = "Export the report"
    inputSchema = NAME.json_schema  # noqa: N815  # the field's own name

    def execute(self) -> str:
        """Do it."""
        return "done"


@pytest.mark.requirement("AS-EXPOSURE-001", "AS-AUTHORITY-002")
@pytest.mark.parametrize(
    "make",
    [
        lambda: None,
        lambda: {"name": "external_reports__export", "execute": nothing},
        _Lookalike,
        lambda: EXPORT,
        lambda: ONE.bind(observations={"read": zero}, actions={"act": nothing, "go": nothing}),
        _forged_tool,
        lambda: copy.copy(EXPORT.bind(execute=nothing)),
        lambda: dataclasses.replace(EXPORT.bind(execute=nothing)),
        lambda: BoundExternalTool(seal=EXPORT.bind(execute=nothing).seal, binding=ActionBinding(execute=nothing)),
    ],
    ids=["nothing", "mapping", "lookalike", "contract", "component", "new", "copy", "replace", "made by hand"],
)
def test_a_tool_without_proof_is_refused_and_takes_the_others_with_it(desk: Desk, make: Callable[[], object]) -> None:
    """All or none: half a list would be a list nobody reviewed."""
    with pytest.raises(AgentSurfaceDefinitionError, match="only tools bound from a contract of the authority"):
        desk.gateway.expose([LOOKUP.bind(execute=nothing), make()])
    assert desk.expose(LOOKUP).id == LOOKUP.id


@pytest.mark.requirement("AS-EXPOSURE-001")
def test_a_pickled_tool_is_refused(desk: Desk) -> None:
    """If it can be pickled at all, what comes back has no proof."""
    genuine = LOOKUP.bind(execute=nothing)
    with pytest.raises((AgentSurfaceDefinitionError, pickle.PicklingError, TypeError, AttributeError)):
        desk.gateway.expose([pickle.loads(pickle.dumps(genuine))])


@pytest.mark.requirement("AS-EXPOSURE-001")
@pytest.mark.parametrize("listed", [(), (ONE,), (tool_contract("external:reports.other"),)])
def test_a_tool_of_another_manifest_is_refused(listed: tuple[object, ...]) -> None:
    """Genuine, and not of this program."""
    desk = Desk(LOOKUP, *listed)
    with pytest.raises(AgentSurfaceDefinitionError, match=r"external:reports.export is not in the contract"):
        desk.expose(EXPORT)


@pytest.mark.requirement("AS-EXPOSURE-001")
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"description": "Export everything"}, "description"),
        ({"effect": "destructive"}, "effect"),
        ({"confirmation": "optional"}, "confirmation"),
        ({"timeout_ms": 5}, "timeoutMs"),
    ],
)
def test_a_tool_that_differs_from_the_manifest_is_refused_with_the_field_named(
    changes: dict[str, object], field: str
) -> None:
    """The remedy is named too."""
    desk = Desk(EXPORT)
    with pytest.raises(AgentSurfaceDefinitionError, match=f"{field} of external:reports.export differs") as caught:
        desk.expose(tool_contract(**changes))
    assert (caught.value.subject, caught.value.path) == ("external:reports.export", field)
    assert "write the contract again" in str(caught.value)


@pytest.mark.requirement("AS-EXPOSURE-001")
def test_a_tool_with_another_input_schema_is_refused(desk: Desk) -> None:
    """A model would be let to send what nobody reviewed."""
    wider = define_external_agent_tool_contract(
        id=EXPORT.id,
        description=EXPORT.description,
        input=from_json_schema({"type": "object"}),
        output=from_type(str),
        effect="external-side-effect",
    )
    with pytest.raises(AgentSurfaceDefinitionError, match=r"inputSchema of external:reports.export differs"):
        desk.gateway.expose([wider.bind(execute=nothing)])


@pytest.mark.requirement("AS-EXPOSURE-001", "AS-AUTHORITY-001")
def test_a_gateway_takes_a_genuine_authority_and_in_production_a_proven_one() -> None:
    """The same ceiling as a registry's."""
    with pytest.raises(AuthorityError, match="create_capability_authority"):
        create_agent_exposure_gateway(CapabilityAuthority(manifest={}))
    with pytest.raises(AuthorityError, match="proven"):
        create_agent_exposure_gateway(contract_authority(EXPORT))
    record = find_declaration(EXPORT)
    assert record is not None
    proven = create_capability_authority(make_manifest([record], completeness="proven"))
    with create_agent_exposure_gateway(proven) as gateway:
        (tool,) = gateway.expose([EXPORT.bind(execute=nothing)])
        assert tool.id == EXPORT.id


def test_a_tool_is_exposed_once(desk: Desk) -> None:
    """Twice in one list, or in a later one."""
    bound = EXPORT.bind(execute=nothing)
    with pytest.raises(AgentSurfaceDefinitionError, match="twice") as caught:
        desk.gateway.expose([bound, bound])
    assert caught.value.code is DefinitionErrorCode.DUPLICATE_CAPABILITY
    desk.expose()
    with pytest.raises(AgentSurfaceDefinitionError, match="twice"):
        desk.expose()


def test_a_policy_that_the_contract_demands_has_to_be_bound() -> None:
    """By name and phase, as for a component."""

    class Gate:
        name = "gate"

        def on_authorize(self, context: PolicyContext, call_next: CallNext) -> Awaitable[object]:
            """Agree."""
            return call_next()

    guarded = tool_contract(policies=(PolicyAttachment(name="gate"),))
    gateway = Desk(guarded).gateway
    with pytest.raises(AgentSurfaceDefinitionError, match="demands policy 'gate'"):
        gateway.expose([guarded.bind(execute=nothing)])
    (tool,) = gateway.expose([guarded.bind(execute=ActionBinding(execute=nothing, policies=[Gate()]))])
    assert tool.id == guarded.id


def test_what_was_declared_does_not_follow_what_is_done_to_its_objects(desk: Desk) -> None:
    """The public objects show copies."""
    contract = tool_contract("external:reports.lookup", description="Look a report up", effect="server-query")
    bound = contract.bind(execute=nothing)
    object.__setattr__(bound.seal.contract, "description", "Erase everything")
    object.__setattr__(contract, "description", "Erase everything")
    (tool,) = desk.gateway.expose([bound])
    assert tool.description == "Look a report up"


# What is declared.


@pytest.mark.parametrize(
    "tool_id", ["reports.export", "view:reports.export", "external:", "external:a..b", "external:a b", "external:é", 7]
)
def test_an_id_that_is_none_is_refused(tool_id: str) -> None:
    """``external:`` and segments with dots between them."""
    with pytest.raises(AgentSurfaceDefinitionError, match="not a valid id of a tool") as caught:
        tool_contract(tool_id)
    assert caught.value.code is DefinitionErrorCode.INVALID_ID


def test_an_id_is_not_too_long() -> None:
    """128 characters, as every id."""
    assert tool_contract("external:" + "a" * 119).id == "external:" + "a" * 119
    with pytest.raises(AgentSurfaceDefinitionError, match="128"):
        tool_contract("external:" + "a" * 120)


def test_a_tool_is_declared_with_the_cautious_defaults_of_its_effect() -> None:
    """Those of a procedure; an effect of the view plane is none of its own."""
    defaults = {
        effect: (contract.idempotent, contract.reversible, contract.confirmation.value, contract.audit.value)
        for effect in ("server-query", "server-mutation", "external-side-effect", "destructive")
        for contract in [tool_contract(effect=effect)]
    }
    assert defaults == {
        "server-query": (True, None, "never", "metadata"),
        "server-mutation": (False, False, "optional", "metadata"),
        "external-side-effect": (False, False, "required", "full"),
        "destructive": (False, False, "required", "full"),
    }
    with pytest.raises(AgentSurfaceDefinitionError, match="view plane") as caught:
        tool_contract(effect="navigation")
    assert caught.value.code is DefinitionErrorCode.PLANE_VIOLATION


def test_a_declaration_is_in_the_manifest_as_external() -> None:
    """With every field that is hashed."""
    record = find_declaration(EXPORT)
    assert record is not None
    assert record.declaration_id == f"{__name__}:external:reports.export"
    assert (record.entry["kind"], record.entry["origin"]) == ("external", "first-party")


def _three(a: object, b: object, c: object) -> None:
    """More than a handler is given."""


def test_only_a_genuine_contract_binds_and_only_a_function_that_fits() -> None:
    """The error names the tool."""
    with pytest.raises(AgentSurfaceDefinitionError, match="define_external_agent_tool_contract"):
        dataclasses.replace(EXPORT).bind(execute=nothing)
    with pytest.raises(AgentSurfaceDefinitionError, match=r"external:reports.export is wrong"):
        EXPORT.bind(execute=_three)


# What a call does.


@pytest.mark.requirement("AS-EXPOSURE-001")
async def test_nothing_is_executed_before_the_host_has_approved(desk: Desk) -> None:
    """Once, and for exactly this input; nothing the caller says can stand for the host's word."""
    tool = desk.expose()
    asked = await tool.execute({"name": "q3"})
    code, details = refusal(asked)
    assert (code, details["summary"], desk.ran) == ("CONFIRMATION_REQUIRED", "Export the report (name: q3)", [])
    (evidence,) = desk.pending()
    for presented in (evidence, "cnf_made_up"):
        assert (await tool.execute({"name": "q3"}, confirmation_id=presented)).status == "error"
    assert desk.ran == []
    assert desk.gateway.confirmations.resolve(evidence, approved=True)
    other = await tool.execute({"name": "q4"}, confirmation_id=evidence)
    assert refusal(other) == ("CONFIRMATION_INVALID", {"reason": "mismatch"})
    assert output(await tool.execute({"name": "q3"}, confirmation_id=evidence)) == "done"
    again = await tool.execute({"name": "q3"}, confirmation_id=evidence)
    assert refusal(again) == ("CONFIRMATION_INVALID", {"reason": "consumed"})
    assert desk.ran == [{"name": "q3"}]


@pytest.mark.requirement("AS-EXPOSURE-001")
async def test_a_denial_and_a_request_that_nobody_answers_execute_nothing(desk: Desk) -> None:
    """A host without a dialog is a host that never approves."""
    tool = desk.expose()
    await tool.execute({"name": "a"})
    (denied,) = desk.pending()
    desk.gateway.confirmations.resolve(denied, approved=False, note="No.")
    assert refusal(await tool.execute({"name": "a"}, confirmation_id=denied)) == (
        "CONFIRMATION_INVALID",
        {"reason": "denied", "note": "No."},
    )
    await tool.execute({"name": "b"})
    (forgotten,) = desk.pending()
    desk.clock.advance(120_001)
    assert refusal(await tool.execute({"name": "b"}, confirmation_id=forgotten))[1] == {"reason": "expired"}
    assert desk.ran == []


async def test_a_caller_waits_for_the_person_and_cannot_decide(desk: Desk) -> None:
    """What an adapter is given can wait and withdraw."""
    tool = desk.expose()
    await tool.execute({"name": "a"})
    (evidence,) = desk.pending()
    waiting = asyncio.ensure_future(desk.gateway.confirmation_waiter.wait_for(evidence))
    await turns()
    desk.gateway.confirmations.resolve(evidence, approved=True)
    assert (await waiting).outcome == "approved"
    offered = {name for name in dir(desk.gateway.confirmation_waiter) if name[0] != "_"}
    assert offered == {"hold", "wait_for", "withdraw"}
    assert not {name for name in dir(tool) if "approve" in name or "resolve" in name}


@pytest.mark.requirement("AS-EXPOSURE-001")
@pytest.mark.parametrize("value", [{}, {"name": 1}, {"name": "a", "more": 1}, [], "a", {"name": float("nan")}])
async def test_input_is_held_to_the_schema_before_anybody_is_asked(desk: Desk, value: JsonValue) -> None:
    """A person is not shown what could not be executed anyway."""
    assert refusal(await desk.expose().execute(value))[0] == "INVALID_INPUT"
    assert (desk.pending(), desk.ran) == ([], [])


@pytest.mark.requirement("AS-EXPOSURE-001")
@pytest.mark.allow_logs("agent_surface.pipeline", "agent_surface.exposure")
@pytest.mark.parametrize(
    ("value", "reason"),
    [(7, "output-invalid"), (object(), "output-invalid"), (None, "output-invalid"), ("x" * 40_000, "output-too-large")],
)
async def test_output_is_held_to_the_schema_and_execute_does_not_raise(desk: Desk, value: object, reason: str) -> None:
    """Though outside production a defect is raised to its author everywhere else."""
    (tool,) = desk.gateway.expose([LOOKUP.bind(execute=lambda: value)])
    code, details = refusal(await tool.execute({"name": "a"}))
    assert (code, details["reason"]) == ("EXECUTION_FAILED", reason)


async def test_a_call_of_the_provider_runs_once(desk: Desk) -> None:
    """A repetition replays, and the same id for something else is a conflict."""
    tool = desk.expose(LOOKUP)
    first = await tool.execute({"name": "a"}, tool_call_id="call_1")
    assert first == await tool.execute({"name": "a"}, tool_call_id="call_1")
    assert isinstance(first, InvocationOk)
    assert (first.invocation_id, first.capability_id) == ("call_1", LOOKUP.id)
    assert refusal(await tool.execute({"name": "b"}, tool_call_id="call_1"))[0] == "INVOCATION_CONFLICT"
    assert desk.ran == [{"name": "a"}]


async def test_a_slow_tool_is_given_up_and_a_cancelled_one_is_told(desk: Desk) -> None:
    """The time-out is the contract's, the token the handler's."""
    seen: list[AgentActionContext] = []

    async def hang(value: JsonValue, context: AgentActionContext) -> str:
        seen.append(context)
        await asyncio.Event().wait()
        return "never"

    quick = tool_contract(effect="server-query", timeout_ms=50)
    desk = Desk(quick)
    (tool,) = desk.gateway.expose([quick.bind(execute=hang)], consumer=ALICE)
    task = asyncio.create_task(tool.execute({"name": "a"}))
    await turns()
    desk.clock.advance(50)
    assert refusal(await task)[0] == "TIMEOUT"
    other = asyncio.create_task(tool.execute({"name": "b"}))
    await turns()
    other.cancel()
    await asyncio.wait({other})
    assert other.cancelled()
    assert [(context.cancel.reason, context.consumer) for context in seen] == [("timeout", ALICE), ("cancelled", ALICE)]
    desk.gateway.close()
    assert await desk.gateway.wait_closed()


async def test_policies_guard_a_tool_as_they_guard_a_capability() -> None:
    """The gateway's are outermost; what they hide does not exist."""
    asked: list[str] = []

    class Gate:
        def __init__(self, name: str) -> None:
            self.name = name

        def on_authorize(self, context: PolicyContext, call_next: CallNext) -> Awaitable[object]:
            """Note who was asked about what, for whom."""
            asked.append(f"{self.name} {context.capability_id} {context.effect} {context.consumer.id}")
            return call_next()

    gateway = create_agent_exposure_gateway(
        contract_authority(LOOKUP), environment="test", policies=[Gate("outer")], clock=ManualClock()
    )
    binding = ActionBinding(execute=lambda: "done", policies=[Gate("inner")])
    (tool,) = gateway.expose([LOOKUP.bind(execute=binding)], consumer=ALICE)
    assert output(await tool.execute({"name": "a"})) == "done"
    facts = "external:reports.lookup server-query alice"
    assert asked == [f"outer {facts}", f"inner {facts}"]


async def test_every_call_is_in_the_audit(desk: Desk) -> None:
    """With the input where the effect asks for it."""
    await desk.expose().execute({"name": "a"})
    records = desk.sink.records
    assert desk.gateway.audit is desk.sink
    assert [(record.kind, record.capability_id, record.consumer_key, record.status) for record in records] == [
        ("confirmation", EXPORT.id, ALICE.key, "requested"),
        ("invocation", EXPORT.id, ALICE.key, "error"),
    ]
    assert records[1].input == {"name": "a"}


async def test_a_closed_gateway_answers_and_admits_nothing(desk: Desk) -> None:
    """A request of a person ends with it."""
    tool = desk.expose()
    await tool.execute({"name": "a"})
    (evidence,) = desk.pending()
    with desk.gateway as gateway:
        assert not gateway.closed
    assert desk.gateway.closed
    result = await tool.execute({"name": "a"}, confirmation_id=evidence)
    assert isinstance(result, InvocationError)
    assert (result.error.code, result.error.retry.value) == (ErrorCode.CANCELLED, "no")
    with pytest.raises(RegistryClosedError):
        desk.expose(LOOKUP)
    assert desk.ran == []
