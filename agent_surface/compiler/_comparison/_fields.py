"""What it means that one field of a declaration moved."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias, cast

from agent_surface._base._json import FrozenJson, thaw_json
from agent_surface.compiler._comparison._changes import ChangeKind
from agent_surface.compiler._comparison._relation import SchemaRelation, compare_schemas
from agent_surface.compiler._comparison._schema_text import SchemaDifferences, describe_differences

Entry: TypeAlias = Mapping[str, FrozenJson]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One field that moved, and what it means."""

    kind: ChangeKind
    field: str
    what: str
    meaning: str


Judge: TypeAlias = Callable[[str, FrozenJson, FrozenJson], Iterator[Verdict]]

_IDENTITY: Final = frozenset({"capabilities", "capabilityId", "contractHash", "declarationHash", "declarationId"})
_MOST_NAMED: Final = 4
_EMPTY: Final[Entry] = MappingProxyType({})

# From harmless to grave: the higher, the more gates stand before it.
_EFFECTS: Final = (
    "none",
    "local-state",
    "navigation",
    "server-query",
    "server-mutation",
    "external-side-effect",
    "destructive",
)
_CONFIRMATIONS: Final = ("never", "optional", "required")
_AUDITS: Final = ("none", "metadata", "full")


def compare_component(before: Entry, after: Entry) -> Iterator[Verdict]:
    """Every field of a declaration that moved, apart from its capabilities."""
    return _compare(before, after)


def compare_capability(before: Entry, after: Entry) -> Iterator[Verdict]:
    """Every field of a capability that moved."""
    return _compare(before, after)


def _compare(before: Entry, after: Entry) -> Iterator[Verdict]:
    for field in sorted((before.keys() | after.keys()) - _IDENTITY):
        old, new = before.get(field), after.get(field)
        if not _same(old, new):
            yield from _JUDGES.get(field, _unranked)(field, old, new)


def _same(old: FrozenJson, new: FrozenJson) -> bool:
    # As text: 1 and True are equal in Python, 1 and 1.0 in JSON; a hash tells all three apart or none.
    return _text(old) == _text(new)


def _text(value: FrozenJson) -> str:
    return json.dumps(thaw_json(value), ensure_ascii=False, sort_keys=True)


def _shown(value: FrozenJson) -> str:
    return value if isinstance(value, str) else "none" if value is None else _text(value)


def _moved(field: str, old: FrozenJson, new: FrozenJson) -> str:
    return f"{field} {_shown(old)} → {_shown(new)}"


def _ranked(order: tuple[str, ...], *, raised: tuple[ChangeKind, str], lowered: tuple[ChangeKind, str]) -> Judge:
    def judge(field: str, old: FrozenJson, new: FrozenJson) -> Iterator[Verdict]:
        if old not in order or new not in order:
            yield from _unranked(field, old, new)
            return
        kind, meaning = raised if order.index(str(new)) > order.index(str(old)) else lowered
        yield Verdict(kind=kind, field=field, what=_moved(field, old, new), meaning=meaning)

    return judge


def _claimed(meaning_of_claim: str, meaning_of_loss: str) -> Judge:
    def judge(field: str, old: FrozenJson, new: FrozenJson) -> Iterator[Verdict]:
        if new is True:
            yield Verdict(kind=ChangeKind.WIDENING, field=field, what=f"newly {field}", meaning=meaning_of_claim)
        elif old is True:
            yield Verdict(kind=ChangeKind.NARROWING, field=field, what=f"no longer {field}", meaning=meaning_of_loss)
        else:
            yield Verdict(
                kind=ChangeKind.NEUTRAL, field=field, what=_moved(field, old, new), meaning="neither claims anything"
            )

    return judge


def _constant(kind: ChangeKind, meaning: str) -> Judge:
    def judge(field: str, old: FrozenJson, new: FrozenJson) -> Iterator[Verdict]:
        yield Verdict(kind=kind, field=field, what=_moved(field, old, new), meaning=meaning)

    return judge


def _wording(field: str, old: FrozenJson, new: FrozenJson) -> Iterator[Verdict]:
    yield Verdict(
        kind=ChangeKind.WORDING,
        field=field,
        what=f"{field} {_text(old)} → {_text(new)}",
        meaning="a model reads it and may act differently",
    )


def _unranked(field: str, old: FrozenJson, new: FrozenJson) -> Iterator[Verdict]:
    yield Verdict(
        kind=ChangeKind.BOTH,
        field=field,
        what=_moved(field, old, new),
        meaning="whether it lets an agent do more cannot be told",
    )


def _parent_type(field: str, old: FrozenJson, new: FrozenJson) -> Iterator[Verdict]:
    if old is None:
        kind, meaning = ChangeKind.NARROWING, "it can only be there inside that component"
    elif new is None:
        kind, meaning = ChangeKind.WIDENING, "it can be there without that component"
    else:
        kind, meaning = ChangeKind.BOTH, "it can be there in another component, and no longer in the one before"
    yield Verdict(kind=kind, field=field, what=_moved(field, old, new), meaning=meaning)


def _concurrency(field: str, old: FrozenJson, new: FrozenJson) -> Iterator[Verdict]:
    before, after = (value if isinstance(value, Mapping) else _EMPTY for value in (old, new))
    if before.get("mode") != after.get("mode"):
        at_once = {str(before.get("mode")): ChangeKind.NARROWING, str(after.get("mode")): ChangeKind.WIDENING}
        kind = at_once.get("parallel", ChangeKind.BOTH)
        meaning = {
            ChangeKind.WIDENING: "an agent can run several calls at once",
            ChangeKind.NARROWING: "calls wait for each other",
        }.get(kind, "other calls exclude each other")
    else:
        kind, meaning = _numbers(before, after)
    yield Verdict(kind=kind, field=field, what=_moved(field, _text(old), _text(new)), meaning=meaning)


def _numbers(before: Entry, after: Entry) -> tuple[ChangeKind, str]:
    old, new = before.get("max"), after.get("max")
    if isinstance(old, int) and isinstance(new, int) and old != new:
        more = new > old
        return (
            ChangeKind.WIDENING if more else ChangeKind.NARROWING,
            f"{'more' if more else 'fewer'} calls can run at once",
        )
    if before.get("key") != after.get("key"):
        return ChangeKind.BOTH, "other calls exclude each other"
    return ChangeKind.NEUTRAL, "how many calls may wait"


# ------------------------------------------------------------------------------------------------------------ policies


def _policies(field: str, old: FrozenJson, new: FrozenJson) -> Iterator[Verdict]:
    before, after = _attachments(old), _attachments(new)
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            yield Verdict(
                kind=ChangeKind.NARROWING,
                field=field,
                what=f"policy {name} added",
                meaning="another guard has to agree",
            )
        elif name not in after:
            yield Verdict(
                kind=ChangeKind.WIDENING,
                field=field,
                what=f"policy {name} removed",
                meaning="a guard that had to agree is no longer asked",
            )
        elif before[name] != after[name]:
            yield _policy(field, name, before[name], after[name])
    if before == after:
        yield Verdict(
            kind=ChangeKind.NEUTRAL, field=field, what="policies in another order", meaning="the same guards are asked"
        )


def _policy(field: str, name: str, old: tuple[str, ...], new: tuple[str, ...]) -> Verdict:
    (before, had), (after, has) = _phases(old), _phases(new)
    what = f"policy {name} changed from {'; '.join(old)} to {'; '.join(new)}"
    if had == has and before < after:
        return Verdict(kind=ChangeKind.NARROWING, field=field, what=what, meaning="it guards more phases")
    if had == has and before > after:
        return Verdict(kind=ChangeKind.WIDENING, field=field, what=what, meaning="it guards fewer phases")
    return Verdict(kind=ChangeKind.BOTH, field=field, what=what, meaning="whether it refuses more cannot be told")


def _phases(attachments: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    phases: set[str] = set()
    for attachment in attachments:
        phases.update(attachment.partition(" ")[0].split("+"))
    return frozenset(phases), tuple(sorted(attachment.partition(" ")[2] for attachment in attachments))


def _attachments(value: FrozenJson) -> dict[str, tuple[str, ...]]:
    """Of each policy by name its attachments as text: phases, then parameters."""
    found: dict[str, tuple[str, ...]] = {}
    for item in value if isinstance(value, tuple) else ():
        if isinstance(item, Mapping):
            phases = "+".join(map(str, cast("tuple[str, ...]", item.get("phases", ()))))
            name = str(item.get("name"))
            text = f"{phases} {_text(item.get('parameters'))}"
            found[name] = tuple(sorted((*found.get(name, ()), text)))
    return found


# ------------------------------------------------------------------------------------------------------------- schemas

_INPUT: Final[Mapping[SchemaRelation, tuple[ChangeKind, str]]] = MappingProxyType(
    {
        SchemaRelation.WIDER: (ChangeKind.WIDENING, "an agent can send what was refused before"),
        SchemaRelation.NARROWER: (ChangeKind.NARROWING, "what an agent could send is refused"),
        SchemaRelation.BOTH: (ChangeKind.BOTH, "an agent can send what was refused before, and the other way round"),
    }
)
_OUTPUT: Final[Mapping[SchemaRelation, tuple[ChangeKind, str]]] = MappingProxyType(
    {
        SchemaRelation.WIDER: (ChangeKind.WIDENING, "an agent can be told what it was not told before"),
        SchemaRelation.NARROWER: (ChangeKind.NARROWING, "an agent is no longer told what it was told"),
        SchemaRelation.BOTH: (ChangeKind.BOTH, "an agent can be told other things than before"),
    }
)


def _schema(field: str, old: FrozenJson, new: FrozenJson) -> Iterator[Verdict]:
    meanings = _INPUT if field == "inputSchema" else _OUTPUT
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        relation = SchemaRelation.WIDER if old is None else SchemaRelation.NARROWER
        kind, meaning = meanings[relation]
        yield Verdict(kind=kind, field=field, what=f"{field} {'added' if old is None else 'removed'}", meaning=meaning)
        return
    relation = compare_schemas(old, new)
    differences = describe_differences(old, new)
    if relation is not SchemaRelation.EQUAL:
        kind, meaning = meanings[relation]
        yield Verdict(kind=kind, field=field, what=_summary(field, differences.limits), meaning=meaning)
    elif differences.limits or not (differences.wording or differences.defaults):
        yield Verdict(
            kind=ChangeKind.NEUTRAL,
            field=field,
            what=_summary(field, differences.limits),
            meaning="written differently, with the same values accepted",
        )
    yield from _annotations(field, differences)


def _annotations(field: str, differences: SchemaDifferences) -> Iterator[Verdict]:
    if differences.wording:
        yield Verdict(
            kind=ChangeKind.WORDING,
            field=field,
            what=_summary(field, differences.wording),
            meaning="a model reads it and may act differently",
        )
    if differences.defaults:
        yield Verdict(
            kind=ChangeKind.BOTH if field == "inputSchema" else ChangeKind.WORDING,
            field=field,
            what=_summary(field, differences.defaults),
            meaning="a call that leaves it out does something else",
        )


def _summary(field: str, parts: tuple[str, ...]) -> str:
    name = field.removesuffix("Schema")
    if not parts:
        return f"{name} rewritten"
    more = len(parts) - _MOST_NAMED
    return f"{name}: {'; '.join(parts[:_MOST_NAMED])}{f'; and {more} more' if more > 0 else ''}"


_JUDGES: Final[Mapping[str, Judge]] = MappingProxyType(
    {
        "audit": _ranked(
            _AUDITS,
            raised=(ChangeKind.NARROWING, "more of each call is kept"),
            lowered=(ChangeKind.WIDENING, "less of each call is kept"),
        ),
        "concurrency": _concurrency,
        "confirmation": _ranked(
            _CONFIRMATIONS,
            raised=(ChangeKind.NARROWING, "a person is asked more"),
            lowered=(ChangeKind.WIDENING, "a person is asked less"),
        ),
        "description": _wording,
        "effect": _ranked(
            _EFFECTS,
            raised=(ChangeKind.NARROWING, "it counts as graver, so more stands before it"),
            lowered=(ChangeKind.WIDENING, "it counts as more harmless, so less stands before it"),
        ),
        "idempotent": _claimed("a failed call may be repeated", "a failed call must not be repeated blindly"),
        "inputSchema": _schema,
        "meta": _wording,
        "outputSchema": _schema,
        "parentType": _parent_type,
        "partial": _constant(ChangeKind.NEUTRAL, "whether a capability may be absent while nothing contributes it"),
        "policies": _policies,
        "priority": _constant(ChangeKind.NEUTRAL, "its place in a catalogue"),
        "reversible": _claimed("an agent counts on a way back", "an agent can no longer count on a way back"),
        "tags": _constant(ChangeKind.NEUTRAL, "for people who review the contract"),
        "timeoutMs": _constant(ChangeKind.NEUTRAL, "how long a call may take"),
    }
)
