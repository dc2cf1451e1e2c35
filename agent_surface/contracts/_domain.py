"""What is declared of work beyond the user interface, be it a procedure of the back end or a tool on its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Generic, Literal, TypeAlias, TypeVar, cast

from agent_surface._base._json import FrozenJson, JsonValue, thaw_json
from agent_surface._manifest import DeclarationRecord
from agent_surface.contracts._capabilities import AuditName, ConfirmationName, attachments_json
from agent_surface.contracts._checks import (
    DEFAULT_LIMITS,
    check_attachments,
    check_description,
    check_meta,
    check_origin,
    check_tags,
    check_timeout,
    definition_error,
    require_member,
    require_object_input,
    require_schema,
)
from agent_surface.errors import DefinitionErrorCode
from agent_surface.invocation import AuditLevel, Confirmation, Effect
from agent_surface.policies import PolicyAttachment
from agent_surface.schemas import EMPTY_OBJECT_SCHEMA, AgentSchema

InT = TypeVar("InT")
OutT = TypeVar("OutT")

DomainEffect: TypeAlias = Effect | Literal["server-query", "server-mutation", "external-side-effect", "destructive"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class DomainContract(Generic[InT, OutT]):
    """What every declaration of the domain plane says. Made by a ``define_`` function; compares by identity."""

    id: str
    description: str
    input: AgentSchema[InT]
    output: AgentSchema[OutT] | None
    effect: Effect
    idempotent: bool
    reversible: bool | None
    confirmation: Confirmation
    audit: AuditLevel
    timeout_ms: int | None
    policies: tuple[PolicyAttachment, ...]
    tags: tuple[str, ...]
    meta: Mapping[str, FrozenJson]
    origin: str


ContractT = TypeVar("ContractT", bound=DomainContract[object, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainSeal(Generic[ContractT]):
    """What was declared, out of reach of whoever holds the contract object."""

    record: DeclarationRecord
    contract: ContractT

    def copy(self) -> DomainSeal[ContractT]:
        """A seal for showing; changing it changes nothing that was declared."""
        return DomainSeal(record=replace(self.record), contract=with_own_schemas(self.contract))


def with_own_schemas(contract: ContractT) -> ContractT:
    """The contract with schemas of its own, out of reach of whoever holds the original."""
    return replace(contract, input=copy(contract.input), output=copy(contract.output))


# What an author who says nothing gets: idempotent, reversible, confirmation, audit.
_DEFAULTS: Mapping[Effect, tuple[bool, bool | None, Confirmation, AuditLevel]] = MappingProxyType(
    {
        Effect.SERVER_QUERY: (True, None, Confirmation.NEVER, AuditLevel.METADATA),
        Effect.SERVER_MUTATION: (False, False, Confirmation.OPTIONAL, AuditLevel.METADATA),
        Effect.EXTERNAL_SIDE_EFFECT: (False, False, Confirmation.REQUIRED, AuditLevel.FULL),
        Effect.DESTRUCTIVE: (False, False, Confirmation.REQUIRED, AuditLevel.FULL),
    }
)


def declare_domain(
    kind: type[ContractT],
    *,
    noun: str,
    subject: str,
    description: str,
    input: AgentSchema[object] | None,
    output: AgentSchema[object] | None,
    effect: DomainEffect,
    idempotent: bool | None,
    reversible: bool | None,
    confirmation: ConfirmationName | None,
    audit: AuditName | None,
    timeout_ms: int | None,
    policies: Iterable[PolicyAttachment],
    tags: Iterable[str],
    meta: Mapping[str, JsonValue] | None,
    origin: str,
) -> ContractT:
    """Check the parts of a declaration, fill in the defaults of its effect, and make it.

    ``kind`` is what is made, ``noun`` its word in messages, ``subject`` the id, which the caller has checked. The rest
    are the arguments of the ``define_`` functions.

    Raises:
        AgentSurfaceDefinitionError: A part is wrong; ``PLANE_VIOLATION`` for an effect of the view plane.
    """
    checked_effect = require_member(effect, Effect, "effect", subject)
    defaults = _DEFAULTS.get(checked_effect)
    if defaults is None:
        raise definition_error(
            f"{noun} {subject} cannot have the effect {checked_effect} of the view plane",
            subject=subject,
            path="effect",
            code=DefinitionErrorCode.PLANE_VIOLATION,
        )
    schema = input if input is not None else cast("AgentSchema[object]", EMPTY_OBJECT_SCHEMA)
    require_schema(schema, "input", subject)
    require_object_input(schema, subject)
    if output is not None:
        require_schema(output, "output", subject)
    level = defaults[2] if confirmation is None else require_member(confirmation, Confirmation, "confirmation", subject)
    if checked_effect is Effect.DESTRUCTIVE and level is Confirmation.NEVER:
        raise definition_error(
            f"destructive {noun} {subject} cannot have confirmation 'never'", subject=subject, path="confirmation"
        )
    return kind(
        id=subject,
        description=check_description(description, DEFAULT_LIMITS.max_capability_description, subject),
        input=schema,
        output=output,
        effect=checked_effect,
        idempotent=defaults[0] if idempotent is None else bool(idempotent),
        reversible=defaults[1] if reversible is None else bool(reversible),
        confirmation=level,
        audit=defaults[3] if audit is None else require_member(audit, AuditLevel, "audit", subject),
        timeout_ms=check_timeout(timeout_ms, subject),
        policies=check_attachments(policies, subject),
        tags=check_tags(tags, subject),
        meta=check_meta(meta, DEFAULT_LIMITS.max_meta_bytes, subject),
        origin=check_origin(origin, subject),
    )


def domain_declaration(
    contract: DomainContract[object, object], module: str, *, kind: str, plane: str
) -> dict[str, JsonValue]:
    """The manifest entry of a declaration with one capability, without hashes.

    Args:
        contract: What was declared.
        module: The module that declares it.
        kind: Of the declaration and of its capability.
        plane: The plane its id begins with.
    """
    return {
        "declarationId": f"{module}:{contract.id}",
        "kind": kind,
        "origin": contract.origin,
        "capabilities": [
            {
                "capabilityId": contract.id,
                "kind": kind,
                "plane": plane,
                "description": contract.description,
                "inputSchema": thaw_json(contract.input.json_schema),
                "outputSchema": thaw_json(contract.output.json_schema) if contract.output is not None else None,
                "effect": contract.effect.value,
                "idempotent": contract.idempotent,
                "reversible": contract.reversible,
                "confirmation": contract.confirmation.value,
                "audit": contract.audit.value,
                "timeoutMs": contract.timeout_ms,
                "policies": attachments_json(contract.policies),
                "tags": list(contract.tags),
                "meta": thaw_json(contract.meta),
            }
        ],
    }
