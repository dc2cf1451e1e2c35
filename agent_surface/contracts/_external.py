"""Tools on their own: declared like a procedure, bound to a function, and offered by no component."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeVar, cast

from agent_surface._base._json import JsonValue
from agent_surface._base._provenance import ProofStore
from agent_surface._manifest import make_record
from agent_surface.contracts._capabilities import AuditName, ConfirmationName
from agent_surface.contracts._checks import definition_error
from agent_surface.contracts._domain import (
    DomainContract,
    DomainEffect,
    DomainSeal,
    declare_domain,
    domain_declaration,
    with_own_schemas,
)
from agent_surface.contracts._handlers import ActionBinding, Function
from agent_surface.contracts._module import declaring_module
from agent_surface.contracts._recording import announce_declaration
from agent_surface.errors import AgentSurfaceDefinitionError, DefinitionErrorCode
from agent_surface.ids import MAX_ID_LENGTH
from agent_surface.policies import PolicyAttachment
from agent_surface.schemas import AgentSchema

InT = TypeVar("InT")
OutT = TypeVar("OutT")

EXTERNAL = "external"
"""Kind and plane of a tool on its own, as the manifest has them."""

_EXTERNAL_ID: Final = re.compile(rf"{EXTERNAL}:[a-zA-Z0-9_-]+(?:\.[a-zA-Z0-9_-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AgentExternalToolContract(DomainContract[InT, OutT]):
    """A tool on its own. Made by :func:`define_external_agent_tool_contract`; compares by identity."""

    def bind(self, *, execute: ActionBinding | Function) -> BoundExternalTool:
        """Give the tool its behaviour.

        Args:
            execute: The function that does it: plain or ``async``; takes nothing, the input, or the input and the
                :class:`AgentActionContext`. An :class:`ActionBinding` where it needs a predicate, a precondition,
                policies or a worker thread.

        Raises:
            AgentSurfaceDefinitionError: ``execute`` cannot be called that way, or this contract was not made by
                :func:`define_external_agent_tool_contract`.
        """
        seal = EXTERNAL_SEALS.find(self)
        if seal is None:
            raise definition_error("only a contract made by define_external_agent_tool_contract can be bound")
        try:
            binding = execute if isinstance(execute, ActionBinding) else ActionBinding(execute=execute)
        except AgentSurfaceDefinitionError as error:
            subject = seal.contract.id
            raise definition_error(
                f"the binding of {subject} is wrong: {error}", subject=subject, path="execute"
            ) from error
        bound = BoundExternalTool(seal=seal, binding=binding)
        # The public object shows copies: nothing that is compared later can be reached and overwritten through it.
        shown = replace(bound, seal=seal.copy())
        EXTERNAL_PROOFS.attest(shown, bound)
        return shown


ExternalSeal: TypeAlias = DomainSeal[AgentExternalToolContract[object, object]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class BoundExternalTool:
    """A tool with behaviour: what an exposure gateway takes. Made by :meth:`AgentExternalToolContract.bind`."""

    seal: ExternalSeal
    binding: ActionBinding

    @property
    def contract(self) -> AgentExternalToolContract[object, object]:
        """The contract as it was declared."""
        return self.seal.contract


EXTERNAL_SEALS: ProofStore[ExternalSeal] = ProofStore()
EXTERNAL_PROOFS: ProofStore[BoundExternalTool] = ProofStore()


def define_external_agent_tool_contract(
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
) -> AgentExternalToolContract[InT, OutT]:
    """Declare a tool that belongs to no component, at module level.

    Args:
        id: ``external:`` and segments of letters, digits, ``_`` and ``-`` with dots between them; at most 128
            characters.
        description: For the agent, at most 300 characters.
        input: Schema with an object at the root; no input when absent.
        output: Schema of the answer.
        effect: ``server-query``, ``server-mutation``, ``external-side-effect`` or ``destructive``.
        idempotent: Doing it twice is like doing it once; by default only a query is.
        reversible: The person can take it back; by default not.
        confirmation: By default what the effect asks for; a destructive tool never has ``never``.
        audit: By default ``full`` for external and destructive effects, else ``metadata``.
        timeout_ms: Milliseconds before a slow call is given up; the gateway's limit for procedures when absent.
        policies: Policies that must guard it.
        tags: For people who review the contract.
        meta: JSON for policies, at most 2 kB.
        origin: Who contributes it.

    Raises:
        AgentSurfaceDefinitionError: A part is wrong; ``PLANE_VIOLATION`` for an effect of the view plane.
    """
    contract = declare_domain(
        cast("type[AgentExternalToolContract[object, object]]", AgentExternalToolContract),
        noun="tool",
        subject=_require_external_id(id),
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
        record=make_record(domain_declaration(contract, declaring_module(2), kind=EXTERNAL, plane=EXTERNAL)),
        contract=with_own_schemas(contract),
    )
    EXTERNAL_SEALS.attest(contract, seal)
    announce_declaration(seal.record)
    return cast("AgentExternalToolContract[InT, OutT]", contract)


def _require_external_id(text: object) -> str:
    if isinstance(text, str) and len(text) <= MAX_ID_LENGTH and _EXTERNAL_ID.fullmatch(text):
        return text
    shown = ascii(text)[:MAX_ID_LENGTH]
    raise definition_error(
        f"{shown} is not a valid id of a tool; write {EXTERNAL}:<name>, at most {MAX_ID_LENGTH} characters",
        subject=shown,
        code=DefinitionErrorCode.INVALID_ID,
    )
