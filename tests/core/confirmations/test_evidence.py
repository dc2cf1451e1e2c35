"""Evidence: bound to one call, compared as exact text, used once, and no oracle."""

from __future__ import annotations

import random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from agent_surface._base._json import FrozenJson
from agent_surface.confirmations import ConfirmationBinding
from agent_surface.confirmations._evidence import ClaimedEvidence, EvidencePending, EvidenceRefused
from agent_surface.confirmations._record import TRANSITIONS, ConfirmationRecord, RecordState
from agent_surface.invocation import Effect
from tests.core.confirmations.store_under_test import ALICE, BOB, StoreUnderTest, binding_of

TTL_MS = 120_000


def _refusal(under_test: StoreUnderTest, confirmation_id: str, binding: ConfirmationBinding) -> str:
    with pytest.raises(EvidenceRefused) as refusal:
        under_test.store.claim(confirmation_id, binding)
    return refusal.value.reason


@pytest.mark.requirement("AS-CONFIRM-001")
@pytest.mark.parametrize(
    "changed",
    [
        {"id": "d-43"},
        {"id": "d-42", "force": True},
        {"id": "d-42", "force": None},
        {},
        {"id": ["d-42"]},
        {"id": "d-42 "},
        {"id": "D-42"},
        {"id": "d\u201142"},
    ],
)
def test_a_changed_input_is_a_mismatch(under_test: StoreUnderTest, changed: FrozenJson) -> None:
    """An approval is for exactly the shown input; anything else executes nothing and leaves the evidence as it is."""
    confirmation_id = under_test.approved()
    assert _refusal(under_test, confirmation_id, binding_of(changed)) == "mismatch"
    under_test.store.claim(confirmation_id, binding_of()).consume()


@pytest.mark.requirement("AS-CONFIRM-001")
@pytest.mark.parametrize(
    "value",
    [0, False, None, "", "0", (), {}],
    ids=["zero", "false", "null", "empty text", "text zero", "empty list", "empty object"],
)
def test_values_that_look_alike_in_python_are_told_apart(under_test: StoreUnderTest, value: FrozenJson) -> None:
    """``1 == True`` in Python, and not in JSON."""
    alike: list[FrozenJson] = [0, False, None, "", "0", (), {}]
    confirmation_id = under_test.approved(binding_of({"v": value}))
    for other in alike:
        if type(other) is not type(value) or other != value:
            assert _refusal(under_test, confirmation_id, binding_of({"v": other})) == "mismatch"


@pytest.mark.requirement("AS-CONFIRM-001")
def test_order_of_keys_and_spelling_of_numbers_do_not_matter(under_test: StoreUnderTest) -> None:
    """The same JSON value is the same call, however it was written."""
    confirmation_id = under_test.approved(binding_of({"a": 1, "b": 2.0}))
    under_test.store.claim(confirmation_id, binding_of({"b": 2, "a": 1.0})).consume()


@pytest.mark.requirement("AS-CONFIRM-004")
@pytest.mark.parametrize(
    "other",
    [
        binding_of(consumer=BOB),
        binding_of(registration_id="reg_2"),
        binding_of(capability_id="domain:devices.delete"),
        binding_of(effect=Effect.SERVER_MUTATION),
    ],
)
def test_an_approval_does_not_cross_to_another_call(under_test: StoreUnderTest, other: ConfirmationBinding) -> None:
    """Consumer, registration, capability and effect are part of what was approved."""
    confirmation_id = under_test.approved()
    assert _refusal(under_test, confirmation_id, other) == "mismatch"


@pytest.mark.requirement("AS-CONFIRM-004")
def test_a_foreign_id_says_as_little_as_an_unknown_one(under_test: StoreUnderTest) -> None:
    """Whatever state a record is in, another consumer learns the same as from an id that never was."""
    foreign = binding_of(consumer=BOB)
    unknown = _refusal(under_test, "cnf_unknown", foreign)
    answers = {_refusal(under_test, under_test.request(binding_of({"n": 1})).confirmation_id, foreign)}
    for number, approved in ((2, True), (3, False)):
        confirmation_id = under_test.request(binding_of({"n": number})).confirmation_id
        under_test.store.resolve(confirmation_id, approved=approved, note="secret")
        answers.add(_refusal(under_test, confirmation_id, foreign))
    assert answers == {unknown} == {"mismatch"}


@pytest.mark.requirement("AS-CONFIRM-003")
def test_evidence_is_used_once(under_test: StoreUnderTest) -> None:
    """A replay is told that it comes too late."""
    confirmation_id = under_test.approved()
    under_test.store.claim(confirmation_id, binding_of()).consume()
    assert _refusal(under_test, confirmation_id, binding_of()) == "consumed"


@pytest.mark.requirement("AS-CONFIRM-003")
def test_two_racing_retries_never_both_hold_the_evidence(under_test: StoreUnderTest) -> None:
    """The second is refused while the first holds it, and may try again once it was given back."""
    confirmation_id = under_test.approved()
    first = under_test.store.claim(confirmation_id, binding_of())
    assert _refusal(under_test, confirmation_id, binding_of()) == "consumed"
    first.release()
    second = under_test.store.claim(confirmation_id, binding_of())
    first.consume()
    first.release()
    assert _refusal(under_test, confirmation_id, binding_of()) == "consumed"
    second.consume()
    second.release()
    second.consume()
    assert under_test.audited().count(("consumed", "consumer")) == 1


def test_released_evidence_says_when_it_was_approved(under_test: StoreUnderTest) -> None:
    """The handler learns the moment of the decision, not of the request or the retry."""
    confirmation_id = under_test.request().confirmation_id
    under_test.clock.advance(2_000)
    under_test.store.resolve(confirmation_id, approved=True)
    under_test.clock.advance(2_000)
    claim = under_test.store.claim(confirmation_id, binding_of())
    assert (claim.confirmation_id, claim.approved_at) == (confirmation_id, "2025-06-15T15:06:42.000Z")


@pytest.mark.requirement("AS-CONFIRM-006")
def test_an_approval_nobody_used_in_time_is_expired(under_test: StoreUnderTest) -> None:
    """The time to live runs from the request, also for what was approved."""
    confirmation_id = under_test.request().confirmation_id
    under_test.clock.advance(TTL_MS - 1)
    under_test.store.resolve(confirmation_id, approved=True)
    under_test.clock.advance(1)
    assert under_test.audited()[-1] == ("expired", "clock")
    assert under_test.audit[-1].unused
    assert _refusal(under_test, confirmation_id, binding_of()) == "expired"


def test_a_claim_taken_in_time_stays_good_and_given_back_too_late_expires(under_test: StoreUnderTest) -> None:
    """A call that waits for its turn keeps its approval; one that gives it back after the end revives nothing."""
    kept = under_test.approved(binding_of({"n": 1}))
    returned = under_test.approved(binding_of({"n": 2}))
    keeping = under_test.store.claim(kept, binding_of({"n": 1}))
    returning = under_test.store.claim(returned, binding_of({"n": 2}))
    under_test.clock.advance(TTL_MS)
    keeping.consume()
    returning.release()
    assert _refusal(under_test, kept, binding_of({"n": 1})) == "consumed"
    assert _refusal(under_test, returned, binding_of({"n": 2})) == "expired"


def test_evidence_presented_before_the_decision_leads_to_the_record(under_test: StoreUnderTest) -> None:
    """A retry that comes too early is told whom to wait for."""
    pending = under_test.request()
    with pytest.raises(EvidencePending) as early:
        under_test.store.claim(pending.confirmation_id, binding_of())
    assert early.value.pending == pending


@pytest.mark.requirement("AS-CONFIRM-002")
def test_no_two_calls_share_a_text() -> None:
    """A hundred thousand calls made of separators, quotes and control characters: each has a text of its own."""
    pieces = ['"', "\\", ",", ":", "{", "}", "\x00", "\x1f", "\u2028", "a", "null", '","effect":"', "\ufeff", ""]
    chance = random.Random(20_250_615)

    def text() -> str:
        return "".join(chance.choices(pieces, k=chance.randrange(4)))

    seen: dict[str, tuple[str, ...]] = {}
    for _ in range(100_000):
        parts = (text(), text(), text(), text(), text())
        binding = ConfirmationBinding(
            surface_id=parts[0],
            registration_id=parts[1],
            capability_id=parts[2],
            consumer_key=parts[3],
            effect=Effect.DESTRUCTIVE,
            effective_input={"v": parts[4]},
        )
        assert seen.setdefault(binding.canonical_text(), parts) == parts


@pytest.mark.requirement("AS-CONFIRM-002")
def test_the_comparison_survives_a_broken_hash(under_test: StoreUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """If every digest were the same, two calls would still be two."""
    import hashlib

    class _Constant:
        def digest(self) -> bytes:
            return b"same"

        def hexdigest(self) -> str:
            return "same"

    def constant(*_args: object, **_kwargs: object) -> _Constant:
        return _Constant()

    for name in ("blake2b", "sha256"):
        monkeypatch.setattr(hashlib, name, constant)
    confirmation_id = under_test.approved(binding_of({"n": 1}))
    assert _refusal(under_test, confirmation_id, binding_of({"n": 2})) == "mismatch"


@pytest.mark.requirement("AS-CONFIRM-007")
def test_the_adapter_s_end_leads_to_no_way_to_approve(under_test: StoreUnderTest) -> None:
    """Nothing reachable by attributes from what an adapter is given is the store or can resolve."""
    waiter = under_test.store.waiter
    names = [name for name in dir(waiter) if not name.startswith("__")]
    assert sorted(name for name in names if not name.startswith("_")) == ["hold", "wait_for", "withdraw"]
    for name in names:
        value = getattr(waiter, name)
        assert value is not under_test.store
        owner = getattr(value, "__self__", None)
        assert owner is None or owner is waiter
        assert not hasattr(value, "resolve")


def test_a_step_the_table_does_not_have_is_a_defect(under_test: StoreUnderTest) -> None:
    """A final state stays, whatever a future change of the store tries."""
    record = ConfirmationRecord(pending=under_test.request(), binding_text="{}")
    record.move_to(RecordState.DENIED)
    for state in RecordState:
        with pytest.raises(RuntimeError, match="no step from denied"):
            record.move_to(state)
    assert {state for following in TRANSITIONS.values() for state in following} == set(RecordState) - {
        RecordState.PENDING
    }


class EvidenceMachine(RuleBasedStateMachine):
    """Any order of asking, deciding, claiming, giving back, using up and waiting."""

    records: Bundle[tuple[str, int]] = Bundle("records")
    claims: Bundle[tuple[str, ClaimedEvidence]] = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.under_test = StoreUnderTest()
        self.approved: set[str] = set()
        self.used: list[str] = []
        self.held: dict[str, ClaimedEvidence] = {}

    @rule(target=records, number=st.integers(0, 3))
    def ask(self, number: int) -> tuple[str, int]:
        """Request one of four calls."""
        return self.under_test.request(binding_of({"n": number})).confirmation_id, number

    @rule(record=records, approved=st.booleans())
    def decide(self, record: tuple[str, int], approved: bool) -> None:
        """The person answers."""
        if self.under_test.store.resolve(record[0], approved=approved) and approved:
            self.approved.add(record[0])

    @rule(target=claims, record=records, lie=st.booleans())
    def claim(self, record: tuple[str, int], lie: bool) -> tuple[str, ClaimedEvidence]:
        """Present evidence, as who asked or as somebody else."""
        confirmation_id, number = record
        binding = binding_of({"n": number}, consumer=BOB if lie else ALICE)
        try:
            claim = self.under_test.store.claim(confirmation_id, binding)
        except (EvidenceRefused, EvidencePending):
            return confirmation_id, ClaimedEvidence(
                confirmation_id=confirmation_id, approved_at="", consume=lambda: None, release=lambda: None
            )
        assert not lie
        assert confirmation_id in self.approved
        assert confirmation_id not in self.held
        assert confirmation_id not in self.used
        self.held[confirmation_id] = claim
        return confirmation_id, claim

    @rule(claim=claims)
    def consume(self, claim: tuple[str, ClaimedEvidence]) -> None:
        """The handler is dispatched."""
        claim[1].consume()
        if self.held.get(claim[0]) is claim[1]:
            del self.held[claim[0]]
            self.used.append(claim[0])

    @rule(claim=claims)
    def release(self, claim: tuple[str, ClaimedEvidence]) -> None:
        """The call ended before its handler."""
        claim[1].release()
        if self.held.get(claim[0]) is claim[1]:
            del self.held[claim[0]]

    @rule(delay_ms=st.sampled_from([1, 60_000, 120_000, 600_000]))
    def wait(self, delay_ms: int) -> None:
        """Time passes."""
        self.under_test.clock.advance(delay_ms)

    @rule(record=records)
    def withdraw(self, record: tuple[str, int]) -> None:
        """Nobody waits any more."""
        self.under_test.store.waiter.withdraw(record[0])

    @rule()
    def unmount(self) -> None:
        """The component goes."""
        self.under_test.store.expire_registration("reg_1")

    @invariant()
    def each_approval_is_used_at_most_once(self) -> None:
        """Whatever happened, no record was used twice and none without its claim."""
        consumed = [step.confirmation_id for step in self.under_test.audit if step.kind.value == "consumed"]
        assert consumed == self.used
        assert len(set(consumed)) == len(consumed)

    @invariant()
    def there_is_at_most_one_timer(self) -> None:
        """Nothing piles up."""
        assert self.under_test.clock.pending_timers <= 1


EvidenceMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
test_no_order_of_steps_uses_an_approval_twice = pytest.mark.requirement("AS-CONFIRM-003")(EvidenceMachine.TestCase)
