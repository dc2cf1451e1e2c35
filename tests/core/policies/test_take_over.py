"""A person takes control from every consumer at once, and gives it back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from logging import LogRecord

import pytest

from agent_surface import (
    HIDE,
    ActionBinding,
    AgentSurfaceError,
    CallNext,
    DiscoveryDecision,
    PolicyContext,
    RegistryClosedError,
    TakeOver,
)
from agent_surface.errors import Retry
from agent_surface.invocation import InvocationError
from tests.core.surface_fixtures import ACT, ALICE, ASKING, BOB, READ, Surface, output, refusal, turns

REASON = "A person has taken control of the application. Wait until they hand it back."


@pytest.fixture
async def taken() -> AsyncIterator[tuple[Surface, TakeOver]]:
    """A registry with the switch; nothing is left of it at the end."""
    take_over = TakeOver()
    surface = Surface(policies=(take_over,))
    yield surface, take_over
    surface.registry.close()
    assert await surface.registry.wait_closed()
    assert surface.idle()


@pytest.mark.requirement("QT-DOCK-004")
async def test_running_calls_of_every_consumer_are_cancelled_with_the_reason(taken: tuple[Surface, TakeOver]) -> None:
    """Also one whose handler does not cooperate: its caller is free at once."""
    surface, take_over = taken
    gate = asyncio.Event()
    seen: list[str] = []

    async def stubborn(value: object) -> None:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            seen.append("asked to end")
            await gate.wait()

    surface.mount(act=stubborn)
    running = [surface.start(ACT, {"n": 1}, consumer=ALICE), surface.start(ACT, {"n": 2}, consumer=BOB)]
    await turns()
    assert take_over.engage()
    results = await asyncio.wait_for(asyncio.gather(*running), 5)
    for result in results:
        assert isinstance(result, InvocationError)
        assert (result.error.code.value, result.error.message, result.error.retry) == ("CANCELLED", REASON, Retry.NO)
    assert "asked to end" in seen
    gate.set()
    await turns()


@pytest.mark.requirement("QT-DOCK-004")
async def test_new_calls_are_refused_with_the_reason_until_control_is_handed_back(
    taken: tuple[Surface, TakeOver],
) -> None:
    """Reading too; and the catalogue says so to everybody, as a change of the surface."""
    surface, take_over = taken
    ran: list[str] = []
    surface.mount(read=lambda: 7, act=lambda: ran.append("act"))
    await turns()
    before = surface.registry.version
    told = len(surface.told("surface-changed"))
    assert take_over.engage()
    assert take_over.engaged
    for capability in (ACT, READ):
        for consumer in (ALICE, BOB):
            refused = refusal(await surface.invoke(capability, consumer=consumer))
            assert refused == ("CAPABILITY_NOT_AVAILABLE", {"reason": REASON})
    assert _reasons(surface) == {REASON}
    await turns()
    assert surface.registry.version != before
    assert len(surface.told("surface-changed")) == told + 1

    assert take_over.hand_back()
    assert not take_over.engaged
    assert _reasons(surface) == {None}
    await turns()
    assert len(surface.told("surface-changed")) == told + 2
    assert output(await surface.invoke(READ)) == 7
    assert ran == []


@pytest.mark.requirement("QT-DOCK-004")
async def test_requests_of_a_person_are_withdrawn_and_an_approval_not_yet_used_is_void(
    taken: tuple[Surface, TakeOver],
) -> None:
    """After the hand-back a person is asked anew, whatever they had said before."""
    surface, take_over = taken
    ran: list[object] = []
    surface.mount(ASKING, act=ran.append)
    act = "view:t.asking.act"
    await surface.invoke(act, {"n": 1})
    approved = surface.approve()
    await surface.invoke(act, {"n": 2})
    pending = surface.pending().confirmation_id
    assert take_over.engage()
    assert surface.registry.confirmations.pending() == ()
    assert not surface.registry.confirmations.resolve(pending, approved=True)
    assert take_over.hand_back()
    for n, confirmation_id in ((1, approved), (2, pending)):
        code, details = refusal(await surface.invoke(act, {"n": n}, confirmation_id=confirmation_id))
        assert (code, details["reason"]) == ("CONFIRMATION_INVALID", "expired")
    assert ran == []


@pytest.mark.requirement("QT-DOCK-004")
async def test_whoever_is_told_that_a_request_was_withdrawn_finds_that_the_person_has_control(
    taken: tuple[Surface, TakeOver],
) -> None:
    """What is withdrawn might be asked for again at once, and must not be."""
    surface, take_over = taken
    surface.mount(ASKING)
    await surface.invoke("view:t.asking.act", {"n": 1})
    seen: list[tuple[bool, set[str | None]]] = []
    stop = surface.registry.confirmations.subscribe(lambda _: seen.append((take_over.engaged, _reasons(surface))))
    take_over.engage()
    assert seen == [(True, {REASON})]
    stop()


async def test_what_a_consumer_may_not_see_stays_hidden_while_a_person_has_control() -> None:
    """The switch tells nobody what exists."""
    take_over = TakeOver()
    surface = Surface(policies=(take_over,))
    surface.mount(act=ActionBinding(execute=lambda: None, policies=(_Hidden(),)))
    take_over.engage()
    assert ACT not in surface.capability_ids()
    assert refusal(await surface.invoke(ACT))[0] == "CAPABILITY_NOT_FOUND"
    surface.registry.close()


async def test_listeners_hear_each_change_once_whatever_one_of_them_does(
    taken: tuple[Surface, TakeOver], expected_logs: list[LogRecord]
) -> None:
    """Turning a switch to where it stands is nothing."""
    _, take_over = taken
    heard: list[bool] = []

    def broken(engaged: bool) -> None:
        raise RuntimeError("broken")

    take_over.subscribe(broken)
    forget = take_over.subscribe(heard.append)
    assert [take_over.hand_back(), take_over.engage(), take_over.engage(), take_over.hand_back()] == [
        False,
        True,
        False,
        True,
    ]
    assert heard == [True, False]
    forget()
    forget()
    take_over.engage()
    assert heard == [True, False]
    assert [record.getMessage() for record in expected_logs] == ["a listener of the take-over failed"] * 3


async def test_a_switch_that_guards_nothing_says_so_instead_of_pretending(surface: Surface) -> None:
    """The one mistake an application can make with it."""
    with pytest.raises(AgentSurfaceError, match="guards nothing"):
        TakeOver().engage()
    take_over = TakeOver()
    first = Surface(policies=(take_over,))
    with pytest.raises(AgentSurfaceError, match="guards one registry"):
        Surface(policies=(take_over,))
    first.registry.close()
    with pytest.raises(RegistryClosedError):
        take_over.engage()
    assert not take_over.engaged


class _Hidden:
    name = "hidden"

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        return HIDE


def _reasons(surface: Surface) -> set[str | None]:
    (part,) = surface.registry.snapshot().components
    return {item.unavailable_reason for item in part.observations} | {item.unavailable_reason for item in part.actions}


class WhenAuthorizing:
    """Asks the switch of another registry, and only whether something may be executed."""

    name = "when-authorizing"

    def __init__(self, take_over: TakeOver) -> None:
        self._take_over = take_over

    def on_authorize(self, context: PolicyContext, call_next: CallNext) -> Awaitable[object]:
        """As the other registry would."""
        return self._take_over.on_authorize(context, call_next)


@pytest.mark.requirement("QT-DOCK-004")
async def test_what_is_listed_is_not_executed_either(taken: tuple[Surface, TakeOver]) -> None:
    """The switch refuses by itself, also where nobody asked it what may be shown."""
    _, take_over = taken
    surface = Surface(policies=(WhenAuthorizing(take_over),))
    surface.mount(read=lambda: 7)
    assert output(await surface.invoke(READ)) == 7
    assert take_over.engage()
    assert refusal(await surface.invoke(READ)) == ("CAPABILITY_NOT_AVAILABLE", {"reason": REASON})
    assert take_over.hand_back()
    surface.registry.close()
