"""What an agent is told: outputs within their schema and size, errors from one table, and nothing of the inside."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, assignment, attr-defined, dict-item, union-attr"
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
import contextlib
import json
import string
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Literal, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, PrivateAttr, computed_field

from agent_surface import (
    ActionBinding,
    AgentActionContext,
    AgentCapabilityError,
    AgentInvocationResult,
    AgentSurfaceDefectError,
    AgentSurfaceLimits,
    Availability,
    CallNext,
    CapabilityErrorPayload,
    ErrorCode,
    InvocationError,
    PolicyContext,
    PreconditionFailure,
    RegistrationCandidate,
    Retry,
    ServiceExecutor,
    action_contract,
    bind_procedure,
    capability_error,
    define_agent_component_contract,
    from_model,
    from_type,
    has_permission,
    require_confirmation,
    tenant_boundary,
)
from agent_surface._failures import ERROR_TABLE
from agent_surface.policies import audit
from tests.core.surface_fixtures import (
    ACT,
    ALICE,
    ONE,
    READ,
    RENAME,
    Surface,
    component,
    nothing,
    output,
    refusal,
    turns,
)

# -------------------------------------------------------------------------------------------------------- outputs


class Point(BaseModel):
    """An output."""

    x: int
    y: float = 0.5


class Other(BaseModel):
    """Another."""

    z: int


TYPED = define_agent_component_contract(
    type="t.typed",
    description="Typed",
    actions={
        "point": action_contract(description="P", output=from_model(Point), effect="local-state"),
        "number": action_contract(description="N", output=from_type(int), effect="local-state"),
        "none": action_contract(description="0", effect="local-state"),
    },
)


async def _typed(name: str, value: object, limits: AgentSurfaceLimits | None = None) -> AgentInvocationResult:
    surface = Surface(TYPED, environment="test", limits=limits)
    handlers: dict[str, object] = dict.fromkeys(TYPED.actions, nothing)
    handlers[name] = lambda: value
    surface.registry.register(TYPED.bind(actions=handlers))
    try:
        return await surface.invoke(f"view:t.typed.{name}")
    finally:
        assert [record.phase for record in surface.audited()] == [10]
        surface.registry.close()


@pytest.mark.requirement("AS-SER-001")
async def test_a_value_of_the_declared_type_is_dumped_as_json() -> None:
    """Models in JSON mode; frozen inside the result, fresh outside."""
    result = await _typed("point", Point(x=1))
    assert result.to_json()["output"] == {"x": 1, "y": 0.5}
    assert isinstance(result.output, MappingProxyType)
    assert (await _typed("none", None)).to_json().keys() == {
        "status",
        "invocationId",
        "capabilityId",
        "surfaceVersion",
    }


@pytest.mark.requirement("AS-SER-001")
@pytest.mark.parametrize(
    ("name", "value"),
    [("number", "5"), ("number", None), ("number", 5.5), ("point", {"x": "1"}), ("point", Other(z=1)), ("point", {})],
    ids=["text", "nothing", "fraction", "wrong field", "another model", "missing field"],
)
@pytest.mark.allow_logs("agent_surface.pipeline")
async def test_a_value_that_breaks_its_schema_is_not_told(name: str, value: object) -> None:
    """The agent plans with what the schema promised."""
    try:
        result = await _typed(name, value)
    except AgentSurfaceDefectError as defect:
        result = defect.result
    assert refusal(result) == ("EXECUTION_FAILED", {"reason": "output-invalid"})


def _circle() -> list[object]:
    circle: list[object] = []
    circle.append(circle)
    return circle


def _deep() -> list[object]:
    deep: list[object] = []
    for _ in range(100):
        deep = [deep]
    return deep


@pytest.mark.requirement("AS-SER-001")
@pytest.mark.allow_logs("agent_surface.pipeline")
@pytest.mark.parametrize(
    "value",
    [{1, 2}, object(), (1, 2), float("nan"), float("inf"), {"a": b"x"}, {1: 2}, _circle(), _deep(), "\udc80", 1j],
    ids=["set", "object", "tuple", "nan", "inf", "bytes", "key", "cycle", "depth", "surrogate", "complex"],
)
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
async def test_a_value_that_is_no_json_settles_first_and_then_is_the_programs_mistake(
    surface: Surface, value: object, plain: bool
) -> None:
    """Told to the developer outside production; the call has its result, its events and its record by then."""

    async def act() -> object:
        return value

    surface.mount(act=(lambda: value) if plain else act)
    with pytest.raises(AgentSurfaceDefectError) as caught:
        await surface.invoke(invocation_id="i-1")
    assert refusal(caught.value.result) == ("EXECUTION_FAILED", {"reason": "output-invalid"})
    assert surface.told("invocation-settled") == ["invocation-settled"]
    assert len(surface.audited()) == 1
    assert await surface.invoke(invocation_id="i-1") is caught.value.result


@pytest.mark.requirement("AS-SER-001")
async def test_without_an_output_schema_only_nothing_may_be_returned() -> None:
    """Whatever else it is has never been reviewed."""
    with pytest.raises(AgentSurfaceDefectError) as caught:
        await _typed("none", {"planted": 1})
    assert refusal(caught.value.result) == ("EXECUTION_FAILED", {"reason": "output-invalid"})
    assert "planted" not in str(caught.value.result)


@pytest.mark.requirement("AS-SER-001")
@pytest.mark.parametrize(
    ("value", "fits"),
    [("x" * 18, True), ("x" * 19, False), ("é" * 9, True), ("é" * 10, False), ('"' * 9, True), ('"' * 10, False)],
    ids=["fits", "too long", "bytes fit", "too many bytes", "escapes fit", "too many escapes"],
)
@pytest.mark.allow_logs("agent_surface.pipeline")
async def test_an_output_that_is_too_large_is_refused_by_its_bytes(value: str, fits: bool) -> None:
    """UTF-8 bytes of the compact form; never cut in silence."""
    surface = Surface(ONE, limits=AgentSurfaceLimits(max_output_bytes=20))
    surface.mount(act=lambda: value)
    result = await surface.invoke()
    if fits:
        assert output(result) == value
    else:
        assert refusal(result) == ("EXECUTION_FAILED", {"reason": "output-too-large"})
    surface.registry.close()


# --------------------------------------------------------------------------------------------------- one table

TABLE = {
    "CAPABILITY_NOT_FOUND": ("2 4", "after-refresh", True, ""),
    "CAPABILITY_NOT_AVAILABLE": ("3 4 9", "after-refresh", True, "reason"),
    "AMBIGUOUS_INSTANCE": ("2", "with-changes", True, "instances"),
    "COMPONENT_UNMOUNTED": ("2 4 6 8 9", "after-refresh", True, "phase"),
    "STALE_CAPABILITY": ("2", "after-refresh", True, "reason liveRegistrationId"),
    "INVOCATION_CONFLICT": ("1", "with-changes", False, "reason"),
    "INVALID_INPUT": ("1 5 9", "with-changes", True, "issues lockedFields"),
    "NOT_AUTHENTICATED": ("4 6 9", "no", True, ""),
    "NOT_AUTHORIZED": ("4 6 9", "no", True, "origin"),
    "PRECONDITION_FAILED": ("5 7 9", "with-changes", True, "*"),
    "CONFIRMATION_REQUIRED": ("6 9", "with-confirmation", False, "confirmationId summary expiresAt effect origin"),
    "CONFIRMATION_INVALID": ("6", "no", True, "reason note"),
    "RATE_LIMITED": ("4 6 8 9", "after-delay", False, "reason retryAfterMs"),
    "TIMEOUT": ("9", "no", True, "timeoutMs idempotent"),
    "CANCELLED": ("4 6 8 9", "yes", True, ""),
    "EXECUTION_FAILED": ("9 10", "no", True, "reason transient retryAfterMs"),
}


@pytest.mark.requirement("AS-ERR-001")
def test_the_table_of_errors_is_the_one_that_was_agreed() -> None:
    """Sixteen codes; for each its phases, hint, whether it is remembered, and its details."""
    found = {
        code.value: (
            " ".join(str(phase) for phase in sorted(spec.phases)),
            spec.retry.value,
            spec.cached,
            " ".join(sorted(spec.details)),
        )
        for code, spec in ERROR_TABLE.items()
    }
    assert found == {
        code: (phases, retry, cached, " ".join(sorted(details.split())))
        for code, (phases, retry, cached, details) in TABLE.items()
    }
    assert set(TABLE) == {code.value for code in ErrorCode}


def check_error(result: InvocationError, phase: int | None = None) -> None:
    """Hold an answer to the table."""
    payload = result.error
    spec = ERROR_TABLE[payload.code]
    assert "*" in spec.details or set(payload.details) <= spec.details, payload
    assert 0 < len(payload.message) <= 300
    json.dumps(result.to_json())
    if phase is not None:
        assert phase in spec.phases, (payload.code, phase)


@pytest.mark.requirement("AS-ERR-001")
def test_an_error_is_made_by_the_table() -> None:
    """Details that do not belong to a code are dropped, long messages cut, what is no JSON refused."""
    error = capability_error(
        ErrorCode.RATE_LIMITED,
        message="x" * 400,
        details={"reason": "rate", "retryAfterMs": None, "stack": "secret"},
        log_facts={"path": "/etc"},
    )
    assert error.payload.to_json() == {
        "code": "RATE_LIMITED",
        "message": "x" * 299 + "…",
        "retry": "after-delay",
        "details": {"reason": "rate"},
    }
    with pytest.raises(ValueError, match="not a JSON type"):
        capability_error(ErrorCode.PRECONDITION_FAILED, details={"a": object()})


HANDMADE: Mapping[str, CapabilityErrorPayload] = {
    "foreign details": CapabilityErrorPayload(
        code=ErrorCode.NOT_AUTHORIZED,
        message="No.",
        retry=Retry.NO,
        details={"origin": "client", "stack": "Traceback secret"},
    ),
    "details that can be changed": CapabilityErrorPayload(
        code=ErrorCode.RATE_LIMITED,
        message="No.",
        retry=Retry.AFTER_DELAY,
        details={"reason": ["rate", {"a": "secret"}]},
    ),
    "details that are no JSON": CapabilityErrorPayload(
        code=ErrorCode.NOT_AUTHORIZED, message="No.", retry=Retry.NO, details={"origin": object()}
    ),
    "a long message": CapabilityErrorPayload(code=ErrorCode.NOT_AUTHORIZED, message="x" * 10_000, retry=Retry.NO),
    "a message that is no text": CapabilityErrorPayload(code=ErrorCode.NOT_AUTHORIZED, message=5, retry=Retry.NO),
    "a code of another phase": CapabilityErrorPayload(
        code=ErrorCode.INVOCATION_CONFLICT, message="No.", retry=Retry.WITH_CHANGES
    ),
}


@pytest.mark.requirement("AS-ERR-001")
@pytest.mark.allow_logs("agent_surface")
@pytest.mark.parametrize("payload", HANDMADE)
@pytest.mark.parametrize("where", ["policy", "handler", "precondition"])
async def test_an_error_made_by_hand_is_held_to_the_table(surface: Surface, payload: str, where: str) -> None:
    """User code can raise whatever it likes; what reaches the agent is still one of the closed set."""

    def refuse(*_: object) -> object:
        raise AgentCapabilityError(HANDMADE[payload])

    surface.mount(
        act=ActionBinding(
            execute=refuse if where == "handler" else nothing,
            precondition=refuse if where == "precondition" else None,
            policies=[_Hook(on_authorize=refuse)] if where == "policy" else [],
        )
    )
    result = await surface.invoke(invocation_id="i-1")
    assert isinstance(result, InvocationError)
    check_error(result, surface.audited()[-1].phase)
    again = await surface.invoke(invocation_id="i-1")
    assert (again is result) == ERROR_TABLE[result.error.code].cached


class _Hook:
    """A policy of functions."""

    name = "hook"

    def __init__(self, **hooks: Callable[..., object]) -> None:
        for name, hook in hooks.items():
            setattr(self, name, hook)


@pytest.mark.requirement("AS-ERR-001", "AS-CONFIRM-001")
async def test_a_demand_of_the_back_end_becomes_an_ordinary_request() -> None:
    """A person is asked on its behalf, and the evidence travels with the retry."""
    evidence: list[object] = []

    async def rename(id: str, name: str, info: object) -> str:
        evidence.append(info.confirmation)
        if info.confirmation is None:
            raise capability_error(ErrorCode.CONFIRMATION_REQUIRED, details={"summary": "The server wants to know."})
        return name

    surface = Surface(ONE, RENAME, procedures=ServiceExecutor({"devices.rename": rename}))
    surface.mount(procedures=[bind_procedure(RENAME)])
    value = {"id": "a", "name": "b"}
    result = await surface.invoke("domain:devices.rename", value, consumer=ALICE, invocation_id="i-1")
    code, details = refusal(result)
    pending = surface.pending()
    assert (code, details["origin"], details["summary"]) == (
        "CONFIRMATION_REQUIRED",
        "server",
        "The server wants to know.",
    )
    assert (pending.origin, pending.input, details["confirmationId"]) == ("server", value, pending.confirmation_id)
    approved = surface.approve()
    done = await surface.invoke(
        "domain:devices.rename", value, consumer=ALICE, invocation_id="i-1", confirmation_id=approved
    )
    assert output(done) == "b"
    assert evidence[0] is None
    assert evidence[1].id == approved
    surface.registry.close()


# -------------------------------------------------------------------------------- nothing of the inside is told

SECRET = "s3cr3t"


class _PlantedError(Exception):
    """An exception full of things an agent must not see."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{SECRET} {text} https://internal.example/x?token={SECRET} SELECT * FROM {SECRET}")
        self.__notes__ = [SECRET]


def _exceptions() -> st.SearchStrategy[BaseException]:
    text = st.text(string.printable, max_size=20)
    kinds: list[Callable[[str], BaseException]] = [
        _PlantedError,
        ValueError,
        KeyError,
        RuntimeError,
        OSError,
        UnicodeError,
        AssertionError,
        RecursionError,
        NotImplementedError,
        asyncio.CancelledError,
        asyncio.TimeoutError,
        StopAsyncIteration,
        LookupError,
    ]
    return st.builds(lambda kind, said: kind(f"{SECRET} {said}"), st.sampled_from(kinds), text)


PLACES = [
    "read", "act", "async act", "late act", "thread", "go", "procedure", "async procedure", "bind", "when",
    "unavailable_reason", "describe", "precondition", "on_discovery", "on_authorize", "on_invoke", "async on_authorize",
    "async on_invoke", "context", "route", "availability", "guard", "listener", "pending listener", "sink",
    "before_settlement", "summary", "condition", "paths", "check", "host tenant", "component tenant", "policy sink",
    "cancel callback", "serializer",
]  # fmt: skip


class _Trap:
    """Raises the planted exception in one place of the application, and nowhere else."""

    def __init__(self, place: str, error: BaseException) -> None:
        self.place = place
        self.error = error
        self.armed = False
        self.sprung = False

    def __call__(self, place: str) -> None:
        if self.armed and place == self.place:
            self.sprung = True
            raise self.error


class _Sink:
    def __init__(self, trap: _Trap, place: str) -> None:
        self._trap = trap
        self._place = place

    def record(self, _: object) -> None:
        """Keep nothing."""
        self._trap(self._place)


class _Executor:
    def __init__(self, trap: _Trap) -> None:
        self._trap = trap

    @property
    def paths(self) -> list[str]:
        """What it runs."""
        self._trap("paths")
        return ["devices.rename"]

    async def execute(self, _: str, input: Mapping[str, object], _info: object) -> object:
        """Run it."""
        self._trap("procedure")
        await asyncio.sleep(0)
        self._trap("async procedure")
        return input["name"]


class _Made(BaseModel):
    _trap: Callable[[str], None] = PrivateAttr()

    @computed_field  # type: ignore[prop-decorator]  # as pydantic's documentation says
    @property
    def total(self) -> int:
        """What is written beside the published fields."""
        self._trap("serializer")
        return 1


MADE = define_agent_component_contract(
    type="t.made",
    description="Written by a serializer",
    actions={"act": action_contract(description="Make it", output=from_model(_Made), effect="local-state")},
)
MINED = [component(f"t.{name}") for name in ("one", "async", "thread", "off", "asks", "endless", "late")]


def _mined(trap: _Trap) -> Surface:  # noqa: C901 - one trap for each kind of code an application hands in
    def at(place: str, value: object = None) -> Callable[..., object]:
        def function(*_: object) -> object:
            trap(place)
            return value

        return function

    def on_discovery(_: PolicyContext) -> object:
        from agent_surface import EXPOSE

        trap("on_discovery")
        return EXPOSE

    def on_authorize(_: PolicyContext, call_next: CallNext) -> Awaitable[object]:
        trap("on_authorize")
        return call_next()

    def on_invoke(_: PolicyContext, call_next: CallNext) -> Awaitable[object]:
        trap("on_invoke")
        return call_next()

    async def async_authorize(_: PolicyContext, call_next: CallNext) -> object:
        await asyncio.sleep(0)
        trap("async on_authorize")
        return await call_next()

    async def async_invoke(_: PolicyContext, call_next: CallNext) -> object:
        await asyncio.sleep(0)
        trap("async on_invoke")
        return await call_next()

    async def act() -> None:
        trap("async act")
        await asyncio.sleep(0)
        trap("late act")

    async def endless(_: object, context: AgentActionContext) -> None:
        context.cancel.on_cancel(at("cancel callback"))
        await asyncio.Event().wait()

    def guard(_: RegistrationCandidate) -> Literal["accept", "reject"]:
        trap("guard")
        return "accept"

    def make() -> _Made:
        made = _Made()
        made._trap = trap
        return made

    contracts = MINED
    surface = Surface(
        *contracts,
        MADE,
        RENAME,
        on_register=guard,
        policies=(_Hook(on_discovery=on_discovery, on_authorize=on_authorize, on_invoke=on_invoke),),
        context=at("context", {}),
        route=at("route"),
        before_settlement=at("before_settlement"),
        procedures=_Executor(trap),
    )
    surface.registry._trail.sink = _Sink(trap, "sink")
    surface.registry.subscribe(at("listener"))
    surface.registry.confirmations.subscribe(at("pending listener"))
    asking = require_confirmation(
        when=lambda _: bool(at("condition", False)()), summary=lambda _: str(at("summary", "")())
    )
    surface.mount(
        contracts[0],
        read=at("read", 1),
        go=at("go"),
        act=ActionBinding(
            execute=at("act"),
            when=lambda: at("when", True)() is True,
            precondition=at("precondition"),
            policies=[asking],
        ),
        procedures=[bind_procedure(RENAME, bind={"id": at("bind", "d-1")}, describe=at("describe", "x"))],
        availability=at("availability", Availability(available=True)),
    )
    surface.mount(
        contracts[1],
        act=ActionBinding(execute=act, policies=[_Hook(on_authorize=async_authorize, on_invoke=async_invoke)]),
    )
    surface.mount(contracts[2], act=ActionBinding(execute=at("thread"), thread=True))
    surface.mount(
        contracts[3],
        act=ActionBinding(execute=nothing, when=lambda: False, unavailable_reason=at("unavailable_reason", "off")),
    )
    surface.mount(
        contracts[4],
        policies=[
            has_permission("p", check=lambda _: at("check", True)() is True),
            tenant_boundary(host_tenant=at("host tenant", "a"), component_tenant=at("component tenant", "a")),
            audit(sink=_Sink(trap, "policy sink")),
            require_confirmation(summary=lambda _: str(at("summary", "Sure?")())),
        ],
    )
    surface.mount(contracts[5], act=endless)
    surface.registry.register(MADE.bind(actions={"act": make}))
    return surface


CALLS = [
    ACT, READ, "view:t.one.go", "view:t.async.act", "view:t.thread.act", "view:t.off.act", "view:t.asks.act",
    "view:t.made.act", "domain:devices.rename",
]  # fmt: skip


async def _called(surface: Surface, trap: _Trap) -> list[AgentInvocationResult]:
    """Every call there is, one that is given up, and a component that comes late."""
    trap.armed = True
    results: list[AgentInvocationResult] = []
    for capability_id in CALLS:
        try:
            results.append(await surface.invoke(capability_id, _input_of(capability_id)))
        except AgentSurfaceDefectError as defect:
            results.append(cast("AgentInvocationResult", defect.result))
    given_up = surface.start("view:t.endless.act", invocation_id="endless")
    await turns()
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    # Registering is the application's: what its own code raises there comes back to it.
    with contextlib.suppress(type(trap.error)):
        surface.mount(MINED[-1])
    await turns()
    return results


def _input_of(capability_id: str) -> dict[str, str] | None:
    return {"name": "b"} if capability_id.startswith("domain") else None


@pytest.mark.requirement("AS-ERR-002", "AS-SNAP-002", "AS-AVAIL-003")
@pytest.mark.allow_logs("agent_surface")
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PLACES), error=_exceptions())
def test_nothing_an_exception_says_ever_reaches_an_agent(place: str, error: BaseException) -> None:
    """Whatever kind of code raises it: results, catalogue and events carry the text of templates only."""

    async def main() -> None:
        trap = _Trap(place, error)
        surface = _mined(trap)
        await turns()
        trap.armed = True
        seen: list[str] = [json.dumps(surface.catalogue())]
        for result in await _called(surface, trap):
            if isinstance(result, InvocationError):
                check_error(result)
            seen.append(json.dumps(result.to_json()))
        seen.append(json.dumps(surface.catalogue()))
        seen.append(str(surface.events))
        trap.armed = False
        assert SECRET not in "".join(seen)
        started, settled = surface.told("invocation-started"), surface.told("invocation-settled")
        assert len(started) == len(settled) == len(CALLS) + 1
        assert surface.idle()
        surface.registry.close()

    asyncio.run(main())


@pytest.mark.requirement("AS-ERR-002")
@pytest.mark.allow_logs("agent_surface")
@pytest.mark.parametrize("place", PLACES)
async def test_every_trap_is_really_sprung(place: str) -> None:
    """Else the property above would prove nothing."""
    trap = _Trap(place, _PlantedError("x"))
    surface = _mined(trap)
    trap.armed = True
    surface.catalogue()
    await _called(surface, trap)
    trap.armed = False
    assert trap.sprung
    surface.registry.close()


@pytest.mark.requirement("AS-ERR-002")
async def test_what_is_agent_facing_by_contract_does_reach_the_agent(surface: Surface) -> None:
    """A precondition's words, and an author's validator's."""
    surface.mount(act=ActionBinding(execute=nothing, precondition=lambda _: PreconditionFailure("Select a row first.")))
    result = await surface.invoke()
    assert isinstance(result, InvocationError)
    assert result.error.message == "Select a row first."
