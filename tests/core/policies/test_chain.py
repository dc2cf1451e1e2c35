"""Policies in a chain: order, agreement, refusal, and everything that can go wrong in one."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, index, list-item"
# pyright: reportArgumentType=false, reportIndexIssue=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from logging import LogRecord

import pytest

from agent_surface import (
    EXPOSE,
    HIDE,
    ActionBinding,
    AgentConsumer,
    AgentEnvironment,
    CallNext,
    DiscoveryDecision,
    PolicyContext,
    SnapshotContext,
    authenticated,
    capability_error,
    disable,
    environment,
    has_permission,
    rate_limit,
    tenant_boundary,
)
from agent_surface.errors import ErrorCode
from agent_surface.policies._builtin import MAX_BUCKETS
from tests.core.surface_fixtures import ACT, ALICE, BOB, GO, READ, Surface, nothing, refusal, turns

Hook = Callable[..., object]


class Policy:
    """Functions in place of hooks."""

    def __init__(self, name: str = "probe", **hooks: Hook) -> None:
        self.name = name
        for hook, function in hooks.items():
            setattr(self, hook, function)


def _act(surface: Surface, *policies: Policy, ran: list[str] | None = None) -> None:
    surface.mount(
        act=ActionBinding(execute=lambda: (ran if ran is not None else []).append("handler"), policies=policies)
    )


PHASES = ["on_authorize", "on_invoke"]


@pytest.mark.requirement("AS-POLICY-002")
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    "awaiting", [(), (0,), (1,), (2,), (0, 1, 2)], ids=["plain", "outer", "middle", "inner", "all"]
)
async def test_the_registrys_policies_are_the_outermost_and_the_capabilitys_the_innermost(
    phase: str, awaiting: tuple[int, ...]
) -> None:
    """An onion, whichever of them awaits; the innermost ``call_next`` does not execute the capability."""
    order: list[str] = []

    def make(index: int, name: str) -> Policy:
        def plain(_: PolicyContext, call_next: CallNext) -> Awaitable[object]:
            order.append(f"{name} in")
            passed = call_next()
            order.append(f"{name} out")
            return passed

        async def later(_: PolicyContext, call_next: CallNext) -> object:
            order.append(f"{name} in")
            await asyncio.sleep(0)
            passed = await call_next()
            order.append(f"{name} out")
            return passed

        return Policy(name, **{phase: later if index in awaiting else plain})

    surface = Surface(policies=(make(0, "registry"),))
    surface.mount(
        act=ActionBinding(execute=lambda: order.append("handler"), policies=[make(2, "capability")]),
        policies=[make(1, "component")],
    )
    assert (await surface.invoke()).status == "ok"
    assert order[-1] == "handler"
    ins = [item for item in order if item.endswith(" in")]
    assert ins == ["registry in", "component in", "capability in"]
    assert len(order) == 7
    surface.registry.close()


def _never_calls(_: PolicyContext, _next: CallNext) -> object:
    return None


def _calls_twice(_: PolicyContext, call_next: CallNext) -> object:
    call_next()
    return call_next()


def _calls_twice_and_hides_it(_: PolicyContext, call_next: CallNext) -> object:
    passed = call_next()
    try:
        call_next()
    except Exception:  # noqa: BLE001 - what a careless policy does
        return None
    return passed


def _forgets_to_return(_: PolicyContext, call_next: CallNext) -> object:
    call_next()
    return None


def _says_yes(_: PolicyContext, call_next: CallNext) -> object:
    call_next()
    return True


def _raises(_: PolicyContext, _next: CallNext) -> object:
    raise ValueError("secret of the policy")


def _swallows(_: PolicyContext, call_next: CallNext) -> object:
    try:
        return call_next()
    except Exception:  # noqa: BLE001 - what a careless policy does
        return None


async def _async_never_calls(_: PolicyContext, _next: CallNext) -> object:
    return None


async def _async_calls_twice(_: PolicyContext, call_next: CallNext) -> object:
    await call_next()
    return await call_next()


async def _async_forgets_to_await(_: PolicyContext, call_next: CallNext) -> object:
    call_next()
    return None


async def _async_raises(_: PolicyContext, call_next: CallNext) -> object:
    call_next()
    raise ValueError("secret of the policy")


async def _async_swallows(_: PolicyContext, call_next: CallNext) -> object:
    try:
        return await call_next()
    except Exception:  # noqa: BLE001 - what a careless policy does
        return None


async def _passes_later(_: PolicyContext, call_next: CallNext) -> object:
    await asyncio.sleep(0)
    return await call_next()


def _passes(_: PolicyContext, call_next: CallNext) -> object:
    return call_next()


BROKEN: Mapping[str, Hook] = {
    hook.__name__: hook
    for hook in (
        _never_calls,
        _calls_twice,
        _calls_twice_and_hides_it,
        _forgets_to_return,
        _says_yes,
        _raises,
        _async_never_calls,
        _async_calls_twice,
        _async_forgets_to_await,
        _async_raises,
    )
}


@pytest.mark.requirement("AS-POLICY-002")
@pytest.mark.allow_logs("agent_surface.policies")
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("hook", BROKEN)
@pytest.mark.parametrize("inner", [_passes, _passes_later], ids=["over a plain one", "over an async one"])
async def test_a_policy_that_does_not_decide_refuses(phase: str, hook: str, inner: Hook) -> None:
    """Whatever it does instead; nothing executes, nothing is left to be awaited, nothing of it is told."""
    ran: list[str] = []
    surface = Surface()
    _act(surface, Policy("outer", **{phase: BROKEN[hook]}), Policy("inner", **{phase: inner}), ran=ran)
    result = await surface.invoke()
    assert refusal(result) == ("NOT_AUTHORIZED", {"origin": "client"})
    assert "secret" not in str(result.to_json())
    await turns()
    assert ran == []
    assert surface.audited()[0].facts["policy"] == "outer"
    assert surface.idle()
    surface.registry.close()


@pytest.mark.requirement("AS-POLICY-002")
@pytest.mark.allow_logs("agent_surface.policies")
@pytest.mark.parametrize("outer", [_swallows, _async_swallows], ids=["plain", "async"])
@pytest.mark.parametrize("later", [True, False], ids=["later", "at once"])
async def test_a_refusal_inside_cannot_be_swallowed_into_an_agreement(
    surface: Surface, outer: Hook, later: bool
) -> None:
    """Who catches it has still nothing to return that would pass."""
    ran: list[str] = []

    def refuses(_: PolicyContext, _next: CallNext) -> object:
        raise capability_error(ErrorCode.NOT_AUTHENTICATED)

    async def refuses_later(_: PolicyContext, _next: CallNext) -> object:
        await asyncio.sleep(0)
        raise capability_error(ErrorCode.NOT_AUTHENTICATED)

    _act(
        surface,
        Policy("outer", on_authorize=outer),
        Policy("inner", on_authorize=refuses_later if later else refuses),
        ran=ran,
    )
    assert refusal(await surface.invoke())[0] in ("NOT_AUTHORIZED", "NOT_AUTHENTICATED")
    assert ran == []


@pytest.mark.requirement("AS-POLICY-002")
@pytest.mark.allow_logs("agent_surface.policies")
async def test_an_agreement_that_was_kept_from_another_call_is_none(surface: Surface) -> None:
    """What ``call_next`` returned once says nothing about the policies inside it now."""
    kept: list[object] = []
    ran: list[str] = []
    allowed = [True]

    def keeps(_: PolicyContext, call_next: CallNext) -> object:
        if not kept:
            kept.append(call_next())
        return kept[0]

    def inner(_: PolicyContext, call_next: CallNext) -> object:
        if not allowed[0]:
            raise capability_error(ErrorCode.NOT_AUTHORIZED)
        return call_next()

    _act(surface, Policy("outer", on_authorize=keeps), Policy("inner", on_authorize=inner), ran=ran)
    assert (await surface.invoke()).status == "ok"
    allowed[0] = False
    assert refusal(await surface.invoke())[0] == "NOT_AUTHORIZED"
    assert ran == ["handler"]


@pytest.mark.requirement("AS-POLICY-002")
async def test_the_audit_names_the_policy_that_refused_and_the_agent_is_not_told(surface: Surface) -> None:
    """The innermost one that did."""

    def refuses(_: PolicyContext, _next: CallNext) -> object:
        raise capability_error(ErrorCode.NOT_AUTHORIZED, details={"origin": "client"})

    _act(surface, Policy("outer", on_authorize=_passes), Policy("the-secret-policy", on_authorize=refuses))
    result = await surface.invoke()
    assert surface.audited()[0].facts["policy"] == "the-secret-policy"
    assert "the-secret-policy" not in str(result.to_json())


# ------------------------------------------------------------------------------------------------------ discovery


def _votes(*votes: DiscoveryDecision) -> list[Policy]:
    return [Policy(f"p{index}", on_discovery=lambda _, vote=vote: vote) for index, vote in enumerate(votes)]


@pytest.mark.requirement("AS-POLICY-002", "AS-POLICY-003")
@pytest.mark.parametrize(
    ("votes", "outcome"),
    [
        ([EXPOSE, EXPOSE, EXPOSE], "expose"),
        ([EXPOSE, disable("first"), disable("second")], "first"),
        ([disable("first"), EXPOSE, disable("second")], "first"),
        ([disable("first"), HIDE, EXPOSE], "hide"),
        ([EXPOSE, EXPOSE, HIDE], "hide"),
        ([HIDE, disable("x"), EXPOSE], "hide"),
    ],
    ids=["all expose", "first disable", "outer disable", "hide over disable", "inner hide", "outer hide"],
)
async def test_the_most_restrictive_vote_wins_at_discovery_and_again_at_the_call(
    votes: list[DiscoveryDecision], outcome: str
) -> None:
    """Any hide, else the first disable, else expose, across registry, component and capability."""
    registry, part, capability = _votes(*votes)
    ran: list[str] = []
    surface = Surface(policies=(registry,))
    surface.mount(act=ActionBinding(execute=lambda: ran.append("handler"), policies=[capability]), policies=[part])
    shown = {a.capability_id: a for c in surface.registry.snapshot().components for a in c.actions}.get(ACT)
    result = await surface.invoke()
    if outcome == "hide":
        assert shown is None
        assert refusal(result) == ("CAPABILITY_NOT_FOUND", {})
    elif outcome == "expose":
        assert shown is not None
        assert (shown.available, result.status) == (True, "ok")
    else:
        assert shown is not None
        assert (shown.available, shown.unavailable_reason) == (False, outcome)
        assert refusal(result) == ("CAPABILITY_NOT_AVAILABLE", {"reason": outcome})
    assert ran == (["handler"] if outcome == "expose" else [])
    surface.registry.close()


async def _votes_later(_: PolicyContext) -> DiscoveryDecision:
    return EXPOSE


@pytest.mark.requirement("AS-POLICY-002", "AS-AVAIL-002")
@pytest.mark.parametrize(
    "vote",
    [
        lambda _: 1 / 0,
        lambda _: None,
        lambda _: True,
        lambda _: "expose",
        lambda _: DiscoveryDecision(outcome="nonsense"),
        lambda _: DiscoveryDecision(outcome=["hide"]),
        lambda _: DiscoveryDecision(outcome=None),
        _votes_later,
    ],
    ids=["raises", "nothing", "true", "text", "unknown", "list", "no outcome", "async"],
)
async def test_a_vote_that_is_none_hides(surface: Surface, vote: Hook, expected_logs: list[LogRecord]) -> None:
    """Fails closed, and the log names the policy."""
    surface.mount(act=ActionBinding(execute=nothing, policies=[Policy("broken", on_discovery=vote)]))
    assert ACT not in surface.capability_ids()
    assert refusal(await surface.invoke()) == ("CAPABILITY_NOT_FOUND", {})
    assert all("broken" in record.getMessage() for record in expected_logs)
    assert expected_logs


@pytest.mark.requirement("AS-POLICY-002", "AS-AVAIL-002")
async def test_a_vote_written_as_text_counts_as_what_it_says(surface: Surface) -> None:
    """``"hide"`` in place of the member must not expose."""
    vote, other = DiscoveryDecision(outcome="hide"), DiscoveryDecision(outcome="expose")
    surface.mount(
        act=ActionBinding(execute=nothing, policies=[Policy(on_discovery=lambda _: vote)]),
        go=ActionBinding(execute=nothing, policies=[Policy(on_discovery=lambda _: other)]),
    )
    assert ACT not in surface.capability_ids()
    assert GO in surface.capability_ids()
    assert refusal(await surface.invoke())[0] == "CAPABILITY_NOT_FOUND"


@pytest.mark.requirement("AS-POLICY-003")
async def test_what_the_snapshot_showed_is_filtered_again_at_the_call(surface: Surface) -> None:
    """The vote of that moment counts, in both directions."""
    vote = [EXPOSE]
    ran: list[str] = []
    _act(surface, Policy(on_discovery=lambda _: vote[0]), ran=ran)
    assert ACT in surface.capability_ids()
    vote[0] = HIDE
    assert refusal(await surface.invoke()) == ("CAPABILITY_NOT_FOUND", {})
    vote[0] = disable("Locked.")
    assert refusal(await surface.invoke()) == ("CAPABILITY_NOT_AVAILABLE", {"reason": "Locked."})
    vote[0] = EXPOSE
    assert (await surface.invoke()).status == "ok"
    assert ran == ["handler"]


@pytest.mark.requirement("AS-POLICY-001", "AS-INVOKE-001")
async def test_a_policy_is_told_who_asks_for_what_and_when() -> None:
    """Everything of the context, the registry's clock among it."""
    contexts: list[PolicyContext] = []

    def on_authorize(context: PolicyContext, call_next: CallNext) -> object:
        contexts.append(context)
        return call_next()

    surface = Surface(context=lambda: {"user": "u-1"}, environment="development")
    handle = surface.mount(
        act=ActionBinding(execute=nothing, policies=[Policy(on_authorize=on_authorize)]), internal={"tenantId": "t-1"}
    )
    surface.clock.advance(77)
    await surface.invoke(consumer=ALICE)
    (context,) = contexts
    assert (context.capability_id, context.plane, context.kind, context.effect) == (
        ACT,
        "view",
        "action",
        "local-state",
    )
    assert (context.registration_id, context.consumer) == (handle.registration_id, ALICE)
    assert (dict(context.host), dict(context.internal)) == ({"user": "u-1"}, {"tenantId": "t-1"})
    assert (context.environment, context.clock.monotonic_ms()) == ("development", 77)
    for mapping in (context.host, context.internal, context.component_meta, context.capability_meta):
        with pytest.raises(TypeError):
            mapping["x"] = 1
    surface.registry.close()


# ------------------------------------------------------------------------------------------------------- built in


async def _both(surface: Surface, consumer: AgentConsumer | None = None) -> tuple[bool, str]:
    """Whether the action is shown, and what calling it answers."""
    context = SnapshotContext(consumer=consumer) if consumer is not None else None
    shown = any(a.capability_id == ACT for c in surface.registry.snapshot(context).components for a in c.actions)
    result = await surface.invoke(consumer=consumer)
    return shown, "ok" if result.status == "ok" else refusal(result)[0]


@pytest.mark.requirement("AS-POLICY-004")
async def test_the_built_in_policies_hide_what_they_would_refuse() -> None:
    """Signed in, permitted, of the tenant, in the environment; each with what it looks at replaced."""
    host: dict[str, object] = {}
    cases: list[tuple[object, dict[str, object]]] = [
        (authenticated(), {"user": "u"}),
        (authenticated("account"), {"account": "u"}),
        (has_permission("edit"), {"permissions": ["edit"]}),
        (has_permission("edit"), {"permissions": {"edit", "view"}}),
        (has_permission("edit", lambda context: context.host.get("role") == "admin"), {"role": "admin"}),
        (tenant_boundary(), {"tenantId": "t-1"}),
        (tenant_boundary("org"), {"org": "o-1"}),
        (tenant_boundary(host_tenant=lambda context: context.host.get("mine")), {"mine": "t-1"}),
        (
            tenant_boundary(component_tenant=lambda context: context.internal["org"]),
            {"tenantId": "o-1"},
        ),
    ]
    for policy, needed in cases:
        surface = Surface(context=lambda: host)
        surface.mount(
            act=ActionBinding(execute=nothing, policies=[policy]),
            internal={"tenantId": "t-1", "org": "o-1"},
        )
        for wrong in ({}, dict.fromkeys(needed), dict.fromkeys(needed, "editor")):
            host.clear()
            host.update(wrong)
            if wrong and next(iter(needed)) in ("user", "account") and wrong[next(iter(needed))]:
                continue
            assert await _both(surface) == (False, "CAPABILITY_NOT_FOUND"), (policy, wrong)
        host.clear()
        host.update(needed)
        assert await _both(surface) == (True, "ok"), policy
        surface.registry.close()


@pytest.mark.requirement("AS-POLICY-004")
@pytest.mark.parametrize(("name", "shown"), [("test", True), ("development", False)])
async def test_an_environment_sees_what_is_meant_for_it(name: AgentEnvironment, shown: bool) -> None:
    """Tools for development stay there."""
    surface = Surface(policies=(environment("test"),), environment=name)
    surface.mount()
    assert await _both(surface) == (shown, "ok" if shown else "CAPABILITY_NOT_FOUND")
    surface.registry.close()


@pytest.mark.requirement("AS-POLICY-004")
async def test_the_second_line_holds_where_discovery_was_passed(surface: Surface) -> None:
    """They act in authorization too, with the code of their kind."""
    codes = []
    for policy in (authenticated(), has_permission("edit"), tenant_boundary()):
        second = Policy(policy.name, on_authorize=policy.on_authorize)
        handle = surface.mount(act=ActionBinding(execute=nothing, policies=[second]), internal={"tenantId": "t-1"})
        codes.append(refusal(await surface.invoke())[0])
        handle.unregister()
    assert codes == ["NOT_AUTHENTICATED", "NOT_AUTHORIZED", "CAPABILITY_NOT_FOUND"]


@pytest.mark.requirement("AS-POLICY-001", "AS-POLICY-004")
async def test_a_bucket_of_tokens_refills_with_the_registrys_clock() -> None:
    """Per consumer and capability; the wait it names is exactly enough."""
    surface = Surface(policies=(rate_limit(capacity=2, refill_per_second=0.5),))
    surface.mount()
    codes = [(await surface.invoke(consumer=ALICE)).status for _ in range(3)]
    assert codes == ["ok", "ok", "error"]
    limited = refusal(await surface.invoke(consumer=ALICE))
    assert limited == ("RATE_LIMITED", {"reason": "rate", "retryAfterMs": 2_000})
    assert (await surface.invoke(consumer=BOB)).status == "ok"
    assert (await surface.invoke(READ, consumer=ALICE)).status == "ok"
    surface.clock.advance(1_999)
    assert refusal(await surface.invoke(consumer=ALICE)) == ("RATE_LIMITED", {"reason": "rate", "retryAfterMs": 1})
    surface.clock.advance(1)
    assert (await surface.invoke(consumer=ALICE)).status == "ok"
    surface.clock.advance(10**9)
    assert [(await surface.invoke(consumer=ALICE)).status for _ in range(3)] == ["ok", "ok", "error"]
    surface.registry.close()


@pytest.mark.requirement("AS-POLICY-001")
async def test_a_jump_of_the_wall_clock_fills_no_bucket() -> None:
    """Only the clock that never goes back counts."""
    surface = Surface(policies=(rate_limit(capacity=1, refill_per_second=1),))
    surface.mount()
    assert (await surface.invoke()).status == "ok"
    surface.clock.jump_wall_clock(10**9)
    assert refusal(await surface.invoke())[0] == "RATE_LIMITED"
    surface.clock.jump_wall_clock(-(10**9))
    assert refusal(await surface.invoke())[0] == "RATE_LIMITED"
    surface.registry.close()


@pytest.mark.requirement("AS-POLICY-004")
async def test_the_store_of_buckets_is_bounded() -> None:
    """Least recently used first."""
    policy = rate_limit(capacity=1, refill_per_second=0.001)
    surface = Surface(policies=(policy,))
    surface.mount()
    for index in range(MAX_BUCKETS + 1):
        assert (await surface.invoke(READ, consumer=AgentConsumer(id=str(index)))).status == "ok"
    assert len(policy._buckets) == MAX_BUCKETS
    assert refusal(await surface.invoke(READ, consumer=AgentConsumer(id=str(MAX_BUCKETS))))[0] == "RATE_LIMITED"
    surface.registry.close()


@pytest.mark.requirement("AS-POLICY-004")
@pytest.mark.parametrize(("capacity", "refill"), [(0, 1), (1, 0), (1, -1)])
def test_a_rate_that_lets_nothing_through_is_a_mistake(capacity: int, refill: float) -> None:
    """It would refuse for ever."""
    with pytest.raises(ValueError, match="rate_limit"):
        rate_limit(capacity=capacity, refill_per_second=refill)
