"""Two contracts side by side: every difference, what it means, and nothing left over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias, cast

from agent_surface._base._json import FrozenJson
from agent_surface.compiler._comparison._changes import Change, ChangeKind
from agent_surface.compiler._comparison._fields import Entry, Verdict, compare_capability, compare_component

Manifest: TypeAlias = Mapping[str, FrozenJson]

_NOTHING: Final[tuple[Entry, ...]] = ()


def compare_contracts(before: Manifest | None, after: Manifest) -> tuple[Change, ...]:
    """Every difference between two verified manifests.

    A declaration that only moved to another module is the same declaration.

    Args:
        before: The older; ``None`` when there was no contract.
        after: The newer.
    """
    older: Manifest = {} if before is None else before
    changes = [*_whole(older, after)] if before is not None else []
    kept, came, went = _paired(_entries(older, "declarations"), _entries(after, "declarations"))
    for old, new in kept:
        changes += _both(old, new)
    for entry in came:
        changes += _came_or_went(entry, ChangeKind.WIDENING, "added", "an agent gets a capability it did not have")
    for entry in went:
        changes += _came_or_went(entry, ChangeKind.NARROWING, "removed", "an agent loses a capability it had")
    return tuple(changes)


def _entries(parent: Mapping[str, FrozenJson], key: str) -> Sequence[Entry]:
    value = parent.get(key)
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, tuple) else _NOTHING


# ------------------------------------------------------------------------------------------------------- declarations


def _paired(
    before: Sequence[Entry], after: Sequence[Entry]
) -> tuple[list[tuple[Entry, Entry]], list[Entry], list[Entry]]:
    """Each declaration with what it was, then those that came and those that went.

    Those that only changed their module are found by what they declare.
    """
    old = {str(entry["declarationId"]): entry for entry in before}
    new = {str(entry["declarationId"]): entry for entry in after}
    gone = [old[name] for name in sorted(old.keys() - new.keys())]
    come = [new[name] for name in sorted(new.keys() - old.keys())]
    moved = _moved(gone, come)
    return (
        [*((old[name], new[name]) for name in sorted(old.keys() & new.keys())), *moved],
        [entry for entry in come if not any(entry is to for _, to in moved)],
        [entry for entry in gone if not any(entry is origin for origin, _ in moved)],
    )


def _moved(gone: Sequence[Entry], come: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    moved: list[tuple[Entry, Entry]] = []
    for entry in come:
        subject = _subject(entry)
        origins = [other for other in gone if _subject(other) == subject and other.get("kind") == entry.get("kind")]
        rivals = [other for other in come if _subject(other) == subject and other.get("kind") == entry.get("kind")]
        # With several candidates nobody can tell which one it was.
        if len(origins) == 1 and len(rivals) == 1:
            moved.append((origins[0], entry))
    return moved


def _subject(declaration: Entry) -> str:
    return str(declaration["declarationId"]).partition(":")[2]


def _module(declaration: Entry) -> str:
    return str(declaration["declarationId"]).partition(":")[0]


def _came_or_went(declaration: Entry, kind: ChangeKind, verb: str, meaning: str) -> Iterator[Change]:
    declaration_id = str(declaration["declarationId"])
    capabilities = _entries(declaration, "capabilities")
    for capability in capabilities:
        yield _capability_change(capability, declaration_id, kind, verb, meaning)
    if not capabilities:
        yield Change(
            kind=kind,
            subject=_subject(declaration),
            declaration_id=declaration_id,
            field="declaration",
            what=f"declaration {verb}",
            meaning="it has no capabilities",
        )


def _capability_change(capability: Entry, declaration_id: str, kind: ChangeKind, verb: str, meaning: str) -> Change:
    asked = "" if capability.get("kind") == "observation" else f", confirmation {capability.get('confirmation')}"
    return Change(
        kind=kind,
        subject=str(capability["capabilityId"]),
        declaration_id=declaration_id,
        field="capability",
        what=f"{capability.get('kind')} {verb} (effect {capability.get('effect')}{asked})",
        meaning=meaning,
    )


def _both(old: Entry, new: Entry) -> Iterator[Change]:
    declaration_id = str(new["declarationId"])
    if old["declarationId"] != new["declarationId"]:
        yield Change(
            kind=ChangeKind.NEUTRAL,
            subject=_subject(new),
            declaration_id=declaration_id,
            field="declarationId",
            what=f"moved from {_module(old)} to {_module(new)}",
            meaning="the same declaration in another module",
        )
    for verdict in compare_component(old, new):
        yield _change(verdict, _subject(new), declaration_id)
    before = {str(item["capabilityId"]): item for item in _entries(old, "capabilities")}
    after = {str(item["capabilityId"]): item for item in _entries(new, "capabilities")}
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            yield _capability_change(
                after[name], declaration_id, ChangeKind.WIDENING, "added", "an agent gets a capability it did not have"
            )
        elif name not in after:
            yield _capability_change(
                before[name], declaration_id, ChangeKind.NARROWING, "removed", "an agent loses a capability it had"
            )
        else:
            for verdict in compare_capability(before[name], after[name]):
                yield _change(verdict, name, declaration_id)


def _change(verdict: Verdict, subject: str, declaration_id: str) -> Change:
    return Change(
        kind=verdict.kind,
        subject=subject,
        declaration_id=declaration_id,
        field=verdict.field,
        what=verdict.what,
        meaning=verdict.meaning,
    )


# -------------------------------------------------------------------------------------------------- the whole contract


def _whole(old: Manifest, new: Manifest) -> Iterator[Change]:
    before, after = (frozenset(map(str, cast("tuple[str, ...]", item.get("targets", ())))) for item in (old, new))
    for target in sorted(after - before):
        yield _of_contract(
            "targets", ChangeKind.WIDENING, f"target {target} added", "another program gets the contract"
        )
    for target in sorted(before - after):
        yield _of_contract("targets", ChangeKind.NARROWING, f"target {target} removed", "a program loses the contract")
    yield from _external(old, new)
    yield from _completeness(old, new)
    for field in ("formatVersion", "compilerVersion"):
        if old.get(field) != new.get(field):
            yield _of_contract(
                field, ChangeKind.NEUTRAL, f"{field} {old.get(field)} → {new.get(field)}", "written by another release"
            )


def _external(old: Manifest, new: Manifest) -> Iterator[Change]:
    before = {str(item.get("package")): item for item in _entries(old, "external")}
    after = {str(item.get("package")): item for item in _entries(new, "external")}
    for package in sorted(before.keys() | after.keys()):
        if package not in before:
            yield _of_contract(
                "external", ChangeKind.WIDENING, f"{package} approved", "declarations of another distribution count"
            )
        elif package not in after:
            yield _of_contract(
                "external", ChangeKind.NARROWING, f"{package} no longer approved", "its declarations no longer count"
            )
        elif before[package] != after[package]:
            yield _of_contract(
                "external",
                ChangeKind.NEUTRAL,
                f"{package} approved with another digest",
                "what it declares now is listed by declaration",
            )


def _completeness(old: Manifest, new: Manifest) -> Iterator[Change]:
    before, after = (_status(item) for item in (old, new))
    if before == after:
        return
    proven = after == "proven"
    yield _of_contract(
        "completeness",
        ChangeKind.NEUTRAL if proven else ChangeKind.BOTH,
        f"completeness {before} → {after}",
        "it is now proven that the program declares nothing else"
        if proven
        else "it is no longer proven that the program declares nothing else",
    )


def _status(manifest: Manifest) -> str:
    completeness = manifest.get("completeness")
    return str(completeness.get("status")) if isinstance(completeness, Mapping) else "unknown"


def _of_contract(field: str, kind: ChangeKind, what: str, meaning: str) -> Change:
    return Change(kind=kind, subject="contract", declaration_id="", field=field, what=what, meaning=meaning)
