"""Meta mode: three constant tools, and everything behind them as in direct mode."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from logging import LogRecord
from typing import Literal, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from agent_surface import (
    ActionBinding,
    AgentInvocationResult,
    AgentToolset,
    ErrorCode,
    InvocationError,
    InvocationOk,
    JsonValue,
    ObservationBinding,
    PolicyContext,
    ServiceExecutor,
    SnapshotBudget,
    SnapshotContext,
    bind_procedure,
    capability_error,
    create_agent_toolset,
)
from agent_surface.invocation import CapabilityKind
from agent_surface.policies import HIDE, DiscoveryDecision
from agent_surface.toolset import AgentTool
from tests.core.surface_fixtures import (
    ACT,
    ALICE,
    ASKING,
    DISABLE,
    GO,
    ONE,
    READ,
    TWO,
    Surface,
    component,
    nothing,
    output,
    refusal,
    turns,
    zero,
)
from tests.core.toolset.fake_surface import CONSUMER, FakeSurface

DISCOVER, SURFACE_READ, SURFACE_ACT = "surface_discover", "surface_read", "surface_act"
DANGEROUS = "domain:devices.disable"
ASKING_ACT = "view:t.asking.act"


def _meta(
    surface: Surface,
    *,
    confirmations: Literal["wait", "two-phase"] = "two-phase",
    scope: Sequence[str] = (),
    budget: SnapshotBudget | None = None,
) -> AgentToolset:
    return create_agent_toolset(
        surface.registry, consumer=ALICE, mode="meta", confirmations=confirmations, scope=scope, budget=budget
    )


def _tool(toolset: AgentToolset, name: str) -> AgentTool:
    tool = toolset.find_tool(name)
    assert tool is not None
    return tool


async def _call(toolset: AgentToolset, name: str, **envelope: JsonValue) -> AgentInvocationResult:
    return await _tool(toolset, name).execute(envelope)


async def _discovered(toolset: AgentToolset, **envelope: JsonValue) -> dict[str, JsonValue]:
    result = await _call(toolset, DISCOVER, **envelope)
    assert isinstance(result, InvocationOk)
    found = result.to_json()["output"]
    assert isinstance(found, dict)
    return found


def _types(discovered: dict[str, JsonValue]) -> list[str]:
    components = discovered["components"]
    assert isinstance(components, list)
    return [str(part["type"]) for part in components if isinstance(part, dict)]


def _dangerous(surface: Surface, ran: list[object]) -> None:
    """A component that refers to a destructive procedure."""

    def disable(ids: list[str], why: str = "") -> int:
        ran.append([ids, why])
        return len(ids)

    surface.registry.set_procedure_executor(ServiceExecutor({"devices.disable": disable}))
    surface.mount(procedures=[bind_procedure(DISABLE)])


# What is discovered.


@pytest.mark.requirement("AS-ADAPTER-002")
async def test_a_discovery_is_the_snapshot_as_the_registry_gives_it(surface: Surface) -> None:
    """Relayed without loss, as the output of an ordinary result."""
    surface.mount()
    with _meta(surface) as toolset:
        result = await _tool(toolset, DISCOVER).execute({}, tool_call_id="toolu_1")
        expected = surface.catalogue(ALICE)
        assert result == InvocationOk(
            invocation_id="toolu_1",
            capability_id=DISCOVER,
            surface_version=surface.registry.version,
            output=result.output if isinstance(result, InvocationOk) else None,
            has_output=True,
        )
        assert output(result) == expected


@pytest.mark.requirement("AS-META-001", "AS-ADAPTER-005")
async def test_a_models_scope_narrows_the_configured_one_and_never_widens_it(surface: Surface) -> None:
    """Asking for less gives less; asking for more, or for everything, gives what is configured."""
    surface.mount(ONE)
    surface.mount(TWO)
    surface.mount(ASKING)
    with _meta(surface) as everything, _meta(surface, scope=["t.one", "t.two"]) as scoped:
        assert _types(await _discovered(everything)) == ["t.asking", "t.one", "t.two"]
        assert _types(await _discovered(everything, scope=["t.one"])) == ["t.one"]
        assert _types(await _discovered(scoped)) == ["t.one", "t.two"]
        assert _types(await _discovered(scoped, scope=[])) == ["t.one", "t.two"]
        assert _types(await _discovered(scoped, scope=["t.two"])) == ["t.two"]
        assert _types(await _discovered(scoped, scope=["t"])) == ["t.one", "t.two"]
        assert _types(await _discovered(scoped, scope=["t.asking", "t.two"])) == ["t.two"]


_SEGMENT = st.sampled_from(["a", "b", "ab"])
_PREFIX = st.lists(_SEGMENT, min_size=1, max_size=3).map(".".join)
_ALL = ["a", "b", "ab", *(f"{x}.{y}" for x in ("a", "b", "ab") for y in ("a", "b", "ab")), "a.b.a", "b.ab.b"]
_CONTRACTS = [component(name) for name in _ALL]


@pytest.mark.requirement("AS-META-001", "AS-META-002", "AS-META-006")
@settings(max_examples=50, deadline=None)
@given(floor=st.lists(_PREFIX, max_size=3), wanted=st.lists(_PREFIX, max_size=3))
def test_whatever_is_wanted_the_result_is_what_both_scopes_cover(floor: list[str], wanted: list[str]) -> None:
    """The intersection, read off the types themselves; a prefix is refused when nothing of it is left."""
    surface = Surface(*_CONTRACTS)
    for contract in _CONTRACTS:
        surface.mount(contract)

    def covers(scope: list[str], name: str) -> bool:
        return not scope or any(f"{name}.".startswith(f"{prefix}.") for prefix in scope)

    async def discover() -> dict[str, JsonValue]:
        with _meta(surface, scope=floor) as toolset:
            return await _discovered(toolset, scope=[*wanted])

    found = asyncio.run(discover())
    assert sorted(_types(found)) == sorted(name for name in _ALL if covers(floor, name) and covers(wanted, name))
    refused = [
        prefix
        for prefix in dict.fromkeys(wanted)
        if floor and not any(covers([prefix], allowed) or covers([allowed], prefix) for allowed in floor)
    ]
    assert found.get("scopeRejected") == ({"prefixes": refused} if refused else None)
    surface.registry.close()


@pytest.mark.requirement("AS-META-002", "AS-META-006")
async def test_a_scope_outside_the_configured_one_gives_an_empty_surface_that_says_why(surface: Surface) -> None:
    """Not everything, though an empty scope means that to a snapshot; and no count of what a budget left out."""
    _dangerous(surface, [])
    surface.mount(TWO)
    with _meta(surface, scope=["t.one"], budget=SnapshotBudget(max_components=0)) as toolset:
        found = await _discovered(toolset, scope=["t.two", "other"])
        assert (found["components"], found["procedures"]) == ([], [])
        assert found["scopeRejected"] == {"prefixes": ["t.two", "other"]}
        assert "truncated" not in found
        assert found["surfaceVersion"] == surface.registry.version


@pytest.mark.requirement("AS-META-006")
async def test_only_the_refused_part_of_a_scope_is_named(surface: Surface) -> None:
    """A part that gave results must not read as if the other had been empty."""
    surface.mount(ONE)
    surface.mount(TWO)
    with _meta(surface, scope=["t.one"]) as toolset:
        found = await _discovered(toolset, scope=["t.one", "t.two"])
        assert _types(found) == ["t.one"]
        assert found["scopeRejected"] == {"prefixes": ["t.two"]}
        assert "scopeRejected" not in await _discovered(toolset, scope=["t"])
        assert "scopeRejected" not in await _discovered(toolset)


@pytest.mark.requirement("AS-META-003")
async def test_what_a_budget_leaves_out_is_counted_in_what_the_model_reads(surface: Surface) -> None:
    """Nothing is dropped in silence."""
    surface.mount(ONE)
    surface.mount(TWO)
    surface.mount(ASKING)
    with _meta(surface, budget=SnapshotBudget(max_components=1)) as toolset:
        found = await _discovered(toolset)
        assert len(_types(found)) == 1
        assert found["truncated"] == {"droppedComponents": 2}
    with _meta(surface, budget=SnapshotBudget(max_components=3)) as toolset:
        assert "truncated" not in await _discovered(toolset)


async def test_what_cannot_be_used_now_is_listed_unless_the_model_says_otherwise(surface: Surface) -> None:
    """State discloses: the reason is something to plan with."""
    surface.mount(act=ActionBinding(execute=nothing, when=lambda: False, unavailable_reason="Pick a row first."))
    with _meta(surface) as toolset:
        listed = json.dumps(await _discovered(toolset))
        assert "Pick a row first." in listed
        assert ACT not in json.dumps(await _discovered(toolset, includeUnavailable=False))


# The tools themselves.


@pytest.mark.requirement("AS-META-005", "AS-CACHE-002", "AS-CACHE-005")
async def test_the_block_of_tools_is_the_same_whatever_the_surface_is(surface: Surface) -> None:
    """Three tools before anything is mounted, and the very same bytes afterwards, in any toolset."""
    with _meta(surface) as toolset, _meta(surface, scope=["t"], confirmations="wait") as other:
        before = [tool.definition.to_json() for tool in toolset.tools()]
        surface.mount(ONE)
        surface.mount(TWO)
        surface.mount(ASKING)
        await _discovered(toolset)
        for tools in (toolset.tools(), toolset.refresh(), other.tools()):
            assert json.dumps([tool.definition.to_json() for tool in tools]) == json.dumps(before)
        assert [tool.name for tool in toolset.tools()] == [DISCOVER, SURFACE_READ, SURFACE_ACT]
        assert all(tool.description.startswith("[") and " · " in tool.description for tool in toolset.tools())
        assert toolset.tools()[2].definition.effect == "destructive"


@pytest.mark.requirement("AS-META-009")
async def test_there_is_no_wire_name_to_decode_and_no_change_to_hear_of(surface: Surface) -> None:
    """The three names stand for no capability, and the catalogue never changes."""
    heard: list[object] = []
    with _meta(surface) as toolset:
        dispose = toolset.subscribe(heard.append)
        handle = surface.mount()
        await turns()
        handle.update(enabled=False)
        await turns()
        toolset.refresh()
        handle.unregister()
        await turns()
        assert heard == []
        assert dict(toolset.wire_name_map()) == {}
        dispose()


# Envelopes.


_BAD: list[tuple[str, JsonValue, list[str]]] = [
    (DISCOVER, {"scope": "t.one"}, ["/scope"]),
    (DISCOVER, {"scope": [1]}, ["/scope/0"]),
    (DISCOVER, {"includeUnavailable": "yes"}, ["/includeUnavailable"]),
    (DISCOVER, {"scopes": []}, ["/scopes"]),
    (DISCOVER, [], [""]),
    (SURFACE_READ, None, ["/capabilityId"]),
    (SURFACE_READ, {}, ["/capabilityId"]),
    (SURFACE_READ, {"capabilityId": 7}, ["/capabilityId"]),
    (SURFACE_READ, {"capabilityId": READ, "input": {}}, ["/input"]),
    (SURFACE_READ, {"capabilityId": READ, "instanceId": None}, ["/instanceId"]),
    (SURFACE_ACT, {}, ["/capabilityId"]),
    (SURFACE_ACT, {"capabilityId": ""}, ["/capabilityId"]),
    (SURFACE_ACT, {"capabilityId": ACT, "input": ["a"]}, ["/input"]),
    (SURFACE_ACT, {"capabilityId": ACT, "mode": "replace"}, ["/mode"]),
    (SURFACE_ACT, {"input": "{}", "invocationId": ""}, ["/capabilityId", "/invocationId"]),
    (SURFACE_ACT, {"capabilityId": ACT, "surfaceVersion": 3}, ["/surfaceVersion"]),
    (SURFACE_ACT, {"capabilityId": ACT, "confirmationId": True}, ["/confirmationId"]),
    # Blank is not absent: taken for absent, it would widen the target or drop the evidence without a word.
    (SURFACE_READ, {"capabilityId": READ, "instanceId": "", "registrationId": ""}, ["/instanceId", "/registrationId"]),
    (SURFACE_ACT, {"capabilityId": ACT, "confirmationId": ""}, ["/confirmationId"]),
    (SURFACE_ACT, {"capabilityId": ACT, "surfaceVersion": ""}, ["/surfaceVersion"]),
    (SURFACE_ACT, "act", [""]),
]


@pytest.mark.requirement("AS-META-007")
@pytest.mark.parametrize(("verb", "envelope", "paths"), _BAD)
async def test_a_wrong_envelope_is_refused_by_the_verb_with_the_key_named(
    verb: str, envelope: JsonValue, paths: list[str]
) -> None:
    """Before the registry is asked for anything: only here can the envelope be told from the input in it."""
    fake = FakeSurface()
    with create_agent_toolset(fake, consumer=CONSUMER, mode="meta", confirmations="two-phase") as toolset:
        result = await _tool(toolset, verb).execute(envelope, tool_call_id="toolu_1")
    code, details = refusal(result)
    assert code == "INVALID_INPUT"
    issues = details["issues"]
    assert isinstance(issues, list)
    assert [issue["path"] for issue in issues if isinstance(issue, dict)] == paths
    assert isinstance(result, InvocationError)
    assert (result.error.retry.value, result.invocation_id) == ("with-changes", "toolu_1")
    assert (fake.calls, fake.snapshots) == ([], 0)


@pytest.mark.requirement("AS-META-007")
async def test_an_argument_beside_the_input_is_told_where_it_belongs(surface: Surface) -> None:
    """The usual mistake becomes one repetition instead of a dead end."""
    with _meta(surface) as toolset:
        _, details = refusal(await _call(toolset, SURFACE_ACT, capabilityId=ACT, ids=["a"]))
        assert "go into input" in json.dumps(details)


@pytest.mark.requirement("AS-META-008")
@pytest.mark.allow_logs("agent_surface.toolset")
async def test_json_text_is_read_where_the_target_takes_an_object(surface: Surface) -> None:
    """And holds one; text that does not is the envelope's fault."""
    seen: list[object] = []
    surface.mount(act=seen.append)
    with _meta(surface) as toolset:
        assert (await _call(toolset, SURFACE_ACT, capabilityId=ACT, input='{"ids": ["a"]}')).status == "ok"
        assert seen == [{"ids": ["a"]}]
        for text in ('["a"]', "ids", "", "null", "[" * 100_000):
            code, details = refusal(await _call(toolset, SURFACE_ACT, capabilityId=ACT, input=text))
            assert (code, details) == (
                "INVALID_INPUT",
                {"issues": [{"path": "/input", "message": "must be an object"}]},
            )
        code, _ = refusal(await _call(toolset, SURFACE_ACT, capabilityId=ACT, input='{"n": NaN}'))
        assert (code, len(seen)) == ("INVALID_INPUT", 1)


@pytest.mark.requirement("AS-META-008")
async def test_text_for_anything_else_arrives_as_it_is() -> None:
    """A target that takes text gets it, and one that is not known is the registry's to answer."""
    fake = FakeSurface()
    fake.action("say", input_schema={"type": "string"})
    with create_agent_toolset(fake, consumer=CONSUMER, mode="meta", confirmations="two-phase") as toolset:
        await _tool(toolset, SURFACE_ACT).execute({"capabilityId": "view:things.list.say", "input": '{"a": 1}'})
        await _tool(toolset, SURFACE_ACT).execute({"capabilityId": "view:things.list.gone", "input": '{"a": 1}'})
    assert [call.input for call in fake.calls] == ['{"a": 1}', '{"a": 1}']


# What a call means.


def _without_ids(result: AgentInvocationResult) -> dict[str, JsonValue]:
    told = result.to_json()
    del told["invocationId"]
    return told


def _echo(value: JsonValue) -> JsonValue:
    return value


def _ready(surface: Surface) -> None:
    surface.mount(read=lambda: 7, act=_echo)


def _unavailable(surface: Surface) -> None:
    surface.mount(
        read=ObservationBinding(read=zero, when=lambda: False, unavailable_reason="Not loaded."),
        act=ActionBinding(execute=nothing, when=lambda: False, unavailable_reason="Pick a row first."),
    )


@pytest.mark.requirement("AS-ADAPTER-004", "AS-ADAPTER-002")
@pytest.mark.parametrize("mount", [_ready, _unavailable])
@pytest.mark.parametrize("tool_input", [{}, {"a": 1}])
@pytest.mark.parametrize("capability_id", [ACT, READ, GO])
async def test_a_call_ends_as_the_direct_tools_call_does(
    surface: Surface, mount: Callable[[Surface], None], tool_input: dict[str, JsonValue], capability_id: str
) -> None:
    """Value, refusal, details and version: the same pipeline, relayed without loss."""
    mount(surface)
    with (
        _meta(surface) as meta,
        create_agent_toolset(surface.registry, consumer=ALICE, confirmations="two-phase") as direct,
    ):
        (tool,) = [tool for tool in direct.tools() if tool.definition.capability_id == capability_id]
        if tool.definition.kind is CapabilityKind.OBSERVATION:
            told = await _call(meta, SURFACE_READ, capabilityId=capability_id)
            expected = await tool.execute({})
        else:
            told = await _call(meta, SURFACE_ACT, capabilityId=capability_id, input=tool_input)
            expected = await tool.execute(tool_input)
        assert _without_ids(told) == _without_ids(expected)


@pytest.mark.requirement("AS-ADAPTER-004")
@pytest.mark.parametrize(("verb", "capability_id"), [(SURFACE_READ, READ), (SURFACE_ACT, ACT)])
async def test_a_target_that_several_offer_is_ambiguous_until_it_is_named(
    surface: Surface, verb: str, capability_id: str
) -> None:
    """No registration is invented for it: a refresh would change nothing."""
    surface.mount(instance_id="left", read=lambda: 1, act=lambda: 1)
    right = surface.mount(instance_id="right", read=lambda: 2, act=lambda: 2)
    with _meta(surface) as toolset:
        assert refusal(await _call(toolset, verb, capabilityId=capability_id)) == (
            "AMBIGUOUS_INSTANCE",
            {"instances": ["left", "right"]},
        )
        by_instance = await _call(toolset, verb, capabilityId=capability_id, instanceId="right")
        by_registration = await _call(toolset, verb, capabilityId=capability_id, registrationId=right.registration_id)
        assert (output(by_instance), output(by_registration)) == (2, 2)


@pytest.mark.requirement("AS-ADAPTER-004")
@pytest.mark.parametrize("verb", [SURFACE_READ, SURFACE_ACT])
async def test_what_is_unknown_malformed_or_hidden_does_not_exist(verb: str) -> None:
    """Three times the same answer."""

    class Hider:
        name = "hider"

        def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
            return HIDE

    surface = Surface()
    surface.mount(
        read=ObservationBinding(read=zero, policies=[Hider()]), act=ActionBinding(execute=nothing, policies=[Hider()])
    )
    hidden = READ if verb == SURFACE_READ else ACT
    with _meta(surface) as toolset:
        answers = [
            {**_without_ids(await _call(toolset, verb, capabilityId=name)), "capabilityId": ""}
            for name in (hidden, "view:t.one.other", "view:t.gone.act", "nonsense", "domain:x", "view:" + "a" * 300)
        ]
        assert all(answer == answers[0] for answer in answers)
        error = answers[0]["error"]
        assert isinstance(error, dict)
        assert error["code"] == "CAPABILITY_NOT_FOUND"
    surface.registry.close()


async def test_reading_never_acts(surface: Surface) -> None:
    """A client may run what only reads without asking anybody."""
    ran: list[object] = []
    _dangerous(surface, ran)
    with _meta(surface) as toolset:
        for target in (ACT, GO, DANGEROUS):
            code, details = refusal(await _call(toolset, SURFACE_READ, capabilityId=target))
            assert code == "INVALID_INPUT"
            assert details == {"issues": [{"path": "/capabilityId", "message": "is no observation; use surface_act"}]}
    assert ran == []


@pytest.mark.requirement("AS-ADAPTER-005")
async def test_the_configured_scope_is_about_discovery_and_no_authority(surface: Surface) -> None:
    """Who may do what is for policies to say; a toolset promises nothing it does not enforce."""
    surface.mount(TWO, act=lambda: "done")
    with _meta(surface, scope=["t.one"]) as toolset:
        assert _types(await _discovered(toolset)) == []
        assert output(await _call(toolset, SURFACE_ACT, capabilityId="view:t.two.act")) == "done"


@pytest.mark.requirement("AS-META-004")
async def test_the_models_id_of_a_call_or_else_the_providers_makes_it_run_once(surface: Surface) -> None:
    """A repetition replays; the same id for something else is a conflict."""
    ran: list[object] = []
    surface.mount(act=ran.append)
    with _meta(surface) as toolset:
        for _ in range(2):
            own = await _tool(toolset, SURFACE_ACT).execute(
                {"capabilityId": ACT, "input": {"n": 1}, "invocationId": "mine"}, tool_call_id="toolu_1"
            )
            assert (own.status, own.invocation_id) == ("ok", "mine")
            given_id = await _tool(toolset, SURFACE_ACT).execute(
                {"capabilityId": ACT, "input": {"n": 2}}, tool_call_id="toolu_2"
            )
            assert (given_id.status, given_id.invocation_id) == ("ok", "toolu_2")
        other = await _call(toolset, SURFACE_ACT, capabilityId=ACT, input={"n": 3}, invocationId="mine")
        assert refusal(other)[0] == "INVOCATION_CONFLICT"
    assert ran == [{"n": 1}, {"n": 2}]


@pytest.mark.requirement("AS-META-004")
async def test_a_destructive_act_is_refused_when_the_surface_moved_under_the_plan(surface: Surface) -> None:
    """With the version the model gives, and without one with that of its last discovery, as a direct tool has one."""
    _dangerous(surface, [])
    with _meta(surface) as toolset:
        planned = (await _discovered(toolset))["surfaceVersion"]
        surface.mount(TWO)
        stale = ("STALE_CAPABILITY", "surface-version-mismatch")
        act: dict[str, JsonValue] = {"capabilityId": DANGEROUS, "input": {"ids": ["a"]}}
        for envelope in ({**act, "surfaceVersion": planned}, act):
            code, details = refusal(await _call(toolset, SURFACE_ACT, **envelope))
            assert (code, details["reason"]) == stale
        await _discovered(toolset)
        assert refusal(await _call(toolset, SURFACE_ACT, **act))[0] == "CONFIRMATION_REQUIRED"


@pytest.mark.requirement("AS-META-004")
async def test_a_component_that_was_replaced_or_went_is_told_as_in_direct_mode(surface: Surface) -> None:
    """The registration that the model presents selects alone."""
    first = surface.mount()
    first.unregister()
    with _meta(surface) as toolset:
        gone = await _call(toolset, SURFACE_ACT, capabilityId=ACT, registrationId=first.registration_id)
        assert refusal(gone) == ("COMPONENT_UNMOUNTED", {"phase": "resolve"})
        second = surface.mount()
        for verb, target in ((SURFACE_ACT, ACT), (SURFACE_READ, READ)):
            replaced = await _call(toolset, verb, capabilityId=target, registrationId=first.registration_id)
            assert refusal(replaced) == (
                "STALE_CAPABILITY",
                {"reason": "registration-replaced", "liveRegistrationId": second.registration_id},
            )


# The person.


@pytest.mark.requirement("AS-META-004", "AS-CONFIRM-006")
async def test_in_two_phases_the_model_presents_the_evidence_and_it_works_once(surface: Surface) -> None:
    """For exactly the approved input, though the surface has moved meanwhile."""
    ran: list[object] = []
    _dangerous(surface, ran)
    with _meta(surface) as toolset:
        version = (await _discovered(toolset))["surfaceVersion"]
        act: dict[str, JsonValue] = {"capabilityId": DANGEROUS, "input": {"ids": ["a"]}, "surfaceVersion": version}
        code, details = refusal(await _call(toolset, SURFACE_ACT, **act))
        assert (code, ran) == ("CONFIRMATION_REQUIRED", [])
        evidence = details["confirmationId"]
        assert surface.approve() == evidence
        surface.mount(TWO)
        changed: dict[str, JsonValue] = {**act, "input": {"ids": ["b"]}, "confirmationId": evidence}
        other = await _call(toolset, SURFACE_ACT, **changed)
        assert refusal(other) == ("CONFIRMATION_INVALID", {"reason": "mismatch"})
        assert output(await _call(toolset, SURFACE_ACT, **act, confirmationId=evidence)) == 1
        again = await _call(toolset, SURFACE_ACT, **act, confirmationId=evidence)
        assert refusal(again) == ("CONFIRMATION_INVALID", {"reason": "consumed"})
        assert ran == [[["a"], ""]]


@pytest.mark.requirement("AS-META-004")
@pytest.mark.parametrize("approved", [True, False])
async def test_in_wait_mode_one_act_has_one_result(surface: Surface, approved: bool) -> None:
    """The person's words included; evidence that is out of date is told, not asked for anew."""
    ran: list[object] = []
    surface.mount(ASKING, act=ran.append)
    with _meta(surface, confirmations="wait") as toolset:
        task = asyncio.create_task(_call(toolset, SURFACE_ACT, capabilityId=ASKING_ACT, input={"n": 1}))
        await turns()
        evidence = surface.pending().confirmation_id
        surface.registry.confirmations.resolve(evidence, approved=approved, note="Later.")
        result = await task
        if approved:
            assert (result.status, ran) == ("ok", [{"n": 1}])
            used = await _call(toolset, SURFACE_ACT, capabilityId=ASKING_ACT, input={"n": 1}, confirmationId=evidence)
            assert refusal(used) == ("CONFIRMATION_INVALID", {"reason": "consumed"})
            assert list(surface.registry.confirmations.pending()) == []
        else:
            assert refusal(result) == ("CONFIRMATION_INVALID", {"reason": "denied", "note": "Later."})
            assert ran == []


@pytest.mark.requirement("AS-TOPO-003")
async def test_closing_settles_what_waits_and_answers_what_comes_later(surface: Surface) -> None:
    """Every verb, also when the registry goes first."""
    surface.mount(ASKING)
    toolset = _meta(surface, confirmations="wait")
    tools = toolset.tools()
    task = asyncio.create_task(_call(toolset, SURFACE_ACT, capabilityId=ASKING_ACT))
    await turns()
    toolset.close()
    results = [await task]
    assert list(surface.registry.confirmations.pending()) == []
    assert list(toolset.tools()) == []
    other = _meta(surface)
    surface.registry.close()
    results += [
        await tool.execute({} if tool.name == DISCOVER else {"capabilityId": ACT}) for tool in (*tools, *other.tools())
    ]
    assert [result.error.code for result in results if isinstance(result, InvocationError)] == [ErrorCode.CANCELLED] * 7
    other.close()


@pytest.mark.requirement("AS-ADAPTER-002")
async def test_a_surface_that_breaks_is_logged_and_answered(expected_logs: list[LogRecord]) -> None:
    """A loop of a model has no use for an exception of ours."""

    class Broken(FakeSurface):
        @override
        def snapshot(self, context: SnapshotContext | None = None) -> NoReturn:
            raise OSError("broken")

    with create_agent_toolset(Broken(), consumer=CONSUMER, mode="meta", confirmations="two-phase") as toolset:
        result = await _call(toolset, DISCOVER)
    assert refusal(result)[0] == "EXECUTION_FAILED"
    assert [record.getMessage() for record in expected_logs] == ["surface_discover failed outside the pipeline"]


@pytest.mark.requirement("AS-META-004")
async def test_evidence_that_the_model_presents_is_judged_as_it_is() -> None:
    """An expired one is told; only what the toolset remembered by itself begins anew by itself."""
    fake = FakeSurface()
    fake.procedure("things.drop")

    def full() -> None:
        raise capability_error(ErrorCode.RATE_LIMITED)

    fake.admit = full
    act: dict[str, JsonValue] = {"capabilityId": "domain:things.drop", "input": {"n": 1}}
    with create_agent_toolset(fake, consumer=CONSUMER, mode="meta", confirmations="wait") as toolset:
        task = asyncio.create_task(_call(toolset, SURFACE_ACT, **act))
        await turns()
        (evidence,) = fake.pending_ids()
        fake.answer(approved=True)
        assert refusal(await task)[0] == "RATE_LIMITED"
        fake.clock.advance(200_000)
        told = asyncio.create_task(_call(toolset, SURFACE_ACT, **act, confirmationId=evidence))
        await turns()
        assert fake.pending_ids() == []
        assert refusal(await told) == ("CONFIRMATION_INVALID", {"reason": "expired"})
        assert [call.confirmation_id for call in fake.calls] == [None, evidence, evidence]
