"""The harness: an agent, a person, an application and their time in the hands of a test."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from agent_surface import (
    AgentConsumer,
    AgentSurfaceError,
    ConfirmationResolved,
    LoggingAuditSink,
    create_agent_surface_registry,
    has_permission,
)
from agent_surface.testing import (
    ManualClock,
    SurfaceHarness,
    assert_exposes,
    assert_exposes_unavailable,
    assert_fails_with,
    assert_hidden,
    assert_ok,
    contract_authority,
    create_surface_harness,
    surface_snapshot_text,
)
from tests.core.testing.parts import COUNTER, READ, RESET, SAVE, SET, Counter, harness


@pytest.fixture
def counter() -> Counter:
    """The number."""
    return Counter()


@pytest.fixture
def hands(counter: Counter) -> Iterator[SurfaceHarness]:
    """A harness over a fresh registry."""
    with harness(counter) as made:
        yield made


async def test_a_call_reaches_the_handler_and_the_value_can_be_observed(
    hands: SurfaceHarness, counter: Counter
) -> None:
    """The round trip of every test of an application."""
    hands.mount(counter.bound())
    assert assert_ok(await hands.invoke(SET, {"value": 5}), 0) == 0
    assert await hands.observe(READ) == 5
    assert [event.type for event in hands.events][-2:] == ["invocation-started", "invocation-settled"]
    assert [(record.capability_id, record.status) for record in hands.audit_log] == [(SET, "ok")]


async def test_the_registration_of_the_catalogue_is_sent_along(hands: SurfaceHarness, counter: Counter) -> None:
    """As an adapter does; a reference captured before sends what it captured, and is stale after a remount."""
    first = hands.mount(counter.bound())
    ref = hands.capture_ref(SET)
    assert ref.registration_id == first.registration_id
    assert_ok(await hands.invoke(ref, {"value": 1}))
    first.unregister()
    assert_fails_with(await hands.invoke(ref, {"value": 2}), "COMPONENT_UNMOUNTED", phase="resolve")
    second = hands.mount(counter.bound())
    assert_fails_with(
        await hands.invoke(ref, {"value": 3}),
        "STALE_CAPABILITY",
        reason="registration-replaced",
        liveRegistrationId=second.registration_id,
    )
    assert_ok(await hands.invoke(SET, {"value": 4}))
    assert hands.audit_log[-1].registration_id == second.registration_id
    assert counter.value == 4


async def test_of_several_instances_the_test_names_one(hands: SurfaceHarness, counter: Counter) -> None:
    """Nothing is guessed, neither by a call nor by a reference."""
    hands.mount(counter.bound("left"))
    hands.mount(counter.bound("right"))
    assert_fails_with(await hands.invoke(SET, {"value": 1}), "AMBIGUOUS_INSTANCE")
    with pytest.raises(AssertionError, match=rf"{SET} is exposed by 2 instances"):
        hands.capture_ref(SET)
    assert hands.capture_ref(SET, instance_id="right").instance_id == "right"
    assert_ok(await hands.invoke(SET, {"value": 1}, instance_id="left"))


async def test_a_person_approves_denies_and_lets_expire(hands: SurfaceHarness, counter: Counter) -> None:
    """Evidence comes from the host's controller alone; an expiry moves the clock to where it happens."""
    hands.mount(counter.bound())
    for decide, code, reason in (
        (hands.confirmations.deny, "CONFIRMATION_INVALID", "denied"),
        (hands.confirmations.expire, "CONFIRMATION_INVALID", "expired"),
    ):
        counter.value = 7
        assert_fails_with(await hands.invoke(RESET), "CONFIRMATION_REQUIRED")
        evidence = decide()
        assert_fails_with(await hands.invoke(RESET, confirmation_id=evidence), code, reason=reason)
        assert counter.value == 7
    assert_fails_with(await hands.invoke(RESET), "CONFIRMATION_REQUIRED")
    assert [item.capability_id for item in hands.confirmations.pending] == [RESET]
    evidence = hands.confirmations.approve(note="go on")
    assert_ok(await hands.invoke(RESET, confirmation_id=evidence))
    assert counter.value == 0
    assert [event.outcome for event in hands.events if isinstance(event, ConfirmationResolved)] == [
        "denied",
        "expired",
        "approved",
    ]


async def test_a_decision_without_a_request_says_what_is_pending(hands: SurfaceHarness, counter: Counter) -> None:
    """Instead of an index error in the middle of a test."""
    with pytest.raises(AssertionError, match="Expected exactly one request to be pending; pending are: none"):
        hands.confirmations.approve()
    hands.mount(counter.bound())
    await hands.invoke(RESET)
    with pytest.raises(AssertionError, match=rf"Expected cnf_other to be pending; pending are:\n  cnf_.* {RESET}: "):
        hands.confirmations.deny("cnf_other")


async def test_an_observation_that_moves_the_surface_fails_the_test(hands: SurfaceHarness, counter: Counter) -> None:
    """Reading changes nothing; a handler that does is found where it is read."""

    def read() -> int:
        mounted.invalidate()
        return 3

    mounted = hands.mount(counter.bound(read=read))
    with pytest.raises(AssertionError, match=rf"Reading {READ} moved the surface version from \d+ to \d+"):
        await hands.observe(READ)
    with pytest.raises(AssertionError, match=r"was refused: CAPABILITY_NOT_FOUND"):
        await hands.observe("view:t.counter.missing")


async def test_another_host_context_holds_as_long_as_the_test_says(counter: Counter) -> None:
    """What policies and handlers are told of the application, exchanged for a few lines."""
    with create_surface_harness(
        authority=contract_authority(COUNTER), host={"permissions": ["numbers"]}, policies=[has_permission("numbers")]
    ) as hands:
        hands.mount(counter.bound())
        assert_exposes(hands, SET)
        with hands.as_host({"permissions": []}):
            assert_hidden(hands, SET)
        with hands.as_host({"permissions": ["numbers"], "user": "ada"}):
            assert_ok(await hands.invoke(SET, {"value": 1}))
        assert dict(counter.hosts[0]) == {"permissions": ["numbers"], "user": "ada"}
        assert_exposes(hands, SET)


async def test_another_consumer_is_told_what_it_may_see(hands: SurfaceHarness, counter: Counter) -> None:
    """Each call, snapshot and reference can be somebody else's."""
    other = AgentConsumer(id="other")
    hands.mount(counter.bound())
    assert_ok(await hands.invoke(SET, {"value": 1}, consumer=other))
    assert hands.audit_log[-1].consumer_key == other.key
    assert hands.capture_ref(SET, consumer=other) == hands.capture_ref(SET)
    assert await hands.observe(READ, consumer=other) == 1


async def test_over_an_applications_registry_nothing_is_taken_over(counter: Counter) -> None:
    """The registry stays open, what was registered before stays, and what only the application knows is refused."""
    registry = create_agent_surface_registry(
        authority=contract_authority(COUNTER), environment="test", audit=LoggingAuditSink()
    )
    registry.register(counter.bound("before"))
    with create_surface_harness(registry) as hands:
        hands.mount(counter.bound("within"))
        assert_fails_with(await hands.invoke(RESET, instance_id="within"), "CONFIRMATION_REQUIRED")
        evidence = hands.confirmations.expire()
        assert_fails_with(
            await hands.invoke(RESET, instance_id="within", confirmation_id=evidence),
            "CONFIRMATION_INVALID",
            reason="expired",
        )
        with pytest.raises(AgentSurfaceError, match="as_host needs a registry made by the harness"), hands.as_host({}):
            pass
        with pytest.raises(AgentSurfaceError, match="the application's clock"):
            _ = hands.clock
        with pytest.raises(AgentSurfaceError, match="the audit goes to a LoggingAuditSink"):
            _ = hands.audit_log
    assert not registry.closed
    assert [item.instance_id for item in registry.snapshot().components] == ["before"]
    registry.close()
    hands.close()


def test_a_harness_is_given_a_registry_or_what_makes_one() -> None:
    """Half of each would be ambiguous; the message says which."""
    authority = contract_authority(COUNTER)
    with create_agent_surface_registry(authority=authority, environment="test") as registry:
        with pytest.raises(TypeError, match="has authority, host, policies, procedures and limits already"):
            create_surface_harness(registry, authority)
        with pytest.raises(TypeError, match="the application's registry, or the authority of a fresh one"):
            create_surface_harness()
        clock = ManualClock()
        assert create_surface_harness(registry, clock=clock).clock is clock


def test_a_component_that_is_refused_fails_the_test(hands: SurfaceHarness, counter: Counter) -> None:
    """A dead handle would make every later assertion a riddle."""
    hands.mount(counter.bound())
    with pytest.raises(AssertionError, match=rf"(?s)refused the component.*{SET} \(default\): available"):
        hands.mount(counter.bound())


@pytest.mark.requirement("AS-TEST-001")
async def test_hidden_is_told_from_disabled(counter: Counter) -> None:
    """What is merely unavailable is exposed, with its reason; what is hidden is not exposed at all."""
    with create_surface_harness(
        authority=contract_authority(COUNTER, SAVE), policies=[has_permission("numbers")], host={"permissions": []}
    ) as hands:
        hands.mount(counter.bound(when=lambda: counter.value != 0))
        assert_hidden(hands, SET, RESET)
        with pytest.raises(AssertionError, match=rf"{RESET} is not exposed\.\nThe surface exposes\n  nothing"):
            assert_exposes_unavailable(hands, RESET)
        with hands.as_host({"permissions": ["numbers"]}):
            assert_exposes(hands, SET, READ)
            assert_exposes_unavailable(hands, RESET, reason="it is zero already")
            with pytest.raises(AssertionError, match=rf"{RESET} is exposed, unavailable: it is zero already"):
                assert_hidden(hands, RESET)
            with pytest.raises(AssertionError, match=rf"{RESET} is unavailable: it is zero already"):
                assert_exposes(hands, RESET)
            with pytest.raises(AssertionError, match=r"it is zero already; expected: no number"):
                assert_exposes_unavailable(hands, RESET, reason="no number")
            with pytest.raises(AssertionError, match=rf"(?s){SET} is available\..*{READ} \(default\): available"):
                assert_exposes_unavailable(hands.snapshot(), SET)
            with pytest.raises(AssertionError, match="not exposed by the instance other"):
                assert_exposes(hands, SET, instance_id="other")


@pytest.mark.requirement("AS-TEST-001")
async def test_an_assertion_about_a_result_prints_it_and_what_the_surface_exposes(
    hands: SurfaceHarness, counter: Counter
) -> None:
    """The next question of whoever reads the failure, answered."""
    hands.mount(counter.bound())
    fine = await hands.invoke(SET, {"value": 5})
    wrong = await hands.invoke(SET, {"value": "much"})
    exposed = rf"(?:.|\n)*The surface exposes\n  {READ} \(default\): available"
    with pytest.raises(AssertionError, match=rf"{SET} returned 0\nand not 9{exposed}"):
        assert_ok(fine, 9)
    with pytest.raises(AssertionError, match=rf"{SET} was refused: INVALID_INPUT{exposed}"):
        assert_ok(wrong)
    with pytest.raises(AssertionError, match=rf"{SET} succeeded; expected TIMEOUT{exposed}"):
        assert_fails_with(fine, "TIMEOUT")
    with pytest.raises(AssertionError, match=rf"was refused with INVALID_INPUT, not TIMEOUT{exposed}"):
        assert_fails_with(wrong, "TIMEOUT")
    with pytest.raises(AssertionError, match=rf"issues is \[.*\], not \[\]{exposed}"):
        assert_fails_with(wrong, "INVALID_INPUT", issues=[])
    told = assert_fails_with(wrong, "INVALID_INPUT", issues=[{"path": "/value", "message": "must be an integer"}])
    assert told.retry == "with-changes"
    hands.close()
    with pytest.raises(AssertionError, match="The registry is closed"):
        assert_ok(wrong)


@pytest.mark.requirement("AS-TEST-001")
def test_the_text_of_a_surface_is_equal_across_runs_and_remounts(counter: Counter) -> None:
    """Ids are numbered in the order in which they appear, so the text can be kept under version control."""
    texts: list[str] = []
    for _ in range(2):
        with harness(counter) as hands:
            left, right = hands.mount(counter.bound("left")), hands.mount(counter.bound("right", save=True))
            before = surface_snapshot_text(hands)
            left.unregister()
            right.unregister()
            hands.mount(counter.bound("right", save=True))
            hands.mount(counter.bound("left"))
            assert surface_snapshot_text(hands.snapshot()) == before
            texts.append(before)
            assert "reg_" not in before
            assert before.index('"left"') < before.index("<reg#1>") < before.index('"right"') < before.index("<reg#2>")
            assert before.count("<reg#1>") == 1  # the component
            assert before.count("<reg#2>") == 2  # the component and the procedure it refers to
            hands.registry.set_procedure_executor(None)
            assert surface_snapshot_text(hands) != before
    assert texts[0] == texts[1]


def test_a_harness_closes_what_it_made_once(counter: Counter) -> None:
    """Also where the test has taken its component away or closed the registry itself."""
    hands = harness(counter)
    hands.mount(counter.bound()).unregister()
    hands.close()
    assert hands.registry.closed
    hands.close()


def test_a_loop_that_was_closed_has_no_task_left(counter: Counter) -> None:
    """A test may bring a loop of its own and end it before anybody looks for what it left."""
    with harness(counter) as hands:
        hands.mount(counter.bound())
        loop = asyncio.new_event_loop()
        assert loop.run_until_complete(hands.invoke(READ)).status == "ok"
        loop.close()
        assert hands.pending_tasks() == set()
