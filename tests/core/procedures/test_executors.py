"""Procedures on their way to the back end: what an executor is given, and what becomes of what it answers."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type"
# pyright: reportArgumentType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from agent_surface import (
    JsonValue,
    ProcedureInfo,
    ServiceExecutor,
    bind_procedure,
    capability_error,
)
from agent_surface.errors import ErrorCode, Retry
from tests.core.surface_fixtures import ALICE, ONE, RENAME, Surface, output, refusal, turns

PATH = "domain:devices.rename"
INPUT: dict[str, JsonValue] = {"id": "d-1", "name": "Pump"}


class Recorder:
    """Runs the one path; keeps what it was given."""

    def __init__(self, answer: Callable[[], object] = lambda: "renamed") -> None:
        self.calls: list[tuple[str, Mapping[str, JsonValue], ProcedureInfo]] = []
        self.answer = answer

    @property
    def paths(self) -> list[str]:
        """What it runs."""
        return ["devices.rename"]

    async def execute(self, path: str, input: Mapping[str, JsonValue], info: ProcedureInfo) -> object:
        """Run it."""
        self.calls.append((path, input, info))
        answer = self.answer()
        await asyncio.sleep(0)
        return answer


def _surface(executor: object, context: Callable[[], Mapping[str, object]] | None = None) -> Surface:
    surface = Surface(ONE, RENAME, procedures=executor, context=context)
    surface.mount(procedures=[bind_procedure(RENAME)])
    return surface


@pytest.mark.requirement("AS-CTX-001", "AS-BIND-004")
async def test_an_executor_is_told_of_the_call_and_given_a_copy_of_its_input() -> None:
    """Ids, consumer, host, token; what it does to the input changes nothing."""
    executor = Recorder()
    surface = _surface(executor, lambda: {"user": "u-1"})
    assert output(await surface.invoke(PATH, INPUT, consumer=ALICE, invocation_id="i-1")) == "renamed"
    ((path, value, info),) = executor.calls
    assert (path, value) == ("devices.rename", INPUT)
    assert isinstance(value, dict)
    value.clear()
    assert (info.invocation_id, info.capability_id, info.consumer) == ("i-1", PATH, ALICE)
    assert (dict(info.host), info.confirmation, info.cancel.cancelled) == ({"user": "u-1"}, None, False)
    assert output(await surface.invoke(PATH, INPUT, consumer=ALICE, invocation_id="i-1")) == "renamed"
    surface.registry.close()


REFUSALS = {
    "not signed in": (ErrorCode.NOT_AUTHENTICATED, {}),
    "not allowed": (ErrorCode.NOT_AUTHORIZED, {"origin": "server"}),
    "conflict": (ErrorCode.PRECONDITION_FAILED, {"version": 7}),
    "invalid": (ErrorCode.INVALID_INPUT, {"issues": [{"path": "/name", "message": "is taken"}]}),
    "too often": (ErrorCode.RATE_LIMITED, {"reason": "rate", "retryAfterMs": 900}),
    "down": (ErrorCode.EXECUTION_FAILED, {"reason": "transport", "transient": True}),
}


@pytest.mark.requirement("AS-ERR-001")
@pytest.mark.parametrize("kind", REFUSALS)
async def test_the_back_ends_refusals_reach_the_agent_as_they_are(kind: str) -> None:
    """Each with the code and details that belong to it."""
    code, details = REFUSALS[kind]

    def refuse() -> object:
        raise capability_error(code, retry=Retry.AFTER_DELAY, details=details)

    surface = _surface(Recorder(refuse))
    result = await surface.invoke(PATH, INPUT)
    assert refusal(result) == (code.value, details)
    assert surface.audited()[0].phase == 9
    surface.registry.close()


@pytest.mark.requirement("AS-ERR-001", "AS-ERR-002")
@pytest.mark.allow_logs("agent_surface")
@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.CAPABILITY_NOT_FOUND,
        ErrorCode.AMBIGUOUS_INSTANCE,
        ErrorCode.STALE_CAPABILITY,
        ErrorCode.INVOCATION_CONFLICT,
        ErrorCode.CONFIRMATION_INVALID,
    ],
)
async def test_a_back_end_cannot_speak_for_the_registry(code: ErrorCode) -> None:
    """Codes of other phases are a failure of the procedure."""

    def refuse() -> object:
        raise capability_error(code)

    surface = _surface(Recorder(refuse))
    assert refusal(await surface.invoke(PATH, INPUT)) == ("EXECUTION_FAILED", {"reason": "handler-error"})
    assert surface.audited()[0].facts["raised"] == code
    surface.registry.close()


@pytest.mark.requirement("AS-BIND-003")
@pytest.mark.allow_logs("agent_surface.pipeline")
async def test_an_executor_that_is_taken_away_while_a_call_waits_is_not_used() -> None:
    """Neither the old one nor a new one that cannot run the path."""
    executor = Recorder()
    surface = _surface(executor)
    call = surface.start(PATH, INPUT)
    await asyncio.sleep(0)
    surface.registry.set_procedure_executor(None)
    assert refusal(await call) == ("EXECUTION_FAILED", {"reason": "handler-error"})
    assert executor.calls == []
    await turns()
    assert surface.idle()
    surface.registry.close()


async def test_services_are_functions_of_the_application() -> None:
    """Plain or async, with the input's fields as keywords and, if they ask for it, word of the call."""
    infos: list[ProcedureInfo] = []

    async def rename(id: str, name: str, info: ProcedureInfo) -> str:
        infos.append(info)
        return f"{id}:{name}"

    executor = ServiceExecutor({"devices.rename": rename})
    assert list(executor.paths) == ["devices.rename"]
    surface = _surface(executor)
    assert output(await surface.invoke(PATH, INPUT)) == "d-1:Pump"
    assert infos[0].capability_id == PATH
    surface.registry.set_procedure_executor(ServiceExecutor({"devices.rename": lambda id, name: name}))
    assert output(await surface.invoke(PATH, INPUT)) == "Pump"
    surface.registry.close()


@pytest.mark.requirement("AS-CONC-010", "AS-TIME-001")
@pytest.mark.parametrize("end", ["time-out", "unregister", "cancel"])
async def test_a_procedure_is_told_when_nobody_wants_it_any_more(end: str) -> None:
    """Its token is set and its task cancelled; the component that referred to it may be gone."""
    reasons: list[str | None] = []

    async def rename(info: ProcedureInfo, **_: str) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            reasons.append(info.cancel.reason)
        return ""

    surface = Surface(ONE, RENAME, procedures=ServiceExecutor({"devices.rename": rename}))
    handle = surface.mount(procedures=[bind_procedure(RENAME)])
    call = surface.start(PATH, INPUT)
    await turns()
    if end == "time-out":
        surface.clock.advance(30_000)
    elif end == "unregister":
        handle.unregister()
    else:
        call.cancel()
    await turns()
    assert reasons == [{"time-out": "timeout", "unregister": "unmounted", "cancel": "cancelled"}[end]]
    assert surface.idle()
    await asyncio.gather(call, return_exceptions=True)
    surface.registry.close()
