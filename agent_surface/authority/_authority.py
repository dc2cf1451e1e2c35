"""The run-time source of truth: only what a verified manifest lists can ever be registered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from agent_surface._base._canonical import canonical_json
from agent_surface._base._json import FrozenJson
from agent_surface._base._provenance import ProofStore
from agent_surface._manifest import Completeness, DeclarationRecord, verify_manifest
from agent_surface.contracts._components import BOUND_PROOFS, BoundComponent
from agent_surface.contracts._external import EXTERNAL_PROOFS, BoundExternalTool
from agent_surface.errors import AgentSurfaceDefinitionError, AuthorityError, DefinitionErrorCode
from agent_surface.policies import AgentPolicy, PolicyAttachment, policy_phases

REMEDY = "If that is meant, write the contract again with `agent-surface snapshot` and review the change."

_REGISTER_WITH_AUTHORITY = (
    "only components bound from a contract of the authority can be registered; "
    "declare it with define_agent_component_contract and bind it with contract.bind(...)"
)

_EXPOSE_WITH_AUTHORITY = (
    "only tools bound from a contract of the authority can be exposed; "
    "declare it with define_external_agent_tool_contract and bind it with contract.bind(...)"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class CapabilityAuthority:
    """A verified manifest. Made by :func:`create_capability_authority` and by nothing else; compares by identity.

    Attributes:
        manifest: The manifest, deeply frozen.
    """

    manifest: Mapping[str, FrozenJson]


class AuthorityProof:
    """What the library itself knows of a genuine authority; the public object is only its token."""

    __slots__ = ("completeness", "declarations", "procedure_paths")

    def __init__(self, manifest: Mapping[str, FrozenJson]) -> None:
        completeness = manifest["completeness"]
        status = completeness["status"] if isinstance(completeness, Mapping) else None
        self.completeness: Completeness = (
            "proven" if status == "proven" else "evaluated" if status == "evaluated" else "test"
        )
        self.declarations: dict[str, Mapping[str, FrozenJson]] = {}
        paths: set[str] = set()
        # It was verified: a list of objects, each with an id of its own.
        for declaration in cast("tuple[Mapping[str, FrozenJson], ...]", manifest["declarations"]):
            self.declarations[str(declaration["declarationId"])] = declaration
            if declaration.get("kind") == "procedure":
                paths.update(_by_id(declaration))
        self.procedure_paths = frozenset(path.partition(":")[2] for path in paths)

    def verify(self, record: DeclarationRecord) -> None:
        """Hold a declaration of the running program against the manifest.

        Raises:
            AgentSurfaceDefinitionError: It is not in the manifest, or a hashed field differs; names the capability,
                the field and the remedy.
        """
        listed = self.declarations.get(record.declaration_id)
        if listed is None:
            raise AgentSurfaceDefinitionError(
                DefinitionErrorCode.INVALID_DEFINITION,
                f"{record.declaration_id} is not in the contract of this program. {REMEDY}",
                subject=record.declaration_id,
            )
        if listed["declarationHash"] != record.declaration_hash:
            subject, field = _first_difference(listed, record.entry)
            raise AgentSurfaceDefinitionError(
                DefinitionErrorCode.INVALID_DEFINITION,
                f"{field} of {subject} differs from the contract of this program. {REMEDY}",
                subject=subject,
                path=field,
            )


def _by_id(declaration: Mapping[str, FrozenJson]) -> dict[str, Mapping[str, FrozenJson]]:
    capabilities = declaration["capabilities"]
    return {
        str(item["capabilityId"]): item
        for item in (capabilities if isinstance(capabilities, tuple) else ())
        if isinstance(item, Mapping)
    }


def _first_difference(listed: Mapping[str, FrozenJson], live: Mapping[str, FrozenJson]) -> tuple[str, str]:
    """The first subject and field in which a live declaration differs from the listed one."""
    listed_capabilities, live_capabilities = _by_id(listed), _by_id(live)
    for capability_id in sorted(live_capabilities.keys() | listed_capabilities.keys()):
        before, now = listed_capabilities.get(capability_id), live_capabilities.get(capability_id)
        if before is None or now is None:
            return capability_id, "capability (added)" if before is None else "capability (removed)"
        field = _find_different_field(before, now, but=("contractHash",))
        if field is not None:
            return capability_id, field
    field = _find_different_field(listed, live, but=("capabilities", "declarationHash"))
    # Each capability is the same, and so is everything beside them: what is left is their order.
    return str(live["declarationId"]), field if field is not None else "order of capabilities"


def _find_different_field(
    one: Mapping[str, FrozenJson], other: Mapping[str, FrozenJson], *, but: tuple[str, ...]
) -> str | None:
    """The first field that is not hashed the same; Python's own comparison takes ``1`` for ``True``."""
    for field in sorted(one.keys() | other.keys()):
        if field in but:
            continue
        if field not in one or field not in other or canonical_json(one[field]) != canonical_json(other[field]):
            return field
    return None


_AUTHORITIES: ProofStore[AuthorityProof] = ProofStore()


def create_capability_authority(manifest: object) -> CapabilityAuthority:
    """Verify a manifest and make it the ceiling of what a registry can expose.

    Args:
        manifest: The manifest as JSON: the result of ``json.loads`` on a committed contract file.

    Returns:
        The authority. Whoever passes a manifest explicitly chooses it as the source of truth.

    Raises:
        AuthorityError: Format, completeness, a hash or uniqueness does not verify.
    """
    frozen = verify_manifest(manifest)
    authority = CapabilityAuthority(manifest=frozen)
    _AUTHORITIES.attest(authority, AuthorityProof(frozen))
    return authority


def assert_capability_authority(authority: object) -> None:
    """Check that ``authority`` was made by :func:`create_capability_authority`.

    Raises:
        AuthorityError: It was not.
    """
    require_authority(authority)


def require_authority(authority: object) -> AuthorityProof:
    """The proof of a genuine authority.

    Raises:
        AuthorityError: It was not made by :func:`create_capability_authority`.
    """
    proof = _AUTHORITIES.find(authority)
    if proof is None:
        raise AuthorityError(
            "a registry needs an authority made by create_capability_authority or load_capability_authority"
        )
    return proof


def require_bound(candidate: object) -> BoundComponent:
    """The sealed binding behind ``candidate``.

    Raises:
        AgentSurfaceDefinitionError: It was not made by ``contract.bind`` of a genuine contract.
    """
    bound = BOUND_PROOFS.find(candidate)
    if bound is None:
        raise AgentSurfaceDefinitionError(DefinitionErrorCode.INVALID_DEFINITION, _REGISTER_WITH_AUTHORITY)
    return bound


def require_tool(candidate: object) -> BoundExternalTool:
    """The sealed tool behind ``candidate``.

    Raises:
        AgentSurfaceDefinitionError: It was not made by ``contract.bind`` of a genuine contract.
    """
    tool = EXTERNAL_PROOFS.find(candidate)
    if tool is None:
        raise AgentSurfaceDefinitionError(DefinitionErrorCode.INVALID_DEFINITION, _EXPOSE_WITH_AUTHORITY)
    return tool


def verify_tool(authority: AuthorityProof, tool: BoundExternalTool) -> None:
    """Hold a tool against the manifest: its declaration by hash, demanded policies by name, phase and parameters.

    Raises:
        AgentSurfaceDefinitionError: It is unknown, changed, or a demanded policy is not bound.
    """
    authority.verify(tool.seal.record)
    contract = tool.seal.contract
    _require_policies(contract.id, contract.policies, tool.binding.policies)


def verify_binding(authority: AuthorityProof, bound: BoundComponent) -> None:
    """Hold a binding against the manifest: declarations by hash, demanded policies by name, phase and parameters.

    Raises:
        AgentSurfaceDefinitionError: Something is unknown, changed, or a demanded policy is not bound.
    """
    authority.verify(bound.seal.record)
    contract = bound.seal.contract
    _require_policies(contract.type, contract.policies, bound.policies)
    for name, observation in contract.observations.items():
        if observation.policies and name in bound.observations:
            _require_policies(
                f"view:{contract.type}.{name}",
                observation.policies,
                (*bound.policies, *bound.observations[name].policies),
            )
    for name, action in contract.actions.items():
        if action.policies and name in bound.actions:
            _require_policies(
                f"view:{contract.type}.{name}", action.policies, (*bound.policies, *bound.actions[name].policies)
            )
    for reference in bound.procedures:
        authority.verify(reference.seal.record)
        procedure = reference.seal.contract
        _require_policies(procedure.id, procedure.policies, (*bound.policies, *reference.policies))


def _require_policies(subject: str, demanded: tuple[PolicyAttachment, ...], bound: tuple[AgentPolicy, ...]) -> None:
    for attachment in demanded:
        name, phases, parameters = attachment.name, attachment.phases, attachment.parameters
        if not any(
            policy.name == name
            and set(phases) <= set(policy_phases(policy))
            and (not parameters or getattr(policy, "parameters", None) == parameters)
            for policy in bound
        ):
            raise AgentSurfaceDefinitionError(
                DefinitionErrorCode.INVALID_DEFINITION,
                f"the contract of {subject} demands policy {name!r} in {', '.join(phases)}, "
                "and the binding has none that matches",
                subject=subject,
                path="policies",
            )
