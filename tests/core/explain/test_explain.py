"""The explanation: what the snapshot hides, who hid it, and that both come to the same end."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Sequence
from logging import LogRecord

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agent_surface
from agent_surface import (
    ActionBinding,
    AgentConsumer,
    AgentPolicy,
    AgentSurfaceError,
    AgentSurfaceRegistry,
    CallNext,
    ObservationBinding,
    PolicyContext,
    RegistryClosedError,
    ServiceExecutor,
    SnapshotBudget,
    SnapshotContext,
    bind_procedure,
)
from agent_surface.explain import (
    CapabilityExplanation,
    PolicyExplanation,
    SurfaceExplanation,
    explain_surface,
)
from agent_surface.invocation import AVAILABLE, Availability, CapabilityKind, ComponentRef, Plane
from agent_surface.policies import EXPOSE, HIDE, DiscoveryDecision, DiscoveryOutcome, disable
from agent_surface.toolset import AgentToolset, InvokableSurface
from agent_surface.toolset._catalogue import offerings
from tests.architecture.source import imports, is_within, modules
from tests.core.surface_fixtures import ACT, ALICE, BOB, GO, ONE, READ, RENAME, TWO, Surface, component, nothing, zero


class Voter:
    """A policy with one answer: ``expose``, ``hide``, ``throw``, ``nothing``, or the reason to disable with."""

    def __init__(self, name: str, vote: str) -> None:
        self.name = name
        self.vote = vote
        self.asked = 0

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        """Vote."""
        self.asked += 1
        if self.vote == "throw":
            raise LookupError("a policy of the test")
        if self.vote == "nothing":
            return None  # type: ignore[return-value]  # pyright: ignore[reportReturnType]  (wrong on purpose)
        return EXPOSE if self.vote == "expose" else HIDE if self.vote == "hide" else disable(self.vote)


class Gate:
    """A policy that does not act in discovery."""

    name = "gate"

    def on_authorize(self, context: PolicyContext, call_next: CallNext) -> object:
        """Agree."""
        return call_next()

    def on_invoke(self, context: PolicyContext, call_next: CallNext) -> object:
        """Agree."""
        return call_next()


def _of(explanation: SurfaceExplanation, capability_id: str) -> CapabilityExplanation:
    (found,) = [item for item in explanation.capabilities if item.capability_id == capability_id]
    return found


def _snapshot_says(
    registry: AgentSurfaceRegistry, context: SnapshotContext
) -> dict[tuple[str, str], tuple[bool, str | None]]:
    """Availability and reason of everything a snapshot lists, by registration and id."""
    snapshot = registry.snapshot(context)
    return {
        (offering.registration_id, offering.descriptor.capability_id): (
            offering.descriptor.available,
            offering.descriptor.unavailable_reason,
        )
        for offering in offerings(snapshot)
    }


@pytest.mark.requirement("AS-EXPLAIN-001", "AS-EXPLAIN-002")
def test_a_hidden_capability_is_reported_with_the_policy_that_hid_it(surface: Surface) -> None:
    """With all that the snapshot cannot say any more, and apart from what the state allows."""
    surface.mount(
        act=ActionBinding(
            execute=nothing, when=lambda: False, unavailable_reason="Pick a row.", policies=[Voter("secret", "hide")]
        ),
        instance_id="main",
    )
    registration_id = surface.registry.snapshot().components[0].registration_id
    assert ACT not in surface.capability_ids()
    assert _of(explain_surface(surface.registry), ACT) == CapabilityExplanation(
        capability_id=ACT,
        kind=CapabilityKind.ACTION,
        plane=Plane.VIEW,
        description="Do it",
        registration_id=registration_id,
        component=ComponentRef(type="t.one", instance_id="main"),
        outcome=DiscoveryOutcome.HIDE,
        reason=None,
        policies=(PolicyExplanation(name="secret", scope="capability", phases=("discovery",), discovery=HIDE),),
        availability=Availability(available=False, reason="Pick a row."),
    )


@pytest.mark.requirement("AS-EXPLAIN-002")
def test_every_policy_of_the_chain_is_named_with_its_scope_its_phases_and_its_own_vote(
    expected_logs: list[LogRecord],
) -> None:
    """Also behind the first that hides, where a snapshot has stopped asking."""
    votes: Sequence[AgentPolicy] = (Voter("first", "expose"), Voter("second", "hide"))
    surface = Surface(policies=tuple(votes))
    last = Voter("last", "Not yet.")
    surface.mount(act=ActionBinding(execute=nothing, policies=[last]), policies=[Gate(), Voter("broken", "throw")])
    surface.registry.snapshot()
    assert last.asked == 0
    assert _of(explain_surface(surface.registry), ACT).policies == (
        PolicyExplanation(name="first", scope="registry", phases=("discovery",), discovery=EXPOSE),
        PolicyExplanation(name="second", scope="registry", phases=("discovery",), discovery=HIDE),
        PolicyExplanation(name="gate", scope="component", phases=("authorize", "invoke")),
        PolicyExplanation(name="broken", scope="component", phases=("discovery",), discovery=HIDE, threw=True),
        PolicyExplanation(name="last", scope="capability", phases=("discovery",), discovery=disable("Not yet.")),
    )
    assert last.asked == 1
    assert {record.getMessage().split(";")[0] for record in expected_logs} == {
        f"policy broken raised during discovery of {capability}" for capability in (ACT, GO, READ)
    }
    surface.registry.close()


@pytest.mark.requirement("AS-EXPLAIN-002")
def test_a_policy_that_does_not_decide_counts_as_hiding_and_did_not_throw(expected_logs: list[LogRecord]) -> None:
    """What counts is what the snapshot does."""
    surface = Surface(policies=(Voter("silent", "nothing"),))
    surface.mount()
    explained = explain_surface(surface.registry).capabilities
    assert {item.outcome for item in explained} == {DiscoveryOutcome.HIDE}
    assert {policy.threw for item in explained for policy in item.policies} == {False}
    assert len(expected_logs) == 3
    surface.registry.close()


_VOTES = st.sampled_from(["expose", "hide", "throw", "nothing", "Not yet.", "Ask first.", ""])
_CHAIN = st.lists(_VOTES, max_size=3)


@pytest.mark.requirement("AS-EXPLAIN-003")
@pytest.mark.allow_logs("agent_surface.policies")
@settings(max_examples=150, deadline=None)
@given(
    registry=_CHAIN,
    components=st.lists(st.tuples(_CHAIN, _CHAIN, _CHAIN, st.booleans(), st.booleans()), min_size=1, max_size=3),
    scope=st.sampled_from([(), ("t.one",), ("t",), ("other",)]),
)
def test_the_outcome_is_always_the_snapshots(
    registry: list[str], components: list[tuple[list[str], list[str], list[str], bool, bool]], scope: tuple[str, ...]
) -> None:
    """For any votes at any scope: hidden is absent, disabled has the same reason, exposed is as the state is."""

    def voters(votes: list[str]) -> list[AgentPolicy]:
        return [Voter(f"{index}", vote) for index, vote in enumerate(votes)]

    surface = Surface(ONE, TWO, policies=tuple(voters(registry)))
    for index, (component_votes, action_votes, observation_votes, usable, enabled) in enumerate(components):
        surface.mount(
            ONE if index < 2 else TWO,
            instance_id=f"i{index}",
            policies=voters(component_votes),
            enabled=enabled,
            act=ActionBinding(
                execute=nothing, policies=voters(action_votes), when=[lambda: False, lambda: True][usable]
            ),
            read=ObservationBinding(read=zero, policies=voters(observation_votes)),
        )
    context = SnapshotContext(consumer=ALICE, scope=scope)
    explained = explain_surface(surface.registry, context)
    told: dict[tuple[str, str], tuple[bool, str | None]] = {}
    for item in explained.capabilities:
        if item.outcome is DiscoveryOutcome.HIDE:
            continue
        if item.availability.available and item.outcome is DiscoveryOutcome.DISABLE:
            told[item.registration_id, item.capability_id] = (False, item.reason)
        else:
            told[item.registration_id, item.capability_id] = (item.availability.available, item.availability.reason)
    assert told == _snapshot_says(surface.registry, context)
    assert explained.surface_version == surface.registry.version
    surface.registry.close()


@pytest.mark.requirement("AS-EXPLAIN-005")
def test_nothing_is_withheld_for_a_budget_or_for_being_unavailable(surface: Surface) -> None:
    """Both are about what an agent is told."""
    surface.registry.set_procedure_executor(ServiceExecutor({"devices.rename": nothing}))
    surface.mount(ONE, procedures=[bind_procedure(RENAME)])
    surface.mount(TWO, enabled=False)
    everything = explain_surface(surface.registry)
    assert [item.capability_id for item in everything.capabilities] == [
        "domain:devices.rename", ACT, GO, READ, "view:t.two.act", "view:t.two.go", "view:t.two.read",
    ]  # fmt: skip
    narrow = SnapshotContext(include_unavailable=False, budget=SnapshotBudget(max_components=0))
    assert explain_surface(surface.registry, narrow) == everything
    assert {item.availability.reason for item in everything.capabilities} == {None, "component-disabled"}


@pytest.mark.requirement("AS-EXPLAIN-005")
def test_scope_and_consumer_count_so_that_it_lines_up_with_the_snapshot_in_question() -> None:
    """The same context gives the two sides of one thing."""

    class OnlyAlice:
        name = "only-alice"

        def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
            return EXPOSE if context.consumer == ALICE else HIDE

    surface = Surface(policies=(OnlyAlice(),))
    surface.mount(ONE)
    surface.mount(TWO)

    def outcomes(consumer: AgentConsumer, *scope: str) -> dict[str, str]:
        explained = explain_surface(surface.registry, SnapshotContext(consumer=consumer, scope=scope))
        return {item.capability_id: item.outcome.value for item in explained.capabilities}

    assert outcomes(ALICE, "t.one") == dict.fromkeys([ACT, GO, READ], "expose")
    assert outcomes(BOB, "t.one") == dict.fromkeys([ACT, GO, READ], "hide")
    assert outcomes(ALICE, "t.on") == {}
    surface.registry.close()


def test_capabilities_come_in_the_order_of_the_snapshots_components() -> None:
    """By priority, type and instance, whatever the order of mounting."""
    low, high = component("a.low"), component("z.high", priority=5)
    surface = Surface(low, high)
    for contract, instance in ((low, "b"), (low, "a"), (high, "c")):
        surface.mount(contract, instance_id=instance)
    explained = [item.component for item in explain_surface(surface.registry).capabilities]
    listed = [
        ComponentRef(type=part.type, instance_id=part.instance_id) for part in surface.registry.snapshot().components
    ]
    assert list(dict.fromkeys(explained)) == listed
    surface.registry.close()


@pytest.mark.requirement("AS-EXPLAIN-005")
def test_a_closed_registry_raises_instead_of_looking_empty() -> None:
    """An empty explanation would say that there is nothing to hide."""
    surface = Surface()
    surface.mount()
    surface.registry.close()
    with pytest.raises(RegistryClosedError, match="explain_surface"):
        explain_surface(surface.registry)


@pytest.mark.requirement("AS-EXPLAIN-005")
def test_anything_but_a_registry_of_this_library_raises(surface: Surface) -> None:
    """Also one that has every attribute of a registry, or borrows its class."""
    forged = object.__new__(AgentSurfaceRegistry)
    vars(forged).update(vars(surface.registry))
    for foreign in (None, object(), forged):
        with pytest.raises(AgentSurfaceError, match="made by create_agent_surface_registry"):
            explain_surface(foreign)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  (wrong on purpose)


def test_the_proof_of_a_registry_keeps_nothing_alive() -> None:
    """Handlers reach the registry more often than not; the proof must not close that circle."""
    surface = Surface()
    surface.mount(act=surface.registry.snapshot)
    explain_surface(surface.registry)
    reference = weakref.ref(surface.registry)
    surface.registry.close()
    del surface
    gc.collect()
    assert reference() is None


def test_an_explanation_is_json() -> None:
    """With the names an inspector of another language would expect."""
    surface = Surface(policies=(Voter("gate", "Not yet."),))
    surface.mount()
    explained = explain_surface(surface.registry)
    capabilities = explained.to_json()["capabilities"]
    assert isinstance(capabilities, list)
    assert explained.to_json() | {"capabilities": capabilities[:1]} == {
        "surfaceId": surface.registry.surface_id,
        "surfaceVersion": surface.registry.version,
        "capabilities": [
            {
                "capabilityId": ACT,
                "kind": "action",
                "plane": "view",
                "description": "Do it",
                "registrationId": explained.capabilities[0].registration_id,
                "component": {"type": "t.one", "instanceId": "default"},
                "outcome": "disable",
                "reason": "Not yet.",
                "policies": [
                    {
                        "name": "gate",
                        "scope": "registry",
                        "phases": ["discovery"],
                        "discovery": {"outcome": "disable", "reason": "Not yet."},
                    }
                ],
                "availability": {"available": AVAILABLE.available},
            }
        ],
    }
    surface.registry.close()


@pytest.mark.requirement("AS-EXPLAIN-004")
def test_it_is_not_exported_and_importing_the_package_does_not_load_it() -> None:
    """Whoever wants it says so by name."""
    assert not [name for name in agent_surface.__all__ if "expla" in name.lower()]
    for protocol in (InvokableSurface, AgentToolset, AgentSurfaceRegistry):
        assert not [name for name in dir(protocol) if "expla" in name.lower() and not name.startswith("_")]
    program = "import agent_surface, agent_surface.assistant, sys; print('agent_surface.explain' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.requirement("AS-EXPLAIN-004")
def test_nothing_that_serves_an_agent_imports_it() -> None:
    """Not the root, the toolset, the assistant or a bridge, nor anything below them."""
    allowed = ("agent_surface.explain", "agent_surface.testing", "agent_surface.cli", "agent_surface.compiler")
    strays = [
        found
        for module in modules("agent_surface")
        if not is_within(module.name, *allowed)
        for found in imports(module)
        if is_within(found.imported, "agent_surface.explain")
    ]
    assert strays == []
