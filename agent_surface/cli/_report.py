"""What the commands found out, before it is text. Every format is made from these values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agent_surface._base._json import FrozenJson, JsonValue, thaw_json
from agent_surface.compiler import Change, ChangeKind, Problem

Reach: TypeAlias = Literal["low", "medium", "high"]
Policy: TypeAlias = Literal["all", "widening", "narrowing", "neutral", "none"]
IntegrityState: TypeAlias = Literal["current", "stale", "missing", "invalid", "incomplete"]

REPORT_VERSION: Final = 1

_REACH: Final[Mapping[str, Reach]] = {
    "none": "low",
    "local-state": "low",
    "navigation": "low",
    "server-query": "low",
    "server-mutation": "medium",
    "external-side-effect": "high",
    "destructive": "high",
}

# A wording change is a finding for whoever wants to hear of everything, and for whoever asked for what is neither.
_FAILING: Final[Mapping[str, frozenset[ChangeKind]]] = {
    "all": frozenset(ChangeKind),
    "widening": frozenset({ChangeKind.WIDENING, ChangeKind.BOTH}),
    "narrowing": frozenset({ChangeKind.NARROWING, ChangeKind.BOTH}),
    "neutral": frozenset({ChangeKind.NEUTRAL, ChangeKind.WORDING}),
    "none": frozenset(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One capability of the contract.

    Attributes:
        reach: How far a call reaches: ``low`` stays in the window or only reads, ``medium`` changes stored things or
            cannot be taken back, ``high`` leaves the program or destroys.
    """

    capability_id: str
    kind: str
    effect: str
    reach: Reach
    confirmation: str
    policies: tuple[str, ...]
    audit: str
    idempotent: bool
    reversible: bool | None
    description: str
    declaration_id: str
    package: str | None
    input_schema: FrozenJson
    output_schema: FrozenJson

    def to_json(self) -> dict[str, JsonValue]:
        """The row as a fresh JSON object."""
        return {
            "capabilityId": self.capability_id,
            "declarationId": self.declaration_id,
            "kind": self.kind,
            "description": self.description,
            "effect": self.effect,
            "reach": self.reach,
            "confirmation": self.confirmation,
            "policies": list[JsonValue](self.policies),
            "audit": self.audit,
            "idempotent": self.idempotent,
            "reversible": self.reversible,
            "package": self.package,
            "inputSchema": thaw_json(self.input_schema),
            "outputSchema": thaw_json(self.output_schema),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Everything a contract allows.

    Attributes:
        rows: One for each capability of each declaration, by capability id.
        completeness: ``proven``, ``evaluated`` or ``test``.
        digest: The manifest's hash, verified.
    """

    rows: tuple[Row, ...]
    declarations: int
    completeness: str
    digest: str
    targets: tuple[str, ...]
    packages: tuple[str, ...]

    @property
    def kinds(self) -> dict[str, int]:
        """How many capabilities of each kind, in the order of kinds."""
        counted = Counter(row.kind for row in self.rows)
        return {kind: counted[kind] for kind in sorted(counted)}

    @property
    def confirmed(self) -> int:
        """How many a person confirms each time."""
        return sum(row.confirmation == "required" for row in self.rows)

    @property
    def guarded(self) -> int:
        """How many have to be guarded by a policy."""
        return sum(bool(row.policies) for row in self.rows)

    def to_json(self) -> dict[str, JsonValue]:
        """The inventory as a fresh JSON object."""
        return {
            "reportVersion": REPORT_VERSION,
            "command": "inspect",
            "completeness": self.completeness,
            "hash": self.digest,
            "targets": list[JsonValue](self.targets),
            "external": list[JsonValue](self.packages),
            "declarations": self.declarations,
            "kinds": dict[str, JsonValue](self.kinds),
            "confirmed": self.confirmed,
            "guarded": self.guarded,
            "capabilities": [row.to_json() for row in self.rows],
        }


def make_inventory(manifest: Mapping[str, FrozenJson]) -> Inventory:
    """The inventory of a verified manifest."""
    declarations = _entries(manifest, "declarations")
    external = _entries(manifest, "external")
    origin = {
        str(declaration_id): str(entry["package"])
        for entry in external
        for declaration_id in _items(entry.get("declarations"))
    }
    rows = [
        _row(capability, declaration, origin.get(str(declaration["declarationId"])))
        for declaration in declarations
        for capability in _entries(declaration, "capabilities")
    ]
    completeness = manifest.get("completeness")
    return Inventory(
        rows=tuple(sorted(rows, key=lambda row: (row.capability_id, row.declaration_id))),
        declarations=len(declarations),
        completeness=str(completeness.get("status")) if isinstance(completeness, Mapping) else "unknown",
        digest=str(manifest["hash"]),
        targets=tuple(map(str, _items(manifest.get("targets")))),
        packages=tuple(str(entry["package"]) for entry in external),
    )


def _row(capability: Mapping[str, FrozenJson], declaration: Mapping[str, FrozenJson], package: str | None) -> Row:
    reversible = capability.get("reversible")
    policies = [*_entries(declaration, "policies"), *_entries(capability, "policies")]
    reach = _REACH.get(str(capability["effect"]), "high")
    if reach == "low" and capability["kind"] == "action" and reversible is False:
        reach = "medium"
    return Row(
        capability_id=str(capability["capabilityId"]),
        kind=str(capability["kind"]),
        effect=str(capability["effect"]),
        reach=reach,
        confirmation=str(capability["confirmation"]),
        policies=tuple(dict.fromkeys(str(policy["name"]) for policy in policies)),
        audit=str(capability["audit"]),
        idempotent=capability.get("idempotent") is True,
        reversible=reversible if isinstance(reversible, bool) else None,
        description=str(capability["description"]),
        declaration_id=str(declaration["declarationId"]),
        package=package,
        input_schema=capability.get("inputSchema"),
        output_schema=capability.get("outputSchema"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrity:
    """The source against the committed file.

    Attributes:
        state: ``current``, or why not.
        reason: For ``invalid``: why the committed file does not verify.
        problems: For ``incomplete``: why the source cannot be compiled.
        changes: For ``stale``: what the source says and the file does not.
    """

    state: IntegrityState
    reason: str = ""
    problems: tuple[Problem, ...] = ()
    changes: tuple[Change, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """The verdict as a fresh JSON object."""
        return {
            "state": self.state,
            "reason": self.reason,
            "problems": [problem.to_json() for problem in self.problems],
            "changes": [change.to_json() for change in self.changes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The committed file against a git revision.

    Attributes:
        base: The revision as it was asked for.
        commit: Where this branch left it.
        existed: Whether there was a contract.
        changes: Everything that moved since.
        policy: Which of them are findings.
    """

    base: str
    commit: str
    existed: bool
    changes: tuple[Change, ...]
    policy: Policy

    @property
    def failing(self) -> tuple[Change, ...]:
        """The changes that are findings under the policy."""
        return tuple(change for change in self.changes if change.kind in _FAILING[self.policy])

    def to_json(self) -> dict[str, JsonValue]:
        """The drift as a fresh JSON object."""
        return {
            "base": self.base,
            "commit": self.commit,
            "existed": self.existed,
            "policy": self.policy,
            "failing": len(self.failing),
            "changes": [change.to_json() for change in self.changes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What ``check`` found.

    Attributes:
        contract: The committed file, relative to the project.
        inventory: What the committed file allows; absent when it does not verify.
    """

    contract: str
    integrity: Integrity
    drift: Drift | None
    inventory: Inventory | None

    @property
    def ok(self) -> bool:
        """Whether there is no finding."""
        return self.integrity.state == "current" and (self.drift is None or not self.drift.failing)

    def to_json(self) -> dict[str, JsonValue]:
        """The report as a fresh JSON object."""
        return {
            "reportVersion": REPORT_VERSION,
            "command": "check",
            "ok": self.ok,
            "hash": self.inventory.digest if self.inventory is not None else None,
            "integrity": self.integrity.to_json(),
            "drift": self.drift.to_json() if self.drift is not None else None,
        }


def count_kinds(changes: Sequence[Change]) -> str:
    """``2 widening, 1 wording``, in the order of kinds; ``no changes`` for none."""
    counted = Counter(change.kind for change in changes)
    return ", ".join(f"{counted[kind]} {kind}" for kind in ChangeKind if counted[kind]) or "no changes"


def _entries(parent: Mapping[str, FrozenJson], key: str) -> list[Mapping[str, FrozenJson]]:
    return [item for item in _items(parent.get(key)) if isinstance(item, Mapping)]


def _items(value: FrozenJson) -> tuple[FrozenJson, ...]:
    return value if isinstance(value, tuple) else ()
