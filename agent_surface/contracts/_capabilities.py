"""Static declarations of what a component can be asked for and can do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeAlias, TypeVar, overload

from agent_surface._base._json import FrozenJson, JsonValue, thaw_json
from agent_surface._base._provenance import ProofStore
from agent_surface.contracts._checks import (
    DEFAULT_LIMITS,
    check_attachments,
    check_description,
    check_meta,
    check_tags,
    check_timeout,
    definition_error,
    require_member,
    require_object_input,
    require_schema,
)
from agent_surface.contracts._concurrency import INSTANCE, Concurrency
from agent_surface.errors import DefinitionErrorCode
from agent_surface.invocation import AuditLevel, CapabilityKind, Confirmation, Effect, Plane
from agent_surface.policies import PolicyAttachment
from agent_surface.schemas import EMPTY_OBJECT_SCHEMA, AgentSchema

InT = TypeVar("InT")
OutT = TypeVar("OutT")
CapabilityT = TypeVar("CapabilityT", "ObservationContract[object]", "ActionContract[object, object]")

ConfirmationName: TypeAlias = Confirmation | Literal["never", "optional", "required"]
AuditName: TypeAlias = AuditLevel | Literal["none", "metadata", "full"]
ActionEffect: TypeAlias = Effect | Literal["local-state", "navigation"]

_VIEW_EFFECTS = (Effect.LOCAL_STATE, Effect.NAVIGATION)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class ObservationContract(Generic[OutT]):
    """A value a component can be asked for. Made by :func:`observation_contract`; compares by identity."""

    description: str
    output: AgentSchema[OutT]
    timeout_ms: int | None
    audit: AuditLevel
    policies: tuple[PolicyAttachment, ...]
    tags: tuple[str, ...]
    meta: Mapping[str, FrozenJson]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class ActionContract(Generic[InT, OutT]):
    """Something a component can do in the user interface. Made by :func:`action_contract`; compares by identity."""

    description: str
    input: AgentSchema[InT]
    output: AgentSchema[OutT] | None
    effect: Effect
    idempotent: bool
    reversible: bool
    confirmation: Confirmation
    audit: AuditLevel
    timeout_ms: int | None
    concurrency: Concurrency
    policies: tuple[PolicyAttachment, ...]
    tags: tuple[str, ...]
    meta: Mapping[str, FrozenJson]


CAPABILITY_PROOFS: ProofStore[bool] = ProofStore()


def observation_contract(
    *,
    description: str,
    output: AgentSchema[OutT],
    timeout_ms: int | None = None,
    audit: AuditName = AuditLevel.NONE,
    policies: Iterable[PolicyAttachment] = (),
    tags: Iterable[str] = (),
    meta: Mapping[str, JsonValue] | None = None,
) -> ObservationContract[OutT]:
    """Declare a value a component can be asked for.

    Args:
        description: For the agent, at most 300 characters.
        output: Schema of the value.
        timeout_ms: Milliseconds before a slow read is given up; the registry's limit when absent.
        audit: How much of a read the audit keeps.
        policies: Policies that must guard it.
        tags: For people who review the contract.
        meta: Agent-visible JSON, at most 2 kB.

    Raises:
        AgentSurfaceDefinitionError: A part is wrong; names it.
    """
    subject = "an observation"
    require_schema(output, "output", subject)
    contract = ObservationContract(
        description=check_description(description, DEFAULT_LIMITS.max_capability_description, subject),
        output=output,
        timeout_ms=check_timeout(timeout_ms, subject),
        audit=require_member(audit, AuditLevel, "audit", subject),
        policies=check_attachments(policies, subject),
        tags=check_tags(tags, subject),
        meta=check_meta(meta, DEFAULT_LIMITS.max_meta_bytes, subject),
    )
    CAPABILITY_PROOFS.attest(contract, True)
    return contract


@overload
def action_contract(
    *,
    description: str,
    input: AgentSchema[InT],
    output: AgentSchema[OutT],
    effect: ActionEffect,
    idempotent: bool = False,
    reversible: bool = True,
    confirmation: ConfirmationName = Confirmation.NEVER,
    audit: AuditName = AuditLevel.METADATA,
    timeout_ms: int | None = None,
    concurrency: Concurrency = INSTANCE,
    policies: Iterable[PolicyAttachment] = (),
    tags: Iterable[str] = (),
    meta: Mapping[str, JsonValue] | None = None,
) -> ActionContract[InT, OutT]: ...
@overload
def action_contract(
    *,
    description: str,
    input: AgentSchema[InT],
    output: None = None,
    effect: ActionEffect,
    idempotent: bool = False,
    reversible: bool = True,
    confirmation: ConfirmationName = Confirmation.NEVER,
    audit: AuditName = AuditLevel.METADATA,
    timeout_ms: int | None = None,
    concurrency: Concurrency = INSTANCE,
    policies: Iterable[PolicyAttachment] = (),
    tags: Iterable[str] = (),
    meta: Mapping[str, JsonValue] | None = None,
) -> ActionContract[InT, None]: ...
@overload
def action_contract(
    *,
    description: str,
    input: None = None,
    output: AgentSchema[OutT],
    effect: ActionEffect,
    idempotent: bool = False,
    reversible: bool = True,
    confirmation: ConfirmationName = Confirmation.NEVER,
    audit: AuditName = AuditLevel.METADATA,
    timeout_ms: int | None = None,
    concurrency: Concurrency = INSTANCE,
    policies: Iterable[PolicyAttachment] = (),
    tags: Iterable[str] = (),
    meta: Mapping[str, JsonValue] | None = None,
) -> ActionContract[dict[str, JsonValue], OutT]: ...
@overload
def action_contract(
    *,
    description: str,
    input: None = None,
    output: None = None,
    effect: ActionEffect,
    idempotent: bool = False,
    reversible: bool = True,
    confirmation: ConfirmationName = Confirmation.NEVER,
    audit: AuditName = AuditLevel.METADATA,
    timeout_ms: int | None = None,
    concurrency: Concurrency = INSTANCE,
    policies: Iterable[PolicyAttachment] = (),
    tags: Iterable[str] = (),
    meta: Mapping[str, JsonValue] | None = None,
) -> ActionContract[dict[str, JsonValue], None]: ...
def action_contract(
    *,
    description: str,
    input: AgentSchema[InT] | None = None,
    output: AgentSchema[OutT] | None = None,
    effect: ActionEffect,
    idempotent: bool = False,
    reversible: bool = True,
    confirmation: ConfirmationName = Confirmation.NEVER,
    audit: AuditName = AuditLevel.METADATA,
    timeout_ms: int | None = None,
    concurrency: Concurrency = INSTANCE,
    policies: Iterable[PolicyAttachment] = (),
    tags: Iterable[str] = (),
    meta: Mapping[str, JsonValue] | None = None,
) -> object:
    """Declare something a component can do in the user interface.

    Args:
        description: For the agent, at most 300 characters.
        input: Schema with an object at the root; no input when absent.
        output: Schema of the answer; without one the handler returns ``None``.
        effect: ``local-state`` or ``navigation``. What changes the back end is a procedure.
        idempotent: Doing it twice is like doing it once.
        reversible: The person can take it back.
        confirmation: Whether a person is asked: ``never``, ``optional`` (a policy may ask) or ``required``.
        audit: How much of a call the audit keeps.
        timeout_ms: Milliseconds before a slow call is given up; the registry's limit when absent.
        concurrency: Which calls exclude each other; by default all actions of one component do.
        policies: Policies that must guard it.
        tags: For people who review the contract.
        meta: Agent-visible JSON, at most 2 kB.

    Raises:
        AgentSurfaceDefinitionError: A part is wrong; ``PLANE_VIOLATION`` for an effect of the domain plane.
    """
    subject = "an action"
    checked_effect = require_member(effect, Effect, "effect", subject)
    if checked_effect not in _VIEW_EFFECTS:
        raise definition_error(
            f"an action of the view plane cannot have the effect {checked_effect}; declare a procedure for it",
            subject=subject,
            path="effect",
            code=DefinitionErrorCode.PLANE_VIOLATION,
        )
    if input is not None:
        require_schema(input, "input", subject)
    if output is not None:
        require_schema(output, "output", subject)
    schema: AgentSchema[object] = input if input is not None else EMPTY_OBJECT_SCHEMA
    require_object_input(schema, subject)
    contract: ActionContract[object, object] = ActionContract(
        description=check_description(description, DEFAULT_LIMITS.max_capability_description, subject),
        input=schema,
        output=output,
        effect=checked_effect,
        idempotent=bool(idempotent),
        reversible=bool(reversible),
        confirmation=require_member(confirmation, Confirmation, "confirmation", subject),
        audit=require_member(audit, AuditLevel, "audit", subject),
        timeout_ms=check_timeout(timeout_ms, subject),
        concurrency=concurrency,
        policies=check_attachments(policies, subject),
        tags=check_tags(tags, subject),
        meta=check_meta(meta, DEFAULT_LIMITS.max_meta_bytes, subject),
    )
    CAPABILITY_PROOFS.attest(contract, True)
    return contract


def copied(contract: CapabilityT) -> CapabilityT:
    """The same declaration with schemas of its own."""
    if isinstance(contract, ObservationContract):
        return replace(contract, output=copy(contract.output))
    return replace(contract, input=copy(contract.input), output=copy(contract.output))


def attachments_json(policies: Iterable[PolicyAttachment]) -> list[JsonValue]:
    """Policy attachments as fresh JSON."""
    return [
        {"name": item.name, "phases": list(item.phases), "parameters": thaw_json(item.parameters)} for item in policies
    ]


def observation_entry(contract: ObservationContract[OutT], capability_id: str) -> dict[str, JsonValue]:
    """The manifest entry of an observation, without its hash."""
    return {
        "capabilityId": capability_id,
        "kind": CapabilityKind.OBSERVATION.value,
        "plane": Plane.VIEW.value,
        "description": contract.description,
        "outputSchema": thaw_json(contract.output.json_schema),
        "effect": Effect.NONE.value,
        "idempotent": True,
        "confirmation": Confirmation.NEVER.value,
        "audit": contract.audit.value,
        "timeoutMs": contract.timeout_ms,
        "policies": attachments_json(contract.policies),
        "tags": list(contract.tags),
        "meta": thaw_json(contract.meta),
    }


def action_entry(contract: ActionContract[InT, OutT], capability_id: str) -> dict[str, JsonValue]:
    """The manifest entry of an action, without its hash."""
    return {
        "capabilityId": capability_id,
        "kind": CapabilityKind.ACTION.value,
        "plane": Plane.VIEW.value,
        "description": contract.description,
        "inputSchema": thaw_json(contract.input.json_schema),
        "outputSchema": thaw_json(contract.output.json_schema) if contract.output is not None else None,
        "effect": contract.effect.value,
        "idempotent": contract.idempotent,
        "reversible": contract.reversible,
        "confirmation": contract.confirmation.value,
        "audit": contract.audit.value,
        "timeoutMs": contract.timeout_ms,
        "concurrency": contract.concurrency.to_json(),
        "policies": attachments_json(contract.policies),
        "tags": list(contract.tags),
        "meta": thaw_json(contract.meta),
    }
