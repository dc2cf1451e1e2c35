"""A manifest is verified from the outermost hash to the innermost, and a binding is held against it field by field."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, call-overload, var-annotated"
# pyright: reportArgumentType=false, reportCallIssue=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_surface import (
    AgentComponentContract,
    AgentSurfaceDefinitionError,
    AuthorityError,
    JsonValue,
    PolicyAttachment,
    action_contract,
    authenticated,
    bind_procedure,
    create_agent_surface_registry,
    create_capability_authority,
    define_agent_component_contract,
    define_agent_procedure_contract,
    from_json_schema,
    from_type,
    has_permission,
    load_capability_authority,
    observation_contract,
    rate_limit,
)
from agent_surface._base._json import thaw_json
from agent_surface._manifest import digest, make_manifest, make_record
from agent_surface.testing import contract_authority
from tests.core.surface_fixtures import DISABLE, IDS_SCHEMA, ONE, RENAME, TWO, Surface, component, nothing, zero

Manifest = dict[str, JsonValue]


def _manifest(*contracts: object) -> Manifest:
    return cast("Manifest", thaw_json(contract_authority(*contracts).manifest))


def _rehashed(manifest: Manifest) -> Manifest:
    """The manifest with its outermost hash made right again."""
    manifest.pop("hash", None)
    manifest["hash"] = digest(manifest)
    return manifest


def _declaration(manifest: Manifest) -> dict[str, JsonValue]:
    return cast("dict[str, JsonValue]", cast("list[JsonValue]", manifest["declarations"])[0])


def _capability(manifest: Manifest) -> dict[str, JsonValue]:
    return cast("dict[str, JsonValue]", cast("list[JsonValue]", _declaration(manifest)["capabilities"])[0])


def _change_capability(manifest: Manifest) -> None:
    _capability(manifest)["confirmation"] = "never-ever"


def _change_declaration(manifest: Manifest) -> None:
    _declaration(manifest)["description"] = "Something else"


def _declare_twice(manifest: Manifest) -> None:
    declarations = cast("list[JsonValue]", manifest["declarations"])
    declarations.append(declarations[0])


def _capability_twice(manifest: Manifest) -> None:
    capabilities = cast("list[JsonValue]", _declaration(manifest)["capabilities"])
    capabilities.append(capabilities[0])


def _drop(key: str) -> Callable[[Manifest], None]:
    return lambda manifest: cast("None", manifest.pop(key))


def _set(key: str, value: JsonValue) -> Callable[[Manifest], None]:
    return lambda manifest: manifest.update({key: value})


DAMAGE: dict[str, Callable[[Manifest], None]] = {
    "another format": _set("formatVersion", 2),
    "no format": _drop("formatVersion"),
    "incomplete": _set("completeness", {"status": "partial"}),
    "no completeness": _drop("completeness"),
    "no declarations": _drop("declarations"),
    "declarations of another kind": _set("declarations", {"a": 1}),
    "a declaration that is no object": _set("declarations", [1]),
    "a changed capability": _change_capability,
    "a changed declaration": _change_declaration,
    "a declaration twice": _declare_twice,
    "a capability twice": _capability_twice,
}


@pytest.mark.requirement("AS-CONTRACT-002", "AS-CONTRACT-004")
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_manifest_is_refused_though_its_outermost_hash_is_right(damage: Callable[[Manifest], None]) -> None:
    """Each hash is checked on its own, so who changes something has to change all of them."""
    manifest = _manifest(ONE)
    damage(manifest)
    with pytest.raises(AuthorityError):
        create_capability_authority(_rehashed(manifest))


@pytest.mark.requirement("AS-CONTRACT-002")
def test_a_manifest_whose_own_hash_is_wrong_is_refused() -> None:
    """The outermost hash covers everything."""
    manifest = _manifest(ONE)
    manifest["targets"] = ["other"]
    with pytest.raises(AuthorityError, match="hash of the manifest"):
        create_capability_authority(manifest)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.one_of(_JSON, st.binary(), st.dictionaries(st.sampled_from(list(_manifest(ONE))), _JSON)))
def test_whatever_is_no_manifest_is_refused_as_such(value: object) -> None:
    """A file from anywhere can be handed in; nothing but the one error comes out."""
    with pytest.raises(AuthorityError):
        create_capability_authority(value)


@pytest.mark.parametrize("missing", ["kind", "type", "description", "origin"])
def test_a_manifest_with_right_hashes_and_a_part_missing_lists_nothing_that_is_live(missing: str) -> None:
    """Hashes alone do not make a declaration the one of this program."""
    declaration = _declaration(_manifest(ONE))
    del declaration[missing], declaration["declarationHash"]
    for capability in cast("list[dict[str, JsonValue]]", declaration["capabilities"]):
        del capability["contractHash"]
    authority = create_capability_authority(make_manifest([make_record(declaration)], completeness="test"))
    with pytest.raises(AgentSurfaceDefinitionError, match=missing):
        _registry_of(authority).registry.register(_bound(ONE))


def _registry_of(authority: object) -> Surface:
    surface = Surface(ONE)
    surface.registry.close()
    made = object.__new__(Surface)
    from agent_surface import CapabilityAuthority, create_agent_surface_registry

    assert isinstance(authority, CapabilityAuthority)
    made.registry = create_agent_surface_registry(authority=authority, environment="test")
    return made


def _bound(contract: AgentComponentContract) -> object:
    return contract.bind(observations={"read": zero}, actions={"act": nothing, "go": nothing})


@pytest.mark.requirement("AS-CONTRACT-003")
def test_a_component_that_is_not_listed_is_refused_by_its_name() -> None:
    """What the manifest does not list cannot be exposed."""
    surface = Surface(ONE)
    with pytest.raises(AgentSurfaceDefinitionError, match=r"surface_fixtures:t\.two is not in the contract") as caught:
        surface.mount(TWO)
    assert "agent-surface snapshot" in str(caught.value)
    assert surface.registry.version == "0"
    surface.registry.close()


@pytest.mark.requirement("AS-CONTRACT-003")
def test_a_procedure_that_is_not_listed_is_refused_by_its_name() -> None:
    """Also when the component that refers to it is listed."""
    surface = Surface(ONE)
    with pytest.raises(AgentSurfaceDefinitionError, match=r"devices\.disable"):
        surface.mount(ONE, procedures=[bind_procedure(DISABLE)])
    surface.registry.close()


def _declare(**changes: object) -> AgentComponentContract:
    """The component ``t.held`` of this module, as it would be after a change of its source."""
    action: dict[str, object] = {
        "description": "Do it",
        "input": from_json_schema(IDS_SCHEMA),
        "effect": "local-state",
        **{key: value for key, value in changes.items() if key in _ACTION_FIELDS},
    }
    whole: dict[str, object] = {
        "type": "t.held",
        "description": "Held",
        "observations": {
            "read": observation_contract(description="Read it", output=from_type(changes.get("reads", int)))
        },
        "actions": {str(changes.get("name", "act")): action_contract(**action)},
        **{key: value for key, value in changes.items() if key in _COMPONENT_FIELDS},
    }
    return define_agent_component_contract(**whole)


_ACTION_FIELDS = {
    "input",
    "output",
    "effect",
    "confirmation",
    "idempotent",
    "reversible",
    "audit",
    "timeout_ms",
    "concurrency",
    "act_meta",
}
_COMPONENT_FIELDS = {"description", "meta", "priority", "parent_type", "origin", "tags"}


@pytest.mark.requirement("AS-CONTRACT-002", "AS-CONTRACT-004", "AS-AUTHORITY-003")
@pytest.mark.parametrize(
    ("change", "subject", "field"),
    [
        ({"confirmation": "optional"}, "view:t.held.act", "confirmation"),
        ({"effect": "navigation"}, "view:t.held.act", "effect"),
        ({"input": from_json_schema({"type": "object"})}, "view:t.held.act", "inputSchema"),
        ({"output": from_type(int)}, "view:t.held.act", "outputSchema"),
        ({"idempotent": True}, "view:t.held.act", "idempotent"),
        ({"reversible": False}, "view:t.held.act", "reversible"),
        ({"audit": "none"}, "view:t.held.act", "audit"),
        ({"timeout_ms": 5}, "view:t.held.act", "timeoutMs"),
        ({"reads": str}, "view:t.held.read", "outputSchema"),
        ({"name": "other"}, "view:t.held.act", "removed"),
        ({"description": "Something else"}, "test_manifest:t.held", "description"),
        ({"meta": {"a": 1}}, "test_manifest:t.held", "meta"),
        ({"priority": 3}, "test_manifest:t.held", "priority"),
        ({"parent_type": "t.page"}, "test_manifest:t.held", "parentType"),
        ({"origin": "plugin"}, "test_manifest:t.held", "origin"),
        ({"tags": ["new"]}, "test_manifest:t.held", "tags"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_changed_declaration_is_refused_naming_capability_field_and_remedy(
    change: dict[str, object], subject: str, field: str
) -> None:
    """The contract of the program is older than its source; both the stricter and the looser reading are refused."""
    held, changed = _declare(), _declare(**change)
    for listed, live in ((held, changed), (changed, held)):
        surface = Surface(listed)
        handlers = dict.fromkeys(live.actions, nothing)
        with pytest.raises(AgentSurfaceDefinitionError) as caught:
            surface.registry.register(live.bind(observations={"read": zero}, actions=handlers))
        assert caught.value.subject.endswith(subject)
        assert field in caught.value.path or "added" in caught.value.path
        assert "agent-surface snapshot" in str(caught.value)
        assert surface.registry.snapshot().components == ()
        surface.registry.close()


@pytest.mark.requirement("AS-CONTRACT-004")
@pytest.mark.parametrize(
    ("listed", "live"),
    [
        ({"meta": {"a": 1}}, {"meta": {"a": True}}),
        ({"meta": {"a": [0.0]}}, {"meta": {"a": [False]}}),
        ({"meta": {"a": None}}, {"meta": {}}),
    ],
)
def test_fields_are_told_apart_as_they_are_hashed(listed: dict[str, object], live: dict[str, object]) -> None:
    """Python takes ``1`` for ``True``; the hash does not, and the error must still name the field."""
    surface = Surface(_declare(**listed))
    bound = _declare(**live).bind(observations={"read": zero}, actions={"act": nothing})
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        surface.registry.register(bound)
    assert caught.value.path == "meta"
    surface.registry.close()


def test_a_listed_declaration_whose_capabilities_have_another_order_is_refused_for_that() -> None:
    """Nothing but the order differs, so the error says so."""
    held = _declare()
    manifest = _manifest(held)
    declaration = _declaration(manifest)
    cast("list[JsonValue]", declaration["capabilities"]).reverse()
    declaration["declarationHash"] = digest({k: v for k, v in declaration.items() if k != "declarationHash"})
    registry = create_agent_surface_registry(
        authority=create_capability_authority(_rehashed(manifest)), environment="test"
    )
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        registry.register(held.bind(observations={"read": zero}, actions={"act": nothing}))
    assert caught.value.path == "order of capabilities"
    registry.close()


@pytest.mark.requirement("AS-CONTRACT-002")
def test_every_hash_can_be_computed_from_the_manifest_alone() -> None:
    """The entries hold every field that is hashed."""
    manifest = _manifest(ONE, RENAME)
    for entry in cast("list[dict[str, JsonValue]]", manifest["declarations"]):
        context = {key: value for key, value in entry.items() if key not in ("capabilities", "declarationHash")}
        for capability in cast("list[dict[str, JsonValue]]", entry["capabilities"]):
            bare = {key: value for key, value in capability.items() if key != "contractHash"}
            assert capability["contractHash"] == digest({"capability": bare, "component": context})
        assert entry["declarationHash"] == digest(
            {key: value for key, value in entry.items() if key != "declarationHash"}
        )


@pytest.mark.requirement("AS-CONTRACT-002")
def test_a_declaration_is_identified_by_module_and_name() -> None:
    """So the same type in two modules is two declarations."""
    assert [
        entry["declarationId"] for entry in cast("list[dict[str, JsonValue]]", _manifest(ONE, RENAME)["declarations"])
    ] == ["tests.core.surface_fixtures:domain:devices.rename", "tests.core.surface_fixtures:t.one"]


GUARDED = define_agent_component_contract(
    type="t.guarded",
    description="Guarded",
    actions={
        "act": action_contract(
            description="Do it",
            effect="local-state",
            policies=[PolicyAttachment(name="rate-limit", parameters={"capacity": 3, "refillPerSecond": 1})],
        )
    },
    policies=[PolicyAttachment(name="authenticated", phases=("discovery", "authorize"))],
)
GUARDED_READING = define_agent_component_contract(
    type="t.guarded-reading",
    description="Guarded",
    observations={
        "read": observation_contract(
            description="Read it", output=from_type(int), policies=[PolicyAttachment(name="has-permission:x")]
        )
    },
)
GUARDED_PROCEDURE = define_agent_procedure_contract(
    id="domain:t.guarded",
    description="Guarded",
    effect="server-query",
    policies=[PolicyAttachment(name="has-permission:x")],
)


class _NamedAlike:
    """Has the name of a demanded policy and acts in another phase."""

    name = "authenticated"

    def on_authorize(self, _: object, call_next: Callable[[], object]) -> object:
        """Agree."""
        return call_next()


@pytest.mark.requirement("AS-AUTHORITY-003", "AS-CONTRACT-001")
@pytest.mark.parametrize(
    ("on_component", "on_action"),
    [
        ([], [rate_limit(capacity=3, refill_per_second=1)]),
        ([authenticated()], []),
        ([authenticated()], [rate_limit(capacity=300, refill_per_second=1)]),
        ([_NamedAlike()], [rate_limit(capacity=3, refill_per_second=1)]),
    ],
    ids=["component's missing", "capability's missing", "other parameters", "other phases"],
)
def test_a_policy_that_the_contract_demands_must_be_bound(on_component: list[object], on_action: list[object]) -> None:
    """By name, phases and parameters, at the component or the capability."""
    from agent_surface import ActionBinding

    surface = Surface(GUARDED)
    with pytest.raises(AgentSurfaceDefinitionError, match="demands policy"):
        surface.registry.register(
            GUARDED.bind(
                actions={"act": ActionBinding(execute=nothing, policies=on_action)},
                policies=on_component,
            )
        )
    surface.registry.close()


@pytest.mark.requirement("AS-AUTHORITY-003", "AS-CONTRACT-001")
def test_a_policy_that_an_observation_demands_must_be_bound_too() -> None:
    """What is read may be as secret as what is done is dangerous."""
    from agent_surface import ObservationBinding

    surface = Surface(GUARDED_READING)
    with pytest.raises(AgentSurfaceDefinitionError, match="demands policy"):
        surface.registry.register(GUARDED_READING.bind(observations={"read": zero}))
    guarded = ObservationBinding(read=zero, policies=[has_permission("x")])
    assert surface.registry.register(GUARDED_READING.bind(observations={"read": guarded})).status == "active"
    surface.registry.close()


@pytest.mark.requirement("AS-AUTHORITY-003")
def test_a_demanded_policy_may_be_bound_at_the_component() -> None:
    """What guards everything guards the one capability too; the registry's own policies do not count."""
    surface = Surface(GUARDED, GUARDED_PROCEDURE, policies=(has_permission("x"),))
    with pytest.raises(AgentSurfaceDefinitionError, match="has-permission:x"):
        surface.registry.register(
            GUARDED.bind(
                actions={"act": nothing},
                policies=[authenticated(), rate_limit(capacity=3, refill_per_second=1)],
                procedures=[bind_procedure(GUARDED_PROCEDURE)],
            )
        )
    handle = surface.registry.register(
        GUARDED.bind(
            actions={"act": nothing},
            policies=[authenticated(), rate_limit(capacity=3, refill_per_second=1)],
            procedures=[bind_procedure(GUARDED_PROCEDURE, policies=[has_permission("x")])],
        )
    )
    assert handle.status == "active"
    surface.registry.close()


@pytest.mark.requirement("AS-CONTRACT-001")
def test_an_authority_is_minted_from_genuine_contracts_only() -> None:
    """Test support is no way around the proof either."""
    with pytest.raises(AuthorityError):
        contract_authority(object())


def test_a_contract_that_is_nowhere_or_no_json_is_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program says what to do and does not start without one."""
    package = tmp_path / "someprogram"
    package.mkdir()
    (package / "__init__.py").write_text('"""A program."""\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(AuthorityError, match="no contract found"):
        load_capability_authority("someprogram")
    (package / "_resources").mkdir()
    contract = package / "_resources" / "agent-contract.json"
    contract.write_text("{")
    with pytest.raises(AuthorityError, match="no JSON"):
        load_capability_authority("someprogram")
    contract.write_text(json.dumps(_manifest(component("t.one"))))
    assert load_capability_authority("someprogram").manifest["completeness"] == {"status": "test"}
