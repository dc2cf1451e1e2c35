"""Records of requests: how they are made, decided, waited for, and how they end."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Sequence
from types import CoroutineType, FrameType
from typing import TYPE_CHECKING, cast

import pytest

from agent_surface._base._limits import AgentSurfaceLimits
from agent_surface.confirmations import ConfirmationOutcome, ConfirmationResolution, PendingConfirmation
from agent_surface.confirmations._evidence import ConfirmationsFull, EvidencePending, EvidenceRefused
from agent_surface.errors import RegistryClosedError
from agent_surface.events import ConfirmationRequested, ConfirmationResolved
from agent_surface.invocation import Effect
from tests.core.confirmations.store_under_test import ALICE, BOB, StoreUnderTest, binding_of

if TYPE_CHECKING:
    from _typeshed import TraceFunction

TTL_MS = AgentSurfaceLimits().confirmation_ttl_ms


def _denied(confirmation_id: str, note: str | None = None) -> ConfirmationResolution:
    return ConfirmationResolution(confirmation_id=confirmation_id, outcome=ConfirmationOutcome.DENIED, note=note)


def _expired(confirmation_id: str, actor: str) -> ConfirmationResolution:
    return ConfirmationResolution(confirmation_id=confirmation_id, outcome=ConfirmationOutcome.EXPIRED, actor=actor)


def test_a_request_shows_a_person_everything_that_will_be_done(under_test: StoreUnderTest) -> None:
    """The host has the whole effective input, who asks, and how long there is."""
    under_test.clock.advance(1_500)
    pending = under_test.request()
    assert pending == PendingConfirmation(
        confirmation_id="cnf_0000000000000000000001",
        capability_id="domain:devices.disable",
        description="Disable a device",
        registration_id="reg_1",
        component_type="devices.table",
        instance_id="main",
        consumer=ALICE,
        consumer_key="test:alice",
        effect=Effect.DESTRUCTIVE,
        summary="Disable d-42",
        input={"id": "d-42"},
        bound_fields=("id",),
        requested_at="2025-06-15T15:06:41.500Z",
        expires_at="2025-06-15T15:08:41.500Z",
        expires_in_ms=120_000,
        expires_at_monotonic_ms=121_500,
    )
    assert under_test.store.pending() == (pending,)


@pytest.mark.requirement("AS-CONFIRM-006")
def test_a_retry_while_pending_returns_the_same_record(under_test: StoreUnderTest) -> None:
    """An equal call asks nobody a second time; only the time left differs."""
    first = under_test.request()
    under_test.clock.advance(1_000)
    again = under_test.request()
    assert again.confirmation_id == first.confirmation_id
    assert again.expires_at == first.expires_at
    assert again.expires_in_ms == TTL_MS - 1_000
    assert [type(event) for event in under_test.events] == [ConfirmationRequested]


@pytest.mark.requirement("AS-CONFIRM-006")
@pytest.mark.parametrize("approved", [True, False])
def test_an_equal_call_after_a_decision_asks_anew(under_test: StoreUnderTest, approved: bool) -> None:
    """A decision is about one record; the next call without evidence is a new question."""
    first = under_test.request()
    under_test.store.resolve(first.confirmation_id, approved=approved)
    assert under_test.request().confirmation_id != first.confirmation_id


@pytest.mark.requirement("AS-CONFIRM-006")
def test_expiry_starts_a_new_cycle(under_test: StoreUnderTest) -> None:
    """Once the time is up the record is over, and an equal call makes another one."""
    first = under_test.request()
    under_test.clock.advance(TTL_MS)
    second = under_test.request()
    assert second.confirmation_id != first.confirmation_id
    assert [pending.confirmation_id for pending in under_test.store.pending()] == [second.confirmation_id]
    assert under_test.store.resolution(first.confirmation_id) == _expired(first.confirmation_id, "clock")


def test_pending_requests_come_oldest_first(under_test: StoreUnderTest) -> None:
    """The host answers in the order in which it was asked."""
    ids = [under_test.request(binding_of({"n": number})).confirmation_id for number in (3, 1, 2)]
    assert [pending.confirmation_id for pending in under_test.store.pending()] == ids


@pytest.mark.requirement("AS-CONFIRM-005")
def test_overflow_makes_no_record(make_store: Callable[[AgentSurfaceLimits], StoreUnderTest]) -> None:
    """At the bound a new call is refused without a trace but a count; an equal one still finds its record."""
    under_test = make_store(AgentSurfaceLimits(max_pending_confirmations=2))
    first = under_test.request(binding_of({"n": 1}))
    under_test.request(binding_of({"n": 2}))
    before = (list(under_test.events), list(under_test.audit), under_test.store.pending())
    with pytest.raises(ConfirmationsFull):
        under_test.request(binding_of({"n": 3}))
    assert (under_test.events, under_test.audit, under_test.store.pending()) == before
    assert under_test.store.statistics().refused_total == 1
    assert under_test.request(binding_of({"n": 1})).confirmation_id == first.confirmation_id
    under_test.store.resolve(first.confirmation_id, approved=False)
    under_test.request(binding_of({"n": 3}))


def test_a_summary_is_cut_to_three_hundred_characters(under_test: StoreUnderTest) -> None:
    """What a policy composes is bounded, whatever it composed."""
    summary = under_test.request(summary="x" * 400).summary
    assert summary == "x" * 299 + "…"


async def test_everyone_who_waits_learns_the_decision(under_test: StoreUnderTest) -> None:
    """Any number of coroutines wait for one record, by either end of the store."""
    confirmation_id = under_test.request().confirmation_id
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        waits = [group.create_task(under_test.store.wait_for(confirmation_id)) for _ in range(3)]
        waits.append(group.create_task(under_test.store.waiter.wait_for(confirmation_id)))
        await asyncio.sleep(0)
        assert under_test.store.statistics().waiters == 4
        under_test.store.resolve(confirmation_id, approved=False, note="not now")
    assert [wait.result() for wait in waits] == [_denied(confirmation_id, "not now")] * 4
    assert under_test.store.statistics().waiters == 0


async def test_cancelling_one_who_waits_leaves_the_others_waiting(under_test: StoreUnderTest) -> None:
    """Each waiter has a future of its own."""
    confirmation_id = under_test.request().confirmation_id
    leaver = asyncio.ensure_future(under_test.store.wait_for(confirmation_id))
    stayer = asyncio.ensure_future(under_test.store.wait_for(confirmation_id))
    await asyncio.sleep(0)
    leaver.cancel()
    await asyncio.wait({leaver})
    assert under_test.store.statistics().waiters == 1
    under_test.store.resolve(confirmation_id, approved=False)
    async with asyncio.timeout(5):
        assert await stayer == _denied(confirmation_id)


async def test_waiting_for_what_has_ended_returns_at_once(under_test: StoreUnderTest) -> None:
    """Nobody who comes late hangs; what is not known has expired."""
    confirmation_id = under_test.request().confirmation_id
    under_test.store.resolve(confirmation_id, approved=False)
    async with asyncio.timeout(5):
        assert await under_test.store.wait_for(confirmation_id) == _denied(confirmation_id)
        assert await under_test.store.waiter.wait_for("cnf_unknown") == _expired("cnf_unknown", "clock")


async def test_expiry_wakes_those_who_wait(under_test: StoreUnderTest) -> None:
    """The clock alone ends a record that nobody touches."""
    confirmation_id = under_test.request().confirmation_id
    wait = asyncio.ensure_future(under_test.store.wait_for(confirmation_id))
    await asyncio.sleep(0)
    under_test.clock.advance(TTL_MS - 1)
    assert len(under_test.store.pending()) == 1
    under_test.clock.advance(1)
    async with asyncio.timeout(5):
        assert await wait == _expired(confirmation_id, "clock")
    assert under_test.events[-1] == ConfirmationResolved(confirmation_id=confirmation_id, outcome="expired")


def test_a_late_timer_does_not_lengthen_a_life(under_test: StoreUnderTest) -> None:
    """A loop that was busy past the end of a record finds it expired, not open for an answer."""
    confirmation_id = under_test.request().confirmation_id

    class Late:
        """Time has passed and no timer has run."""

        def __init__(self, original: Callable[[], int]) -> None:
            self.original = original

        def __call__(self) -> int:
            return self.original() + TTL_MS

    under_test.clock.monotonic_ms = Late(under_test.clock.monotonic_ms)  # type: ignore[method-assign] # a busy loop
    assert not under_test.store.resolve(confirmation_id, approved=True)
    assert under_test.store.resolution(confirmation_id) == _expired(confirmation_id, "clock")


def test_a_jump_of_the_wall_clock_changes_no_life(under_test: StoreUnderTest) -> None:
    """Times to live run on monotonic time."""
    confirmation_id = under_test.request().confirmation_id
    under_test.clock.jump_wall_clock(10 * TTL_MS)
    assert under_test.store.pending()[0].expires_in_ms == TTL_MS
    under_test.clock.jump_wall_clock(-20 * TTL_MS)
    under_test.clock.advance(TTL_MS)
    assert under_test.store.resolution(confirmation_id) == _expired(confirmation_id, "clock")


@pytest.mark.requirement("AS-CONFIRM-008")
def test_a_registration_that_goes_expires_its_pending_requests_at_once(under_test: StoreUnderTest) -> None:
    """Staleness beats approval: nothing of a gone component can be answered any more; others stay."""
    gone = under_test.request(binding_of(registration_id="reg_1"))
    stays = under_test.request(binding_of(registration_id="reg_2"))
    under_test.store.expire_registration("reg_1")
    assert [pending.confirmation_id for pending in under_test.store.pending()] == [stays.confirmation_id]
    assert under_test.store.resolution(gone.confirmation_id) == _expired(gone.confirmation_id, "unmounted")
    assert not under_test.store.resolve(gone.confirmation_id, approved=True)
    assert under_test.audited()[-1] == ("expired", "unmounted")


@pytest.mark.requirement("AS-CONFIRM-008")
def test_a_registration_that_goes_voids_its_unused_approvals(under_test: StoreUnderTest) -> None:
    """Also an approval that was given, and one that a call had taken and gives back."""
    unused = under_test.approved(binding_of({"n": 1}))
    held = under_test.approved(binding_of({"n": 2}))
    claim = under_test.store.claim(held, binding_of({"n": 2}))
    under_test.store.expire_registration("reg_1")
    claim.release()
    for confirmation_id, number in ((unused, 1), (held, 2)):
        with pytest.raises(EvidenceRefused, match="expired"):
            under_test.store.claim(confirmation_id, binding_of({"n": number}))


@pytest.mark.requirement("AS-CONFIRM-011")
def test_a_withdrawn_request_can_never_be_approved(under_test: StoreUnderTest) -> None:
    """The adapter's end can finish a record; the person's late click then finds nothing."""
    confirmation_id = under_test.request().confirmation_id
    under_test.store.waiter.withdraw(confirmation_id)
    assert under_test.store.resolution(confirmation_id) == _expired(confirmation_id, "withdrawn")
    assert not under_test.store.resolve(confirmation_id, approved=True)
    with pytest.raises(EvidenceRefused, match="expired"):
        under_test.store.claim(confirmation_id, binding_of())
    assert under_test.audited() == [("requested", "consumer"), ("expired", "withdrawn")]


@pytest.mark.requirement("AS-CONFIRM-011")
def test_withdrawing_takes_back_no_decision(under_test: StoreUnderTest) -> None:
    """Only pending requests can be withdrawn; what is unknown is nobody's business."""
    confirmation_id = under_test.approved()
    under_test.store.waiter.withdraw(confirmation_id)
    under_test.store.waiter.withdraw("cnf_unknown")
    under_test.store.claim(confirmation_id, binding_of()).consume()


@pytest.mark.requirement("AS-CONFIRM-009")
def test_the_note_of_a_denial_reaches_whoever_waits_or_retries(under_test: StoreUnderTest) -> None:
    """The person's words are kept with the decision, trimmed and bounded."""
    confirmation_id = under_test.request().confirmation_id
    under_test.store.resolve(confirmation_id, approved=False, note="  wrong device " + "x" * 600)
    kept = ("wrong device " + "x" * 600)[:500]
    assert under_test.store.resolution(confirmation_id) == _denied(confirmation_id, kept)
    with pytest.raises(EvidenceRefused) as refusal:
        under_test.store.claim(confirmation_id, binding_of())
    assert (refusal.value.reason, refusal.value.note) == ("denied", kept)
    assert under_test.audit[-1].note == kept


@pytest.mark.parametrize("note", ["", "  \n", None])
def test_a_blank_note_is_none(under_test: StoreUnderTest, note: str | None) -> None:
    """An empty field is not a message."""
    confirmation_id = under_test.request().confirmation_id
    under_test.store.resolve(confirmation_id, approved=False, note=note)
    assert under_test.store.resolution(confirmation_id) == _denied(confirmation_id)


def test_a_note_is_always_unicode_text(under_test: StoreUnderTest) -> None:
    """Half a character from an input method must not break the JSON the note ends in."""
    confirmation_id = under_test.request().confirmation_id
    under_test.store.resolve(confirmation_id, approved=False, note="a\ud800b \ud83d\ude00")
    assert under_test.store.resolution(confirmation_id) == _denied(confirmation_id, "a\ufffdb \N{GRINNING FACE}")


@pytest.mark.parametrize("answer", [1, "yes", object()])
def test_only_the_value_true_approves(under_test: StoreUnderTest, answer: object) -> None:
    """A truthy value that slipped in from a signal or a form is a denial."""
    confirmation_id = under_test.request().confirmation_id
    under_test.store.resolve(confirmation_id, approved=cast("bool", answer))
    assert under_test.store.resolution(confirmation_id) == _denied(confirmation_id)


def test_the_first_decision_stands(under_test: StoreUnderTest) -> None:
    """A second click, on whatever button, changes nothing."""
    confirmation_id = under_test.request().confirmation_id
    assert under_test.store.resolve(confirmation_id, approved=False)
    assert not under_test.store.resolve(confirmation_id, approved=True)
    assert under_test.store.resolution(confirmation_id) == _denied(confirmation_id)


def test_requested_comes_before_resolved_in_events_and_audit(under_test: StoreUnderTest) -> None:
    """Each step is audited with its actor, and evented in order."""
    confirmation_id = under_test.approved()
    under_test.store.claim(confirmation_id, binding_of()).consume()
    assert under_test.events == [
        ConfirmationRequested(
            confirmation_id=confirmation_id,
            capability_id="domain:devices.disable",
            expires_at="2025-06-15T15:08:40.000Z",
        ),
        ConfirmationResolved(confirmation_id=confirmation_id, outcome="approved"),
    ]
    assert under_test.audited() == [("requested", "consumer"), ("approved", "person"), ("consumed", "consumer")]


def test_listeners_hear_of_a_change_after_it_and_one_failure_is_contained(
    under_test: StoreUnderTest, expected_logs: list[logging.LogRecord]
) -> None:
    """A listener sees what the store now says; the next one is told although this one raises."""
    seen: list[tuple[Sequence[PendingConfirmation], tuple[PendingConfirmation, ...]]] = []

    def broken(_pending: Sequence[PendingConfirmation]) -> None:
        raise ValueError("listener")

    under_test.store.subscribe(broken)
    under_test.store.subscribe(lambda pending: seen.append((pending, under_test.store.pending())))
    pending = under_test.request()
    under_test.store.resolve(pending.confirmation_id, approved=False)
    assert seen == [((pending,), (pending,)), ((), ())]
    assert [record.exc_info is not None for record in expected_logs] == [True, True]


def test_disposing_twice_ends_one_subscription_only(under_test: StoreUnderTest) -> None:
    """The same listener may be subscribed twice, and each subscription has a disposer of its own."""
    seen: list[int] = []

    def listener(pending: Sequence[PendingConfirmation]) -> None:
        seen.append(len(pending))

    dispose = under_test.store.subscribe(listener)
    under_test.store.subscribe(listener)
    dispose()
    dispose()
    under_test.request()
    assert seen == [1]


def test_a_listener_that_answers_is_not_nested_into_the_others(under_test: StoreUnderTest) -> None:
    """Every listener sees the request before the answer one of them gave, and the last state last."""
    seen: list[str] = []

    def answering(pending: Sequence[PendingConfirmation]) -> None:
        seen.append(f"first {len(pending)}")
        for one in pending:
            under_test.store.resolve(one.confirmation_id, approved=True)

    under_test.store.subscribe(answering)
    under_test.store.subscribe(lambda pending: seen.append(f"second {len(pending)}"))
    under_test.request()
    assert seen == ["first 1", "second 1", "first 0", "second 0"]


def test_a_listener_disposed_during_delivery_is_not_called(under_test: StoreUnderTest) -> None:
    """Who has left is not told, even when the delivery had begun."""
    seen: list[str] = []
    under_test.store.subscribe(lambda _pending: dispose())
    dispose = under_test.store.subscribe(lambda _pending: seen.append("told"))
    under_test.request()
    assert seen == []


async def test_closing_ends_everything_and_wakes_everybody(under_test: StoreUnderTest) -> None:
    """Pending requests expire, unused approvals are void, listeners see the end, no timer stays."""
    approved = under_test.approved(binding_of({"n": 1}))
    pending = under_test.request(binding_of({"n": 2}))
    seen: list[int] = []
    under_test.store.subscribe(lambda now: seen.append(len(now)))
    wait = asyncio.ensure_future(under_test.store.wait_for(pending.confirmation_id))
    await asyncio.sleep(0)
    under_test.store.close()
    under_test.store.close()
    async with asyncio.timeout(5):
        assert await wait == _expired(pending.confirmation_id, "closed")
    assert seen == [0]
    assert under_test.clock.pending_timers == 0
    with pytest.raises(EvidenceRefused, match="expired"):
        under_test.store.claim(approved, binding_of({"n": 1}))
    with pytest.raises(RegistryClosedError):
        under_test.request()
    assert not under_test.store.resolve(pending.confirmation_id, approved=True)


def test_closing_after_the_loop_is_gone_raises_nothing(under_test: StoreUnderTest) -> None:
    """A program that ends closes its loop first now and then, with somebody still waiting on it."""
    loop = asyncio.new_event_loop()
    confirmation_id = under_test.request().confirmation_id
    waiting = loop.create_task(under_test.store.wait_for(confirmation_id))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    under_test.store.close()
    assert not waiting.done()
    # Nobody else can end a task of a closed loop: throw the end into its coroutine by hand.
    coroutine = waiting.get_coro()
    assert isinstance(coroutine, CoroutineType)
    coroutine.close()


def test_ended_requests_are_forgotten_in_time_and_beyond_a_bound(
    make_store: Callable[[AgentSurfaceLimits], StoreUnderTest],
) -> None:
    """A store that has seen many requests is as large as after a few."""
    under_test = make_store(AgentSurfaceLimits(max_resolved_confirmations=3))
    for number in range(50):
        under_test.store.resolve(under_test.request(binding_of({"n": number})).confirmation_id, approved=False)
    assert under_test.store.statistics().resolved == 3
    under_test.clock.advance(AgentSurfaceLimits().dedupe_cache_ttl_ms)
    assert under_test.store.statistics().resolved == 0
    assert under_test.clock.pending_timers == 0


def test_an_approval_that_can_still_be_used_is_forgotten_last(
    make_store: Callable[[AgentSurfaceLimits], StoreUnderTest],
) -> None:
    """The bound must not take away what the person has just given."""
    under_test = make_store(AgentSurfaceLimits(max_resolved_confirmations=2))
    approved = under_test.approved()
    for number in range(10):
        under_test.store.resolve(under_test.request(binding_of({"n": number})).confirmation_id, approved=False)
    under_test.store.claim(approved, binding_of()).consume()


def test_a_store_has_one_timer_however_many_requests(under_test: StoreUnderTest) -> None:
    """Long times to live leave no crowd of timers behind."""
    for number in range(20):
        under_test.clock.advance(10)
        under_test.request(binding_of({"n": number}))
    assert under_test.clock.pending_timers == 1


@pytest.mark.requirement("AS-CONFIRM-004")
def test_another_consumer_s_equal_call_is_another_record(under_test: StoreUnderTest) -> None:
    """Two consumers who want the same thing are two questions."""
    alice = under_test.request(consumer=ALICE)
    bob = under_test.request(consumer=BOB)
    assert alice.confirmation_id != bob.confirmation_id
    with pytest.raises(EvidencePending) as pending:
        under_test.store.claim(bob.confirmation_id, binding_of(consumer=BOB))
    assert pending.value.pending == bob


@pytest.mark.requirement("AS-CONFIRM-011")
def test_a_hold_is_taken_back_once_however_often_that_is_said(under_test: StoreUnderTest) -> None:
    """Else one adapter could end what another one counts on."""
    confirmation_id = under_test.request().confirmation_id
    first, second = under_test.store.waiter.hold(confirmation_id), under_test.store.waiter.hold(confirmation_id)
    assert first is not None
    assert second is not None
    first()
    first()
    under_test.store.waiter.withdraw(confirmation_id)
    assert [pending.confirmation_id for pending in under_test.store.pending()] == [confirmation_id]
    second()
    assert under_test.store.resolution(confirmation_id) == _expired(confirmation_id, "withdrawn")
    assert under_test.store.waiter.hold(confirmation_id) is None


def _lines_run(action: Callable[[], object]) -> int:
    """How many lines of the library an action takes: the same on every machine."""
    lines = 0

    def count(frame: FrameType, event: str, argument: object) -> object:
        nonlocal lines
        del argument
        if "agent_surface" not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(cast("TraceFunction", count))
    try:
        action()
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.requirement("AS-BOUND-003")
def test_asking_and_claiming_cost_the_same_however_many_decisions_are_remembered(
    make_store: Callable[[AgentSurfaceLimits], StoreUnderTest],
) -> None:
    """Records lie in the order in which they become due; nothing is looked through."""
    under_test = make_store(AgentSurfaceLimits(max_resolved_confirmations=5_000))

    def cost(number: int) -> list[int]:
        def ask() -> None:
            under_test.request(binding_of({"n": number}))

        asked = _lines_run(ask)
        confirmation_id = under_test.store.pending()[-1].confirmation_id
        resolved = _lines_run(lambda: under_test.store.resolve(confirmation_id, approved=True))
        claimed = _lines_run(lambda: under_test.store.claim(confirmation_id, binding_of({"n": number})).consume())
        return [asked, resolved, claimed]

    few = cost(0)
    for number in range(1, 1_000):
        confirmation_id = under_test.approved(binding_of({"n": number}))
        if number % 2:
            under_test.store.claim(confirmation_id, binding_of({"n": number})).consume()
    assert under_test.store.statistics().resolved == 1_000
    many = cost(0)
    # A text that is canonical already takes a few lines less; a thousand records looked at would take a thousand more.
    assert all(later < earlier + 50 for earlier, later in zip(few, many, strict=True)), (few, many)
