"""What is checked before a person is asked, what an approval is good for, and what is checked again."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, call-overload, dict-item, func-returns-value, index"
# mypy: disable-error-code="list-item, misc, return-value, union-attr, var-annotated"
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from logging import LogRecord

import pytest
from pydantic import BaseModel

from agent_surface import (
    ActionBinding,
    AgentActionContext,
    AgentReadContext,
    AgentSurfaceLimits,
    CallNext,
    Concurrency,
    InvokeContext,
    ObservationBinding,
    PolicyContext,
    PreconditionFailure,
    ServiceExecutor,
    action_contract,
    bind_procedure,
    capability_error,
    define_agent_component_contract,
    disable,
    from_model,
    require_confirmation,
)
from agent_surface.errors import ErrorCode
from tests.core.surface_fixtures import (
    ALICE,
    BOB,
    DISABLE,
    ONE,
    READ,
    RENAME,
    TWO,
    Surface,
    component,
    nothing,
    output,
    refusal,
    turns,
)

ASK = "view:t.asking.act"
DOMAIN = "domain:devices.disable"
ASKING = component("t.asking", confirmation="required")
QUEUED = component("t.asking", confirmation="required", concurrency=Concurrency(queue_depth=1))


class _Policy:
    """Functions in place of hooks."""

    def __init__(self, name: str = "probe", **hooks: Callable[..., object]) -> None:
        self.name = name
        for hook, function in hooks.items():
            setattr(self, hook, function)


class _Counter:
    """Counts executions; keeps what it was given."""

    def __init__(self) -> None:
        self.inputs: list[object] = []

    def __call__(self, value: object) -> dict[str, int]:
        self.inputs.append(value)
        return {"ran": len(self.inputs)}


# --------------------------------------------------------------------------------------------- what policies see


@pytest.mark.requirement("AS-INVOKE-001")
async def test_authorization_has_no_input_in_sight(surface: Surface) -> None:
    """Neither in the context nor anywhere it leads."""
    contexts: list[PolicyContext] = []

    def on_authorize(context: PolicyContext, call_next: CallNext) -> Awaitable[object]:
        contexts.append(context)
        return call_next()

    surface.mount(act=ActionBinding(execute=nothing, policies=[_Policy(on_authorize=on_authorize)]))
    await surface.invoke("view:t.one.act", {"planted": "raw-input-text"})
    (context,) = contexts
    assert type(context) is PolicyContext
    assert not hasattr(context, "effective_input")
    assert "raw-input-text" not in repr(context)


@pytest.mark.requirement("AS-INVOKE-001")
async def test_authorization_comes_before_the_input_is_looked_at(surface: Surface) -> None:
    """Who may not call learns nothing about the schema."""

    def on_authorize(_: PolicyContext, _next: CallNext) -> Awaitable[object]:
        raise capability_error(ErrorCode.NOT_AUTHORIZED)

    surface.mount(act=ActionBinding(execute=nothing, policies=[_Policy(on_authorize=on_authorize)]))
    assert refusal(await surface.invoke("view:t.one.act", "no object"))[0] == "NOT_AUTHORIZED"


class Row(BaseModel):
    """Input with a default."""

    name: str
    mode: str = "replace"


MODEL = define_agent_component_contract(
    type="t.model",
    description="Takes a model",
    actions={"act": action_contract(description="Do it", input=from_model(Row), effect="local-state")},
)


@pytest.mark.requirement("AS-INVOKE-002")
async def test_invoke_policies_see_the_validated_effective_input_only() -> None:
    """Defaults applied, bound values in it; with an invalid input they are not asked at all."""
    seen: list[object] = []

    def on_invoke(context: InvokeContext, call_next: CallNext) -> Awaitable[object]:
        seen.append(context.effective_input)
        return call_next()

    policies = [_Policy(on_invoke=on_invoke)]
    surface = Surface(MODEL, ONE, RENAME, procedures=ServiceExecutor({"devices.rename": lambda id, name: name}))
    surface.registry.register(MODEL.bind(actions={"act": ActionBinding(execute=nothing, policies=policies)}))
    surface.mount(procedures=[bind_procedure(RENAME, bind={"id": lambda: "d-1"}, policies=policies)])
    await surface.invoke("view:t.model.act", {"name": "x"})
    await surface.invoke("domain:devices.rename", {"name": "y"})
    for bad in ({"name": 5}, {}, None, []):
        assert refusal(await surface.invoke("view:t.model.act", bad))[0] == "INVALID_INPUT"
    assert seen == [{"name": "x", "mode": "replace"}, {"id": "d-1", "name": "y"}]
    surface.registry.close()


@pytest.mark.requirement("AS-INVOKE-002")
async def test_policies_cannot_change_the_input(surface: Surface) -> None:
    """What they see is frozen."""
    executed = _Counter()

    def on_invoke(context: InvokeContext, call_next: CallNext) -> Awaitable[object]:
        with pytest.raises(TypeError):
            context.effective_input["ids"] = ["other"]
        with pytest.raises(AttributeError):
            context.effective_input["ids"].append("other")
        with pytest.raises(AttributeError):
            context.effective_input = {}
        return call_next()

    surface.mount(act=ActionBinding(execute=executed, policies=[_Policy(on_invoke=on_invoke)]))
    assert output(await surface.invoke("view:t.one.act", {"ids": ["a"]})) == {"ran": 1}
    assert executed.inputs == [{"ids": ["a"]}]


# ------------------------------------------------------------------------------------- before anybody is asked


def _procedures(surface: Surface | None = None, *, ran: Callable[[object], object] = nothing) -> ServiceExecutor:
    def disable_devices(ids: list[str], why: str = "") -> int:
        ran({"ids": ids, "why": why})
        return len(ids)

    return ServiceExecutor({"devices.disable": disable_devices})


def _made(coroutine_function: Callable[[], object]) -> object:
    """What only turns out to be a coroutine when it is called."""
    return coroutine_function()


async def _never() -> list[str]:
    return []


@pytest.mark.requirement("AS-INVOKE-003")
@pytest.mark.allow_logs("agent_surface.pipeline")
@pytest.mark.parametrize(
    "value",
    [lambda: "no list", list, lambda: None, lambda: {1}, lambda: float("nan"), lambda: 1 / 0, partial(_made, _never)],
    ids=["wrong type", "too short", "nothing", "no JSON", "no number", "raises", "to await"],
)
async def test_a_binding_that_makes_no_valid_input_fails_before_a_person_is_asked(value: Callable[[], object]) -> None:
    """It is the state of the screen that does not fit, not the agent's input."""
    surface = Surface(ONE, DISABLE, procedures=_procedures())
    surface.mount(procedures=[bind_procedure(DISABLE, bind={"ids": value})])
    result = await surface.invoke(DOMAIN)
    assert refusal(result) == ("PRECONDITION_FAILED", {"reason": "binding-failed"})
    assert result.to_json()["error"]["retry"] == "after-refresh"
    assert surface.registry.confirmations.pending() == ()
    assert "confirmation-requested" not in surface.told()
    surface.registry.close()


@pytest.mark.requirement("AS-INVOKE-004", "AS-BIND-002")
@pytest.mark.parametrize("value", [["a"], None, "anything"], ids=["the same", "nothing", "something else"])
async def test_a_locked_field_that_is_supplied_fails_before_a_person_is_asked(value: object) -> None:
    """Even with the very value the screen supplies; the answer names the field."""
    surface = Surface(ONE, DISABLE, procedures=_procedures())
    surface.mount(procedures=[bind_procedure(DISABLE, bind={"ids": lambda: ["a"]})])
    code, details = refusal(await surface.invoke(DOMAIN, {"ids": value, "why": "x"}))
    assert (code, details["lockedFields"]) == ("INVALID_INPUT", ["ids"])
    assert surface.registry.confirmations.pending() == ()
    surface.registry.close()


@pytest.mark.requirement("AS-INVOKE-005")
async def test_a_person_sees_the_values_of_the_moment() -> None:
    """Bound values are read at the call, not at discovery; the host has all of it and knows which."""
    selection = ["a"]
    surface = Surface(ONE, DISABLE, procedures=_procedures())
    surface.mount(procedures=[bind_procedure(DISABLE, bind={"ids": lambda: selection})])
    surface.catalogue()
    selection.append("b")
    code, details = refusal(await surface.invoke(DOMAIN, {"why": "old"}))
    pending = surface.pending()
    assert code == "CONFIRMATION_REQUIRED"
    assert (pending.input, pending.bound_fields) == ({"ids": ("a", "b"), "why": "old"}, ("ids",))
    assert pending.summary == details["summary"] == "Disable devices (why: old; ids: a, b)"
    selection.append("c")
    assert surface.pending().input == {"ids": ("a", "b"), "why": "old"}
    surface.registry.close()


@pytest.mark.requirement("AS-INVOKE-006")
@pytest.mark.allow_logs("agent_surface.pipeline")
@pytest.mark.parametrize(
    ("precondition", "message", "details"),
    [
        (
            lambda _: PreconditionFailure("Nothing is selected.", {"selected": 0}),
            "Nothing is selected.",
            {"selected": 0},
        ),
        (lambda _: _raise(PreconditionFailure("No.")), "No.", {}),
        (lambda _: PreconditionFailure("x" * 400), "x" * 299 + "…", {}),
        (lambda _: PreconditionFailure("No.", {"bad": {1}}), "No.", {}),
        (lambda _: _raise(PreconditionFailure("No.", {"bad": object()})), "No.", {}),
        (lambda _: PreconditionFailure(5), None, {}),
        (lambda _: PreconditionFailure(""), None, {}),
        (lambda _: _raise(ValueError("secret")), None, {}),
        (lambda _: False, None, {}),
        (lambda _: _never(), None, {}),
    ],
    ids=[
        "returned",
        "raised",
        "long",
        "no JSON",
        "raised no JSON",
        "no text",
        "blank",
        "broken",
        "garbage",
        "to await",
    ],
)
async def test_a_precondition_that_fails_never_opens_a_dialog(
    surface: Surface, precondition: Callable[..., object], message: str | None, details: dict[str, object]
) -> None:
    """In the author's words; whatever else comes out of it refuses too."""
    executed = _Counter()
    surface.mount(ASKING, act=ActionBinding(execute=executed, precondition=precondition))
    result = await surface.invoke(ASK, {"a": 1})
    assert refusal(result) == ("PRECONDITION_FAILED", details)
    text = result.to_json()["error"]["message"]
    assert text == message or (message is None and "secret" not in str(text))
    assert surface.registry.confirmations.pending() == ()
    assert "confirmation-requested" not in surface.told()
    assert executed.inputs == []


def _raise(error: Exception) -> None:
    raise error


@pytest.mark.requirement("AS-INVOKE-006", "AS-CTX-001")
async def test_a_precondition_gets_a_copy_of_the_input_and_a_context(surface: Surface) -> None:
    """What it does to its copy reaches neither the handler nor the person."""
    executed = _Counter()
    contexts: list[AgentReadContext] = []

    def precondition(value: dict[str, object], context: AgentReadContext) -> None:
        contexts.append(context)
        value["a"] = 2

    handle = surface.mount(ASKING, act=ActionBinding(execute=executed, precondition=precondition))
    await surface.invoke(ASK, {"a": 1}, consumer=ALICE)
    assert surface.pending().input == {"a": 1}
    evidence = surface.approve()
    assert output(await surface.invoke(ASK, {"a": 1}, consumer=ALICE, confirmation_id=evidence)) == {"ran": 1}
    assert executed.inputs == [{"a": 1}]
    context = contexts[0]
    assert (context.capability_id, context.registration_id, context.consumer) == (ASK, handle.registration_id, ALICE)


# ------------------------------------------------------------------------------------------------ what it is good for


@pytest.fixture
async def asked(surface: Surface) -> tuple[Surface, _Counter]:
    """A surface with an action that asks; its executions."""
    executed = _Counter()
    surface.mount(ASKING, act=executed)
    return surface, executed


Asked = tuple[Surface, _Counter]


async def _evidence(surface: Surface, value: object = None, consumer: object = None, capability_id: str = ASK) -> str:
    wanted = {"a": 1} if value is None else value
    result = await surface.invoke(capability_id, wanted, consumer=consumer)
    assert refusal(result)[0] == "CONFIRMATION_REQUIRED"
    return surface.approve()


MISMATCH = ("CONFIRMATION_INVALID", {"reason": "mismatch"})
CONSUMED = ("CONFIRMATION_INVALID", {"reason": "consumed"})


@pytest.mark.requirement("AS-CONFIRM-001", "AS-CONFIRM-002")
@pytest.mark.parametrize(
    "other",
    [{"a": 2}, {"a": "1"}, {"a": True}, {"a": 1, "b": None}, {}, {"A": 1}, {"a": [1]}],
    ids=["value", "text", "bool", "more", "less", "key", "list"],
)
async def test_an_input_that_changed_after_the_approval_is_a_mismatch(asked: Asked, other: dict[str, object]) -> None:
    """It never executes, and the approval stays good for what it was given for."""
    surface, executed = asked
    evidence = await _evidence(surface)
    assert refusal(await surface.invoke(ASK, other, confirmation_id=evidence)) == MISMATCH
    assert executed.inputs == []
    assert output(await surface.invoke(ASK, {"a": 1.0}, confirmation_id=evidence)) == {"ran": 1}


@pytest.mark.requirement("AS-CONFIRM-001")
async def test_a_binding_that_changed_after_the_approval_is_a_mismatch() -> None:
    """The screen has moved on: the person approved something else."""
    selection = ["a"]
    executed = _Counter()
    surface = Surface(ONE, DISABLE, procedures=_procedures(ran=executed))
    surface.mount(procedures=[bind_procedure(DISABLE, bind={"ids": lambda: selection})])
    await surface.invoke(DOMAIN)
    evidence = surface.approve()
    selection.append("b")
    assert refusal(await surface.invoke(DOMAIN, confirmation_id=evidence)) == MISMATCH
    selection.remove("b")
    assert output(await surface.invoke(DOMAIN, confirmation_id=evidence)) == 1
    assert executed.inputs == [{"ids": ["a"], "why": ""}]
    surface.registry.close()


@pytest.mark.requirement("AS-CONFIRM-003")
async def test_evidence_is_used_once(asked: Asked) -> None:
    """A replay is told so, whoever asks and however often; a new approval is needed."""
    surface, executed = asked
    evidence = await _evidence(surface)
    assert output(await surface.invoke(ASK, {"a": 1}, confirmation_id=evidence)) == {"ran": 1}
    for _ in range(2):
        assert refusal(await surface.invoke(ASK, {"a": 1}, confirmation_id=evidence)) == CONSUMED
    assert len(executed.inputs) == 1
    assert refusal(await surface.invoke(ASK, {"a": 1}))[0] == "CONFIRMATION_REQUIRED"


@pytest.mark.requirement("AS-CONFIRM-004")
async def test_an_approval_does_not_cross_consumer_registration_or_capability(surface: Surface) -> None:
    """Whoever learns its id cannot use it elsewhere, and is told no more than that it does not fit."""
    executed = _Counter()
    surface.mount(ASKING, instance_id="a", act=executed)
    surface.mount(ASKING, instance_id="b", act=executed)
    surface.mount(ONE, act=executed)
    await surface.invoke(ASK, {"a": 1}, consumer=ALICE, instance_id="a")
    evidence = surface.approve()
    for capability_id, consumer, instance in (
        (ASK, BOB, "a"),
        (ASK, None, "a"),
        (ASK, ALICE, "b"),
        ("view:t.one.act", ALICE, None),
        (READ, ALICE, None),
    ):
        value = {"a": 1} if capability_id != READ else None
        result = await surface.invoke(
            capability_id, value, consumer=consumer, instance_id=instance, confirmation_id=evidence
        )
        assert refusal(result) == MISMATCH
    assert executed.inputs == []
    done = await surface.invoke(ASK, {"a": 1}, consumer=ALICE, instance_id="a", confirmation_id=evidence)
    assert output(done) == {"ran": 1}


@pytest.mark.requirement("AS-CONFIRM-004", "AS-CONFIRM-008")
async def test_an_approval_does_not_survive_its_registration(surface: Surface) -> None:
    """Mounting again is another component, also when everything else is the same."""
    executed = _Counter()
    handle = surface.mount(ASKING, act=executed)
    evidence = await _evidence(surface)
    handle.unregister()
    surface.mount(ASKING, act=executed)
    assert refusal(await surface.invoke(ASK, {"a": 1}, confirmation_id=evidence)) == MISMATCH
    assert executed.inputs == []


@pytest.mark.requirement("AS-CONFIRM-002", "AS-CONFIRM-004")
@pytest.mark.parametrize(
    "forged", ["", "cnf_", "cnf_0000000000000000000099", None, 5, ["x"], {"a": 1}, "x" * 5_000, "\ud800"], ids=str
)
async def test_evidence_cannot_be_made_up(asked: Asked, forged: object) -> None:
    """Ids are guessable in this test and still good for nothing without a person."""
    surface, executed = asked
    await surface.invoke(ASK, {"a": 1})
    result = await surface.invoke(ASK, {"a": 1}, confirmation_id=forged)
    assert refusal(result)[0] == ("CONFIRMATION_REQUIRED" if forged is None else "CONFIRMATION_INVALID")
    assert executed.inputs == []


@pytest.mark.requirement("AS-CONFIRM-006")
async def test_a_pending_retry_asks_nobody_again(asked: Asked) -> None:
    """Same id, with or without presenting it; one dialog."""
    surface, _ = asked
    first = refusal(await surface.invoke(ASK, {"a": 1}))[1]
    surface.clock.advance(1_000)
    again = refusal(await surface.invoke(ASK, {"a": 1}))[1]
    presented = refusal(await surface.invoke(ASK, {"a": 1}, confirmation_id=str(first["confirmationId"])))
    assert first == again == presented[1]
    assert presented[0] == "CONFIRMATION_REQUIRED"
    assert surface.told("confirmation-requested") == ["confirmation-requested"]


@pytest.mark.requirement("AS-CONFIRM-006", "AS-CONFIRM-009")
async def test_a_denial_is_final_for_its_record_and_brings_the_persons_words(asked: Asked) -> None:
    """The same evidence stays denied; the note reaches the model."""
    surface, executed = asked
    await surface.invoke(ASK, {"a": 1})
    confirmation_id = surface.pending().confirmation_id
    surface.registry.confirmations.resolve(confirmation_id, approved=False, note="Not on a Friday.")
    for _ in range(2):
        result = await surface.invoke(ASK, {"a": 1}, confirmation_id=confirmation_id)
        assert refusal(result) == ("CONFIRMATION_INVALID", {"reason": "denied", "note": "Not on a Friday."})
        assert result.to_json()["error"]["retry"] == "no"
    assert executed.inputs == []


@pytest.mark.requirement("AS-CONFIRM-006")
@pytest.mark.parametrize("approved", [True, False], ids=["approved", "pending"])
async def test_an_expired_request_starts_a_new_cycle(asked: Asked, approved: bool) -> None:
    """An approval that was not used in time is no approval; the id stays free for asking again."""
    surface, executed = asked
    await surface.invoke(ASK, {"a": 1})
    confirmation_id = surface.pending().confirmation_id
    if approved:
        surface.registry.confirmations.resolve(confirmation_id, approved=True)
    surface.clock.advance(120_000)
    expired = await surface.invoke(ASK, {"a": 1}, confirmation_id=confirmation_id, invocation_id="i-1")
    assert refusal(expired) == ("CONFIRMATION_INVALID", {"reason": "expired"})
    assert expired.to_json()["error"]["retry"] == "with-confirmation"
    fresh = refusal(await surface.invoke(ASK, {"a": 1}, invocation_id="i-1"))
    assert fresh[0] == "CONFIRMATION_REQUIRED"
    assert fresh[1]["confirmationId"] != confirmation_id
    assert executed.inputs == []


@pytest.mark.requirement("AS-CONFIRM-008")
async def test_a_registration_that_goes_takes_its_dialogs_along(asked: Asked) -> None:
    """At once, and for good."""
    surface, _ = asked
    await surface.invoke(ASK, {"a": 1})
    confirmation_id = surface.pending().confirmation_id
    surface.registry.close()
    assert surface.told("confirmation-resolved") == ["confirmation-resolved"]
    assert surface.registry.confirmations.resolve(confirmation_id, approved=True) is False


@pytest.mark.requirement("AS-CONFIRM-005")
async def test_when_too_many_are_asked_nobody_more_is() -> None:
    """The overflow makes no record, and can be tried again later."""
    surface = Surface(ASKING, limits=AgentSurfaceLimits(max_pending_confirmations=2))
    surface.mount(ASKING)
    for index in range(2):
        assert refusal(await surface.invoke(ASK, {"n": index}))[0] == "CONFIRMATION_REQUIRED"
    assert refusal(await surface.invoke(ASK, {"n": 2})) == ("RATE_LIMITED", {"reason": "confirmations-full"})
    assert surface.registry.statistics().pending_confirmations == 2
    surface.registry.close()


@pytest.mark.requirement("AS-CONFIRM-010", "AS-STALE-002")
async def test_an_approved_call_is_not_stale_because_the_screen_moved() -> None:
    """A dialog changes the surface; without this it would make its own approval useless."""
    surface = Surface(ONE, TWO, DISABLE, procedures=_procedures())
    surface.mount(procedures=[bind_procedure(DISABLE)])
    version = surface.registry.version
    await surface.invoke(DOMAIN, {"ids": ["a"]}, surface_version=version)
    surface.mount(TWO)
    assert refusal(await surface.invoke(DOMAIN, {"ids": ["a"]}, surface_version=version))[0] == "STALE_CAPABILITY"
    evidence = surface.approve()
    done = await surface.invoke(DOMAIN, {"ids": ["a"]}, surface_version=version, confirmation_id=evidence)
    assert output(done) == 1
    surface.registry.close()


@pytest.mark.requirement("AS-CONFIRM-010")
@pytest.mark.parametrize("change", ["registration", "availability", "authorization", "discovery", "precondition"])
async def test_every_other_check_of_an_approved_call_runs_again(change: str) -> None:
    """Staleness, state and authority beat approval; the approval itself is not used up by them."""
    state = dict.fromkeys(("availability", "authorization", "discovery", "precondition"), True)
    executed = _Counter()

    def on_authorize(_: PolicyContext, call_next: CallNext) -> Awaitable[object]:
        if not state["authorization"]:
            raise capability_error(ErrorCode.NOT_AUTHORIZED)
        return call_next()

    def on_discovery(_: PolicyContext) -> object:
        from agent_surface import EXPOSE

        return EXPOSE if state["discovery"] else disable("Locked.")

    surface = Surface(ASKING)
    handle = surface.mount(
        ASKING,
        act=ActionBinding(
            execute=executed,
            when=lambda: state["availability"],
            precondition=lambda _: None if state["precondition"] else PreconditionFailure("No."),
            policies=[_Policy(on_authorize=on_authorize, on_discovery=on_discovery)],
        ),
    )
    evidence = await _evidence(surface)
    if change == "registration":
        handle.unregister()
    else:
        state[change] = False
    refused = await surface.invoke(
        ASK, {"a": 1}, confirmation_id=evidence, registration_id=handle.registration_id, invocation_id="i-1"
    )
    assert (
        refusal(refused)[0]
        == {
            "registration": "COMPONENT_UNMOUNTED",
            "availability": "CAPABILITY_NOT_AVAILABLE",
            "authorization": "NOT_AUTHORIZED",
            "discovery": "CAPABILITY_NOT_AVAILABLE",
            "precondition": "PRECONDITION_FAILED",
        }[change]
    )
    assert executed.inputs == []
    if change != "registration":
        state[change] = True
        assert output(await surface.invoke(ASK, {"a": 1}, confirmation_id=evidence)) == {"ran": 1}
    surface.registry.close()


# ------------------------------------------------------------------------------------------------ claims and races


@pytest.mark.requirement("AS-INVOKE-007")
async def test_evidence_whose_call_ends_before_execution_works_again() -> None:
    """A failing precondition, a full queue, a cancellation or a time in the queue do not waste an approval."""
    surface = Surface(QUEUED)
    gate = asyncio.Event()
    executed: list[object] = []
    allowed = True

    async def act(value: dict[str, object]) -> dict[str, int]:
        executed.append(value)
        await gate.wait()
        return {"ran": len(executed)}

    surface.mount(
        QUEUED,
        act=ActionBinding(execute=act, precondition=lambda _: None if allowed else PreconditionFailure("No.")),
    )
    evidence = {n: await _evidence(surface, {"n": n}) for n in range(4)}
    allowed = False
    failed = await surface.invoke(ASK, {"n": 1}, confirmation_id=evidence[1])
    assert refusal(failed)[0] == "PRECONDITION_FAILED"
    allowed = True
    running = surface.start(ASK, {"n": 0}, confirmation_id=evidence[0])
    await turns()
    queued = surface.start(ASK, {"n": 1}, confirmation_id=evidence[1])
    await turns()
    full = await surface.invoke(ASK, {"n": 2}, confirmation_id=evidence[2])
    assert refusal(full) == ("RATE_LIMITED", {"reason": "queue-full", "retryAfterMs": 500})
    queued.cancel()
    await turns()
    queued = surface.start(ASK, {"n": 2}, confirmation_id=evidence[2])
    await turns()
    assert len(executed) == 1
    allowed = False
    gate.set()
    assert output(await running) == {"ran": 1}
    assert refusal(await queued)[0] == "PRECONDITION_FAILED"
    allowed = True
    for n in (1, 2, 3):
        done = await surface.invoke(ASK, {"n": n}, confirmation_id=evidence[n])
        assert output(done) == {"ran": n + 1}
    assert [value["n"] for value in executed] == [0, 1, 2, 3]
    surface.registry.close()


@pytest.mark.requirement("AS-INVOKE-007", "AS-CONFIRM-003")
@pytest.mark.parametrize("count", [2, 5])
async def test_racing_retries_never_both_execute(count: int) -> None:
    """Whoever comes second while the first holds the evidence is told that it is used."""
    contract = component("t.asking", confirmation="required", concurrency=Concurrency(mode="parallel", max=9))
    surface = Surface(contract)
    executed: list[int] = []

    async def act() -> dict[str, int]:
        executed.append(1)
        await asyncio.sleep(0)
        return {"ran": len(executed)}

    async def slowly(_: PolicyContext, call_next: CallNext) -> object:
        await asyncio.sleep(0)
        return await call_next()

    surface.mount(contract, act=ActionBinding(execute=act, policies=[_Policy(on_authorize=slowly, on_invoke=slowly)]))
    evidence = await _evidence(surface)
    results = await asyncio.gather(
        *(surface.invoke(ASK, {"a": 1}, confirmation_id=evidence, invocation_id=f"i-{n}") for n in range(count))
    )
    assert executed == [1]
    assert sorted(result.status for result in results) == ["error"] * (count - 1) + ["ok"]
    assert all(refusal(result) == CONSUMED for result in results if result.status == "error")
    surface.registry.close()


@pytest.mark.requirement("AS-INVOKE-007")
@pytest.mark.allow_logs("agent_surface.pipeline")
@pytest.mark.parametrize("end", ["raises", "times out", "succeeds"])
async def test_evidence_whose_handler_was_dispatched_is_used_up(end: str) -> None:
    """Whatever became of it: it may have had an effect."""
    surface = Surface(ASKING)
    never = asyncio.Event()

    async def act() -> None:
        if end == "raises":
            raise ValueError("act")
        if end == "times out":
            await never.wait()

    surface.mount(ASKING, act=act)
    evidence = await _evidence(surface)
    call = surface.start(ASK, {"a": 1}, confirmation_id=evidence, timeout_ms=10)
    await turns()
    surface.clock.advance(10)
    await call
    assert refusal(await surface.invoke(ASK, {"a": 1}, confirmation_id=evidence)) == CONSUMED
    await turns()
    surface.registry.close()


@pytest.mark.requirement("AS-INVOKE-009")
@pytest.mark.parametrize("what", ["availability", "precondition", "registration", "pushed"])
async def test_a_call_that_waited_is_checked_again_in_the_turn_of_its_start(what: str) -> None:
    """Between the check and the start a widget can go; the evidence is not consumed by a call that does not start."""
    surface = Surface(QUEUED)
    gate = asyncio.Event()
    executed: list[object] = []
    state = {"availability": True, "precondition": True}

    async def act(value: dict[str, object]) -> None:
        executed.append(value["n"])
        await gate.wait()

    handle = surface.mount(
        QUEUED,
        act=ActionBinding(
            execute=act,
            when=lambda: state["availability"],
            precondition=lambda _: None if state["precondition"] else PreconditionFailure("No."),
        ),
    )
    evidence = [await _evidence(surface, {"n": n}) for n in range(2)]
    first = surface.start(ASK, {"n": 0}, confirmation_id=evidence[0])
    await turns()
    second = surface.start(ASK, {"n": 1}, confirmation_id=evidence[1])
    await turns()
    if what == "registration":
        handle.unregister()
    elif what == "pushed":
        handle.update(enabled=False)
    else:
        state[what] = False
    gate.set()
    code = refusal(await second)[0]
    assert (
        code
        == {
            "availability": "CAPABILITY_NOT_AVAILABLE",
            "precondition": "PRECONDITION_FAILED",
            "registration": "COMPONENT_UNMOUNTED",
            "pushed": "CAPABILITY_NOT_AVAILABLE",
        }[what]
    )
    await first
    assert executed == [0]
    consumed = [record for record in surface.audited("confirmation") if record.status == "consumed"]
    assert [record.confirmation_id for record in consumed] == [evidence[0]]
    surface.registry.close()


@pytest.mark.requirement("AS-INVOKE-009")
async def test_a_call_that_waited_for_a_policy_is_checked_again(surface: Surface) -> None:
    """Liveness is looked at after everything that is awaited."""
    gate = asyncio.Event()
    state = {"open": True}
    executed = _Counter()

    async def on_invoke(_: InvokeContext, call_next: CallNext) -> object:
        await gate.wait()
        return await call_next()

    surface.mount(
        act=ActionBinding(execute=executed, when=lambda: state["open"], policies=[_Policy(on_invoke=on_invoke)])
    )
    call = surface.start("view:t.one.act")
    await turns()
    state["open"] = False
    gate.set()
    assert refusal(await call)[0] == "CAPABILITY_NOT_AVAILABLE"
    assert executed.inputs == []


# ----------------------------------------------------------------------------------------------------- escalation


@pytest.mark.requirement("AS-POLICY-004", "AS-INVOKE-005")
@pytest.mark.allow_logs("agent_surface.policies")
@pytest.mark.parametrize(
    ("policy", "summary"),
    [
        (require_confirmation(), "Do it (n: 5)"),
        (require_confirmation(when=lambda context: True), "Do it (n: 5)"),
        (require_confirmation(when=lambda context: context.effective_input["n"] == 5), "Do it (n: 5)"),
        (require_confirmation(when=lambda context: 1 / 0), "Do it (n: 5)"),
        (require_confirmation(summary="Really?"), "Really?"),
        (require_confirmation(summary=lambda context: "Live?"), "Live?"),
        (require_confirmation(summary=lambda context: 1 / 0), "Do it (n: 5)"),
        (require_confirmation(summary=lambda context: 5), "Do it (n: 5)"),
        (require_confirmation(summary="x" * 400), "x" * 299 + "…"),
    ],
    ids=["always", "when", "by input", "broken condition", "summary", "live", "broken summary", "no text", "long"],
)
async def test_a_policy_can_ask_a_person_whatever_breaks_in_it(surface: Surface, policy: object, summary: str) -> None:
    """A broken condition still asks; a broken summary is replaced by one of the input."""
    executed = _Counter()
    surface.mount(act=ActionBinding(execute=executed, policies=[policy]))
    code, details = refusal(await surface.invoke("view:t.one.act", {"n": 5}))
    assert (code, details["summary"]) == ("CONFIRMATION_REQUIRED", summary)
    assert executed.inputs == []
    evidence = surface.approve()
    assert output(await surface.invoke("view:t.one.act", {"n": 5}, confirmation_id=evidence)) == {"ran": 1}


@pytest.mark.requirement("AS-POLICY-004")
async def test_a_condition_that_does_not_hold_asks_nobody(surface: Surface) -> None:
    """The level is only raised where the policy says so."""
    policy = require_confirmation(when=lambda context: context.effective_input == {"n": 5})
    surface.mount(act=ActionBinding(execute=_Counter(), policies=[policy]))
    assert output(await surface.invoke("view:t.one.act", {"n": 4})) == {"ran": 1}


@pytest.mark.requirement("AS-INVOKE-009")
async def test_a_policy_that_refuses_leaves_nothing_asked(surface: Surface) -> None:
    """Demands of policies around it die with the call."""

    def on_invoke(_: InvokeContext, _next: CallNext) -> Awaitable[object]:
        raise capability_error(ErrorCode.NOT_AUTHORIZED)

    surface.mount(act=ActionBinding(execute=nothing, policies=[require_confirmation(), _Policy(on_invoke=on_invoke)]))
    assert refusal(await surface.invoke("view:t.one.act"))[0] == "NOT_AUTHORIZED"
    assert surface.registry.confirmations.pending() == ()


# ------------------------------------------------------------------------------------------------------- contexts


@pytest.mark.requirement("AS-CTX-001")
async def test_an_action_is_told_what_it_may_know() -> None:
    """Ids, consumer, host, token and, when a person approved, the evidence and its time."""
    contexts: list[AgentActionContext] = []
    surface = Surface(ASKING, ONE, context=lambda: {"user": "u-1"})
    handle = surface.mount(ASKING, act=lambda _, context: contexts.append(context))
    one = surface.mount(ONE, act=lambda _, context: contexts.append(context))
    await surface.invoke(ASK, {"a": 1}, consumer=ALICE, invocation_id="i-1")
    surface.clock.advance(1_500)
    evidence = surface.approve()
    await surface.invoke(ASK, {"a": 1}, consumer=ALICE, invocation_id="i-1", confirmation_id=evidence)
    await surface.invoke("view:t.one.act")
    approved, plain = contexts
    assert (approved.capability_id, approved.registration_id) == (ASK, handle.registration_id)
    assert (approved.consumer, approved.invocation_id, dict(approved.host)) == (ALICE, "i-1", {"user": "u-1"})
    assert approved.confirmation is not None
    assert (approved.confirmation.id, approved.confirmation.approved_at) == (evidence, "2025-06-15T15:06:41.500Z")
    assert (plain.confirmation, plain.registration_id) == (None, one.registration_id)
    assert (plain.cancel.cancelled, plain.cancel.reason) == (False, None)
    with pytest.raises(TypeError):
        plain.host["user"] = "other"
    with pytest.raises(AttributeError):
        plain.consumer = BOB
    surface.registry.close()


@pytest.mark.requirement("AS-CTX-001")
async def test_an_observation_is_told_too(surface: Surface) -> None:
    """It has no invocation of its own to know."""
    contexts: list[AgentReadContext] = []

    def read(context: AgentReadContext) -> int:
        contexts.append(context)
        return 7

    handle = surface.mount(read=ObservationBinding(read=read))
    assert output(await surface.invoke(READ, consumer=ALICE)) == 7
    (context,) = contexts
    assert (type(context), context.capability_id) == (AgentReadContext, READ)
    assert (context.registration_id, context.consumer) == (handle.registration_id, ALICE)


@pytest.mark.requirement("AS-CTX-001")
@pytest.mark.parametrize("host", [lambda: 1 / 0, lambda: None, lambda: 5], ids=["raises", "nothing", "no mapping"])
async def test_a_host_context_that_breaks_is_empty(host: Callable[[], object], expected_logs: list[LogRecord]) -> None:
    """Policies that look for a user there refuse; the call itself goes on."""
    surface = Surface(context=host)
    surface.mount(act=lambda _, context: dict(context.host))
    assert output(await surface.invoke("view:t.one.act")) == {}
    assert {record.name for record in expected_logs} == {"agent_surface.pipeline"}
    surface.registry.close()


@pytest.mark.requirement("AS-CTX-001")
async def test_a_cancel_token_tells_once_and_to_everybody(surface: Surface, expected_logs: list[LogRecord]) -> None:
    """Callbacks, those added late, those disposed of, those that raise, and whoever waits."""
    heard: list[str] = []
    never = asyncio.Event()

    async def act(_: object, context: AgentActionContext) -> None:
        token = context.cancel
        token.on_cancel(lambda: heard.append("first"))
        token.on_cancel(lambda: _raise(ValueError("callback")))
        token.on_cancel(lambda: heard.append("disposed"))()
        token.on_cancel(lambda: heard.append("third"))
        waiting = asyncio.ensure_future(token.wait())
        try:
            await never.wait()
        finally:
            await token.wait()
            await waiting
            token.on_cancel(lambda: heard.append(f"late {token.reason}"))

    surface.mount(act=act)
    call = surface.start(timeout_ms=5)
    await turns()
    surface.clock.advance(5)
    assert refusal(await call)[0] == "TIMEOUT"
    await turns()
    assert heard == ["first", "third", "late timeout"]
    assert len(expected_logs) == 1


# ------------------------------------------------------------------------------------- references to procedures


@pytest.mark.requirement("AS-BIND-001", "AS-BIND-002")
async def test_overridable_fields_are_defaults_and_the_agents_value_wins() -> None:
    """The screen is not even asked for what the agent supplied."""
    asked: list[str] = []
    executed: list[dict[str, str]] = []

    def rename(id: str, name: str) -> str:
        executed.append({"id": id, "name": name})
        return name

    surface = Surface(ONE, RENAME, procedures=ServiceExecutor({"devices.rename": rename}))
    surface.mount(
        procedures=[
            bind_procedure(
                RENAME,
                bind={"id": lambda: "d-1", "name": lambda: asked.append("name") or "default"},
                overridable_fields=["name"],
            )
        ]
    )
    (descriptor,) = surface.registry.snapshot().procedures
    assert dict(descriptor.input_schema["properties"]) == {"name": {"type": "string"}}
    assert "required" not in descriptor.input_schema
    assert output(await surface.invoke("domain:devices.rename", {"name": "mine"})) == "mine"
    assert asked == []
    assert output(await surface.invoke("domain:devices.rename")) == "default"
    assert executed == [{"id": "d-1", "name": "mine"}, {"id": "d-1", "name": "default"}]
    assert refusal(await surface.invoke("domain:devices.rename", {"name": 5}))[0] == "INVALID_INPUT"
    assert refusal(await surface.invoke("domain:devices.rename", {"nome": "x"}))[0] == "INVALID_INPUT"
    assert refusal(await surface.invoke("domain:devices.rename", []))[0] == "INVALID_INPUT"
    surface.registry.close()


@pytest.mark.requirement("AS-BIND-002")
async def test_the_binding_may_not_change_what_the_handler_gets_afterwards() -> None:
    """Bound values are copied when they are read."""
    selection = ["a"]
    executed: list[list[str]] = []
    go_on = asyncio.Event()

    async def disable_devices(ids: list[str]) -> int:
        await go_on.wait()
        executed.append(ids)
        return len(ids)

    surface = Surface(ONE, DISABLE, procedures=ServiceExecutor({"devices.disable": disable_devices}))
    surface.mount(procedures=[bind_procedure(DISABLE, bind={"ids": lambda: selection})])
    await surface.invoke(DOMAIN)
    call = surface.start(DOMAIN, confirmation_id=surface.approve())
    await turns()
    selection.append("b")
    go_on.set()
    assert output(await call) == 1
    assert executed == [["a"]]
    surface.registry.close()


@pytest.mark.requirement("AS-BIND-003")
async def test_a_reference_nobody_can_run_is_not_there(expected_logs: list[LogRecord]) -> None:
    """It registers nothing, its invocation finds nothing, and development is told."""
    surface = Surface(ONE, DISABLE, environment="development", procedures=ServiceExecutor({"other": nothing}))
    surface.mount(procedures=[bind_procedure(DISABLE)])
    assert DOMAIN not in surface.capability_ids()
    assert refusal(await surface.invoke(DOMAIN, {"ids": ["a"]})) == ("CAPABILITY_NOT_FOUND", {})
    assert ["domain:devices.disable" in record.getMessage() for record in expected_logs] == [True]
    surface.registry.close()


@pytest.mark.requirement("AS-BIND-003")
async def test_an_executor_is_asked_for_nothing_the_authority_does_not_list() -> None:
    """It may be able to do more than this program declared."""
    asked: list[str] = []

    class Everything:
        """Claims to run whatever there is."""

        @property
        def paths(self) -> list[str]:
            """All of them."""
            return ["devices.disable", "devices.rename", "system.format"]

        async def execute(self, path: str, _: object, _info: object) -> object:
            """Run it."""
            asked.append(path)
            return 1

    surface = Surface(ONE, DISABLE, procedures=Everything())
    surface.mount(procedures=[bind_procedure(DISABLE)])
    for path in ("devices.rename", "system.format"):
        assert refusal(await surface.invoke(f"domain:{path}", {})) == ("CAPABILITY_NOT_FOUND", {})
    assert asked == []
    surface.registry.close()


@pytest.mark.requirement("AS-BIND-004")
async def test_a_reference_lives_and_dies_with_its_component() -> None:
    """And reads the state of the moment, availability included."""
    state = {"open": True, "ids": ["a"]}
    surface = Surface(ONE, DISABLE, procedures=_procedures())
    handle = surface.mount(
        procedures=[
            bind_procedure(
                DISABLE,
                bind={"ids": lambda: state["ids"]},
                when=lambda: bool(state["open"]),
                unavailable_reason="Closed.",
            )
        ]
    )
    state["open"] = False
    assert refusal(await surface.invoke(DOMAIN)) == ("CAPABILITY_NOT_AVAILABLE", {"reason": "Closed."})
    state["open"] = True
    state["ids"] = ["b", "c"]
    await surface.invoke(DOMAIN)
    assert surface.pending().input == {"ids": ("b", "c")}
    handle.update(enabled=False)
    assert refusal(await surface.invoke(DOMAIN)) == ("CAPABILITY_NOT_AVAILABLE", {"reason": "component-disabled"})
    handle.unregister()
    assert surface.registry.confirmations.pending() == ()
    assert refusal(await surface.invoke(DOMAIN, registration_id=handle.registration_id))[0] == "COMPONENT_UNMOUNTED"
    surface.registry.close()


@pytest.mark.requirement("AS-BIND-002", "AS-CONFIRM-001")
async def test_a_binding_can_raise_the_level_of_its_procedure() -> None:
    """This screen asks where others do not."""
    executed = _Counter()
    surface = Surface(
        ONE,
        RENAME,
        procedures=ServiceExecutor({"devices.rename": lambda id, name: executed(id) and name}),
    )
    surface.mount(procedures=[bind_procedure(RENAME, confirmation="required")])
    result = await surface.invoke("domain:devices.rename", {"id": "a", "name": "b"})
    assert refusal(result)[0] == "CONFIRMATION_REQUIRED"
    assert executed.inputs == []
    surface.registry.close()
