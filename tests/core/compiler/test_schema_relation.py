"""Schemas are compared by meaning: what is said of two of them holds for every value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_surface import JsonValue, from_json_schema, from_type
from agent_surface._base._json import JsonSchema, freeze_json
from agent_surface.compiler import SchemaRelation, compare_schemas
from agent_surface.schemas._checker import SchemaChecker
from tests.core.compiler.schema_pairs import REALISTIC, Pair
from tests.core.schemas.strategies import schemas, values_for

Schema = dict[str, Any]

EQUAL, WIDER, NARROWER, BOTH = SchemaRelation


def _frozen(schema: Mapping[str, Any]) -> JsonSchema:
    return cast("JsonSchema", freeze_json(dict(schema)))


def relation(before: Mapping[str, Any], after: Mapping[str, Any]) -> SchemaRelation:
    """What the comparison says of two plain schemas."""
    return compare_schemas(_frozen(before), _frozen(after))


@st.composite
def changed(draw: st.DrawFn, schema: Schema) -> Schema:
    """A schema near another: one keyword is dropped or taken from a third, at the root or below."""
    result = dict(schema)
    other = draw(schemas(2))
    goes_inside, drops = draw(st.booleans()), draw(st.booleans())
    inner = [name for name in ("items", "properties", "anyOf") if result.get(name)]
    if inner and goes_inside:
        name = draw(st.sampled_from(inner))
        if name == "items":
            result["items"] = draw(changed(result["items"]))
        elif name == "properties":
            key = draw(st.sampled_from(sorted(result["properties"])))
            result["properties"] = {**result["properties"], key: draw(changed(result["properties"][key]))}
        else:
            result["anyOf"] = [draw(changed(result["anyOf"][0])), *result["anyOf"][1:]]
        return result
    if result and drops:
        del result[draw(st.sampled_from(sorted(result)))]
    elif other:
        keyword = draw(st.sampled_from(sorted(other)))
        result[keyword] = other[keyword]
    return result


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Schema, Schema]:
    """Two schemas that have something to do with each other, or nothing."""
    first = draw(schemas())
    second = draw(
        st.one_of(
            schemas(),
            changed(first),
            changed(first).flatmap(changed),
            st.just({"anyOf": [first, {"type": "null"}]}),
            st.just({"$defs": {"it": first}, "$ref": "#/$defs/it"}),
            st.just({"anyOf": [first], **{key: first[key] for key in ("type",) if key in first}}),
        )
    )
    return (first, second) if draw(st.booleans()) else (second, first)


def contradicts(verdict: SchemaRelation, *, before: bool, after: bool) -> bool:
    """Whether a value that the schemas accept like this refutes what was said of them."""
    match verdict:
        case SchemaRelation.EQUAL:
            return before != after
        case SchemaRelation.WIDER:
            return before and not after
        case SchemaRelation.NARROWER:
            return after and not before
        case SchemaRelation.BOTH:
            return False


@pytest.mark.requirement("AS-CLI-017")
@settings(max_examples=250, deadline=None)
@given(st.data())
def test_no_value_contradicts_what_is_said_of_two_schemas(data: st.DataObject) -> None:
    """Property: for random pairs of the supported subset and random values, the validator agrees with the verdict."""
    first, second = data.draw(pairs())
    verdict = relation(first, second)
    checkers = [SchemaChecker(_frozen(schema)) for schema in (first, second)]
    for schema in (first, second, first, second):
        value: JsonValue = data.draw(values_for(schema))
        before, after = (not checker.issues(value) for checker in checkers)
        assert not contradicts(verdict, before=before, after=after), (verdict, value)


@pytest.mark.requirement("AS-CLI-017")
@settings(max_examples=100, deadline=None)
@given(schemas(), st.data())
def test_the_verdict_turns_with_the_order_and_a_schema_equals_itself(schema: Schema, data: st.DataObject) -> None:
    """Property: before and after exchanged give the mirrored verdict."""
    other = data.draw(changed(schema))
    mirrored = {EQUAL: EQUAL, WIDER: NARROWER, NARROWER: WIDER, BOTH: BOTH}
    assert relation(schema, schema) is EQUAL
    assert relation(other, schema) is mirrored[relation(schema, other)]


@pytest.mark.requirement("AS-CLI-017")
@pytest.mark.parametrize("pair", REALISTIC.values(), ids=list(REALISTIC))
def test_a_change_as_people_make_it_gets_its_verdict(pair: Pair) -> None:
    """An added enum value is wider, a limit is narrower, an order of keys is nothing."""
    before, after, expected = pair
    assert relation(before, after) is expected


def test_few_changes_as_people_make_them_cannot_be_told() -> None:
    """Of realistic changes less than a tenth is left at both, in the verdict and not only in what is expected."""
    verdicts = Counter(relation(before, after) for before, after, _ in REALISTIC.values())
    assert len(REALISTIC) >= 60
    assert verdicts[BOTH] / len(REALISTIC) < 0.1


def test_the_pairs_are_schemas_of_the_subset() -> None:
    """A pair that no capability could have would prove nothing."""
    for before, after, _ in REALISTIC.values():
        from_json_schema(before)
        from_json_schema(after)


def test_what_pydantic_makes_of_equal_types_is_equal() -> None:
    """A model with a name of its own and a plain type say the same thing differently."""
    assert compare_schemas(from_type(list[int]).json_schema, from_type(list[int]).json_schema) is EQUAL
    assert compare_schemas(from_type(int).json_schema, from_type(int | None).json_schema) is WIDER
    assert compare_schemas(from_type(float).json_schema, from_type(int).json_schema) is NARROWER


def test_a_schema_with_too_many_alternatives_is_not_claimed_to_be_anything() -> None:
    """Beyond a bound nothing is proven, and nothing takes forever."""
    leaf = {"anyOf": [{"type": "string", "pattern": f"^{number}"} for number in range(40)]}
    crowded = {**leaf, "$defs": {"more": leaf}, "$ref": "#/$defs/more"}
    other = {**crowded, "minLength": 1}
    assert relation(crowded, crowded) is EQUAL
    assert relation(crowded, other) in (BOTH, NARROWER)
    below = {"anyOf": [{**leaf, "$ref": "#/$defs/more"}, {"type": "null"}], "$defs": {"more": leaf}}
    assert relation(below, {**below, "minLength": 1}) in (BOTH, NARROWER)
