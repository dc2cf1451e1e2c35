"""The catalogue of one consumer: what is in it, what never is, and in which order."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, attr-defined, operator"
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from functools import partial
from logging import LogRecord
from types import MappingProxyType

import pytest

from agent_surface import (
    EXPOSE,
    HIDE,
    ActionBinding,
    Availability,
    ComponentRef,
    DiscoveryDecision,
    ObservationBinding,
    PolicyContext,
    RouteInfo,
    ServiceExecutor,
    SnapshotBudget,
    SnapshotContext,
    bind_procedure,
    disable,
)
from tests.core.surface_fixtures import (
    ACT,
    ALICE,
    BOB,
    DISABLE,
    GO,
    ONE,
    READ,
    RENAME,
    TWO,
    Surface,
    component,
    count,
    nothing,
    output,
    refusal,
    zero,
)

SECRET = "never-to-be-seen"


class _Hide:
    """Hides what it is told to, from everybody but Alice."""

    name = "hide"

    def __init__(self, *capability_ids: str) -> None:
        self.capability_ids = capability_ids

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        """Vote."""
        hidden = context.capability_id in self.capability_ids and context.consumer != ALICE
        return HIDE if hidden else EXPOSE


def _executor() -> ServiceExecutor:
    return ServiceExecutor({"devices.disable": count, "devices.rename": lambda id, name: name})


@pytest.mark.requirement("AS-SNAP-001")
async def test_a_snapshot_reads_no_value_calls_no_handler_and_changes_nothing(surface: Surface) -> None:
    """It is a catalogue, not a dump of state."""
    ran: list[str] = []
    surface.mount(
        read=lambda: ran.append("read"),
        act=ActionBinding(execute=lambda: ran.append("act"), precondition=lambda _: ran.append("precondition")),
    )
    surface.events.clear()
    before = surface.registry.statistics()
    first, second = surface.registry.snapshot(), surface.registry.snapshot()
    assert first == second
    assert ran == []
    assert (surface.registry.statistics(), surface.events, surface.registry.version) == (before, [], "1")
    assert list(surface.sink.records) == []


@pytest.mark.requirement("AS-SNAP-001", "AS-SNAP-005")
async def test_the_catalogue_in_full() -> None:
    """Every field, as it goes over the wire."""
    surface = Surface(
        component("t.one", parent_type="t.page", meta={"section": "left"}),
        DISABLE,
        RENAME,
        procedures=_executor(),
        route=lambda: RouteInfo(path="/devices", params={"tab": "all"}),
    )
    contract = component("t.one", parent_type="t.page", meta={"section": "left"})
    handle = surface.mount(
        contract,
        act=ActionBinding(execute=nothing, when=lambda: False, unavailable_reason="Nothing is selected."),
        parent=ComponentRef(type="t.page", instance_id="p-1"),
        procedures=[
            bind_procedure(DISABLE, bind={"ids": lambda: ["a"]}, describe=lambda: "1 device is selected."),
            bind_procedure(RENAME, bind={"id": lambda: "a", "name": lambda: "b"}, overridable_fields=["name"]),
        ],
    )
    assert surface.catalogue() == {
        "surfaceId": surface.registry.surface_id,
        "surfaceVersion": "1",
        "capturedAt": "2025-06-15T15:06:40.000Z",
        "route": {"path": "/devices", "params": {"tab": "all"}},
        "components": [
            {
                "type": "t.one",
                "instanceId": "default",
                "registrationId": handle.registration_id,
                "description": "The component t.one",
                "parent": {"type": "t.page", "instanceId": "p-1"},
                "meta": {"section": "left"},
                "observations": [
                    {
                        "capabilityId": READ,
                        "name": "read",
                        "description": "Read the value",
                        "outputSchema": {"type": "integer"},
                        "available": True,
                    }
                ],
                "actions": [
                    {
                        "capabilityId": ACT,
                        "name": "act",
                        "description": "Do it",
                        "inputSchema": {"type": "object", "additionalProperties": True},
                        "outputSchema": {},
                        "effect": "local-state",
                        "idempotent": False,
                        "reversible": True,
                        "confirmation": "never",
                        "available": False,
                        "unavailableReason": "Nothing is selected.",
                    },
                    {
                        "capabilityId": GO,
                        "name": "go",
                        "description": "Go there",
                        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
                        "effect": "navigation",
                        "idempotent": False,
                        "reversible": True,
                        "confirmation": "never",
                        "available": True,
                    },
                ],
            }
        ],
        "procedures": [
            {
                "procedureId": "domain:devices.disable",
                "description": "Disable devices",
                "contextualNote": "1 device is selected.",
                "inputSchema": {
                    "type": "object",
                    "properties": {"why": {"type": "string"}},
                    "additionalProperties": False,
                },
                "outputSchema": {"type": "integer"},
                "effect": "destructive",
                "idempotent": False,
                "reversible": False,
                "confirmation": "required",
                "available": True,
                "boundFields": [{"path": "ids", "locked": True, "source": "ui-state"}],
                "registrationId": handle.registration_id,
                "context": {"type": "t.one", "instanceId": "default"},
            },
            {
                "procedureId": "domain:devices.rename",
                "description": "Rename a device",
                "inputSchema": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}},
                    "additionalProperties": False,
                },
                "outputSchema": {"type": "string"},
                "effect": "server-mutation",
                "idempotent": False,
                "reversible": False,
                "confirmation": "never",
                "available": True,
                "boundFields": [
                    {"path": "id", "locked": True, "source": "ui-state"},
                    {"path": "name", "locked": False, "source": "ui-state"},
                ],
                "registrationId": handle.registration_id,
                "context": {"type": "t.one", "instanceId": "default"},
            },
        ],
    }
    surface.registry.close()


@pytest.mark.requirement("AS-SNAP-002")
async def test_internal_values_appear_nowhere(surface: Surface) -> None:
    """Neither in a snapshot nor in results, events or requests of a person."""
    surface.mount(
        component("t.one"),
        act=ActionBinding(execute=nothing, policies=[_Demand()]),
        internal={"tenantId": SECRET, "key": object()},
    )
    result = await surface.invoke(ACT, {"a": 1})
    seen = json.dumps(surface.catalogue()) + json.dumps(result.to_json()) + str(surface.events)
    assert SECRET not in seen + str(surface.pending())


class _Demand:
    name = "demand"

    def on_invoke(self, context: object, call_next: object) -> object:
        """Ask a person."""
        context.require_confirmation()
        return call_next()


@pytest.mark.requirement("AS-SNAP-003")
async def test_components_are_ordered_by_priority_type_and_instance() -> None:
    """Never by the order in which they were mounted."""
    contracts = [
        component("b.two"),
        component("a.one"),
        component("z.first", priority=5),
        component("m.last", priority=-1),
    ]
    orders = []
    for order in (contracts, contracts[::-1]):
        surface = Surface(*contracts)
        for contract in order:
            for instance in ("y", "x") if order is contracts else ("x", "y"):
                surface.mount(contract, instance_id=instance)
        shown = [(part.type, part.instance_id) for part in surface.registry.snapshot().components]
        orders.append(shown)
        surface.registry.close()
    assert orders[0] == orders[1]
    assert orders[0] == [
        (component_type, instance)
        for component_type in ("z.first", "a.one", "b.two", "m.last")
        for instance in ("x", "y")
    ]


@pytest.mark.requirement("AS-SNAP-003")
@pytest.mark.parametrize(
    ("budget", "kept"),
    [
        (SnapshotBudget(max_components=2), ["z.first", "a.one"]),
        (SnapshotBudget(max_components=0), []),
        (SnapshotBudget(max_components=9), ["z.first", "a.one", "b.two"]),
        (SnapshotBudget(max_bytes=10), []),
        (SnapshotBudget(max_bytes=1_000_000), ["z.first", "a.one", "b.two"]),
    ],
    ids=["two", "none", "more than there are", "no room", "room for all"],
)
async def test_a_budget_drops_the_least_important_first_and_says_so(budget: SnapshotBudget, kept: list[str]) -> None:
    """No truncation is silent; procedures go with their component."""
    contracts = [component("b.two"), component("a.one"), component("z.first", priority=5)]
    surface = Surface(*contracts, DISABLE, procedures=_executor())
    surface.mount(contracts[0], procedures=[bind_procedure(DISABLE)])
    surface.mount(contracts[1])
    surface.mount(contracts[2])
    snapshot = surface.registry.snapshot(SnapshotContext(budget=budget))
    assert [part.type for part in snapshot.components] == kept
    assert snapshot.to_json().get("truncated") == ({"droppedComponents": 3 - len(kept)} if len(kept) < 3 else None)
    assert len(snapshot.procedures) == ("b.two" in kept)
    surface.registry.close()


@pytest.mark.requirement("AS-SNAP-003")
async def test_equal_surfaces_give_equal_text() -> None:
    """Byte for byte, apart from the time of capture and the ids of a lifetime."""
    texts = []
    for wait_ms in (0, 5_000):
        surface = Surface()
        surface.clock.advance(wait_ms)
        surface.mount(TWO, instance_id="b")
        surface.mount(ONE)
        surface.mount(TWO, instance_id="a")
        catalogue = surface.catalogue()
        del catalogue["capturedAt"]
        assert json.dumps(surface.catalogue()) == json.dumps(surface.catalogue())
        texts.append(json.dumps(catalogue))
        surface.registry.close()
    assert texts[0] == texts[1]


def _leaves(value: object) -> list[object]:
    """Every part of a snapshot that could be changed."""
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in _leaves(item)]
    if isinstance(value, MappingProxyType):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        assert value.__dataclass_params__.frozen
        return [leaf for field in dataclasses.fields(value) for leaf in _leaves(getattr(value, field.name))]
    return [value]


@pytest.mark.requirement("AS-SNAP-004")
async def test_a_snapshot_is_frozen_to_its_last_leaf() -> None:
    """Nothing in it can be changed, by whoever holds it or what it was made from."""
    params = {"tab": "all"}
    contract = component("t.one", meta={"a": {"b": [1, {"c": 2}]}})
    surface = Surface(contract, DISABLE, procedures=_executor(), route=lambda: RouteInfo(path="/x", params=params))
    surface.mount(contract, procedures=[bind_procedure(DISABLE, bind={"ids": lambda: ["a"]})])
    snapshot = surface.registry.snapshot()
    text = json.dumps(snapshot.to_json())
    for leaf in _leaves(snapshot):
        assert isinstance(leaf, str | int | float | bool | None), leaf
    params["tab"] = "other"
    surface.mount(contract, instance_id="second")
    thawed = snapshot.to_json()
    assert isinstance(thawed["components"], list)
    thawed["components"].clear()
    assert json.dumps(snapshot.to_json()) == text
    surface.registry.close()


@pytest.mark.requirement("AS-SNAP-005")
@pytest.mark.parametrize(
    ("scope", "types"),
    [
        ((), ["a.b", "a.b.c", "a.bx", "d"]),
        (("a.b",), ["a.b", "a.b.c"]),
        (("a",), ["a.b", "a.b.c", "a.bx"]),
        (("d", "a.bx"), ["a.bx", "d"]),
        (("x",), []),
    ],
    ids=["all", "a.b", "a", "two", "nothing"],
)
async def test_a_scope_takes_whole_segments(scope: tuple[str, ...], types: list[str]) -> None:
    """``a.b`` is no prefix of ``a.bx``."""
    contracts = [component(name) for name in ("a.b", "a.b.c", "a.bx", "d")]
    surface = Surface(*contracts)
    for contract in contracts:
        surface.mount(contract)
    snapshot = surface.registry.snapshot(SnapshotContext(scope=scope))
    assert [part.type for part in snapshot.components] == types
    surface.registry.close()


@pytest.mark.requirement("AS-SNAP-005", "AS-AVAIL-001")
async def test_what_cannot_be_used_can_be_left_out(surface: Surface) -> None:
    """The component stays: it is there."""
    surface.mount(
        act=ActionBinding(execute=nothing, when=lambda: False), read=ObservationBinding(read=zero, when=lambda: False)
    )
    snapshot = surface.registry.snapshot(SnapshotContext(include_unavailable=False))
    (part,) = snapshot.components
    assert ([item.name for item in part.observations], [item.name for item in part.actions]) == ([], ["go"])


@pytest.mark.requirement("AS-SNAP-005")
@pytest.mark.parametrize(
    "route",
    [lambda: None, lambda: 1 / 0, lambda: "/devices", lambda: RouteInfo(path="/x", params=5)],
    ids=["none", "raises", "no route", "no params"],
)
def test_a_route_that_cannot_be_told_is_left_out(route: object, expected_logs: list[LogRecord]) -> None:
    """The snapshot is made all the same."""
    surface = Surface(route=route)
    surface.mount()
    assert "route" not in surface.catalogue()
    assert len(expected_logs) <= 1
    surface.registry.close()


@pytest.mark.requirement("AS-SNAP-005")
@pytest.mark.allow_logs("agent_surface.snapshot")
@pytest.mark.parametrize(
    "describe", [lambda: 1 / 0, lambda: 5, lambda: " ", lambda: "x" * 400], ids=["raises", "no text", "blank", "long"]
)
async def test_a_note_that_is_none_is_left_out(describe: object) -> None:
    """And a long one is cut; the stable description never changes."""
    surface = Surface(ONE, DISABLE, procedures=_executor())
    surface.mount(procedures=[bind_procedure(DISABLE, describe=describe)])
    (procedure,) = surface.registry.snapshot().procedures
    assert procedure.description == "Disable devices"
    assert procedure.contextual_note is None or len(procedure.contextual_note) == 300
    surface.registry.close()


# ------------------------------------------------------------------------------------------------------- hidden


@pytest.mark.requirement("AS-AVAIL-002")
async def test_what_is_hidden_is_not_in_the_catalogue_of_whom_it_is_hidden_from() -> None:
    """And in that of the other consumer it is."""
    surface = Surface(policies=(_Hide(ACT),))
    surface.mount()
    assert surface.capability_ids(ALICE) == [READ, ACT, GO]
    assert surface.capability_ids(BOB) == [READ, GO]
    assert ACT not in json.dumps(surface.catalogue(BOB))
    surface.registry.close()


@pytest.mark.requirement("AS-AVAIL-002")
async def test_a_component_with_nothing_to_see_is_not_seen() -> None:
    """Its type and instance would say that there is something."""
    surface = Surface(policies=(_Hide(ACT, READ, GO, "domain:devices.disable"),), procedures=_executor())
    surface.mount(procedures=[bind_procedure(DISABLE)])
    surface.mount(TWO)
    assert [part.type for part in surface.registry.snapshot(SnapshotContext(consumer=BOB)).components] == ["t.two"]
    assert surface.registry.snapshot(SnapshotContext(consumer=BOB)).procedures == ()
    assert len(surface.registry.snapshot(SnapshotContext(consumer=ALICE)).components) == 2
    surface.registry.close()


@pytest.mark.requirement("AS-AVAIL-002")
async def test_a_budget_does_not_count_what_is_hidden() -> None:
    """Else the number of dropped components would tell."""
    surface = Surface(policies=(_Hide(ACT, READ, GO),))
    surface.mount()
    surface.mount(TWO)
    snapshot = surface.registry.snapshot(SnapshotContext(consumer=BOB, budget=SnapshotBudget(max_components=1)))
    assert (len(snapshot.components), snapshot.dropped_components) == (1, 0)
    surface.registry.close()


# -------------------------------------------------------------------------------------------------- availability


def _state(surface: Surface) -> tuple[bool, str | None]:
    (action,) = [a for a in surface.registry.snapshot().components[0].actions if a.name == "act"]
    return action.available, action.unavailable_reason


class _Gate:
    """Disables with a reason."""

    name = "gate"

    def __init__(self, reason: object) -> None:
        self.reason = reason

    def on_discovery(self, _: PolicyContext) -> DiscoveryDecision:
        """Vote."""
        return disable(self.reason)


def _no() -> bool:
    return False


def _made(coroutine_function: Callable[[], object]) -> object:
    """What only turns out to be a coroutine when it is called."""
    return coroutine_function()


async def _later() -> bool:
    return True


def _raise() -> bool:
    raise ValueError(SECRET)


STATES: Mapping[str, tuple[dict[str, object], dict[str, object], str]] = {
    "predicate": ({"when": _no, "unavailable_reason": "Select a row."}, {}, "Select a row."),
    "live reason": ({"when": _no, "unavailable_reason": lambda: "Select two."}, {}, "Select two."),
    "no reason": ({"when": _no}, {}, "not possible right now"),
    "blank reason": ({"when": _no, "unavailable_reason": "  "}, {}, "not possible right now"),
    "reason that raises": ({"when": _no, "unavailable_reason": _raise}, {}, "not possible right now"),
    "reason that is none": ({"when": _no, "unavailable_reason": lambda: 5}, {}, "not possible right now"),
    "reason to await": ({"when": _no, "unavailable_reason": partial(_made, _later)}, {}, "not possible right now"),
    "long reason": ({"when": _no, "unavailable_reason": "x" * 301}, {}, "x" * 299 + "…"),
    "predicate that raises": ({"when": _raise}, {}, "when-error"),
    "predicate to await": ({"when": partial(_made, _later)}, {}, "when-error"),
    "component disabled": ({}, {"enabled": False}, "component-disabled"),
    "disabled comes first": ({"when": _raise}, {"enabled": False}, "component-disabled"),
    "component's availability": (
        {},
        {"availability": lambda _: Availability(available=False, reason="Behind a tab.")},
        "Behind a tab.",
    ),
    "component's availability without reason": (
        {},
        {"availability": lambda _: Availability(available=False)},
        "not possible right now",
    ),
    "component's availability that raises": ({}, {"availability": _raise}, "when-error"),
    "component's availability that is none": ({}, {"availability": lambda _: None}, "when-error"),
    "policy": ({"policies": [_Gate("Read only.")]}, {}, "Read only."),
    "policy without reason": ({"policies": [_Gate(None)]}, {}, "not possible right now"),
    "policy with a long reason": ({"policies": [_Gate("x" * 301)]}, {}, "x" * 299 + "…"),
    "policy with no text": ({"policies": [_Gate(5)]}, {}, "not possible right now"),
    "state before policy": (
        {"when": _no, "unavailable_reason": "State.", "policies": [_Gate("Policy.")]},
        {},
        "State.",
    ),
}


@pytest.mark.requirement("AS-AVAIL-001", "AS-AVAIL-002", "AS-AVAIL-003")
@pytest.mark.allow_logs("agent_surface.registrations")
@pytest.mark.parametrize("state", STATES)
async def test_the_error_of_a_call_carries_the_reason_of_the_catalogue(surface: Surface, state: str) -> None:
    """What cannot be used is listed with a reason the agent can plan with, and refused with the same."""
    action, binding, reason = STATES[state]
    ran: list[int] = []
    surface.mount(act=ActionBinding(execute=lambda: ran.append(1), **action), **binding)
    assert _state(surface) == (False, reason)
    assert refusal(await surface.invoke()) == ("CAPABILITY_NOT_AVAILABLE", {"reason": reason})
    assert ran == []


@pytest.mark.requirement("AS-AVAIL-001")
@pytest.mark.parametrize(
    ("pushed", "reason"),
    [
        (Availability(available=False, reason="Pushed."), "Pushed."),
        (Availability(available=False), "The author's."),
        (Availability(available=False, reason="  "), "The author's."),
        (Availability(available=False, reason="x" * 301), "x" * 299 + "…"),
    ],
    ids=["with a reason", "without", "blank", "long"],
)
async def test_pushed_availability_has_a_reason_too(surface: Surface, pushed: Availability, reason: str) -> None:
    """The pushed one, else the author's, and the same in both places."""
    handle = surface.mount(act=ActionBinding(execute=nothing, unavailable_reason="The author's."))
    handle.update(availability={"act": pushed})
    assert _state(surface) == (False, reason)
    assert refusal(await surface.invoke()) == ("CAPABILITY_NOT_AVAILABLE", {"reason": reason})
    handle.update(availability={"act": Availability(available=True)})
    assert _state(surface) == (True, None)


@pytest.mark.requirement("AS-AVAIL-001")
async def test_availability_is_asked_again_at_the_call(surface: Surface) -> None:
    """What the catalogue said is only what it was then."""
    state = {"open": True}
    surface.mount(act=ActionBinding(execute=lambda: {"done": True}, when=lambda: state["open"]))
    assert _state(surface) == (True, None)
    state["open"] = False
    assert refusal(await surface.invoke())[0] == "CAPABILITY_NOT_AVAILABLE"
    state["open"] = True
    assert output(await surface.invoke()) == {"done": True}


@pytest.mark.requirement("AS-AVAIL-001")
async def test_a_component_asked_for_its_availability_overrides_what_was_pushed(surface: Surface) -> None:
    """A user interface is asked and not remembered; a blocked signal cannot make a call wrong."""
    handle = surface.mount(act=lambda: {"done": True}, availability=lambda _: Availability(available=True))
    handle.update(availability={"act": Availability(available=False, reason="stale")})
    assert _state(surface) == (True, None)
    assert output(await surface.invoke()) == {"done": True}
