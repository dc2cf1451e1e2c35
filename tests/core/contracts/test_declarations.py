"""What a declaration must satisfy, and what binding one to behaviour asks for."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, call-overload, dict-item, var-annotated"
# pyright: reportArgumentType=false, reportCallIssue=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping

import pytest

from agent_surface import (
    ActionBinding,
    AgentSurfaceDefinitionError,
    AgentSurfaceLimits,
    ComponentRef,
    Concurrency,
    DefinitionErrorCode,
    Effect,
    JsonValue,
    ObservationBinding,
    PolicyAttachment,
    action_contract,
    bind_procedure,
    define_agent_component_contract,
    define_agent_procedure_contract,
    from_json_schema,
    from_type,
    observation_contract,
)
from tests.core.surface_fixtures import (
    DISABLE,
    IDS_SCHEMA,
    ONE,
    RENAME,
    Surface,
    component,
    nothing,
    output,
    refusal,
    zero,
)

Make = Callable[[], object]
INT = from_type(int)


def _action(**fields: object) -> object:
    return action_contract(**{"description": "Do it", "effect": "local-state", **fields})


def _component(**fields: object) -> object:
    return define_agent_component_contract(**{"type": "t.x", "description": "A thing", **fields})


def _procedure(**fields: object) -> object:
    return define_agent_procedure_contract(
        **{"id": "domain:t.x", "description": "A thing", "effect": "server-query", **fields}
    )


MISTAKES: Mapping[str, tuple[Make, DefinitionErrorCode]] = {
    "an empty description": (lambda: _action(description="  "), DefinitionErrorCode.INVALID_DEFINITION),
    "a description that is no text": (lambda: _action(description=5), DefinitionErrorCode.INVALID_DEFINITION),
    "a long description of a capability": (lambda: _action(description="x" * 301), DefinitionErrorCode.LIMIT_EXCEEDED),
    "a long description of an observation": (
        lambda: observation_contract(description="x" * 301, output=INT),
        DefinitionErrorCode.LIMIT_EXCEEDED,
    ),
    "a long description of a component": (
        lambda: _component(description="x" * 501),
        DefinitionErrorCode.LIMIT_EXCEEDED,
    ),
    "a long description of a procedure": (
        lambda: _procedure(description="x" * 301),
        DefinitionErrorCode.LIMIT_EXCEEDED,
    ),
    "large meta of a capability": (lambda: _action(meta={"a": "é" * 1_100}), DefinitionErrorCode.LIMIT_EXCEEDED),
    "large meta of a component": (lambda: _component(meta={"a": "x" * 2_048}), DefinitionErrorCode.LIMIT_EXCEEDED),
    "meta that is no JSON": (lambda: _component(meta={"a": {1}}), DefinitionErrorCode.INVALID_DEFINITION),
    "meta with a key that is no text": (lambda: _component(meta={1: 1}), DefinitionErrorCode.INVALID_DEFINITION),
    "a type in capitals": (lambda: _component(type="Devices"), DefinitionErrorCode.INVALID_ID),
    "a name with an underscore": (
        lambda: _component(actions={"do_it": _action()}),
        DefinitionErrorCode.INVALID_ID,
    ),
    "a procedure of the view plane": (lambda: _procedure(id="view:t.x"), DefinitionErrorCode.INVALID_ID),
    "an action with an effect of the back end": (
        lambda: _action(effect="server-mutation"),
        DefinitionErrorCode.PLANE_VIOLATION,
    ),
    "an action without an effect": (lambda: _action(effect="none"), DefinitionErrorCode.PLANE_VIOLATION),
    "a procedure with an effect of the view": (
        lambda: _procedure(effect="local-state"),
        DefinitionErrorCode.PLANE_VIOLATION,
    ),
    "an effect there is not": (lambda: _action(effect="magic"), DefinitionErrorCode.INVALID_DEFINITION),
    "a confirmation there is not": (lambda: _action(confirmation="maybe"), DefinitionErrorCode.INVALID_DEFINITION),
    "an audit there is not": (lambda: _action(audit="some"), DefinitionErrorCode.INVALID_DEFINITION),
    "a destructive procedure that never asks": (
        lambda: _procedure(effect="destructive", confirmation="never"),
        DefinitionErrorCode.INVALID_DEFINITION,
    ),
    "a time-out of nothing": (lambda: _action(timeout_ms=0), DefinitionErrorCode.INVALID_DEFINITION),
    "a time-out that is true": (lambda: _action(timeout_ms=True), DefinitionErrorCode.INVALID_DEFINITION),
    "an input that is no object": (lambda: _action(input=INT), DefinitionErrorCode.INVALID_DEFINITION),
    "a raw dict as a schema": (lambda: _action(input={"type": "object"}), DefinitionErrorCode.INVALID_DEFINITION),
    "a schema outside the subset": (
        lambda: from_json_schema({"oneOf": [{}]}),
        DefinitionErrorCode.UNSUPPORTED_SCHEMA,
    ),
    "the name of an observation and of an action": (
        lambda: _component(
            observations={"one": observation_contract(description="One", output=INT)}, actions={"one": _action()}
        ),
        DefinitionErrorCode.DUPLICATE_CAPABILITY,
    ),
    "an action among the observations": (
        lambda: _component(observations={"one": _action()}),
        DefinitionErrorCode.INVALID_DEFINITION,
    ),
    "a policy object in a contract": (lambda: _action(policies=[object()]), DefinitionErrorCode.INVALID_DEFINITION),
    "a policy phase there is not": (
        lambda: _action(policies=[PolicyAttachment(name="x", phases=("never",))]),
        DefinitionErrorCode.INVALID_DEFINITION,
    ),
    "a tag that is no text": (lambda: _action(tags=[1]), DefinitionErrorCode.INVALID_DEFINITION),
    "unbounded parallelism": (lambda: Concurrency(mode="parallel"), DefinitionErrorCode.INVALID_DEFINITION),
    "a parallelism of nothing": (lambda: Concurrency(mode="parallel", max=0), DefinitionErrorCode.INVALID_DEFINITION),
    "a key for another mode": (lambda: Concurrency(key="k"), DefinitionErrorCode.INVALID_DEFINITION),
    "no key for mode key": (lambda: Concurrency(mode="key"), DefinitionErrorCode.INVALID_DEFINITION),
    "a negative queue": (lambda: Concurrency(queue_depth=-1), DefinitionErrorCode.INVALID_DEFINITION),
    "a priority that is no integer": (lambda: _component(priority=1.5), DefinitionErrorCode.INVALID_DEFINITION),
    "an origin that is no text": (lambda: _component(origin=5), DefinitionErrorCode.INVALID_DEFINITION),
    "a procedure's origin that is no text": (lambda: _procedure(origin=""), DefinitionErrorCode.INVALID_DEFINITION),
}


@pytest.mark.requirement("AS-DEF-001")
@pytest.mark.parametrize(("make", "code"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_declaration_is_reported_where_it_is_made(make: Make, code: DefinitionErrorCode) -> None:
    """In development, and not when an agent calls."""
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        make()
    assert caught.value.code is code


@pytest.mark.requirement("AS-DEF-001")
@pytest.mark.parametrize("make", [_action, _component, _procedure])
def test_a_field_there_is_not_is_refused(make: Callable[..., object]) -> None:
    """A misspelt ``confirmation`` must not mean none."""
    with pytest.raises(TypeError, match="confirmatoin"):
        make(confirmatoin="required")


@pytest.mark.requirement("AS-DEF-001")
def test_what_is_exactly_at_its_limit_is_accepted() -> None:
    """Limits are inclusive, and sizes are bytes of the compact form."""
    _action(description="x" * 300, meta={"a": "x" * (2_048 - len('{"a":""}'))})
    _component(description="x" * 500)


@pytest.mark.requirement("AS-DEF-001")
@pytest.mark.parametrize(
    "limits",
    [
        AgentSurfaceLimits(max_capability_description=5),
        AgentSurfaceLimits(max_component_description=5),
        AgentSurfaceLimits(max_meta_bytes=5),
        AgentSurfaceLimits(max_schema_bytes=20),
        AgentSurfaceLimits(max_schema_depth=1),
    ],
    ids=["capability description", "component description", "meta", "schema bytes", "schema depth"],
)
def test_a_registry_holds_declarations_to_limits_of_its_own(limits: AgentSurfaceLimits) -> None:
    """A declaration within the usual limits can still be beyond those of a registry; it says so when registered."""
    contract = define_agent_component_contract(
        type="t.limited",
        description="A longer text",
        actions={
            "act": action_contract(
                description="A longer text", input=from_json_schema(IDS_SCHEMA), effect="local-state"
            )
        },
        meta={"longer": "text"},
    )
    surface = Surface(contract, limits=limits)
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        surface.registry.register(contract.bind(actions={"act": nothing}))
    assert caught.value.code in (DefinitionErrorCode.LIMIT_EXCEEDED, DefinitionErrorCode.UNSUPPORTED_SCHEMA)
    assert "t.limited" in str(caught.value)
    surface.registry.close()


@pytest.mark.requirement("AS-DEF-001")
def test_a_contract_cannot_be_declared_in_a_script() -> None:
    """Its identity would depend on how the program is started."""
    script = (
        "from agent_surface import define_agent_component_contract\n"
        "define_agent_component_contract(type='t.x', description='X')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "cannot be declared in a script that is run directly" in done.stderr


def _defaults(effect: str) -> tuple[bool, bool | None, str, str]:
    contract = define_agent_procedure_contract(id="domain:t.x", description="X", effect=effect)
    return contract.idempotent, contract.reversible, contract.confirmation.value, contract.audit.value


@pytest.mark.requirement("AS-DEF-001")
def test_who_says_nothing_gets_the_cautious_defaults() -> None:
    """The table of kinds and effects."""
    assert _defaults("server-query") == (True, None, "never", "metadata")
    assert _defaults("server-mutation") == (False, False, "optional", "metadata")
    assert _defaults("external-side-effect") == (False, False, "required", "full")
    assert _defaults("destructive") == (False, False, "required", "full")
    action = action_contract(description="Do it", effect="local-state")
    assert (action.idempotent, action.reversible, action.confirmation.value, action.audit.value) == (
        False,
        True,
        "never",
        "metadata",
    )
    assert observation_contract(description="Read", output=INT).audit.value == "none"


def _bind(**changes: object) -> object:
    handlers: dict[str, object] = {
        "observations": {"read": zero},
        "actions": {"act": nothing, "go": nothing},
        **changes,
    }
    return ONE.bind(**handlers)


@pytest.mark.requirement("AS-CONTRACT-005")
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"observations": {}}, "read"),
        ({"observations": None}, "read"),
        ({"actions": {"act": nothing}}, "go"),
        ({"actions": {"act": nothing, "go": nothing, "extra": nothing}}, "extra"),
        ({"observations": {"read": zero, "more": zero}}, "more"),
        ({"observations": {"read": zero, "act": nothing}, "actions": {"go": nothing}}, "act"),
        ({"observations": {"read": 5}}, "read"),
        ({"actions": {"act": ObservationBinding(read=zero), "go": nothing}}, "act"),
        ({"actions": {"act": lambda a, b, c: None, "go": nothing}}, "act"),
    ],
    ids=[
        "missing observation",
        "no observations",
        "missing action",
        "surplus action",
        "surplus observation",
        "in the wrong mapping",
        "not callable",
        "binding of another kind",
        "too many parameters",
    ],
)
def test_a_binding_that_does_not_match_its_contract_names_the_capability(
    changes: dict[str, object], named: str
) -> None:
    """One handler for each declared capability, and none besides."""
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        _bind(**changes)
    assert named in str(caught.value)


async def test_a_partial_contract_offers_what_its_binding_has_and_nothing_else() -> None:
    """Capabilities that nothing contributes are absent, guarded ones too; handlers for nothing declared stay wrong."""
    act = action_contract(description="Do it", effect="local-state")
    guarded = action_contract(description="Go", effect="navigation", policies=[PolicyAttachment(name="guard")])
    part = define_agent_component_contract(
        type="t.part", description="Some", actions={"act": act, "go": guarded}, partial=True
    )
    surface = Surface(part)
    surface.registry.register(part.bind(actions={"act": nothing}))
    assert surface.capability_ids() == ["view:t.part.act"]
    assert output(await surface.invoke("view:t.part.act")) is None
    assert refusal(await surface.invoke("view:t.part.go")) == ("CAPABILITY_NOT_FOUND", {})
    with pytest.raises(AgentSurfaceDefinitionError, match="guard"):
        surface.registry.register(part.bind(instance_id="two", actions={"go": nothing}))
    with pytest.raises(AgentSurfaceDefinitionError, match="other"):
        part.bind(actions={"other": nothing})


@pytest.mark.requirement("AS-CONTRACT-005")
@pytest.mark.parametrize("instance_id", ["", "a b", "a.b", "ü", "x" * 129, None, 5])
def test_an_instance_id_obeys_the_grammar(instance_id: object) -> None:
    """It is part of identities that agents send back."""
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        _bind(instance_id=instance_id)
    assert caught.value.code is DefinitionErrorCode.INVALID_ID


@pytest.mark.requirement("AS-CONTRACT-005")
@pytest.mark.parametrize("parent", [ComponentRef(type="Not A Type"), ComponentRef(type="t.page", instance_id="a b")])
def test_a_parent_obeys_the_grammar(parent: ComponentRef) -> None:
    """It is shown to agents."""
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        _bind(parent=parent)
    assert caught.value.code is DefinitionErrorCode.INVALID_ID


@pytest.mark.requirement("AS-CONTRACT-005")
def test_a_parent_is_of_the_declared_type() -> None:
    """A contract may say where its component lives."""
    contract = component("t.inner", parent_type="t.page")
    with pytest.raises(AgentSurfaceDefinitionError, match=r"inside t\.page"):
        contract.bind(
            observations={"read": zero}, actions={"act": nothing, "go": nothing}, parent=ComponentRef(type="t.other")
        )


async def _async() -> bool:
    return True


@pytest.mark.requirement("AS-DEF-001")
@pytest.mark.parametrize(
    "make",
    [
        lambda: ActionBinding(execute=nothing, precondition=_async),
        lambda: ActionBinding(execute=_async, thread=True),
        lambda: ActionBinding(execute=nothing, when=_async),
        lambda: ObservationBinding(read=zero, when=_async),
        lambda: bind_procedure(RENAME, bind={"id": _async}),
        lambda: bind_procedure(RENAME, when=_async),
    ],
    ids=["precondition", "thread", "when of an action", "when of an observation", "bind", "when of a reference"],
)
def test_what_must_be_answered_at_once_cannot_be_a_coroutine_function(make: Make) -> None:
    """A coroutine is true whatever it would return; a predicate made of one would always say yes."""
    with pytest.raises(AgentSurfaceDefinitionError):
        make()


@pytest.mark.requirement("AS-LIFE-003")
def test_a_name_is_declared_once_in_one_definition() -> None:
    """Also a procedure is referred to once."""
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        _bind(procedures=[bind_procedure(DISABLE), bind_procedure(DISABLE)])
    assert caught.value.code is DefinitionErrorCode.DUPLICATE_CAPABILITY


@pytest.mark.requirement("AS-BIND-002")
@pytest.mark.parametrize(
    "make",
    [
        lambda: bind_procedure(RENAME, bind={"nope": lambda: "x"}),
        lambda: bind_procedure(RENAME, bind={"id": 5}),
        lambda: bind_procedure(RENAME, overridable_fields=["id"]),
        lambda: bind_procedure(DISABLE, confirmation="optional"),
        lambda: bind_procedure(RENAME, "devices.other"),
        lambda: bind_procedure(RENAME, confirmation="maybe"),
    ],
    ids=["unknown field", "no function", "overridable but not bound", "lower level", "other path", "unknown level"],
)
def test_a_reference_that_does_not_fit_its_procedure_is_refused(make: Make) -> None:
    """Bound fields exist, levels only rise, paths agree."""
    with pytest.raises(AgentSurfaceDefinitionError):
        make()


@pytest.mark.requirement("AS-DEF-001")
def test_limits_are_natural_numbers() -> None:
    """A bound that is no bound is refused."""
    for value in (-1, 1.5, True, "8"):
        with pytest.raises(ValueError, match="dedupe_cache_size"):
            AgentSurfaceLimits(dedupe_cache_size=value)


@pytest.mark.requirement("AS-DEF-001")
def test_a_declaration_does_not_follow_the_objects_it_was_made_from() -> None:
    """Meta that is changed later changes nothing."""
    meta: dict[str, JsonValue] = {"a": [1]}
    contract = component("t.meta", meta=meta)
    meta["b"] = 2
    assert contract.meta == {"a": (1,)}
    assert contract.actions["go"].effect is Effect.NAVIGATION
