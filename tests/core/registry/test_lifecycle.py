"""Components come, change and go: what is live, what a handle may do, what the version counts."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, comparison-overlap, func-returns-value, return-value, var-annotated"
# pyright: reportArgumentType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from logging import LogRecord
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_surface import (
    AVAILABLE,
    ActionBinding,
    AgentSurfaceDefinitionError,
    AgentSurfaceEvent,
    Availability,
    AvailabilityChanged,
    CollisionSuspected,
    ComponentRegistered,
    ComponentRejected,
    ComponentUnregistered,
    DefinitionErrorCode,
    ObservationBinding,
    RegistrationCandidate,
    RegistrationHandle,
    RegistryClosedError,
    ServiceExecutor,
    SurfaceChanged,
    bind_procedure,
)
from tests.core.surface_fixtures import (
    ACT,
    DISABLE,
    GO,
    ONE,
    READ,
    TWO,
    Surface,
    component,
    count,
    nothing,
    output,
    refusal,
    turns,
)

GONE = Availability(available=False, reason="not now")


@pytest.mark.requirement("AS-LIFE-001")
async def test_a_registered_component_is_live_at_once_and_gone_at_once(surface: Surface) -> None:
    """No turn of the loop lies between a call and its effect."""
    handle = surface.mount()
    assert handle.status == "active"
    assert surface.capability_ids() == [READ, ACT, GO]
    assert output(await surface.invoke(READ)) == 0
    handle.unregister()
    assert handle.status == "unregistered"
    assert surface.capability_ids() == []
    assert refusal(await surface.invoke(READ)) == ("CAPABILITY_NOT_FOUND", {})


@pytest.mark.requirement("AS-LIFE-001")
async def test_everything_in_flight_of_a_component_ends_with_it(surface: Surface) -> None:
    """Running, waiting for a turn, or waiting for a policy: in the order in which they came."""
    never = asyncio.Event()

    async def act() -> None:
        await never.wait()

    handle = surface.mount(act=act)
    surface.mount(instance_id="other", act=act)
    tasks = [surface.start(instance_id="default", invocation_id=f"i-{index}") for index in range(3)]
    other = surface.start(instance_id="other")
    await turns()
    handle.unregister()
    results = [refusal(await task) for task in tasks]
    assert results == [
        ("COMPONENT_UNMOUNTED", {"phase": "mid-flight"}),
        ("COMPONENT_UNMOUNTED", {"phase": "queued"}),
        ("COMPONENT_UNMOUNTED", {"phase": "queued"}),
    ]
    settled = [event.invocation_id for event in surface.events if event.type == "invocation-settled"]
    assert settled == ["i-0", "i-1", "i-2"]
    assert not other.done()
    surface.registry.close()
    assert refusal(await other)[0] == "CANCELLED"


@pytest.mark.requirement("AS-LIFE-002")
@pytest.mark.parametrize("field", ["description", "type", "policies", "actions", "instance_id", "confirmation"])
def test_only_state_can_be_changed_on_a_live_registration(field: str) -> None:
    """Structure is frozen with the registration; it takes another one to change it."""
    surface = Surface()
    handle = surface.mount()
    with pytest.raises(TypeError, match=field):
        handle.update(**{field: "x"})
    assert surface.registry.version == "1"
    surface.registry.close()


@pytest.mark.requirement("AS-LIFE-002")
@pytest.mark.parametrize(
    "availability",
    [
        {"nope": GONE},
        {"view:t.two.act": GONE},
        {"act": False},
        {"act": None},
        {"act": Availability(available=False, reason=5)},
        {"ä": GONE},
        {"": GONE},
    ],
    ids=["unknown name", "id of another", "no availability", "nothing", "reason that is no text", "foreign", "empty"],
)
def test_availability_of_what_is_not_there_always_raises(availability: dict[str, Availability]) -> None:
    """In every environment, and nothing of the update is applied."""
    surface = Surface(environment="test")
    handle = surface.mount()
    with pytest.raises(AgentSurfaceDefinitionError):
        handle.update(availability={"go": GONE, **availability})
    assert surface.registry.version == "1"
    assert all(item.available for item in surface.registry.snapshot().components[0].actions)
    surface.registry.close()


@pytest.mark.requirement("AS-LIFE-003")
async def test_a_second_component_of_the_same_identity_gets_a_dead_handle(surface: Surface) -> None:
    """The first one stays, and the event says why."""
    surface.mount(act=lambda: {"who": "first"})
    version = surface.registry.version
    dead = surface.mount(act=lambda: {"who": "second"})
    assert dead.status == "rejected"
    assert surface.registry.version == version
    assert surface.events[-1] == ComponentRejected(component_type="t.one", instance_id="default", reason="duplicate")
    assert output(await surface.invoke()) == {"who": "first"}
    dead.update(enabled=False)
    dead.invalidate()
    dead.unregister()
    assert surface.registry.version == version
    assert output(await surface.invoke()) == {"who": "first"}


@pytest.mark.requirement("AS-LIFE-003")
async def test_a_second_component_replaces_the_first_when_so_configured() -> None:
    """One change of the surface; what ran on the old one has lost its component."""
    surface = Surface(on_duplicate_instance="replace")
    never = asyncio.Event()

    async def act() -> None:
        await never.wait()

    old = surface.mount(act=act)
    call = surface.start()
    await turns()
    surface.events.clear()
    new = surface.mount(act=lambda: {"who": "new"})
    assert (old.status, new.status) == ("unregistered", "active")
    assert surface.registry.version == "2"
    assert refusal(await call) == ("COMPONENT_UNMOUNTED", {"phase": "mid-flight"})
    assert output(await surface.invoke()) == {"who": "new"}
    assert surface.told()[:3] == ["component-unregistered", "component-registered", "invocation-settled"]
    surface.registry.close()


@pytest.mark.requirement("AS-LIFE-003", "AS-LIFE-004")
def test_who_registers_on_hearing_of_a_replacement_finds_the_identity_taken() -> None:
    """No listener gets between the one that goes and the one that comes."""
    surface = Surface(on_duplicate_instance="replace")
    surface.mount()
    seen: list[tuple[str, str, int]] = []

    def hear(event: AgentSurfaceEvent) -> None:
        if event.type in ("component-unregistered", "component-registered"):
            snapshot = surface.registry.snapshot()
            seen.append((event.type, snapshot.surface_version, len(snapshot.components)))

    stop = surface.registry.subscribe(hear)
    surface.mount()
    stop()
    assert seen == [("component-unregistered", "2", 1), ("component-registered", "2", 1)]
    surface.registry.close()


@pytest.mark.requirement("AS-LIFE-004")
def test_a_callback_that_registers_while_a_component_is_replaced_cannot_make_two() -> None:
    """Expiring confirmations and cancel tokens call the application too."""

    async def main() -> None:
        surface = Surface(component("t.one", confirmation="required"), on_duplicate_instance="replace")
        contract = component("t.one", confirmation="required")
        surface.mount(contract)
        await surface.invoke()
        nested: list[RegistrationHandle] = []

        def on_pending(_: object) -> None:
            if not nested:
                nested.append(surface.mount(contract))

        surface.registry.confirmations.subscribe(on_pending)
        newcomer = surface.mount(contract)
        identities = [(part.type, part.instance_id) for part in surface.registry.snapshot().components]
        assert identities == [("t.one", "default")]
        assert [newcomer.status, nested[0].status] == ["unregistered", "active"]
        surface.registry.close()

    asyncio.run(main())


_STEPS = st.lists(st.tuples(st.sampled_from(["register", "unregister", "again"]), st.integers(0, 3)), max_size=30)


@pytest.mark.requirement("AS-LIFE-004")
@given(steps=_STEPS, replacing=st.booleans())
def test_identities_stay_unique_and_versions_rise(steps: list[tuple[str, int]], replacing: bool) -> None:
    """Whatever the order in which components come and go."""
    surface = Surface(on_duplicate_instance="replace" if replacing else "reject")
    live: dict[str, RegistrationHandle] = {}
    issued: set[str] = set()
    for step, number in steps:
        instance = f"n{number}"
        before = int(surface.registry.version)
        if step == "unregister":
            held = live.pop(instance, None)
            if held is not None:
                held.unregister()
            moved = held is not None
        else:
            handle = surface.mount(instance_id=instance)
            assert handle.registration_id not in issued
            issued.add(handle.registration_id)
            moved = instance not in live or replacing
            assert handle.status == ("active" if moved else "rejected")
            if moved:
                previous = live.get(instance)
                assert previous is None or previous.status == "unregistered"
                live[instance] = handle
        assert int(surface.registry.version) == before + moved
        shown = surface.registry.snapshot().components
        assert [part.instance_id for part in shown] == sorted(live)
        assert [part.registration_id for part in shown] == [live[key].registration_id for key in sorted(live)]
        assert surface.registry.statistics().registrations == len(live)
    surface.registry.close()
    assert all(handle.status == "unregistered" for handle in live.values())


@pytest.mark.requirement("AS-LIFE-005")
async def test_mounting_again_gives_another_registration_and_the_old_one_is_replaced(surface: Surface) -> None:
    """A caller with the old token learns which one is live now."""
    old = surface.mount()
    old.unregister()
    new = surface.mount()
    assert new.registration_id != old.registration_id
    assert refusal(await surface.invoke(registration_id=old.registration_id)) == (
        "STALE_CAPABILITY",
        {"reason": "registration-replaced", "liveRegistrationId": new.registration_id},
    )


@pytest.mark.requirement("AS-LIFE-006", "AS-VER-001")
async def test_invalidating_bumps_once_and_announces_once(surface: Surface) -> None:
    """The catalogue stays what it is."""
    handle = surface.mount()
    await turns()
    before = surface.catalogue()
    surface.events.clear()
    handle.invalidate()
    await turns()
    assert surface.events == [SurfaceChanged(surface_version="2")]
    assert surface.catalogue() == {**before, "surfaceVersion": "2"}


Use = Callable[[RegistrationHandle], None]
USES: dict[str, Use] = {
    "update": lambda handle: handle.update(enabled=False),
    "invalidate": lambda handle: handle.invalidate(),
    "unregister": lambda handle: handle.unregister(),
}


@pytest.mark.requirement("AS-LIFE-006")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("end", ["unregistered", "rejected", "closed"])
def test_a_dead_handle_does_nothing_and_says_so_in_development(
    use: str, end: str, expected_logs: list[LogRecord]
) -> None:
    """Nothing raises: the component is going away and cannot do anything about it."""
    surface = Surface(environment="development")
    handle = surface.mount()
    if end == "unregistered":
        handle.unregister()
    elif end == "rejected":
        handle = surface.mount()
    else:
        surface.registry.close()
    version = surface.registry.version
    expected_logs.clear()
    USES[use](handle)
    assert surface.registry.version == version
    assert [record.getMessage() for record in expected_logs] == [
        f"{use} on the dead registration {handle.registration_id} does nothing"
    ]
    surface.registry.close()


@pytest.mark.requirement("AS-LIFE-006")
@pytest.mark.parametrize("use", USES)
def test_a_dead_handle_is_silent_elsewhere(use: str) -> None:
    """The log of a program in production is not for this."""
    surface = Surface()
    handle = surface.mount()
    handle.unregister()
    USES[use](handle)
    surface.registry.close()


@pytest.mark.requirement("AS-LIFE-002")
@pytest.mark.parametrize("pushed", [None, True, "gone", {"available": False}, Availability(available=False, reason=1)])
async def test_what_is_no_availability_is_refused_and_changes_nothing(surface: Surface, pushed: object) -> None:
    """With the name of the capability; what was pushed beside it is not half taken."""
    handle = surface.mount()
    before = surface.registry.version
    with pytest.raises(AgentSurfaceDefinitionError, match="the availability of 'go' of "):
        handle.update(availability=cast("dict[str, Availability]", {"act": GONE, "go": pushed}))
    assert surface.registry.version == before
    assert all(action.available for action in surface.registry.snapshot().components[0].actions)


# ------------------------------------------------------------------------------------------------------- version


@pytest.mark.requirement("AS-VER-001")
async def test_structure_and_pushed_availability_move_the_version(surface: Surface) -> None:
    """Each by one."""
    assert surface.registry.version == "0"
    handle = surface.mount()
    assert surface.registry.version == "1"
    handle.update(enabled=False)
    assert surface.registry.version == "2"
    handle.update(enabled=True, availability={"act": GONE, "go": GONE})
    assert surface.registry.version == "3"
    handle.unregister()
    assert surface.registry.version == "4"


@pytest.mark.requirement("AS-VER-001")
async def test_the_version_moves_whether_anybody_listens_or_not() -> None:
    """Once for each change, and once for a batch of them."""
    surface = Surface()
    handle = surface.mount()
    surface.stop_hearing()
    version = int(surface.registry.version)
    handle.update(availability={"act": GONE})
    handle.update(availability={"act": GONE})
    assert int(surface.registry.version) == version + 1
    with surface.registry.batch():
        handle.update(availability={"act": AVAILABLE})
        handle.update(availability={"go": GONE})
    assert int(surface.registry.version) == version + 2
    surface.registry.close()


@pytest.mark.requirement("AS-VER-001")
async def test_handlers_predicates_and_values_do_not_move_the_version(surface: Surface) -> None:
    """They alter neither the catalogue nor identities."""
    state = {"open": True}
    act = ActionBinding(execute=nothing, when=lambda: state["open"], unavailable_reason="closed")
    read = ObservationBinding(read=lambda: 1)
    surface.mount(act=act, read=read)
    state["open"] = False
    act.execute = lambda: {"new": True}
    read.read = lambda: 2
    act.unavailable_reason = "shut"
    await turns()
    assert surface.registry.version == "1"
    (action,) = [a for a in surface.registry.snapshot().components[0].actions if a.name == "act"]
    assert (action.available, action.unavailable_reason) == (False, "shut")
    assert output(await surface.invoke(READ)) == 2


@pytest.mark.requirement("AS-VER-001")
@pytest.mark.parametrize(
    "again",
    [
        lambda handle: handle.update(),
        lambda handle: handle.update(enabled=True),
        lambda handle: handle.update(availability={}),
        lambda handle: handle.update(availability={"act": GONE}),
        lambda handle: handle.update(availability={ACT: GONE}),
        lambda handle: handle.update(availability={"go": Availability(available=True)}),
        lambda handle: handle.update(availability={"go": Availability(available=True, reason="means nothing")}),
    ],
    ids=["nothing", "enabled", "no availability", "same by name", "same by id", "available", "available with a reason"],
)
async def test_an_update_that_changes_nothing_is_no_update(surface: Surface, again: Use) -> None:
    """Neither a bump nor an event."""
    handle = surface.mount()
    handle.update(availability={"act": GONE})
    await turns()
    surface.events.clear()
    again(handle)
    await turns()
    assert surface.registry.version == "2"
    assert surface.events == []


@pytest.mark.requirement("AS-VER-001")
async def test_an_update_that_nobody_hears_counts_all_the_same(surface: Surface) -> None:
    """Whoever polls the version sees it move."""
    handle = surface.mount()
    surface.stop_hearing()
    surface.events.clear()
    handle.update(availability={"act": GONE})
    await turns()
    assert surface.registry.version == "2"
    assert surface.events == []


@pytest.mark.requirement("AS-VER-001", "AS-EVT-001")
async def test_availability_is_announced_when_the_effective_value_or_its_reason_changed(surface: Surface) -> None:
    """And for those capabilities only."""
    handle = surface.mount()
    surface.events.clear()

    def told() -> list[tuple[str, bool, str | None]]:
        found = [(e.capability_id, e.available, e.reason) for e in surface.events if isinstance(e, AvailabilityChanged)]
        surface.events.clear()
        return found

    handle.update(availability={"act": GONE})
    assert told() == [(ACT, False, "not now")]
    handle.update(availability={"act": Availability(available=False, reason="still not")})
    assert told() == [(ACT, False, "still not")]
    handle.update(enabled=False)
    assert sorted(told()) == [
        (ACT, False, "component-disabled"),
        (GO, False, "component-disabled"),
        (READ, False, "component-disabled"),
    ]
    handle.update(availability={"go": GONE})
    assert told() == []
    handle.update(enabled=True)
    assert sorted(told()) == [(ACT, False, "still not"), (GO, False, "not now"), (READ, True, None)]


@pytest.mark.requirement("AS-VER-002")
@pytest.mark.parametrize("nested", [False, True])
async def test_a_batch_is_one_bump_and_one_event(surface: Surface, nested: bool) -> None:
    """However many updates, and batches, are in it."""
    handle = surface.mount()
    await turns()
    surface.events.clear()
    with surface.registry.batch():
        handle.update(availability={"act": GONE})
        if nested:
            with surface.registry.batch():
                surface.mount(TWO)
        else:
            surface.mount(TWO)
        handle.invalidate()
    assert surface.registry.version == "2"
    await turns()
    assert surface.told("surface-changed") == ["surface-changed"]


@pytest.mark.requirement("AS-VER-002", "AS-EVT-001")
async def test_nobody_hears_of_half_a_batch(surface: Surface) -> None:
    """Listeners find the version that belongs to what they see."""
    seen: list[tuple[str, str, int]] = []

    def hear(event: AgentSurfaceEvent) -> None:
        snapshot = surface.registry.snapshot()
        seen.append((event.type, snapshot.surface_version, len(snapshot.components)))

    stop = surface.registry.subscribe(hear)
    with surface.registry.batch():
        surface.mount()
        assert seen == []
        surface.mount(TWO)
    stop()
    assert seen == [("component-registered", "1", 2), ("component-registered", "1", 2)]


@pytest.mark.requirement("AS-VER-002")
async def test_an_empty_batch_and_one_that_raises_leave_the_version_right(surface: Surface) -> None:
    """What was done counts, what was not does not."""
    with surface.registry.batch():
        pass
    assert surface.registry.version == "0"

    def fail_inside() -> None:
        with surface.registry.batch():
            surface.mount()
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail_inside()
    assert surface.registry.version == "1"
    await turns()
    assert surface.told() == ["component-registered", "surface-changed"]


@pytest.mark.requirement("AS-VER-001", "AS-BIND-003")
async def test_an_executor_that_changes_no_reference_changes_no_version() -> None:
    """Installing one that can run more, fewer or the same paths."""
    surface = Surface(ONE, DISABLE)
    surface.mount(procedures=[bind_procedure(DISABLE)])
    assert surface.capability_ids() == [READ, ACT, GO]
    surface.registry.set_procedure_executor(ServiceExecutor({"devices.disable": count}))
    assert surface.registry.version == "2"
    assert surface.capability_ids() == [READ, ACT, GO, "domain:devices.disable"]
    surface.registry.set_procedure_executor(ServiceExecutor({"devices.disable": lambda ids: 0, "other": nothing}))
    assert surface.registry.version == "2"
    surface.registry.set_procedure_executor(None)
    assert surface.registry.version == "3"
    assert surface.capability_ids() == [READ, ACT, GO]
    surface.registry.close()


# --------------------------------------------------------------------------------------------------------- guard


@pytest.mark.requirement("AS-TRUST-001")
def test_the_guard_decides_by_origin_and_is_told_what_would_be_offered() -> None:
    """The handle of what it refuses is dead, and the event says that it was the guard."""
    asked: list[RegistrationCandidate] = []

    def guard(candidate: RegistrationCandidate) -> str:
        asked.append(candidate)
        return "reject" if candidate.type == "t.two" else "accept"

    surface = Surface(on_register=guard)
    assert surface.mount(TWO, instance_id="main").status == "rejected"
    assert surface.events == [ComponentRejected(component_type="t.two", instance_id="main", reason="guard")]
    assert surface.mount(ONE).status == "active"
    assert asked[0] == RegistrationCandidate(
        type="t.two",
        instance_id="main",
        origin="first-party",
        declaration_id="tests.core.surface_fixtures:t.two",
        capability_ids=("view:t.two.read", "view:t.two.act", "view:t.two.go"),
    )
    surface.registry.close()


@pytest.mark.requirement("AS-TRUST-001")
@pytest.mark.parametrize("answer", [None, True, "ACCEPT", 1])
def test_a_guard_that_does_not_say_accept_rejects(answer: object) -> None:
    """Fails closed."""
    surface = Surface(on_register=lambda _: answer)
    assert surface.mount().status == "rejected"
    surface.registry.close()


@pytest.mark.requirement("AS-TRUST-001")
def test_a_guard_that_raises_rejects(expected_logs: list[LogRecord]) -> None:
    """And the log says so."""

    def guard(_: RegistrationCandidate) -> str:
        raise ValueError("guard")

    surface = Surface(on_register=guard)
    assert surface.mount().status == "rejected"
    assert surface.told() == ["component-rejected"]
    assert [record.exc_info is not None for record in expected_logs] == [True]
    surface.registry.close()


@pytest.mark.requirement("AS-TRUST-001")
def test_a_guard_that_closes_the_registry_leaves_nothing_live() -> None:
    """What it did meanwhile counts."""
    surface = Surface(on_register=lambda _: surface.registry.close() or "accept")
    with pytest.raises(RegistryClosedError):
        surface.mount()
    assert surface.registry.statistics().registrations == 0


# ---------------------------------------------------------------------------------------------------------- lint

SHADOW = component("devices")
SHADOWED = "domain:devices.act"


def _shadow(policy: str) -> Surface:
    from agent_surface import define_agent_procedure_contract

    procedure = define_agent_procedure_contract(id=SHADOWED, description="X", effect="server-query")
    return Surface(SHADOW, procedure, duplicate_suffix_policy=policy)


@pytest.mark.requirement("AS-LINT-001")
def test_a_view_capability_with_the_name_of_a_procedure_is_warned_of(expected_logs: list[LogRecord]) -> None:
    """Most likely a mistake, so a line in the log and an event; the component is live all the same."""
    surface = _shadow("warn")
    assert surface.mount(SHADOW).status == "active"
    assert surface.events[0] == CollisionSuspected(view_capability_id="view:devices.act", domain_procedure_id=SHADOWED)
    assert [record.name for record in expected_logs] == ["agent_surface.registry"]
    surface.registry.close()


@pytest.mark.requirement("AS-LINT-001")
def test_shadowing_can_be_an_error_or_nothing() -> None:
    """As the application likes."""
    strict = _shadow("error")
    with pytest.raises(AgentSurfaceDefinitionError, match=r"view:devices\.act") as caught:
        strict.mount(SHADOW)
    assert caught.value.code is DefinitionErrorCode.INVALID_DEFINITION
    assert (strict.events, strict.registry.version) == ([], "0")
    strict.registry.close()
    lax = _shadow("off")
    lax.mount(SHADOW)
    assert lax.told() == ["component-registered", "surface-changed"]
    lax.registry.close()


@pytest.mark.requirement("AS-EVT-001")
def test_the_events_of_a_life_in_full() -> None:
    """Without a loop ``surface-changed`` comes when the outermost call returns."""
    surface = Surface()
    handle = surface.mount()
    handle.unregister()
    registration_id = handle.registration_id
    assert surface.events == [
        ComponentRegistered(registration_id=registration_id, component_type="t.one", instance_id="default"),
        SurfaceChanged(surface_version="1"),
        ComponentUnregistered(registration_id=registration_id, component_type="t.one", instance_id="default"),
        SurfaceChanged(surface_version="2"),
    ]
    surface.registry.close()


class _Window:
    def go(self, wanted: object) -> None:
        """What a window would do."""

    def count(self) -> int:
        """What a window would show."""
        return 1


def test_what_a_component_held_is_gone_with_it_without_the_garbage_collector(surface: Surface) -> None:
    """A window is destroyed where its owner lets it go, not in some later turn on some thread that collects."""
    window = _Window()
    gone = weakref.ref(window)
    handle = surface.mount(read=window.count, act=window.go)
    assert surface.capability_ids()
    gc.disable()
    try:
        handle.unregister()
        del handle, window
        assert gone() is None
    finally:
        gc.enable()
