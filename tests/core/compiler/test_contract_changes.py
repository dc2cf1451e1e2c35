"""Every field that moves is told, with what it means for the person at the screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import pytest

from agent_surface import JsonValue
from agent_surface._base._json import FrozenJson, freeze_json
from agent_surface._manifest import make_manifest, make_record
from agent_surface.compiler import ChangeKind, compare_contracts

Entry = dict[str, JsonValue]

CAPABILITY: Mapping[str, JsonValue] = {
    "capabilityId": "view:shop.parts.pick",
    "kind": "action",
    "plane": "view",
    "description": "Pick parts",
    "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False},
    "outputSchema": {"type": "string", "maxLength": 9},
    "effect": "navigation",
    "idempotent": False,
    "reversible": False,
    "confirmation": "optional",
    "audit": "metadata",
    "timeoutMs": None,
    "concurrency": {"mode": "instance"},
    "policies": [{"name": "limit", "phases": ["invoke"], "parameters": {"most": 5}}],
    "tags": [],
    "meta": {},
}
COMPONENT: Mapping[str, JsonValue] = {
    "declarationId": "shop.contracts:shop.parts",
    "kind": "component",
    "type": "shop.parts",
    "description": "The parts",
    "meta": {},
    "origin": "first-party",
    "priority": 0,
    "parentType": "shop.window",
    "policies": [],
    "tags": [],
}


def manifest(*declarations: Entry, targets: tuple[str, ...] = ()) -> Mapping[str, FrozenJson]:
    """A manifest of these declarations."""
    records = [make_record(declaration) for declaration in declarations]
    frozen = freeze_json(make_manifest(records, completeness="proven", targets=targets))
    return cast("Mapping[str, FrozenJson]", frozen)


def declaration(component: Mapping[str, JsonValue] | None = None, /, **capability: JsonValue) -> Entry:
    """The usual declaration, with these fields changed."""
    return {**COMPONENT, **(component or {}), "capabilities": [{**CAPABILITY, **capability}]}


def policy(name: str = "limit", phases: tuple[str, ...] = ("invoke",), most: int = 5) -> JsonValue:
    """A policy attachment."""
    return {"name": name, "phases": list[JsonValue](phases), "parameters": {"most": most}}


def schema(**keywords: JsonValue) -> JsonValue:
    """The usual input with another field."""
    return {"type": "object", "properties": {"n": keywords}, "additionalProperties": False}


W, N, B, NEUTRAL, WORDING = ChangeKind

FIELDS: Mapping[str, tuple[str, JsonValue, ChangeKind, str, str]] = {
    "confirmation dropped": ("confirmation", "never", W, "confirmation optional → never", "a person is asked less"),
    "confirmation raised": (
        "confirmation",
        "required",
        N,
        "confirmation optional → required",
        "a person is asked more",
    ),
    "effect lowered": ("effect", "local-state", W, "effect navigation → local-state", "more harmless"),
    "effect raised": ("effect", "destructive", N, "effect navigation → destructive", "graver"),
    "effect unknown": ("effect", "magic", B, "effect navigation → magic", "cannot be told"),
    "idempotent claimed": ("idempotent", True, W, "newly idempotent", "may be repeated"),
    "reversible claimed": ("reversible", True, W, "newly reversible", "counts on a way back"),
    "reversible unsaid": ("reversible", None, NEUTRAL, "reversible false → none", "neither claims anything"),
    "audit lowered": ("audit", "none", W, "audit metadata → none", "less of each call is kept"),
    "audit raised": ("audit", "full", N, "audit metadata → full", "more of each call is kept"),
    "policy removed": ("policies", [], W, "policy limit removed", "no longer asked"),
    "policy added": ("policies", [policy(), policy("other")], N, "policy other added", "another guard"),
    "policy in fewer phases": (
        "policies",
        [policy(phases=("authorize", "invoke"))],
        N,
        "policy limit changed",
        "guards more phases",
    ),
    "policy with another limit": ("policies", [policy(most=50)], B, "policy limit changed", "cannot be told"),
    "description": ("description", "Pick more", WORDING, 'description "Pick parts" → "Pick more"', "a model reads it"),
    "meta": ("meta", {"a": 1}, WORDING, 'meta {} → {"a": 1}', "a model reads it"),
    "tags": ("tags", ["x"], NEUTRAL, 'tags [] → ["x"]', "for people"),
    "time-out": ("timeoutMs", 5, NEUTRAL, "timeoutMs none → 5", "how long"),
    "several at once": ("concurrency", {"mode": "parallel", "max": 2}, W, "concurrency", "several calls at once"),
    "another key": (
        "concurrency",
        {"mode": "instance", "key": "k"},
        B,
        "concurrency",
        "other calls exclude each other",
    ),
    "a key for all": ("concurrency", {"mode": "key", "key": "k"}, B, "concurrency", "other calls exclude each other"),
    "more may wait": ("concurrency", {"mode": "instance", "queueDepth": 9}, NEUTRAL, "concurrency", "may wait"),
    "input wider": ("inputSchema", schema(type="number"), W, "input: n: type integer → number", "refused before"),
    "input narrower": ("inputSchema", schema(type="integer", minimum=1), N, "input: n: minimum none → 1", "is refused"),
    "input both": ("inputSchema", schema(type="string"), B, "input: n: type integer → string", "the other way round"),
    "input rewritten": (
        "inputSchema",
        schema(type="integer", multipleOf=1),
        NEUTRAL,
        "input: n: multipleOf",
        "same values",
    ),
    "input with an empty list of required names": (
        "inputSchema",
        {"type": "object", "additionalProperties": False, "properties": {"n": {"type": "integer"}}, "required": []},
        NEUTRAL,
        "input rewritten",
        "same values",
    ),
    "input described": (
        "inputSchema",
        schema(type="integer", description="How many"),
        WORDING,
        'input: n: description none → "How many"',
        "a model reads it",
    ),
    "input default": (
        "inputSchema",
        schema(type="integer", default=1),
        B,
        "input: n: default none → 1",
        "leaves it out",
    ),
    "output wider": ("outputSchema", {"type": "string"}, W, "output: maxLength 9 → none", "was not told before"),
    "output narrower": (
        "outputSchema",
        {"type": "string", "maxLength": 2},
        N,
        "output: maxLength 9 → 2",
        "no longer told",
    ),
    "output gone": ("outputSchema", None, N, "outputSchema removed", "no longer told"),
    "a field of a later release": ("novelty", 1, B, "novelty none → 1", "cannot be told"),
}


@pytest.mark.requirement("AS-CLI-015", "AS-CLI-018")
@pytest.mark.parametrize("case", FIELDS.values(), ids=list(FIELDS))
def test_a_field_of_a_capability_that_moved_is_one_change_that_says_what_it_means(
    case: tuple[str, JsonValue, ChangeKind, str, str],
) -> None:
    """Widening lets an agent do more or asks a person less; narrowing is the reverse; a text is wording."""
    field, value, kind, what, meaning = case
    (change,) = compare_contracts(manifest(declaration()), manifest(declaration(**{field: value})))
    assert (change.kind, change.subject, change.field) == (kind, "view:shop.parts.pick", field)
    assert what in change.what
    assert meaning in change.meaning
    assert "\n" not in str(change)


COMPONENT_FIELDS: Mapping[str, tuple[str, JsonValue, ChangeKind]] = {
    "description": ("description", "Other parts", WORDING),
    "meta": ("meta", {"a": True}, WORDING),
    "origin": ("origin", "plugin", B),
    "partial": ("partial", True, NEUTRAL),
    "priority": ("priority", 9, NEUTRAL),
    "tags": ("tags", ["a"], NEUTRAL),
    "out of its parent": ("parentType", None, W),
    "into another parent": ("parentType", "shop.page", B),
    "a policy": ("policies", [policy()], N),
}


@pytest.mark.parametrize("case", COMPONENT_FIELDS.values(), ids=list(COMPONENT_FIELDS))
def test_a_field_of_a_component_that_moved_is_one_change(case: tuple[str, JsonValue, ChangeKind]) -> None:
    """What holds for all capabilities of a component is told once, for the component."""
    field, value, kind = case
    (change,) = compare_contracts(manifest(declaration()), manifest(declaration({field: value})))
    assert (change.kind, change.subject, change.field) == (kind, "shop.parts", field)


def test_how_many_calls_may_run_at_once_is_compared_by_number() -> None:
    """More of them is more for an agent to do."""
    few, many = (manifest(declaration(concurrency={"mode": "parallel", "max": most})) for most in (2, 10))
    (more,) = compare_contracts(few, many)
    (fewer,) = compare_contracts(many, few)
    assert (more.kind, more.meaning) == (W, "more calls can run at once")
    assert (fewer.kind, fewer.meaning) == (N, "fewer calls can run at once")


def test_a_component_that_gets_a_parent_is_there_less_often() -> None:
    """The reverse of one that lost it."""
    (change,) = compare_contracts(manifest(declaration({"parentType": None})), manifest(declaration()))
    assert (change.kind, change.meaning) == (N, "it can only be there inside that component")


def test_the_reverse_of_widening_is_narrowing() -> None:
    """Nothing is widening in both directions."""
    mirrored = {W: N, N: W, B: B, NEUTRAL: NEUTRAL, WORDING: WORDING}
    for field, value, kind, _, _ in FIELDS.values():
        (change,) = compare_contracts(manifest(declaration(**{field: value})), manifest(declaration()))
        assert change.kind is mirrored[kind], field


def test_a_capability_that_came_or_went_is_told_with_its_effect_and_confirmation() -> None:
    """What an agent gains or loses, and what stands before it."""
    drop = {**CAPABILITY, "capabilityId": "view:shop.parts.drop"}
    two: Entry = {**COMPONENT, "capabilities": [dict(CAPABILITY), dict(drop)]}
    (came,) = compare_contracts(manifest(declaration()), manifest(two))
    (went,) = compare_contracts(manifest(two), manifest(declaration()))
    assert str(came) == (
        "widening: view:shop.parts.drop: action added (effect navigation, confirmation optional) - "
        "an agent gets a capability it did not have"
    )
    assert str(went) == (
        "narrowing: view:shop.parts.drop: action removed (effect navigation, confirmation optional) - "
        "an agent loses a capability it had"
    )


def test_a_declaration_that_moved_to_another_module_is_not_a_loss_and_a_gain() -> None:
    """A refactoring is told as one, with whatever else it changed."""
    moved = declaration({"declarationId": "shop.surface.parts:shop.parts"}, confirmation="never")
    changes = compare_contracts(manifest(declaration()), manifest(moved))
    assert [(change.kind, change.what) for change in changes] == [
        (NEUTRAL, "moved from shop.contracts to shop.surface.parts"),
        (W, "confirmation optional → never"),
    ]


def test_a_move_that_could_be_from_two_places_is_not_guessed() -> None:
    """With two declarations of one type gone, nobody can tell which one came back."""
    first, second = declaration(), declaration({"declarationId": "shop.other:shop.parts"})
    third = declaration({"declarationId": "shop.third:shop.parts"})
    changes = compare_contracts(manifest(first, second), manifest(third))
    assert sorted(change.kind for change in changes) == [N, N, W]


def test_a_second_declaration_of_one_capability_is_a_change_of_its_own() -> None:
    """Another module that declares the same id gives the agent another way in."""
    twin = declaration({"declarationId": "shop.twin:shop.parts"})
    (change,) = compare_contracts(manifest(declaration()), manifest(declaration(), twin))
    assert (change.kind, change.declaration_id) == (W, "shop.twin:shop.parts")


def test_targets_that_come_and_go_are_told() -> None:
    """Another program under the contract is widening."""
    (change,) = compare_contracts(manifest(targets=("a",)), manifest(targets=("a", "b")))
    assert (change.kind, change.what) == (W, "target b added")
    (change,) = compare_contracts(manifest(targets=("a", "b")), manifest(targets=("b",)))
    assert (change.kind, change.what) == (N, "target a removed")


def test_a_declaration_without_capabilities_is_told_when_it_comes_and_goes() -> None:
    """It can hold others, and an agent sees it."""
    empty: Entry = {**COMPONENT, "capabilities": []}
    (came,) = compare_contracts(manifest(), manifest(empty))
    (went,) = compare_contracts(manifest(empty), manifest())
    assert (came.kind, came.subject, came.what) == (W, "shop.parts", "declaration added")
    assert (went.kind, went.subject, went.what) == (N, "shop.parts", "declaration removed")


def of_whole(**fields: JsonValue) -> Mapping[str, FrozenJson]:
    """A contract in which something beside the declarations is like this."""
    return {**manifest(), **cast("Mapping[str, FrozenJson]", freeze_json(fields))}


def test_approvals_of_other_distributions_that_come_go_and_change_are_told() -> None:
    """Approving somebody else's declarations is widening; what they are is told for each of them."""
    charts: JsonValue = {"package": "acme-charts", "approved": "sha256:1", "contributed": "sha256:1"}
    newer: JsonValue = {"package": "acme-charts", "approved": "sha256:2", "contributed": "sha256:2"}
    maps: JsonValue = {"package": "acme-maps", "approved": "sha256:3", "contributed": "sha256:3"}
    (came,) = compare_contracts(of_whole(external=[charts]), of_whole(external=[charts, maps]))
    (went,) = compare_contracts(of_whole(external=[charts, maps]), of_whole(external=[charts]))
    (moved,) = compare_contracts(of_whole(external=[charts]), of_whole(external=[newer]))
    assert (came.kind, came.field, came.what) == (W, "external", "acme-maps approved")
    assert (went.kind, went.field, went.what) == (N, "external", "acme-maps no longer approved")
    assert (moved.kind, moved.what) == (NEUTRAL, "acme-charts approved with another digest")


def test_a_proof_that_is_lost_cannot_be_judged_and_one_that_is_won_changes_nothing() -> None:
    """Without it the program may declare what the contract does not list."""
    proven, evaluated, silent = of_whole(), of_whole(completeness={"status": "evaluated"}), of_whole(completeness=None)
    (lost,) = compare_contracts(proven, evaluated)
    (won,) = compare_contracts(silent, proven)
    assert (lost.kind, lost.what) == (B, "completeness proven → evaluated")
    assert "no longer proven" in lost.meaning
    assert (won.kind, won.what) == (NEUTRAL, "completeness unknown → proven")
    assert "now proven" in won.meaning


def test_a_contract_of_another_release_says_so() -> None:
    """The file changed although the program did not."""
    (change,) = compare_contracts(of_whole(compilerVersion="0"), of_whole(compilerVersion="1"))
    assert str(change) == "neutral: contract: compilerVersion 0 → 1 - written by another release"


SCHEMAS: Mapping[str, tuple[JsonValue, JsonValue, str]] = {
    "a field added": ({"properties": {"n": {}}}, {"properties": {"n": {}, "m": {}}}, "m added"),
    "a required field added": (
        {"properties": {"n": {}}},
        {"properties": {"n": {}, "m": {}}, "required": ["m"]},
        "m added and required",
    ),
    "a field removed": ({"properties": {"n": {}}}, {"properties": {}}, "n removed"),
    "a field required": ({"properties": {"n": {}}}, {"properties": {"n": {}}, "required": ["n"]}, "n is now required"),
    "a field set free": (
        {"properties": {"n": {}}, "required": ["n"]},
        {"properties": {"n": {}}},
        "n is no longer required",
    ),
    "an unlisted name required": ({"type": "object"}, {"type": "object", "required": ["x"]}, "x is now required"),
    "an unlisted name set free": (
        {"properties": {"r": {"type": "object", "required": ["x"]}}},
        {"properties": {"r": {"type": "object"}}},
        "r: x is no longer required",
    ),
    "items": (
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"type": "string", "maxLength": 3}},
        "[]: maxLength none → 3",
    ),
    "items limited": ({"type": "array"}, {"type": "array", "items": {"type": "string"}}, "items limited"),
    "items set free": (
        {"type": "array", "items": {"type": "string"}},
        {"type": "array"},
        "items no longer limited",
    ),
    "an alternative": (
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "(alternative 1): type string → integer",
    ),
    "alternatives more": (
        {"anyOf": [{"type": "string"}]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "1 → 2 alternatives",
    ),
    "the first alternatives": ({}, {"anyOf": [{"type": "string"}, {"type": "null"}]}, "no → 2 alternatives"),
    "values for the first time": ({}, {"enum": ["a", "b"]}, 'limited to "a", "b"'),
    "values no longer": ({"const": "a"}, {}, 'no longer limited to "a"'),
    "a value more and one less": ({"enum": ["a", "b"]}, {"enum": ["b", "c"]}, 'also "c"; no longer "a"'),
    "a value more": ({"const": "a"}, {"enum": ["a", "b"]}, 'also "b"'),
    "a value less": ({"enum": ["a", "b"]}, {"const": "a"}, 'no longer "b"'),
    "a definition": (
        {"$ref": "#/$defs/It", "$defs": {"It": {"type": "string", "maxLength": 5}}},
        {"$ref": "#/$defs/It", "$defs": {"It": {"type": "string", "maxLength": 9}}},
        "maxLength 5 → 9",
    ),
    "a definition with a name of its own kind": (
        {"properties": {"it": {"$ref": "#/$defs/a~1b~0c", "maxLength": 5}}, "$defs": {"a/b~c": {"type": "string"}}},
        {"properties": {"it": {"type": "string"}}},
        "it: maxLength 5 → none",
    ),
    "several types": ({"type": "string"}, {"type": ["string", "null"]}, "type string → string or null"),
    "a long value": (
        {"type": "string"},
        {"type": "string", "pattern": "^" + "x" * 60},
        'pattern none → "^' + "x" * 37 + "…",
    ),
}


@pytest.mark.requirement("AS-CLI-018")
@pytest.mark.parametrize("case", SCHEMAS.values(), ids=list(SCHEMAS))
def test_where_two_schemas_differ_is_said_in_words(case: tuple[JsonValue, JsonValue, str]) -> None:
    """A reviewer reads which part moved and how, not two schemas."""
    before, after, words = case
    (change,) = compare_contracts(manifest(declaration(outputSchema=before)), manifest(declaration(outputSchema=after)))
    assert change.what == f"output: {words}"


def test_equal_contracts_have_no_changes_and_no_contract_is_all_gain() -> None:
    """Against nothing everything is new."""
    assert compare_contracts(manifest(declaration()), manifest(declaration())) == ()
    (change,) = compare_contracts(None, manifest(declaration()))
    assert (change.kind, change.field) == (W, "capability")


def other(value: JsonValue) -> JsonValue:
    """Another value of whatever this is."""
    return not value if isinstance(value, bool) else [value, "other"]


def test_no_field_of_an_entry_can_move_unseen() -> None:
    """Every hashed field is compared: whatever moves a hash is a change."""
    for field, value in CAPABILITY.items():
        if field not in ("capabilityId", "inputSchema", "outputSchema"):
            changed = manifest(declaration(**{field: other(value)}))
            assert compare_contracts(manifest(declaration()), changed), field
    for field, value in COMPONENT.items():
        if field != "declarationId":
            changed = manifest(declaration({field: other(value)}))
            assert compare_contracts(manifest(declaration()), changed), field
