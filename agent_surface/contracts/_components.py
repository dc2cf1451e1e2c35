"""Components: the static contract, and the binding that gives it behaviour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from agent_surface._base._json import FrozenJson, JsonValue, thaw_json
from agent_surface._base._provenance import ProofStore
from agent_surface._manifest import DeclarationRecord, make_record
from agent_surface.contracts._capabilities import (
    CAPABILITY_PROOFS,
    ActionContract,
    ObservationContract,
    action_entry,
    attachments_json,
    copied,
    observation_entry,
)
from agent_surface.contracts._checks import (
    DEFAULT_LIMITS,
    check_attachments,
    check_description,
    check_meta,
    check_origin,
    check_tags,
    definition_error,
)
from agent_surface.contracts._handlers import ActionBinding, Function, ObservationBinding
from agent_surface.contracts._module import declaring_module
from agent_surface.contracts._procedures import PROCEDURE_BINDING_PROOFS, ProcedureBinding
from agent_surface.contracts._recording import announce_declaration
from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode
from agent_surface.ids import (
    format_view_capability_id,
    require_capability_name,
    require_component_type,
    require_instance_id,
)
from agent_surface.invocation import Availability, ComponentRef
from agent_surface.policies import AgentPolicy, PolicyAttachment

AnyObservation: TypeAlias = ObservationContract[object]
AnyAction: TypeAlias = ActionContract[object, object]
BindingT = TypeVar("BindingT")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class AgentComponentContract:
    """What a type of component can be asked for and can do.

    Made by :func:`define_agent_component_contract`; compares by identity.
    """

    type: str
    description: str
    observations: Mapping[str, AnyObservation]
    actions: Mapping[str, AnyAction]
    meta: Mapping[str, FrozenJson]
    origin: str
    priority: int
    parent_type: str | None
    policies: tuple[PolicyAttachment, ...]
    tags: tuple[str, ...]
    partial: bool = False

    def bind(
        self,
        *,
        instance_id: str = "default",
        observations: Mapping[str, ObservationBinding | Function] | None = None,
        actions: Mapping[str, ActionBinding | Function] | None = None,
        procedures: Iterable[ProcedureBinding] = (),
        parent: ComponentRef | None = None,
        internal: Mapping[str, object] | None = None,
        policies: Iterable[AgentPolicy] = (),
        enabled: bool = True,
        availability: Callable[[str], Availability] | None = None,
    ) -> BoundComponent:
        """Give every declared capability its behaviour; of a ``partial`` contract, those that are there now.

        Args:
            instance_id: Tells simultaneous components of one type apart; from data, never from order.
            observations: For each declared observation its binding, or just the function that reads it.
            actions: For each declared action its binding, or just the function that performs it.
            procedures: References to back-end procedures.
            parent: The component this one sits in.
            internal: For policies and audit; never shown to an agent.
            policies: Guards of every capability of this component.
            enabled: Whether anything can be used now.
            availability: Called with a capability id at each snapshot and at each check of a call; its answer stands
                in place of pushed availability, so a user interface is asked and not remembered.

        Raises:
            AgentSurfaceDefinitionError: A handler is missing or belongs to nothing declared (named), an id is
                malformed, or this contract was not made by :func:`define_agent_component_contract`.
        """
        seal = COMPONENT_SEALS.find(self)
        if seal is None:
            raise definition_error("only a contract made by define_agent_component_contract can be bound")
        contract = seal.contract
        references = tuple(procedures)
        sealed = _sealed_procedures(references, contract.type)
        if parent is not None:
            require_component_type(parent.type)
            require_instance_id(parent.instance_id)
        if parent is not None and contract.parent_type not in (None, parent.type):
            raise definition_error(
                f"{contract.type} is declared inside {contract.parent_type}, not inside {parent.type}",
                subject=contract.type,
                path="parent",
            )
        bound = BoundComponent(
            seal=seal,
            instance_id=require_instance_id(instance_id),
            observations=_match(contract, contract.observations, observations, _observation_binding),
            actions=_match(contract, contract.actions, actions, _action_binding),
            procedures=sealed,
            parent=parent,
            internal=MappingProxyType(dict(internal or {})),
            policies=tuple(policies),
            enabled=bool(enabled),
            availability=availability,
        )
        # The public object shows copies: nothing that is compared later can be reached and overwritten through it.
        shown = replace(bound, seal=seal.copy(), procedures=references)
        BOUND_PROOFS.attest(shown, bound)
        return shown


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class ComponentSeal:
    """What was declared, out of reach of whoever holds the contract object."""

    record: DeclarationRecord
    contract: AgentComponentContract

    def copy(self) -> ComponentSeal:
        """A seal for showing; changing it changes nothing that was declared."""
        return ComponentSeal(record=replace(self.record), contract=_copied(self.contract))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class BoundComponent:
    """A declaration with behaviour: what a registry takes. Made by :meth:`AgentComponentContract.bind`."""

    seal: ComponentSeal
    instance_id: str
    observations: Mapping[str, ObservationBinding]
    actions: Mapping[str, ActionBinding]
    procedures: tuple[ProcedureBinding, ...]
    parent: ComponentRef | None
    internal: Mapping[str, object]
    policies: tuple[AgentPolicy, ...]
    enabled: bool
    availability: Callable[[str], Availability] | None

    @property
    def contract(self) -> AgentComponentContract:
        """The contract as it was declared."""
        return self.seal.contract


COMPONENT_SEALS: ProofStore[ComponentSeal] = ProofStore()
BOUND_PROOFS: ProofStore[BoundComponent] = ProofStore()


def define_agent_component_contract(
    *,
    type: str,
    description: str,
    observations: Mapping[str, ObservationContract[object]] | Mapping[str, object] | None = None,
    actions: Mapping[str, ActionContract[object, object]] | Mapping[str, object] | None = None,
    meta: Mapping[str, JsonValue] | None = None,
    origin: str = "first-party",
    priority: int = 0,
    parent_type: str | None = None,
    policies: Iterable[PolicyAttachment] = (),
    tags: Iterable[str] = (),
    partial: bool = False,
) -> AgentComponentContract:
    """Declare a type of component, at module level.

    Args:
        type: Dotted lower-case name such as ``devices.table``.
        description: For the agent, at most 500 characters.
        observations: Contracts by capability name (camelCase).
        actions: Contracts by capability name (camelCase); no name may appear in both.
        meta: Agent-visible JSON, at most 2 kB.
        origin: Who contributes it; the registration guard can filter by it.
        priority: Higher comes first in a catalogue and survives a budget longer.
        parent_type: The type of component this one sits in.
        policies: Policies that must guard every capability.
        tags: For people who review the contract.
        partial: Experimental. A binding may leave capabilities out, and these are absent from the surface.

    Raises:
        AgentSurfaceDefinitionError: A part is wrong; names it.
    """
    module = declaring_module(2)
    checked_type = require_component_type(type)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise definition_error(f"priority of {checked_type} must be an integer", subject=checked_type, path="priority")
    contract = AgentComponentContract(
        type=checked_type,
        description=check_description(description, DEFAULT_LIMITS.max_component_description, checked_type),
        observations=MappingProxyType(_members(checked_type, observations, ObservationContract)),
        actions=MappingProxyType(_members(checked_type, actions, ActionContract)),
        meta=check_meta(meta, DEFAULT_LIMITS.max_meta_bytes, checked_type),
        origin=check_origin(origin, checked_type),
        priority=priority,
        parent_type=require_component_type(parent_type) if parent_type is not None else None,
        policies=check_attachments(policies, checked_type),
        tags=check_tags(tags, checked_type),
        partial=bool(partial),
    )
    twice = sorted(contract.observations.keys() & contract.actions.keys())
    if twice:
        raise definition_error(
            f"{checked_type} declares {twice[0]!r} both as an observation and as an action",
            subject=format_view_capability_id(checked_type, twice[0]),
            code=DefinitionErrorCode.DUPLICATE_CAPABILITY,
        )
    sealed = _copied(contract)
    record = make_record(_component_declaration(sealed, module))
    COMPONENT_SEALS.attest(contract, ComponentSeal(record=record, contract=sealed))
    announce_declaration(record)
    return contract


def _copied(contract: AgentComponentContract) -> AgentComponentContract:
    """The contract with capabilities and schemas of its own, out of reach of whoever holds the original."""
    return replace(
        contract,
        observations=MappingProxyType({name: copied(item) for name, item in contract.observations.items()}),
        actions=MappingProxyType({name: copied(item) for name, item in contract.actions.items()}),
    )


def _members(component_type: str, members: Mapping[str, object] | None, kind: type[BindingT]) -> dict[str, BindingT]:
    found: dict[str, BindingT] = {}
    for name, member in (members or {}).items():
        subject = format_view_capability_id(component_type, require_capability_name(name))
        if not isinstance(member, kind) or CAPABILITY_PROOFS.find(member) is None:
            raise definition_error(
                f"{subject} must be made by observation_contract or action_contract, in the mapping of its kind",
                subject=subject,
            )
        found[name] = member
    return found


def _component_declaration(contract: AgentComponentContract, module: str) -> dict[str, JsonValue]:
    capabilities: list[JsonValue] = [
        *(
            observation_entry(contract.observations[name], format_view_capability_id(contract.type, name))
            for name in sorted(contract.observations)
        ),
        *(
            action_entry(contract.actions[name], format_view_capability_id(contract.type, name))
            for name in sorted(contract.actions)
        ),
    ]
    declaration: dict[str, JsonValue] = {
        "declarationId": f"{module}:{contract.type}",
        "kind": "component",
        "type": contract.type,
        "description": contract.description,
        "meta": thaw_json(contract.meta),
        "origin": contract.origin,
        "priority": contract.priority,
        "parentType": contract.parent_type,
        "policies": attachments_json(contract.policies),
        "tags": list(contract.tags),
        "capabilities": capabilities,
    }
    if contract.partial:  # said only where it holds, so that contracts written before keep their hashes
        declaration["partial"] = True
    return declaration


def _observation_binding(value: ObservationBinding | Function) -> ObservationBinding:
    return value if isinstance(value, ObservationBinding) else ObservationBinding(read=value)


def _action_binding(value: ActionBinding | Function) -> ActionBinding:
    return value if isinstance(value, ActionBinding) else ActionBinding(execute=value)


def _match(
    contract: AgentComponentContract,
    declared: Mapping[str, object],
    given: Mapping[str, BindingT | Function] | None,
    convert: Callable[[BindingT | Function], BindingT],
) -> Mapping[str, BindingT]:
    handlers, component_type = given or {}, contract.type
    for name in declared:
        if name not in handlers and not contract.partial:
            raise definition_error(
                f"{component_type} declares {name!r} but the binding has no handler for it",
                subject=format_view_capability_id(component_type, name),
                path=name,
            )
    for name in handlers:
        if name not in declared:
            raise definition_error(
                f"the binding of {component_type} has a handler for {name!r}, which its contract does not declare",
                subject=component_type,
                path=name,
            )
    bindings: dict[str, BindingT] = {}
    for name in declared:
        if name not in handlers:
            continue
        try:
            bindings[name] = convert(handlers[name])
        except AgentSurfaceDefinitionError as error:
            raise definition_error(
                f"the binding of {component_type} for {name!r} is wrong: {error}",
                subject=format_view_capability_id(component_type, name),
                path=name,
            ) from error
    return MappingProxyType(bindings)


def _sealed_procedures(references: tuple[ProcedureBinding, ...], component_type: str) -> tuple[ProcedureBinding, ...]:
    found: dict[str, ProcedureBinding] = {}
    for reference in references:
        sealed = PROCEDURE_BINDING_PROOFS.find(reference)
        if sealed is None:
            raise definition_error(
                f"procedures of {component_type} must be made by bind_procedure", subject=component_type
            )
        procedure_id = sealed.seal.contract.id
        if procedure_id in found:
            raise definition_error(
                f"{component_type} refers to {procedure_id} twice",
                subject=procedure_id,
                code=DefinitionErrorCode.DUPLICATE_CAPABILITY,
            )
        found[procedure_id] = sealed
    return tuple(found.values())
