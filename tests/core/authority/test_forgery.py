"""What is not genuine is refused, whatever it looks like."""

# Wrong things are handed in here on purpose; the checkers are told which kinds of complaint that brings.
# mypy: disable-error-code="arg-type, call-arg, misc"
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import weakref
from collections.abc import Callable
from types import MappingProxyType, SimpleNamespace
from typing import cast
from unittest.mock import Mock

import pytest
from typing_extensions import override

from agent_surface import (
    AgentComponentContract,
    AgentSurfaceDefinitionError,
    AuthorityError,
    BoundComponent,
    CapabilityAuthority,
    Confirmation,
    ProcedureBinding,
    action_contract,
    assert_capability_authority,
    bind_procedure,
    create_agent_surface_registry,
    create_capability_authority,
    define_agent_component_contract,
    from_json_schema,
)
from agent_surface.testing import contract_authority
from tests.core.surface_fixtures import (
    ACT,
    ASKING,
    DISABLE,
    ONE,
    RENAME,
    TWO,
    Surface,
    component,
    nothing,
    refusal,
    zero,
)


class _EqualToEverything(CapabilityAuthority):
    """Claims to be whatever it is compared with, under the hash of a genuine one."""

    __slots__ = ("_hash",)

    def __init__(self, genuine: CapabilityAuthority) -> None:
        object.__setattr__(self, "manifest", genuine.manifest)
        object.__setattr__(self, "_hash", hash(genuine))

    @override
    def __eq__(self, other: object) -> bool:
        return True

    @override
    def __hash__(self) -> int:
        return cast("int", object.__getattribute__(self, "_hash"))


class _Lookalike:
    """Everything a genuine authority shows, on another class."""

    def __init__(self, genuine: CapabilityAuthority) -> None:
        self.manifest = genuine.manifest
        self.__class__.__name__ = "CapabilityAuthority"


def _unpickled(genuine: CapabilityAuthority) -> object:
    try:
        return pickle.loads(pickle.dumps(genuine))
    except (TypeError, AttributeError):
        # What cannot be pickled at all forges nothing; its state alone is tried instead.
        return _from_state(genuine)


def _from_state(genuine: CapabilityAuthority) -> object:
    made = object.__new__(CapabilityAuthority)
    object.__setattr__(made, "manifest", genuine.manifest)
    return made


def _from_a_subclass(genuine: CapabilityAuthority) -> object:
    class Mine(CapabilityAuthority):
        """A subclass."""

    return Mine(manifest=genuine.manifest)


def _with_a_forged_class(genuine: CapabilityAuthority) -> object:
    class Mine(CapabilityAuthority):
        """A subclass whose instances say they are of the class above it."""

        @property
        @override
        def __class__(self) -> type:
            return CapabilityAuthority

    return Mine(manifest=genuine.manifest)


def _deep_copy(genuine: object) -> object:
    try:
        return copy.deepcopy(genuine)
    except TypeError:
        return copy.copy(genuine)


def _at_the_address_of_a_dead_one(genuine: CapabilityAuthority) -> object:
    """Proofs are found by address, and addresses are used again."""
    made = object.__new__(CapabilityAuthority)
    for _ in range(200):
        dead = contract_authority(ONE)
        address = id(dead)
        del dead
        made = object.__new__(CapabilityAuthority)
        object.__setattr__(made, "manifest", genuine.manifest)
        if id(made) == address:
            break
    return made


FORGED_AUTHORITIES: dict[str, Callable[[CapabilityAuthority], object]] = {
    "nothing": lambda _: None,
    "the manifest itself": lambda genuine: genuine.manifest,
    "made by the class": lambda genuine: CapabilityAuthority(manifest=genuine.manifest),
    "made by object.__new__": _from_state,
    "a copy": copy.copy,
    "a deep copy": _deep_copy,
    "a pickle": _unpickled,
    "dataclasses.replace": dataclasses.replace,
    "a subclass": _from_a_subclass,
    "a subclass that forges its class": _with_a_forged_class,
    "equal to everything": _EqualToEverything,
    "a lookalike": _Lookalike,
    "the proof of another object": lambda genuine: (genuine, True),
    "a weak proxy": weakref.proxy,
    "a mock with its specification": lambda genuine: Mock(spec=genuine, manifest=genuine.manifest),
    "any object with its attributes": lambda genuine: SimpleNamespace(manifest=genuine.manifest),
    "an object at the address of one that died": _at_the_address_of_a_dead_one,
}


@pytest.mark.requirement("AS-AUTHORITY-001", "AS-AUTHORITY-002")
@pytest.mark.parametrize("forge", FORGED_AUTHORITIES.values(), ids=FORGED_AUTHORITIES)
def test_an_authority_that_was_not_made_from_a_verified_manifest_makes_no_registry(
    forge: Callable[[CapabilityAuthority], object],
) -> None:
    """Whatever shows the same attributes, compares equal or hashes alike is still not that object."""
    genuine = contract_authority(ONE)
    forged = forge(genuine)
    with pytest.raises(AuthorityError):
        create_agent_surface_registry(authority=cast("CapabilityAuthority", forged), environment="test")
    with pytest.raises(AuthorityError):
        assert_capability_authority(forged)
    # The genuine one is none the worse for it.
    assert_capability_authority(genuine)


@pytest.mark.requirement("AS-AUTHORITY-001")
def test_a_registry_cannot_be_asked_for_without_an_authority() -> None:
    """There is no default and no seam."""
    with pytest.raises(TypeError, match="authority"):
        create_agent_surface_registry()


@pytest.mark.requirement("AS-AUTHORITY-001")
@pytest.mark.parametrize("completeness", ["test", "evaluated"])
def test_production_takes_only_what_was_proven(completeness: str) -> None:
    """A contract that a test mints, or that was only evaluated, stops at the door of a production registry."""
    manifest = _manifest_of(contract_authority(ONE), completeness=completeness)
    with pytest.raises(AuthorityError, match=completeness):
        create_agent_surface_registry(authority=create_capability_authority(manifest))


@pytest.mark.requirement("AS-AUTHORITY-001")
def test_production_takes_a_proven_contract() -> None:
    """The other side of the rule above."""
    manifest = _manifest_of(contract_authority(ONE), completeness="proven")
    create_agent_surface_registry(authority=create_capability_authority(manifest)).close()


def _manifest_of(authority: CapabilityAuthority, *, completeness: str) -> dict[str, object]:
    from agent_surface._base._json import thaw_json
    from agent_surface._manifest import digest

    manifest = cast("dict[str, object]", thaw_json(authority.manifest))
    manifest["completeness"] = {"status": completeness}
    del manifest["hash"]
    manifest["hash"] = digest(manifest)
    return manifest


@pytest.mark.requirement("AS-AUTHORITY-002")
def test_the_proof_of_an_authority_does_not_outlive_it() -> None:
    """An object that is given the memory of a dead authority is not taken for it."""
    genuine = contract_authority(ONE)
    manifest = genuine.manifest
    address = id(genuine)
    del genuine
    gc.collect()
    kept: list[object] = []
    for _ in range(2_000):
        candidate = CapabilityAuthority(manifest=manifest)
        with pytest.raises(AuthorityError):
            assert_capability_authority(candidate)
        if id(candidate) == address:
            break
        kept.append(candidate)


@pytest.mark.requirement("AS-AUTHORITY-002")
def test_replacing_the_manifest_of_an_authority_admits_nothing() -> None:
    """What was verified is kept apart from the public object."""
    authority = contract_authority(ONE)
    object.__setattr__(authority, "manifest", contract_authority(ONE, TWO).manifest)
    registry = create_agent_surface_registry(authority=authority, environment="test")
    with pytest.raises(AgentSurfaceDefinitionError, match=r"t\.two"):
        registry.register(_bound(TWO))
    registry.close()


@pytest.mark.requirement("AS-AUTHORITY-002")
def test_an_authority_is_frozen_to_its_last_leaf() -> None:
    """A manifest that was handed in can be changed afterwards without effect, and the kept one cannot be changed."""
    from agent_surface._base._json import thaw_json

    manifest = cast("dict[str, object]", thaw_json(contract_authority(ONE).manifest))
    authority = create_capability_authority(manifest)
    cast("list[object]", manifest["declarations"]).clear()
    assert len(cast("tuple[object, ...]", authority.manifest["declarations"])) == 1
    assert type(authority.manifest) is MappingProxyType
    with pytest.raises(dataclasses.FrozenInstanceError):
        authority.manifest = {}


def _bound(contract: AgentComponentContract) -> BoundComponent:
    return contract.bind(observations={"read": zero}, actions={"act": nothing, "go": nothing})


class _Subclass(BoundComponent):
    __slots__ = ()


class _EqualBound(BoundComponent):
    __slots__ = ()

    @override
    def __eq__(self, other: object) -> bool:
        return True

    @override
    def __hash__(self) -> int:
        return 1


def _fields(bound: BoundComponent) -> dict[str, object]:
    return {field.name: getattr(bound, field.name) for field in dataclasses.fields(bound)}


def _bare(bound: BoundComponent) -> object:
    made = object.__new__(BoundComponent)
    for name, value in _fields(bound).items():
        object.__setattr__(made, name, value)
    return made


FORGED_BINDINGS: dict[str, Callable[[BoundComponent], object]] = {
    "nothing": lambda _: None,
    "the contract": lambda bound: bound.contract,
    "made by the class": lambda bound: BoundComponent(**_fields(bound)),
    "made by object.__new__": _bare,
    "a copy": copy.copy,
    "a deep copy": _deep_copy,
    "dataclasses.replace": dataclasses.replace,
    "dataclasses.replace with other handlers": lambda bound: dataclasses.replace(bound, instance_id="other"),
    "a subclass": lambda bound: _Subclass(**_fields(bound)),
    "equal to everything": lambda bound: _EqualBound(**_fields(bound)),
}


@pytest.mark.requirement("AS-AUTHORITY-002", "AS-CONTRACT-001")
@pytest.mark.parametrize("forge", FORGED_BINDINGS.values(), ids=FORGED_BINDINGS)
def test_a_binding_that_was_not_made_by_bind_is_not_registered(forge: Callable[[BoundComponent], object]) -> None:
    """The registry takes the very object that a genuine contract made."""
    surface = Surface(ONE)
    bound = _bound(ONE)
    with pytest.raises(AgentSurfaceDefinitionError):
        surface.registry.register(cast("BoundComponent", forge(bound)))
    assert surface.capability_ids() == []
    assert surface.registry.register(bound).status == "active"
    surface.registry.close()


FORGED_CONTRACTS: dict[str, Callable[[AgentComponentContract], AgentComponentContract]] = {
    "a copy": copy.copy,
    "dataclasses.replace": dataclasses.replace,
    "dataclasses.replace with another type": lambda contract: dataclasses.replace(contract, type="t.other"),
}


@pytest.mark.requirement("AS-AUTHORITY-002", "AS-CONTRACT-001")
@pytest.mark.parametrize("forge", FORGED_CONTRACTS.values(), ids=FORGED_CONTRACTS)
def test_a_contract_that_was_not_declared_binds_nothing(
    forge: Callable[[AgentComponentContract], AgentComponentContract],
) -> None:
    """A copy of a contract is a value like any other."""
    with pytest.raises(AgentSurfaceDefinitionError, match="define_agent_component_contract"):
        _bound(forge(ONE))
    with pytest.raises(AuthorityError):
        contract_authority(forge(ONE))


@pytest.mark.requirement("AS-AUTHORITY-002")
async def test_changing_a_declared_contract_afterwards_changes_nothing() -> None:
    """What was declared is kept apart from the object the declaring module holds."""
    contract = component("t.one", confirmation="required")
    surface = Surface(contract)
    object.__setattr__(contract.actions["act"], "confirmation", Confirmation.NEVER)
    object.__setattr__(contract, "actions", {"act": contract.actions["act"]})
    object.__setattr__(contract, "type", "t.two")
    surface.mount(contract)
    assert surface.capability_ids() == ["view:t.one.read", ACT, "view:t.one.go"]
    assert refusal(await surface.invoke())[0] == "CONFIRMATION_REQUIRED"
    surface.registry.close()


@pytest.mark.requirement("AS-AUTHORITY-002")
async def test_changing_what_a_binding_shows_of_its_contract_changes_nothing() -> None:
    """``bound.contract`` and ``bound.seal`` are for looking at."""
    contract = component("t.one", confirmation="required")
    surface = Surface(contract)
    bound = _bound(contract)
    object.__setattr__(bound.contract.actions["act"], "confirmation", Confirmation.NEVER)
    object.__setattr__(bound.contract, "description", "Harmless")
    object.__setattr__(bound.seal, "contract", bound.contract)
    surface.registry.register(bound)
    second = _bound(contract)
    assert second.contract.description == "The component t.one"
    assert refusal(await surface.invoke())[0] == "CONFIRMATION_REQUIRED"
    (descriptor,) = surface.registry.snapshot().components
    assert descriptor.description == "The component t.one"
    surface.registry.close()


@pytest.mark.requirement("AS-AUTHORITY-002", "AS-CONTRACT-003")
def test_a_binding_cannot_borrow_the_record_of_a_listed_contract() -> None:
    """Hashes and ids that a binding shows can be overwritten; those that are compared cannot be reached."""
    first, other = component("t.one"), component("t.two")
    surface = Surface(first)
    listed, unlisted = _bound(first), _bound(other)
    object.__setattr__(unlisted.seal.record, "declaration_id", listed.seal.record.declaration_id)
    object.__setattr__(unlisted.seal.record, "declaration_hash", listed.seal.record.declaration_hash)
    object.__setattr__(unlisted.seal, "record", listed.seal.record)
    object.__setattr__(unlisted, "seal", listed.seal)
    for candidate in (unlisted, _bound(other)):
        with pytest.raises(AgentSurfaceDefinitionError, match=r"t\.two"):
            surface.registry.register(candidate)
    surface.registry.close()


@pytest.mark.requirement("AS-AUTHORITY-002", "AS-CONTRACT-003")
def test_a_reference_cannot_borrow_the_record_of_a_listed_procedure() -> None:
    """The same for references to procedures."""
    surface = Surface(ONE, RENAME)
    listed, unlisted = bind_procedure(RENAME), bind_procedure(DISABLE)
    object.__setattr__(unlisted.seal.record, "declaration_id", listed.seal.record.declaration_id)
    object.__setattr__(unlisted.seal.record, "declaration_hash", listed.seal.record.declaration_hash)
    object.__setattr__(unlisted, "seal", listed.seal)
    for candidate in (unlisted, bind_procedure(DISABLE)):
        bound = ONE.bind(observations={"read": zero}, actions={"act": nothing, "go": nothing}, procedures=[candidate])
        with pytest.raises(AgentSurfaceDefinitionError, match=r"devices\.disable"):
            surface.registry.register(bound)
    surface.registry.close()


@pytest.mark.requirement("AS-AUTHORITY-002")
@pytest.mark.parametrize("forge", [copy.copy, dataclasses.replace], ids=["a copy", "dataclasses.replace"])
def test_a_copied_reference_to_a_procedure_is_refused(forge: Callable[[ProcedureBinding], ProcedureBinding]) -> None:
    """References are genuine or nothing, like everything else."""
    with pytest.raises(AgentSurfaceDefinitionError, match="bind_procedure"):
        ONE.bind(
            observations={"read": zero},
            actions={"act": nothing, "go": nothing},
            procedures=[forge(bind_procedure(DISABLE))],
        )
    with pytest.raises(AgentSurfaceDefinitionError, match="define_agent_procedure_contract"):
        bind_procedure(copy.copy(DISABLE))


@pytest.mark.requirement("AS-AUTHORITY-002")
def test_a_copied_capability_declaration_is_refused() -> None:
    """A capability cannot be lifted out of its declaration and weakened on the way."""
    weakened = dataclasses.replace(ASKING.actions["act"], confirmation=Confirmation.NEVER)
    with pytest.raises(AgentSurfaceDefinitionError, match="action_contract"):
        define_agent_component_contract(type="t.stolen", description="Stolen", actions={"act": weakened})


@pytest.mark.requirement("AS-AUTHORITY-002")
async def test_the_schema_that_was_declared_is_the_one_that_is_held() -> None:
    """Overwriting parts of a schema object after the declaration opens nothing."""
    contract = define_agent_component_contract(
        type="t.narrow",
        description="Narrow",
        actions={
            "act": action_contract(
                description="Do it",
                input=from_json_schema({"type": "object", "properties": {}, "additionalProperties": False}),
                effect="local-state",
            )
        },
    )
    surface = Surface(contract)
    wide = from_json_schema({"type": "object", "additionalProperties": True})
    declared = contract.actions["act"].input
    for slot in ("_checker", "_json_schema", "_read"):
        object.__setattr__(declared, slot, object.__getattribute__(wide, slot))
    surface.registry.register(contract.bind(actions={"act": nothing}))
    assert refusal(await surface.invoke("view:t.narrow.act", {"anything": 1}))[0] == "INVALID_INPUT"
    surface.registry.close()


@pytest.mark.requirement("AS-CONTRACT-001", "AS-AUTHORITY-002")
def test_a_component_of_another_authority_is_refused() -> None:
    """A genuine binding is still held against the manifest of the registry it comes to."""
    theirs = Surface(TWO)
    bound = _bound(TWO)
    assert theirs.registry.register(bound).status == "active"
    ours = Surface(ONE)
    with pytest.raises(AgentSurfaceDefinitionError, match=r"t\.two"):
        ours.registry.register(bound)
    assert ours.capability_ids() == []
    theirs.registry.close()
    ours.registry.close()
