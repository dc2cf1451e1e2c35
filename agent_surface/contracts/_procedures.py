"""Static declarations of back-end procedures, and how a component refers to one with live values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias, TypeVar, cast

from agent_surface._base._json import JsonSchema, JsonValue
from agent_surface._base._provenance import ProofStore
from agent_surface._manifest import make_record
from agent_surface.contracts._capabilities import AuditName, ConfirmationName
from agent_surface.contracts._checks import definition_error, require_member
from agent_surface.contracts._concurrency import Concurrency
from agent_surface.contracts._domain import (
    DomainContract,
    DomainEffect,
    DomainSeal,
    declare_domain,
    domain_declaration,
    with_own_schemas,
)
from agent_surface.contracts._handlers import Predicate, Text, check_predicate, is_coroutine_function
from agent_surface.contracts._module import declaring_module
from agent_surface.contracts._recording import announce_declaration
from agent_surface.ids import procedure_path, require_procedure_id
from agent_surface.invocation import CapabilityKind, Confirmation, Plane
from agent_surface.policies import AgentPolicy, PolicyAttachment
from agent_surface.schemas import (
    AgentSchema,
    from_json_schema,
    reduce_object_schema,
    root_properties,
)

InT = TypeVar("InT")
OutT = TypeVar("OutT")

CONFIRMATION_ORDER = (Confirmation.NEVER, Confirmation.OPTIONAL, Confirmation.REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AgentProcedureContract(DomainContract[InT, OutT]):
    """A back-end procedure. Made by :func:`define_agent_procedure_contract`; compares by identity."""

    @property
    def path(self) -> str:
        """The procedure path an executor knows: the id without its plane."""
        return procedure_path(self.id)


ProcedureSeal: TypeAlias = DomainSeal[AgentProcedureContract[object, object]]
PROCEDURE_SEALS: ProofStore[ProcedureSeal] = ProofStore()


def define_agent_procedure_contract(
    *,
    id: str,
    description: str,
    input: AgentSchema[InT] | None = None,
    output: AgentSchema[OutT] | None = None,
    effect: DomainEffect,
    idempotent: bool | None = None,
    reversible: bool | None = None,
    confirmation: ConfirmationName | None = None,
    audit: AuditName | None = None,
    timeout_ms: int | None = None,
    policies: Iterable[PolicyAttachment] = (),
    tags: Iterable[str] = (),
    meta: Mapping[str, JsonValue] | None = None,
    origin: str = "first-party",
) -> AgentProcedureContract[InT, OutT]:
    """Declare a back-end procedure, at module level.

    Args:
        id: ``domain:`` and the procedure path.
        description: For the agent, at most 300 characters.
        input: Schema with an object at the root; no input when absent.
        output: Schema of the answer.
        effect: ``server-query``, ``server-mutation``, ``external-side-effect`` or ``destructive``.
        idempotent: Doing it twice is like doing it once; by default only a query is.
        reversible: The person can take it back; by default not.
        confirmation: By default what the effect asks for; a destructive procedure never has ``never``.
        audit: By default ``full`` for external and destructive effects, else ``metadata``.
        timeout_ms: Milliseconds before a slow call is given up; the registry's limit when absent.
        policies: Policies that must guard it.
        tags: For people who review the contract.
        meta: Agent-visible JSON, at most 2 kB.
        origin: Who contributes it.

    Raises:
        AgentSurfaceDefinitionError: A part is wrong; ``PLANE_VIOLATION`` for an effect of the view plane.
    """
    contract = declare_domain(
        cast("type[AgentProcedureContract[object, object]]", AgentProcedureContract),
        noun="procedure",
        subject=require_procedure_id(id),
        description=description,
        input=cast("AgentSchema[object] | None", input),
        output=cast("AgentSchema[object] | None", output),
        effect=effect,
        idempotent=idempotent,
        reversible=reversible,
        confirmation=confirmation,
        audit=audit,
        timeout_ms=timeout_ms,
        policies=policies,
        tags=tags,
        meta=meta,
        origin=origin,
    )
    seal = DomainSeal(
        record=make_record(
            domain_declaration(
                contract, declaring_module(2), kind=CapabilityKind.PROCEDURE.value, plane=Plane.DOMAIN.value
            )
        ),
        contract=with_own_schemas(contract),
    )
    PROCEDURE_SEALS.attest(contract, seal)
    announce_declaration(seal.record)
    return cast("AgentProcedureContract[InT, OutT]", contract)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureRef:
    """Names a procedure of the back end by its path."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class ProcedureBinding:
    """A component's reference to a procedure. Made by :func:`bind_procedure`.

    Attributes:
        seal: The declaration.
        bind: Reads the value of each root field that the screen supplies; its keys are fixed.
        locked_keys: Those of them the agent may not supply.
        agent_schema: What the agent may supply: the declared schema without the locked fields.
        agent_parser: Validates the agent's part.
        confirmation: The level in force, never below the contract's.
    """

    seal: ProcedureSeal
    bind: Mapping[str, Callable[[], JsonValue]]
    locked_keys: tuple[str, ...]
    agent_schema: JsonSchema
    agent_parser: AgentSchema[JsonValue]
    confirmation: Confirmation
    when: Predicate | None
    unavailable_reason: Text | None
    describe: Callable[[], str] | None
    policies: tuple[AgentPolicy, ...]
    concurrency: Concurrency


PROCEDURE_BINDING_PROOFS: ProofStore[ProcedureBinding] = ProofStore()


def bind_procedure(
    contract: AgentProcedureContract[InT, OutT],
    ref: ProcedureRef | str | None = None,
    *,
    bind: Mapping[str, Callable[[], JsonValue]] | None = None,
    overridable_fields: Iterable[str] = (),
    when: Predicate | None = None,
    unavailable_reason: Text | None = None,
    describe: Callable[[], str] | None = None,
    confirmation: ConfirmationName | None = None,
    policies: Iterable[AgentPolicy] = (),
    concurrency: Concurrency | None = None,
) -> ProcedureBinding:
    """Refer to a procedure from a component, with values that the screen supplies.

    Args:
        contract: The declared procedure.
        ref: The back end's path; the contract's own when absent.
        bind: For each root field that the screen supplies, a plain function without arguments that reads its value.
            Called in phase 5 of each call, so the values are those of that moment.
        overridable_fields: Those of the bound fields the agent may supply itself; its value then wins.
        when: Whether it can be used now.
        unavailable_reason: What the agent is told when it cannot.
        describe: Live text beside the stable description.
        confirmation: Raises the contract's level; lowering it is an error.
        policies: Guards of this reference alone.
        concurrency: Which calls exclude each other; by default those of this reference.

    Raises:
        AgentSurfaceDefinitionError: The contract is not genuine, a field does not exist, or a level is lowered.
    """
    seal = PROCEDURE_SEALS.find(contract)
    if seal is None:
        raise definition_error("bind_procedure needs a contract made by define_agent_procedure_contract")
    declared = seal.contract
    path = ref.path if isinstance(ref, ProcedureRef) else ref
    if path is not None and path != declared.path:
        raise definition_error(
            f"procedure {declared.id} cannot refer to the path {path!r}", subject=declared.id, path="ref"
        )
    readers = MappingProxyType(dict(sorted((bind or {}).items())))
    overridable = set(overridable_fields)
    _check_fields(declared, readers, overridable)
    level = declared.confirmation
    if confirmation is not None:
        wanted = require_member(confirmation, Confirmation, "confirmation", declared.id)
        if CONFIRMATION_ORDER.index(wanted) < CONFIRMATION_ORDER.index(level):
            raise definition_error(
                f"a binding of {declared.id} cannot lower its confirmation from {level} to {wanted}",
                subject=declared.id,
                path="confirmation",
            )
        level = wanted
    locked = tuple(key for key in readers if key not in overridable)
    agent_schema = reduce_object_schema(declared.input.json_schema, drop=locked, optional=overridable)
    binding = ProcedureBinding(
        seal=seal,
        bind=readers,
        locked_keys=locked,
        agent_schema=agent_schema,
        agent_parser=from_json_schema(agent_schema),
        confirmation=level,
        when=check_predicate(when, declared.id),
        unavailable_reason=unavailable_reason,
        describe=describe,
        policies=tuple(policies),
        concurrency=concurrency if concurrency is not None else Concurrency(mode="capability"),
    )
    # The public object shows copies: nothing that is compared later can be reached and overwritten through it.
    shown = replace(binding, seal=seal.copy())
    PROCEDURE_BINDING_PROOFS.attest(shown, binding)
    return shown


def _check_fields(
    contract: AgentProcedureContract[object, object],
    bind: Mapping[str, Callable[[], JsonValue]],
    overridable: set[str],
) -> None:
    unknown = sorted(bind.keys() - root_properties(contract.input.json_schema))
    if unknown:
        raise definition_error(
            f"{contract.id} has no input field {unknown[0]!r} to bind", subject=contract.id, path="bind"
        )
    stray = sorted(overridable - bind.keys())
    if stray:
        raise definition_error(
            f"field {stray[0]!r} of {contract.id} is overridable but not bound",
            subject=contract.id,
            path="overridable_fields",
        )
    for key, reader in bind.items():
        if not callable(reader) or is_coroutine_function(reader):
            raise definition_error(
                f"the value of {key!r} for {contract.id} must be read by a plain function",
                subject=contract.id,
                path="bind",
            )
