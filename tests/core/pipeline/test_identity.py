"""One request, one execution: joining, replaying, refusing; and which live component a request means."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, call-overload, index, var-annotated"
# pyright: reportArgumentType=false, reportCallIssue=false, reportIndexIssue=false, reportOptionalSubscript=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from agent_surface import (
    HIDE,
    AgentConsumer,
    AgentInvocation,
    AgentInvocationResult,
    AgentSurfaceDefinitionError,
    AgentSurfaceLimits,
    ConsumerKind,
    DiscoveryDecision,
    InvocationError,
    PolicyContext,
    ServiceExecutor,
    bind_procedure,
    create_agent_surface_registry,
    rate_limit,
)
from agent_surface._base._json import MAX_JSON_DEPTH
from agent_surface.testing import contract_authority
from tests.core.surface_fixtures import (
    ACT,
    ALICE,
    ASKING,
    BOB,
    DISABLE,
    ONE,
    READ,
    RENAME,
    TWO,
    Surface,
    nothing,
    output,
    refusal,
    turns,
    zero,
)

CONFLICT = ("INVOCATION_CONFLICT", {"reason": "id-reused-with-different-request"})


class _Counter:
    """Counts executions; answers with the count."""

    def __init__(self) -> None:
        self.ran = 0

    def __call__(self) -> dict[str, int]:
        self.ran += 1
        return {"ran": self.ran}


@pytest.mark.requirement("AS-IDENT-001")
async def test_a_repeated_request_gets_the_result_it_had(surface: Surface) -> None:
    """Verbatim, without executing, telling or recording anything again."""
    act = _Counter()
    surface.mount(act=act)
    first = await surface.invoke(ACT, {"a": 1}, invocation_id="i-1")
    surface.mount(TWO)
    assert await surface.invoke(ACT, {"a": 1}, invocation_id="i-1") is first
    assert (act.ran, len(surface.sink.records), len(surface.told("invocation-started"))) == (1, 1, 1)


@pytest.mark.requirement("AS-IDENT-001")
async def test_a_failed_result_is_replayed_too(surface: Surface) -> None:
    """It is as terminal as a good one."""
    first = await surface.invoke("view:t.nope.act", invocation_id="i-1")
    surface.mount()
    assert await surface.invoke("view:t.nope.act", invocation_id="i-1") is first


@pytest.mark.requirement("AS-IDENT-001")
async def test_requests_in_flight_join(surface: Surface) -> None:
    """One execution, one settlement, the same result for all."""
    go_on = asyncio.Event()
    act = _Counter()

    async def waiting() -> dict[str, int]:
        await go_on.wait()
        return act()

    surface.mount(act=waiting)
    tasks = [surface.start(ACT, {"a": 1}, invocation_id="i-1") for _ in range(5)]
    await turns()
    go_on.set()
    results = await asyncio.gather(*tasks)
    assert all(result is results[0] for result in results)
    assert (act.ran, surface.told("invocation-settled")) == (1, ["invocation-settled"])


@pytest.mark.requirement("AS-IDENT-001")
async def test_equal_requests_are_equal_however_they_are_written(surface: Surface) -> None:
    """Order of keys and notation of numbers mean nothing."""
    act = _Counter()
    surface.mount(act=act)
    first = await surface.invoke(ACT, {"a": 1, "b": 2.0}, invocation_id="i-1")
    assert await surface.invoke(ACT, {"b": 2, "a": 1.0}, invocation_id="i-1") is first
    assert act.ran == 1


@pytest.mark.requirement("AS-IDENT-001")
async def test_an_input_as_deep_as_json_may_be_here_has_a_fingerprint(surface: Surface) -> None:
    """What is wrapped around the input to tell requests apart takes none of the depth it may have."""
    act = _Counter()
    surface.mount(act=act)
    deep: object = 1
    for _ in range(MAX_JSON_DEPTH - 1):
        deep = [deep]
    first = await surface.invoke(ACT, {"a": deep}, invocation_id="i-1")
    assert first.to_json()["status"] == "ok"
    assert await surface.invoke(ACT, {"a": deep}, invocation_id="i-1") is first
    assert refusal(await surface.invoke(ACT, {"a": [deep]}))[0] == "INVALID_INPUT"


@pytest.mark.requirement("AS-IDENT-002", "AS-IDENT-003")
@pytest.mark.parametrize("in_flight", [True, False], ids=["in flight", "settled"])
@pytest.mark.parametrize(
    "other",
    [
        {"input": {"a": 2}},
        {"input": None},
        {"capability_id": READ, "input": None},
        {"instance_id": "default"},
        {"registration_id": "reg_1_x"},
        {"surface_version": "1"},
        {"confirmation_id": "cnf_1"},
    ],
    ids=lambda value: next(iter(value)) + str(len(value)) + str(next(iter(value.values()))),
)
async def test_an_id_stands_for_one_request(surface: Surface, in_flight: bool, other: dict[str, str]) -> None:
    """Another one under it is a conflict, is not remembered, and leaves the first alone."""
    go_on = asyncio.Event()

    async def act() -> dict[str, int]:
        await go_on.wait()
        return {"a": 1}

    surface.mount(act=act)
    request = AgentInvocation(capability_id=ACT, input={"a": 1}, invocation_id="i-1")
    first = asyncio.ensure_future(surface.registry.invoke(request))
    await turns()
    if not in_flight:
        go_on.set()
        await first
    for _ in range(2):
        conflict = await surface.registry.invoke(replace(request, **other))
        assert refusal(conflict) == CONFLICT
        assert conflict.to_json()["error"]["retry"] == "with-changes"
    go_on.set()
    assert output(await first) == {"a": 1}
    assert await surface.registry.invoke(request) is first.result()


@pytest.mark.requirement("AS-IDENT-002", "AS-OBSV-001")
async def test_a_conflict_is_in_the_audit_with_both_fingerprints(surface: Surface) -> None:
    """Somebody reuses ids; the agent is told no more than that."""
    surface.mount()
    await surface.invoke(ACT, {"a": 1}, invocation_id="i-1")
    result = await surface.invoke(ACT, {"a": 2}, invocation_id="i-1")
    record = surface.audited()[-1]
    assert (record.code, record.phase, record.invocation_id) == ("INVOCATION_CONFLICT", 1, "i-1")
    assert len({record.facts["known"], record.facts["presented"]}) == 2
    assert str(record.facts["known"]) not in str(result.to_json())


@pytest.mark.requirement("AS-IDENT-004")
async def test_consumers_do_not_share_ids(surface: Surface) -> None:
    """Kind and id together make a consumer."""
    act = _Counter()
    surface.mount(act=act)
    consumers = [
        ALICE,
        BOB,
        None,
        AgentConsumer(id="alice"),
        AgentConsumer(id="alice", kind=ConsumerKind.MCP_BRIDGE),
    ]
    results = [
        await surface.invoke(ACT, {"n": index}, invocation_id="i-1", consumer=c) for index, c in enumerate(consumers)
    ]
    assert [output(result) for result in results] == [{"ran": index + 1} for index in range(len(consumers))]
    again = AgentConsumer(id="alice", kind=ConsumerKind.TEST, grants=("more",))
    assert await surface.invoke(ACT, {"n": 0}, invocation_id="i-1", consumer=again) is results[0]


@pytest.mark.requirement("AS-IDENT-005", "AS-BOUND-002")
async def test_the_window_ends_with_time(surface: Surface) -> None:
    """Afterwards the id is a new attempt, for any request."""
    act = _Counter()
    surface.mount(act=act)
    await surface.invoke(ACT, {"a": 1}, invocation_id="i-1")
    surface.clock.advance(599_999)
    assert output(await surface.invoke(ACT, {"a": 1}, invocation_id="i-1")) == {"ran": 1}
    surface.clock.advance(1)
    assert output(await surface.invoke(ACT, {"a": 2}, invocation_id="i-1")) == {"ran": 2}


@pytest.mark.requirement("AS-IDENT-005", "AS-BOUND-002")
async def test_the_window_is_bounded_and_forgets_the_least_recently_used() -> None:
    """So what is replayed depends on the calls alone."""
    surface = Surface(limits=AgentSurfaceLimits(dedupe_cache_size=2))
    act = _Counter()
    surface.mount(act=act)

    async def ran(invocation_id: str) -> object:
        result = output(await surface.invoke(invocation_id=invocation_id))
        assert isinstance(result, dict)
        return result["ran"]

    assert [await ran("a"), await ran("b"), await ran("a"), await ran("c")] == [1, 2, 1, 3]
    assert [await ran("a"), await ran("c"), await ran("b")] == [1, 3, 4]
    assert surface.registry.statistics().remembered_results == 2
    surface.registry.close()


@pytest.mark.requirement("AS-IDENT-005")
async def test_a_call_in_flight_is_never_forgotten() -> None:
    """However many settle meanwhile, and however long it takes."""
    surface = Surface(limits=AgentSurfaceLimits(dedupe_cache_size=1))
    go_on = asyncio.Event()
    act = _Counter()

    async def waiting() -> dict[str, int]:
        await go_on.wait()
        return act()

    surface.mount(act=waiting)
    first = surface.start(invocation_id="i-1", timeout_ms=10**9)
    await turns()
    for index in range(5):
        await surface.invoke(READ, invocation_id=f"r-{index}")
    surface.clock.advance(10_000_000)
    second = surface.start(invocation_id="i-1", timeout_ms=10**9)
    await turns()
    go_on.set()
    assert await first is await second
    assert act.ran == 1
    surface.registry.close()


@pytest.mark.requirement("AS-IDENT-006", "AS-CONFIRM-006")
async def test_asking_a_person_leaves_the_id_free_and_the_retry_executes_once(surface: Surface) -> None:
    """With the evidence it is another request under the same id, and the only one that executes."""
    act = _Counter()
    surface.mount(ASKING, act=act)
    asking = "view:t.asking.act"
    first = await surface.invoke(asking, {"a": 1}, invocation_id="i-1")
    again = await surface.invoke(asking, {"a": 1}, invocation_id="i-1")
    assert refusal(first)[0] == refusal(again)[0] == "CONFIRMATION_REQUIRED"
    assert refusal(first)[1]["confirmationId"] == refusal(again)[1]["confirmationId"]
    evidence = surface.approve()
    done = await surface.invoke(asking, {"a": 1}, invocation_id="i-1", confirmation_id=evidence)
    assert output(done) == {"ran": 1}
    assert await surface.invoke(asking, {"a": 1}, invocation_id="i-1", confirmation_id=evidence) is done
    assert act.ran == 1


@pytest.mark.requirement("AS-IDENT-006")
async def test_a_refused_rate_leaves_the_id_free() -> None:
    """The expected retry gets through."""
    surface = Surface(policies=(rate_limit(capacity=1, refill_per_second=1),))
    act = _Counter()
    surface.mount(act=act)
    assert output(await surface.invoke(invocation_id="i-0")) == {"ran": 1}
    assert refusal(await surface.invoke(invocation_id="i-1"))[0] == "RATE_LIMITED"
    surface.clock.advance(1_000)
    assert output(await surface.invoke(invocation_id="i-1")) == {"ran": 2}
    surface.registry.close()


@pytest.mark.requirement("AS-IDENT-006", "AS-SER-001")
@pytest.mark.parametrize(
    "value",
    [{1, 2}, float("nan"), {"a": float("inf")}, {"a": (1,)}, {1: 2}, "\ud800", object()],
    ids=["set", "nan", "infinity", "tuple", "key", "surrogate", "object"],
)
async def test_an_input_that_is_no_json_is_refused_and_not_remembered(surface: Surface, value: object) -> None:
    """There is no request to remember."""
    act = _Counter()
    surface.mount(act=act)
    result = await surface.invoke(ACT, value, invocation_id="i-1")
    code, details = refusal(result)
    assert code == "INVALID_INPUT"
    assert isinstance(details["issues"], list)
    assert output(await surface.invoke(ACT, {"a": 1}, invocation_id="i-1")) == {"ran": 1}


@pytest.mark.requirement("AS-SER-001")
async def test_an_input_that_is_too_large_is_refused_by_its_bytes() -> None:
    """UTF-8 bytes of the compact form, not characters."""
    surface = Surface(limits=AgentSurfaceLimits(max_input_bytes=20))
    surface.mount(act=_Counter())
    assert output(await surface.invoke(ACT, {"a": "x" * 12})) == {"ran": 1}
    assert refusal(await surface.invoke(ACT, {"a": "x" * 13}))[0] == "INVALID_INPUT"
    assert refusal(await surface.invoke(ACT, {"a": "é" * 7}))[0] == "INVALID_INPUT"
    surface.registry.close()


@pytest.mark.requirement("AS-IDENT-005")
async def test_ids_have_a_length(surface: Surface) -> None:
    """An agent's too long one is its mistake, a consumer's that of the program."""
    surface.mount(act=_Counter())
    assert output(await surface.invoke(invocation_id="x" * 128)) == {"ran": 1}
    for bad in ("x" * 129, "", 5):
        assert refusal(await surface.invoke(invocation_id=bad))[0] == "INVALID_INPUT"
    with pytest.raises(AgentSurfaceDefinitionError):
        await surface.invoke(consumer=AgentConsumer(id="x" * 129))


# ---------------------------------------------------------------------------------------------------- resolution


@pytest.mark.requirement("AS-STALE-001")
@pytest.mark.parametrize(
    "capability_id",
    [
        "",
        "view",
        "view:",
        ":",
        "view:act",
        "view:t.one.",
        "view:t.one.Act",
        "view:t.one.do_it",
        "view:T.one.act",
        "view:t..one.act",
        "view: t.one.act",
        "view:t.one.act ",
        "domain:",
        "other:t.one.act",
        "x" * 500,
        "view:t.one." + "a" * 200,
        "domain:" + "x" * 200,
        "view:t.one.äct",
        "domain:\ud800",
        "../../etc/passwd",
        "view:t.one.act\n",
        "VIEW:t.one.act",
        None,
        5,
        b"view:t.one.act",
        ["view:t.one.act"],
    ],
)
async def test_a_malformed_id_is_not_found_and_never_an_exception(surface: Surface, capability_id: str) -> None:
    """Also with a registration id or an instance, and next to live components."""
    handle = surface.mount()
    dead = surface.mount(TWO)
    dead.unregister()
    for fields in ({}, {"registration_id": handle.registration_id}, {"registration_id": dead.registration_id}):
        assert refusal(await surface.invoke(capability_id, **fields)) == ("CAPABILITY_NOT_FOUND", {})


@pytest.mark.requirement("AS-STALE-001")
async def test_one_live_instance_needs_no_name_and_several_do(surface: Surface) -> None:
    """The answer lists those that there are, sorted."""
    surface.mount(instance_id="b", act=lambda: {"who": "b"})
    assert output(await surface.invoke()) == {"who": "b"}
    surface.mount(instance_id="a", act=lambda: {"who": "a"})
    assert refusal(await surface.invoke()) == ("AMBIGUOUS_INSTANCE", {"instances": ["a", "b"]})
    assert output(await surface.invoke(instance_id="a")) == {"who": "a"}
    assert refusal(await surface.invoke(instance_id="c")) == ("CAPABILITY_NOT_FOUND", {})


@pytest.mark.requirement("AS-STALE-001")
async def test_a_registration_id_selects_alone(surface: Surface) -> None:
    """Among several instances it needs no other word, and a wrong instance beside it means nothing."""
    surface.mount(instance_id="a", act=lambda: {"who": "a"})
    b = surface.mount(instance_id="b", act=lambda: {"who": "b"})
    assert output(await surface.invoke(registration_id=b.registration_id)) == {"who": "b"}
    assert output(await surface.invoke(registration_id=b.registration_id, instance_id="a")) == {"who": "b"}


@pytest.mark.requirement("AS-STALE-001")
async def test_a_token_of_another_registry_is_of_a_reloaded_surface(surface: Surface) -> None:
    """With the live component if there is one, else there is nothing."""
    other = create_agent_surface_registry(authority=contract_authority(ONE), environment="test")
    bound = ONE.bind(observations={"read": zero}, actions={"act": nothing, "go": nothing})
    token = other.register(bound).registration_id
    other.close()
    assert refusal(await surface.invoke(registration_id=token)) == ("CAPABILITY_NOT_FOUND", {})
    live = surface.mount()
    for bad in (token, "reg_1_" + "0" * 16, "reg_", "nonsense", "", "reg_1_\ud800", "reg_99999999999999999999_a"):
        assert refusal(await surface.invoke(registration_id=bad)) == (
            "STALE_CAPABILITY",
            {"reason": "surface-reloaded", "liveRegistrationId": live.registration_id},
        )


@pytest.mark.requirement("AS-STALE-001", "AS-BOUND-001")
async def test_a_component_that_went_is_unmounted_until_it_is_forgotten(surface: Surface) -> None:
    """By time."""
    handle = surface.mount()
    handle.unregister()
    assert refusal(await surface.invoke(registration_id=handle.registration_id)) == (
        "COMPONENT_UNMOUNTED",
        {"phase": "resolve"},
    )
    surface.clock.advance(299_999)
    assert refusal(await surface.invoke(registration_id=handle.registration_id))[0] == "COMPONENT_UNMOUNTED"
    surface.clock.advance(1)
    assert refusal(await surface.invoke(registration_id=handle.registration_id)) == ("CAPABILITY_NOT_FOUND", {})
    assert surface.registry.statistics().tombstones == 0


@pytest.mark.requirement("AS-BOUND-001")
async def test_only_so_many_components_that_went_are_remembered() -> None:
    """The oldest is forgotten first."""
    surface = Surface(limits=AgentSurfaceLimits(tombstone_size=2))
    handles = [surface.mount(instance_id=f"i{index}") for index in range(3)]
    for handle in handles:
        handle.unregister()
    codes = [refusal(await surface.invoke(registration_id=handle.registration_id))[0] for handle in handles]
    assert codes == ["CAPABILITY_NOT_FOUND", "COMPONENT_UNMOUNTED", "COMPONENT_UNMOUNTED"]
    assert surface.registry.statistics().tombstones == 2
    surface.registry.close()


@pytest.mark.requirement("AS-STALE-001", "AS-LIFE-005")
async def test_the_successor_is_that_of_the_same_instance(surface: Surface) -> None:
    """Also long after the tombstone is gone, the registry knows its own ids."""
    gone = surface.mount(instance_id="a")
    gone.unregister()
    surface.mount(instance_id="b")
    assert refusal(await surface.invoke(registration_id=gone.registration_id))[0] == "COMPONENT_UNMOUNTED"
    live = surface.mount(instance_id="a")
    stale = ("STALE_CAPABILITY", {"reason": "registration-replaced", "liveRegistrationId": live.registration_id})
    assert refusal(await surface.invoke(registration_id=gone.registration_id)) == stale
    surface.clock.advance(1_000_000)
    assert refusal(await surface.invoke(registration_id=gone.registration_id, instance_id="a")) == stale


@pytest.mark.requirement("AS-STALE-001")
async def test_a_token_of_one_component_does_not_open_another(surface: Surface) -> None:
    """A live registration that does not offer the capability is not the one that does."""
    one, two = surface.mount(ONE), surface.mount(TWO)
    assert refusal(await surface.invoke(ACT, registration_id=two.registration_id)) == (
        "STALE_CAPABILITY",
        {"reason": "registration-replaced", "liveRegistrationId": one.registration_id},
    )
    two.unregister()
    assert refusal(await surface.invoke(ACT, registration_id=two.registration_id))[0] == "COMPONENT_UNMOUNTED"


@pytest.mark.requirement("AS-STALE-001")
async def test_a_surface_id_is_checked_when_it_is_given(surface: Surface) -> None:
    """A version under another surface means nothing."""
    handle = surface.mount(act=_Counter())
    assert refusal(await surface.invoke(surface_id="srf_other", surface_version=surface.registry.version)) == (
        "STALE_CAPABILITY",
        {"reason": "surface-reloaded", "liveRegistrationId": handle.registration_id},
    )
    assert output(await surface.invoke(surface_id=surface.registry.surface_id)) == {"ran": 1}


@pytest.mark.requirement("AS-STALE-002")
async def test_an_old_version_is_refused_for_dangerous_effects_only() -> None:
    """It changes all the time for reasons that have nothing to do with the call."""
    from agent_surface import define_agent_procedure_contract

    external = define_agent_procedure_contract(
        id="domain:t.send", description="Send", effect="external-side-effect", confirmation="never"
    )
    surface = Surface(
        ONE,
        DISABLE,
        RENAME,
        external,
        procedures=ServiceExecutor(
            {"devices.disable": lambda ids: 0, "devices.rename": lambda id, name: name, "t.send": lambda: None}
        ),
    )
    handle = surface.mount(
        act=_Counter(), procedures=[bind_procedure(DISABLE), bind_procedure(RENAME), bind_procedure(external)]
    )
    stale = (
        "STALE_CAPABILITY",
        {"reason": "surface-version-mismatch", "liveRegistrationId": handle.registration_id},
    )
    ids = {"ids": ["a"]}
    assert output(await surface.invoke(surface_version="0")) == {"ran": 1}
    rename = await surface.invoke("domain:devices.rename", {"id": "a", "name": "b"}, surface_version="0")
    assert output(rename) == "b"
    assert refusal(await surface.invoke("domain:devices.disable", ids, surface_version="0")) == stale
    assert refusal(await surface.invoke("domain:t.send", surface_version="0")) == stale
    assert output(await surface.invoke("domain:t.send", surface_version="1")) is None
    assert output(await surface.invoke("domain:t.send")) is None
    assert (
        refusal(await surface.invoke("domain:devices.disable", ids, surface_version="1"))[0] == "CONFIRMATION_REQUIRED"
    )
    surface.registry.close()


# -------------------------------------------------------------------------------------------------------- hidden


class _HideFromBob:
    """Hides what it is told to from Bob."""

    name = "hide"

    def __init__(self, *capability_ids: str, instance: str | None = None) -> None:
        self.capability_ids = capability_ids
        self.instance = instance

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        """Vote."""
        from agent_surface import EXPOSE

        hidden = context.capability_id in self.capability_ids and context.consumer == BOB
        return HIDE if hidden and self.instance in (None, context.internal.get("instance")) else EXPOSE


def _comparable(surface: Surface, result: AgentInvocationResult, capability_id: str) -> object:
    """All that an agent can see of a call, with the id it asked for taken out."""
    assert isinstance(result, InvocationError)
    events = [replace(e, capability_id="x", invocation_id="i") for e in surface.events if hasattr(e, "invocation_id")]
    payload = {key: value for key, value in result.to_json().items() if key not in ("capabilityId", "invocationId")}
    return str(payload).replace(capability_id, "x"), str(events)


@pytest.mark.requirement("AS-AVAIL-002", "AS-POLICY-003")
@pytest.mark.parametrize("mounted", [True, False], ids=["live", "gone"])
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"instance_id": "default"},
        {"registration_id": "?"},
        {"surface_version": "0"},
        {"surface_id": "x"},
        {"confirmation_id": "cnf_1"},
    ],
    ids=["plain", "instance", "registration", "version", "surface", "evidence"],
)
@pytest.mark.parametrize("input", [None, {"a": 1}, "no object"], ids=["nothing", "object", "text"])
async def test_what_is_hidden_answers_exactly_like_what_does_not_exist(
    mounted: bool,
    fields: dict[str, str | None],
    input: object,
) -> None:
    """Payload, events and what is remembered: nothing tells them apart."""
    hidden, unknown = ACT, "view:t.one.ask"
    seen = []
    for capability_id in (hidden, unknown):
        surface = Surface(policies=(_HideFromBob(hidden, "domain:devices.disable"),))
        handle = surface.mount(act=_Counter())
        if not mounted:
            handle.unregister()
        wanted = {key: (handle.registration_id if value == "?" else value) for key, value in fields.items()}
        surface.events.clear()
        parts = []
        for _ in range(2):
            result = await surface.invoke(capability_id, input, consumer=BOB, invocation_id="i-1", **wanted)
            parts.append(_comparable(surface, result, capability_id))
        seen.append((parts, surface.registry.statistics()))
        surface.registry.close()
    assert seen[0] == seen[1]


@pytest.mark.requirement("AS-AVAIL-002", "AS-STALE-001")
async def test_a_hidden_instance_is_named_nowhere() -> None:
    """Not among the instances to choose from, and not as the live one of a stale token."""
    surface = Surface(policies=(_HideFromBob(ACT, instance="secret"),))
    surface.mount(instance_id="a", act=lambda: {"who": "a"})
    surface.mount(instance_id="secret", internal={"instance": "secret"})
    assert output(await surface.invoke(consumer=BOB)) == {"who": "a"}
    assert refusal(await surface.invoke(consumer=ALICE)) == ("AMBIGUOUS_INSTANCE", {"instances": ["a", "secret"]})
    assert refusal(await surface.invoke(consumer=BOB, instance_id="secret")) == ("CAPABILITY_NOT_FOUND", {})
    surface.mount(instance_id="b")
    assert refusal(await surface.invoke(consumer=BOB)) == ("AMBIGUOUS_INSTANCE", {"instances": ["a", "b"]})
    surface.registry.close()


@pytest.mark.requirement("AS-AVAIL-002", "AS-STALE-001")
async def test_a_hidden_successor_is_not_given_away() -> None:
    """The old token of what is hidden now leads to what went, and no further."""
    surface = Surface(policies=(_HideFromBob(ACT, instance="secret"),))
    gone = surface.mount()
    gone.unregister()
    before = refusal(await surface.invoke(consumer=BOB, registration_id=gone.registration_id))
    surface.mount(internal={"instance": "secret"})
    assert refusal(await surface.invoke(consumer=BOB, registration_id=gone.registration_id)) == before
    surface.registry.close()
