"""The manifest: everything a program can ever expose, as JSON with hashes over all of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, cast

from agent_surface._base._canonical import canonical_json
from agent_surface._base._json import FrozenJson, JsonValue, freeze_json, thaw_json
from agent_surface.errors import AuthorityError

FORMAT_VERSION = 1
COMPILER_VERSION = "1"

Completeness: TypeAlias = Literal["proven", "evaluated", "test"]


def digest(value: FrozenJson | JsonValue) -> str:
    """``sha256:`` and the hexadecimal digest of the canonical JSON of ``value``."""
    return "sha256:" + hashlib.sha256(canonical_json(value).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclarationRecord:
    """One declaration with every field that is hashed.

    Attributes:
        declaration_id: ``module:type`` or ``module:id``.
        entry: The manifest entry, hashes included, frozen.
        declaration_hash: Over the whole entry but itself.
    """

    declaration_id: str
    entry: Mapping[str, FrozenJson]
    declaration_hash: str


def make_record(declaration: Mapping[str, JsonValue]) -> DeclarationRecord:
    """Hash a declaration: each capability on its own, then the whole.

    A capability's hash covers the static parts of its component too, so neither can change without the other.

    Args:
        declaration: The entry without hashes; ``capabilities`` holds the capability entries without hashes.
    """
    context: dict[str, JsonValue] = {key: value for key, value in declaration.items() if key != "capabilities"}
    capabilities = declaration["capabilities"]
    hashed: list[JsonValue] = [
        {**capability, "contractHash": _contract_hash(capability, context)}
        for capability in (capabilities if isinstance(capabilities, list) else ())
        if isinstance(capability, dict)
    ]
    entry: dict[str, JsonValue] = {**context, "capabilities": hashed}
    declaration_hash = digest(entry)
    # What is made of a dict is a mapping.
    frozen = cast("Mapping[str, FrozenJson]", freeze_json({**entry, "declarationHash": declaration_hash}))
    return DeclarationRecord(
        declaration_id=str(declaration["declarationId"]), entry=frozen, declaration_hash=declaration_hash
    )


def _contract_hash(capability: dict[str, JsonValue], context: dict[str, JsonValue]) -> str:
    hashed: dict[str, JsonValue] = {"capability": capability, "component": context}
    return digest(hashed)


def make_manifest(
    records: Iterable[DeclarationRecord],
    *,
    completeness: Completeness,
    targets: Iterable[str] = (),
    external: Iterable[Mapping[str, JsonValue]] = (),
) -> dict[str, JsonValue]:
    """The manifest of these declarations, ordered by declaration id, with its hash.

    Args:
        records: Declarations; the same id twice stays two entries and fails verification.
        completeness: What was proven about it.
        targets: Names of the programs it was made for.
        external: Approved contributions of other distributions.
    """
    manifest: dict[str, JsonValue] = {
        "formatVersion": FORMAT_VERSION,
        "compilerVersion": COMPILER_VERSION,
        "targets": [*sorted(targets)],
        "declarations": [thaw_json(record.entry) for record in sorted(records, key=lambda item: item.declaration_id)],
        "external": [dict(item) for item in external],
        "completeness": {"status": completeness},
    }
    manifest["hash"] = digest(manifest)
    return manifest


def verify_manifest(manifest: object) -> Mapping[str, FrozenJson]:
    """Check a manifest from the outermost hash to the innermost and return a frozen copy.

    Raises:
        AuthorityError: The format is unknown, a hash does not match, a declaration or capability appears twice, or
            the completeness is not known.
    """
    try:
        frozen = freeze_json(manifest)
    except ValueError as error:
        raise AuthorityError(f"the manifest is no JSON: {error}") from error
    if not isinstance(frozen, Mapping):
        raise AuthorityError("the manifest is no JSON object")
    if frozen.get("formatVersion") != FORMAT_VERSION:
        raise AuthorityError(
            f"the manifest has format {frozen.get('formatVersion')!r}; this version reads {FORMAT_VERSION}"
        )
    completeness = frozen.get("completeness")
    if not isinstance(completeness, Mapping) or completeness.get("status") not in ("proven", "evaluated", "test"):
        raise AuthorityError("the manifest does not say that it is complete")
    if frozen.get("hash") != digest({key: value for key, value in frozen.items() if key != "hash"}):
        raise AuthorityError("the hash of the manifest does not match its content; write the contract again")
    _verify_declarations(frozen.get("declarations"))
    _verify_external(frozen.get("external"))
    return frozen


def _verify_external(external: FrozenJson) -> None:
    """What was contributed by another distribution and what was approved are kept apart, and have to be the same."""
    for item in external if isinstance(external, tuple) else (None,):
        if not isinstance(item, Mapping) or not isinstance(item.get("package"), str):
            raise AuthorityError("the manifest does not list the contributions of other distributions")
        if item.get("approved") != item.get("contributed"):
            raise AuthorityError(f"what {item['package']} contributes to the manifest is not what was approved")


def _verify_declarations(declarations: FrozenJson) -> None:
    if not isinstance(declarations, tuple):
        raise AuthorityError("the manifest lists no declarations")
    seen: set[str] = set()
    for declaration in declarations:
        if not isinstance(declaration, Mapping):
            raise AuthorityError("a declaration of the manifest is no object")
        declaration_id = declaration.get("declarationId")
        if not isinstance(declaration_id, str) or declaration_id in seen:
            raise AuthorityError(f"declaration {declaration_id!r} is missing its id or appears twice")
        seen.add(declaration_id)
        if declaration.get("declarationHash") != digest(
            {key: value for key, value in declaration.items() if key != "declarationHash"}
        ):
            raise AuthorityError(f"the hash of declaration {declaration_id} does not match its content")
        _verify_capabilities(declaration_id, declaration)


def _verify_capabilities(declaration_id: str, declaration: Mapping[str, FrozenJson]) -> None:
    context = {key: value for key, value in declaration.items() if key not in ("capabilities", "declarationHash")}
    capabilities = declaration.get("capabilities")
    if not isinstance(capabilities, tuple):
        raise AuthorityError(f"declaration {declaration_id} lists no capabilities")
    seen: set[FrozenJson] = set()
    for capability in capabilities:
        if not isinstance(capability, Mapping) or capability.get("capabilityId") in seen:
            raise AuthorityError(f"declaration {declaration_id} has a capability twice or one that is no object")
        seen.add(capability.get("capabilityId"))
        bare = {key: value for key, value in capability.items() if key != "contractHash"}
        expected = digest(
            MappingProxyType({"capability": MappingProxyType(bare), "component": MappingProxyType(context)})
        )
        if capability.get("contractHash") != expected:
            raise AuthorityError(f"the hash of {capability.get('capabilityId')} does not match its content")
